"""Claims about methods that have no setting of their own: FedDyn, FedAdam, FSL-p, server_sgd, and a
user's."""

from fractions import Fraction as Q
from typing import NamedTuple

import numpy as np
import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.algorithm import Algorithm, nonnegative
from fedtheory.jit import jit
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ, STRONGLY_CONVEX
from fedtheory.models import by_name, fitting
from fedtheory.models.general.method_probe import letters
from fedtheory.symbols.run import TABLE, L, N, S, T, gap_0, gap_T, sq_distance_0, sq_distance_T


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
    curve = dict(slope=Q(1), tilt=Q(0), bends=[], soft=[])
    instance = dict(
        N=1,
        S=1,
        T=1,
        K=1,
        convex=1,
        lipschitz=1,
        losses=[dict(curves=[curve])],
        at_star=[],
        x_0=[Q(1)],
        noise=[],
    )
    found = setting.measure(instance, dict(eta_l=Q(1, 2), alpha=Q(1)), ["sq_distance_T"])
    assert found["sq_distance_T"] == 0


# Of each method: (its letters as numbers or None, hypotheses, left, a true bound, a false one). One
# client takes one step from x_0, s long; worked by hand from the listing.
def one_step(s, more=()):
    """x_1 = x_0 - s grad F(x_0): (1 - s mu)^2 is a textbook's factor, (1 - s L)^2 is none."""
    near = lambda rate: (1 - s * rate) ** 2 * sq_distance_0
    return (s * L <= 1, *more), sq_distance_T, near(mu), near(L)


def lowered(s):
    """A step of at most s along each coordinate of the gradient lowers the loss where s L <= 1."""
    return (s * L <= 1,), gap_T, gap_0, gap_0 / 1000


def resting(step):
    """Nothing of F bounds where a server's loss leads; without a step the point stays."""
    return (Eq(step, 0),), sq_distance_T, sq_distance_0, sq_distance_0 / 2


OWN = TABLE.extended([])
OWN.paper = "own"
alpha, eta_0, eta_s, eta_c, eta_m, gamma, ratio, beta_1, epsilon, tau, phi_M = (
    OWN.nonnegative(name, name, name)
    for name in "alpha eta_0 eta_s eta_c eta_m gamma ratio beta_1 epsilon tau phi_M".split()
)
phi, T_ = OWN.count("phi", r"\phi", "identity or clipped"), OWN.count("T_", "T'", "local steps")
R, K, mu, eta_l, eta_g = (OWN[name].symbol for name in ("R", "K", "mu", "eta_l", "eta_g"))
E, K_0 = OWN.count("E", "E", "local steps"), OWN.count("K_0", "K_0", "the server's steps")
ONCE = {"fed_ams": T_, "fed_lamb": T_, "flex_a": E, "flex_b": E, "flex_c": E}
both = eta_l * eta_g
STATEMENTS = dict(
    data_sharing=one_step(both, [Eq(ratio, 0)]),
    dsl=one_step(both, [Eq(ratio, 0), Eq(gamma, 0)]),
    fed_ams=one_step(alpha * (1 - beta_1), [Eq(epsilon, 1)]),
    fed_lamb=(  # two layers of length alpha phi_M at most
        (Eq(phi, 2),),
        sq_distance_T,
        (R + 2 * alpha * phi_M) ** 2,
        (R + alpha * phi_M / 2) ** 2,
    ),
    fedadam=lowered(eta * (1 - beta_1) * eta_l / tau),
    fedavg=one_step(both),
    fedsgd=one_step(eta),
    fedprox=one_step(eta_l),  # whatever mu_prox: the first step begins at x
    feddyn=one_step(2 * eta_l),  # y - h/alpha, and h = -alpha (y - x)
    flex_a=one_step(eta),
    flex_b=one_step(eta),
    flex_c=one_step(eta),
    fsl=one_step(both, [Eq(gamma, 0)]),
    fsl_parallel=one_step(both, [Eq(gamma, 0)]),
    one_way_gt=resting(eta_s),
    parallel_training=one_step(eta * eta_s * eta_m, [Eq(eta_c, 0)]),
    scaffold=one_step(both),
    server_sgd=resting(eta_0),
    two_way_gt=one_step(eta * eta_s * eta_m, [Eq(eta_c, 0)]),
)


def stated(method, which):
    """The true statement (0) or the false one (1) about a method."""
    assumes, left, *bounds = STATEMENTS[method]
    once = [Eq(N, 1), Eq(T, 1)]
    if "K" in ft.algorithm(method).hyper or method in ONCE:
        once.append(Eq(ONCE.get(method, K), 1))
    return Claim(
        id=f"mine.{method}{which}",
        cites="a claim of one's own",
        algorithm=method,
        symbols=OWN,
        measures=left,
        bound=bounds[which],
        assumes=(LIPSCHITZ, STRONGLY_CONVEX, EXACT_GRADIENTS, *once, *assumes),
    )


def both_verdicts(method, budget):
    true, false = (ft.check(stated(method, which), budget=budget) for which in (0, 1))
    assert true.status in ("holds", "proved") and true.cases > 50, (method, true)
    assert false.status == "violated", (method, false)
    found = ft.replay(false.certificate)
    assert found["status"] == "violated" and f"run_{method}" in found["rests_on"]


def test_every_method_has_its_statements():
    assert set(STATEMENTS) == set(ft.algorithms())


@pytest.mark.parametrize("method", ["data_sharing", "fed_lamb"])
def test_a_true_and_a_false_statement(method):
    both_verdicts(method, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("method", sorted(STATEMENTS))
def test_a_true_and_a_false_statement_about_every_method(method):
    both_verdicts(method, 2)


def test_data_sharing_by_hand():
    """f_1 = x^2 / 2 and f_0 = x^2 / 2 - 3 x from 1, n_0 = 2 n_1: f'_1 has gradient (x + 2 (x - 3)) / 3
    = -1, so a step of 1/2 leads to 3/2. The same around 5, where all points are moved by 5."""
    setting = by_name("run_data_sharing")
    curve = lambda tilt: dict(slope=Q(1), tilt=Q(tilt), bends=[], soft=[])
    instance = dict(
        N=1,
        S=1,
        T=1,
        K=1,
        convex=1,
        lipschitz=1,
        losses=[dict(curves=[curve(0)])],
        at_star=[],
        x_0=[Q(1)],
        noise=[],
        server=[curve(-3)],
    )
    steps = dict(eta_l=Q(1, 2), ratio=Q(2))
    for more in ({}, dict(origin=[Q(5)])):
        found = setting.measure({**instance, **more}, steps, ["sq_distance_T"])
        assert found["sq_distance_T"] == Q(9, 4)


class Counting(NamedTuple):
    eta: float = nonnegative("step size")


@jit
def begin(state, t, g, h):
    for j in range(state.x.size):
        state.last[j] = t + 1


@jit
def by_sign(state, i, k, y, g, local, h):
    for j in range(y.size):
        if g[j] > 0:
            y[j] -= h.eta / state.last[j]
        if g[j] < 0:
            y[j] += h.eta / state.last[j]


@jit
def averaged(state, cohort, work, p, y, local, h):
    state.x[:] = y.sum(axis=0) / cohort.size


SIGNS = Algorithm("signs", "mine", Counting, init, by_sign, averaged, begin=begin, steps=1)


def test_a_method_may_branch_and_count_rounds():
    """Steps of eta and eta / 2 against the sign of each coordinate: 3/2 eta sqrt(d) in all, d <= 2
    here. A batch of instances goes both ways."""
    table = TABLE.extended([])
    two = dict(table=table, measures=sq_distance_T)
    within = lambda most, name: claim(SIGNS, most**2, Eq(T, 2), Eq(N, 1), name=name, **two)
    setting = by_name("run_signs") or fitting(within(R, "mine.first"))[0]
    curve = dict(slope=Q(1), tilt=Q(0), bends=[], soft=[])
    instance = dict(N=1, S=1, T=2, convex=1, lipschitz=1, losses=[dict(curves=[curve])])
    instance.update(at_star=[], x_0=[Q(2)], noise=[])
    found = setting.measure(instance, dict(eta=Q(1)), ["sq_distance_T"])
    assert found["sq_distance_T"] == Q(1, 4)  # 2 - 1 - 1/2
    assert ft.check(within(R + 3 * eta, "mine.in_all"), budget=0.5).status == "holds"
    # past the minimiser by eta and back by eta / 2
    false = ft.check(within(R + eta / 3, "mine.past_it"), budget=0.5)
    assert false.status == "violated"
    assert ft.replay(false.certificate)["status"] == "violated"


def test_letters_that_are_no_methods_are_refused():
    letter = TABLE.extended([])
    letter.paper = "mine"
    kappa = letter.nonnegative("kappa", r"\kappa", "a letter of nobody's")
    wrong = claim("feddyn", kappa * gap_0, table=letter)
    with pytest.raises(ft.errors.InvalidInput, match="those of feddyn .*got 'kappa'"):
        ft.check(wrong, budget=1)
    with pytest.raises(ft.errors.InvalidInput, match="must name the method"):
        ft.check(claim(None, kappa * gap_0, table=letter), budget=1)


def test_a_letter_of_the_house_is_the_methods_own_with_an_underscore():
    assert letters(ft.algorithm("fed_lamb"))["T"] == "T_"
    assert "T_" in by_name("run_fed_lamb").gives


@pytest.mark.parametrize("method, letter", [("fedavg", "a"), ("fedsgd", "lam"), ("fed_lamb", "K")])
def test_letters_of_the_house_that_a_run_does_not_have_are_refused(method, letter):
    """They would be free of all that happens, and the claim about any of them."""
    free = OWN[letter].symbol
    claim = Claim(
        id="mine.free",
        cites="a claim of one's own",
        algorithm=method,
        symbols=OWN,
        measures=sq_distance_T,
        bound=free * R**2,
        assumes=(LIPSCHITZ, STRONGLY_CONVEX),
    )
    with pytest.raises(ft.errors.InvalidInput, match="its letters must be"):
        ft.check(claim, budget=0.1)
