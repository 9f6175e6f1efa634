"""A counterexample in words: what is claimed, the losses as formulas, the numbers, and the line with
the numbers put in.

It is told from the document alone, as whoever gets it by mail would have to; what decides is
`replay`.
"""

import re
from fractions import Fraction

from fedtheory.certificates import check_instance
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.settings import by_name
from fedtheory.statements import DENIED

SIGNS = dict(le="<=", lt="<", ge=">=", gt=">", eq="==", ne="!=", both="and")
SIDES = "left", "right"
CURVE = "slope", "tilt", "bends", "soft"
SUM, PRODUCT, OVER, ATOM = range(
    4
)  # how closely a piece of a formula holds; OVER: one over another
LONG = 600  # signs of a line with its numbers put in, beyond which it says nothing to anyone


class Writes:
    """An arithmetic that writes down what it is asked to compute: (text, how closely it holds)."""

    def number(self, value):
        return self.told(str(value))

    def told(self, text):
        loose = text.startswith("-") or re.search("e[+-]", text)
        return text, SUM if loose else PRODUCT if "/" in text else ATOM

    def add(self, *terms):
        text = " + ".join(term for term, _ in terms)
        return text.replace("+ -", "- "), SUM

    def mul(self, *factors):
        if factors[0][0] == "-1" and len(factors) > 1:
            return f"-{self.mul(*factors[1:])[0]}", SUM
        under = [text.removeprefix("1/")[1:-1] for text, own in factors if own == OVER]
        over = [within(each, PRODUCT) for each in factors if each[1] != OVER]
        text = " * ".join(over) if over else "1"
        return text + "".join(f" / {bracketed(each)}" for each in under), PRODUCT

    def power(self, base, how):
        exponent = how[0]
        if exponent < 0:
            return f"1/({self.power(base, (-exponent, how[1]))[0]})", OVER
        if exponent == 1:
            return base
        if exponent == Fraction(1, 2):
            return f"sqrt({base[0]})", ATOM
        shown = str(exponent) if exponent.denominator == 1 else f"({exponent})"
        return f"{within(base, ATOM)}^{shown}", ATOM

    def integer_power(self, base, exponent, _=None):
        return f"{within(base, ATOM)}^{within(exponent, ATOM)}", ATOM

    def piecewise(self, *parts):
        cases = zip(parts[::2], parts[1::2])
        return f"({'; '.join(f'{value} if {when}' for (when, _), (value, _) in cases)})", ATOM

    def truth(self, value):
        return str(bool(value)).lower(), ATOM

    def __getattr__(self, name):
        sign = SIGNS.get(name)
        if sign is not None:
            return lambda *sides: (f" {sign} ".join(text for text, _ in sides), SUM)
        return lambda *inside: (f"{name}({', '.join(text for text, _ in inside)})", ATOM)


def within(piece, level):
    """A piece's text, in brackets where it holds less closely than what is around it."""
    text, own = piece
    return text if own >= level else f"({text})"


def bracketed(text):
    return text if " " not in text and "/" not in text else f"({text})"


def told(document):
    """Lines on what a document of a counterexample shows; none for any other document.

    >>> import fedtheory as ft
    >>> from fedtheory.verdicts.telling import told
    >>> print("\\n".join(told(ft.check("mixed.stepD2", budget=1).certificate)[-2:]))
    There it reads: 4 == -4 + 1 * (1 + 1) + 1 * (1 + 1/(1))
    that is 4 == 0, which is false.
    """
    if not isinstance(document, dict):
        return []
    if document.get("format") == EXISTENCE:
        return shown(document["denial"])
    if document.get("format") != check_instance.FORMAT:
        return []
    stated, sign = document["statement"], document["statement"]["sign"]
    numbers = {**document["values"], **document["numbers"]}
    used = {detail for side in SIDES for op, _, detail in stated[side] if op == "symbol"}
    says = stated["says"]
    if says.startswith(
        "line "
    ):  # of a statement of several lines this one alone, if it is not long
        letters = [written(stated[side], {name: name for name in used}) for side in SIDES]
        says = says if None in letters else f" {sign} ".join(letters)
    lines = [
        f"{document['cites']} says: {says}",
        f"Take an instance of {by_name(document['setting']).says}, inside its hypotheses:",
    ]
    lines += [f"  {name}: {text}" for name, text in entries(document) if text]
    given = document["numbers"].keys() | document["instance"].keys()
    follows = [f"{name} = {numbers[name]}" for name in sorted(used - given)]
    lines += [f"so that {', '.join(follows)}."] if follows else []
    sides = [written(stated[side], numbers) for side in SIDES]
    if None not in sides:
        lines.append(f"There it reads: {sides[0]} {sign} {sides[1]}")
    return [*lines, f"that is {document['left']} {sign} {document['right']}, which is false."]


def shown(denial):
    """What an instance shows of a statement of existence: it breaks the denial."""
    lines = told(denial)
    sign = DENIED[denial["statement"]["sign"]] if lines else ""
    return [
        *lines[1:-2],
        *(line.replace(f" {denial['statement']['sign']} ", f" {sign} ") for line in lines[-2:-1]),
        *([f"that is {denial['left']} {sign} {denial['right']}, which is true."] if lines else []),
    ]


def entries(document):
    """(name, text) of what an instance is made of, then of its numbers; what is empty is left out."""
    for name, value in document["instance"].items():
        if name == "losses":
            for n, loss in enumerate(value, 1):
                loss = loss["curves"] if isinstance(loss, dict) and "curves" in loss else loss
                yield f"loss {n}", formula(loss) if curves(loss) else short(loss)
        elif value not in ([], {}, None):
            yield name, short(value)
    for name, value in document["numbers"].items():
        yield name, short(value)


def short(value):
    """Plain data in few signs."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {short(each)}" for name, each in value.items())
    if isinstance(value, list):
        return f"({', '.join(map(short, value))})"
    return str(value)


def curves(loss):
    """Whether a loss is written as `settings/losses.py` writes it: other settings have their own."""
    return isinstance(loss, list) and all(
        isinstance(curve, dict) and {"slope", "tilt"} <= curve.keys() <= {*CURVE} for curve in loss
    )


def formula(loss):
    """A loss, a sum over its coordinates, as a formula; (z)+ stands for max(z, 0)."""
    names = ["x"] if len(loss) == 1 else [f"x{n}" for n in range(1, len(loss) + 1)]
    terms = [term for curve, x in zip(loss, names) for term in pieces(curve, x)]
    return " + ".join(terms).replace("+ -", "- ") or "0"


def pieces(curve, x):
    """The terms of a curve (`settings/losses.py`) that are not zero."""
    half = lambda slope: Fraction(slope) / 2
    if Fraction(curve["slope"]):
        yield times(half(curve["slope"]), f"{x}^2")
    if Fraction(curve["tilt"]):
        yield times(Fraction(curve["tilt"]), x)
    for slope, at in (bend for bend in curve.get("bends", ()) if Fraction(bend[0])):
        yield times(half(slope), f"({shifted(x, at)})+^2")
    for height, rate, at in (soft for soft in curve.get("soft", ()) if Fraction(soft[0])):
        inside = times(Fraction(rate), x if not Fraction(at) else f"({shifted(x, at)})")
        yield times(Fraction(height), f"log(1 + exp({inside}))")


def times(factor, text):
    return text if factor == 1 else f"-{text}" if factor == -1 else f"{factor} {text}"


def shifted(x, at):
    at = Fraction(at)
    return x if not at else f"{x} - {at}" if at > 0 else f"{x} + {-at}"


def written(program, numbers):
    """A formula of a document with its numbers put in; None where it is too long to be read."""
    arithmetic, pieces = Writes(), []
    for op, inside, detail in check_instance.program(program):
        if op == "symbol":
            pieces.append(arithmetic.told(str(numbers[detail])))
        else:
            rest = () if detail is None else (detail,)
            pieces.append(getattr(arithmetic, op)(*(pieces[n] for n in inside), *rest))
        if len(pieces[-1][0]) > LONG:
            return None
    return pieces[-1][0]
