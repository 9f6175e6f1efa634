"""Judges a counterexample: the statement is typed anew, the instance is run anew, and the line must
fail.

A Claim's formulas are plain functions of the numbers that it names. They must agree with the
document's own formulas wherever they are tried, so that a document that states something else is
refused; the verdict itself is taken from what is typed here. A World knows the instances of some
settings: facts, conditions and measurements by definition.
"""

import random
import re
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from tests.second_opinion import reals
from tests.second_opinion.reals import Real, Unknown, real

NUMBER = re.compile(r"-?[0-9]{1,4000}(/[0-9]*[1-9][0-9]*)?")
SIGNS = ("<=", "<", ">=", ">", "==")


class Refused(ValueError):
    """The document is no evidence for the claim that it names."""


def require(truth, why):
    if not truth:
        raise Refused(why)


class World(NamedTuple):
    """What a setting's instances are, by definition."""

    facts: (
        Callable  # (instance) -> {symbol: Real} known of it; raises Refused where it is no instance
    )
    holds: Callable  # (instance) -> names of the conditions that it meets
    measure: Callable  # (instance, values, wanted) -> {symbol: Real}
    # facts that a document may state more loosely: 1 an upper bound, -1 a lower one
    loose: dict = {}
    free: tuple = ()  # numbers that a document must give


class Claim(NamedTuple):
    lines: tuple  # (left, sign, right), functions of the values
    measured: dict  # symbol -> symbol of the world that it means
    assumes: tuple = ()  # (left, sign, right) likewise
    conditions: frozenset = frozenset()
    worlds: tuple = ()  # names of the settings that may speak of it
    solved: dict = {}  # symbol -> function that an equation of its hypotheses gives it


# Plain data


def number(text):
    require(isinstance(text, str) and NUMBER.fullmatch(text), f"no number: {text!r:.40}")
    return Fraction(text)


def numbers(tree):
    if isinstance(tree, dict):
        return {key: numbers(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [numbers(value) for value in tree]
    require(isinstance(tree, (str, int)) and not isinstance(tree, bool), f"no number: {tree!r:.40}")
    return Fraction(tree) if isinstance(tree, str) and NUMBER.fullmatch(tree) else tree


def domain_admits(domain, value):
    low, high = value.low, value.high
    if domain == "count":
        return low == high and low.denominator == 1 and low >= 1
    return {
        "positive": low > 0,
        "nonnegative": low >= 0,
        "real": True,
        "unit": low >= 0 and high <= 1,
    }.get(domain, False)


# The document's formulas, for comparison alone


def run(program, values):
    """Values of all nodes of a program; the last is the formula, True, False or a Real."""
    found = []
    require(isinstance(program, list) and 0 < len(program) < 2000, "no formula")
    for op, operands, detail in program:
        require(all(type(k) is int and 0 <= k < len(found) for k in operands), "no formula")
        args = [found[k] for k in operands]
        if op == "number":
            found.append(real(number(detail)))
        elif op == "symbol":
            require(detail in values, f"no symbol of the claim: {detail}")
            found.append(real(values[detail]))
        elif op == "power":
            exponent = number(detail[0])
            base = args[0] ** exponent.numerator
            found.append(
                reals.root(base, exponent.denominator) if exponent.denominator > 1 else base
            )
        elif op in OPERATIONS:
            found.append(OPERATIONS[op](*args))
        else:
            require(False, f"no operation: {op}")
    return found


def product(*args):
    total = real(1)
    for a in args:
        total = total * a
    return total


def piecewise(*args):
    """(value, condition) pairs."""
    for value, when in zip(args[::2], args[1::2]):
        if when:
            return value
    raise Unknown("no case")


OPERATIONS = {
    "add": lambda *args: sum(args, real(0)),
    "mul": product,
    "min": reals.least,
    "max": reals.most,
    "abs": abs,
    "exp": reals.exp,
    "log": reals.log,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: not a == b,
    "both": lambda *args: all(args),
    "piecewise": piecewise,
    "truth": lambda: True,
    "integer_power": lambda a, b: a ** int(b.low),
}


class Reader(dict):
    """Values, and which of them were asked for."""

    def __init__(self, values):
        super().__init__(values)
        self.asked = set()

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)

    __getattr__ = __getitem__


def asked_by(functions, names):
    """Which of the names some formulas read: those in cases that do not arise here included."""
    found, chance = set(), random.Random(1)
    for _ in range(6):
        reader = Reader(
            {name: real(Fraction(chance.randint(1, 40), chance.randint(1, 12))) for name in names}
        )
        for f in functions:
            try:
                f(reader)
            except Unknown:
                pass
        found |= reader.asked
    return found


def agree(program, typed, names, domains, seed):
    """Whether a program has the values of a typed formula at random points."""
    chance, met = random.Random(seed), 0
    for _ in range(40):
        point = {
            name: real(
                chance.randint(1, 6)
                if domains.get(name) == "count"
                else Fraction(chance.randint(1, 60), chance.randint(7, 60))
            )
            for name in sorted(names)
        }
        try:
            mine = typed(Reader(point))
        except Unknown:
            continue
        try:
            theirs = run(program, point)[-1]
        except (Unknown, TypeError, OverflowError, ZeroDivisionError):
            return False
        if not isinstance(theirs, Real):
            return False
        size = 1 + max(abs(mine.low), abs(mine.high))
        if (
            max(mine.low, theirs.low) - min(mine.high, theirs.high) > 0
            or (theirs.high - theirs.low) + (mine.high - mine.low) > size / 10**30
        ):
            return False
        met += 1
        if met == 5:
            return True
    return met > 0


def sides(rule):
    """(gap, strictness) of a rule of the document: what it says is >= 0."""
    program = rule["program"]
    op, operands, _ = program[-1]
    require(op in ("le", "lt", "ge", "gt", "eq") and len(operands) == 2, "no relation")
    (left, right), sign = operands, {"le": "<=", "lt": "<", "ge": ">=", "gt": ">", "eq": "=="}[op]
    low, high = (left, right) if "<" in sign or sign == "==" else (right, left)
    body = program[:-1]
    minus = [
        ["number", [], "-1"],
        ["mul", [len(body), low], None],
        ["add", [high, len(body) + 1], None],
    ]
    return body + minus, sign.replace(">", "<")


def gap(relation):
    left, sign, right = relation
    if "<" in sign or sign == "==":
        return lambda v: real(right(v)) - left(v)
    return lambda v: real(left(v)) - right(v)


def negated(program):
    end = len(program)
    return program + [["number", [], "-1"], ["mul", [end - 1, end], None]]


def same_rules(rules, typed, names, domains):
    left = list(rules)
    for k, relation in enumerate(typed):
        for rule in left:
            program, sign = sides(rule)
            if sign != relation[1].replace(">", "<"):
                continue
            ways = [program, negated(program)] if sign == "==" else [program]
            if any(agree(way, gap(relation), names, domains, k) for way in ways):
                left.remove(rule)
                break
        else:
            return False
    return not left


# Judging


def counterexample(document, claims, worlds, domains, read):
    """(left, right) at the instance; Refused unless it refutes the claim that it names. `read` refuses
    what is no instance of a setting."""
    require(document["format"] == "fedtheory counterexample 1", "no counterexample")
    require(document["claim"] in claims, f"nothing is typed here of {document['claim']}")
    claim = claims[document["claim"]]
    line, statement = document["line"], document["statement"]
    require(type(line) is int and 0 <= line < len(claim.lines), "no line of the claim")
    require(document["setting"] in claim.worlds, "another setting")
    world = worlds[document["setting"]]
    left, sign, right = claim.lines[line]
    # The statement
    used = asked_by(
        [left, right, *(f for relation in claim.assumes for f in (relation[0], relation[2]))],
        [*domains, *claim.measured],
    )
    every = asked_by(
        [f for one in claim.lines for f in (one[0], one[2])]
        + [f for relation in claim.assumes for f in (relation[0], relation[2])],
        [*domains, *claim.measured],
    )
    parameters = every - set(claim.measured)
    require(statement["sign"] == sign, "another relation")
    require(statement["domains"] == {name: domains[name] for name in parameters}, "other domains")
    require(set(statement["conditions"]) == claim.conditions, "other conditions")
    require(
        statement["measured"]
        == {mine: theirs for mine, theirs in claim.measured.items() if mine in used},
        "other measurements",
    )
    require(
        agree(statement["left"], lambda v: real(left(v)), every, domains, 7)
        and agree(statement["right"], lambda v: real(right(v)), every, domains, 8),
        "another line",
    )
    require(same_rules(statement["assumes"], claim.assumes, every, domains), "other hypotheses")
    require(
        [name for name, _ in statement["solved"]] == list(claim.solved)
        or sorted(name for name, _ in statement["solved"]) == sorted(claim.solved),
        "other equations",
    )
    # The instance
    read(document["setting"], document["instance"])
    instance = numbers(document["instance"])
    values = dict(world.facts(instance))
    given = document["numbers"]
    require(set(given) <= set(values) | set(world.free) | parameters, "a number of nothing")
    for name, text in given.items():
        told = real(number(text)) if isinstance(text, str) else Real(*map(number, text))
        if name in world.loose:
            slack = told - values[name] if world.loose[name] > 0 else real(values[name]) - told
            require(slack.low >= 0, f"{name} is no bound of this instance")
        else:
            require(name not in values and name not in claim.solved, f"{name} is not free")
        values[name] = told
    for name, way in world.loose.items():  # a bound that the document tells, if it is one
        told = document["values"].get(name, "")
        if (
            name not in given
            and NUMBER.fullmatch(told)
            and (
                real(number(told)) - values[name] if way > 0 else values[name] - real(number(told))
            ).low
            >= 0
        ):
            values[name] = real(number(told))
    for name, formula in claim.solved.items():
        values[name] = formula(Reader(values))
    try:
        missing = {
            mine: theirs
            for mine, theirs in claim.measured.items()
            if theirs not in values and mine in used
        }
        found = world.measure(instance, Reader(values), sorted(set(missing.values())))
        values.update({mine: found[theirs] for mine, theirs in missing.items()})
        values.update(
            {mine: values[theirs] for mine, theirs in claim.measured.items() if theirs in values}
        )
        values = Reader(values)
        for name in sorted(parameters):
            require(
                domain_admits(domains[name], real(values[name])), f"{name} is outside its domain"
            )
        for low, relation, high in claim.assumes:
            if relation == "==" and claim.solved:
                difference = real(low(values)) - high(values)
                require(
                    difference.low <= 0 <= difference.high
                    and difference.high - difference.low < Fraction(1, 10**60),
                    "a hypothesis fails",
                )
            else:
                require(
                    compare(real(low(values)), relation, real(high(values))), "a hypothesis fails"
                )
        require(
            claim.conditions <= set(world.holds(instance)),
            "a condition fails: "
            + ", ".join(sorted(claim.conditions - set(world.holds(instance)))),
        )
        mine, theirs = real(left(values)), real(right(values))
        broken = fails(mine, sign, theirs)
    except (Unknown, KeyError, IndexError, TypeError, AttributeError) as error:
        raise Refused(f"no value: {error!r}") from None
    require(broken, "the line holds there")
    # What it tells its reader
    for name, text in {
        **document["values"],
        "left": document["left"],
        "right": document["right"],
    }.items():
        value = dict(left=mine, right=theirs).get(name)
        value = values[name] if value is None else value
        require(near(text, real(value)), f"it tells another {name}")
    return mine, theirs


def compare(a, sign, b):
    return {
        "<=": lambda: a <= b,
        "<": lambda: a < b,
        ">=": lambda: a >= b,
        ">": lambda: a > b,
        "==": lambda: a == b,
    }[sign]()


def fails(a, sign, b):
    """Whether a line certainly fails."""
    if sign == "==":
        return (a - b).low > 0 or (a - b).high < 0
    return {"<=": a.low > b.high, "<": a.low >= b.high, ">=": a.high < b.low, ">": a.high <= b.low}[
        sign
    ]


def near(text, value):
    try:
        told = Fraction(text)
    except (ValueError, TypeError):
        return False
    return value.low - abs(value.low) / 10**5 <= told <= value.high + abs(value.high) / 10**5
