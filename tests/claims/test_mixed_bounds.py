"""The explicit companions of theorems B.1 to B.3 against exact expectations of short runs, at their
largest steps."""

import math
from functools import cache

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.problems.mixed import mixed_minimizer

METHODS = {1: "parallel_training", 2: "one_way_gt", 3: "two_way_gt"}
CASES = [(number, case) for number in METHODS for case in ("strong", "convex", "nonconvex")]
BETA, MU, ROUNDS = 2.0, 0.5, 40
# Far from the minimiser with little noise; beside it with much, where only a floor of noise can
# hold
SETTINGS = {
    "far": dict(far=5.0, S=2, K=3, eta_m=1.0, eta_s=2.0, sigma=1.0, sigma_c=1.0, G=1.0),
    "near": dict(far=1e-3, S=2, K=2, eta_m=1.25, eta_s=1.5, sigma=30.0, sigma_c=20.0, G=10.0),
}


def tuned(ceiling, start, noise, T):
    """The step of theorem B.2's last displays."""
    return math.sqrt(start) / max(ceiling * math.sqrt(start), math.sqrt(noise * (T + 1)))


@cache
def measured(number, case, setting):
    """(left side, symbols) of a run: by convexity the error at a mean of points is below the mean
    of their errors."""
    v = dict(SETTINGS[setting])
    far, S, K, s, s_c = v.pop("far"), v["S"], v["K"], v["sigma"], v["sigma_c"]
    T = ROUNDS
    if (
        case == "nonconvex" and setting == "near"
    ):  # the least gradient is the first one unless the start is as rough
        far, T = 1.0, 2000
    problem = ft.problems.mixed(
        2, 4, L=BETA, mu=MU, G=v["G"], sigma=s, sigma_c=s_c, hessian="own", seed=5
    )
    star = mixed_minimizer(problem)
    x_0 = star + far * np.array([1.0, -0.5])
    f = lambda x: problem.loss(x) + problem.client_loss(0, x)
    v.update(
        beta=BETA,
        mu=MU,
        N=4,
        T=T,
        G=problem.constants["G_bgd"].value,
        B=problem.constants["B_bgd"].value,
        D_sq=float((x_0 - star) @ (x_0 - star)),
        F=f(x_0) - f(star),
    )
    if number == 1:
        step = 1 / (6 * (1 + v["B"] ** 2) * BETA)
    elif number == 3:
        step = min(1 / (162 * BETA), 1 / (30 * MU)) if case != "nonconvex" else 1 / (48 * BETA)
    elif case == "convex":
        step = tuned(8 * BETA, v["D_sq"], 5 * s**2 / (K * S) + 3 * s_c**2, T)
    elif case == "nonconvex":
        step = tuned(18 * BETA, v["F"], BETA * (3 * s**2 / (K * S) + 2 * s_c**2), T)
    else:
        step = 1 / (8 * BETA)
    if number == 2:
        v["eta_m"] = 1.0
    if case == "strong":
        v["T"] = math.ceil(1 / (2 * MU * step))
    v["eta"] = step / (K * v["eta_m"] * v["eta_s"])
    v["eta_c"] = v["eta"] * v["eta_s"]
    g_f = problem.grad(star)
    v["lag"] = 4 * float(
        g_f @ g_f
    )  # nothing is transferred first, and grad f_c = -grad f_f at the minimiser
    fields = ("eta", "eta_s", "K") + (("eta_c", "eta_m") if number != 2 else ())
    run = ft.expected(
        problem, METHODS[number], rounds=v["T"], x_0=x_0, S=S, **{name: v[name] for name in fields}
    )
    gaps = run.metrics["loss"] + run.metrics["server_loss"] - f(star)
    contraction = (1.5 if number == 2 else 1.0) * MU * step
    weights = (1 - contraction) ** -np.arange(v["T"] + 1.0)
    left = dict(
        strong=weights @ gaps / weights.sum(),
        convex=gaps.mean(),
        nonconvex=run.metrics["sq_mixed_grad_norm"].min(),
    )
    return left[case], v


def record(number, case, v):
    claim = ft.claim(f"mixed.theoremB{number}_{case}_explicit")
    return claim, {name: value for name, value in v.items() if name in claim.symbols}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("number, case", CASES)
def test_short_runs_stay_below_the_bound(number, case, setting):
    left, v = measured(number, case, setting)
    claim, given = record(number, case, v)
    assert 0 < left <= claim.evaluate(given)


@pytest.mark.parametrize("number, case", CASES)
def test_without_its_noise_the_bound_is_refuted(number, case):
    left, v = measured(number, case, "near")
    claim, given = record(number, case, v)
    assert left > claim.replace(name="noiseless", bound=claim.weakened).evaluate(given)
