"""Quadratics: requested constants hold with equality, found ones bound what can be measured."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from fedtheory.errors import Impossible, InvalidInput
from fedtheory.problems._symmetric import multiply_blocks, pack_blocks
from fedtheory.problems.quadratics import quadratic, quadratic_from_arrays
from tests.problems.measured import contradicted, finite_difference, reached

SHARED, OWN = ("diagonal", "dense"), ("own", "own_dense")
UNEVEN = [1.0, 2.0, 5.0, 0.5]


def hessians(problem):
    """Hessians of f_0 .. f_N, and of F last, from gradients alone."""
    zero = np.zeros(problem.d)
    columns = lambda grad: np.stack([grad(e) - grad(zero) for e in np.eye(problem.d)], axis=1)
    return [columns(lambda x, i=i: problem.client_grad(i, x)) for i in range(problem.N + 1)] + [
        columns(problem.grad)
    ]


def around(problem, generator, count=20):
    """Points in, on and far beyond the ball of radius 1 around the minimiser."""
    x_star, out = problem.minimizer(), []
    for scale in (0.0, 0.3, 1.0, 1.0, 1.0, 50.0):
        directions = generator.standard_normal((count, problem.d))
        out += [x_star + scale * v / np.linalg.norm(v) for v in directions]
    return out


def random_arrays(kind, N=3, d=3, seed=0):
    generator = np.random.default_rng(seed)
    shape = dict(diagonal=(d,), dense=(d, d), own=(N + 1, d), own_dense=(N + 1, d, d))[kind]
    A = generator.uniform(0.2, 2.0, shape)
    if "dense" in kind:
        A = A @ A.swapaxes(-1, -2)
    return A, generator.standard_normal((N + 1, d))


@pytest.mark.parametrize("kind", SHARED + OWN)
def test_values_and_gradients_are_the_formulas(kind):
    A, b = random_arrays(kind)
    problem = quadratic_from_arrays(A, b, weights=[1, 2, 5])
    matrices = [np.diag(a) if a.ndim == 1 else a for a in (A if kind in OWN else [A] * 4)]
    p = np.array([0, 1, 2, 5]) / 8
    for x in np.random.default_rng(1).standard_normal((5, 3)):
        losses = [(x - b[i]) @ matrices[i] @ (x - b[i]) / 2 for i in range(4)]
        grads = [matrices[i] @ (x - b[i]) for i in range(4)]
        for i in range(4):
            assert problem.client_loss(i, x) == pytest.approx(losses[i], rel=1e-13)
            assert np.allclose(problem.client_grad(i, x), grads[i], rtol=1e-13, atol=1e-13)
        assert problem.loss(x) == pytest.approx(p @ losses, rel=1e-13)
        assert np.allclose(problem.grad(x), p @ grads, rtol=1e-12, atol=1e-13)
        assert np.allclose(problem.grad(x), finite_difference(problem.loss, x), atol=1e-7)
    assert np.allclose(problem.grad(problem.minimizer()), 0, atol=1e-14)


@pytest.mark.parametrize("d", [*range(1, 27), 32, 45, 100, 511, 512, 519, 1003])
def test_a_symmetric_matrix_of_integers_times_integers_is_exact(d):
    """Whatever the order of additions: every entry counts, the blocks right of the diagonal twice."""
    generator = np.random.default_rng(d)
    A = generator.integers(-99, 100, (d, d))
    A, v = A + A.T, generator.integers(-99, 100, d)
    out = np.full(d, np.nan)
    multiply_blocks(pack_blocks(A.astype(float)[None])[0], v.astype(float), np.zeros(d), out)
    assert out.tolist() == (A @ v).tolist()


@pytest.mark.parametrize("d", [5, 16, 29, 100, 517])
def test_a_product_has_the_same_bits_wherever_its_matrix_begins(d):
    generator = np.random.default_rng(d)
    A, x, b = generator.standard_normal((d, d)), *generator.standard_normal((2, d))
    kept = pack_blocks((A + A.T)[None])[0]
    room, found = np.zeros(kept.size + 8), []
    for first in range(8):
        room[first : first + kept.size] = kept
        found.append(np.empty(d))
        multiply_blocks(room[first : first + kept.size], x, b, found[-1])
        assert np.array_equal(found[-1], found[0])
    assert np.allclose(found[0], (A + A.T) @ (x - b), rtol=1e-12, atol=1e-12)


def test_small_integers_are_exact():
    A, b = (
        np.array([[1.0, 2.0], [3.0, 1.0], [4.0, 2.0]]),
        np.array([[1.0, 0.0], [2.0, -1.0], [-3.0, 5.0]]),
    )
    problem = quadratic_from_arrays(A, b)
    x = np.array([0.5, -2.0])
    for i in range(3):
        exact = [Fraction(a) * (Fraction(v) - Fraction(c)) for a, v, c in zip(A[i], x, b[i])]
        assert [Fraction(v) for v in problem.client_grad(i, x)] == exact
        assert (
            Fraction(problem.client_loss(i, x))
            == sum(e * e / Fraction(a) for e, a in zip(exact, A[i])) / 2
        )
    # (3 + 4) x_1 = 3 * 2 + 4 * -3 and (1 + 2) x_2 = -1 + 2 * 5, worked by hand
    assert np.allclose(problem.minimizer(), [-6 / 7, 3.0], rtol=1e-15)


REQUESTS = [
    dict(d=4, clients=4),
    dict(d=4, clients=4, weights=UNEVEN),
    dict(d=4, clients=4, weights=[1, 0, 0, 0]),
    dict(d=4, clients=1, G=0.0),
    dict(d=2, clients=7, mu=2.0),
    dict(d=3, clients=4, G=0.0, xi_bar=0.0),
    dict(d=1, clients=3, mu=2.0),
    dict(d=1, clients=1, mu=2.0, G=0.0),
]


def request(**changes):
    return {**dict(L=2.0, mu=0.25, G=1.5, xi_bar=0.75, sigma=0.5, sigma_0=0.25, seed=3), **changes}


@pytest.mark.parametrize("kind", SHARED)
@pytest.mark.parametrize("wish", [*REQUESTS, dict(d=3, clients=4, mu=0.0)], ids=str)
def test_requested_constants_hold_with_equality(kind, wish):
    wish = request(hessian=kind, **wish)
    problem = quadratic(**wish)
    eigenvalues = np.linalg.eigvalsh(hessians(problem)).ravel()
    assert eigenvalues.max() == pytest.approx(wish["L"], rel=1e-13)
    assert eigenvalues.min() == pytest.approx(wish["mu"], rel=1e-13, abs=1e-14)
    for x in 3 * np.random.default_rng(1).standard_normal((4, problem.d)):
        F = problem.grad(x)
        gaps = [problem.client_grad(i, x) - F for i in range(problem.N + 1)]
        assert np.sqrt(np.mean([g @ g for g in gaps[1:]])) == pytest.approx(
            wish["G"], rel=1e-12, abs=1e-14
        )
        assert np.linalg.norm(gaps[0]) == pytest.approx(wish["xi_bar"], rel=1e-12, abs=1e-14)
    for name in ("L", "mu", "G", "xi_bar", "sigma", "sigma_0"):
        assert problem.constants[name].value == wish[name]
        assert problem.constants[name].scope == "global"
    assert list(problem.sigma) == [0.25] + [0.5] * problem.N


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("wish", [*REQUESTS, dict(d=1, clients=3)], ids=str)
def test_own_hessians_attain_the_requests_at_the_minimiser(kind, wish):
    wish = request(hessian=kind, **wish)
    problem = quadratic(**wish)
    eigenvalues = np.linalg.eigvalsh(hessians(problem)[:-1]).ravel()
    assert eigenvalues.max() == pytest.approx(wish["L"], rel=1e-12)
    assert eigenvalues.min() == pytest.approx(wish["mu"], rel=1e-11)
    x = problem.minimizer()
    assert np.allclose(problem.grad(x), 0, atol=1e-13)
    gaps = [problem.client_grad(i, x) for i in range(problem.N + 1)]
    assert np.sqrt(np.mean([g @ g for g in gaps[1:]])) == pytest.approx(
        wish["G"], rel=1e-11, abs=1e-13
    )
    assert np.linalg.norm(gaps[0]) == pytest.approx(wish["xi_bar"], rel=1e-11, abs=1e-13)


def test_own_diagonals_with_a_flat_direction():
    problem = quadratic(**request(d=3, clients=3, mu=0.0, hessian="own"))
    x = problem.minimizer()
    assert np.allclose(problem.grad(x), 0, atol=1e-14) and x[-1] == 0.0
    assert "B" not in problem.constants  # no (G, B) without strong convexity


CASES = {
    **{
        f"{kind} {wish}": (lambda kind=kind, wish=wish: quadratic(**request(hessian=kind, **wish)))
        for kind in SHARED + OWN
        for wish in REQUESTS
    },
    **{
        f"arrays {kind} {seed}": (
            lambda kind=kind, seed=seed: quadratic_from_arrays(
                *random_arrays(kind, N=2 + seed, d=1 + seed, seed=seed),
                weights=np.arange(1, 3 + seed),
                radius=1.0,
            )
        )
        for kind in SHARED + OWN
        for seed in range(3)
    },
}


@pytest.mark.parametrize("make", CASES.values(), ids=list(CASES))
def test_no_gradient_contradicts_a_constant(make):
    problem = make()
    assert contradicted(problem, around(problem, np.random.default_rng(4), 6)) == []


@pytest.mark.parametrize("kind", OWN)
def test_a_damaged_constant_is_contradicted(kind):
    """Two clients in one dimension attain the ball's bounds at its ends, and B everywhere."""
    shape = (3, 1) if kind == "own" else (3, 1, 1)
    problem = quadratic_from_arrays(
        np.reshape([2.0, 3.0, 1.0], shape), [[0.5], [1.0], [-2.0]], radius=1.0
    )
    points = [problem.minimizer() + t for t in (-1.0, 0.0, 1.0, 1e6)]
    shares = reached(problem, points)
    assert set(shares) >= {"L", "mu", "G", "xi_bar", "B", "G_star"}
    assert {name for name, share in shares.items() if share > 1 - 1e-9} == {
        "L",
        "mu",
        "G",
        "xi_bar",
    }
    for name, factor in dict(L=0.999, mu=1.001, G=0.999, xi_bar=0.999, B=0.6).items():
        damaged = problem.constants[name]._replace(value=factor * problem.constants[name].value)
        broken = replace(problem, constants={**problem.constants, name: damaged})
        assert contradicted(broken, points) == [name]
    # one minimiser for all: mean ||grad f_i||^2 is B^2 ||grad F||^2, B^2 = (3^2 + 1^2) / 2 / 2^2,
    # by hand
    one = quadratic_from_arrays(np.reshape([2.0, 3.0, 1.0], shape), np.zeros((3, 1)))
    assert (
        one.constants["B"].value == pytest.approx(np.sqrt(5) / 2)
        and one.constants["G_star"].value == 0.0
    )
    assert reached(one, [np.ones(1)])["B"] == pytest.approx(1.0)


@pytest.mark.parametrize("kind", OWN)
@pytest.mark.parametrize("seed", range(4))
def test_the_ball_bound_is_a_bound_and_no_loose_one(kind, seed):
    """Random directions, improved uphill, stay below G and xi_bar and come near them."""
    problem = quadratic_from_arrays(*random_arrays(kind, N=4, d=3, seed=seed), radius=0.7)
    x_star, generator = problem.minimizer(), np.random.default_rng(seed)
    best = {}
    for v in generator.standard_normal((60, 3)):
        for step in range(30):
            v = 0.7 * v / np.linalg.norm(v)
            shares = reached(problem, [x_star + v])
            for name in ("G", "xi_bar"):
                if shares[name] > best.get(name, (0.0,))[0]:
                    best[name] = shares[name], v
            if step >= 10:
                v = best["G" if step % 2 else "xi_bar"][1]
            v = v + 0.3 / (1 + step) * generator.standard_normal(3)
    for name in ("G", "xi_bar"):
        assert 0.7 < best[name][0] <= 1 + 1e-12
        assert problem.constants[name].scope == "ball" and problem.constants[name].radius == 0.7


def test_the_ball_is_needed():
    problem = quadratic_from_arrays(*random_arrays("own"), radius=1.0)
    far = [problem.minimizer() + 100 * np.ones(3)]
    beyond = {name: c._replace(scope="global") for name, c in problem.constants.items()}
    assert contradicted(problem, far) == []
    assert contradicted(replace(problem, constants=beyond), far) == ["G", "xi_bar"]


@pytest.mark.parametrize("kind", SHARED)
def test_unequal_weights_need_more_than_B_one(kind):
    """Under p = (1/8, 7/8) the mean gradient is not F's: mean ||grad f_i||^2 > G^2 + ||grad F||^2
    somewhere."""
    A, b = random_arrays(kind, N=2)
    problem = quadratic_from_arrays(A, b, weights=[1, 7])
    points = around(problem, np.random.default_rng(0))
    G = problem.constants["G"]
    naive = {**problem.constants, "G_star": G, "B": G._replace(value=1.0)}
    assert contradicted(problem, points) == []
    assert contradicted(replace(problem, constants=naive), points) == ["B"]


def test_equal_own_hessians_are_one():
    A, b = random_arrays("dense")
    same = quadratic_from_arrays(np.stack([A] * 4), b)
    server = quadratic_from_arrays(np.stack([2 * A, A, A, A]), b)
    one = quadratic_from_arrays(A, b)
    for name in ("L", "mu", "G", "xi_bar"):
        assert same.constants[name].value == pytest.approx(one.constants[name].value, rel=1e-12)
        assert same.constants[name].scope == "global"
    assert (server.constants["G"].scope, server.constants["xi_bar"].scope) == ("global", "ball")
    assert contradicted(server, around(server, np.random.default_rng(0), 6)) == []


def test_own_spectra_that_look_like_one_symmetric_matrix():
    """(N + 1, d) diagonals with N + 1 = d and all entries L are not a shared matrix of rank one."""
    for d, N in ((2, 1), (3, 2)):
        problem = quadratic(**request(d=d, clients=N, mu=2.0, G=0.0, hessian="own"))
        assert np.allclose(hessians(problem), 2 * np.eye(d), atol=1e-14)


@pytest.mark.parametrize("kind", SHARED + OWN)
@pytest.mark.parametrize("weights", [[1, 2, 5], [0, 1, 1], [0, 0, 3]])
def test_reweighted_is_built_anew(kind, weights):
    A, b = random_arrays(kind)
    moved = quadratic_from_arrays(A, b, weights=[4, 1, 1], sigma=0.3, radius=0.4).reweighted(
        weights
    )
    fresh = quadratic_from_arrays(A, b, weights=weights, sigma=0.3, radius=0.4)
    assert moved.constants == fresh.constants
    assert np.array_equal(moved.minimizer(), fresh.minimizer()) and np.array_equal(
        moved.weights, fresh.weights
    )
    assert np.array_equal(moved.grad(np.ones(3)), fresh.grad(np.ones(3)))
    assert contradicted(moved, around(moved, np.random.default_rng(0), 6)) == []


def test_requested_L_and_mu_survive_new_weights():
    problem = quadratic(**request(d=3, clients=3, hessian="dense")).reweighted([1, 1, 2])
    assert (problem.constants["L"].value, problem.constants["mu"].value) == (2.0, 0.25)
    assert problem.constants["G"].value != 1.5


@pytest.mark.parametrize("kind", ["diagonal", "dense"])
def test_a_flat_quadratic_has_the_minimiser_of_least_norm(kind):
    problem = quadratic(**request(d=4, clients=3, mu=0.0, hessian=kind))
    H, level = hessians(problem)[-1], problem.grad(np.zeros(4))
    assert np.allclose(problem.minimizer(), np.linalg.lstsq(H, -level, rcond=1e-12)[0], atol=1e-12)
    assert np.allclose(problem.grad(problem.minimizer()), 0, atol=1e-14)


def test_own_dense_hessians_of_low_rank():
    """Each f_i flat in a direction of its own; together they curve two of three directions."""
    v = np.array([[1.0, 0, 0], [1.0, 0, 0], [0, 1.0, 0]])
    problem = quadratic_from_arrays(
        v[:, :, None] * v[:, None, :], [[9.0, 9, 9], [1.0, 5, 5], [5.0, 2, 5]]
    )
    assert np.allclose(problem.minimizer(), [1, 2, 0], atol=1e-14)
    assert problem.constants["mu"].value == 0.0
    assert contradicted(problem, around(problem, np.random.default_rng(0), 6)) == []


def test_the_server_of_one_client_differs_by_xi_bar():
    problem = quadratic(**request(d=3, clients=1, G=0.0))
    assert np.linalg.norm(
        problem.client_grad(0, np.ones(3)) - problem.grad(np.ones(3))
    ) == pytest.approx(0.75)
    assert np.array_equal(problem.client_grad(1, np.ones(3)), problem.grad(np.ones(3)))


REFUSED = {
    "mu > L": (dict(mu=3.0), Impossible, "mu must be <= L"),
    "G with one client": (dict(clients=1), Impossible, "G must be 0 with one client"),
    "one dimension, two curvatures": (dict(d=1), Impossible, "one dimension"),
    "no curvature": (
        dict(d=1, clients=3, hessian="own", mu=0.0),
        Impossible,
        "no direction has curvature",
    ),
    "own dense and flat": (dict(hessian="own_dense", mu=0.0), Impossible, "mu = 0"),
    "L zero": (dict(L=0.0, mu=0.0), InvalidInput, "L must be a finite number > 0; got 0.0"),
    "L nan": (dict(L=np.nan), InvalidInput, "L must be"),
    "L text": (dict(L="steep"), InvalidInput, "L must be a finite number > 0; got 'steep'"),
    "mu negative": (dict(mu=-0.1), InvalidInput, "mu must be"),
    "G infinite": (dict(G=np.inf), InvalidInput, "G must be"),
    "G list": (dict(G=[1.0, 2.0]), InvalidInput, "G must be"),
    "xi_bar negative": (dict(xi_bar=-1), InvalidInput, "xi_bar must be"),
    "d zero": (dict(d=0), InvalidInput, "d must be an integer >= 1"),
    "d fraction": (dict(d=2.5), InvalidInput, "d must be an integer"),
    "clients bool": (dict(clients=True), InvalidInput, "clients must be an integer"),
    "hessian": (dict(hessian="round"), InvalidInput, "hessian must be"),
    "weights short": (dict(weights=[1.0, 2.0]), InvalidInput, "weights must be 4 nonnegative"),
    "weights negative": (dict(weights=[1, 1, 1, -1]), InvalidInput, "weights must be"),
    "weights text": (dict(weights="many"), InvalidInput, "weights must be"),
    "layers": (dict(layers=[1, 1]), InvalidInput, "layers must be"),
    "radius": (dict(radius=0.0), InvalidInput, "radius must be"),
    "noise": (dict(noise="pink"), InvalidInput, "noise must be one of"),
    "minibatch": (dict(noise="minibatch"), InvalidInput, "has none"),
    "none with sigma": (dict(noise="none"), InvalidInput, "sigma must be 0"),
    "sigma shape": (dict(sigma=[0.1, 0.2]), InvalidInput, "sigma must be"),
    "sigma negative": (dict(sigma_0=-0.1), InvalidInput, "sigma_0 must be"),
}


@pytest.mark.parametrize("changes, error, words", REFUSED.values(), ids=list(REFUSED))
def test_refused_requests(changes, error, words):
    with pytest.raises(error) as caught:
        quadratic(**request(**{**dict(d=3, clients=4), **changes}))
    assert words in str(caught.value) and "\n" not in str(caught.value)


BAD_ARRAYS = {
    "b flat": (np.ones(2), np.ones(3), "b must be finite of shape"),
    "b one row": (np.ones(2), np.ones((1, 2)), "b must be finite of shape"),
    "b nan": (np.ones(2), [[1.0, np.nan], [0, 0]], "b must be finite"),
    "A nan": ([1.0, np.nan], np.ones((3, 2)), "A must be finite"),
    "A shape": (np.ones((2, 2, 2)), np.ones((3, 2)), "A must have shape"),
    "A ragged": ([[1.0], [1.0, 2.0]], np.ones((3, 2)), "A must be an array of numbers"),
    "A crooked": ([[1.0, 2.0], [0.0, 1.0]], np.ones((4, 2)), "A must be symmetric"),
    "A too small": ([1.0, -1e-200], np.ones((3, 2)), "A must be 0 or at least 1e-"),
}


@pytest.mark.parametrize("A, b, words", BAD_ARRAYS.values(), ids=list(BAD_ARRAYS))
def test_refused_arrays(A, b, words):
    with pytest.raises(InvalidInput) as caught:
        quadratic_from_arrays(A, b)
    assert words in str(caught.value)


def test_a_problem_keeps_its_own_arrays():
    A, b = np.ones(2), np.zeros((3, 2))
    problem = quadratic_from_arrays(A, b)
    A[:], b[:] = np.nan, np.nan
    assert np.array_equal(problem.grad(np.ones(2)), np.ones(2))


# ---------------------------------------------------------------- negative curvature

# Worked by hand. Rows are the server and two clients of equal weight.
SADDLE = ([1.0, -2.0], [[0.0, 0.0], [1.0, 3.0], [3.0, 1.0]])  # one Hessian for all
BENT = ([[-2.0], [3.0], [-1.0]], [[0.0], [1.0], [3.0]])  # F'' = (3 - 1) / 2, F' = x - (3 - 3) / 2
SLIDE = ([[1.0], [1.0], [-1.0]], [[0.0], [1.0], [3.0]])  # F = ((x - 1)^2 - (x - 3)^2) / 4 = x - 2
LINES = ([[1.0], [1.0], [-1.0]], [[0.0], [2.0], [2.0]])  # curvatures and slopes cancel: F = 0


def dense(A):
    """The same Hessians turned by 3-4-5 into matrices, rotations being a choice of axes."""
    A = np.asarray(A)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]]) if A.shape[-1] == 2 else np.eye(1)
    return (turn * A[..., None, :]) @ turn.T, turn


@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize(
    "arrays, L, mu", [(SADDLE, 2, -2), (BENT, 3, -2), (SLIDE, 1, -1), (LINES, 1, -1)]
)
def test_negative_curvature_has_the_largest_absolute_eigenvalue(arrays, L, mu, as_matrix):
    A, b = arrays
    if as_matrix:
        A, turn = dense(A)
        b = np.asarray(b) @ turn.T
    constants = quadratic_from_arrays(A, b).constants
    assert constants["L"].value == pytest.approx(L, rel=1e-13) and constants["L"].value >= L
    assert constants["mu"].value == pytest.approx(mu, rel=1e-13) and constants["mu"].value <= mu
    assert constants["weak_convexity"].value == -constants["mu"].value


@pytest.mark.parametrize("as_matrix", [False, True])
def test_a_saddle_by_hand(as_matrix):
    """F = ((x - 1)^2 - 2 (y - 3)^2 + (x - 3)^2 - 2 (y - 1)^2) / 4, flat at (2, 2), where it is -1/2."""
    A, b = SADDLE
    turn = np.eye(2)
    if as_matrix:
        A, turn = dense(A)
        b = np.asarray(b) @ turn.T
    problem = quadratic_from_arrays(A, b)
    for x, y in ((2.0, 2.0), (0.0, 0.0), (5.0, -1.0)):
        value = ((x - 1) ** 2 - 2 * (y - 3) ** 2 + (x - 3) ** 2 - 2 * (y - 1) ** 2) / 4
        at = turn @ [x, y]
        assert problem.loss(at) == pytest.approx(value, rel=1e-13, abs=1e-13)
        assert np.allclose(problem.grad(at), turn @ [x - 2, -2 * (y - 2)], atol=1e-13)
    c = problem.constants
    # gradients differ by A (b_1 - b_2) / 2 = (-1, -2), and by A (2, 2) = (2, -4) at the server
    assert c["G"].value == pytest.approx(np.sqrt(5)) and c["G"].scope == "global"
    assert c["xi_bar"].value == pytest.approx(np.sqrt(20)) and c["F_inf"].value == -np.inf
    with pytest.raises(InvalidInput, match="^quadratic has no minimiser: F is unbounded below$"):
        problem.minimizer()


def test_a_minimiser_is_a_matter_of_the_whole_objective():
    """f_0 and f_2 fall without end, F = x^2 / 2 + const does not; G holds on the ball around 0."""
    problem = quadratic_from_arrays(*BENT)
    assert problem.minimizer() == [0.0] and "F_inf" not in problem.constants
    assert problem.loss([0.0]) == pytest.approx((3 * 1 - 1 * 9) / 4)
    points = [np.array([x]) for x in (-1.0, -0.3, 0.0, 1.0, 40.0)]
    assert contradicted(problem, points) == []
    # gradients 3 (x - 1) and -(x - 3) differ from x by 2 x - 3 and 3 - 2 x: at x = -1 by 5
    assert problem.constants["G"].value == pytest.approx(5.0)
    moved = problem.reweighted([1, 3])  # F'' = (3 - 3) / 4 = 0, F' = (-3 + 9) / 4
    assert moved.minimize is None and moved.constants["F_inf"].value == -np.inf
    assert np.allclose(moved.grad([7.0]), 1.5) and "G" not in moved.constants
    back = moved.reweighted([1, 1])
    assert back.constants == problem.constants and back.minimizer() == [0.0]


def test_curvatures_that_cancel_leave_a_slope_or_nothing():
    slide, lines = quadratic_from_arrays(*SLIDE), quadratic_from_arrays(*LINES)
    for x in (-3.0, 0.0, 10.0):
        assert slide.loss([x]) == pytest.approx(x - 2) and slide.grad([x]) == pytest.approx(1.0)
        assert lines.loss([x]) == lines.grad([x])[0] == 0.0
    assert slide.minimize is None and slide.constants["F_inf"].value == -np.inf
    assert lines.minimize is not None and "F_inf" not in lines.constants
    # by rounding alone: 0.1 + 0.2 - 0.3 is no curvature
    thirds = [[1.0], [0.1], [0.2], [-0.3]]
    assert quadratic_from_arrays(thirds, [[0.0], [5.0], [5.0], [5.0]]).minimizer() == [0.0]
    assert quadratic_from_arrays(thirds, [[0.0], [5.0], [5.0], [4.0]]).minimize is None


def test_rounding_of_a_convex_matrix_is_no_negative_curvature():
    """X'X of 2 rows has rank 2 of 5: floats give it eigenvalues of either sign about 0."""
    X = np.random.default_rng(3).standard_normal((2, 5))
    problem = quadratic_from_arrays(X.T @ X, np.ones((3, 5)))
    assert np.linalg.eigvalsh(X.T @ X)[0] < 0 and problem.constants["mu"].value == 0.0
    assert np.allclose(problem.grad(problem.minimizer()), 0.0)
    # a small matrix is judged by its own size
    small = quadratic_from_arrays(1e-14 * np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones((4, 2)))
    assert small.constants["mu"].value < -0.99e-14 and small.minimize is None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", SHARED + OWN)
def test_no_gradient_contradicts_a_constant_of_indefinite_hessians(kind, seed):
    generator = np.random.default_rng(seed)
    A, b = random_arrays(kind, N=3, d=3, seed=seed)
    A = generator.uniform(-2, 2, A.shape)
    if "dense" in kind:
        A = A + A.swapaxes(-1, -2)
    problem = quadratic_from_arrays(A, b, weights=[1, 2, 5])
    columns = hessians(problem)
    lowest = np.linalg.eigvalsh(columns[-1])[0] > 0
    assert (problem.minimize is not None) == lowest
    value = {name: c.value for name, c in problem.constants.items() if c.scope == "global"}
    assert value["L"] == pytest.approx(abs(np.linalg.eigvalsh(columns[:-1])).max(), rel=1e-12)
    assert value["mu"] == pytest.approx(np.linalg.eigvalsh(columns[:-1]).min(), rel=1e-12)
    assert ("G" in problem.constants) == (lowest or kind in SHARED)
    for x in 5 * generator.standard_normal((40, 3)):
        g = [problem.client_grad(i, x) for i in range(1, 4)]
        F = problem.grad(x)
        assert np.allclose(F, np.array([1, 2, 5]) @ g / 8, atol=1e-12)
        if "B" in value:
            mean = np.mean([v @ v for v in g])
            assert mean <= (value["G_star"] ** 2 + value["B"] ** 2 * (F @ F)) * (1 + 1e-12)
