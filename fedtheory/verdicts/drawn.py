"""A claim on one problem by sampled runs: for losses and methods of which nothing exact is known.

The left side must be a nonnegative multiple of one measured expectation, its right side a number.
Draws come from `ft.run` in blocks, each with a seed of its own; a betting e-process refutes, fresh
seeds confirm, so that looking at any time is allowed. Of a minimum over rounds each round's
expectation has to exceed the bound: their e-processes are combined by their least.
"""

import hashlib
import math
import time
from collections.abc import Mapping
from itertools import product

import numpy as np

from fedtheory import arguments, discover, enclosure, metrics
from fedtheory.comparing.case import Letters, meets
from fedtheory.comparing.letters import chosen
from fedtheory.comparing.lines import Line, at_start, of_law
from fedtheory.comparing.measured import at_end
from fedtheory.comparing.objectives import objective
from fedtheory.comparing.rounding import Rounding
from fedtheory.comparing.setup import setup_of
from fedtheory.errors import InvalidInput, refuse
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.runs.running import _plan, _start, run
from fedtheory.verdicts.confidence import against_at_most, lower
from fedtheory.verdicts.verdict import Tightness, Verdict

BLOCK = 64  # trials of one seed
JUDGED = ("T", "min", "min_T", "mean", "1")  # what a Measure may look at: expectations at the end


def seed_of(seed, look, block):
    """A seed of its own for each block of each look."""
    return int.from_bytes(hashlib.sha256(f"{seed}/{look}/{block}".encode()).digest()[:7], "big")


def judged(claim, start):
    """The Entry of the one expectation that a claim's first line bounds; what is known at the start
    and of who works is no expectation."""
    known = {name for name, entry in claim.quantities.items() if of_law(entry)}
    known |= (
        {name for name, entry in claim.quantities.items() if at_start(entry)}
        if start is None
        else set(start)
    )
    left, sign, _ = claim.lines[0]
    measured = [entry for name, entry in claim.quantities.items() if name not in known]
    if sign not in ("<=", "<") or len(measured) != 1 or measured[0].symbol not in left.free_symbols:
        raise InvalidInput(
            f"{claim.title} must bound one measured expectation from above; give what is known at the "
            "start by start={...}"
        )
    how = measured[0].measure
    if how.metric not in metrics.ALL or how.at not in JUDGED or how.average not in ("E", ""):
        raise InvalidInput(f"{measured[0].name} is not read off the rounds of a run")
    return measured[0]


def settings_by_letter(claim, algorithm, hyper):
    """Hyper-parameters that are numbers, by the claim's letters."""
    return {
        letter: hyper[name]
        for letter, name in chosen(claim.table, algorithm).items()
        if isinstance(hyper.get(name), (int, float))
    }


def check_on(
    claim,
    problem,
    *,
    rounds,
    draws=4096,
    seed=0,
    alpha=1e-3,
    start=None,
    x_0=None,
    S=None,
    infimum=None,
    **hyper,
):
    """The Verdict on a claim's first line for one problem and one choice of hyper-parameters, by at
    most `draws` runs of each look.

    `start` gives values of what is measured at the start (such as D_0), exactly or rounded to the
    safe side; `infimum` the infimum that the claim subtracts. What is not given is derived from the
    problem where that can be done.

    >>> import fedtheory as ft
    >>> zeros = [[0.0], [0.0], [0.0]]
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=zeros, sigma=0.1, sigma_0=0.1)
    >>> steps = dict(eta_l=0.1, eta_g=1.0, eta_0=0.1, gamma=1.0)
    >>> setting = dict(rounds=2, x_0=[1.0], S=2, K=1, K_0=1, **steps)
    >>> start = dict(tilde_D_0=0.5)    # x_0^2 / 2, and the least is 0
    >>> v = ft.check_on("fsl.theorem2", problem, draws=128, start=start, **setting)
    >>> v.kind, v.status
    ('sampled', 'holds')
    """
    claim, begun = discover.claim(claim), time.perf_counter()
    if not isinstance(problem, Problem):
        refuse("problem", "must be a Problem, such as ft.problems.quadratic makes", problem)
    rounds, seed, draws = (
        arguments.whole("rounds", rounds, 1),
        arguments.seed(seed),
        arguments.whole("draws", draws, BLOCK),
    )
    alpha = arguments.real("alpha", alpha, open_low=True)
    if not alpha < 1:
        refuse("alpha", "must lie in (0, 1)", alpha)
    if start is not None and not isinstance(start, Mapping):
        refuse("start", "must be a mapping of what is measured at the start to numbers", start)
    infimum = (
        None if infimum is None else arguments.real("infimum", infimum, low=-arguments.LARGEST)
    )
    if not claim.lines:
        refuse("claim", "must have lines", claim.id)
    algorithm, participation = discover.algorithm(claim.algorithm), Participation()
    entry = judged(claim, start)
    how = entry.measure
    S = problem.N if S is None else S
    participation.check(problem.N, S)
    letters = Letters(
        Line(claim, 0),
        problem,
        S,
        participation,
        algorithm,
        {**settings_by_letter(claim, algorithm, hyper), **(start or {})},
        None if start is not None else _start(problem, x_0, 1)[0],
    )
    if how.minus and infimum is None:
        infimum = objective(problem, how.metric, letters.gamma).lowest().high
    values = letters.values(rounds)
    for broken in claim.admits(values):
        raise InvalidInput(f"{claim.title} assumes {broken}; this run does not meet it")
    plan = _plan(
        problem,
        algorithm,
        rounds=rounds,
        trials=1,
        seed=0,
        S=S,
        participation=participation,
        keep="metrics",
        names=(),
        given=hyper,
    )
    meets(claim, problem, setup_of(plan, plan.hyper[0]))
    used = letters.constants
    slope = claim.expand(claim.lines[0][0]).diff(entry.symbol)
    exact = {name: enclosure.number(name, value) for name, value in values.items()}
    factor = enclosure.enclose(slope, exact, up=False)
    if entry.symbol in slope.free_symbols or not factor > 0:
        raise InvalidInput(
            f"the left side of {claim.title} is no positive multiple of {entry.name} here"
        )
    weakest = max(  # of what rounding leaves of the start
        claim.evaluate({**values, **dict(zip(letters.start, corner))})
        for corner in product(*letters.start.values())
    )
    bound = float(np.nextafter(weakest / float(factor), np.inf))
    shift = 0.0 if infimum is None else float(infimum)

    rounding, farthest = Rounding(problem, algorithm, hyper, rounds, how.metric), [0.0]

    def rows(look, first, count):
        found = []
        for block in range(first // BLOCK, -(-(first + count) // BLOCK)):
            r = run(
                problem,
                claim.algorithm,
                rounds=rounds,
                trials=BLOCK,
                seed=seed_of(seed, look, block),
                x_0=x_0,
                S=S,
                metrics=(how.metric,),
                keep="x",
                **hyper,
            )
            farthest[0] = max(farthest[0], float(np.abs(r.x).max()))
            stayed = np.all([r.inside[c] for c in set(used.values()) & set(r.inside or ())], axis=0)
            values = at_end(how.at, r.metrics[how.metric] - shift, rounds)
            found.append(
                np.where(np.reshape(stayed, (-1, 1)), values, np.nan)
            )  # outside a constant's ball
        return np.concatenate(found)[first % BLOCK :][:count]

    where = f"of {getattr(claim.algorithm, 'name', claim.algorithm)} on {problem.name}, {rounds} rounds each"
    looks, taken, best = [], 0, None
    for look in (0, 1):  # the second confirms by fresh seeds
        seen, evidence, count = None, -math.inf, BLOCK
        while evidence <= math.log(2 / alpha) and (seen is None or len(seen) < draws):
            more = rows(look, 0 if seen is None else len(seen), count)
            seen = more if seen is None else np.concatenate([seen, more])
            count = min(len(seen), draws - len(seen))
            if not np.isfinite(seen).all() or (seen < -1e-12).any():
                return Verdict(
                    claim.id,
                    "undecided",
                    "sampled",
                    "A run left the finite numbers, or the "
                    "ball on which a constant is known: it says nothing.",
                    cases=taken + len(seen),
                    seconds=time.perf_counter() - begun,
                    searched=f"{taken + len(seen)} runs {where}",
                )
            evidence = (
                min(against_at_most(np.maximum(column, 0), bound).max() for column in seen.T)
                if bound > 0
                else -math.inf
            )
        taken += len(seen)
        if evidence > math.log(2 / alpha) and min(
            against_at_most(column, bound).max() for column in rounding.below(seen, farthest[0]).T
        ) <= math.log(2 / alpha):
            return Verdict(
                claim.id,
                "undecided",
                "sampled",
                f"Its left side lies above its right side {bound:.6g}, by no "
                f"more than the rounding of {rounds} rounds in floats may make of it.",
                cases=taken,
                seconds=time.perf_counter() - begun,
                searched=f"{taken} runs {where}",
            )
        best = best if look else min(lower(np.maximum(column, 0), alpha / 2) for column in seen.T)
        looks.append(evidence > math.log(2 / alpha))
        if not looks[-1]:
            break
    broken = looks == [True, True]
    why = (
        f"Its left side lies above its right side {bound:.6g} with confidence {1 - alpha:g}, confirmed by fresh "
        "draws."
        if broken
        else f"Draws do not refute it: at least {float(best) / bound:.3g} of its right side is "
        f"reached, with confidence {1 - alpha / 2:g}."
    )
    witness = dict(
        problem=problem.name,
        algorithm=str(getattr(claim.algorithm, "name", claim.algorithm)),
        rounds=rounds,
        seed=seed,
        S=S,
        **hyper,
    )
    return Verdict(
        claim.id,
        "violated" if broken else "holds",
        "sampled",
        why,
        Tightness(float(best) / bound if bound > 0 else math.nan, witness) if bound > 0 else None,
        taken,
        1 - alpha,
        witness,
        None,
        time.perf_counter() - begun,
        searched=f"{taken} runs {where}",
    )
