"""Runs that stand beside a bound: the numbers of an exact expectation that was worked out otherwise, inside
the claim's hypotheses, below its bound."""

from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.app import package, slider_runs
from fedtheory.verdicts import slider_data
from tests.app.test_package import CHROMIUM, book_of, entry, rendered


def runs(name):
    claim = discover.claim(name)
    return slider_runs.runs_beside_bound(claim, slider_data.slider_data(claim)["start"])


def test_what_is_told_is_the_exact_expectation():
    """Theorem 2 of FSL bounds h min_t E||grad||^2; h = 1/2 + gamma - K_0 eta_0 L (1 + gamma) (3 + 3 gamma +
    16 K_0 eta_0 L kappa)/2 is 0.508 at gamma = eta_g = L = 1, K_0 eta_0 = 0.08, where kappa is 5."""
    found = runs("fsl.theorem2")
    numbers = {name: float(text) for name, text in found["numbers"].items()}
    assert (numbers["gamma"], numbers["eta_g"], numbers["L"], numbers["K_0"]) == (1, 1, 1, 4)
    _, problem, settings = slider_runs.problems_tried()[0]
    settings = dict(settings, K=2, K_0=4, eta_0=0.02, eta_l=0.04, gamma=1.0)
    squares = ft.expected(problem, "fsl", rounds=64, **settings).metrics["sq_tilde_grad_norm"]
    lowest = np.minimum.accumulate(squares)[:-1]  # over the rounds before each T
    assert found["T"] == list(range(1, 65))
    assert np.allclose(found["exact"], 0.508 * lowest, rtol=1e-8)
    low, high = np.array(found["low"]), np.array(found["high"])
    assert (low <= high).all() and np.mean((low <= found["left"]) & (found["left"] <= high)) > 0.9


@pytest.mark.parametrize(
    "name",
    [
        "fsl.corollary1_explicit",
        "mixed.theoremB2_strong_explicit",
        "flex.table1_B_het_explicit",
        "lamb.theorem1_explicit",
    ],
)
def test_runs_are_inside_the_hypotheses_and_below_the_bound(name):
    found, claim = runs(name), discover.claim(name)
    data = slider_data.slider_data(claim)
    numbers = {letter: Fraction(text) for letter, text in found["numbers"].items()}
    for T, left in zip(found["T"], found["exact"] or found["left"]):
        at = numbers | {found["over"]: T}
        fixed = {s.name: v for s, v in claim_solved(claim, data, at).items()}
        assert left <= claim.evaluate(at | fixed, strict=False)
    assert set(found["numbers"]) | {found["over"]} == set(data["start"])


def claim_solved(claim, data, at):
    """What equations among the hypotheses then fix, by the page's own programs."""
    from tests.app.test_explorer import run

    found = dict(at)
    for letter, program in data["solved"].items():
        found[letter] = run(program, found)[0]
    return {claim.symbols[n].symbol: found[n] for n in data["solved"] if n in claim.parameters}


def test_a_bound_on_what_each_round_measures_has_none():
    assert runs("fsl.theorem1") is None and runs("fsl.theorem2_summed") is None


@pytest.mark.skipif(not CHROMIUM, reason="needs a browser")
def test_the_page_tells_them_at_their_own_numbers_alone(tmp_path):
    name = "fsl.theorem2"
    (tmp_path / "index.html").write_bytes(package.render_page(book_of(entry(name))))
    found = runs(name)
    told = rendered(tmp_path, f"open={name}")
    fields = {f["data-name"]: f["value"] for f in told.all("input") if "data-name" in f}
    assert fields == found["numbers"] | {"T": "64"}
    after = lambda words, said: next(float(b) for a, b in zip(words, words[1:]) if a.endswith(said))
    assert after(told.words, "left side, exact: ") == found["exact"][-1]
    numbers = {letter: Fraction(text) for letter, text in fields.items()} | {
        "eta_0": Fraction(2, 100)
    }
    bound = ft.claim(name).evaluate(numbers, strict=False)
    assert after(told.words, "right side: ") == pytest.approx(bound, rel=1e-12)
    earlier = rendered(tmp_path, f"open={name}&at=T:7")
    assert after(earlier.words, "left side, exact: ") == found["exact"][6]
    moved = rendered(tmp_path, f"open={name}&at=L:2")
    assert (
        not any(w.endswith("side, exact: ") for w in moved.words) and "Set them so" in moved.words
    )


def test_what_a_run_measures_once_is_the_mean_that_the_bound_was_taken_at():
    """FED-LAMB's theorem 1 takes the loss after one iteration: with it the page's formula gives the
    right side that `compare` found."""
    claim, found = discover.claim("lamb.theorem1"), runs("lamb.theorem1")
    assert found["over"] == "R" and found["exact"] is None  # its rounds; T counts local steps
    _, problem, settings = slider_runs.problems_tried()[-1]
    right = ft.compare(claim, problem, rounds=64, trials=slider_runs.TRIALS, **settings).right
    numbers = {letter: Fraction(text) for letter, text in found["numbers"].items()}
    for R in (1, 10, 64):
        assert claim.evaluate(numbers | dict(R=R, beta_1=0), strict=False) == pytest.approx(
            right[R - 1], rel=1e-9
        )
