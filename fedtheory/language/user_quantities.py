"""User-defined measures, constants and conditions: functions of a run, or of the problem of the
run.

A claim's table names these functions: `Table.along` a measured quantity, `Table.constant` a
constant of a problem, `Condition(..., on=...)` a condition on a problem. A function takes a `Way`
or a `Landscape`. Their numbers are fractions, intervals, or many floats at once during a search, so
the function uses + - * / ** and the functions of `fedtheory.arithmetic.operations`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Interval, Many, NoTruth, where
from fedtheory.errors import FedtheoryError, InvalidInput, OneByOne, refuse
from fedtheory.typing import Number

BOUNDS = dict(upper=1, lower=-1, exact=0)


class Own(NamedTuple):
    """The user's function behind a symbol and, for a constant, the direction in which larger or
    smaller values are also true."""

    of: Callable[..., Any]  # (Way) -> number; for a constant (Landscape) -> number
    bound: int | None = None  # for a constant: 1 an upper bound, -1 a lower bound, 0 neither


class Landscape:
    """The problem on which a method runs, as users' functions see it: clients are 1 to N, F is the
    sum of p_i f_i.

    Points are vectors with `dot`; numbers are exact, or many floats at once during a search.
    """

    N: int
    d: int
    p: tuple[Any, ...]  # (N,) weights of the clients in F
    x_0: np.ndarray  # the starting point of runs
    sigma_sq: Any  # variance of a client's gradient estimate

    def loss(self, x: np.ndarray) -> Any:
        """Return F(x)."""
        raise NotImplementedError

    def grad(self, x: np.ndarray) -> Any:
        """Return the gradient of F at x."""
        raise NotImplementedError

    def client_loss(self, i: int, x: np.ndarray) -> Any:
        """Return f_i(x)."""
        raise NotImplementedError

    def client_grad(self, i: int, x: np.ndarray) -> Any:
        """Return the gradient of f_i at x."""
        raise NotImplementedError

    def gap(self, x: np.ndarray) -> Any:
        """Return F(x) minus the infimum of F."""
        raise NotImplementedError

    @property
    def minimizer(self) -> Any:
        """Return a minimiser of F, one of them where there are many."""
        raise NotImplementedError

    def client_infimum(self, i: int) -> Any:
        """Return the infimum of f_i."""
        raise NotImplementedError

    def curvature(self, i: int) -> Any:
        """Return the (least, largest) second derivative of f_i."""
        raise NotImplementedError

    @property
    def polyak_lojasiewicz(self) -> Any:
        """Return the largest known mu with ||grad F||^2 >= 2 mu (F - F*) everywhere."""
        raise NotImplementedError

    def sq_distance(self, x: np.ndarray) -> Number:
        """Return ||x - x*||^2 for a minimiser x*, the nearest where the nearest is known."""
        away = x - self.minimizer
        return away.dot(away)

    def sq_grad(self, x: np.ndarray) -> np.ndarray:
        """Return ||grad F(x)||^2."""
        g = self.grad(x)
        return g.dot(g)


class Round(NamedTuple):
    """One round: the clients that worked, and the points that each of these clients visited."""

    cohort: tuple[Any, ...]  # indices of clients, from 1
    points: tuple[Any, ...]  # each client's points y_0, ..., y_K

    def means(self) -> tuple[np.ndarray, ...]:
        """Return (y_0, ..., y_K), where each y_k is the mean over the cohort; all members must have
        done the same number of steps."""
        return tuple(sum(at) / len(at) for at in zip(*self.points))


class Way:
    """One way that a run can go: `x` holds the server's points x_0, ..., x_T, `rounds` holds a
    Round per round (None where none was stored), and `way["eta_l"]` is the number of a letter."""

    def __init__(
        self, problem: Any, x: Number, rounds: Sequence[Round] | None, letters: Mapping[str, Number]
    ) -> None:
        self.problem, self.x, self._rounds, self._letters = problem, x, rounds, letters
        self.T = len(x) - 1

    @property
    def rounds(self) -> Sequence[Round]:
        """Return a Round for each of the T rounds."""
        if self._rounds is None:
            raise InvalidInput(
                "the points within a round are known in `check`, and in runs without noise in which every "
                "client works; this run did not store these points"
            )
        return self._rounds

    def __getitem__(self, letter: str) -> Number:
        if letter not in self._letters:
            refuse("a letter", f"must be one of {', '.join(sorted(self._letters))}", letter)
        return self._letters[letter]


def weighted_mean(points: Iterable[Number], weights: Iterable[Number]) -> Number:
    """Return the mean of points with weights, which need not add up to 1. Raises Undefined for a
    negative weight, and where all weights are 0.

    >>> from fractions import Fraction
    >>> weighted_mean([Fraction(1), Fraction(4)], [2, 1])
    Fraction(2, 1)
    """
    points, weights = list(points), list(weights)
    if len(points) != len(weights) or not points:
        refuse(
            "weights", f"must have as many numbers as there are points, {len(points)}", len(weights)
        )
    total = sum(weights)
    good = where(total > 0, 1, Many(np.asarray(np.nan))) if isinstance(total, Many) else 1
    for weight in weights:
        if isinstance(weight, Many):
            good = where(weight >= 0, good, Many(np.asarray(np.nan)))
        elif not weight >= 0:
            raise Undefined("a weight of a mean is negative")
    if not isinstance(total, Many) and not total > 0:
        raise Undefined("the weights of a mean add up to 0")
    return sum(weight * point for weight, point in zip(weights, points)) / (total * good)


EXACT, MANY, FLOATS = "exact", "many", "floats"  # the kinds of numbers that a function is given


def evaluate_checked(name: str, of: Any, about: Any, given: Any = EXACT) -> Any:
    """Return the number that a user's function returns for `about`, a Way or a Landscape.

    Raises InvalidInput where the function raises, returns no number of the arithmetic `given`, or,
    on exact numbers, returns two different numbers for the same run.
    """
    value = check_number(name, call_user_function(f"{name}: its function", name, of, about), given)
    if given == EXACT:
        again = check_number(
            name, call_user_function(f"{name}: its function", name, of, about), given
        )
        if getattr(value, "pair", value) != getattr(again, "pair", again):
            refuse(
                f"{name}: its function",
                "must return the same value for the same run",
                (value, again),
            )
    return value


def call_user_function(whose: str, name: str, of: Any, about: Any) -> Any:
    """Return the result of a user's function. Its exceptions become InvalidInput; a branch on
    numbers that differ between instances becomes OneByOne."""
    try:
        return of(about)
    except (FedtheoryError, ZeroDivisionError):
        raise
    except NoTruth as error:  # the function branches, so it runs on one instance after another
        raise OneByOne(f"{name}: {error}") from None
    except Exception as error:
        raise InvalidInput(f"{whose} raised {type(error).__name__}: {error}") from None


def check_number(name: str, value: Any, given: Any = EXACT) -> Number:
    """Return a value as a number of the arithmetic in which the function was called, or refuse the
    value."""
    if given == FLOATS and isinstance(value, float) and value == value:  # NumPy's floats, too
        return float(value)
    if isinstance(value, Many) and given == MANY:
        if np.ndim(value.at) > 1:
            refuse(f"{name}: its function", "must return one number", np.shape(value.at))
        return value
    if isinstance(value, Fraction) or isinstance(value, Interval) and is_enclosure(value.pair):
        return value
    if type(value) is int or isinstance(value, np.integer):
        return Fraction(int(value))
    if type(value) is not bool and isinstance(value, Real) and abs(float(value)) == float("inf"):
        return float(value)
    refuse(
        f"{name}: its function",
        "must return a number computed from its arguments by + - * /, integers and "
        "Fractions (a float is not an exact number)",
        value,
    )


def is_enclosure(ends: Any) -> bool:
    """Tell whether two ends enclose a number: both are Fractions, in order."""
    return all(isinstance(end, Fraction) for end in ends) and ends[0] <= ends[1]


def check_truth(name: str, on: Any, about: Any) -> bool | Many:
    """Return whether a problem meets a user's condition, as a bool, or as an array of them for a
    batch of instances."""
    value = call_user_function(f"{name}: `on`", name, on, about)
    if isinstance(value, Many) and np.asarray(value.at).dtype == bool:
        return value
    if not isinstance(value, (bool, np.bool_)):
        refuse(f"{name}: `on`", "must return True or False", value)
    return bool(value)
