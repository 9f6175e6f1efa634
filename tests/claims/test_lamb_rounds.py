"""The proof of FED-LAMB's theorem on small instances: identities and algebra hold, every false
variant is refuted."""

from fractions import Fraction as Q
from itertools import product

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic.operations import Interval, Many, Undecided, maximum, minimum, vector
from fedtheory.models.lamb import quantities
from fedtheory.problems.bounded import bounded


def many(values):
    return vector([Many(np.float64(value)) for value in values])


def floats(values):
    return np.array([float(value.at) for value in values])


def plain(row):
    """Numbers of a batch of one as floats."""
    return {
        name: floats(value) if isinstance(value, np.ndarray) else float(getattr(value, "at", value))
        for name, value in row.items()
    }


def clipped(norm):
    return minimum(maximum(norm, 0.1), 1.5)


def instance(
    seed,
    n=2,
    T=1,
    beta_1=0.0,
    beta_2=0.9,
    alpha=0.05,
    layers=((0, 2), (2, 3)),
    L=(2.0, 0.5),
    v_0=0.01,
):
    """Separable quadratics of layerwise curvature."""
    generator = np.random.default_rng(seed)
    A, b = (
        np.concatenate([np.full(s - r, c) for (r, s), c in zip(layers, L)]),
        generator.standard_normal((n, 3)),
    )
    A = A * np.where(np.arange(3) % 2, 0.5, 1.0)
    loss, grad = lambda i, x: (A * (x - b[i]) ** 2).sum() / 2, lambda i, x: A * (x - b[i])
    case = quantities.Instance(
        loss,
        grad,
        layers,
        L,
        clipped,
        n,
        T,
        alpha,
        beta_1,
        Many(beta_2),
        Many(v_0),
        M=20.0,
        phi_M=1.5,
    )
    shocks = generator.standard_normal((12, n, 3))
    return case, many(generator.standard_normal(3)), lambda t, i: 0.3 * shocks[t, i]


CASES = [
    instance(0),
    instance(1, T=3),
    instance(2, n=1),
    instance(3, n=3, beta_1=0.7),
    instance(4, T=2, beta_1=0.5),
    instance(5, beta_1=0.9, alpha=1e-3),
]
ROWS = [
    (case, plain(row))
    for case, x, noise in CASES
    for row in quantities.iterate_quantities(case, x, noise, 6)
]


def known(case, row):
    return {
        **{name: value for name, value in row.items() if np.ndim(value) == 0},
        "alpha": case.alpha,
        "n": case.n,
        "T": case.T,
        "beta_1": case.beta_1,
        "beta_2": case.beta_2.at,
        "v_0": case.v_0.at,
        "L_l": max(case.L),
        "L_bar": max(case.L),
        "M": case.M,
        "phi_M": case.phi_M,
        "phi_m": 0.1,
        "p": 3,
        "h": 2,
        "sigma": 0.3,
        "lambda_": 0,
        "alpha_r": case.alpha,
    }


def sides(claim, case, row, line=0):
    given = {name: value for name, value in known(case, row).items() if name in claim.symbols}
    return (
        float(claim.evaluate_left(given, strict=False, line=line)),
        float(claim.evaluate(given, strict=False, line=line)),
    )


ONE_STEP = [(case, row) for case, row in ROWS if case.T == 1]


@pytest.mark.parametrize("name", ["step11", "step13", "step16_half"])
def test_identities(name):
    """(11) and (14) are written for one step a round; (8)'s point is theirs."""
    claim = ft.claim(f"lamb.{name}")
    rows = ROWS if name == "step16_half" else ONE_STEP
    for case, row in rows:
        left, right = sides(claim, case, row)
        assert left == pytest.approx(right, rel=1e-9, abs=1e-12)
    assert any(
        abs(
            sides(claim.replace(bound=claim.weakened), case, row)[0]
            - sides(claim.replace(bound=claim.weakened), case, row)[1]
        )
        > 1e-6
        for case, row in rows
    )


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
    false = claim.replace(bound=claim.weakened)
    assert any(
        left > right * (1 + 1e-9) for left, right in (sides(false, case, row) for case, row in ROWS)
    )


STEPS = [
    "lemma1",
    "step_momentum",
    "step_B1",
    "step_B2",
    "step_17_becomes",
    "step_inner",
    "step_A1",
    "step_average",
    "step_g_bar",
    "lemma2",
]


@pytest.mark.parametrize("name", STEPS)
def test_weakened_bounds_are_refuted(name):
    claim = ft.claim(f"lamb.{name}")
    false = claim.replace(name=claim.id + "_false", bound=claim.weakened)
    found = [sides(false, case, row) for case, row in ROWS]
    assert any(left < right if claim.relation == ">=" else left > right for left, right in found)


@pytest.mark.parametrize("T, beta_1", [(1, 0.6), (3, 0.0), (1, 0.0)])
def test_quantities_against_the_engine(T, beta_1):
    """Losses at the point (8) are those on the engine's path, under the proof's reading of
    algorithm 1."""
    problem = bounded(3, 2, L=[2.0, 0.5], M=4.0, G=0.3, layers=[2, 1], seed=4)
    layers = tuple((layer.start, layer.stop) for layer in problem.layers)
    loss, grad = (
        lambda i, x: problem.client_loss(i + 1, floats(x)),
        lambda i, x: many(problem.client_grad(i + 1, floats(x))),
    )
    x_0, v_0 = (
        np.array([0.4, -0.7, 1.1]),
        1e-16,
    )  # epsilon, which the engine adds to sqrt(v) as well, is far below it
    case = quantities.Instance(
        loss, grad, layers, (2.0, 0.5), clipped, 2, T, 0.02, beta_1, Many(0.9), Many(v_0)
    )
    r = ft.run(
        problem,
        "fed_lamb",
        rounds=6,
        x_0=x_0,
        alpha=0.02,
        beta_1=beta_1,
        beta_2=0.9,
        epsilon=v_0,
        T=T,
        lambda_=0.0,
        phi="clipped",
        phi_m=0.1,
        phi_M=1.5,
        momentum="kept",
        bias_correction="none",
        keep="x",
    )
    path = r.x[0, :6]
    points = path + beta_1 / (1 - beta_1) * np.diff(
        path, axis=0, prepend=path[:1]
    )  # (8), T = 1 where beta_1 > 0
    rows = quantities.iterate_quantities(
        case, many(x_0), lambda t, i: np.zeros(3), 6 * T, ["loss_now"]
    )[::T]
    assert [row["loss_now"] for row in rows] == pytest.approx(
        [problem.loss(x) for x in points], rel=1e-9
    )
    assert len({round(row["loss_now"], 6) for row in rows}) == 6


def test_lemma1_gap_by_hand():
    """Two clients, one coordinate, one step: each moves by exactly alpha phi in the direction of
    its own gradient."""
    case = quantities.Instance(
        lambda i, x: 0,
        lambda i, x: vector([Q(1), Q(-1)][i : i + 1]),
        ((0, 1),),
        (1,),
        lambda norm: Q(2),
        2,
        1,
        Q(1, 4),
        Q(0),
        Q(1, 2),
        Q(1),
    )
    row = quantities.iterate_quantities(case, vector([Q(3)]), lambda t, i: vector([Q(0)]), 1)[0]
    assert row["gap_sq"] == Q(1, 4)  # 3 -+ 0.25 * 2, mean 3
    assert row["sq_g_bar"] == 0 and row["B_1"] == 0 and row["B_2"] == 2  # (1 - 2)^2 + (-1 + 2)^2


def test_a_layer_rests_without_a_direction():
    """Exactly, in a batch, and not at all where an interval cannot tell."""

    def run(g):
        case = quantities.Instance(
            lambda i, x: 0,
            lambda i, x: vector(g),
            ((0, 1), (1, 3)),
            (1, 1),
            lambda norm: Q(2),
            1,
            1,
            Q(1),
            Q(0),
            Q(1, 2),
            Q(4),
        )
        return quantities.follow_path(case, vector([Q(5)] * 3), lambda t, i: vector([Q(0)] * 3), 1)[
            1
        ][0][0].tolist()

    assert run([Q(0), Q(3), Q(-4)]) == [
        5,
        Q(19, 5),
        Q(33, 5),
    ]  # a step of length 2 along (3, -4) / 5
    assert run([Q(7), Q(0), Q(0)]) == [3, 5, 5]
    both = run(
        [Many(np.array([0.0, 7.0])), Many(np.array([3.0, 0.0])), Many(np.array([-4.0, 0.0]))]
    )
    assert [part.at.tolist() for part in both] == [[5, 3], [3.8, 5], [pytest.approx(6.6), 5]]
    with pytest.raises(Undecided):
        run([Interval(Q(0), Q(1, 10)), Q(3), Q(-4)])


def test_expectations_weigh_outcomes():
    case, x, _ = instance(7, n=1)
    outcomes = [
        (0.25, lambda t, i, s=s, r=r: np.array([s, r, 0.0]))
        for s, r in product((-1.0, 1.0), repeat=2)
    ]
    single = [
        [plain(row) for row in quantities.iterate_quantities(case, x, noise, 2)]
        for _, noise in outcomes
    ]
    late = plain(
        quantities.expect_quantities(case, x, outcomes, 1, ["B_2", "inner_g", "loss_next"])
    )
    for name in ("B_2", "inner_g", "loss_next"):
        assert late[name] == pytest.approx(np.mean([s[1][name] for s in single]), rel=1e-12)
    worst = np.mean([s[0]["excess_sign"] for s in single], axis=0).max()
    assert plain(quantities.expect_quantities(case, x, outcomes, 0))[
        "excess_sign"
    ] == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("gradient", [1, -1])
def test_excess_of_wrong_signs_by_hand(gradient):
    """One coordinate, gradient +-1, estimates 3 and -1 times it: half of them wrong, phi / ||p|| =
    2 sqrt(v) / |g|."""
    case = quantities.Instance(
        lambda i, x: 0,
        lambda i, x: vector([Q(gradient)]),
        ((0, 1),),
        (1,),
        lambda norm: Q(2),
        1,
        1,
        Q(1),
        Q(0),
        Q(1, 2),
        Q(9),
        phi_M=Q(2),
    )
    outcomes = [(Q(1, 2), lambda t, i, s=s: vector([Q(s)])) for s in (2, -2)]
    row = quantities.expect_quantities(
        case, vector([Q(3)]), outcomes, 0, ["excess_sign", "sum_wrong"]
    )
    assert row["sum_wrong"] == -3  # 1/2 * 2 * 3 / 1 * (-1)
    assert row["excess_sign"] == 3 - gradient
