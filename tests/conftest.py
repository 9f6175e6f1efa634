"""Hypothesis profiles: no deadline (kernels compile on first use), and repeatable under CI."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from fedtheory import sources

settings.register_profile("house", deadline=None, print_blob=True, max_examples=50)
settings.register_profile(
    "ci", deadline=None, print_blob=True, max_examples=50, derandomize=True, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "house")


@pytest.fixture
def edited(monkeypatch):
    """Add a line to the sources of a pattern, for whoever hashes them; the files stay as they
    are."""
    added, real = {}, sources.read

    def edit(pattern, line):
        files = [*sources.ROOT.glob(pattern)]
        assert files, pattern
        added.update({path: added.get(path, b"") + f"\n{line}\n".encode() for path in files})
        sources.forget()

    with monkeypatch.context() as patch:
        patch.setattr(sources, "read", lambda path: real(path) + added.get(Path(path), b""))
        patch.setattr(sources._Kept, "keep", lambda self: None)
        yield edit
    sources.forget()
