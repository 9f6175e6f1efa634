"""User-defined functions on runs in floats: the quantities that a claim's table measures along a
run, or asks of a problem, by functions of the user."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.arithmetic.operations import Many, nearest_float, vector
from fedtheory.comparison.objectives import Lowest, Objective
from fedtheory.comparison.setup import is_deterministic
from fedtheory.errors import InvalidInput
from fedtheory.exact.traces import Losses, Rounds, uniform_cohorts
from fedtheory.language import user_quantities
from fedtheory.language.conditions import Condition
from fedtheory.language.symbol import Entry
from fedtheory.problem import Problem, curvatures, lowest_of
from fedtheory.symbols import run as house
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.runs.planning import Plan

ALIKE = (
    1e-6  # largest relative difference between the kernels' reinterpreted result and the engine's
)


class OnProblem(user_quantities.Landscape):
    """A problem of the engine, in the form that user-defined functions take."""

    def __init__(self, problem: Problem, x_0: Number) -> None:
        self._problem = problem
        self.N, self.d, self.p = problem.N, problem.d, tuple(problem.weights[1:])
        self.x_0 = None if x_0 is None or np.ndim(x_0) != 1 else np.array(x_0, float)
        self.sigma_sq = (
            float(problem.constants["sigma"]) ** 2 if "sigma" in problem.constants else 0
        )

    def loss(self, x: np.ndarray) -> float:
        """Return F(x)."""
        return float(self._problem.loss(_to_floats(x)))

    def grad(self, x: np.ndarray) -> Number:
        """Return grad F(x)."""
        return self._problem.grad(_to_floats(x))

    def client_loss(self, i: int, x: np.ndarray) -> float:
        """Return f_i(x), i from 1."""
        return float(self._problem.client_loss(self._of(i), _to_floats(x)))

    def client_grad(self, i: int, x: np.ndarray) -> np.ndarray:
        """Return grad f_i(x), i from 1."""
        return self._problem.client_grad(self._of(i), _to_floats(x))

    @cached_property
    def _least(self) -> Lowest:
        return Objective(self._problem, 1.0, 0.0).lowest()

    def gap(self, x: np.ndarray) -> float:
        """Return F(x) minus the upper end of inf F, so that the gap is never too large."""
        return self.loss(x) - self._least.high

    @property
    def minimizer(self) -> np.ndarray:
        """Return a minimiser of F; raise InvalidInput where none is known."""
        if self._least.x is None:
            raise InvalidInput(f"the minimiser of {self._problem.name} is not known")
        return np.array(self._least.x)

    def client_infimum(self, i: int) -> float:
        """Return inf f_i; raise InvalidInput unless gradients are affine and f_i is bounded below."""
        problem = self._affine("the infimum of a client")
        grad = lambda x: problem.client_grad(self._of(i), x)
        x = lowest_of(grad, self.d, {})
        if x is None:
            raise InvalidInput(f"a client's loss on {problem.name} is unbounded below")
        return self.client_loss(i, x)

    def curvature(self, i: int) -> tuple[float, float]:
        """Return (least, largest) eigenvalue of the Hessian of f_i, for affine gradients alone."""
        problem = self._affine("the curvature of a client")
        found = curvatures(lambda x: problem.client_grad(self._of(i), x), self.d)
        return float(found[0]), float(found[-1])

    @property
    def polyak_lojasiewicz(self) -> float:
        """Return the constant of the inequality of Polyak and Lojasiewicz of F: a problem's mu > 0,
        else the least eigenvalue of the Hessian that is not 0, else 0 where an eigenvalue is
        negative."""
        mu = self._problem.constants.get("mu")
        if mu is not None and mu.value > 0:  # mu holds for every loss, so F has this constant
            return float(mu)
        problem = self._affine("the inequality of Polyak and Lojasiewicz")
        found = curvatures(problem.grad, self.d)
        flat = abs(found) <= 1e-9 * abs(found).max(initial=0.0)
        return 0.0 if np.any(found[~flat] < 0) or flat.all() else float(found[~flat].min())

    def _affine(self, what: str) -> Problem:
        """Return the problem; raise InvalidInput, naming what is unknown, unless its gradients are
        affine."""
        if not self._problem.affine:
            raise InvalidInput(f"{what} is not known for {self._problem.name}: give its letter")
        return self._problem

    def _of(self, i: int) -> int:
        """Return a client's number as the problem takes it; raise IndexError outside 1 .. N."""
        if not 1 <= i <= self.N:
            raise IndexError(f"clients are 1 to {self.N}")
        return int(i)


def _to_floats(x: np.ndarray) -> np.ndarray:
    return np.array([nearest_float(part) for part in x], float)


def user_constants(
    claim: "Claim", problem: Problem, x_0: np.ndarray, given: Mapping[str, float]
) -> dict[str, Any]:
    """Return {letter: number} of a claim's user-defined constants, and of the built-in table's
    constants that a point determines, where they are not given."""
    mine = {
        name: entry.own.of if entry.own is not None else HOUSE[name]
        for name, entry in claim.parameters.items()
        if name not in given
        and (entry.own is not None or name in HOUSE and entry == house.TABLE[name])
    }
    about = OnProblem(problem, x_0) if mine else None
    return {name: user_value(name, of, about) for name, of in mine.items()}


def dissimilarity(about: OnProblem) -> float:
    """Return the dissimilarity at the minimiser, zeta = (sum_i p_i ||grad f_i(x*)||^2)^(1/2)."""
    x = about.minimizer
    gs = [about.client_grad(i, x) for i in range(1, about.N + 1)]
    return float(sum(p * g.dot(g) for p, g in zip(about.p, gs)) ** 0.5)


HOUSE = dict(
    zeta=dissimilarity,
    R=lambda about: float(about.sq_distance(about.x_0) ** 0.5),
    growth=lambda about: 0.0,  # a problem's sigma bounds all of the noise
)


def user_value(
    name: str, of: Callable[..., Any], about: OnProblem | user_quantities.Way | None
) -> float:
    """Return the value of a user-defined function as a float."""
    return nearest_float(user_quantities.evaluate_checked(name, of, about, user_quantities.FLOATS))


def meets_condition(condition: Condition, problem: Problem, x_0: np.ndarray) -> Any:
    """Tell whether a problem meets a user-defined condition."""
    return user_quantities.check_truth(condition.name, condition.on, OnProblem(problem, x_0))


def read_along(
    entry: Entry,
    problem: Problem,
    points: Number,
    letters: Callable[..., Any],
    T: Number,
    rounds: Sequence[Any] | None,
) -> np.ndarray:
    """Return an array (rows, len(T)) of a function's values on each row's first T rounds;
    `letters(n)` are the numbers at the n-th entry of T."""
    found = np.empty((len(points), len(T)))
    for row, path in enumerate(points):
        about = OnProblem(problem, path[0])
        for n, t in enumerate(T):
            kept = None if rounds is None else rounds[: int(t)]
            way = user_quantities.Way(about, list(path[: int(t) + 1]), kept, letters(n))
            found[row, n] = user_value(entry.name, entry.own.of, way)
    return found


def rounds_of(
    plan: "Plan", h: Any, x_0: np.ndarray
) -> tuple[list[user_quantities.Round], np.ndarray] | None:
    """Return a Round for each round of a run in which nothing is random, computed by the method's
    kernels; None for any other run."""
    method, problem = plan.algorithm, plan.problem
    if not is_deterministic(plan) or method.transform is not None or np.ndim(x_0) != 1:
        return None
    many = lambda x: vector([Many(np.array([float(part)])) for part in x])
    flat = lambda x: np.array(
        [nearest_float(p.at[0] if isinstance(p, Many) else p) for p in x], float
    )
    grad = lambda i, x: many(
        problem.client_grad(i, flat(x)) if i or problem.has_server else np.zeros(problem.d)
    )
    starts = tuple(layer.start for layer in problem.layers)
    weights = tuple(many(problem.weights))
    given = {
        name: field.choices[getattr(h, name)] if field.choices else getattr(h, name)
        for name, field in method.hyper.items()
    }
    rounds = Rounds(method, Losses(grad, lambda i, k: [], weights, problem.d, starts), given)
    state, found = rounds.start(many(x_0)), []
    law = uniform_cohorts(problem.N, plan.S, rounds.steps)
    for t in range(plan.rounds):
        rounds.at(t)
        ((_, trace),) = rounds.of(state, law)
        points = tuple(tuple(flat(y) for y in walk.points) for walk in trace.clients)
        found.append(user_quantities.Round(trace.cohort, points))
        state = trace.after
    return found, flat(state.x)
