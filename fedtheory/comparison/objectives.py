"""The losses that claims measure, as sums of F and f_0, with their infima."""

from typing import NamedTuple

import numpy as np

from fedtheory.errors import InvalidInput
from fedtheory.problem import Problem, lowest_of

# {metric: its weights of F and of f_0, as a function of gamma}
LOSSES = dict(
    loss=lambda gamma: (1.0, 0.0),
    server_loss=lambda gamma: (0.0, 1.0),
    tilde_loss=lambda gamma: (1 / (1 + gamma), gamma / (1 + gamma)),
    mixed_loss=lambda gamma: (1.0, 1.0),
    loss_of_mean=lambda gamma: (1.0, 0.0),
    mixed_loss_of_mean=lambda gamma: (1.0, 1.0),
    mixed_loss_of_weighted_mean=lambda gamma: (1.0, 1.0),
    mixed_loss_of_decreasing_mean=lambda gamma: (1.0, 1.0),
)
NEAR = 1e-12  # upper bound on the relative error of a loss in floats


class Lowest(NamedTuple):
    """A minimiser, if one is known, and lower and upper ends of the infimum."""

    x: np.ndarray
    low: float
    high: float


class Objective(NamedTuple):
    """The loss a F + b f_0 of a problem."""

    problem: Problem
    a: float
    b: float

    def loss(self, x: np.ndarray) -> float:
        """Return a F(x) + b f_0(x)."""
        total = self.a * self.problem.loss(x) if self.a else 0.0
        return total + (self.b * self.problem.client_loss(0, x) if self.b else 0.0)

    def grad(self, x: np.ndarray) -> np.ndarray:
        """Return a grad F(x) + b grad f_0(x), of shape (d,)."""
        total = self.a * self.problem.grad(x) if self.a else np.zeros(self.problem.d)
        return total + (self.b * self.problem.client_grad(0, x) if self.b else 0.0)

    def lowest(self) -> Lowest:
        """Return the infimum, exact up to rounding, or between ends that a point and strong
        convexity give.

        At a point x with gradient g, a mu-strongly convex loss lies above loss(x) - ||g||^2 / (2
        mu). Raises InvalidInput where the loss is unbounded below, and where none of these is
        known: a minimiser, affine gradients, a constant F_inf, mu > 0.
        """
        problem, constants = self.problem, self.problem.constants
        x = None
        if not self.b and problem.minimize is not None:
            x = problem.minimizer()
        elif problem.affine:
            x = lowest_of(self.grad, problem.d, constants, self.a + self.b)
            if x is None:
                raise InvalidInput(
                    f"the measured loss is unbounded below on {problem.name}, so that there is no "
                    "infimum to subtract"
                )
        elif not self.b and "F_inf" in constants:
            low = self.a * float(constants["F_inf"])
            return Lowest(None, low, low)
        elif float(constants.get("mu", 0.0)) > 0:
            x = _descend_to_minimiser(self)
        if x is None:
            raise InvalidInput(
                f"the infimum of the measured loss is not known for {problem.name}: it is known "
                "for quadratics, for losses with a known minimiser, and for strongly convex losses"
            )
        value, slope = self.loss(x), self.grad(x)
        mu = (self.a + self.b) * max(float(constants.get("mu", 0.0)), 0.0)
        below = float(slope @ slope) / (2 * mu) if mu > 0 else 0.0
        more = NEAR * abs(value)
        return Lowest(x, value - below - more, value + more)


def _descend_to_minimiser(objective: Objective) -> np.ndarray:
    """Return a point near the minimiser of a strongly convex loss, by L-BFGS; the gradient at the
    point tells how near."""
    from scipy.optimize import minimize

    start = np.zeros(objective.problem.d)
    return minimize(
        objective.loss,
        start,
        jac=objective.grad,
        method="L-BFGS-B",
        options=dict(maxiter=10_000, ftol=0.0, gtol=1e-12),
    ).x


def measured_loss(problem: Problem, metric: str, gamma: float = 1.0) -> Objective:
    """Return the loss that a metric's name stands for; refuse a problem without the f_0 that the
    metric needs."""
    a, b = LOSSES[metric](gamma)
    if b and not problem.has_server:
        raise InvalidInput(f"{metric} needs the server's loss, and {problem.name} has none")
    return Objective(problem, a, b)
