"""Checks, on a method's kernels, of the assumptions that a worst case makes about a method.

A program describes a recursion: every point at which a gradient is queried is x_0 plus multiples of
gradients. The multiples are the same in each coordinate, whatever the numbers are. Kernels are run
on unknown numbers that can only be added and scaled (`exact.linear`). So kernels that branch on a
point, multiply by a point or divide by a point are refused. Kernels are also run on several
coordinates, in one layer and in two. Each coordinate has to behave like a single coordinate:
kernels that mix coordinates, or that depend on their index or number, are refused.
"""

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic.operations import vector
from fedtheory.certificates.check_worst_case import check_structure
from fedtheory.errors import InvalidInput, NotExact
from fedtheory.exact.linear import Linear, is_zero
from fedtheory.typing import Document

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.proofs.worstcase.methods import ByKernels

# Pairs (number of coordinates, starts of the layers) with which a method is compared with its run
# on a single coordinate.
SEVERAL = ((2, (0,)), (3, (0, 1)), (7, (0,)))


def number_terms(value: Any) -> Any:
    """Return the terms of a number that a kernel may have left at 0, or None for a known number
    other than 0."""
    if isinstance(value, Linear):
        return value.terms
    return {} if is_zero(value) else None


def walk_rounds(method: "ByKernels", rounds: int, d: int, layers: Sequence[int]) -> tuple[Any, Any]:
    """Return (queries, points) of some rounds on d coordinates. Each coordinate is a dictionary
    {(answer, coordinate of the answer): multiple}, in which answer 0 is x_0."""
    asked, vectors = {}, lambda q: vector([Linear({(q, j): Fraction(1)}) for j in range(d)])

    def gradient(i: int, y: "np.ndarray") -> "np.ndarray":
        of = [number_terms(value) for value in y]
        if None in of:
            raise NotExact("the method takes a gradient at a point that does not move with x_0")
        key = (i, *(tuple(sorted(terms.items())) for terms in of))
        return vectors(asked.setdefault(key, len(asked) + 1))

    points = islice(method.points(vectors(0), gradient, layers), rounds + 1)
    every = [[number_terms(value) for value in point] for point in points]
    return [(key[0], [dict(terms) for terms in key[1:]]) for key in asked], every


def is_separable(
    one: Sequence[dict[tuple[int, int], Fraction]], many: Sequence[dict[tuple[int, int], Fraction]]
) -> bool:
    """Tell whether each coordinate of a vector equals the single coordinate of a one-dimensional
    run."""
    return all(
        terms == {(q, j): value for (q, _), value in one[0].items()} for j, terms in enumerate(many)
    )


def require_apart(method: Any, rounds: int) -> None:
    """Refuse a kernel method that, in some round, treats the coordinates differently from a single
    coordinate, or whose points do not move with x_0."""
    who = f"{method.record.name} has no worst case here"
    try:
        asked, points = walk_rounds(method, rounds, 1, (0,))
        moved = lambda of: of is not None and of.get((0, 0)) == 1
        if not all(moved(one[0]) for one in (*(one for _, one in asked), *points)):
            raise NotExact("the method's points are not x_0 plus multiples of gradients")
        for d, layers in SEVERAL:
            also, there = walk_rounds(method, rounds, d, layers)
            same = [i for i, _ in asked] == [i for i, _ in also] and all(
                map(
                    is_separable,
                    [one for _, one in asked] + points,
                    [one for _, one in also] + there,
                )
            )
            if not same:
                raise NotExact(
                    f"on {d} coordinates{' in two layers' * (len(layers) > 1)} its kernels do not do "
                    "to each what they do to a single one"
                )
    except NotExact as why:
        raise NotExact(f"{who}: {why}") from None


def require_structure(method: "Callable[..., Any] | ByKernels", rounds: int) -> None:
    """Refuse a kernel method that does not have the structure that a program assumes."""
    if hasattr(method, "record"):
        require_apart(method, rounds)


def method_entries(
    method: "Callable[..., Any] | ByKernels", functions: Set[str]
) -> dict[str, dict[str, Any]]:
    """Return the entries of a document about a method that queries gradients of these functions.
    Return {} for a recursion that does not describe itself."""
    if not hasattr(method, "describe"):
        return {}
    return dict(method=method.describe(), structure=check_structure(functions))


def require_method(document: Document, method: Any) -> None:
    """Refuse a document whose queries and points differ from the queries and points of the method
    that it describes."""
    rounds, name, reads = len(document["points"]) - 1, document["method"]["name"], set()
    if method.describe() != document["method"]:
        raise InvalidInput(f"it describes {name} by other numbers than it takes here")
    require_structure(method, rounds)
    known = {
        (k, tuple(sorted((int(i), Fraction(value)) for i, value in point.items()))): q
        for q, (k, point) in enumerate(document["queries"], 1)
    }
    key = lambda terms: tuple(sorted((i, value) for i, value in terms.items() if value))

    def gradient(i: int, y: Linear) -> Linear:
        q = known.get((str(i), key(y.terms)))
        reads.add(str(i))
        if q is None:
            raise InvalidInput(f"its questions are not those of {name}, as it is here")
        return Linear({q: Fraction(1)})

    points = islice(method(Linear({0: Fraction(1)}), gradient), rounds + 1)
    for point, mine in zip(document["points"], points):
        terms = {int(i): Fraction(value) for i, value in point.items()}
        if key(terms) != key(mine.terms):
            raise InvalidInput(f"its points are not those of {name}, as it is here")
    if document["structure"] != check_structure(reads):
        raise InvalidInput(f"it says of {name} that it reads something else than it does here")
