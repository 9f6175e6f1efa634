"""Verdicts at the command line: status by exit code, certificates to files and back, refusals in
one line."""

import json
from fractions import Fraction

import pytest

from fedtheory.app import cli

# A sum of m >= 1 ones is at most m^2; without the square root's help it is not at most m^2 / 2.
TRUE = """
from sympy import Le
from fedtheory.claim import Claim
from fedtheory.symbol import Table
T = Table("mine")
a, b = T.positive("a", "a", "a number"), T.positive("b", "b", "another")
CLAIMS = (
    Claim(id="mine.means", cites="arithmetic and geometric mean", symbols=T, measures=a * b, bound=(a**2 + b**2) / 2),
    Claim(id="mine.wrong", cites="the same, a little less", symbols=T, measures=a * b,
          bound=(a**2 + b**2) * 49 / 100),
)
"""


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(TRUE)
    return path


def run(capsys, *arguments):
    status = cli.main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return status, out, err


def test_a_users_claims_are_proved_and_refuted(mine, tmp_path, capsys):
    status, out, err = run(
        capsys, "check", mine, "--budget", 1, "--json", "--out", tmp_path / "out"
    )
    assert status == 0
    assert [row["status"] for row in json.loads(out)] == ["proved", "violated"]
    for name in ("mine.means", "mine.wrong"):
        path = tmp_path / "out" / f"{name}.certificate.json"
        assert run(capsys, "replay", path)[0] == 0
        text = path.read_text()
        broken = (
            text.replace('"1/2"', '"1/3"', 1)
            if name == "mine.means"
            else text.replace('"49/100"', '"51/100"', 1)
        )
        assert broken != text
        path.write_text(broken)
        status, out, err = run(capsys, "replay", path)
        assert status == 1 and "refused" in out and "Traceback" not in out + err


def test_witnesses_are_files(mine, tmp_path, capsys):
    assert run(capsys, "check", mine, "--budget", 1, "--out", tmp_path / "out")[0] == 0
    kept = [tmp_path / "out" / f"mine.wrong.{kind}.json" for kind in ("certificate", "verdict")]
    status, out, _ = run(capsys, "check", mine, "--budget", 1, "--json", "--witnesses", *kept)
    found = {row["claim"]: row for row in json.loads(out)}["mine.wrong"]
    assert status == 0 and found["searched"] == "2 of 2 instances that were handed in"
    assert found["status"] == "violated" and found["cases"] == 1


def test_what_was_expected(mine, capsys):
    assert (
        run(capsys, "check", "fsl.gradient_identity", "--budget", 1, "--expect", "proved")[0] == 0
    )
    status, out, _ = run(capsys, "check", mine, "--budget", 1, "--expect", "proved")
    assert status == 1 and "expected proved, but mine.wrong is violated" in out


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("check", "no.such.claim"), "claim must be an id"),
        (("check", "no_such_file.py"), "must be an id, or a Python file that exists"),
        (("check", "fsl.lemma2", "--budget", "0"), "budget must be a positive number"),
        (("check", "fsl.lemma2", "--budget", "nan"), "budget must be a positive number"),
        (("check", "fsl.lemma2", "--seed", "-1"), "seed must be an integer >= 0"),
        (("check", "fsl.lemma2", "--expect", "true"), "expect must be one of"),
        (("check", "fsl.lemma2", "--witnesses", "no_such.json"), "takes a JSON file"),
        (("check", "fsl.lemma2", "--executor", "cluster:9"), "executor must be serial"),
        (("replay", "no_such_file.json"), "takes a JSON file"),
        (("mutate", "fsl.table2"), "inequality or an equation"),
        (("minimise", "fsl.table2"), "must have lines"),
        (("audit", "fsl.table2"), "must have lines with constants"),
        (("audit", "fsl.lemma4", "--budget", "-1"), "budget"),
    ],
)
def test_bad_input_is_one_sentence(arguments, says, capsys):
    status, out, err = run(capsys, *arguments)
    assert status == 2 and says in err and len(err.strip().splitlines()) == 1 and not out


@pytest.mark.parametrize(
    "text, says",
    [
        ("{", "must be a JSON document"),
        ("[1]", "holds no document"),
        ('{"a": NaN}', "the document holds NaN"),
        ('{"a": 1, "a": 2}', "twice"),
    ],
)
def test_documents_are_read_strictly(text, says, tmp_path, capsys):
    path = tmp_path / "document.json"
    path.write_text(text)
    status, _, err = run(capsys, "replay", path)
    assert status == 2 and says in err


def test_processes_find_what_one_finds(mine, capsys):
    rows = [
        json.loads(run(capsys, "check", mine, "--budget", 0.5, "--json", "--executor", how)[1])
        for how in ("serial", "threads:2", "processes:2")
    ]
    for row in (r for found in rows for r in found):
        row.pop("seconds")
    assert rows[0] == rows[1] == rows[2]


def test_what_is_proved_and_refuted_is_reported_with_both_documents(
    mine, tmp_path, capsys, monkeypatch
):
    from fedtheory.errors import Contradiction
    from fedtheory.verdicts import pipeline

    def err(*arguments, **more):
        raise Contradiction("mine.means/1: one of the two errs", dict(proof=1), dict(instance=2))

    monkeypatch.setattr(pipeline, "check", err)
    status, out, err_ = run(capsys, "check", mine, "--out", tmp_path / "out")
    assert (
        status == 3 and not out and err_.startswith("fedtheory: mine.means/1: one of the two errs")
    )
    kept = {
        name: json.loads((tmp_path / "out" / f"contradiction.{name}.json").read_text())
        for name in ("proof", "counterexample")
    }
    assert kept == dict(proof=dict(proof=1), counterexample=dict(instance=2))
    status, out, err_ = run(capsys, "check", mine)
    assert status == 3 and "add --out DIR" in err_ and len(err_.splitlines()) == 1


ABOVE_ONE = """
from fedtheory.claim import Claim
from fedtheory.symbol import Table
T = Table("mine")
a, b = T.positive("a", "a", "a number"), T.positive("b", "b", "another")
CLAIM = Claim(id="mine.square", cites="order", symbols=T, measures=a, bound=a**2, assumes=(a >= 1, b >= 1))
"""


def test_needed_hypotheses_of_a_users_claim(tmp_path, capsys):
    """A number is at most its square from 1 on; another number has no part in it."""
    path = tmp_path / "square.py"
    path.write_text(ABOVE_ONE)
    status, out, _ = run(capsys, "minimise", path, "--budget", 1, "--seed", 3, "--json")
    found = json.loads(out)
    assert status == 0 and found["claim"] == "mine.square" and found["smallest"] == ["a >= 1"]
    rows = {row["hypothesis"]: row for row in found["hypotheses"]}
    assert [rows[name]["found"] for name in ("a >= 1", "b >= 1")] == ["needed", "not needed"]
    assert rows["a >= 1"]["dropped"]["status"] == "violated"
    assert run(capsys, "minimise", "mine.square", "--with", path, "--budget", 1)[0] == 0


def test_an_audit_finds_the_line_that_fails(mine, capsys):
    status, out, _ = run(capsys, "audit", mine, "--budget", 1, "--seed", 1, "--json")
    means, wrong = json.loads(out)
    assert status == 0 and [found["claim"] for found in (means, wrong)] == [
        "mine.means",
        "mine.wrong",
    ]
    for found, share in ((means, 1 / 2), (wrong, 49 / 100)):
        a, b = (float(Fraction(found["numbers"][name])) for name in "ab")
        row = found["rows"][-1]
        assert row["left"] == pytest.approx(a * b)
        assert row["right"] == pytest.approx(share * (a**2 + b**2))
        assert (row["status"] == "fails") == (row["left"] > row["right"])
    assert wrong["rows"][-1]["status"] == "fails"
    status, out, _ = run(capsys, "audit", mine, "--at", "drawn", "--budget", 1)
    assert status == 0 and "mine.means in numbers alone" in out
