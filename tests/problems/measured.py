"""Constants against gradients at given points: what the gradients contradict, and how close they
come."""

import numpy as np

from fedtheory import jit
from fedtheory.rng import NO_DRAW


def finite_difference(loss, x, h=1e-6):
    return np.array([(loss(x + h * e) - loss(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def clients(problem):
    return range(0 if problem.has_server else 1, problem.N + 1)


def batches_agree(problem, x):
    """A batch of all samples is the gradient to the bit, of some the mean of theirs, repeated ones
    counted twice."""
    for i in clients(problem):
        out, n = np.empty(problem.d), int(problem.sizes[i])
        problem.kernels.batch(problem.data, i, np.arange(n), NO_DRAW, x, out)
        assert np.array_equal(out, problem.client_grad(i, x))
        single = np.empty((n, problem.d))
        for row in range(n):
            problem.kernels.batch(problem.data, i, np.array([row]), NO_DRAW, x, single[row])
        rows = np.array([n - 1, 0, n - 1])
        problem.kernels.batch(problem.data, i, rows, NO_DRAW, x, out)
        assert np.allclose(out, single[rows].mean(axis=0), rtol=1e-13, atol=1e-15)
        assert np.allclose(problem.client_grad(i, x), single.mean(axis=0), rtol=1e-13, atol=1e-15)


def twins_agree(problem, x):
    """Interpreted kernels against compiled ones."""
    k, out, twin = problem.kernels, np.empty(problem.d), np.empty(problem.d)
    value = jit.python(k.objective)(problem.data, problem.weights, x, out)
    assert np.isclose(
        value, k.objective(problem.data, problem.weights, x, twin), rtol=1e-12, atol=0
    )
    assert np.allclose(out, twin, rtol=1e-15)
    jit.python(k.batch)(problem.data, 1, np.array([0, 1]), NO_DRAW, x, out)
    k.batch(problem.data, 1, np.array([0, 1]), NO_DRAW, x, twin)
    assert np.allclose(out, twin, rtol=1e-15)


def reached(problem, points):
    """name -> the largest share of a constant that gradients at the points use; above 1 is a
    contradiction.

    A ball's constants are held against points in the ball only. mu counts as the inverse.
    """
    c = {name: constant.value for name, constant in problem.constants.items()}
    x_star = problem.minimizer() if problem.minimize is not None else None
    found = dict.fromkeys(c, 0.0)

    def use(name, amount, x=None):
        if x is not None and problem.constants[name].scope == "ball":
            if np.linalg.norm(x - x_star) > problem.constants[name].radius * (1 + 1e-14):
                return
        found[name] = max(
            found[name],
            amount / c[name] if c[name] > 0 else np.inf * amount if amount > 1e-13 else 0.0,
        )

    grads = [{i: problem.client_grad(i, x) for i in clients(problem)} for x in points]
    for x, g in zip(points, grads):
        F = sum(problem.weights[i] * g[i] for i in range(1, problem.N + 1))
        assert np.allclose(F, problem.grad(x), rtol=1e-11, atol=1e-12 * (1 + np.linalg.norm(x)))
        use("G", np.sqrt(np.mean([np.sum((g[i] - F) ** 2) for i in range(1, problem.N + 1)])), x)
        if "xi_bar" in c:
            use("xi_bar", np.linalg.norm(g[0] - F), x)
        if "B" in c:
            mean = np.mean([g[i] @ g[i] for i in range(1, problem.N + 1)])
            found["B"] = (
                max(found["B"], np.sqrt(mean / (c["G_star"] ** 2 + c["B"] ** 2 * (F @ F))))
                if mean
                else 0.0
            )
    for x, g in zip(points, grads):
        for y, h in zip(points, grads):
            for i in clients(problem):
                gap, turn = x - y, g[i] - h[i]
                if gap @ gap > 1e-12:
                    use("L", np.linalg.norm(turn) / np.linalg.norm(gap))
                    if c["mu"] > 0:
                        found["mu"] = max(found["mu"], c["mu"] / (turn @ gap / (gap @ gap)))
    return found


def contradicted(problem, points, slack=1e-9):
    """Names of the constants that gradients at the points exceed."""
    return sorted(name for name, share in reached(problem, points).items() if share > 1 + slack)


def server_first(maker):
    """A maker for lists whose first entries are the server's, None where it has none: index 0 is
    the server."""

    def make(X, y, *rest, **options):
        own = None if X[0] is None else (X[0], y[0])
        return maker(X[1:], y[1:], *rest, server=own, **options)

    return make
