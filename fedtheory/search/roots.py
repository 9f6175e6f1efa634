"""Numbers at which a line about numbers alone may fail and that no draw finds: consecutive counts,
and roots of the difference of its sides.

The points are the zeros of the difference of the two sides and of its derivatives, of denominators,
and of the expressions in absolute values, maxima and cases. Points between two zeros are added.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice, pairwise, product
from typing import Any

import numpy as np
import sympy

from fedtheory import arithmetic
from fedtheory.arithmetic.operations import Interval, Many, ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.search.objective import EXACT, Answer, Target
from fedtheory.search.optimizer import BATCH, ShapeSearch, search_at
from fedtheory.search.rational_points import Point
from fedtheory.search.tightness_score import OVER
from fedtheory.typing import Number

# COUNTED: the largest value of a count that is enumerated. GRID: the largest number of combinations
# of counts that is enumerated.
COUNTED, GRID = 100, 10_000
ROWS = 4  # draws of the real numbers for each combination of counts
# Combinations of counts that are evaluated exactly: so many of the worst, and so many of the
# smallest that look false.
ASKED = 12
PIECES = 16  # choices of the pieces of absolute values and maxima
OTHERS = 6  # rows of values of the other symbols for which the roots in one symbol are computed
# FEWEST + EACH * seconds limits both the polynomials whose roots are computed and the points that
# are evaluated. DEGREE: the largest degree of such a polynomial.
FEWEST, EACH, DEGREE = 60, 60, 40
BITS = 400  # an enclosure of an irrational root is at most 2^-BITS wide
# Simple values of the other symbols, from which half of these rows are made.
SIMPLE = tuple(Fraction(n) for n in ("1", "2", "1/2", "0", "3", "-1", "1/3", "5", "-2", "10"))


def points_at_roots(target: Target, seed: int, seconds: float) -> Iterator[Point]:
    """Yield Points of counts and then of reals that random draws do not find."""
    key = np.random.SeedSequence([seed, target.line]).generate_state(2, np.uint64)
    most = FEWEST + int(EACH * seconds)
    yield from count_points(target, key)
    yield from islice(root_points(target, key, most), most)


def count_points(target: Target, key: np.ndarray | Sequence[int]) -> Iterator[Point]:
    """Yield Points of the counts at which a line looks worst in floats. Where there are few counts,
    all counts up to a hundred are examined."""
    if not target.counts:
        return
    side = min(COUNTED, max(2, math.floor(GRID ** (1 / len(target.counts)) + 1e-9)))
    grid = np.array(list(product(range(1, side + 1), repeat=len(target.counts))))
    grid = np.repeat(grid, ROWS if target.reals else 1, axis=0)
    generator = np.random.Generator(np.random.Philox(key=key))
    at = {name: Many(grid[:, n].astype(float)) for n, name in enumerate(target.counts)}
    hunt = ShapeSearch(target, {}, at, generator)
    rows, rates = hunt.rate_points(hunt.draw(len(grid)))
    worst = rates > OVER
    if target.strict:  # equality violates a strict line
        worst |= abs(rates - 1.0) <= OVER - 1.0
    # Among equal ratios, the smallest counts come first.
    high = np.flatnonzero(worst)
    order = high[np.lexsort((grid[high].sum(axis=1), -np.minimum(rates[high], 1e9)))]
    small = high[np.argsort(grid[high].sum(axis=1), kind="stable")]
    for n in dict.fromkeys(x for both in zip(small[:ASKED], order[:ASKED]) for x in both):
        here = search_at(target, {}, dict(zip(target.counts, map(int, grid[n]))), key)
        if (point := Point.near(here, rows[n])) is not None:
            yield point


def root_points(target: Target, key: np.ndarray, left: int) -> Iterator[Point]:
    """Yield Points at roots of a line's difference and of its parts, and between these roots."""
    gap, symbols = side_difference(target)
    exprs = list(islice(zero_parts(gap), 3 * PIECES))
    seen = set()
    for row in partial_rows(target, key):
        for symbol in symbols:
            fixed = {s: _as_sympy(row[s.name]) for s in symbols if s != symbol}
            found = set()
            for expr in exprs:
                if symbol in expr.free_symbols and left > 0:
                    left -= 1
                    found |= set(real_zeros(expr.xreplace(fixed), symbol))
            for value in rational_between(found):
                point = _point_of_numbers(target, {**row, symbol.name: value}, key)
                name = point and (*point.hunt.numbers.values(), *map(str, point.numbers.values()))
                if point is not None and name not in seen:
                    seen.add(name)
                    yield point
        if left <= 0:
            return


def side_difference(target: Target) -> tuple[sympy.Expr, list[sympy.Symbol]]:
    """Return (left minus right, with symbols that equations fix replaced; its symbols)."""
    gap = target.left - target.right
    named = {s.name: s for e in (gap, *target.relations) for s in e.free_symbols}
    for name, value in target.solved:
        gap = gap.xreplace({named[name]: value}) if name in named else gap
    free = {*target.counts, *target.reals}
    return gap, sorted((s for s in gap.free_symbols if s.name in free), key=lambda s: s.name)


def zero_parts(gap: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield the expressions whose zeros are needed: kinks, denominators, and each piece of a
    difference with its derivatives."""
    for part in sympy.preorder_traversal(gap):
        if isinstance(part, sympy.Abs):
            yield part.args[0]
        elif isinstance(part, (sympy.Max, sympy.Min)):
            yield from (one - other for one, other in combinations(part.args, 2))
        elif isinstance(part, sympy.core.relational.Relational):
            yield part.lhs - part.rhs
        elif (
            part.is_Pow
            and part.exp.is_number
            and not part.exp.is_integer
            or _denominator_root(part)
        ):
            yield part.base
        elif isinstance(part, sympy.log):
            yield part.args[0] - 1
    for piece in smooth_pieces(gap):
        above = sympy.fraction(sympy.together(piece))[0]
        yield above
        yield from (above.diff(s) for s in sorted(piece.free_symbols, key=lambda s: s.name))


def _denominator_root(part: sympy.Expr) -> bool:
    """Tell whether a factor is a negative power, so 0 is excluded for its base."""
    return part.is_Pow and part.exp.is_number and part.exp.is_negative


def smooth_pieces(gap: sympy.Expr) -> Iterator[sympy.Expr]:
    """Yield the expressions that a difference equals when each absolute value, extreme or case
    distinction is replaced by one of its branches."""
    waiting, given = [gap], 0
    while waiting and given < PIECES:
        expr = waiting.pop(0)
        kink = next(
            (
                part
                for part in sympy.preorder_traversal(expr)
                if isinstance(part, (sympy.Abs, sympy.Max, sympy.Min, sympy.Piecewise))
            ),
            None,
        )
        if kink is None:
            given += 1
            yield expr
        elif isinstance(kink, sympy.Abs):
            waiting += [expr.xreplace({kink: way * kink.args[0]}) for way in (1, -1)]
        elif isinstance(kink, sympy.Piecewise):
            waiting += [expr.xreplace({kink: value}) for value, _ in kink.args]
        else:
            waiting += [expr.xreplace({kink: each}) for each in kink.args]


def partial_rows(target: Target, key: Any) -> Iterator[dict[str, Fraction]]:
    """Yield {name: Fraction} for the symbols that are fixed while one symbol is solved for: ones,
    draws inside the hypotheses, and simple numbers."""
    names = [*target.counts, *target.reals]
    yield dict.fromkeys(names, Fraction(1))
    if len(names) < 2:
        return
    hunt = search_at(target, {}, dict.fromkeys(target.counts, 2), key)
    drawn, rates = hunt.rate_points(hunt.draw(BATCH))
    for row in drawn[rates == rates][: OTHERS // 2]:
        near = {name: float(hunt.number(name, row[k])) for name, k in hunt.column.items()}
        found = {name: Fraction(value).limit_denominator(12) for name, value in near.items()}
        yield {**dict.fromkeys(target.counts, Fraction(2)), **found}
    for n in range(OTHERS // 2):
        simple = [SIMPLE[(n + 3 * k) % len(SIMPLE)] for k in range(len(names))]
        whole = [Fraction(max(1, round(value))) for value in simple]
        yield {
            name: whole[k] if name in target.counts else simple[k] for k, name in enumerate(names)
        }


def _as_sympy(value: Fraction | Counted) -> sympy.Expr:
    return sympy.Rational(value.numerator, value.denominator)


def real_zeros(expr: sympy.Expr, symbol: sympy.Symbol) -> Iterator[Number]:
    """Yield real zeros of an expression in one symbol, as Fractions, or as Intervals where they are
    irrational. An expression with roots of the symbol is treated as a polynomial in one such root.
    """
    powers = (p.exp for p in expr.atoms(sympy.Pow) if p.base == symbol and p.exp.is_Rational)
    q = math.lcm(*(int(power.q) for power in powers))
    root = sympy.Dummy(positive=True) if q > 1 else symbol
    for found in _polynomial_zeros(expr.xreplace({symbol: root**q}), root):
        if q == 1:
            yield found
        elif found >= 0:
            yield found**q


def _polynomial_zeros(expr: sympy.Expr, symbol: sympy.Symbol) -> Iterator[Number]:
    """Yield the real zeros of the numerator of an expression with rational coefficients: rational
    ones as Fractions, others as Intervals of width 2^-BITS. Yield nothing above degree DEGREE, or
    for no polynomial."""
    try:
        poly = sympy.Poly(sympy.fraction(sympy.together(expr))[0], symbol)
    except (sympy.PolynomialError, sympy.CoercionFailed):
        return
    if not 0 < poly.degree() <= DEGREE or not poly.domain.is_ZZ and not poly.domain.is_QQ:
        return
    for factor, _ in poly.factor_list()[1]:
        if factor.degree() == 1:
            slope, rest = factor.all_coeffs()
            yield -Fraction(int(rest.p), int(rest.q)) / Fraction(int(slope.p), int(slope.q))
            continue
        for low, high in (ends for ends, _ in factor.intervals(eps=sympy.Rational(1, 2**BITS))):
            yield Interval(*(Fraction(int(e.p), int(e.q)) for e in (low, high)))


def rational_between(found: Any) -> Iterator[Number]:
    """Yield rational zeros in order, irrational zeros with simple fractions near them, one number
    between each two zeros, and one beyond the outermost on each side."""
    middle = lambda each: sum(each.pair) / 2 if isinstance(each, Interval) else each
    ordered = sorted(found, key=middle)
    yield from (each for each in ordered if not isinstance(each, Interval))
    for each in (each for each in ordered if isinstance(each, Interval)):
        yield from (middle(each).limit_denominator(d) for d in (3, 30, 10_000))
        yield each
    ends = [middle(each) for each in ordered]
    for one, other in pairwise(ends):
        half = (one + other) / 2
        yield next(
            near
            for d in (1, 2, 5, 20, 100, 10**4, None)
            for near in [half if d is None else half.limit_denominator(d)]
            if one < near < other or d is None
        )
    yield from (
        (Fraction(math.floor(ends[0]) - 1), Fraction(math.ceil(ends[-1]) + 1)) if ends else ()
    )


def _point_of_numbers(target: Target, named: Mapping[str, Number], key: np.ndarray) -> Point | None:
    """Return the Point of numbers by name, or None where a count is not a positive integer."""
    counts = [named[name] for name in target.counts]
    if not all(isinstance(v, Fraction) and v.denominator == 1 and v >= 1 for v in counts):
        return None
    hunt = search_at(target, {}, dict(zip(target.counts, map(int, counts))), key)
    return Point(hunt, {name: named[name] for name in hunt.names})


def explain_doubt(point: Point) -> Any:
    """Return why a line is not true at a point where no document can show that it is false, or None
    where the line is true."""
    told = ", ".join(f"{name} = {_show_number(v)}" for name, v in _point_numbers(point).items())
    answer = point.answer()
    if answer is None:
        side = point.answer_question(lambda: explain_infinite(point))
        return side and f"At {told}, which its hypotheses leave in, {side}."
    if any(isinstance(v, Interval) for v in point.numbers.values()):
        level = answer.certainly_fails or answer.target.strict and not answer.certainly_holds
        if level and point.answer_question(lambda: not any(answer.failing())):
            return f"At {told}, no fraction, both sides are equal as far as enclosures tell."
    return None


def _point_numbers(point: Point) -> dict[str, Number]:
    return {**point.hunt.numbers, **point.numbers}


def _show_number(value: Number) -> str:
    return f"{float(value):.9g}" if isinstance(value, Interval) else str(value)


def explain_infinite(point: Point) -> str | None:
    """Return why a line has no finite value at a point that meets the hypotheses: a division by 0,
    or an infinite side. Return None where the sides can be compared, or where 0 stands over 0."""
    q, (instance, values) = point.hunt.target, point.instance_and_values()
    if any(Answer(q, instance, values, sides=False).failing()):
        return None
    gap = q.right - q.left if q.way >= 0 else q.left - q.right
    pairs = {name: ends_of(value) for name, value in values.items()}
    try:
        low, high = arithmetic.execute_program(arithmetic.compile_expression(gap), EXACT, pairs)
    except arithmetic.Undefined:
        named = {s: _as_sympy(values[s.name]) for s in gap.free_symbols}
        value = sympy.cancel(gap).xreplace(named)
        return "it divides by 0" if value.has(sympy.zoo) and not value.has(sympy.nan) else None
    return "a side is infinite" if low == -math.inf or q.way == 0 and high == math.inf else None
