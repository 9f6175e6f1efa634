"""One line of a claim in one model: the free symbols, the values that follow from them, and a
measure of how nearly the line fails.

The *ratio* of a line (`fedtheory/search/tightness_score.py`) says by how much the line fails: the
ratio is above 1 exactly where the line fails.

A symbol of the claim is one of four: given by the model's instance (constants such as L), free
(hyper-parameters, coefficients), fixed by an equation among the hypotheses (solved here once, in
SymPy), or measured on a run of the method. `Target` evaluates many instances at once in floats;
`Answer` evaluates one instance in Fractions and intervals, and alone can say that a line certainly
fails.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import sympy

from fedtheory import arithmetic
from fedtheory.arithmetic import NoInstance, Undefined, operations
from fedtheory.arithmetic.domains import domain_admits
from fedtheory.arithmetic.intervals import Enclosures
from fedtheory.arithmetic.operations import Many, ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.language.claim import Claim
from fedtheory.language.printing import plain
from fedtheory.models import conditions, tacit
from fedtheory.models.instances import schema_of, texts
from fedtheory.proofs import equations
from fedtheory.schema import fault
from fedtheory.search.tightness_score import Rating
from fedtheory.typing import Assignment, Instance, Number

FLIPPED = {"<=": (1, False), "<": (1, True), ">=": (-1, False), ">": (-1, True), "==": (0, False)}
EXACT = Enclosures(operations.BITS)
HALF = sympy.Rational(1, 2)
OPEN = 1e-6  # a logarithm: the distance that a search keeps from the edge of a strict inequality


class Target:
    """A line of a claim in a model, rated over the terms in `over` (default: the terms beyond its
    weakened bound). Equations are solved for a symbol in `keep` only if for no other symbol, and
    `case` chooses the way in which products vanish."""

    def __init__(
        self,
        claim: Claim,
        setting: Any,
        line: int = 0,
        keep: Collection[str] = (),
        over: Sequence[sympy.Expr] | None = None,
        case: int = 0,
    ) -> None:
        self.keep, self.case, self.own = keep, case, (claim, setting, line, keep, over)
        self.claim, self.setting, self.line = claim, setting, line
        self.schema = schema_of(setting)  # raises an error with a sentence if there is no schema
        left, self.sign, right = claim.lines[line]
        self.way, self.strict = FLIPPED[self.sign]
        # Conditions that the model can ensure and that the claim does not assume: instances need
        # not meet them.
        self.relaxed = setting.ensures - {a.name for a in claim.assumptions} - tacit(setting, claim)
        self.left, self.right = claim.expand(left), claim.expand(right)
        theirs = {
            entry.measure: name
            for name, entry in setting.table.items()
            if entry.measure is not None
        }
        self.measured = {name: theirs[entry.measure] for name, entry in claim.quantities.items()}
        given = set(setting.gives) | set(setting.loose)
        self.free = {
            name: entry.domain for name, entry in claim.parameters.items() if name not in given
        }
        self.free.update(
            {name: setting.table[name].domain for name in setting.takes if name not in self.free}
        )
        self.counts = [name for name, domain in self.free.items() if domain == "count"]
        self.loose = [name for name in setting.loose if name in claim.parameters]
        relations = [claim.expand(a.relation) for a in claim.assumptions if a.relation is not None]
        relations = [
            part for r in relations for part in (r.args if isinstance(r, sympy.And) else (r,))
        ]
        self.relations = [r for r in relations if r not in (sympy.true, sympy.false)]
        self.impossible = sympy.false in relations
        self.solved, self.unsolved = self._solve()
        gone = {name for name, _ in self.solved}
        # `pinned`: bounds that equations fix. `slack`: bounds that may be looser than the
        # instance's own constants.
        self.pinned = [name for name in self.loose if name in gone]
        self.slack = [name for name in self.loose if name not in gone]
        self.reals = [
            name for name, domain in self.free.items() if domain != "count" and name not in gone
        ]
        # Assumptions about what is measured in the run can be tested only after it.
        self.late = {name for name in self.measured if self.measured[name] not in setting.early}
        self.after = [r for r in self.relations if self.late & set(self.names(r))]
        self.before = [r for r in self.relations if r not in self.after]
        self.between = [
            r for r in self.before if isinstance(r, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt))
        ]
        self.rating = self._rating(over)
        self.wanted = sorted(
            {
                self.measured[name]
                for e in (self.left, self.right, *self.relations, *self.rating.over)
                for name in self.names(e)
                if name in self.measured
            }
        )

    def names(self, expr: sympy.Basic) -> list[str]:
        """Return the names of an expression's free symbols, sorted."""
        return sorted(s.name for s in expr.free_symbols)

    def _rating(self, over: Sequence[sympy.Expr] | None) -> Rating:
        """Return the Rating of this line; the weakened bound belongs to the first line alone."""
        claim, weakened = self.claim, self.claim.weakened if self.line == 0 else None
        return Rating(
            self.left,
            self.right,
            self.way,
            frozenset(name for name, entry in claim.quantities.items() if entry.domain == "real"),
            None if weakened is None else claim.expand(weakened),
            over,
        )

    def _solve(self) -> tuple[list[tuple[str, sympy.Expr]], list[sympy.Rel]]:
        """Return (equations solved for a symbol each, to be evaluated from last to first; equations
        that are left unsolved)."""
        mentions = lambda name: sum(
            name in self.names(e) for e in (self.left, self.right, *self.relations)
        )
        reals = {name for name, domain in self.free.items() if domain != "count"}
        able = {s for r in self.relations for s in r.free_symbols}
        able = {s for s in able if s.name in reals or s.name in self.loose}
        rules = tuple(r for r in self.relations if not isinstance(r, sympy.Eq))
        stated = tuple(r for r in self.relations if isinstance(r, sympy.Eq))
        self.ways = equations.equation_cases(stated, tuple(sorted(able, key=str)), rules)
        solved, left = [], []
        for equation in self.ways[self.case]:
            for name, value in solved:
                symbol = next((s for s in equation.free_symbols if s.name == name), None)
                equation = equation.xreplace({symbol: value}) if symbol else equation
            if equation in (sympy.true, sympy.false):
                left += [] if equation == sympy.true else [equation]
                self.impossible |= equation == sympy.false and len(self.ways) > 1
                continue
            sides = equation.args
            order = lambda s: (
                s.name not in reals,
                s.name in self.keep,
                s not in sides,
                mentions(s.name),
                s.name,
            )  # for example, V = ... fixes V
            gone = {name for name, _ in solved}
            free = sorted(
                (s for s in equation.free_symbols & able if s.name not in gone), key=order
            )
            fixed = equations.solve_equation(equation, free, rules)
            if fixed is None or fixed.symbol.name in self.loose and not self._can_fix(fixed.value):
                left.append(equation)
            else:
                solved.append((fixed.symbol.name, fixed.value))
        return solved, left

    def _can_fix(self, value: sympy.Expr) -> bool:
        """Tell whether an equation may fix a bound at a value: the value must be known early and
        must not be 0, because no constant is looser than 0."""
        measured = {name for name in self.measured if self.measured[name] in self.setting.early}
        known = {*self.free, *self.claim.parameters, *measured}
        return value != 0 and {s.name for s in value.free_symbols} <= known

    def others(self) -> list[Any]:
        """Return this target in each other case in which its equations can be met."""
        return [Target(*self.own, case=n) for n in range(len(self.ways)) if n != self.case]

    # Many instances at once

    def known_constants(self, instance: Instance, slack: Mapping[str, Many]) -> dict[str, Number]:
        """Return constants under the claim's names; each constant that is a bound is multiplied by
        its slack factor."""
        found = dict(self.setting.constants(instance))
        for name, factor in slack.items():
            found[name] = found[name] * factor
        for mine, theirs in self.measured.items():
            if theirs in found:
                found.setdefault(mine, found[theirs])
        return found

    def settle(self, values: dict[str, Number]) -> dict[str, Number]:
        """Compute in place the symbols that equations fix. A bound tighter than the instance's own
        constant becomes NaN."""
        for name, expr in reversed(self.solved):
            value = self.value(expr, values)
            if name in self.pinned:
                room = (value - values[name]) * self.setting.loose[name]
                value = operations.where(room >= 0, value, Many(np.asarray(np.nan)))
            values[name] = value
        return values

    def value(self, expr: sympy.Basic, values: Assignment) -> Number:
        """Return an expression's value at floats or batches of floats, NaN where the value is
        undefined."""
        try:
            return arithmetic.execute_program(
                arithmetic.compile_expression(expr), operations.PLAIN, values
            )
        except Undefined:
            return Many(np.array(np.nan))

    def truth(self, relation: sympy.Rel, values: Assignment, size: int) -> np.ndarray:
        """Return the mask (size,) of a relation's truth in each instance."""
        found = self.value(relation, values)
        return np.broadcast_to(
            np.asarray(found.at if isinstance(found, Many) else found, dtype=bool), size
        )

    def excess(self, relation: sympy.Rel, values: Assignment, size: int) -> np.ndarray:
        """Return log(smaller / larger) of an inequality smaller <= larger. The result is positive
        where the inequality fails, or where rounding to small rationals could reach an edge that a
        strict inequality excludes."""
        small, large = (
            relation.args if isinstance(relation, (sympy.Le, sympy.Lt)) else relation.args[::-1]
        )
        small, large = (as_array(self.value(e, values), size) for e in (small, large))
        with np.errstate(all="ignore"):
            ratio = np.log(small) - np.log(large)
            strict = relation.rel_op in ("<", ">")
            plain_sign = np.where(small < large if strict else small <= large, -1.0, 1.0)
        return np.where((small > 0) & (large > 0), ratio + (OPEN if strict else 0.0), plain_sign)

    def admissible_mask(self, values: Assignment, size: int) -> np.ndarray:
        """Return a mask of instances at which domains and assumptions hold up to rounding."""
        good = np.ones(size, dtype=bool)
        for name, domain in self.free.items():
            at = as_array(values[name], size)
            good &= np.isfinite(at) & (
                (at > 0)
                if domain in ("positive", "count")
                else (at >= 0)
                if domain == "nonnegative"
                else True
            )
        for name, entry in self.claim.parameters.items():
            if name not in self.free:
                at = as_array(values[name], size)
                good &= np.isfinite(at) & (
                    (at > 0)
                    if entry.domain in ("positive", "count")
                    else (at >= 0)
                    if entry.domain == "nonnegative"
                    else True
                )
        for relation in self.before:
            if relation in self.between:
                good &= self.excess(relation, values, size) <= 1e-12
            elif not isinstance(relation, sympy.Eq):
                good &= self.truth(relation, values, size)
        for relation in self.unsolved:
            if not self.late & set(self.names(relation)):
                good &= self.truth(relation, values, size)
        return good

    def admitted_measured(self, values: Assignment, size: int) -> np.ndarray:
        """Return a mask of instances at which the assumptions about measured quantities hold."""
        good = np.ones(size, dtype=bool)
        for relation in self.after:
            good &= self.truth(relation, values, size)
        return good

    def measure(self, instance: Instance, values: Mapping[str, Any]) -> Any:
        """Run the method on instances as far as the line needs it, and add the measured quantities
        to `values` under the claim's names."""
        found = self.setting.measured(instance, values, [n for n in self.wanted if n not in values])
        for mine, theirs in self.measured.items():
            if theirs in found:
                values[mine] = found[theirs]
        return values

    def ratio(self, values: Assignment, size: int) -> np.ndarray:
        """Return the line's ratio at each instance, or 0 where the line needs none of the terms
        that it is rated over."""
        return np.maximum(self.scores(values, size)[:, 0], 0.0)

    def scores(self, values: dict[str, Any], size: int) -> np.ndarray:
        """Return the columns of `Rating.scores`, which a search maximises."""
        return self.rating.scores(self._at(values, size), size, self.strict)

    def pulls(self, values: Assignment, size: int) -> tuple[np.ndarray, ...]:
        """Return (sum of terms that raise the gap, sum of terms that lower the gap), without
        reference to the weakened bound."""
        return self.rating.pulls(self._at(values, size), size)[:2]

    def _at(self, values: Assignment, size: int) -> Callable[..., Any]:
        """Return a function from expressions to arrays (size,) at `values`."""
        return lambda e: as_array(self.value(e, values), size)

    # One instance, exactly

    @cached_property
    def list_radicands(self) -> list[sympy.Symbol]:
        """Return the expressions under square roots in hypotheses and in equations that fix a
        symbol."""
        roots = set().union(
            *(e.atoms(sympy.Pow) for e in (*self.relations, *(e for _, e in self.solved)))
        )
        return sorted(
            {root.base for root in roots if root.exp in (HALF, -HALF) and root.free_symbols},
            key=str,
        )

    def values_before_run(
        self, numbers: Mapping[str, Any], tight: Mapping[str, Fraction | Counted]
    ) -> dict[str, Any]:
        """Return all values that are known before a method runs. `numbers` holds the free symbols,
        counts and loosened constants."""
        values = dict(tight)
        for name in self.loose:
            if name in numbers:
                values[name] = numbers[name]
        for mine, theirs in self.measured.items():
            if theirs in values:
                values.setdefault(mine, values[theirs])
        values.update({name: numbers[name] for name in self.free if name in numbers})
        for name, expr in reversed(self.solved):
            if name not in numbers:
                value = exact_value(expr, values)
                if name in self.pinned:
                    self._refuse_tighter(name, value, tight[name])
                values[name] = value
        return values

    def _refuse_tighter(self, name: str, value: Fraction, tight: Any) -> None:
        """Refuse a bound that is tighter than an instance's own constant."""
        room = value - tight if self.setting.loose[name] > 0 else tight - value
        if ends_of(room)[0] < 0:
            raise Undefined(f"no bound any more: {name}")

    def exactly(self, instance: Instance, values: Assignment) -> "Answer":
        """Return an `Answer` at one instance of Fractions with its known values. Raises NoInstance
        where the model has no such instance."""
        why = fault(self.schema, texts(instance))
        if why is not None:
            raise NoInstance(f"no instance of {self.setting.name}: {why}")
        self.measure(instance, values)
        return Answer(self, instance, values)


class Answer:
    """A line evaluated at one instance in Fractions and intervals; with `sides` false, only its
    assumptions are evaluated."""

    def __init__(
        self, target: Target, instance: Instance, values: Assignment, sides: bool = True
    ) -> None:
        self.target, self.instance, self.values = target, instance, values
        if sides:
            self.left, self.right = (
                side_value(target.left, values),
                exact_value(target.right, values),
            )

    def failing(self, surely: bool = False) -> Iterator[str]:
        """Yield the assumptions of the claim that the instance does not certainly meet. With
        `surely`, yield only assumptions that certainly fail."""
        q = self.target
        for name, domain in {
            **q.free,
            **{n: e.domain for n, e in q.claim.parameters.items()},
        }.items():
            if isinstance(self.values[name], float):
                yield f"{name} is not finite"
                continue
            low, high = ends_of(self.values[name])
            if not domain_admits(domain, low) or not domain_admits(domain, high) and low != high:
                yield f"{name} outside its domain"
        pairs = {name: ends_of(v) for name, v in self.values.items() if not isinstance(v, float)}
        solved = {name for name, _ in q.solved}
        for relation in q.relations:
            if (
                isinstance(relation, sympy.Eq)
                and solved & set(q.names(relation))
                and self._equation_holds(relation, pairs)
            ):
                continue
            try:
                truth = arithmetic.execute_program(
                    arithmetic.compile_expression(relation), EXACT, pairs
                )
            except (Undefined, KeyError):
                truth = None
            if truth is False or truth is None and not surely:
                yield plain(relation)
        held = q.setting.ensures if q.setting.holds is None else q.setting.holds(self.instance)
        if q.setting.ensures and not held:
            yield "an instance whose parts fit together"
        for name, condition in conditions(q.claim).items():
            if name not in held:
                yield condition.says

    def _equation_holds(self, relation: sympy.Rel, pairs: Mapping[str, Any]) -> bool:
        """Tell whether an equation that fixed a symbol holds exactly, or within the width of the
        enclosures of its roots."""
        low, high = arithmetic.execute_program(
            arithmetic.compile_expression(relation.lhs - relation.rhs), EXACT, pairs
        )
        return low == high == 0 or low <= 0 <= high and high - low <= Fraction(1, 2**200)

    @property
    def certainly_fails(self) -> bool:
        """Return whether the line is certainly false here."""
        if self.target.way == 0:
            one, other = ends_of(self.left), ends_of(self.right)
            return one[1] < other[0] or other[1] < one[0]
        small, large = (self.left, self.right) if self.target.way > 0 else (self.right, self.left)
        low, high = ends_of(small)[0], ends_of(large)[1]
        return low >= high if self.target.strict else low > high

    @property
    def certainly_holds(self) -> bool:
        """Return whether the line is certainly true here."""
        (low, high), (least, most) = ends_of(self.left), ends_of(self.right)
        if self.target.way == 0:
            return low == high == least == most
        above, below = (high, least) if self.target.way > 0 else (most, low)
        return above < below if self.target.strict else above <= below

    @property
    def ratio(self) -> float | None:
        """Return the line's ratio as a float, or None where both sides vanish."""
        q = self.target
        return q.rating.exactly(
            lambda e: exact_value(e, self.values), self.certainly_fails, q.strict
        )


def side_value(expr: sympy.Expr, values: Assignment) -> Number | Counted:
    """Return the value of an expression as `bounded` does, but allow measured values to be
    infinite, as for an error that is never reached."""
    endless = {
        name: value.pair
        for name, value in values.items()
        if isinstance(value, operations.Interval) and isinstance(value.high, float)
    }
    if not endless.keys() & {s.name for s in expr.free_symbols}:
        return exact_value(expr, values)
    pairs = {name: ends_of(value) for name, value in values.items() if not isinstance(value, float)}
    return operations.Interval(
        *arithmetic.execute_program(arithmetic.compile_expression(expr), EXACT, pairs)
    )


def exact_value(expr: sympy.Expr, values: Assignment) -> Number | Counted:
    """Return the value of an expression at exact numbers and intervals, as an exact number or an
    interval."""
    pairs = {name: ends_of(value) for name, value in values.items() if not isinstance(value, float)}
    if not pairs.keys() >= {s.name for s in expr.free_symbols}:
        raise Undefined("an infinite value")
    low, high = arithmetic.execute_program(arithmetic.compile_expression(expr), EXACT, pairs)
    if isinstance(low, float) or isinstance(high, float):
        raise Undefined("an infinite value")
    return low if low == high else operations.Interval(low, high)


def as_array(value: Number, size: int) -> np.ndarray:
    """Return a number or a batch as an array of floats of length `size`."""
    return np.broadcast_to(
        np.asarray(
            value.at if isinstance(value, Many) else operations.nearest_float(value), dtype=float
        ),
        size,
    )
