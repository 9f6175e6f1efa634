"""Many one-round checks at once against enumeration in rationals and ft.expected; false claims are found out."""

from fractions import Fraction as Q
from typing import NamedTuple

import numpy as np
import pytest
from sympy import Rational

import fedtheory as ft
from fedtheory import discover
from fedtheory.algorithm import Algorithm, nonnegative
from fedtheory.algorithms import fedavg
from fedtheory.checks import batch
from fedtheory.checks.oneround import OneRound
from fedtheory.claims.fsl import theorem1
from fedtheory.claims.fsl._round import Instance, quantities
from fedtheory.errors import InvalidInput, NotExact
from fedtheory.symbols.fsl import G, sigma, sigma_0, sq_tilde_grad, tilde_F_t, xi_bar

CLAIM = discover.claim("fsl.theorem1")
LEVEL = CLAIM.replace(name="level", bound=tilde_F_t, teeth=None, assumptions=())    # no step raises the modified loss


def dyadic(generator, shape, bits=4, low=-2, high=3):
    """Numbers that floats hold exactly, with few digits, so that Fractions stay small."""
    return generator.integers(low * 2**bits, high * 2**bits, shape) / 2.0**bits


def tiny(seed, J, dense, N=2, S=1, K=2, K_0=2, sigma=0.5, sigma_0=0.25, gamma=0.5, offset=0.0, u=1 / 64):
    """Instances in the plane within (11), all numbers dyadic."""
    generator = np.random.default_rng(seed)
    if dense:
        root = dyadic(generator, (J, N + 1, 2, 2), 2, -1, 1)
        A = root @ root.swapaxes(2, 3)
    else:
        A = dyadic(generator, (J, N + 1, 2), 3, 0, 2)
    b = offset + dyadic(generator, (J, N + 1, 2))
    return dict(A=A, b=b, x=offset + dyadic(generator, (J, 2)), S=S, sigma=sigma, sigma_0=sigma_0, K=K, K_0=K_0,
                gamma=gamma, eta_g=1.0, eta_l=u / K, eta_0=u / K_0, L=4.0)


def exactly(given, j):
    """The j-th instance by enumeration in Fractions: quantities of the proof, losses counted from x."""
    A, b, x = (np.vectorize(Q, otypes=[object])(given[name][j]) for name in ("A", "b", "x"))
    number = lambda name: Q(np.broadcast_to(given[name], len(given["x"]))[j].item())
    times = lambda i, v: A[i] * v if A.ndim == 2 else A[i].dot(v)
    raw = lambda i, y: (y - b[i]).dot(times(i, y - b[i])) / 2
    units = [sign * np.array(axis, dtype=object) for sign in (1, -1) for axis in ([Q(1), Q(0)], [Q(0), Q(1)])]
    noise = lambda s: [(Q(1, 4), s * unit) for unit in units] if s else [(Q(1), 0 * units[0])]
    laws = [noise(number("sigma_0"))] + [noise(number("sigma"))] * (len(b) - 1)
    case = Instance(lambda i, y: raw(i, y) - raw(i, x), lambda i, y: times(i, y - b[i]), laws.__getitem__, len(b) - 1,
                    *(int(number(name)) for name in ("S", "K", "K_0")),
                    *(number(name) for name in ("eta_l", "eta_g", "eta_0", "gamma", "L", "sigma")))
    return case, quantities(case, x)


def refuted(claim, given, j):
    """Whether the instance breaks the claim, in Fractions, with the numbers that were given; assumptions included."""
    case, found = exactly(given, j)
    known = {**{name: np.broadcast_to(value, len(given["x"]))[j].item() for name, value in given.items()
                if name not in ("A", "b", "x")}, "N": case.N, **found}
    values = {name: known[name] for name in claim.symbols if name in known}
    assert not claim.admits(values)
    return claim.evaluate(values).upper < claim.evaluate_left(values).lower


def constants_at_x(given):
    """G and xi_bar, rounded up to dyadic numbers."""
    A, b, x = given["A"], given["b"], given["x"][:, None]
    g = A * (x - b) if A.ndim == 3 else np.einsum("jnab,jnb->jna", A, x - b)
    F = g[:, 1:].mean(axis=1)
    up = lambda square: np.ceil(np.sqrt(square) * 2**20) / 2**20
    return dict(given, G=up(((g[:, 1:] - F[:, None]) ** 2).sum(axis=2).mean(axis=1)),
                xi_bar=up(((g[:, 0] - F) ** 2).sum(axis=1)))


# ---------------------------------------------------------------- the left side

SHAPES = [dict(), dict(N=1), dict(N=3, S=2, K=1, K_0=1), dict(N=3, S=3, K=1, K_0=2, sigma=0.0),
          dict(gamma=0.0, K=3, K_0=1),
          dict(sigma=0.0, sigma_0=0.0, K=3, K_0=3, gamma=4.0, N=3, S=2)]


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sides_are_those_of_enumeration_in_rationals(dense, shape):
    given = constants_at_x(tiny(3, 2, dense, **shape))
    found = batch.check(CLAIM, **given)
    for j in range(2):
        case, exact = exactly(given, j)
        change = exact["tilde_F_next"]
        assert abs(Q(found.left[j]) - change) <= min(1e-12 * abs(change), found.margin[j])
        values = {name: np.broadcast_to(given[name], 2)[j].item() for name in CLAIM.symbols if name in given}
        right = CLAIM.evaluate({**values, "N": case.N, "tilde_F_t": 0, "sq_tilde_grad": exact["sq_tilde_grad"]})
        assert abs(Q(found.right[j]) - right.lower) <= Q(found.margin[j])
        assert found.verdict[j] == batch.HOLDS and right.lower > change


def drawn(seed, J, N, d, dense):
    generator = np.random.default_rng(seed)
    spectra = generator.random((J, N + 1, d))
    turn = np.linalg.qr(generator.standard_normal((J, N + 1, d, d)))[0]
    A = (turn * spectra[:, :, None]) @ turn.swapaxes(2, 3)
    A = (A + A.swapaxes(2, 3)) / 2 if dense else spectra
    K, K_0, eta_g = generator.integers(1, 7, J), generator.integers(1, 7, J), generator.uniform(0.2, 3.0, J)
    gamma = generator.choice([0.0, 0.3, 1.0, 5.0], J)
    with np.errstate(divide="ignore"):
        u = generator.choice([1.0, 0.3], J) * np.minimum(np.minimum(eta_g, 8 / 9), 1 / gamma) / 4
    return dict(A=A, b=generator.standard_normal((J, N + 1, d)), x=generator.standard_normal((J, d)),
                S=generator.integers(1, N + 1, J), sigma=generator.random(J), sigma_0=generator.random(J), gamma=gamma,
                eta_g=eta_g, K=K, K_0=K_0, eta_l=u / (K * eta_g), eta_0=u / K_0)


HYPER = ("gamma", "eta_g", "K", "K_0", "eta_l", "eta_0")


@pytest.mark.parametrize("dense", [False, True])
def test_left_side_is_that_of_expected(dense):
    given = drawn(5, 70, 10, 5, dense)
    found = batch.check(CLAIM, **given)    # more instances than lanes, each with rounds of its own length
    for j in (0, 1, 40, 69):
        problem = ft.problems.quadratic_from_arrays(given["A"][j], given["b"][j], sigma=given["sigma"][j],
                                                    sigma_0=given["sigma_0"][j])
        series = ft.expected(problem, "fsl", rounds=1, S=int(given["S"][j]), x_0=given["x"][j],
                             **{name: given[name][j].item() for name in HYPER})
        before, after = series.metrics["tilde_loss"]
        assert abs(found.left[j] - (after - before)) <= 1e-12 * before


def test_computed_constants_are_those_of_the_problem():
    given = drawn(6, 1, 4, 3, True)
    given["A"][:] = given["A"][:, :1]    # shared, so that G and xi_bar hold everywhere
    problem = ft.problems.quadratic_from_arrays(given["A"][0], given["b"][0])
    same = batch.check(CLAIM, **given, **{name: problem.constants[name].value for name in ("L", "G", "xi_bar")})
    own = batch.check(CLAIM, **given)
    assert own.right == pytest.approx(same.right, rel=1e-12) and own.verdict == same.verdict == batch.HOLDS


def test_margin_covers_what_cancellation_costs():
    """Minimisers and start lie far out, and side by side: the error grows, and is known."""
    for offset, noise in ((0.0, 0.5), (1e3, 0.5), (1e6, 0.0), (1e9, 0.0)):
        given = tiny(8, 6, True, offset=offset, sigma=noise, sigma_0=noise, K_0=1)
        given["b"][:, 0] -= offset
        found = batch.check(CLAIM, **given)
        for j in range(6):
            change = exactly(given, j)[1]["tilde_F_next"]
            assert abs(Q(found.left[j]) - change) <= found.margin[j] < 1e-9 * max(1.0, offset**2)


def test_verdicts_depend_on_nothing_but_the_instance():
    given = drawn(9, batch.BLOCK + 200, 2, 1, False)
    whole = batch.check(CLAIM, workers=2, **given)
    again = batch.check(CLAIM, workers=1, **given)
    part = batch.check(CLAIM, **{name: value[batch.BLOCK - 3:batch.BLOCK + 2] for name, value in given.items()})
    for a, b, c in zip(whole, again, part):
        assert np.array_equal(a, b) and np.array_equal(a[batch.BLOCK - 3:batch.BLOCK + 2], c)


# ---------------------------------------------------------------- verdicts

@pytest.mark.parametrize("dense", [False, True])
def test_the_theorem_holds_and_its_conditions_are_seen(dense):
    given = drawn(11, 500, 4, 3, dense)
    found = batch.check(CLAIM, L=1.0, **given)
    assert len(found.where("holds")) == 500
    for name, factor in (("eta_l", 1.001), ("G", 0.5), ("L", 0.0)):
        worse = dict(given, L=1.0, G=10.0)
        worse[name] = worse[name] * factor if name != "G" else 0.01
        assert len(batch.check(CLAIM, **worse).where("outside")) == 500


def stationary(given):
    """All minimisers where the round starts, all curvatures 4: nothing but noise moves."""
    shape = given["A"].shape
    return dict(given, A=np.broadcast_to(4.0 * (np.eye(2) if len(shape) == 4 else np.ones(2)), shape),
                b=np.repeat(given["x"][:, None], shape[1], axis=1))


def balanced(given):
    """Diagonals, from the minimiser of the modified loss for gamma = 1/2: the server's curvature is twice as large."""
    A = np.ones_like(given["A"])
    A[:, 0] = 2.0
    return dict(given, A=A, x=(given["b"][:, 0] + given["b"][:, 1:].mean(axis=1)) / 2)


WHOLE = CLAIM.expand(CLAIM.bound)
SILENT, SMALL = dict(sigma=0.0, sigma_0=0.0), dict(u=2.0**-12)
QUIET = dict(SILENT, S=2)
MUTANTS = {    # a false relative, and where it shows
    "teeth": (CLAIM.teeth, constants_at_x(stationary(tiny(1, 20, True)))),
    "no noise": (CLAIM.bound - theorem1.noise, constants_at_x(stationary(tiny(2, 20, False, **SMALL)))),
    "no client noise": (WHOLE.subs(sigma, 0), constants_at_x(stationary(tiny(2, 20, False, sigma_0=0.0, **SMALL)))),
    "no server noise": (WHOLE.subs(sigma_0, 0), constants_at_x(stationary(tiny(2, 20, True, sigma=0.0, **SMALL)))),
    "no dissimilarity": (WHOLE.subs(G, 0), constants_at_x(balanced(tiny(3, 20, False, **SILENT, **SMALL)))),
    "no drift": (CLAIM.bound - theorem1.drift, constants_at_x(balanced(tiny(4, 20, False, **QUIET)))),
    "no xi": (WHOLE.subs(xi_bar, 0), constants_at_x(balanced(tiny(4, 20, False, N=1, **SILENT)))),
    "five times the gain": (CLAIM.bound - 4 * theorem1.gain, constants_at_x(tiny(5, 20, True, offset=0.0, **QUIET))),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_false_relatives_are_found_out(name):
    bound, given = MUTANTS[name]
    false = CLAIM.replace(name="false", bound=bound)
    found = batch.check(false, **given)
    broken = found.where("violated")
    assert len(broken) > 0
    for j in broken[:3]:
        assert refuted(false, given, j)
    for j in found.where("holds")[:2]:
        assert not refuted(false, given, j)


def test_what_rounding_could_turn_is_left_open():
    """One client on a line, one step of size u: the loss falls by u (1 - u / 2) times its squared gradient."""
    one = dict(A=np.ones((1, 2, 1)), b=np.zeros((1, 2, 1)), x=np.full((1, 1), 3.0), gamma=0.0, eta_g=1.0, K=1, K_0=1,
               eta_l=0.125, eta_0=0.125)
    for error, word in ((0, "close"), (Rational(1, 2**60), "close"), (-Rational(1, 2**60), "close"),
                        (Rational(1, 10**9), "violated"), (-Rational(1, 10**9), "holds")):
        claim = LEVEL.replace(bound=tilde_F_t - (Rational(15, 128) + error) * sq_tilde_grad)
        assert batch.check(claim, **one).where(word).tolist() == [0]
    nothing = batch.check(LEVEL, **dict(one, x=np.zeros((1, 1))))
    assert nothing.where("close").tolist() == [0]    # 0 <= 0 is an equality like any other


def test_a_level_that_matters_is_kept():
    """A bound that is a multiple of the loss: it counts from zero, not from the loss at x."""
    one = dict(A=np.ones((1, 2, 1)), b=np.zeros((1, 2, 1)), x=np.full((1, 1), 3.0), gamma=0.0, eta_g=1.0, K=1, K_0=1,
               eta_l=0.125, eta_0=0.125)
    found = batch.check(LEVEL.replace(bound=tilde_F_t / 2), **one)
    assert found.left == pytest.approx(4.5 * 0.875**2) and found.right == pytest.approx(2.25)
    assert found.where("violated").tolist() == [0]


def test_numbers_beyond_the_bounds_decide_nothing():
    given = tiny(1, 2, False)
    given["b"][0] = 1e200    # squares overflow
    found = batch.check(CLAIM, **given)
    assert found.verdict.tolist() in ([batch.CLOSE, batch.HOLDS], [batch.OUTSIDE, batch.HOLDS])


# ---------------------------------------------------------------- other algorithms, and refusals

class ProxHyper(NamedTuple):
    eta: float = nonnegative("step size")
    pull: float = nonnegative("weight of the distance from x")
    limit: float = nonnegative("longest gradient", 0.0)


def prox_step(state, i, k, y, g, local, h):
    for j in range(y.size):
        y[j] -= h.eta * (g[j] + h.pull * (y[j] - state.x[j]))


def clipped_step(state, i, k, y, g, local, h):
    for j in range(y.size):
        y[j] -= h.eta * min(h.limit, max(-h.limit, g[j]))


def mean(state, cohort, work, p, y, local, h):
    state.x[:] = y.mean(axis=0)


def last_only(state, cohort, work, p, y, local, h):
    state.x[:] = y[cohort.size - 1]


def method(step=prox_step, aggregate=mean, **more):
    return Algorithm("prox", "a test", ProxHyper, fedavg.init, step, aggregate, steps=3, **more)


def test_a_users_algorithm_in_plain_python():
    """Steps towards x as well: FedProx; against the same round through the engine."""
    given = {name: value for name, value in drawn(13, 3, 4, 2, True).items() if name in ("A", "b", "x")}
    found = batch.check(LEVEL, algorithm=method(), **given, S=2, sigma=0.5, eta=0.3, pull=np.array([0.0, 0.5, 2.0]))
    for j, pull in enumerate((0.0, 0.5, 2.0)):
        problem = ft.problems.quadratic_from_arrays(given["A"][j], given["b"][j], sigma=0.5)
        m, C = OneRound(problem, method(), S=2, eta=0.3, pull=pull)(given["x"][j])
        after = problem.loss(m) + np.trace(given["A"][j][1:].mean(axis=0) @ C) / 2
        assert found.left[j] == pytest.approx(after - problem.loss(given["x"][j]), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("algorithm, says", [
    ("scaffold", "memory|more than x"), ("dsl", "train on"), ("fedadam", "more than x"),
    (method(clipped_step), "affine"), (method(aggregate=last_only), "mean"),
    (method(end=lambda state, h: state.x.__imul__(0.5)), "moves x")])
def test_rounds_of_another_kind_are_refused(algorithm, says):
    given = {name: value for name, value in drawn(14, 2, 3, 2, False).items() if name in ("A", "b", "x")}
    hyper = dict(eta=0.1, pull=0.0, limit=0.5) if isinstance(algorithm, Algorithm) else \
        {name: 2 if field.integer else 0.05 for name, field in discover.algorithm(algorithm).hyper.items()
         if field.default is None}
    with pytest.raises(NotExact, match=says):
        batch.check(LEVEL, algorithm=algorithm, **given, S=2, **hyper)


def test_bad_input_is_refused():
    good = tiny(1, 4, True)
    lopsided = good["A"].copy()
    lopsided[2, 1, 0, 1] += 1.0
    for change, says in ((dict(A=good["A"][:3]), "A must have shape"), (dict(A=lopsided), "A must be symmetric"),
                         (dict(x=good["x"] * np.nan), "x must be finite"), (dict(b=good["b"][:, :1]), "b must have"),
                         (dict(S=3), "S must be an integer from 1 to N = 2"), (dict(S=1.5), "S must be"),
                         (dict(sigma=-1.0), "sigma must be finite and >= 0"),
                         (dict(M=1.0), "constants of fsl.theorem1"), (dict(line=1), "line must be"),
                         (dict(K=np.array([1, 2])), "K must be a number or 4")):
        with pytest.raises(InvalidInput, match=says):
            batch.check(CLAIM, **{**good, **change})
    with pytest.raises(NotExact, match="E_c"):
        batch.check(discover.claim("fsl.lemma3"), **good)
    with pytest.raises(InvalidInput, match="word must be"):
        batch.check(CLAIM, **good).where("true")
