"""Hypothesis profiles: no deadline (kernels compile on first use), and repeatable under CI."""

import os

from hypothesis import settings

settings.register_profile("house", deadline=None, print_blob=True, max_examples=50)
settings.register_profile(
    "ci", deadline=None, print_blob=True, max_examples=50, derandomize=True, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "house")
