"""A linear program that writes a polynomial as a sum of products of nonnegative factors, where one
exists (Handelman, Polya).

A term is a monomial times facts. Some terms have a further factor: the square of a binomial, or the
squared norm of a sum of two vectors. The linear program uses floats. The equations of its vertex
are solved again in fractions, and only an exact identity is returned.

The goal g >= 0 is written as s g = sum of c_k m_k f_k + rest, where s is a positive scale, each c_k
>= 0, m_k a nonnegative monomial, f_k a product of known facts, and the rest has coefficients >= 0
on nonnegative monomials. The checker multiplies out and compares; nothing of the search is trusted.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.typing import Exact, Number

if TYPE_CHECKING:
    from scipy.optimize._optimize import OptimizeResult

COLUMNS = 4000  # the most columns of a linear program
PER_SECOND = 1_000_000  # steps of work that a second of the budget buys
# All three in steps of work. START: for a linear program. BUILD: for each entry of its matrix.
# PIVOT: for each entry in each iteration.
START, BUILD, PIVOT = (3000, 9.0, 0.06)
# Efforts that are tried in turn, each as (the most facts in a product, rounds of new columns, the
# power of 1 + x + y + ... that multiplies the goal).
EFFORTS = ((1, 1, 0), (1, 2, 0), (2, 1, 0), (2, 2, 0), (1, 1, 1), (3, 1, 0), (2, 1, 2))


class Work:
    """The remaining work of a search, counted in steps rather than timed so that every machine
    finds the same proofs."""

    def __init__(self, seconds: float = math.inf) -> None:
        self.left = seconds * PER_SECOND


class Room:
    """Exponent vectors over the variables of a problem. Kind 2 means positive, 1 nonnegative, 0 of
    any sign."""

    def __init__(self, names: Any, kinds: Sequence[int]) -> None:
        self.names, self.kinds = names, kinds
        self.real = [n for n, kind in enumerate(kinds) if kind == 0]
        self.firm = [n for n, kind in enumerate(kinds) if kind == 2]
        self.soft = [n for n, kind in enumerate(kinds) if kind == 1]
        at = {name: n for n, name in enumerate(names)}
        self.gram = [n for name, n in at.items() if "." in name]
        # For each inner product <v, w> with v != w: its index, v, w, and the indices of the squared
        # norms of v and w. These three enter the squared norm of a sum of v and w.
        self.inner = [
            (n, v, w, at[f"{v}.{v}"], at[f"{w}.{w}"])
            for name, n in at.items()
            if "." in name
            for v, w in [name.split(".")]
            if v != w and {f"{v}.{v}", f"{w}.{w}"} <= set(at)
        ]

    def move_inward(
        self, poly: Mapping[tuple[tuple[str, int], ...], Any]
    ) -> dict[tuple[int, ...], Fraction]:
        """Return a polynomial {((name, power), ...): value} by exponent vectors over the room's
        variables."""
        at = {name: n for n, name in enumerate(self.names)}
        out = {}
        for monomial, value in poly.items():
            powers = [0] * len(self.names)
            for name, k in monomial:
                powers[at[name]] = k
            out[tuple(powers)] = value
        return out

    def nonnegative(self, m: Sequence[int]) -> bool:
        """Tell whether a monomial is >= 0; positive variables may have negative powers."""
        return all(m[n] >= 0 for n in self.soft) and all(
            m[n] >= 0 and m[n] % 2 == 0 for n in self.real
        )

    def positive(self, m: Sequence[int]) -> bool:
        """Tell whether a monomial is > 0: it contains positive variables only."""
        return all(m[n] == 0 for n in (*self.soft, *self.real))

    def tree(self, poly: Mapping[tuple[int, ...], Any]) -> str | list[str | list[Any]]:
        """Return the expression tree of a polynomial by exponent vectors."""
        return polynomial_tree(
            {tuple((self.names[n], k) for n, k in enumerate(m) if k): v for m, v in poly.items()}
        )


def polynomial_tree(poly: Mapping[tuple[tuple[str, int], ...], Fraction]) -> str | list[Any]:
    """Return the expression tree of a polynomial."""
    powers = lambda m: [name if k == 1 else ["^", name, k] for name, k in m]
    terms = [
        _product_of(([] if value == 1 and m else [str(value)]) + powers(m))
        for m, value in sorted(poly.items())
    ]
    return "0" if not terms else terms[0] if len(terms) == 1 else ["+", *terms]


def _product_of(factors: Sequence[str | list[int | str]]) -> str | list[Any]:
    """Return the tree of a product; a single factor stays as it is."""
    return factors[0] if len(factors) == 1 else ["*", *factors]


def shift_powers(
    poly: Mapping[tuple[int, ...], Exact], by: Sequence[int]
) -> dict[tuple[int, ...], Exact]:
    """Return a polynomial times a monomial."""
    return {tuple(a + b for a, b in zip(m, by)): value for m, value in poly.items()}


def multiply_polynomials(p: Any, q: Any) -> dict[tuple[int, ...], Exact]:
    """Return the product of two polynomials, without terms that cancel."""
    out = {}
    for m, value in p.items():
        for n, other in q.items():
            key = tuple(a + b for a, b in zip(m, n))
            out[key] = out.get(key, 0) + value * other
    return {m: value for m, value in out.items() if value}


def find_certificate(
    target: Mapping[tuple[tuple[str, int], ...], Exact],
    strict: bool,
    facts: Mapping[str, Any],
    signs: Mapping[str, int],
    efforts: Sequence[tuple[int, int, int]] = EFFORTS,
    work: Work | None = None,
) -> dict[str, Any] | None:
    """Return {"scale": ..., "terms": ...} for the checker, or None.

    The goal is `target` >= 0, or > 0 if `strict`. `facts` is {name: (polynomial, strict)}. `signs`
    is {variable: kind}. A name "v.w" is an inner product.

    Efforts are tried from the cheapest on. None means that no certificate was found within the
    efforts and the work, not that the goal is false.
    """
    work = work or Work()
    names = {name for p in (target, *(p for p, _ in facts.values())) for m in p for name, _ in m}
    names = sorted(names | {f"{v}.{v}" for name in names if "." in name for v in name.split(".")})
    room = Room(names, [signs.get(name, 0) for name in names])
    goal = room.move_inward(target)
    # `single` finds facts that state only the sign of a variable. A fact that a nonnegative
    # variable is at most 0 states more.
    single = lambda p: len(p) == 1 and sum(sum(m) for m in p) == 1 and min(p.values()) > 0
    units = {
        name: math.lcm(*(value.denominator for value in p.values()))
        for name, (p, _) in facts.items()
    }
    facts = {
        name: ({m: int(value * units[name]) for m, value in room.move_inward(p).items()}, s)
        for name, (p, s) in facts.items()
    }  # integers are faster than fractions
    facts = {
        name: (p, s) for name, (p, s) in facts.items() if not single(p) or not room.nonnegative(*p)
    }
    for depth, rounds, polya in efforts:
        scale = {(0,) * len(names): Fraction(1)}
        if polya:
            extra = {
                tuple(int(n == i) for n in range(len(names))): Fraction(1)
                for i in (*room.firm, *room.soft)
                if any(m[i] for m in goal)
            }
            for _ in range(polya):
                scale = multiply_polynomials(scale, {**extra, (0,) * len(names): Fraction(1)})
        if depth > 1 and len(facts) > 40 or depth > 2 and len(facts) > 14:
            continue
        if work.left <= 0:
            return None
        found = _attempt_sum(
            room, multiply_polynomials(goal, scale), strict, facts, depth, rounds, work
        )
        if found is not None:
            lowest, used = found
            terms = []
            for c, by, names, more in used:
                c *= math.prod(units[name] for name in names)
                terms.append(
                    dict(
                        by=room.tree(shift_powers({m: c * v for m, v in by.items()}, lowest)),
                        **({"facts": list(names)} if names else {}),
                        **(more or {}),
                    )
                )
            return dict(
                scale=room.tree(multiply_polynomials(scale, {lowest: Fraction(1)})), terms=terms
            )
    return None


def _attempt_sum(
    room: Room,
    goal: Mapping[tuple[int, ...], Any],
    strict: bool,
    facts: Mapping[str, Any],
    depth: int,
    rounds: int,
    work: Work,
) -> tuple[tuple[int, ...], list[Any]] | None:
    """Return (lowest powers, terms) of a sum found with one effort, None without any."""
    columns = _gather_columns(room, goal, facts, depth, rounds)
    work.left -= START + BUILD * sum(len(poly) for _, poly, _ in columns)
    solution = _solve_linear(
        room, goal, [poly for _, poly, _ in columns], strict, [sure for *_, sure in columns], work
    )
    if solution is None:
        return None
    left = dict(goal)
    for k, c in solution.items():
        for m, value in columns[k][1].items():
            left[m] = left.get(m, 0) - c * value
    left = {m: value for m, value in left.items() if value}
    used = [(Fraction(1), left, (), None)] if left else []
    for k, c in solution.items():
        by, names, more = columns[k][0]
        used.append((c, {by: Fraction(1)}, names, more))
    every = [goal, *(by for _, by, _, _ in used)]
    return tuple(
        max(0, -min((m[n] for p in every for m in p), default=0)) for n in range(len(room.names))
    ), used


def _gather_columns(
    room: Room,
    goal: Mapping[tuple[int, ...], Fraction],
    facts: Mapping[str, Any],
    depth: int,
    rounds: int,
) -> list[Any]:
    """Return [((monomial, names of facts, square or norm), polynomial, strict)], products that can
    cancel a negative coefficient.

    A column starts at a monomial with a coefficient to be cancelled. Each further round adds
    columns for the positive coefficients that the former columns brought. COLUMNS is the limit.
    """
    one = (0,) * len(room.names)
    degree = lambda poly: max(
        (sum(m[n] for n in room.gram) for m in poly), default=0
    )  # the degree in inner products
    most = max(map(degree, (goal, *(poly for poly, _ in facts.values()))))
    products = []
    for n in range(1, depth + 1):
        for names in combinations_with_replacement(facts, n):
            poly, sure = {one: 1}, True
            for name in names:
                poly, sure = multiply_polynomials(poly, facts[name][0]), sure and facts[name][1]
            if poly and degree(poly) <= most:
                products.append((names, poly, sure))
    firm = lambda m, goal: goal.get(m, 0) < 0 or not room.nonnegative(m)
    columns, wanted = {}, {m for m in goal if firm(m, goal)}
    done = set()
    for _ in range(rounds):
        for m in sorted(wanted - done):
            for names, poly, sure in products:
                for p, value in poly.items():
                    by = tuple(a - b for a, b in zip(m, p))
                    if (
                        room.nonnegative(by)
                        and (value < 0 or not room.nonnegative(m))
                        and (by, names) not in columns
                    ):
                        columns[by, names] = shift_powers(poly, by), sure and room.positive(by)
                        if len(columns) > COLUMNS:
                            return _list_columns(columns, [])
        done |= wanted
        wanted = {
            m
            for poly, _ in columns.values()
            for m, value in poly.items()
            if value > 0 or firm(m, goal)
        }
        wanted = {m for m in wanted if goal.get(m, 0) <= 0}
    return _list_columns(columns, _square_columns(room, goal, columns))


def _list_columns(columns: Mapping[Any, Any], squares: list[Any]) -> list[Any]:
    """Return the columns of products, followed by the columns of squares."""
    return [
        ((by, names, None), poly, sure) for (by, names), (poly, sure) in columns.items()
    ] + squares


def _square_columns(
    room: Room, goal: Mapping[tuple[int, ...], Fraction], columns: Mapping[Any, Any]
) -> list[Any]:
    """Return columns of squares of p - c q, and of squared norms of p v - c q w, with a cross term
    at a wanted monomial."""
    pool = {m: value for m, value in goal.items() if value > 0 and room.nonnegative(m)}
    for poly, _ in list(columns.values())[:400]:
        for m, value in poly.items():
            if value < 0 and room.nonnegative(m):
                pool.setdefault(m, -value)
    wanted = {m: value for m, value in goal.items() if value < 0 or not room.nonnegative(m)}
    for poly, _ in list(columns.values())[:400]:
        for m, value in poly.items():
            if not room.nonnegative(m):
                wanted.setdefault(m, -value)
    found, pool = {}, dict(list(pool.items())[:200])
    for m, value in wanted.items():
        for p, high in pool.items():
            for by, first, second, q, inner in _cross_product(room, m, p, pool):
                for ratio in _square_ratios(high, abs(value), pool[q]):
                    signed = -ratio if value < 0 else ratio
                    for sign in {signed} if room.nonnegative(m) else {ratio, -ratio}:
                        found[by, first, second, sign, inner] = _square_column(
                            room, by, first, second, Fraction(sign), inner
                        )
    return list(found.values())[:2000]


def _cross_product(
    room: Room, m: Sequence[int], p: Any, pool: dict[tuple[int, ...], Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield (by, a, b, q, inner product). Here m, p, q equal by a b, by a^2, by b^2, or these times
    <v, w>, |v|^2, |w|^2."""
    for inner in (None, *(each for each in room.inner if m[each[0]])):
        without = lambda powers, at: tuple(k - (n == at) for n, k in enumerate(powers))
        middle, one = (without(m, inner[0]), without(p, inner[3])) if inner else (m, p)
        other = tuple(2 * a - b for a, b in zip(middle, one))
        q = tuple(k + (n == inner[4]) for n, k in enumerate(other)) if inner else other
        if q in pool and (inner or p < q) and not any((a - b) % 2 for a, b in zip(one, other)):
            by = tuple(map(min, one, other))
            if room.nonnegative(by):
                yield (
                    by,
                    *(tuple((a - b) // 2 for a, b in zip(part, by)) for part in (one, other)),
                    q,
                    inner,
                )


def _square_column(
    room: Any, by: Sequence[Any], a: Sequence[Any], b: Sequence[Any], c: Number, inner: Any
) -> tuple[Any, ...]:
    """Return the column of by (a + c b)^2, or of by |a v + c b w|^2."""
    if not inner:
        square = {a: Fraction(1), b: c}
        return (
            (by, (), dict(square=room.tree(square))),
            shift_powers(multiply_polynomials(square, square), by),
            False,
        )
    between, v, w, *norms = inner
    poly = {}
    for at, powers, value in (
        (norms[0], (a, a), 1),
        (between, (a, b), 2 * c),
        (norms[1], (b, b), c * c),
    ):
        poly[tuple(i + j + k + (n == at) for n, (i, j, k) in enumerate(zip(by, *powers)))] = (
            Fraction(value)
        )
    return (
        (by, (), dict(gram=[{v: room.tree({a: Fraction(1)}), w: room.tree({b: c})}])),
        poly,
        False,
    )


def _square_ratios(high: Exact, cross: Exact, low: Exact) -> list[Fraction]:
    """Return candidates for c in (p - c q)^2, exact where the coefficients form a square."""
    values = {
        Fraction(1),
        Fraction(1, 2),
        Fraction(2),
        Fraction(cross) / (2 * high),
        Fraction(2 * low) / cross,
    }
    root = (low / high) ** 0.5 if high > 0 and low > 0 else 0.0
    values.add(Fraction(root).limit_denominator(1000))
    return sorted(value for value in values if value > 0)


def _solve_linear(
    room: Room,
    goal: Mapping[tuple[int, ...], Fraction],
    columns: Sequence[dict[tuple[int, ...], Exact]],
    strict: bool,
    sure: Sequence[bool],
    work: Work,
) -> dict[int, Fraction] | None:
    """Return {column: coefficient > 0} with goal - sum >= 0 coefficient by coefficient in exact
    arithmetic, or None if there is none.

    Rows are monomials: equations for monomials of any sign, inequalities for nonnegative ones.
    Columns are scaled to largest coefficient 1 for the solver. A strict goal is tried again with
    the strictly positive terms as the objective.
    """
    rows = {m: n for n, m in enumerate(sorted({*goal, *(m for poly in columns for m in poly)}))}
    equal = np.array([not room.nonnegative(m) for m in rows], dtype=bool)
    b = np.array([float(goal.get(m, 0)) for m in rows])
    if not columns:  # decided in fractions, since floats may lose tiny coefficients
        good = all(
            goal.get(m, 0) == 0 if equal[n] else goal.get(m, 0) >= 0 for m, n in rows.items()
        )
        return {} if good and (not strict or _is_sure(room, goal)) else None
    if _is_hopeless(room, goal, columns):
        _spend_pivots(sum(map(len, columns)), 0, work)
        return None
    weight = [max(abs(float(value)) for value in poly.values()) for poly in columns]
    entries = [
        (rows[m], k, float(value) / weight[k])
        for k, poly in enumerate(columns)
        for m, value in poly.items()
    ]
    i, j, v = map(np.array, zip(*entries))
    from scipy.sparse import coo_array  # imported here: slow, rarely needed

    matrix = coo_array((v, (i, j)), shape=(len(rows), len(columns))).tocsr()
    unit = max(1e-300, float(np.max(np.abs(b), initial=0.0))) if len(b) else 1.0
    cost = np.array([1.0 + 0.1 * len(poly) for poly in columns])
    ask = dict(
        A_ub=matrix[~equal] if np.any(~equal) else None,
        b_ub=b[~equal] / unit if np.any(~equal) else None,
        A_eq=matrix[equal] if np.any(equal) else None,
        b_eq=b[equal] / unit if np.any(equal) else None,
        method="highs-ds",
        options=dict(maxiter=int(max(200, min(20_000, work.left / (PIVOT * len(entries)))))),
    )
    result = _solve_program(cost, ask, len(entries), work)
    if result.x is None or result.status != 0:
        return None
    exact = _exact_vertex(rows, goal, columns, result.x * unit / weight, equal)
    if exact is not None and strict and not _shows_more(room, goal, columns, exact, sure):
        # Maximise the coefficients of terms that are strictly positive.
        firm = np.array([room.positive(m) for m in rows]) & ~equal
        gain = -np.asarray(matrix[firm].sum(axis=0)).ravel() + 1.0 * np.array(sure)
        result = _solve_program(-gain, {**ask, "bounds": (0, 1e3)}, len(entries), work)
        exact = (
            None
            if result.x is None
            else _exact_vertex(rows, goal, columns, result.x * unit / weight, equal)
        )
        if exact is not None and not _shows_more(room, goal, columns, exact, sure):
            return None
    return exact


def _is_hopeless(
    room: Room,
    goal: Mapping[tuple[int, ...], Fraction],
    columns: Sequence[dict[tuple[int, ...], Exact]],
) -> bool:
    """Tell whether signs alone exclude a solution: no column may add to a coefficient that no
    remaining column can cancel. The test is faster than a linear program and settles most programs.
    """
    # `helps` maps a row to the columns that move the row towards the goal, `hurts` to the columns
    # that move the row away from the goal.
    helps, hurts = {}, {}
    for m in goal.keys() | {m for poly in columns for m in poly}:
        helps[m, 1], hurts[m, 1] = set(), set()
        if not room.nonnegative(m):
            helps[m, -1], hurts[m, -1] = set(), set()
    for k, poly in enumerate(columns):
        for m, value in poly.items():
            (helps if value < 0 else hurts)[m, 1].add(k)
            if (m, -1) in helps:
                (hurts if value < 0 else helps)[m, -1].add(k)
    needs = {(m, way): way * goal.get(m, 0) < 0 for m, way in helps}
    waiting = list(helps)
    while waiting:
        row = waiting.pop()
        if helps[row]:
            continue
        if needs[row]:
            return True
        if row[1] * goal.get(row[0], 0) > 0:
            continue
        for k in list(hurts[row]):  # a column that leaves the row below 0
            for m in columns[k]:
                for way in (1, -1):
                    if (m, way) in helps:
                        hurts[m, way].discard(k)
                        if k in helps[m, way]:
                            helps[m, way].remove(k)
                            waiting.append((m, way))
    return False


def _solve_program(
    cost: np.ndarray, ask: Mapping[str, Any], entries: int, work: Work
) -> "OptimizeResult":
    """Solve a linear program in floats, and charge its iterations to the work."""
    from scipy.optimize import linprog

    result = linprog(cost, **ask)
    _spend_pivots(entries, result.nit, work)
    return result


def _spend_pivots(entries: int, iterations: int, work: Work) -> None:
    """Charge a linear program's start, entries and iterations to the work."""
    work.left -= START + entries * (1.0 + PIVOT * iterations)


def _is_sure(room: Room, left: Mapping[tuple[int, ...], Fraction]) -> bool:
    """Tell whether some positive term of a polynomial is strictly positive."""
    return any(value > 0 and room.positive(m) for m, value in left.items())


def _shows_more(
    room: Room,
    goal: Mapping[tuple[int, ...], Fraction],
    columns: Sequence[Any],
    exact: Mapping[int, Fraction],
    sure: Sequence[bool],
) -> bool:
    """Tell whether an exact solution shows goal > 0, by a strict column or a strict remainder."""
    left = dict(goal)
    for k, c in exact.items():
        for m, value in columns[k].items():
            left[m] = left.get(m, 0) - c * value
    return any(sure[k] for k in exact) or _is_sure(room, left)


def _exact_vertex(
    rows: Mapping[tuple[int, ...], int],
    goal: Mapping[tuple[int, ...], Fraction],
    columns: Sequence[dict[tuple[int, ...], Exact]],
    x: np.ndarray,
    equal: np.ndarray,
) -> dict[int, Fraction] | None:
    """Return the vertex near a float solution in fractions, or None unless it solves the program.

    The columns in use and the rows that are nearly equations are solved in fractions; the result
    counts only if every row holds exactly.
    """
    used = [k for k in range(len(columns)) if x[k] > 1e-9 * max(1.0, float(np.max(x)))]
    entries = {}
    for k in used:
        for m, value in columns[k].items():
            entries.setdefault(m, {})[k] = value
    near = {
        m: abs(sum(float(value) * x[k] for k, value in row.items()) - float(goal.get(m, 0)))
        <= 1e-6
        * (abs(float(goal.get(m, 0))) + sum(abs(float(value) * x[k]) for k, value in row.items()))
        for m, row in entries.items()
    }
    found = _eliminate_unknowns(
        [({**entries[m]}, Fraction(goal.get(m, 0))) for m in entries if near[m]]
    )
    if found is None:
        return None
    solved, free = found
    values = {k: Fraction(float(x[k])).limit_denominator(10**6) for k in used if k not in solved}
    for k, (row, constant) in reversed(list(solved.items())):
        values[k] = constant - sum(value * values[other] for other, value in row.items())
    if any(value < 0 for value in values.values()):
        return None
    for m, n in rows.items():
        left = Fraction(goal.get(m, 0)) - sum(
            value * values[k] for k, value in entries.get(m, {}).items()
        )
        if left < 0 or (left and equal[n]):
            return None
    return {k: value for k, value in values.items() if value}


def _eliminate_unknowns(
    equations: Sequence[tuple[dict[int, Exact], Fraction]],
) -> tuple[Any, None] | None:
    """Solve equations by Gaussian elimination: return {unknown: (row of later unknowns, constant)},
    or None for a contradiction."""
    solved = {}
    for row, constant in equations:
        for k, (other, value) in solved.items():
            if k in row:
                factor = row.pop(k)
                for n, entry in other.items():
                    row[n] = row.get(n, 0) - factor * entry
                constant -= factor * value
        row = {k: value for k, value in row.items() if value}
        if not row:
            if constant:
                return None
            continue
        k = min(row)
        pivot = Fraction(row.pop(k))
        solved[k] = {n: value / pivot for n, value in row.items()}, constant / pivot
    return solved, None
