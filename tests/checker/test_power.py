"""False relatives of textbook statements are refuted, by documents that stand alone."""

import json

import pytest

import fedtheory as ft
from fedtheory.verdicts import pipeline
from tests.checker import power
from tests.checker.known_statements import FALSE, TRUE

# These need more than a moment: `python -m tests.checker.power` tries all.
SLOW = {
    "gd_gradient.constant",
    "gd_gradient.without_lipschitz",
    "gd_gradient.convex",
    "sgd_step.no_rho",
    "sgd_step.over_N",
    "sgd_nonconvex.over_T",
    "scaffold_descent.without_S = N",
    "scaffold_second.no_drift",
}
FAST = [name for name in FALSE if name not in SLOW]


def test_there_are_many_and_each_differs_from_what_it_was_made_of():
    assert len(FALSE) >= 40 and len(SLOW) <= 0.1 * len(FALSE)
    for name, claim in FALSE.items():
        true = TRUE[name.partition(".")[0]]
        assert claim.lines != true.lines or [str(a) for a in claim.assumptions] != [
            str(a) for a in true.assumptions
        ]


def test_a_name_that_nothing_has_is_refused(capsys):
    with pytest.raises(SystemExit) as left:
        power.main(["no_such_statement"])
    told = capsys.readouterr()
    assert left.value.code == 2 and not told.out
    assert told.err.endswith("no false statement has 'no_such_statement' in its name\n")


@pytest.mark.parametrize("name", FAST[::3])
def test_a_false_statement_is_refuted(name):
    verdict, replays = power.refute_claim(FALSE[name], budget=20.0)
    assert replays, verdict


def test_a_document_does_not_serve_the_true_statement():
    verdict, _ = power.refute_claim(FALSE["gd_rate.plus_three"], budget=20.0)
    document = json.loads(json.dumps(verdict.certificate))
    for change in (
        dict(statement={**document["statement"], "right": [["number", [], "1"]]}),
        dict(numbers={"L": "1000"}),
        dict(instance={**document["instance"], "T": 9}),
    ):
        with pytest.raises(pipeline.Refused):
            ft.replay({**document, **change})


def test_the_campaign_counts_what_escapes(capsys, monkeypatch):
    monkeypatch.setattr(
        power, "FALSE", {"young.true": TRUE["young"], "young.false": FALSE["young.no_inverse"]}
    )
    assert power.main(["--budget", "0.2"]) == 1
    said = capsys.readouterr().out
    assert "1 of 2 tries refuted" in said and "escapes: young.true" in said
    assert power.main(["--budget", "0.2", "false"]) == 0
