"""A solver that finds the worst case in floats, then makes both its bound and its instance exact in
fractions.

The dual asks for multipliers >= 0 of least cost for which the function values cancel and a
quadratic form stays semidefinite. The values cancel exactly by linear algebra in fractions. A step
towards a solution well inside the constraints repairs the errors of rounding. Simple fractions are
used where they suffice, and the bound is then often the worst case itself. The primal solution, an
instance, is treated in the same way.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fedtheory.certificates.check_worst_case import (
    Reading,
    add_sums,
    inner_product,
    is_semidefinite,
)
from fedtheory.errors import FedtheoryError, NotExact
from fedtheory.proofs.worstcase import rounding, symmetry
from fedtheory.proofs.worstcase.rounding import (
    largest_step,
    mix_lists,
    next_power,
    round_fine,
    square_matrix,
    visible_coordinates,
)
from fedtheory.typing import Number

if TYPE_CHECKING:
    from scipy.sparse._csc import csc_matrix

# Largest denominators of simple fractions, tried in turn: closed forms might have such
# denominators.
SIMPLE = (12, 120, 1200, 12000)
# Margins to every edge at which the solver computes solutions well inside.
INSIDE = (2.0**-8, 2.0**-14, 2.0**-20)


def solve_program(reading: Reading) -> tuple[str, dict[str, Fraction], Fraction, Any]:
    """Return (status, multipliers, bound, instance or None) of a Reading, all except the status in
    fractions.

    The bound is the sum of multipliers times the constants of their conditions. Raises NotExact
    where the solver fails, or where no fractions near its floats are a proof.
    """
    program = Program(reading)
    status, multipliers, values, grams = program.solved(program.cost)
    if status != "Solved":
        raise NotExact(
            f"the solver says {status}, so no worst case is claimed; a worst case is infinite where nothing bounds "
            "the start or, with local steps, the dissimilarity"
        )
    found = program.proof(multipliers)
    if found is None:
        raise NotExact("no multipliers in fractions prove the solver's bound")
    bound = sum(value * line[0] for value, line in zip(found, program.lines)) / program.top
    named = {
        name: value * row / program.top
        for value, row, orbit in zip(found, program.rows, program.names)
        for name in orbit
        if value
    }
    return status, named, bound, program.instance(values, grams) if is_sufficient(reading) else None


def is_sufficient(reading: Reading) -> bool:
    """Tell whether a Gram matrix that meets the conditions belongs to an instance of the class.

    This holds for convex weighted functions with a minimiser, and for a single function with mu <
    0.
    """
    kinds = [reading.functions[k] for k in reading.weights]
    return (
        all(mu >= 0 for mu, L, w in kinds)
        if reading.minimiser
        else len(reading.functions) == 1 and kinds[0][0] < 0
    )


def triangle_indices(r: int) -> tuple[np.ndarray, ...]:
    """Return the row and column indices of the upper triangle, by columns, of a matrix of size r."""
    return np.tril_indices(r)[::-1]


class Program:
    """The conditions and measures of a worst case, one per orbit, in units in which the floats are
    of order one.

    `lines[n]` is (constant, {value: coefficient}, [{(p, q): coefficient} for each block]). A
    condition says that its line is >= 0.
    """

    def __init__(self, reading: Reading, alike: bool = True) -> None:
        self.reading, self.symmetry = reading, symmetry.find_symmetry(reading, alike)
        self.names = self.symmetry.columns
        L = next_power(max(L for _, L, _ in reading.functions.values()))
        x = self.length(L)
        self.unit = lambda v: x if v == 0 else L * x
        self.value_unit = L * x**2
        self.sizes = [
            1 + max((p for p, _ in block.values()), default=-1) for block in self.symmetry.blocks
        ]
        self.value_of = {int(q): n for n, orbit in enumerate(self.symmetry.values) for q in orbit}
        self.is_measure = np.array([orbit[0] in reading.measures for orbit in self.names])
        known = {**reading.conditions, **reading.measures}
        self.tilt = {
            q: inner_product(reading.stars.get(k, {}), point)
            for q, (k, point) in enumerate(reading.queries, 1)
        }
        lines = [self.line(add_sums(*((1, known[name]) for name in orbit))) for orbit in self.names]
        size = lambda line: max(
            map(abs, (*line[1].values(), *(v for block in line[2] for v in block.values()))),
            default=1,
        )
        rows = [1 / next_power(size(line)) for line in lines]
        self.top = max(row for row, measure in zip(rows, self.is_measure) if measure)
        self.rows = [self.top if measure else row for row, measure in zip(rows, self.is_measure)]
        times = lambda row, p: {key: row * value for key, value in p.items()}
        self.lines = [
            (row * constant, times(row, values), [times(row, block) for block in blocks])
            for row, (constant, values, blocks) in zip(self.rows, lines)
        ]
        self.equations = [
            {**values, **({len(self.symmetry.values): Fraction(1)} if measure else {})}
            for (_, values, _), measure in zip(self.lines, self.is_measure)
        ]
        self.floats()

    def length(self, L: Number) -> Fraction:
        """Return the unit of length, taken from the first bound that is not zero."""
        for name, t, bound in self.reading.assumes:
            if Fraction(bound):
                return next_power(
                    np.sqrt(float(Fraction(bound) / {"sq_distance": 1, "loss": L}.get(name, L**2)))
                )
        return Fraction(1)

    def line(
        self, form: Mapping[tuple[int, ...], Fraction]
    ) -> tuple[Fraction, dict[int, Fraction], Any]:
        """Return (constant, value coefficients, Gram blocks) of a form. Values are taken as f_k(x)
        - <grad f_k(x_star), x>, which does not change when a linear term moves from one function to
        another."""
        form = add_sums(
            (1, form), *((value, self.tilt[key[0]]) for key, value in form.items() if len(key) == 1)
        )
        constant, values, blocks = form.get((), Fraction(0)), {}, [{} for _ in self.sizes]
        for key, value in form.items():
            if len(key) == 1:
                at = self.value_of[key[0]]
                values[at] = values.get(at, 0) + value * self.value_unit
            elif key:
                value = value * self.unit(key[0]) * self.unit(key[1])
                for into, block in zip(blocks, self.symmetry.blocks):
                    if key[0] in block and key[1] in block:
                        (p, s), (q, t) = block[key[0]], block[key[1]]
                        at = min(p, q), max(p, q)
                        into[at] = into.get(at, 0) + s * t * value
        return constant, values, blocks

    def floats(self) -> None:
        """Set the matrices of the program in floats, in the packed form that Clarabel expects."""

        def matrix(height: int, columns: Sequence[dict[int, Number]]) -> "csc_matrix":
            at = [
                (i, n, float(value))
                for n, column in enumerate(columns)
                for i, value in column.items()
            ]
            i, n, value = zip(*at) if at else ((), (), ())
            return sparse.csc_matrix((value, (i, n)), shape=(height, len(columns)))

        packed = lambda block: {
            q * (q + 1) // 2 + p: float(value) * (1 if p == q else np.sqrt(0.5))
            for (p, q), value in block.items()
        }
        self.cost = np.array([float(line[0]) for line in self.lines])
        self.E = matrix(len(self.symmetry.values) + 1, self.equations)
        whole = [
            matrix(r * (r + 1) // 2, [packed(line[2][b]) for line in self.lines])
            for b, r in enumerate(self.sizes)
        ]
        self.kept = [
            visible_coordinates([line[2][b] for line in self.lines], r)
            for b, r in enumerate(self.sizes)
        ]
        where = [
            np.array([q * (q + 1) // 2 + p for q in kept for p in kept if p <= q], int)
            for kept in self.kept
        ]
        self.Q = [Q[at] for Q, at in zip(whole, where)]
        self.eye = [np.eye(len(kept))[triangle_indices(len(kept))] for kept in self.kept]
        self.traces = sum(Q.T @ eye for Q, eye in zip(self.Q, self.eye))
        self.e = np.zeros(self.E.shape[0])
        self.e[-1] = 1.0

    def solved(
        self,
        cost: np.ndarray,
        inside: float = 0.0,
        among: np.ndarray | slice = slice(None),
        trace: bool = False,
    ) -> tuple[str, np.ndarray, np.ndarray, list[np.ndarray]]:
        """Return (status, multipliers at least `inside` away from every edge, values and Gram
        matrices of the primal).

        With `trace`, the primal minimises the trace of the Gram matrix, and the measures become
        conditions.
        """
        try:
            import clarabel
        except ImportError:
            raise FedtheoryError(
                "worst cases need clarabel, which fedtheory[pep] brings along"
            ) from None
        moved = np.full(len(self.names), inside)
        rows = slice(len(self.e) - trace)
        b = [
            (self.e - self.E @ moved)[rows],
            *((trace - inside) * eye - Q @ moved for Q, eye in zip(self.Q, self.eye)),
        ]
        E, Qs, cost = self.E[rows][:, among], [Q[:, among] for Q in self.Q], cost[among]
        m, n = E.shape
        b.insert(1, np.zeros(n))
        A = sparse.vstack([E, -sparse.identity(n), *Qs], format="csc")
        cones = [
            clarabel.ZeroConeT(m),
            clarabel.NonnegativeConeT(n),
            *(clarabel.PSDTriangleConeT(len(kept)) for kept in self.kept),
        ]
        for tight in (1e-11, 1e-10, 1e-9, 1e-8):
            settings = clarabel.DefaultSettings()
            settings.verbose, settings.max_threads = False, 1
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tight
            answer = clarabel.DefaultSolver(
                sparse.csc_matrix((n, n)), cost, A, np.concatenate(b), cones, settings
            ).solve()
            if str(answer.status) in ("Solved", "PrimalInfeasible"):
                break
        z, at, grams = np.array(answer.z), m + n, []
        for r, kept in zip(self.sizes, self.kept):
            half, size = np.zeros((r, r)), len(kept) * (len(kept) + 1) // 2
            half[tuple(np.array(kept, int)[i] for i in triangle_indices(len(kept)))] = z[
                at : at + size
            ]
            grams.append((half + half.T) / np.where(np.eye(r) > 0, 2.0, np.sqrt(2.0)))
            at += size
        found = np.zeros(len(self.names))
        found[among] = answer.x
        return str(answer.status), found + inside, z[: len(self.symmetry.values)], grams

    def proof(self, multipliers: np.ndarray) -> list[Fraction]:
        """Return multipliers in fractions, near the given ones, that prove a bound, or None."""
        best = self.cost @ multipliers
        good = lambda found: (
            self.cost @ np.array(found, float) <= best + 1e-9 * abs(best) and self.is_proof(found)
        )
        for candidate in (multipliers, *self.sparse_multipliers()):
            for d in SIMPLE:
                found = self.balance_multipliers(
                    [Fraction(float(value)).limit_denominator(d) for value in candidate]
                )
                if found and good(found):
                    return found
        near = self.balance_multipliers(list(map(round_fine, multipliers)))
        proofs = []
        for inside in INSIDE:
            status, inner, _, _ = self.solved(self.cost, inside)
            inner = status == "Solved" and self.balance_multipliers(list(map(round_fine, inner)))
            if near and inner:
                t = largest_step(
                    near, inner, self.semidefinite_forms(near), self.semidefinite_forms(inner)
                )
                proofs += [] if t is None else [mix_lists(t, near, inner)]
        return min(
            proofs,
            key=lambda found: sum(v * line[0] for v, line in zip(found, self.lines)),
            default=None,
        )

    def sparse_multipliers(self) -> list[np.ndarray]:
        """Return a list of multipliers of the same cost that use few conditions, empty if none are
        found. Such multipliers may be unique, and simple."""
        _, light, _, _ = self.solved(self.cost + 1e-5)
        status, found, _, _ = self.solved(
            self.cost, among=np.flatnonzero(light > 1e-2 * light.max())
        )
        return [found] if status == "Solved" else []

    def balance_multipliers(self, multipliers: Sequence[Fraction]) -> list[Fraction] | None:
        """Return multipliers near the given ones for which the function values cancel exactly, or
        None."""
        return rounding.balance_multipliers(multipliers, self.equations, len(self.symmetry.values))

    def semidefinite_forms(self, multipliers: Any) -> list[list[list[Fraction]]]:
        """Return the forms that must be semidefinite."""
        forms = [
            add_sums(
                *((-value, line[2][b]) for value, line in zip(multipliers, self.lines) if value)
            )
            for b in range(len(self.sizes))
        ]
        return [square_matrix(form, r) for form, r in zip(forms, self.sizes)]

    def is_proof(self, multipliers: Sequence[Fraction]) -> bool:
        """Tell whether multipliers are nonnegative and all forms that they leave are
        semidefinite."""
        return all(value >= 0 for value in multipliers) and all(
            map(is_semidefinite, self.semidefinite_forms(multipliers))
        )

    def instance(self, values: np.ndarray, grams: Sequence[np.ndarray]) -> dict[str, Any] | None:
        """Return, as a document, a Gram matrix and values in fractions that meet every condition,
        or None if none are found."""
        best = min(
            self.at(line, values, grams)
            for line, measure in zip(self.lines, self.is_measure)
            if measure
        )
        each = lambda turn, values, grams: (
            [turn(float(v)) for v in values],
            [[[turn(float(v)) for v in row] for row in gram] for gram in grams],
        )
        for d in SIMPLE:
            found = each(lambda v: Fraction(v).limit_denominator(d), values, grams)
            if self.meets_conditions(*found) and self.least(*found) >= best - 1e-9 * abs(best):
                return self.to_document(*found)
        near, instances = each(round_fine, values, grams), []
        for inside in (
            INSIDE
        ):  # conditions hold with a margin, and the Gram matrix is `inside` away from the edge
            status, _, values, grams = self.solved(
                self.cost + inside * (self.traces - ~self.is_measure)
            )
            inner = each(
                round_fine,
                values,
                [
                    gram + inside * np.diag(np.isin(np.arange(len(gram)), kept))
                    for gram, kept in zip(grams, self.kept)
                ],
            )
            t = (
                largest_step(self.slack_values(*near), self.slack_values(*inner), near[1], inner[1])
                if status == "Solved"
                else None
            )
            instances += [] if t is None else [mix_lists(t, near, inner)]
        return (
            self.to_document(*max(instances, key=lambda found: self.least(*found)))
            if instances
            else None
        )

    def smallest(self, least: Fraction) -> Any:
        """Return in floats (Gram matrix, values) of least trace among all whose measures reach
        `least`, or None."""
        cost = self.cost - float(least * self.top) * self.is_measure
        status, _, values, grams = self.solved(cost, trace=True)
        return self.whole(values, grams) if status == "Solved" else None

    @staticmethod
    def at(
        line: tuple[Fraction, dict[int, Fraction], Any],
        values: np.ndarray | Sequence[Fraction],
        grams: Sequence[np.ndarray | list[list[Fraction]]],
    ) -> Number:
        """Return the value of a line at function values and Gram matrices."""
        constant, linear, blocks = line
        return (
            constant
            + sum(c * values[n] for n, c in linear.items())
            + sum(
                c * gram[p][q] for block, gram in zip(blocks, grams) for (p, q), c in block.items()
            )
        )

    def slack_values(
        self, values: Sequence[Fraction], grams: Sequence[list[list[Fraction]]]
    ) -> list[Fraction]:
        """Return the values of all conditions, without the measures."""
        return [
            self.at(line, values, grams)
            for line, measure in zip(self.lines, self.is_measure)
            if not measure
        ]

    def meets_conditions(
        self, values: Sequence[Fraction], grams: Sequence[list[list[Fraction]]]
    ) -> bool:
        """Tell whether all conditions are nonnegative and all Gram matrices semidefinite."""
        return all(slack >= 0 for slack in self.slack_values(values, grams)) and all(
            map(is_semidefinite, grams)
        )

    def least(self, values: Sequence[Fraction], grams: Sequence[list[list[Fraction]]]) -> Fraction:
        """Return the smallest of the measures, which an instance therefore reaches."""
        return min(
            self.at(line, values, grams)
            for line, measure in zip(self.lines, self.is_measure)
            if measure
        )

    def whole(
        self, values: Any, grams: Sequence[Any]
    ) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return (Gram matrix of all vectors, values) in original units, expanded from orbits to
        single vectors and queries."""
        vectors = self.reading.vectors()
        gram = {
            (v, w): value * self.unit(v) * self.unit(w)
            for v, row in zip(vectors, self.symmetry.lift_grams(self.reading, grams))
            for w, value in zip(vectors, row)
        }
        found = [
            values[self.value_of[q]] * self.value_unit
            + sum(c * gram[key] for key, c in self.tilt[q].items())
            for q in range(1, len(self.reading.queries) + 1)
        ]
        return [[gram[v, w] for w in vectors] for v in vectors], found

    def to_document(
        self, values: Sequence[Fraction], grams: Sequence[list[list[Fraction]]]
    ) -> dict[str, Any]:
        gram, found = self.whole(values, grams)
        return {
            "least": str(self.least(values, grams) / self.top),
            "values": list(map(str, found)),
            "gram": [list(map(str, row)) for row in gram],
        }
