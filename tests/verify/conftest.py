"""Packages that the tests of replaying share: they are made once, and copies of them are forged."""

import pytest

from fedtheory.figures import _making as making
from fedtheory.verify.__main__ import main
from tests.verify.forging import BUDGET, SOME, copied


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("made") / "verify"
    assert main([*SOME, "--budget", BUDGET, "--workers", "0", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="session")
def drawn(tmp_path_factory):
    """A package of one finding with its figure."""
    out = tmp_path_factory.mktemp("drawn") / "verify"
    assert making.make_all(["fsl_table2"], "smoke", out.parent / "figures") == []
    assert main(["fsl.table2", "--budget", BUDGET, "--workers", "0", "--out", str(out)]) == 0
    return out


@pytest.fixture
def copy(made, tmp_path):
    return copied(made, tmp_path)
