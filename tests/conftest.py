"""Hypothesis profiles: no deadline (kernels compile on first use), and repeatable under CI. And what a
bare `python -m pytest` means: every test that is not slow, on every core."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from fedtheory.store import source_hash
from tests import durations, runtime_types

if os.environ.get("FEDTHEORY_BEARTYPE"):
    runtime_types.hook()
    runtime_types.give_names()

settings.register_profile("house", deadline=None, print_blob=True, max_examples=50)
settings.register_profile(
    "ci", deadline=None, print_blob=True, max_examples=50, derandomize=True, database=None
)
settings.load_profile("ci" if os.environ.get("CI") else "house")


@pytest.fixture
def edited(monkeypatch):
    """Add a line to the sources of a pattern, for whoever hashes them; the files stay as they
    are."""
    added, real = {}, source_hash.read_bytes

    def edit(pattern, line):
        files = [*source_hash.ROOT.glob(pattern)]
        assert files, pattern
        added.update({path: added.get(path, b"") + f"\n{line}\n".encode() for path in files})
        source_hash.forget_files()

    with monkeypatch.context() as patch:
        patch.setattr(
            source_hash, "read_bytes", lambda path: real(path) + added.get(Path(path), b"")
        )
        patch.setattr(source_hash._FactsCache, "keep", lambda self: None)
        yield edit
    source_hash.forget_files()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Where no file is named: as many processes as cores, where pytest-xdist is there to start
    them, and what is slow only where `-m` asks for it. A file that is named runs whole, here."""
    if hasattr(config, "workerinput"):  # a process of pytest-xdist reads the command line anew
        config.option.markexpr = config.workerinput["markexpr"]
        return
    if config.args_source != config.ArgsSource.TESTPATHS:
        return
    option = config.option
    if getattr(option, "numprocesses", 0) is None and not option.usepdb:
        option.numprocesses, option.dist = "auto", "worksteal"
    if not option.markexpr:
        option.markexpr = "not slow"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    node.workerinput["markexpr"] = node.config.option.markexpr


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """What took long when it was last measured is slow; what took longest begins first, and what
    uses every core last, when others have compiled its kernels."""
    seconds = durations.measured()
    for item in items:
        if durations.name_of(item) in seconds:
            item.add_marker(pytest.mark.slow)
    first = lambda item: max(seconds.get(durations.name_of(item), 0), durations.FIRST)
    items.sort(key=lambda item: (bool(item.get_closest_marker("cores")), -first(item)))
