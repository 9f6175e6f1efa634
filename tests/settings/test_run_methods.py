"""Claims about methods that have no setting of their own: FedDyn, FedAdam, FSL-p, server_sgd, and a
user's."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.algorithm import Algorithm, nonnegative
from fedtheory.claim import Claim
from fedtheory.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ
from fedtheory.jit import jit
from fedtheory.settings import by_name, fitting
from fedtheory.symbols.run import TABLE, L, N, S, gap_0, gap_T


class Hyper(NamedTuple):
    eta: float = nonnegative("step size")
    beta: float = nonnegative("weight of the last change", 0.0)


class State(NamedTuple):
    x: np.ndarray
    last: np.ndarray


def init(x_0, N, layers, h):
    return State(x_0.copy(), x_0.copy())


@jit
def local_step(state, i, k, y, g, local, h):
    for j in range(y.size):
        y[j] -= h.eta * g[j]


@jit
def aggregate(state, cohort, work, p, y, local, h):
    """Heavy ball: x + mean of the changes + beta (x - last)."""
    for j in range(state.x.size):
        change = 0.0
        for s in range(cohort.size):
            change += y[s, j] - state.x[j]
        before = state.x[j]
        state.x[j] += change / cohort.size + h.beta * (state.x[j] - state.last[j])
        state.last[j] = before


HEAVY = Algorithm("heavy", "Polyak 1964", Hyper, init, local_step, aggregate, steps=1)

MINE = TABLE.extended([])
MINE.paper = "mine"
beta = MINE.nonnegative("beta", r"\beta", "weight of the last change")
eta = TABLE["eta"].symbol


def claim(method, bound, *assumes, measures=gap_T, table=TABLE, name="mine.one"):
    return Claim(
        id=name,
        cites="a claim of one's own",
        algorithm=method,
        symbols=table,
        measures=measures,
        bound=bound,
        assumes=(LIPSCHITZ, CONVEX, EXACT_GRADIENTS, *assumes),
    )


def test_a_users_method_is_decided_on_its_own_kernels():
    """Heavy ball with beta = 0 is gradient descent: with eta <= 1/L the loss never rises; with beta
    = 1 it may."""
    true = claim(HEAVY, gap_0, eta <= 1 / L, Eq(beta, 0), Eq(S, N), table=MINE)
    v = ft.check(true, budget=3, seed=0)
    assert v.status == "holds" and float(v.tightness) > 0.99
    false = ft.check(
        claim(HEAVY, gap_0, eta <= 1 / L, beta <= 1, Eq(S, N), table=MINE), budget=3, seed=0
    )
    assert false.status == "violated"


@pytest.mark.parametrize("method", ["feddyn", "server_sgd", "fsl_parallel", "fedadam"])
def test_methods_of_the_library_that_have_no_setting_are_run(method):
    """Nothing bounds a method's loss by a thousandth of its start: a counterexample in rationals,
    which replays."""
    v = ft.check(claim(method, gap_0 / 1000), budget=4, seed=0)
    assert v.status == "violated"
    assert ft.replay(v.certificate)["status"] == "violated"


def test_one_round_of_feddyn_by_hand():
    """f = x^2 / 2 on one client, x_0 = 1, eta_l = 1/2, alpha = 1, K = 1: y = 1/2, h = 1/2, x = y -
    h / alpha = 0."""
    setting = by_name("run_feddyn")
    curve = dict(slope=Fraction(1), tilt=Fraction(0), bends=[], soft=[])
    instance = dict(
        N=1,
        S=1,
        T=1,
        K=1,
        convex=1,
        lipschitz=1,
        losses=[dict(curves=[curve])],
        at_star=[],
        x_0=[Fraction(1)],
        noise=[],
    )
    found = setting.measure(
        instance, dict(eta_l=Fraction(1, 2), alpha=Fraction(1)), ["sq_distance_T"]
    )
    assert found["sq_distance_T"] == 0


def test_a_method_whose_letters_are_taken_is_refused():
    with pytest.raises(ft.errors.InvalidInput, match="must not share a letter"):
        fitting(claim("fed_lamb", gap_0))  # its T counts local steps
