"""Diagonal quadratics in exact rationals: the slow and obvious version that whole rounds are held
against."""

from fractions import Fraction

import numpy as np

import fedtheory as ft
from fedtheory.participation import Participation


def vector(numbers):
    """Plain Python rationals: a NumPy integer inside a Fraction overflows."""
    plain = [getattr(number, "item", lambda: number)() for number in np.atleast_1d(numbers)]
    return np.array([Fraction(number) for number in plain], dtype=object)


class Quadratic:
    """f_i(x) = sum_j a_ij (x_j - b_ij)^2 / 2, row 0 the server. Dyadic numbers, so that floats hold
    them exactly."""

    def __init__(self, a, b, weights=None):
        self.a, self.b = [vector(row) for row in a], [vector(row) for row in b]
        self.N, self.d = len(self.a) - 1, len(self.a[0])
        weights = [1] * self.N if weights is None else weights
        self.p = [Fraction(0), *(Fraction(w) / sum(map(Fraction, weights)) for w in weights)]
        self.problem = ft.problems.quadratic_from_arrays(
            np.array(a, dtype=float).reshape(self.N + 1, self.d),
            np.array(b, dtype=float).reshape(self.N + 1, self.d),
            weights=[float(w) for w in weights],
        )

    def grad(self, i, x):
        return self.a[i] * (x - self.b[i])

    def walk(self, i, x, eta, K):
        """K gradient steps on f_i."""
        y = vector(x)
        for _ in range(K):
            y = y - eta * self.grad(i, y)
        return y

    def minimizer(self, gamma=0, weights=None):
        """Where sum_i w_i grad f_i + gamma grad f_0 vanishes; w = p unless given."""
        weights = [gamma, *(self.p if weights is None else weights)[1:]]
        return sum(w * a * b for w, a, b in zip(weights, self.a, self.b)) / sum(
            w * a for w, a in zip(weights, self.a)
        )

    def run(self, algorithm, rounds, x_0=None, **kw):
        """The engine's trajectory, (rounds + 1, d)."""
        kw = {
            name: float(value) if isinstance(value, Fraction) else value
            for name, value in kw.items()
        }
        return ft.run(
            self.problem,
            algorithm,
            rounds=rounds,
            keep="x",
            metrics=(),
            x_0=None if x_0 is None else np.array(x_0, dtype=float),
            **kw,
        ).x[0]


def cohorts(rounds, S, N, seed=0):
    """Who is drawn in each round."""
    idle = np.zeros(rounds, dtype=np.int64)
    return Participation().draw(seed, np.zeros(1, dtype=np.int64), 0, rounds, S, idle, N)[0][0]


def close(x, path, tolerance=1e-13):
    """Whether a trajectory is the exact one, relative to its size."""
    path = np.array([[float(number) for number in point] for point in path])
    return x.shape == path.shape and np.max(abs(x - path)) <= tolerance * max(
        1.0, np.max(abs(path))
    )


# Two clients on a line, p = 1/2 each: gradients x - 1 and 2 (x + 1), the server's x - 3.
LINE = Quadratic([[1], [1], [2]], [[3], [1], [-1]])
# Four clients in the plane, unequal weights and own curvatures.
PLANE = Quadratic(
    [[1, 2], [1, 0.5], [2, 1], [0.5, 1.5], [1.5, 2]],
    [[1, -2], [3, 1], [-1, 2], [0.5, -3], [2, 0]],
    weights=[1, 2, 4, 1],
)
EVEN = Quadratic(
    [[1, 2], [1, 0.5], [2, 1], [0.5, 1.5], [1.5, 2]], [[1, -2], [3, 1], [-1, 2], [0.5, -3], [2, 0]]
)
START = [2.0, -1.0]
