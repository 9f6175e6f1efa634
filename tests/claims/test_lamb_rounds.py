"""The proof of FED-LAMB's theorem on small instances: identities and algebra hold, every false variant is refuted."""

from itertools import product

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.claims.lamb import _round
from fedtheory.problems.bounded import bounded


def instance(seed, n=2, T=1, beta_1=0.0, beta_2=0.9, alpha=0.05, layers=((0, 2), (2, 3)), L=(2.0, 0.5), v_0=0.01):
    """Separable quadratics of layerwise curvature."""
    generator = np.random.default_rng(seed)
    A, b = np.concatenate([np.full(s - r, c) for (r, s), c in zip(layers, L)]), generator.standard_normal((n, 3))
    A = A * np.where(np.arange(3) % 2, 0.5, 1.0)
    phi = lambda norm: min(max(norm, 0.1), 1.5)
    loss, grad = lambda i, x: float(A @ (x - b[i]) ** 2) / 2, lambda i, x: A * (x - b[i])
    case = _round.Instance(loss, grad, layers, L, phi, n, T, alpha, beta_1, beta_2, v_0, M=20.0, phi_M=1.5)
    shocks = generator.standard_normal((12, n, 3))
    return case, generator.standard_normal(3), lambda t, i: 0.3 * shocks[t, i]


CASES = [instance(0), instance(1, T=3), instance(2, n=1), instance(3, n=3, beta_1=0.7), instance(4, T=2, beta_1=0.5),
         instance(5, beta_1=0.9, alpha=1e-3)]
ROWS = [(case, row) for case, x, noise in CASES for row in _round.iterate(case, x, noise, 6)]


def known(case, row):
    return {**{name: value for name, value in row.items() if np.ndim(value) == 0}, "alpha": case.alpha, "n": case.n,
            "T": case.T, "beta_1": case.beta_1, "beta_2": case.beta_2, "v_0": case.v_0, "L_l": max(case.L),
            "L_bar": max(case.L), "M": case.M, "phi_M": case.phi_M, "phi_m": 0.1, "p": 3, "h": 2, "sigma": 0.3,
            "lambda_": 0, "alpha_r": case.alpha}


def sides(claim, case, row, line=0):
    given = {name: value for name, value in known(case, row).items() if name in claim.symbols}
    return (float(claim.evaluate_left(given, strict=False, line=line)),
            float(claim.evaluate(given, strict=False, line=line)))


ONE_STEP = [(case, row) for case, row in ROWS if case.T == 1]


@pytest.mark.parametrize("name", ["step11", "step13", "step16_half"])
def test_identities(name):
    """(11) and (14) are written for one step a round; (8)'s point is theirs."""
    claim = ft.claim(f"lamb.{name}")
    rows = ROWS if name == "step16_half" else ONE_STEP
    for case, row in rows:
        left, right = sides(claim, case, row)
        assert left == pytest.approx(right, rel=1e-9, abs=1e-12)
    assert any(abs(sides(claim.replace(bound=claim.teeth), case, row)[0]
                   - sides(claim.replace(bound=claim.teeth), case, row)[1]) > 1e-6 for case, row in rows)


def test_step16_is_the_identity_less_half_a_square():
    claim = ft.claim("lamb.step16")
    for case, row in ROWS:
        left, right = sides(claim, case, row)
        assert left - right == pytest.approx(row["sq_error"] / 2, rel=1e-9)
        assert sides(claim, case, row, 1)[0] >= sides(claim, case, row, 1)[1]


@pytest.mark.parametrize("name", ["step7", "step_split", "step17"])
def test_algebra_and_smoothness(name):
    """These lines need no more than convexity of squares, and smoothness layer by layer."""
    claim = ft.claim(f"lamb.{name}")
    for case, row in ROWS:
        left, right = sides(claim, case, row)
        assert left <= right + 1e-9 * abs(right)
    false = claim.replace(bound=claim.teeth)
    assert any(left > right * (1 + 1e-9) for left, right in (sides(false, case, row) for case, row in ROWS))


STEPS = ["lemma1", "step_momentum", "step_B1", "step_B2", "step_17_becomes", "step_inner", "step_A1", "step_average",
         "step_g_bar", "lemma2"]


@pytest.mark.parametrize("name", STEPS)
def test_teeth_are_refuted(name):
    claim = ft.claim(f"lamb.{name}")
    false = claim.replace(name=claim.id + "_false", bound=claim.teeth)
    found = [sides(false, case, row) for case, row in ROWS]
    assert any(left < right if claim.relation == ">=" else left > right for left, right in found)


@pytest.mark.parametrize("T, beta_1", [(1, 0.6), (3, 0.0), (1, 0.0)])
def test_quantities_against_the_engine(T, beta_1):
    """Losses at the point (8) are those on the engine's path, under the proof's reading of algorithm 1."""
    problem = bounded(3, 2, L=[2.0, 0.5], M=4.0, G=0.3, layers=[2, 1], seed=4)
    layers = tuple((layer.start, layer.stop) for layer in problem.layers)
    loss, grad = lambda i, x: problem.client_loss(i + 1, x), lambda i, x: problem.client_grad(i + 1, x)
    x_0, v_0 = np.array([0.4, -0.7, 1.1]), 1e-16    # epsilon, which the engine adds to sqrt(v) as well, is far below it
    phi = lambda norm: min(max(norm, 0.1), 1.5)
    case = _round.Instance(loss, grad, layers, (2.0, 0.5), phi, 2, T, 0.02, beta_1, 0.9, v_0)
    r = ft.run(problem, "fed_lamb", rounds=6, x_0=x_0, alpha=0.02, beta_1=beta_1, beta_2=0.9, epsilon=v_0, T=T,
               lambda_=0.0, phi="clipped", phi_m=0.1, phi_M=1.5, momentum="kept", bias_correction="none", keep="x")
    path = r.x[0, :6]
    points = path + beta_1 / (1 - beta_1) * np.diff(path, axis=0, prepend=path[:1])    # (8), T = 1 where beta_1 > 0
    rows = _round.iterate(case, x_0, lambda t, i: np.zeros(3), 6 * T)[::T]
    assert [row["loss_now"] for row in rows] == pytest.approx([problem.loss(x) for x in points], rel=1e-9)
    assert len({round(row["loss_now"], 6) for row in rows}) == 6


def test_lemma1_gap_by_hand():
    """Two clients, one coordinate, one step: each moves by exactly alpha phi in the direction of its own gradient."""
    case = _round.Instance(lambda i, x: 0.0, lambda i, x: np.array([1.0, -1.0][i:i + 1]), ((0, 1),), (1.0,),
                           lambda norm: 2.0, 2, 1, 0.25, 0.0, 0.5, 1.0)
    row = _round.iterate(case, np.array([3.0]), lambda t, i: np.zeros(1), 1)[0]
    assert row["gap_sq"] == pytest.approx(0.25)    # 3 -+ 0.25 * 2, mean 3
    assert row["sq_g_bar"] == 0 and row["B_1"] == 0 and row["B_2"] == pytest.approx(2.0)    # (1 - 2)^2 + (-1 + 2)^2


def test_expectations_weigh_outcomes():
    case, x, _ = instance(7, n=1)
    outcomes = [(0.25, lambda t, i, s=s, r=r: np.array([s, r, 0.0])) for s, r in product((-1.0, 1.0), repeat=2)]
    rows = _round.expected(case, x, outcomes, 2)
    single = [_round.iterate(case, x, noise, 2) for _, noise in outcomes]
    for name in ("B_2", "inner_g", "loss_next"):
        assert rows[1][name] == pytest.approx(np.mean([s[1][name] for s in single]), rel=1e-12)
    worst = np.mean([s[0]["lost_by_sign"] - s[0]["wrong_signs"] for s in single], axis=0).max()
    assert rows[0]["excess_sign"] == pytest.approx(worst, rel=1e-12)
