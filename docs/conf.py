"""Sphinx: `python -m sphinx docs out/docs` (extra `docs`).

Formulas become MathML, which browsers draw themselves: pages need no script, no font and no
network.
"""

import sys
from pathlib import Path

from docutils.nodes import SkipNode

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

project = "fedtheory"
author = "The fedtheory authors"
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
exclude_patterns = ["changes"]  # fragments, until a release gathers them into the changelog
html_theme = "furo"
html_theme_options = {"light_css_variables": {"code-font-size": "80%"}}  # for lines of 95 letters
html_math_renderer = "mathml"
html_static_path = []
html_show_copyright = False
smartquotes = False  # what is quoted is often code


def inline_math(translator, node):
    from latex2mathml.converter import convert

    translator.body.append(convert(node.astext()))
    raise SkipNode


def block_math(translator, node):
    from latex2mathml.converter import convert

    formula = convert(node.astext(), display="block")
    translator.body.append(
        f'<div class="math" style="overflow-x: auto; padding: 0.4em 0">{formula}</div>'
    )
    raise SkipNode


def pages(app):
    import build_claims
    import build_reference

    build_claims.write(HERE / "claims")
    build_reference.write(HERE / "reference")


def setup(app):
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("builder-inited", pages)
