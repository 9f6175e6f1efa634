"""Printers of formulas as the papers write them, in plain text and in LaTeX.

A product is written with numbers first, then counts and step sizes, constants, sums, and measured
quantities last: 5 K_0^2 eta_0^2 L Psi, (1 + gamma) ||grad F||^2. A sum is written with measured
quantities first, and low powers before high powers. It begins without a minus sign where a positive
term can stand there: 1 - eta mu.
"""

from collections.abc import Sequence
from typing import Any

import sympy
from sympy.core.function import Function
from sympy.printing.latex import LatexPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from fedtheory.language.symbol import CURVATURE, PLAIN, STEP, Entry, Table
from fedtheory.typing import Number

NUMBER, COUNT, STEPS, CURVED, RATIO, CONSTANT, SUM, MEASURED = range(8)


class _Ordered:
    """A SymPy printer that orders factors and terms; SymPy's own order is used among equals."""

    entries: dict[str, Any] = {}  # name -> (position, Entry) in a table

    # Properties of symbols

    def table_entries(self, expr: Any) -> list[tuple[int, Entry]]:
        """Return (place, Entry) of each symbol of an expression that is in the table."""
        return [self.entries[s.name] for s in expr.free_symbols if s.name in self.entries]

    def measured_place(self, expr: Any) -> int | None:
        """Return the place in the table of the first measured symbol of an expression, or None."""
        return min((n for n, e in self.table_entries(expr) if e.measure is not None), default=None)

    def has_derived_unit(self, expr: Any) -> bool:
        """Tell whether an expression has a derived symbol with a unit, such as Phi; ratios such as
        kappa have none."""
        return any(
            e.definition is not None and e.unit != PLAIN for _, e in self.table_entries(expr)
        )

    def degree(self, term: Any) -> sympy.Expr | int:
        """Return the total power of the symbols of a term; derived symbols count with the degree of
        their definition."""
        if term.is_Pow:
            return self.degree(term.base) * term.exp if term.exp.is_Rational else 0
        if term.is_Mul:
            return sum(map(self.degree, term.args))
        if isinstance(term, sympy.Piecewise):
            return max(self.degree(value) for value, _ in term.args)
        if term.is_Add or isinstance(term, (sympy.Min, sympy.Max)):
            return max(map(self.degree, term.args))
        if not term.is_Symbol:
            return 0
        _, entry = self.entries.get(term.name, (0, None))
        derived = entry is not None and entry.definition is not None
        return self.degree(entry.definition) if derived else 1

    # Sums

    def _as_ordered_terms(self, expr: Number, order: Any = None) -> list[sympy.Expr | Any]:
        negative = lambda term: term.as_coeff_Mul()[0].is_negative

        def place(term: Any) -> tuple[int, bool, sympy.Expr | int, bool, bool]:
            at = self.measured_place(term)
            if at is None:
                symbols = bool(term.free_symbols)  # a constant sum such as 1 + 1/a
                return (1, symbols, self.degree(term), self.has_derived_unit(term), negative(term))
            # f(x_t) stands before its steps
            return (0, not term.is_Symbol, at, False, negative(term))

        terms = sorted(super()._as_ordered_terms(expr, order), key=place)  # type: ignore[misc]
        first = next((n for n, term in enumerate(terms) if not negative(term)), 0)
        return [terms[first], *terms[:first], *terms[first + 1 :]]

    # Products

    def rank(self, factor: Any) -> tuple[int, int, int]:
        """Return the sort key of a factor: its kind, and its place in the table."""
        base = factor.base if factor.is_Pow else factor
        if base.is_Number and (base is factor or factor.exp.is_Number):
            return NUMBER, 0, 0
        if base.is_Add or base.is_Mul or isinstance(base, Function) or not base.is_Symbol:
            return (MEASURED if base.is_Symbol else SUM), 0, 0
        if base.name not in self.entries:
            return (COUNT if base.is_integer else CONSTANT), 0, 0
        at, entry = self.entries[base.name]
        if entry.measure is not None:
            return MEASURED, 0, at
        derived = entry.definition is not None
        kinds = {STEP: STEPS, CURVATURE: CURVED, PLAIN: RATIO}
        kind = COUNT if entry.domain == "count" else kinds.get(entry.unit, CONSTANT)
        return kind, derived, at

    def fraction(self, expr: sympy.Expr) -> tuple[bool, list[sympy.Expr | Any], list[sympy.Expr]]:
        """Return (whether negative, numerator factors, denominator factors) of a product; square
        roots are merged into one."""
        number, above, below, negative = sympy.Integer(1), [], [], False
        queue = list(expr.as_ordered_factors())
        roots: dict[bool, list[Any]] = {True: [], False: []}
        while queue:
            factor = queue.pop(0)
            base, power = factor.as_base_exp()
            if factor.is_Mul:
                queue = [*factor.args, *queue]
            elif factor.is_Rational:
                number *= factor
            elif factor.is_Number and factor < 0:  # a negative float
                negative, queue = not negative, [-factor, *queue]
            elif power in (sympy.Rational(1, 2), -sympy.Rational(1, 2)):
                roots[power > 0].append(base)
            elif power.is_Rational and power < 0 and factor.is_Pow:
                content, base = base.primitive() if power == -1 and base.is_Add else (1, base)
                # 6 + 6 B^2 becomes 6 (1 + B^2), but no fraction is factored out
                if content.denominator != 1:
                    content, base = 1, factor.base
                number /= content
                below.append(sympy.Pow(base, -power))
            else:
                above.append(factor)
        for up, side in ((True, above), (False, below)):
            if roots[up]:
                inner = sympy.Mul(*sorted(roots[up], key=self.rank), evaluate=len(roots[up]) == 1)
                side.append(sympy.Pow(inner, sympy.Rational(1, 2), evaluate=False))
        above, below = sorted(above, key=self.rank), sorted(below, key=self.rank)
        if abs(number.p) != 1:
            above.insert(0, sympy.Integer(abs(number.p)))
        if number.q != 1:
            below.insert(0, sympy.Integer(number.q))
        return negative != bool(number < 0), above, below


def _is_below(power: sympy.Expr) -> bool | sympy.Basic:
    """Tell whether a power is written in the denominator: 1/x^2 for x^-2."""
    return power.exp.is_Rational and power.exp < 0


class _Plain(_Ordered, StrPrinter):
    def _print_Pow(self, expr: sympy.Expr, rational: bool = False) -> str:
        if _is_below(expr):
            return self._print_Mul(expr)
        return StrPrinter._print_Pow(self, expr, rational=rational)

    def _print_Mul(self, expr: sympy.Expr) -> str:
        negative, above, below = self.fraction(expr)
        level = PRECEDENCE["Mul"]
        joined = lambda factors: "*".join(
            self.parenthesize(f, level, strict=False) for f in factors
        )
        top, bottom = joined(above) or "1", joined(below)
        if len(below) > 1:
            bottom = f"({bottom})"
        return "-" * negative + top + (f"/{bottom}" if below else "")

    def _print_Piecewise(self, expr: sympy.Expr) -> str:
        return ", else ".join(
            self._print(value) + ("" if when is sympy.true else f" if {self._print(when)}")
            for value, when in expr.args
        )

    def _print_Relational(self, expr: sympy.Rel) -> str:
        return f"{self._print(expr.lhs)} {expr.rel_op.replace('==', '=')} {self._print(expr.rhs)}"

    def _print_Min(self, expr: sympy.Expr) -> str:
        return f"min({', '.join(map(self._print, expr.args))})"

    def _print_Max(self, expr: sympy.Expr) -> str:
        return f"max({', '.join(map(self._print, expr.args))})"


class _Latex(_Ordered, LatexPrinter):
    def _print_Pow(self, expr: sympy.Expr) -> str:
        return self._print_Mul(expr) if _is_below(expr) else LatexPrinter._print_Pow(self, expr)

    def _print_Mul(self, expr: sympy.Expr) -> str:
        negative, above, below = self.fraction(expr)
        top, bottom = self.join_factors(above) or "1", self.join_factors(below)
        return "- " * negative + (rf"\frac{{{top}}}{{{bottom}}}" if below else top)

    def join_factors(self, factors: Sequence[sympy.Expr]) -> str:
        out = ""
        for n, factor in enumerate(factors):
            text = self._print(factor)
            if len(factors) > 1 and self._needs_mul_brackets(
                factor, first=n == 0, last=n == len(factors) - 1
            ):
                text = rf"\left({text}\right)"
            # Two adjacent numbers would read as one.
            between = r" \cdot " if text[0].isdigit() and out else " "
            out += between * bool(out) + text
        return out


def plain(expr: sympy.Basic, table: Table | None = None) -> str:
    """Return a formula as text for terminals and error messages: K_0 eta_0 <= 1/(4 L)."""
    return _print_with(_Plain(), expr, table).replace("**", "^").replace("*", " ")


def latex(expr: sympy.Expr, table: Any) -> str:
    """Return the LaTeX of a formula with a table's letters."""
    return _print_with(
        _Latex(dict(symbol_names=table.latex_names(), fold_short_frac=False)), expr, table
    )


def _print_with(printer: Any, expr: Any, table: Table | None) -> str:
    entries = table.items() if table is not None else ()
    printer.entries = {name: (place, entry) for place, (name, entry) in enumerate(entries)}
    return printer.doprint(expr)
