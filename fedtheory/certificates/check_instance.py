"""Checker of a counterexample from its document alone: evaluates the definitions at the instance in
rational numbers, without the engine.

The document carries the instance as plain numbers, the values of free symbols, and the claim's
formulas as short programs. The checker derives constants and measured quantities anew from the
instance, decides every hypothesis, and requires that the line fails. It computes in Fractions, or
in intervals with rational ends where roots and logarithms appear.

A document refutes the statement that it carries; whether that statement is the recorded claim is
checked by `replaying`. A statement is about the instance: each of its symbols gets its value in one
way, and no derived or measured value may be given in the document.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from fedtheory import arithmetic
from fedtheory.arithmetic.domains import DOMAINS, domain_admits
from fedtheory.arithmetic.intervals import Enclosures
from fedtheory.arithmetic.operations import BITS, Interval, ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates.check_proof import Refused, require
from fedtheory.certificates.documents import (
    check_entries,
    check_sealed,
    digest_of,
    parse_fraction,
    refuse_malformed,
)
from fedtheory.errors import show
from fedtheory.models import Model, by_name
from fedtheory.models.instances import fault_of

__all__ = [
    "FORMAT",
    "Refused",
    "approximate_text",
    "check",
    "digest_of",
    "parse_fraction",
    "read_numbers",
    "formula_value",
]
FORMAT = "fedtheory counterexample 1"
ENTRIES = (
    "claim",
    "cites",
    "line",
    "setting",
    "instance",
    "numbers",
    "symbols",
    "statement",
    "values",
    "left",
    "right",
)
STATES = ("says", "left", "sign", "right", "assumes", "conditions", "domains", "measured", "solved")
RULES = Enclosures(BITS)
# The types of each operation, (operands, result): n is a number, t a truth value; a star stands for
# any number of the last operand.
OPERATIONS = dict(
    number=("", "n"),
    symbol=("", "n"),
    truth=("", "t"),
    add=("nn*", "n"),
    mul=("nn*", "n"),
    power=("n", "n"),
    integer_power=("nn", "n"),
    exp=("n", "n"),
    log=("n", "n"),
    min=("nn*", "n"),
    max=("nn*", "n"),
    abs=("n", "n"),
    floor=("n", "n"),
    ceiling=("n", "n"),
    le=("nn", "t"),
    lt=("nn", "t"),
    ge=("nn", "t"),
    gt=("nn", "t"),
    eq=("nn", "t"),
    ne=("nn", "t"),
    both=("tt*", "t"),
)
# limits: steps of a formula, names of a statement, the highest power, the deepest root
STEPS, NAMES, HIGHEST, DEEPEST = 5000, 500, 1000, 100
COUNT, PARTS = 10_000, 5000  # limits: the largest integer of an instance, and its number of values


def read_numbers(tree: Any) -> dict[str, Any]:
    """Return an instance with its numbers parsed: texts of digits become Fractions, other texts
    stay words."""
    require(count_values(tree) <= PARTS, f"its instance has more than {PARTS} values")
    return _read_numbers(tree)


def instance_of(document: Any, setting: Model) -> dict[str, Any]:
    """Return the instance of a document with its numbers parsed; raise Refused unless the instance
    is one of the model."""
    read = read_numbers(document["instance"])
    why = fault_of(setting, document["instance"], parse_fraction)
    require(why is None, f"it is no instance of {setting.name}: {why}")
    return read


def count_values(tree: Any) -> int:
    """Return how many values plain data holds."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return 1 + sum(map(count_values, parts))


def _read_numbers(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _read_numbers(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_read_numbers(value) for value in tree]
    if isinstance(tree, str) and re.match("-?[0-9]", tree):
        return parse_fraction(tree)
    require(type(tree) in (int, str), f"no number: {show(tree)}")
    require(
        isinstance(tree, str) or abs(tree) <= COUNT, f"{show(tree)} is more than is counted here"
    )
    return tree


def read_program(steps: Sequence[Any], kind: str = "n") -> tuple[Any, ...]:
    """Return a formula of the document (or a relation, kind "t") as a program for
    `arithmetic.execute_program`."""
    found, kinds = [], ""
    require(isinstance(steps, list) and 0 < len(steps) <= STEPS, "no formula")
    for n, step in enumerate(steps):
        require(
            isinstance(step, list) and len(step) == 3 and isinstance(step[0], str),
            f"no operation: {show(step)}",
        )
        op, operands, detail = step
        require(
            isinstance(operands, list)
            and all(type(k) is int and 0 <= k < n for k in operands)
            and fits_operands(op, "".join(kinds[k] for k in operands)),
            f"no operation: {show(step)}",
        )
        if op == "number":
            detail = parse_fraction(detail)
        elif op == "power":
            require(
                isinstance(detail, list) and len(detail) == 2 and type(detail[1]) is bool,
                f"no power: {show(detail)}",
            )
            detail = (parse_fraction(detail[0]), detail[1])
            require(
                abs(detail[0].numerator) <= HIGHEST and detail[0].denominator <= DEEPEST,
                f"no power: {detail[0]}",
            )
        else:
            require(
                {"symbol": str, "truth": bool, "integer_power": bool}.get(op, type(None))
                is type(detail),
                f"no operation: {show(step)}",
            )
        found.append((op, tuple(operands), detail))
        kinds += "n" if op == "piecewise" else OPERATIONS[op][1]
    require(kinds[-1] == kind, "a truth stands where a number should, or the other way round")
    return tuple(found)


def fits_operands(op: str, kinds: str) -> bool:
    """Tell whether an operation takes operands of these kinds."""
    if op == "piecewise":
        return bool(re.fullmatch("(tn)+", kinds))
    return op in OPERATIONS and bool(re.fullmatch(OPERATIONS[op][0], kinds))


def symbols_of(steps: Sequence[Any]) -> set[str]:
    """Return the symbols of a program."""
    return {detail for op, _, detail in steps if op == "symbol"}


def measured_side(steps: Sequence[Any], pairs: Mapping[str, Any]) -> Interval | Counted:
    """Return the value of a left side. A measured quantity in it may be infinite, such as the
    number of rounds to an error that is never reached."""
    endless = {name for name, ends in pairs.items() if isinstance(ends[1], float)}
    if not endless & symbols_of(read_program(steps)):
        return formula_value(steps, pairs)
    return Interval(*arithmetic.execute_program(read_program(steps), RULES, pairs))


def formula_value(steps: Sequence[Any], pairs: Mapping[str, Any]) -> Interval | Counted:
    """Return the value of a formula of the document, a Fraction or an Interval."""
    low, high = arithmetic.execute_program(read_program(steps), RULES, pairs)
    require(not isinstance(low, float) and not isinstance(high, float), "a side is infinite")
    return low if low == high else Interval(low, high)


class Statement:
    """The statement of a document: programs, and the source of the value of each of their symbols."""

    def __init__(self, document: Any, setting: Model) -> None:
        said = document["statement"]
        check_entries(said, "the statement", *STATES)
        self.setting, self.sign, self.says = setting, said["sign"], said["says"]
        require(
            isinstance(self.says, str) and isinstance(document["claim"], str),
            "its words are no texts",
        )
        self.left, self.right = read_program(said["left"]), read_program(said["right"])
        self.domains, self.measured, self.conditions = (
            said["domains"],
            said["measured"],
            said["conditions"],
        )
        for names in (self.domains, self.measured, self.conditions, document["numbers"]):
            require(isinstance(names, dict) and len(names) <= NAMES, "no names, or too many")
        require(all(domain in DOMAINS for domain in self.domains.values()), "no domain")
        require(
            isinstance(said["assumes"], list) and len(said["assumes"]) <= NAMES, "no hypotheses"
        )
        for rule in said["assumes"]:
            check_entries(rule, "a hypothesis", "says", "program")
        self.assumes = [
            (rule["says"], read_program(rule["program"], "t")) for rule in said["assumes"]
        ]
        require(
            isinstance(said["solved"], list) and len(said["solved"]) <= NAMES,
            "no values of symbols",
        )
        self.solved = {name: steps for name, steps in said["solved"]}  # noqa: C416 (pairs, no mapping)
        require(len(self.solved) == len(said["solved"]), "a symbol is solved for twice")
        used = set().union(
            *map(symbols_of, (self.left, self.right, *(steps for _, steps in self.assumes)))
        )
        require(
            used <= self.domains.keys() | self.measured.keys(),
            "a symbol has no domain and is not measured",
        )

    def values(self, document: Any, instance: Any) -> dict[str, Any]:
        """Return the value of every symbol, from exactly one source: the instance, the given
        numbers, or an equation."""
        setting, given = self.setting, document["numbers"]
        measurable = {
            name for name, entry in setting.table.items() if entry.measure in setting.measures
        }
        require(
            set(self.measured.values()) <= measurable, "it speaks of what is not measured there"
        )
        free = {**{name: setting.table[name].domain for name in setting.takes}, **self.domains}
        for name in [*given, *self.solved, *free]:
            require(
                name not in measurable and name not in self.measured,
                f"{name} is measured there, so it is not free",
            )
        tight = setting.constants(instance)
        for name in [*given, *self.solved]:
            require(name in free, f"{name} has a value and no domain")
        values = {
            name: number for name, number in tight.items() if name in free or name in measurable
        }
        for name, text in given.items():
            # the document gives this constant looser than its tight value
            if name in setting.loose and name in tight:
                values[name] = self.looser(name, text, tight[name])
            else:
                require(name not in tight, f"{name} is not free here")
                require(isinstance(text, str), f"no number: {show(text)}")
                values[name] = self.read_number(name, text)
        values.update(
            {mine: values[theirs] for mine, theirs in self.measured.items() if theirs in values}
        )
        for name, steps in self.solved.items():
            require(name not in values, f"{name} is given twice")
            values[name] = self.solution(steps, values)
        for name, domain in free.items():
            require(name in values, f"nothing gives {name}")
            low, high = ends_of(values[name])
            require(
                domain_admits(domain, low) and (low == high or domain_admits(domain, high)),
                f"{name} lies outside its domain",
            )
        missing = {theirs for theirs in self.measured.values() if theirs not in values}
        found = setting.measured(instance, {**tight, **values}, sorted(missing))
        values.update(
            {mine: found[theirs] for mine, theirs in self.measured.items() if theirs in missing}
        )
        return {name: values[name] for name in (*self.domains, *self.measured)}

    def read_number(self, name: str, text: Any) -> Any:
        """Return the number that a document gives for a name: a text, or the two ends of an
        interval."""
        if isinstance(text, str):
            return parse_fraction(text)
        require(isinstance(text, list) and len(text) == 2, f"no number: {show(text)}")
        return Interval(*map(parse_fraction, text))

    def looser(self, name: str, text: str | Sequence[str], tight: Fraction | Counted) -> Counted:
        """Return a given bound; refuse a bound that is tighter than the instance's own."""
        given = self.read_number(name, text)
        low, high = ends_of(given)
        require(low <= high, f"no number: {show(text)}")
        require(not isinstance(tight, float), f"{name} is not finite")
        slack = given - tight if self.setting.loose[name] > 0 else tight - given
        require(self.certain(slack), f"{name} is no bound of this instance")
        return given

    def certain(self, slack: Counted | Fraction) -> bool:
        """Tell whether a number is certainly nonnegative."""
        return ends_of(slack)[0] >= 0

    def solution(self, steps: Sequence[Any], values: Any) -> Interval | Counted:
        """Return the value of a symbol that an equation fixes."""
        return formula_value(steps, pair_values(values))


def pair_values(values: Any) -> dict[str, Any]:
    return {
        name: ends_of(number) for name, number in values.items() if not isinstance(number, float)
    }


def came_from(setting: Model) -> Any:
    """Return the entry of a document about the source of a model; None for a model of this
    library."""
    return dict(zip(("file", "sha256"), setting.source)) if setting.source else None


def at_hand(document: Any) -> Model | None:
    """Return the model of a document. A user's model must be the one with which the document
    was made: its file is identified by the hash, and never read unless the user gives the file."""
    setting, told = by_name(document["setting"]), document.get("from")
    if told is not None:
        check_entries(told, "`from`", "file", "sha256")
    wanted = told and f"it was made with the file {show(told['file'])}, SHA-256 {told['sha256']}"
    if told is not None and not told["sha256"]:
        wanted = "it was made with what no file holds, as in a notebook"
    given = f"no setting: {show(document['setting'])}"
    require(setting is not None, f"{wanted}: give it with --with" if wanted else given)
    if came_from(setting) != told:
        require(told is not None, f"it does not say with which file {setting.name} was made")
        mine = setting.source[1] if setting.source else "none"
        require(False, f"{wanted}; the one at hand is another ({mine})")
    return setting


@refuse_malformed
def check(document: Any) -> dict[str, Any]:
    """Raise Refused unless the document's instance meets every hypothesis and breaks the line;
    return {"left", "right", ...}."""
    check_sealed(document, FORMAT, *ENTRIES, perhaps=("from",))
    setting = at_hand(document)
    stated, instance = Statement(document, setting), instance_of(document, setting)
    values = stated.values(document, instance)
    pairs = pair_values(values)
    for says, steps in stated.assumes:
        require(certainly_holds(steps, pairs, stated.solved), f"does not meet: {says}")
    held = setting.ensures if setting.holds is None else setting.holds(instance)
    require(held or not setting.ensures, "its parts do not fit together")
    for name, says in stated.conditions.items():
        require(name in held, f"does not meet: {says}")
    left = measured_side(document["statement"]["left"], pairs)
    right = formula_value(document["statement"]["right"], pairs)
    (low, high), (least, most) = ends_of(left), ends_of(right)
    broken = {
        "<=": low > most,
        "<": low >= most,
        ">=": high < least,
        ">": high <= least,
        "==": low > most or high < least,
    }[stated.sign]
    require(broken, "the line holds there, or no enclosure decides")
    shown = {name: approximate_text(values[name]) for name in sorted(values)}
    for name, told in (
        ("values", shown),
        ("left", approximate_text(left)),
        ("right", approximate_text(right)),
    ):
        require(document[name] == told, f"its {name} is not what its instance gives")
    return dict(
        status="violated",
        claim=document["claim"],
        says=stated.says,
        left=left,
        right=right,
        values=values,
    )


def certainly_holds(
    steps: Sequence[Any], pairs: Mapping[str, Any], solved: Mapping[str, Any]
) -> bool:
    """Tell whether a relation certainly holds; for an equation between roots that fixed a symbol,
    whether the sides agree within the enclosures of the roots."""
    try:
        truth = arithmetic.execute_program(steps, RULES, pairs)
    except arithmetic.Undefined:
        return False
    if truth is None and steps[-1][0] == "eq" and symbols_of(steps) & solved.keys():
        gap = (
            *steps[:-1],
            ("number", (), Fraction(-1)),
            ("mul", (steps[-1][1][1], len(steps) - 1), None),
            ("add", (steps[-1][1][0], len(steps)), None),
        )
        low, high = arithmetic.execute_program(gap, RULES, pairs)
        return low <= 0 <= high and high - low <= Fraction(1, 2**200)
    return truth is True


def approximate_text(value: Any) -> str:
    """Return a value as text for the reader: a fraction where the fraction is short, else a
    decimal."""
    low, high = ends_of(value)
    if isinstance(high, float):
        return "infinite" if low == high else f"at least {approximate_text(low)}"
    if (
        low == high
        and max(low.numerator.bit_length(), low.denominator.bit_length()) <= 80
        and len(str(low)) <= 24
    ):
        return str(low)
    middle = (low + high) / 2
    try:
        return repr(float(middle))
    except OverflowError:
        return f"{Decimal(middle.numerator) / middle.denominator:.6e}"
