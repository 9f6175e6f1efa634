"""Problems from functions of users' own: against the house's logistic regression, draw by draw, and
constants measured at points against those that are known."""

import pickle

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover, jit
from fedtheory.errors import Diverged, InvalidInput
from fedtheory.problems import functions

RNG = np.random.default_rng(3)
X = [RNG.standard_normal((n, 4)) for n in (5, 6, 4, 7)]
Y = [np.where(RNG.random(len(rows)) < 0.5, -1.0, 1.0) for rows in X]
RIDGE = 0.1


def logistic(x, batch):
    A, y = batch
    m = y * (A @ x)
    with np.errstate(over="ignore"):
        slope = -y / (1 + np.exp(m))
        return np.mean(np.log1p(np.exp(-m))) + RIDGE / 2 * x @ x, A.T @ slope / len(y) + RIDGE * x


def problem(**given):
    given = dict(batch=2, server=(X[0], Y[0]), weights="samples") | given
    return ft.problems.from_function(logistic, list(zip(X[1:], Y[1:])), np.zeros(4), **given)


HOUSE = ft.problems.logistic(X[1:], Y[1:], RIDGE, (X[0], Y[0]), weights="samples", batch=2)


@pytest.mark.parametrize(
    "method, given",
    [
        ("fsl", dict(K=2, K_0=3, eta_l=0.2, eta_0=0.1, eta_g=1.0, gamma=0.5)),
        ("scaffold", dict(K=2, eta_l=0.2, option="I")),
        ("data_sharing", dict(K=2, eta_l=0.2)),
    ],
)
def test_the_same_draws_give_the_same_run(method, given):
    """Minibatches, cohorts, weights and the server's samples, under any method."""
    given = dict(rounds=4, trials=2, S=2, seed=5, keep="x") | given
    mine, theirs = (ft.run(on, method, **given) for on in (problem(), HOUSE))
    np.testing.assert_allclose(mine.x, theirs.x, rtol=1e-11, atol=1e-13)
    for name, curve in mine.metrics.items():
        known = theirs.metrics[name]
        if not np.isnan(curve).all():  # what needs a minimiser is not known here
            np.testing.assert_allclose(curve, known, rtol=1e-10, atol=1e-12)
    assert not np.isnan(mine.metrics["loss"]).any()


def test_losses_and_gradients_are_the_functions():
    own, x = problem(), np.array([1.0, -2.0, 0.5, 0.0])
    for i in range(4):
        value, slope = logistic(x, (X[i], Y[i]))
        assert own.client_loss(i, x) == value and np.array_equal(own.client_grad(i, x), slope)
    assert own.loss(x) == pytest.approx(HOUSE.loss(x), rel=1e-14)
    assert own.has_server and not problem(server=None).has_server and own.constants == {}


def test_a_batch_is_an_array_or_a_tuple_or_a_dict_of_them():
    def mean(x, rows):
        return 0.5 * np.mean((rows - x) ** 2), x - rows.mean(axis=0)

    rows = [np.array([[1.0], [3.0]]), np.array([[5.0]])]
    one = ft.problems.from_function(mean, rows, [0.0], batch=1)
    assert one.grad([0.0]) == [-3.5] and one.N == 2 and list(one.sizes) == [0, 2, 1]
    named = ft.problems.from_function(
        lambda x, b: mean(x, b["rows"]), [dict(rows=own) for own in rows], [0.0], batch=1
    )
    given = dict(rounds=3, eta_l=0.5, seed=2)
    assert ft.run(one, "fedavg", **given).final == ft.run(named, "fedavg", **given).final


@pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT")
def test_long_points_are_stepped_by_machine_code_with_the_same_bits():
    d = 300
    rows = RNG.standard_normal((2, 3, d)) / d
    clients = [(A, np.ones(3)) for A in rows]
    own = ft.problems.from_function(logistic, clients, np.zeros(d), batch=1, server=clients[0])
    server = dict(eta_0=0.1, eta_g=1.0, gamma=0.5, K_0=1)
    # the second and third have kernels, or the shape of their numbers, in common with the first
    for method, more in dict(fedavg={}, fedprox=dict(mu_prox=0.5), fsl=server, scaffold={}).items():
        given = dict(rounds=2, K=2, eta_l=0.2, seed=1, keep="x") | more
        fast, slow = (ft.run(own, method, compiled=c, **given) for c in (None, False))
        assert np.array_equal(fast.x, slow.x) and np.ptp(fast.x) > 0, method
        assert all(np.array_equal(fast.metrics[n], slow.metrics[n], True) for n in fast.metrics)
    for c in (None, False):
        with pytest.warns(Diverged, match="diverged in 1 of 1 trials, first in round 1"):
            lost = ft.run(own, "fedavg", rounds=2, eta_l=1e149, compiled=c)
        assert np.isnan(lost.metrics["loss"][0, 2])


def test_a_problem_crosses_processes():
    again = pickle.loads(pickle.dumps(problem()))  # noqa: S301 (made one line ago)
    given = dict(rounds=2, eta_l=0.1, seed=3)
    assert np.array_equal(
        ft.run(again, "fedavg", **given).final, ft.run(problem(), "fedavg", **given).final
    )


def test_makers_are_found_by_name():
    assert {"from_function", "from_torch", "from_jax", "estimated"} <= set(
        discover.problem_makers()
    )


@pytest.mark.parametrize(
    "change, says",
    [
        (dict(function=3), "function must be a function of"),
        (dict(function=lambda x, b: 1.0), "function must return .loss, gradient."),
        (dict(function=lambda x, b: (1.0, np.zeros(3))), "gradient of shape .4,. for the server"),
        (dict(function=lambda x, b: ("a", x)), "must return one number as the loss of the server"),
        (dict(clients={}), "clients must be a list"),
        (dict(clients=[]), "clients must be a list of one batch or more"),
        (dict(clients=[None, (X[1], Y[1])]), r"clients\[0\] must be data: .*server=; got None"),
        (dict(clients=[(X[1], Y[2])]), r"clients\[0\] must be an array of one sample or more"),
        (dict(server=(X[1], [])), "server must be an array of one sample or more"),
        (dict(server=(None, None)), r"server must be an array .* got \(None, None\)"),
        (dict(server=np.array(None)), r"server must be an array .* got array\(None"),
        (dict(x_0=[np.nan]), "x_0 must be a finite vector"),
        (dict(batch=0), "batch must be a positive integer"),
    ],
)
def test_bad_input_is_refused(change, says):
    given = dict(function=logistic, clients=list(zip(X[1:], Y[1:])), x_0=np.zeros(4))
    given |= dict(server=(X[0], Y[0])) | change
    with pytest.raises(InvalidInput, match=says):
        ft.problems.from_function(**given)


# ---------------------------------------------------------------- constants along a run


def test_measured_constants_are_those_that_are_known():
    """Under a shared Hessian gradients differ by constants: G and xi_bar are seen at any point, and L
    where the path has its direction."""
    known = ft.problems.quadratic(d=1, clients=3, L=2.0, mu=2.0, G=1.5, xi_bar=0.5, seed=1)
    r = ft.run(known, "fedavg", rounds=4, eta_l=0.1, keep="x", x_0=[3.0])
    along = ft.problems.estimated(known, r.x[0]).constants
    for name in ("L", "G", "xi_bar"):
        assert along[name].value == pytest.approx(known.constants[name].value, rel=1e-9)
        assert (
            along[name].scope == "trajectory" and along[name].how == "the largest seen at 5 points"
        )
    assert "mu" not in along  # a least curvature is not to be seen along a path


def test_measured_constants_are_below_those_that_are_proved():
    points = ft.run(HOUSE, "fedavg", rounds=6, K=2, eta_l=0.5, keep="x").x[0]
    along, proved = ft.problems.estimated(problem(), points).constants, HOUSE.constants
    for name in ("L", "G", "xi_bar", "sigma", "sigma_0"):
        assert 0 < along[name].value <= proved[name].value, name
    alone = ft.problems.estimated(problem(server=None, batch=None), points).constants
    assert set(alone) == {"L", "G", "sigma"} and alone["sigma"].value == 0.0
    # sigma by hand, at one point: samples' gradients of client 2, two of four without replacement
    at, n = points[0], 4
    each = np.array([logistic(at, (X[2][r : r + 1], Y[2][r : r + 1]))[1] for r in range(n)])
    spread = np.sum((each - each.mean(axis=0)) ** 2) / n * (n - 2) / (2 * (n - 1))
    assert functions._minibatch_variance(problem(), 2, at) == pytest.approx(spread, rel=1e-12)


def test_no_verdict_rests_on_what_was_measured():
    known = ft.problems.quadratic(d=2, clients=3, L=2.0, mu=0.5, G=1.0, xi_bar=0.5)
    steps = dict(K=2, eta_l=0.01, eta_g=1.0, gamma=1.0, K_0=2, eta_0=0.01)
    r = ft.run(known, "fsl", rounds=3, keep="x", **steps)
    along = ft.problems.estimated(known, r.x[0])
    with pytest.raises(InvalidInput, match="constants that hold, for a verdict.*'L, G, xi_bar'"):
        ft.check_on("fsl.theorem1", along, rounds=3, **steps)
    told = ft.compare("fsl.theorem1", along, rounds=3, trials=2, S=2, **steps).notes
    assert any("measured at points of a run" in note for note in told)
    assert not ft.compare("fsl.theorem1", known, rounds=3, trials=2, S=2, **steps).notes


@pytest.mark.parametrize("points", [[[1.0] * 4], [[1.0] * 4] * 3, [1.0] * 4, [[np.inf] * 4] * 2])
def test_points_that_say_nothing_are_refused(points):
    with pytest.raises(InvalidInput, match="points must"):
        ft.problems.estimated(problem(), points)


# ---------------------------------------------------------------- PyTorch and JAX, where they are


def test_a_pytorch_module_is_the_house_softmax_regression():
    torch = pytest.importorskip("torch")
    module = torch.nn.Linear(4, 2).double()
    with torch.no_grad():
        module.weight.zero_()
        module.bias.zero_()
    labels = [(y > 0).astype(int) for y in Y]
    own = ft.problems.from_torch(
        module, torch.nn.functional.cross_entropy, list(zip(X[1:], labels[1:])), batch=2
    )
    house = ft.problems.softmax(X[1:], labels[1:], ridge=0.0, batch=2)
    x = np.arange(10.0) / 8
    theirs = np.concatenate(
        [x[:8].reshape(2, 4).T.ravel(), x[8:]]
    )  # W is (features, classes) there
    assert own.loss(x) == pytest.approx(house.loss(theirs), rel=1e-12)
    assert [layer.name for layer in own.layers] == ["weight", "bias"] and module.training
    assert not any(p.grad is not None for p in module.parameters()) and not module.weight.any()
    given = dict(rounds=3, K=2, eta_l=0.3, seed=4)
    mine, theirs = (ft.run(on, "fedavg", **given).metrics["loss"] for on in (own, house))
    np.testing.assert_allclose(mine, theirs, rtol=1e-11)


def test_a_jax_function_is_the_numpy_one():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)

    def loss(parameters, batch):
        A, y = batch
        m = y * (A @ parameters["w"])
        return (
            jax.numpy.mean(jax.numpy.log1p(jax.numpy.exp(-m)))
            + RIDGE / 2 * parameters["w"] @ parameters["w"]
        )

    own = ft.problems.from_jax(loss, dict(w=np.zeros(4)), list(zip(X[1:], Y[1:])), batch=2)
    given = dict(rounds=3, K=2, eta_l=0.3, seed=4)
    mine, theirs = (
        ft.run(on, "scaffold", **given).final for on in (own, problem(server=None, weights=None))
    )
    np.testing.assert_allclose(mine, theirs, rtol=1e-11)
