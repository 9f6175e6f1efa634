"""Runs and their exact expectations, shown beside a bound with sliders: computed on the first of a
few small problems that meets the claim's hypotheses.

A run never decides about a bound here: means of few trials, and exact expectations where a method
has them, give readers a scale for the bound. All problems and numbers are fixed.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import problems
from fedtheory.comparison.case import claim_method
from fedtheory.comparison.compare import compare
from fedtheory.comparison.result import Comparison
from fedtheory.errors import FedtheoryError
from fedtheory.language.symbol import Measure
from fedtheory.participation import Participation, distribution
from fedtheory.problem import Constant, Problem
from fedtheory.typing import Number

if TYPE_CHECKING:
    pass

ROUNDS, TRIALS = 64, 32
OVER = ("T", "tau", "R")  # letters that count rounds
DIGITS = 9  # digits of exact numbers, so that they are equal on every machine
SAMPLED = 4  # digits of means of runs
# radius around the minimiser in which gradients are bounded, for theorems that assume this
REACH = 4.0
# Values of letters that no problem and no hypothesis gives; each method takes its own letters.
LETTERS = dict(K=2, K_0=4, E=2, a=1.0, eta_s=2.0)
# where the hypotheses admit them: steps at the upper limit would show little learning
STEPS = dict(eta_0=0.02, eta_l=0.04)


@cache
def problems_tried() -> tuple[tuple[str, Problem, dict[str, Any]], ...]:
    """Return (problem in words, problem, settings) of each problem, in the order in which the
    problems are tried."""
    small = dict(d=2, clients=4, L=1.0, mu=0.5, G=0.5)
    noisy = dict(small, sigma=0.3, sigma_0=0.1, seed=1)
    mixed = dict(small, sigma=0.3, sigma_c=0.3, seed=3)
    own = [[0.0, 0.0, 1.0], [0.0, 0.5, 0.5], [0.5, 0.25, 0.25]]
    works = (
        ("all of which do all of the work", {}),
        ("of which each does its own share of the work", Participation(work=distribution(own))),
    )
    four = "quadratic losses of 4 clients in two dimensions"
    return (
        (four, problems.quadratic(**noisy, xi_bar=0.2), dict(S=2)),
        (f"{four}, of mean 0", problems.quadratic(**noisy, xi_bar=0.0), dict(S=2, gamma=4.0)),
        (f"{four}, all alike, and a central one", problems.mixed(**mixed), dict(S=2)),
        (f"{four}, and a central one", problems.mixed(**mixed, sigma_f=0.3), dict(S=2)),
        *(
            (
                f"quadratic losses of 3 devices in two dimensions, {how}",
                on_a_ball(),
                dict(participation=work) if work else {},
            )
            for how, work in works
        ),
        (
            "pseudo-Huber losses of 4 clients in two dimensions, all of which take part",
            problems.bounded(d=2, clients=4, L=1.0, M=1.0, sigma=0.2, noise="rademacher", seed=1),
            dict(alpha=0.05, beta_1=0.0, beta_2=0.9, T=2, cst=1.0),
        ),
    )


def on_a_ball() -> Problem:
    """Build quadratic losses with a gradient bound that holds up to the distance REACH from the
    minimiser."""
    centres, noise = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), 0.3
    made = problems.quadratic_from_arrays([1.0, 0.5], centres, sigma=noise, noise="rademacher")
    farthest = float(np.linalg.norm(centres - made.minimizer(), axis=1).max())
    bound = Constant(REACH + farthest + noise, "ball", REACH, "the largest distance, and noise")
    return replace(made, constants={**made.constants, "M": bound})


def runs_beside_bound(claim: Any, moved: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the plain data of runs beside a claim's bound; `moved` are the symbols that sliders
    move. Return None where no problem meets the hypotheses, or where the bound needs a measurement
    of each round.

    >>> from fedtheory import discover
    >>> from fedtheory.app.slider_runs import runs_beside_bound
    >>> runs_beside_bound(discover.claim("fsl.h_lower"), ["T"]) is None
    True

    The data have the problem in words, the letter that counts rounds with its values, the fixed
    numbers, the mean left side with its interval, and the exact left side if known. Problems that a
    hypothesis excludes raise FedtheoryError in `compare`, and the next problem is tried.
    """
    counts = [name for name in OVER if name in moved]
    if not counts or not claim.algorithm:
        return None
    rest = [name for name in moved if name not in counts]
    measures = {name: claim.symbols[name].measure for name in rest if name in claim.quantities}
    if any(one.of_a_run and not measured_once(one) for one in measures.values()):
        return None
    known = {*claim_method(claim).hyper, *claim.parameters, "S", "participation"}
    steps = (STEPS, {}) if set(STEPS) <= set(rest + ["eta_0"]) & known else ({},)
    for (says, problem, settings), more in product(problems_tried(), steps):
        asked = {n: v for n, v in (LETTERS | settings | more).items() if n in known}
        try:
            found = compare(claim, problem, rounds=ROUNDS, trials=TRIALS, **asked)
        except FedtheoryError:
            continue
        numbers = found.numbers | {
            n: mean_of_measure(found, one) for n, one in measures.items() if measured_once(one)
        }
        fixed = {n: numbers[n] for n in moved if np.ndim(numbers.get(n, np.zeros(1))) == 0}
        varied = [name for name in moved if name not in fixed]
        if len(varied) == 1 and varied[0] in counts:
            return comparison_data(found, says, varied[0], fixed)
    return None


def measured_once(measure: Measure) -> bool:
    """Tell whether a run gives the measured quantity at one round, as an expectation."""
    return measure.at.isdecimal() and measure.average == "E" and measure.minus in ("", "inf")


def mean_of_measure(found: Comparison, measure: Measure) -> float:
    """Return the mean over the trials of a quantity that is measured once."""
    run = found.runs[0].metrics[measure.metric][:, int(measure.at)].mean()
    return run - (found.problem.constants["F_inf"].value if measure.minus else 0.0)


def comparison_data(
    found: Comparison, says: str, over: str, fixed: Mapping[str, Number]
) -> dict[str, Any]:
    """Return a comparison as plain data.

    Numbers are rounded to DIGITS or SAMPLED digits, so that the page has equal bytes on every
    machine.
    """
    listed = lambda values, digits: [float(f"{value:.{digits}g}") for value in values.tolist()]
    sampled = {name: listed(getattr(found, name), SAMPLED) for name in ("left", "low", "high")}
    exact = None if found.left_exact is None else listed(found.left_exact, DIGITS)
    numbers = {name: f"{float(value):.12g}" for name, value in fixed.items()}
    return (
        dict(says=says, over=over, numbers=numbers, T=found.T.tolist(), exact=exact, trials=TRIALS)
        | sampled
    )
