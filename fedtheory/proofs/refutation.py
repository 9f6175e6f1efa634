"""A search for rational numbers that satisfy some relations and violate another relation; each
result is confirmed exactly.

A population of points moves in floats towards larger violations and onto the edges of the
assumptions. The best points are rounded to small fractions and decided by enclosures.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy

from fedtheory import arithmetic
from fedtheory.arithmetic import arrays
from fedtheory.proofs import equations
from fedtheory.proofs.meaning import Inner, Vector
from fedtheory.typing import Assignment

# POINTS: points of the population. STEPS: the most moves of it. BEST: points that are rounded
# and decided.
POINTS, STEPS, BEST = 1500, 60, 24
INEQUALITIES = (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)


def find_violation(
    target: sympy.Rel,
    assumptions: Sequence[sympy.Rel],
    definitions: Mapping[sympy.Symbol, sympy.Expr],
    seed: int = 0,
) -> dict[str, Fraction] | None:
    """Return {name: Fraction} where every assumption holds and the target fails, or None.

    Vectors are numbers here (d = 1). Equations are solved for a symbol first, in each way in which
    they can be met, so that the population only moves among points that meet them. A failed search
    says nothing.
    """
    expand = lambda e: _expand_definitions(e, definitions)
    parts = [part for a in assumptions for part in (a.args if isinstance(a, sympy.And) else (a,))]
    rules, goal = [expand(a) for a in parts if a is not sympy.true], expand(target)
    if any(isinstance(rule, sympy.logic.boolalg.BooleanFunction) for rule in rules):
        return None  # the search cannot use such an assumption
    equal = [rule for rule in rules if isinstance(rule, sympy.Eq)]
    others = [rule for rule in rules if not isinstance(rule, sympy.Eq)]
    able = sorted(set().union(*(e.free_symbols for e in equal)), key=lambda s: s.name)
    ways = equations.equation_cases(tuple(equal), tuple(able), tuple(others))
    found = (
        _search_one_way(goal, rules if len(ways) == 1 else [*way, *others], seed) for way in ways
    )
    return next((each for each in found if each is not None), None)


def _search_one_way(
    goal: sympy.Basic, rules: Sequence[sympy.Rel], seed: int
) -> dict[str, Fraction] | None:
    """Return the result of `search` for one way of meeting the equations."""
    solved, rules = _solve_equalities(rules, generic=True)
    if any(rule is sympy.false or isinstance(rule, sympy.Eq) for rule in rules):
        return None  # no point meets the relations, or the search cannot use an equation
    try:
        return RefutationSearch(goal, rules, solved, seed).find()
    except arithmetic.Undefined:
        return None


def _expand_definitions(e: sympy.Rel, definitions: Mapping[sympy.Symbol, sympy.Expr]) -> sympy.Rel:
    """Return a relation in basic symbols, with inner products of vectors as products of numbers."""
    for _ in definitions:
        if not e.free_symbols & set(definitions):
            break
        e = e.xreplace(definitions)
    return e.replace(Inner, lambda v, w: v * w)  # numbers are vectors with d = 1


def _solve_equalities(
    rules: Sequence[sympy.Rel], generic: bool = False
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Basic]]:
    """Return (equations solved for a symbol each, to be evaluated from last to first; the remaining
    relations). An equation that can be met in several ways remains, unless `generic` allows its
    generic solution."""
    solved, rules, gone = [], list(rules), set()
    order = lambda s: (bool(s.is_integer), s.name)
    while True:
        for rule in rules:
            if not isinstance(rule, sympy.Eq):
                continue
            free = [s for s in rule.free_symbols - gone if not isinstance(s, Vector)]
            others = [r for r in rules if not isinstance(r, sympy.Eq)]
            fixed = equations.solve_equation(rule, sorted(free, key=order), others)
            if (
                fixed is None
                or not generic
                and len(equations.equation_cases((rule,), free, others)) > 1
            ):
                continue
            rest = [substitute_value(r, fixed.symbol, fixed.value) for r in rules if r is not rule]
            rules = [r for r in rest if r is not sympy.true]
            solved.append((fixed.symbol, fixed.value))
            gone.add(fixed.symbol)
            break
        else:
            return solved, rules


def substitute_value(relation: sympy.Rel, symbol: sympy.Symbol, value: sympy.Expr) -> sympy.Basic:
    """Return a relation with a value in place of a symbol. Return the relation unchanged where it
    then has no value, as 1/gamma at gamma = 0."""
    try:
        found = relation.xreplace({symbol: value})
    except (TypeError, ValueError):  # SymPy cannot compare the two
        return relation
    return relation if found.has(sympy.zoo, sympy.nan, sympy.oo) else found


class RefutationSearch:
    """A search of points in floats for one goal under some rules, with exact decisions at its
    end."""

    steps: tuple[float, float]  # the least and the largest factor of a sweep's steps

    def __init__(
        self,
        goal: sympy.Basic,
        rules: Sequence[sympy.Rel],
        solved: Sequence[tuple[sympy.Symbol, sympy.Expr]],
        seed: int,
    ) -> None:
        self.goal, self.rules, self.solved = goal, rules, solved
        gone = {symbol for symbol, _ in solved}
        every = set().union(
            goal.free_symbols,
            *(r.free_symbols for r in rules),
            *(v.free_symbols for _, v in solved),
        )
        self.symbols = sorted(every - gone, key=lambda s: s.name)
        self.rng = np.random.default_rng(seed)

    def evaluate(self, expr: sympy.Expr, values: Assignment) -> float | np.ndarray:
        """Return the values of an expression at all points, in floats."""
        with np.errstate(all="ignore"):
            return arithmetic.bind_program((expr,), arrays.VALUES)(values)[0]

    def violation_of(self, points: np.ndarray) -> np.ndarray:
        """Return how far points violate the target, in relative terms. A value below -1 means that
        an assumption or a domain fails."""
        values = {s.name: points[:, n] for n, s in enumerate(self.symbols)}
        lost = np.zeros(len(points))
        for symbol, value in reversed(self.solved):
            values[symbol.name] = np.broadcast_to(self.evaluate(value, values), len(points))
            if symbol.is_nonnegative:
                lost = lost + np.where(values[symbol.name] >= 0, 0.0, 1.0)
        *rules, gain = self.excess([*self.rules, self.goal], values, len(points))
        for gap in rules:
            lost = lost + np.where(gap > 0, gap, np.isnan(gap))
        gain = np.where(np.isnan(gain), -1.0, gain)
        if isinstance(self.goal, (sympy.Lt, sympy.Gt)):
            gain = np.where(gain == 0, 1e-3, gain)  # a tie is a violation
        return np.where(lost > 0, -1.0 - lost, gain)

    def excess(self, relations: Sequence[sympy.Rel], values: Assignment, size: int) -> np.ndarray:
        """Return (smaller - larger) over the size of both, one row for each relation smaller <=
        larger."""
        if not relations:
            return np.empty((0, size))
        both = tuple(
            side
            for r in relations
            for side in (r.args[::-1] if isinstance(r, (sympy.Ge, sympy.Gt)) else r.args)
        )
        with np.errstate(all="ignore"):
            found = arithmetic.bind_program(both, arrays.VALUES)(values)
            sides = np.empty((len(relations), 2, size))
            for place, side in zip(sides.reshape(-1, size), found):
                place[:] = side
            left, right = sides[:, 0], sides[:, 1]
            gap = (left - right) / np.maximum(abs(left) + abs(right), 1e-300)
            gap = np.where(right == np.inf, -1.0, gap)
        for row, relation in zip(gap, relations):
            if isinstance(relation, (sympy.Eq, sympy.Ne)):
                row[:] = np.where(row == 0, 0.0, abs(row))
        return gap

    def draw(self) -> np.ndarray:
        """Draw POINTS points with sizes over several decades."""
        columns = []
        for symbol in self.symbols:
            size = 10.0 ** self.rng.choice(
                [-3, -2, -1, 0, 0, 0, 0, 0, 1, 2], POINTS
            ) * self.rng.uniform(0.3, 3, POINTS)
            if symbol.is_integer:
                size = np.ceil(size)
            elif not symbol.is_positive:
                size = size * (self.rng.random(POINTS) < 0.8)
                if not symbol.is_nonnegative:
                    size = size * self.rng.choice([-1.0, 1.0], POINTS)
            columns.append(size)
        return np.array(columns).T.reshape(POINTS, len(self.symbols))

    def move_points(self, points: np.ndarray) -> np.ndarray:
        """Return points multiplied by random factors in some coordinates; integers stay integers
        from 1 on."""
        step = 10.0 ** self.rng.uniform(-3, 0.5, (len(points), 1))
        chosen = self.rng.random(points.shape) < self.rng.choice([0.2, 0.5, 1.0], (len(points), 1))
        new = points * np.exp(step * chosen * self.rng.standard_normal(points.shape))
        for n, symbol in enumerate(self.symbols):
            if symbol.is_integer:
                new[:, n] = np.maximum(1, np.round(new[:, n]))
            elif not symbol.is_positive:
                revive = self.rng.random(len(points)) < 0.02
                new[revive, n] = self.rng.choice([0.0, 1.0, 0.1], revive.sum())
        return new

    def push_to_edges(self, points: np.ndarray) -> np.ndarray:
        """Return points, each moved along one coordinate to the edge of the admitted region if that
        improves its merit."""
        best = self.violation_of(points)
        for n in self.rng.permutation(len(self.symbols)):
            if self.symbols[n].is_integer:
                continue
            for far in (1e4, 1e-4):
                low, high = np.ones(len(points)), np.full(len(points), far)
                for _ in range(48):  # bisection: low is admitted; high is not, or is the end
                    middle = np.sqrt(low * high)
                    trial = points.copy()
                    trial[:, n] *= middle
                    good = self.violation_of(trial) >= -1
                    low, high = np.where(good, middle, low), np.where(good, high, middle)
                trial = points.copy()
                trial[:, n] *= low
                found = self.violation_of(trial)
                points = np.where((found > best)[:, None], trial, points)
                best = np.maximum(found, best)
        return points

    def find(self) -> dict[str, Fraction] | None:
        """Return a violation in fractions, None if the population finds none.

        Points move for at most STEPS rounds, are pushed onto the edges of the assumptions if none
        violates the target clearly, and the best are rounded.
        """
        if not self.symbols:
            return None
        points = self.draw()
        best = self.violation_of(points)
        for _ in range(STEPS):
            new = self.move_points(points)
            found = self.violation_of(new)
            points, best = np.where((found > best)[:, None], new, points), np.maximum(found, best)
            if np.count_nonzero(best > 1e-3) > 50:
                break
        order = np.argsort(-best)[:BEST]
        points = points[order]
        if best[order[0]] < 1e-3:
            points = self.push_to_edges(self.push_to_edges(points))
            best = self.violation_of(points)
            points = points[np.argsort(-best)]
        for point in points:
            if self.violation_of(point[None])[0] > 0:
                exact = self.round_point(point)
                if exact is not None:
                    return exact
        return None

    def round_point(self, point: np.ndarray) -> dict[str, Fraction] | None:
        """Return the simplest fractions near a point that still violate the target exactly, or
        None."""
        for limit in (1, 2, 4, 10, 100, 1000, 10**6, None):
            for factor in (1, 1 - 1e-9, 1 - 1e-6, 1 - 1e-3, 1 + 1e-9, 1 + 1e-6):
                values = {}
                for symbol, value in zip(self.symbols, point):
                    value = (
                        Fraction(float(value))
                        if symbol.is_integer
                        else Fraction(float(value * factor))
                    )
                    near = (
                        value
                        if limit is None
                        else value.limit_denominator(limit)
                        if abs(value) >= 1 or not value
                        else 1 / (1 / value).limit_denominator(limit)
                    )
                    values[symbol.name] = near
                if self.confirm_exactly(values):
                    return values
                if limit not in (None, 10**6):
                    break
        return None

    def confirm_exactly(self, values: Any) -> bool:
        """Tell whether fractions satisfy all domains and rules, and violate the target, in exact
        arithmetic."""
        try:
            for symbol, value in reversed(self.solved):
                exact = arithmetic.enclose_value(value, values).exact
                if (
                    exact is None
                    or symbol.is_positive
                    and exact <= 0
                    or symbol.is_nonnegative
                    and exact < 0
                    or symbol.is_integer
                    and exact.denominator != 1
                ):
                    return False
                values[symbol.name] = exact
            if any(symbol.is_positive and values[symbol.name] <= 0 for symbol in self.symbols):
                return False
            return (
                all(arithmetic.decide_relation(rule, values) is True for rule in self.rules)
                and arithmetic.decide_relation(self.goal, values) is False
            )
        except arithmetic.Undefined:
            return False
