"""The symmetry of a worst case: clients that a method treats alike are interchangeable, so that the
program need not distinguish them.

The program is convex, so the average of a solution over all permutations of the clients is again a
solution. Multipliers and values are then equal along orbits. A quadratic form is semidefinite if it
is semidefinite on two kinds of vectors: those in which the clients agree, and those in which two
clients are opposite. Permutations do not mix these two kinds. The size of the program does not
depend on N.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.certificates.check_worst_case import STAR, Reading


@dataclass(frozen=True)
class Symmetry:
    """The orbits of a worst case under permutations of its clients, and the blocks of its Gram
    matrix."""

    columns: list[Any]  # orbits of conditions and measures, each a list of names
    values: list[Any]  # orbits of queries
    blocks: list[Any]  # {vector: (coordinate, sign)} each; all other vectors are zero
    kin: dict[Any, Any]  # {vector: (client, coordinate)} for vectors of interchangeable clients
    N: int

    def lift_grams(self, reading: Reading, grams: Sequence[list[list[Fraction]]]) -> list[Any]:
        """Return the Gram matrix of all vectors: the mean over permutations of the Gram matrices of
        the blocks."""
        together, whole = self.blocks[0], []
        for v in reading.vectors():
            row = []
            for w in reading.vectors():
                value = 0
                if v in together and w in together:
                    value += grams[0][together[v][0]][together[w][0]]
                if v in self.kin and w in self.kin:
                    (i, p), (j, q) = self.kin[v], self.kin[w]
                    value += grams[1][p][q] * (
                        Fraction(2 * (i == j), self.N - 1) - Fraction(2, self.N * (self.N - 1))
                    )
                row.append(value)
            whole.append(row)
        return whole


def find_symmetry(reading: Reading, alike: bool = True) -> Symmetry:
    """Return the Symmetry of a Reading, the trivial one where `alike` is false or the clients are
    not interchangeable."""
    names, clients = [*reading.conditions, *reading.measures], reading.clients
    questions = [str(q) for q in range(1, len(reading.queries) + 1)]
    swaps = [(a, b, swap_functions(reading, a, b)) for a, b in zip(clients, clients[1:])]
    if not alike or not swaps or not all(move for _, _, move in swaps):
        whole = {v: (n, 1) for n, v in enumerate(reading.vectors())}
        return Symmetry([[name] for name in names], [[q] for q in questions], [whole], {}, 1)
    kin, together = difference_coordinates(reading, clients)
    opposite = {
        v: (p, 1 if k == clients[0] else -1) for v, (k, p) in kin.items() if k in clients[:2]
    }
    return Symmetry(
        find_orbits(
            names, [lambda name, swap=swap: swap_image(reading, name, *swap) for swap in swaps]
        ),
        find_orbits(questions, [move.get for _, _, move in swaps]),
        [together, opposite],
        kin,
        len(clients),
    )


def swap_functions(reading: Reading, a: str, b: str) -> dict[str, str] | None:
    """Return {query: query after swapping two functions}, or None where the method distinguishes
    the functions."""
    if reading.functions[a] != reading.functions[b] or len(reading.samples[a]) != len(
        reading.samples[b]
    ):
        return None
    move = {q: q for k, of in reading.samples.items() if k not in (a, b) for q in of if q != STAR}
    for p, q in zip(reading.samples[a], reading.samples[b]):
        if p != STAR:
            move[p], move[q] = q, p
    turned = lambda point: reading.key(
        {int(move[str(v)]) if v else 0: value for v, value in point.items()}
    )
    alike = all(
        turned(point) == reading.key(reading.queries[int(move[str(q)]) - 1][1])
        for q, (_, point) in enumerate(reading.queries, 1)
    )
    return (
        move
        if alike and all(turned(point) == reading.key(point) for point in reading.points)
        else None
    )


def swap_image(reading: Reading, name: str, a: str, b: str, move: Mapping[str, str]) -> str:
    """Return the name of a condition or measure after swapping a and b."""
    kind, *at = name.split(":")
    if kind == "below":
        point = reading.key(reading.queries[int(at[0]) - 1][1])
        return f"below:{min(int(move[str(reading.at[k, point])]) for k in reading.weights)}"
    if kind in reading.functions:
        return ":".join([{a: b, b: a}.get(kind, kind), *(move.get(q, q) for q in at)])
    return name


def difference_coordinates(
    reading: Reading, clients: Sequence[str]
) -> tuple[dict[int, tuple[str, int]], dict[int, tuple[int, int]]]:
    """Return ({vector: (client, coordinate)} for vectors that differ between clients, the block in
    which clients agree).

    If only clients have weight, their gradients at x_star sum to zero. So gradients that are equal
    vanish.
    """
    owner, kin, together, spots = {}, {}, {}, {}
    for k in clients:
        of = [q for q in reading.samples[k] if q != STAR]
        owner.update({int(q): (k, p) for p, q in enumerate(of)})
        if len(reading.stars.get(k, ())) == 1:  # the first star gradient is minus the others
            owner[next(iter(reading.stars[k]))] = k, len(of)
    first = next(iter(reading.weights))
    for v in reading.vectors():
        star = v > len(reading.queries)
        if v in owner and (not star or reading.stars[owner[v][0]] == {v: 1}):
            kin[v] = owner[v]
        if not (star and v in kin and first in clients):
            together[v] = spots.setdefault(("kin", kin[v][1]) if v in kin else v, len(spots)), 1
    return kin, together


def find_orbits(things: Sequence[str], images: Sequence[Callable[..., Any]]) -> list[list[str]]:
    """Return the orbits of names under maps, each list in the order in which its names were
    reached."""
    found, seen = [], set()
    for thing in things:
        if thing not in seen:
            orbit, seen = [thing], seen | {thing}
            for other in orbit:
                fresh = {image(other) for image in images} - seen
                seen |= fresh
                orbit += sorted(fresh)
            found.append(orbit)
    return found
