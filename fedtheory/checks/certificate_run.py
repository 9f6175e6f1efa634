"""Checks a counterexample from its document alone: the instance, in rationals, through the definitions; no engine.

The document carries the instance as plain numbers, the values of free symbols, and the claim's formulas as short
programs. Constants and measured quantities are derived anew from the instance, every hypothesis is decided, and the
line must fail: all in Fractions, or in intervals with rational ends where roots and logarithms appear.
"""

import hashlib
import json
import re
from fractions import Fraction
from functools import wraps

from fedtheory import enclosure
from fedtheory.checks.certificate_algebra import Refused, require
from fedtheory.checks.settings import by_name
from fedtheory.enclosure.arithmetic import BITS, Interval, pair
from fedtheory.enclosure.intervals import Enclosures
from fedtheory.symbol import admits

FORMAT = "fedtheory counterexample 1"
RULES = Enclosures(BITS)
OPERATIONS = {"number", "truth", "symbol", "add", "mul", "power", "integer_power", "exp", "log", "min", "max", "abs",
              "floor", "ceiling", "le", "lt", "ge", "gt", "eq", "ne", "both", "piecewise"}
NUMBER = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")


def digest(document):
    """What a document's content hashes to, its own digest left out."""
    body = {key: value for key, value in document.items() if key != "digest"}
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def fraction(text):
    require(isinstance(text, str) and NUMBER.fullmatch(text), f"no number: {str(text)[:40]}")
    value = text.partition("/")[2]
    require(not value or int(value) != 0, f"no number: {text[:40]}")
    return Fraction(text)


def numbers(tree):
    """Plain data with its numbers read: texts of digits are Fractions, other texts stay."""
    if isinstance(tree, dict):
        return {key: numbers(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [numbers(value) for value in tree]
    if isinstance(tree, str) and NUMBER.fullmatch(tree):
        return fraction(tree)
    require(isinstance(tree, (int, str)) and not isinstance(tree, float), f"no number: {tree!r}")
    return tree


def program(steps):
    """A formula of the document, for `enclosure.execute`."""
    found = []
    require(isinstance(steps, list) and 0 < len(steps) <= 10_000, "no formula")
    for n, (op, operands, detail) in enumerate(steps):
        require(op in OPERATIONS and all(type(k) is int and 0 <= k < n for k in operands), f"no operation: {op}")
        if op == "number":
            detail = fraction(detail)
        elif op == "power":
            detail = (fraction(detail[0]), bool(detail[1]))
            require(abs(detail[0]) <= 1000, f"no power: {detail[0]}")
        found.append((op, tuple(operands), detail))
    return tuple(found)


def run(steps, values):
    pairs = {name: pair(value) for name, value in values.items() if not isinstance(value, float)}
    return enclosure.execute(program(steps), RULES, pairs)


def value(steps, values):
    low, high = run(steps, values)
    require(not isinstance(low, float) and not isinstance(high, float), "a side is infinite")
    return low if low == high else Interval(low, high)


def refusing(check):
    """A check of a document that says Refused, whatever a malformed one leads to."""
    @wraps(check)
    def checked(document):
        try:
            return check(document)
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"the document is not well formed: {error!r}") from None
    return checked


@refusing
def check(document):
    """Refused unless the document's instance meets every hypothesis and breaks the line; {"left", "right", ...}."""
    require(document.get("format") == FORMAT, "no counterexample of this format")
    require(document.get("digest") == digest(document), "its content does not match its digest: it was changed")
    setting = by_name(document["setting"])
    require(setting is not None, f"no setting: {document['setting']}")
    instance, statement = numbers(document["instance"]), document["statement"]
    tight = setting.constants(instance)
    values = dict(tight)
    for name, text in document["numbers"].items():
        given = fraction(text) if isinstance(text, str) else Interval(*map(fraction, text))
        if name in setting.loose:    # a constant given more loosely than it is
            way = setting.loose[name]
            require(not isinstance(tight[name], float), f"{name} is not finite")
            low, high = pair(given - tight[name] if way > 0 else tight[name] - given)
            require(low >= 0, f"{name} is no bound of this instance")
        else:
            require(name not in tight, f"{name} is not free here")
        values[name] = given
    measured = statement["measured"]
    require(set(measured.values()) <= {n for n, e in setting.table.items() if e.measure is not None}, "no measure")
    for mine, theirs in measured.items():
        if theirs in values:
            values[mine] = values[theirs]
    for name, steps in statement["solved"]:
        require(name not in tight and name not in document["numbers"], f"{name} is given twice")
        values[name] = value(steps, values)
    missing = [theirs for theirs in measured.values() if theirs not in values]
    found = setting.measured(instance, values, sorted(set(missing)))
    values.update({mine: found[theirs] for mine, theirs in measured.items() if theirs in found})
    for name, domain in statement["domains"].items():
        low, high = pair(values[name])
        require(admits(domain, low) and (low == high or admits(domain, high)), f"{name} lies outside its domain")
    for rule in statement["assumes"]:
        require(holds(rule, values), f"does not meet: {rule['says']}")
    held = setting.ensures if setting.holds is None else setting.holds(instance)
    require(held or not setting.ensures, "its parts do not fit together")
    for name, says in statement["conditions"].items():
        require(name in held, f"does not meet: {says}")
    left, right = value(statement["left"], values), value(statement["right"], values)
    (low, high), (least, most) = pair(left), pair(right)
    broken = {"<=": low > most, "<": low >= most, ">=": high < least, ">": high <= least,
              "==": low > most or high < least}[statement["sign"]]
    require(broken, "the line holds there, or no enclosure decides")
    return dict(status="violated", claim=document["claim"], says=statement["says"], left=left, right=right,
                values={name: v for name, v in values.items() if name in document["symbols"]})


def holds(rule, values):
    """A relation certainly holds; an equation between roots, as far as it fixed a symbol, within their enclosure."""
    truth = run(rule["program"], values)
    if truth is None and rule.get("gap"):
        low, high = run(rule["gap"], values)
        return low <= 0 <= high and high - low <= Fraction(1, 2**200)
    return truth is True
