"""Formulas as programs of additions, products, powers and similar instructions, with common parts
computed once. No text is ever evaluated."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy

from fedtheory.errors import InvalidInput, show


class Undefined(InvalidInput):
    """An error for a formula that has no value at these numbers (0/0, the root of a negative
    number, ...)."""


class Unknown(Undefined):
    """An error for a formula where no enclosure tells whether it has a value at these numbers."""


class NoInstance(Undefined):
    """An error for numbers at which nothing can run, because the code to run refuses them."""


# Programs: each instruction is (operation, operands, detail); operands are positions of earlier
# results.


@lru_cache(maxsize=4096)
def compile_expression(expr: sympy.Basic) -> tuple[tuple[str, tuple[int, ...], Any], ...]:
    """Return the instructions of an expression or a relation, with common parts once."""
    return compile_program((expr,))[0]


def compile_program(
    exprs: Sequence[sympy.Basic],
) -> tuple[tuple[tuple[str, tuple[int, ...], Any], ...], list[int]]:
    """Return (instructions of several expressions or relations, with shared parts once; the
    position of each result)."""
    steps, place = [], {}

    def emit(op: str, operands: tuple[int, ...], detail: Any = None) -> int:
        steps.append((op, operands, detail))
        return len(steps) - 1

    def visit(e: sympy.Basic) -> int:
        if e not in place:
            place[e] = instruction(e)
        return place[e]

    def instruction(e: sympy.Basic) -> int:
        if e.is_Rational:
            return emit("number", (), Fraction(int(e.p), int(e.q)))
        if e is sympy.true or e is sympy.false:
            return emit("truth", (), e is sympy.true)
        if e.is_Symbol:
            return emit("symbol", (), e.name)
        if e is sympy.E:
            return emit("exp", (emit("number", (), Fraction(1)),))
        if e.is_Pow:
            if e.base is sympy.E:
                return emit("exp", (visit(e.exp),))
            base = visit(e.base)
            if e.exp.is_Rational:
                return emit(
                    "power",
                    (base,),
                    (Fraction(int(e.exp.p), int(e.exp.q)), bool(e.base.is_nonnegative)),
                )
            if e.exp.is_integer:
                return emit("integer_power", (base, visit(e.exp)), bool(e.base.is_nonnegative))
            share, whole = e.exp.as_content_primitive()
            if whole.is_integer and share.is_Rational and not e.base.is_negative:
                # a power of a root, so that 0 to the power (T - 1)/2 has its value
                root = emit("power", (base,), (Fraction(1, int(share.q)), True))
                return emit("integer_power", (root, visit(share.p * whole)), True)
            return emit("exp", (emit("mul", (visit(e.exp), emit("log", (base,)))),))
        if isinstance(e, sympy.Piecewise):
            branches = [(visit(sympy.sympify(c)), visit(v)) for v, c in e.args]
            return emit("piecewise", tuple(part for branch in branches for part in branch))
        for kind, op in _OPERATIONS:
            if isinstance(e, kind):
                return emit(op, tuple(visit(a) for a in e.args))
        raise InvalidInput(
            f"a formula may not contain {show(e.func.__name__)}: only + - * / powers, min, max, "
            "abs, exp, log, floor, ceiling and cases"
        )

    ends = [visit(expr) for expr in exprs]
    return tuple(steps), ends


_OPERATIONS = (
    (sympy.Add, "add"),
    (sympy.Mul, "mul"),
    (sympy.Min, "min"),
    (sympy.Max, "max"),
    (sympy.Abs, "abs"),
    (sympy.exp, "exp"),
    (sympy.log, "log"),
    (sympy.floor, "floor"),
    (sympy.ceiling, "ceiling"),
    (sympy.Le, "le"),
    (sympy.Lt, "lt"),
    (sympy.Ge, "ge"),
    (sympy.Gt, "gt"),
    (sympy.Eq, "eq"),
    (sympy.Ne, "ne"),
    (sympy.And, "both"),
)


def execute_program(
    steps: Sequence[tuple[str, tuple[int, ...], Any]], arithmetic: Any, values: Mapping[str, Any]
) -> Any:
    """Return the last result of a program; `values` maps symbol names to the operands of the
    arithmetic.

    A part without a value (0/0) matters only if its value is used: a case that does not apply may
    be undefined.
    """
    results, lost = [], False
    for op, operands, detail in steps:
        if op == "symbol":
            results.append(values[detail])
            continue
        arguments = [results[n] for n in operands]
        if lost and op != "piecewise":
            undefined = next((a for a in arguments if isinstance(a, Undefined)), None)
            if undefined is not None:
                results.append(undefined)
                continue
        try:
            results.append(
                getattr(arithmetic, op)(*arguments, *(() if detail is None else (detail,)))
            )
        except Undefined as undefined:
            results.append(undefined)
            lost = True
    if isinstance(results[-1], Undefined):
        raise results[-1]
    return results[-1]


@lru_cache(maxsize=4096)
def bind_program(
    exprs: Sequence[sympy.Basic], arithmetic: Any
) -> Callable[[Mapping[str, Any]], list[Any]]:
    """Return a function from values to the results of several formulas, as `execute` computes them;
    parts without symbols are computed in advance. The arithmetic must keep no state and have a
    value for everything."""
    program, ends = compile_program(exprs)
    calls: list[tuple[int, Callable[..., Any] | None, Any]] = []
    constants: dict[int, Any] = {}
    for place, (op, operands, detail) in enumerate(program):
        if op == "symbol":
            calls.append((place, None, detail))
            continue
        function = getattr(arithmetic, op)
        function = function if detail is None else _with_detail(function, detail)
        if all(n in constants for n in operands):
            constants[place] = function(*[constants[n] for n in operands])
        else:
            calls.append((place, function, operands))
    known = [constants.get(place) for place in range(len(program))]

    def run(values: Mapping[str, Any]) -> list[Any]:
        results = known.copy()
        for place, function, operands in calls:
            results[place] = (
                values[operands] if function is None else function(*[results[n] for n in operands])
            )
        return [results[end] for end in ends]

    return run


def _with_detail(function: Callable[..., Any], detail: Any) -> Callable[..., Any]:
    return lambda *arguments: function(*arguments, detail)
