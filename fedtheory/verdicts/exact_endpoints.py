"""End points of two ways to run on an instance without randomness, computed exactly by the methods'
own kernels.

Points may have coordinates of any number type. With fractions, they are the points in a document.
With numbers that record their steps, they give the derivation of these points.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fedtheory import discover
from fedtheory.arithmetic.operations import vector
from fedtheory.arithmetic.work import Counted, limit_work
from fedtheory.certificates.documents import parse_fraction
from fedtheory.errors import FedtheoryError
from fedtheory.exact.traces import Losses, Rounds
from fedtheory.typing import Instance
from fedtheory.verdicts.equivalence import free_fields

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.language.statements import Same

WORK = 400_000  # steps of exact arithmetic, for both ways together
LONGEST = 2000  # characters of the longest coordinate in a document


def without_chance(instance: Instance) -> bool:
    """Tell whether all clients take part and no gradient has noise, so that a run is deterministic."""
    return instance["S"] == len(instance["b"]) - 1 and parse_fraction(instance["sigma"]) == 0


def exact_ends(same: "Same", instance: Instance) -> list[list[Counted]]:
    """Return the last points of both ways to run, on an instance of exact numbers."""
    A, b = ([vector(row) for row in instance[name]] for name in "Ab")
    p, N = instance["weights"], len(instance["weights"])
    grad = lambda i, x: A[i] * (x - b[i])
    whole = lambda x: sum((p[i - 1] * grad(i, x) for i in range(2, N + 1)), p[0] * grad(1, x))
    fields, x = free_fields(same), vector(instance["x"])
    hyper = {
        name: int(value) if fields[name].integer else value
        for name, value in instance["hyper"].items()
    }

    def end(one: str | Callable[..., Any], fixed: Mapping[str, Any]) -> "np.ndarray":
        if callable(one):
            problem = SimpleNamespace(grad=whole, client_grad=grad)
            shared = {name: hyper[name] for name in same.shared}
            return one(problem, x, instance["rounds"], **shared, **fixed)[-1]
        method = discover.algorithm(one)
        own = {name: value for name, value in hyper.items() if name in method.hyper}
        losses = Losses(grad, lambda i, k: [], (Fraction(0), *p), len(x))
        rounds = Rounds(method, losses, {**own, **fixed})
        state = rounds.start(list(x))
        for t in range(instance["rounds"]):
            rounds.at(t)
            everybody = tuple(range(1, N + 1)), (rounds.steps,) * N
            ((_, state),) = rounds.after(state, [(Fraction(1), *everybody)])
        return state.x

    return [list(end(same.one, same.fixed)), list(end(same.other, same.other_fixed))]


def document_points(same: "Same", instance: Instance) -> list[list[str]] | None:
    """Return the last points of both ways as texts for a document; None where the instance is
    random, a number is too long, or a function refuses fractions."""
    if not without_chance(instance):
        return None
    try:
        with limit_work(WORK):
            found = exact_ends(same, as_numbers(instance))
    except (FedtheoryError, TypeError, ValueError, ZeroDivisionError):
        return None  # for example, a user's function that takes no fractions
    texts = [[str(Fraction(coordinate)) for coordinate in point] for point in found]
    return texts if all(len(text) <= LONGEST for point in texts for text in point) else None


def as_numbers(tree: Any) -> Any:
    """Return plain data with all texts converted to fractions."""
    if isinstance(tree, dict):
        return {name: as_numbers(value) for name, value in tree.items()}
    if isinstance(tree, list):
        return [as_numbers(value) for value in tree]
    return parse_fraction(tree) if isinstance(tree, str) else tree
