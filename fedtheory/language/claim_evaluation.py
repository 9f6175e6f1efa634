"""Evaluation of a claim at numbers: the values of both sides, and the hypotheses that hold there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory import arithmetic
from fedtheory.arithmetic import arrays
from fedtheory.arithmetic.domains import domain_admits
from fedtheory.errors import InvalidInput, show
from fedtheory.language import claim_validation
from fedtheory.language.conditions import Assumption, Outside, Rule
from fedtheory.language.printing import plain
from fedtheory.typing import Assignment, Number

if TYPE_CHECKING:
    import numpy as np


class EvaluatedClaim:
    """The methods of a Claim that take numbers for its symbols."""

    # the fields of Claim that these methods read
    lines: Any
    symbols: Any
    title: Any
    kind: Any
    table: Any
    parameters: Any
    assumptions: Any
    expand: Callable[..., Any]

    def needs(self, *exprs: Any) -> list[str]:
        """Return the names of the symbols whose values these expressions need; without expressions,
        the symbols of the bound."""
        wanted = exprs or [b for _, _, b in self.lines]
        free = set().union(*(self.expand(e).free_symbols for e in wanted))
        return [name for name in self.symbols if self.symbols[name].symbol in free]

    def evaluate(self, values: Assignment, strict: bool = True, line: int = 0) -> float:
        """Return the right-hand side of a line at numbers, as a float at the safe end of its
        enclosure.

        `values` maps symbols or their names to numbers. The result is rounded up for <= (down for
        >=), carries `.lower`, `.upper` and, where the value is rational, `.exact`. Raises
        InvalidInput where a symbol has no value, or where an assumption fails; strict=False skips
        the assumptions.

        >>> import fedtheory as ft
        >>> c = ft.claim("mixed.propD6")
        >>> c.bound, c.evaluate(dict(beta=3, gap=0.5))
        (4*beta*gap, 6.0)
        """
        return self._side(values, strict, line, "right")

    def evaluate_left(self, values: Assignment, strict: bool = True, line: int = 0) -> float:
        """Return the left-hand side of a line at numbers, rounded in the direction opposite to
        `evaluate`. Measured quantities are given by name."""
        return self._side(values, strict, line, "left")

    def _side(self, values: Assignment, strict: bool, line: int, side: str) -> float:
        """Return one side of a line at numbers, rounded to its safe end, with the checks of
        `evaluate`."""
        if not self.lines:
            raise InvalidInput(f"{self.title} is a {self.kind}; it has no bound to evaluate")
        line, numbers = (
            claim_validation.check_place(self.title, line, len(self.lines)),
            self.numbers(values),
        )
        if strict:
            for broken in self._failing_hypotheses(values, numbers, complete=True):
                raise InvalidInput(
                    f"{self.title} assumes {broken}; got {self._shown_values(broken, values)}"
                )
        asked = self.lines[line]
        self._require_values(getattr(asked, side), numbers)
        try:
            return asked.value(numbers) if side == "right" else asked.value_left(numbers)
        except arithmetic.Undefined as error:
            raise InvalidInput(
                f"{self.title} has no value at {_list_values(values, self.needs(getattr(asked, side)))}: "
                f"it takes {error}"
            ) from None

    def admits(self, values: Any) -> list[Assumption]:
        """Return the list of assumptions between numbers that fail at `values`, empty if none
        fails.

        Assumptions about functions are not checked here: a problem decides them. Symbols without a
        value are allowed; an assumption that mentions one is skipped.
        """
        return list(self._failing_hypotheses(values, self.numbers(values), complete=False))

    def numbers(self, values: Any) -> dict[str, Fraction]:
        """Return the mapping name -> Fraction of given values; floats are taken as the fractions
        that they are.

        Raises InvalidInput, with the name of the symbol, for a symbol that the paper's table lacks
        or that is defined by others.
        """
        numbers = {}
        for key, value in claim_validation.check_values(self.title, values).items():
            name = getattr(key, "name", key)
            if name not in self.table:
                raise InvalidInput(
                    f"{self.title} has no symbol {show(name)}; it takes {', '.join(self.parameters)}"
                )
            entry = self.table[name]
            if entry.definition is not None:
                raise InvalidInput(
                    f"{name} of {self.title} is defined as {plain(entry.definition)}; give "
                    + ", ".join(sorted(s.name for s in self.expand(entry.symbol).free_symbols))
                )
            numbers[name] = arithmetic.exact_number(name, value)
        return numbers

    def _failing_hypotheses(
        self, values: Assignment, numbers: Mapping[str, Fraction], complete: bool
    ) -> Iterator[Assumption | Outside | Rule]:
        """Yield the hypotheses that fail at numbers; where `complete`, a missing number is refused."""
        floats = any(isinstance(value, float) for value in values.values())
        for name, value in numbers.items():
            if name in self.symbols and not domain_admits(self.symbols[name].domain, value):
                yield Outside(self.symbols[name])
        for assumption in self.assumptions:
            if assumption.relation is None:
                continue
            relation = self.expand(assumption.relation)
            if complete:
                self._require_values(relation, numbers)
            elif not {s.name for s in relation.free_symbols} <= set(numbers):
                continue
            if not _decide_relation(relation, numbers, floats):
                yield assumption

    def _require_values(self, expr: sympy.Basic, numbers: Mapping[str, Number]) -> None:
        """Refuse numbers that lack a symbol which an expression needs."""
        for name in self.needs(expr):
            if name not in numbers:
                raise InvalidInput(
                    f"{self.title} needs {name}, {self.symbols[name].meaning}; none was given"
                )

    def _shown_values(self, broken: Assumption | Outside | Rule, values: Assignment) -> str:
        """Return the values on which a failing hypothesis depends, as text."""
        values = {getattr(key, "name", key): value for key, value in values.items()}
        return _list_values(
            values, [broken.name] if isinstance(broken, Outside) else self.needs(broken.relation)
        )

    def fast(self, values: Any, line: Number = 0) -> "np.ndarray":
        """Return the right-hand side at arrays of numbers, without checking assumptions (see
        `mask`). The result agrees with `evaluate`."""
        expr = self.lines[line][2]
        self._require_values(expr, values)
        return arrays.sweep_expression(
            self.expand(expr), {name: values[name] for name in self.needs(expr)}
        )

    def fast_left(self, values: Any, line: Number = 0) -> "np.ndarray":
        """Return the left-hand side at arrays of numbers, as `fast` does the right-hand side."""
        expr = self.lines[line][0]
        self._require_values(expr, values)
        return arrays.sweep_expression(
            self.expand(expr), {name: values[name] for name in self.needs(expr)}
        )

    def mask(self, values: Assignment) -> "np.ndarray | bool":
        """Return where arrays of numbers satisfy every assumption between numbers."""
        good = True
        for assumption in self.assumptions:
            if assumption.relation is not None:
                relation = self.expand(assumption.relation)
                self._require_values(relation, values)
                good = good & arrays.holds_at(
                    relation, {s.name: values[s.name] for s in relation.free_symbols}
                )
        return good


def _decide_relation(relation: sympy.Rel, numbers: Mapping[str, Fraction], floats: bool) -> bool:
    """Tell whether a relation holds at numbers. Numbers that were rounded to floats satisfy the
    relation up to rounding."""
    if relation in (sympy.true, sympy.false):
        return relation is sympy.true
    try:
        truth = arithmetic.decide_relation(relation, numbers)
    except arithmetic.Undefined:
        return False
    if truth is None:  # undecided: both sides are equal to thousands of bits
        return not isinstance(relation, (sympy.StrictLessThan, sympy.StrictGreaterThan))
    if not truth and floats:
        near = {s.name: float(numbers[s.name]) for s in relation.free_symbols}
        return bool(arrays.holds_at(relation, near)) and not isinstance(
            relation, (sympy.Lt, sympy.Gt)
        )
    return truth


def _list_values(values: Assignment, names: Sequence[str]) -> str:
    """Return "name=value, ..." for the names that have a value."""
    values = {getattr(key, "name", key): value for key, value in values.items()}
    as_text = lambda v: str(v) if isinstance(v, (int, float, Fraction, sympy.Basic)) else show(v)
    return ", ".join(f"{name}={as_text(values[name])}" for name in names if name in values)
