"""Sphinx: `python -m sphinx docs out/docs` (extra `docs`)."""

project = "fedtheory"
author = "The fedtheory authors"
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "amsmath"]
html_theme = "furo"
exclude_patterns = ["changes"]
html_static_path = []
