"""`--replay`: a package derives anew, and whatever a forger changed in its ledger is named, though
all checksums fit."""

import json
import re

import pytest

from fedtheory import discover, figures
from fedtheory.app import ledger, package
from fedtheory.verify import rederive_package
from fedtheory.verify.__main__ import main
from tests.verify.forging import SOME, UNVERIFIED, begins, edit, found, sign

# What is whole


def test_a_package_derives_anew_and_says_what_it_did(made, capsys):
    assert main(["--replay", str(made), "--all", "--workers", "0"]) == 0
    count = len(package.open_ledger((made / "ledger.json").read_bytes())["claims"])
    told = " ".join(capsys.readouterr().out.split())
    assert (
        f"{count} statements" in told
        and "searches" in told
        and "derived anew: nothing differs." in told
    )
    assert f" Absent: {len(discover.claims()) - count} claims that were not asked for, " in told
    assert told.endswith(
        "Unverified: 2 files that nothing follows from, 1 folders beside the package, "
        "1 fields of the ledger."
    )
    assert "unverified: files that nothing follows from: environment.json, timings.json" in told
    assert (
        "absent: claims that were not asked for: " in told
        and "more: say --json" in told
        and f"absent: figures: {figures.figure_ids()[0]}, " in told
    )


def test_runs_beside_a_bound_derive_anew_and_another_number_of_them_is_named(tmp_path):
    out = tmp_path / "verify"
    asked = ["fsl.theorem2", "--budget", "0.01", "--workers", "1", "--out", str(out)]
    assert main(asked) == 0
    assert found(out).differs == []
    page = (out / "index.html").read_text()
    first = re.search(r"exact(?:&#34;|&quot;|\"):\[([0-9.]+),", page)[1]
    forged = page.replace(first, first[:-1] + str((int(first[-1]) + 1) % 10))
    (out / "index.html").write_text(forged)
    sign(out)
    assert found(out).differs == ["index.html: it is not the page that was derived here"]


def test_what_was_not_searched_again_is_unverified_by_name(made, capsys):
    assert main(["--replay", str(made), "--sample", "0", "--workers", "0"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert (
        "unverified: searches (say --all): " in told
        and "fsl.lemma3" in told.partition("absent")[0] + told
    )
    report = found(made)
    assert set(report.unverified["searches (say --all)"]) >= {
        "fsl.lemma3",
        "fsl.lemma2",
        "fsl.lemma5",
    }
    assert set(report.unverified["counts of cases until a line failed"]) >= {
        "lamb.lemma1",
        "mixed.K1_equivalence",
    }
    everywhere = [name for names in report.unverified.values() for name in names]
    assert (
        "fsl.gradient_identity" not in everywhere
        and "fsl.table3" not in everywhere
        and "flex.table4_EMNIST_10_fast" not in everywhere
    )
    assert report.derived["ratios"] >= 6 and report.derived["certificates"] >= 5


def test_the_sample_is_another_each_time_and_can_be_had_again(made, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr(
        rederive_package.campaign,
        "run_campaign",
        lambda claims, *_: asked.append([c.id for c in claims]) or {},
    )
    for seed in (1, 2, 2, None, None, None):
        report = found(made, sample=3, seed=seed)
        assert report.sample["searched"] == 3 and (seed is None or report.sample["seed"] == seed)
        assert f"--sample 3 --sample-seed {report.sample['seed']}" in " ".join(
            report.text().split()
        )
    assert asked[1] == asked[2] and len({tuple(names) for names in asked}) > 2


def test_the_report_is_one_json_document_too(made, capsys):
    assert (
        main(
            [
                "--replay",
                str(made),
                "--sample",
                "1",
                "--sample-seed",
                "4",
                "--workers",
                "0",
                "--json",
            ]
        )
        == 0
    )
    told = json.loads(capsys.readouterr().out)
    assert (
        told["differs"] == [] and told["sample"]["seed"] == 4 and told["derived"]["searches"] == 1
    )
    assert "fsl.theorem1" in told["absent"]["claims that were not asked for"]
    assert told["unverified"]["files that nothing follows from"] == UNVERIFIED


def test_figures_are_drawn_and_judged_again(drawn, capsys):
    report = found(drawn)
    assert report.differs == [] and report.derived["figures"] == 1
    assert report.unverified["figures' arrays (say --figures)"] == ["fsl_table2"]
    report = found(drawn, figures=True)
    assert report.differs == [] and report.derived["figures' arrays"] == 1
    assert "theory_fsl" in report.absent["figures"] and "fsl_table2" not in report.absent["figures"]


# Forged without a search


def verdict(name, **change):
    return lambda of, book: of[name]["verdict"].update(change)


def line(name, at, **change):
    return lambda of, book: of[name]["verdict"]["lines"][at].update(change)


def change(of, name, field, value):
    of[name][field] = value


def leave_out(of, book):
    book["claims"] = [entry for entry in book["claims"] if entry["id"] != "lamb.lemma2"]


def hide(of, book):
    """Leave out the claims whose ids begin so, their certificates stay."""
    kept = [entry for entry in book["claims"] if not entry["id"].startswith("lamb.lemma2")]
    book["claims"] = kept
    book["asked"] = sorted(set(SOME) - {"lamb.lemma2"})


def empty(of, book):
    """Nothing is left, and nothing is said to have been asked for."""
    book.update(claims=[], asked=["house."])


def turned(of, book):
    book["libraries"] = dict(reversed(book["libraries"].items()))


def more(of, book):
    book["claims"].append(dict(of["fsl.lemma3"], id="fsl.mine"))


def swap(of, book):
    one, other = of["lamb.lemma1"], of["lamb.lemma2"]
    one["verdict"], other["verdict"] = other["verdict"], one["verdict"]


def acquit(of, book):
    """A violated claim that is said to hold, with a ratio of somebody else's."""
    of["lamb.lemma1"]["verdict"].update(
        status="holds",
        certificate=None,
        tightness=0.5,
        why="It holds.",
        witness=None,
        confidence=None,
    )


def condemn(of, book):
    of["fsl.lemma3"]["verdict"].update(
        status="violated", certificate="certificates/lamb.lemma1.json"
    )


def smaller(of, book):
    """A ratio that no instance of the numbers has."""
    witness = of["fsl.lemma5"]["verdict"]["witness"]
    witness["numbers"].update(
        {name: "1/7" for name, value in witness["numbers"].items() if value not in ("0", "1")}
    )


def huge(of, book):
    of["fsl.lemma5"]["verdict"]["witness"]["shape"].update(N=10**7, K=10**7)


def outside(of, book):
    """An instance of another setting."""
    of["fsl.lemma5"]["verdict"]["witness"].update(setting="fsl_run")


LEDGER = {
    "a claim is left out": (leave_out, "lamb.lemma2: the package leaves out this claim"),
    "a claim is left out and not asked for": (
        hide,
        "certificates/lamb.lemma2.json: it is no part of this package",
    ),
    "all claims are left out": (empty, "house.: no claim's id begins so"),
    "a claim is added": (more, "fsl.mine: no claim here has this id"),
    "a claim is renamed": (
        lambda of, book: change(of, "fsl.lemma3", "id", "fsl.theorem1"),
        "fsl.lemma3: the package",
    ),
    "claims change places": (
        lambda of, book: book["claims"].reverse(),
        "ledger.json: it holds more, or in another",
    ),
    "a filter is invented": (
        lambda of, book: book.update(asked=["fsl.lemma"]),
        "lamb.lemma1: it is none of the",
    ),
    "the filter is taken away": (
        lambda of, book: book.update(asked=[]),
        "fsl.theorem1: the package leaves out",
    ),
    "a statement": (
        lambda of, book: change(of, "fsl.lemma3", "statement", ["0 <= 1"]),
        "fsl.lemma3: its statement",
    ),
    "an assumption": (
        lambda of, book: of["lamb.lemma1"]["assumptions"].pop(),
        "lamb.lemma1: its assumptions",
    ),
    "a formula": (
        lambda of, book: change(of, "fsl.lemma3", "latex", ["1"]),
        "fsl.lemma3: its latex",
    ),
    "a meaning": (
        lambda of, book: change(of, "fsl.lemma3", "meaning", "All is well."),
        "fsl.lemma3: its meaning",
    ),
    "a command": (
        lambda of, book: change(of, "fsl.lemma3", "command", "rm -r ."),
        "fsl.lemma3: its command",
    ),
    "a key": (lambda of, book: change(of, "fsl.lemma3", "key", "0" * 40), "fsl.lemma3: its key"),
    "a finding": (
        lambda of, book: change(
            of,
            "flex.table4_EMNIST_10_fast",
            "finding",
            dict(figure="flex_table4", scale="smoke", verdict="reproduced", sentence="all of it"),
        ),
        "flex.table4_EMNIST_10_fast: its finding",
    ),
    "a plot": (
        lambda of, book: change(of, "fsl.lemma3", "plots", ["theory_fsl"]),
        "fsl.lemma3: its plots",
    ),
    "one more field": (
        lambda of, book: change(of, "fsl.lemma3", "proof", "yes"),
        "ledger.json: it holds more",
    ),
    "the budget": (lambda of, book: book.update(budget=20.0), "fsl.lemma3: its command"),
    "the seed": (lambda of, book: book.update(seed=1), "fsl.lemma3: its command"),
    "a version": (
        lambda of, book: book["libraries"].update(numpy="1.0"),
        "numpy: the package was made with 1.0",
    ),
    "libraries change places": (turned, "ledger.json: it holds more, or in another order"),
    "one more library": (
        lambda of, book: book["libraries"].update(prover="9"),
        "prover: the package was made with 9",
    ),
    "proved, without a proof": (
        verdict("fsl.lemma3", status="proved"),
        "fsl.lemma3: its verdict, status",
    ),
    "proved, by another's proof": (
        verdict(
            "flex.table4_EMNIST_10_fast",
            status="proved",
            certificate="certificates/fsl.gradient_identity.json",
        ),
        "flex.table4_EMNIST_10_fast: its verdict, status",
    ),
    "a line proved by another's proof": (
        line(
            "fsl.lemma3", 0, status="proved", certificate="certificates/fsl.gradient_identity.json"
        ),
        "fsl.lemma3: its verdict, line 1",
    ),
    "vacuous": (
        verdict(
            "lamb.lemma1",
            status="vacuous",
            kind="algebra",
            certificate=None,
            witness=None,
            tightness=None,
            why="It says nothing.",
        ),
        "lamb.lemma1: its verdict, vacuous: no proof shows it",
    ),
    "violated, by another's certificate": (condemn, "fsl.lemma3: its verdict"),
    "violated, said to hold": (
        acquit,
        "lamb.lemma1: its verdict, holds: no instance reaches its ratio",
    ),
    "verdicts change places": (swap, "lamb.lemma1: its verdict names another claim"),
    "a status without its lines": (
        verdict("fsl.lemma2", status="proved", lines=[]),
        "fsl.lemma2: its verdict",
    ),
    "a finding that is decided": (
        verdict("flex.table4_EMNIST_10_fast", status="holds"),
        "flex.table4_EMNIST_10_fast: its verdict, status",
    ),
    "tightness of a violation": (
        verdict("lamb.lemma1", tightness=1.5),
        "lamb.lemma1: its verdict, tightness",
    ),
    "witness of a violation": (
        verdict("lamb.lemma1", witness=dict(instance={}, numbers={})),
        "lamb.lemma1: its verdict, witness",
    ),
    "reason of a violation": (
        verdict("lamb.lemma1", why="It fails in a dream."),
        "lamb.lemma1: its verdict, why",
    ),
    "reason of a proof": (
        verdict("fsl.gradient_identity", why="God said so."),
        "fsl.gradient_identity: its verdict",
    ),
    "cases of a proof": (
        verdict("fsl.gradient_identity", cases=10),
        "fsl.gradient_identity: its verdict, cases",
    ),
    "confidence": (
        verdict("fsl.gradient_identity", confidence=0.5),
        "fsl.gradient_identity: its verdict, confidence",
    ),
    "a ratio": (
        line("fsl.lemma3", 0, tightness=0.25),
        "fsl.lemma3: its verdict, line 1, tightness",
    ),
    "the statement's ratio": (
        verdict("fsl.lemma3", tightness=0.25),
        "fsl.lemma3: its verdict, tightness",
    ),
    "the instance of a ratio": (smaller, "fsl.lemma5: its verdict, "),
    "an instance too large to run": (
        huge,
        "fsl.lemma5: its verdict, holds: its instance is larger than any",
    ),
    "an instance of another setting": (outside, "fsl.lemma5: its verdict, holds"),
    "no instance": (
        verdict("fsl.lemma5", witness=None),
        "fsl.lemma5: its verdict, holds: no instance reaches",
    ),
    "the statement's cases": (verdict("fsl.lemma3", cases=10**9), "fsl.lemma3: its verdict, cases"),
    "cells of a table": (verdict("fsl.table3", witness={}), "fsl.table3: its verdict, witness"),
    "cases of a table": (verdict("fsl.table3", cases=10**6), "fsl.table3: its verdict, cases"),
    "confidence in runs that differ": (
        verdict("mixed.K1_equivalence", confidence=1.0),
        "mixed.K1_equivalence: its verdict, confidence",
    ),
    "by how much runs differ": (
        verdict("mixed.K1_equivalence", why="They differ by 7."),
        "mixed.K1_equivalence: its verdict, why",
    ),
    "where runs came": (
        lambda of, book: of["mixed.K1_equivalence"]["verdict"]["witness"]["points"].reverse(),
        "mixed.K1_equivalence: its verdict, witness",
    ),
    "a number written otherwise": (
        verdict("fsl.gradient_identity", confidence=1),
        "fsl.gradient_identity: its verdict, confidence",
    ),
    "no verdict's shape": (
        verdict("fsl.lemma3", tightness=True),
        "fsl.lemma3: its verdict has not the shape of one",
    ),
    "words in words": (
        verdict("fsl.lemma3", searched_by="experts"),
        "fsl.lemma3: its verdict has not the shape",
    ),
}


@pytest.mark.parametrize("change, named", LEDGER.values(), ids=LEDGER.keys())
def test_what_a_forger_changed_in_the_ledger_and_signed_is_named(copy, change, named):
    edit(copy, change)
    begins(found(copy), named)


def test_the_page_says_that_a_package_is_of_some_claims_and_replay_which_are_absent(copy):
    assert "Not all claims" in (copy / "index.html").read_text()
    edit(copy, hide)
    for path in copy.glob("certificates/lamb.lemma2*.json"):  # of what is printed, too
        path.unlink()
    timings = json.loads((copy / "timings.json").read_bytes())
    timings = {name: row for name, row in timings.items() if not name.startswith("lamb.lemma2")}
    (copy / "timings.json").write_bytes(ledger.json_text(timings))
    sign(copy)
    report = found(copy)
    assert report.differs == [] and "lamb.lemma2" in report.absent["claims that were not asked for"]


# Forged, and found by a search

SEARCHED = {
    "a status": ("fsl.lemma5", dict(status="undecided", tightness=None, witness=None), "status"),
    "cases until it failed": ("lamb.lemma1", dict(cases=10**6), "cases"),
    "cases": ("fsl.lemma5", dict(cases=10**6), "cases"),
    "confidence": (
        "fsl.lemma5",
        dict(status="undecided", tightness=None, witness=None, confidence=1.0),
        "confidence",
    ),
    "words": ("fsl.lemma5", dict(why="It is proved in a longer paper."), "why"),
    "a remark": ("fsl.lemma5", dict(notes=["It is tight."]), "notes"),
}


@pytest.mark.parametrize("name, change, named", SEARCHED.values(), ids=SEARCHED.keys())
def test_what_rests_on_a_search_is_unverified_without_one_and_named_by_one(
    copy, name, change, named
):
    edit(copy, verdict(name, **change))
    report = found(copy)
    # What a graph says of a proof is derived from the verdicts on its lines, without a search; where
    # it differs, so does the page.
    graph = f"{name}: its rests_on is not what was derived here"
    page = "index.html: it is not the page that was derived here"
    assert set(report.differs) <= ({graph, page} if graph in report.differs else set())
    assert name in [n for names in report.unverified.values() for n in names]
    begins(found(copy, every=True), f"{name}: its verdict, {named}")


@pytest.mark.parametrize("field, value", [("seed", 1), ("budget", 0.05)])
def test_another_seed_or_budget_with_all_that_follows_is_unverified_or_named(copy, field, value):
    """Commands and keys are made anew, so that nothing in the package contradicts what it says it
    was made with."""

    def change(of, book):
        book[field] = value
        for claim in (discover.claim(name) for name in of):
            of[claim.id].update(
                key=ledger.result_key(claim, book["budget"], book["seed"]),
                command=f"fedtheory check {claim.id} --budget {book['budget']:g} --seed {book['seed']}",
            )

    edit(copy, change)
    report = found(copy)
    assert report.differs == [] and field in report.unverified["fields of the ledger"]
    assert "fsl.lemma5" in report.unverified["searches (say --all)"]
    begins(found(copy, every=True), "fsl.lemma")
