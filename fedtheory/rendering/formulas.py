"""Formulas of documents, written with numbers or symbols in place of the operands: as text, or in
LaTeX.

Parts without effect are left out (a factor 1, a term 0, a power 1), so that a line whose symbols
are replaced by numbers is short.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_instance

NUMBER = r"-?[0-9]+(?:/[0-9]+)?"
SIGNS = dict(le="<=", lt="<", ge=">=", gt=">", eq="==", ne="!=", both="and")
SUM, PRODUCT, OVER, ATOM = range(4)  # how tightly a piece binds; OVER: a fraction
DIGITS = 16  # digits of a number in LaTeX
LONG = 600  # signs; a longer line with numbers for symbols is left out, since nobody reads it


class Piece(NamedTuple):
    """A part of a formula as text, with how tightly it binds, which decides where brackets are
    needed."""

    text: str
    holds: int  # SUM, PRODUCT, OVER or ATOM
    under: Any = None  # for OVER: the denominator, a Piece


ZERO, ONE = Piece("0", ATOM), Piece("1", ATOM)


class FormulaWriter:
    """An arithmetic whose operations return formulas as text instead of values.

    The operations have the names of a document's operations, so that `check_instance.read_program`
    can be followed with this arithmetic as with numbers. Operations without a method of their own
    are relations (SIGNS) or functions written by name.
    """

    brackets = "({})"
    signs = SIGNS
    fraction = "/"

    def number(self, value: Counted) -> Piece:
        """Return a number as a Piece."""
        return self.write_number(str(value))

    def write_number(self, text: str) -> Piece:
        """Return a number of a document, given as text, as a Piece."""
        loose = text.startswith("-") or re.search("e[+-]", text)
        return Piece(text, SUM if loose else PRODUCT if "/" in text else ATOM)

    def letter(self, name: str) -> Piece:
        """Return a symbol as a Piece."""
        return Piece(name, ATOM)

    def add(self, *terms: Piece) -> Piece:
        """Return the sum without terms 0; `+ -x` is written as `- x`."""
        left = [term for term in terms if term.text != "0"]
        if len(left) < 2:
            return left[0] if left else ZERO
        return Piece(" + ".join(term.text for term in left).replace("+ -", "- "), SUM)

    def mul(self, *factors: Any) -> Piece:
        """Return the product without factors 1; a factor 0 makes it 0, a first factor -1 becomes a
        sign."""
        if any(factor.text == "0" for factor in factors):
            return ZERO
        factors = [factor for factor in factors if factor.text != "1"] or [ONE]
        if len(factors) == 1:
            return factors[0]
        if factors[0].text == "-1":
            return Piece(f"-{self.within(self.mul(*factors[1:]), PRODUCT)}", SUM)
        under = [factor.under for factor in factors if factor.holds == OVER]
        over = [factor for factor in factors if factor.holds != OVER]
        return self.quotient(over or [ONE], under)

    def quotient(self, over: Sequence[Piece], under: Sequence[Piece]) -> Piece:
        """Return a product of factors, divided by each of the denominators in turn."""
        text = " * ".join(self.within(each, PRODUCT) for each in over)
        return Piece(text + "".join(f" / {self.bracket(each.text)}" for each in under), PRODUCT)

    def power(self, base: Piece, how: tuple[Counted, bool]) -> Piece:
        """Return base^exponent: a negative exponent as a fraction, the exponent 1/2 as a square
        root."""
        exponent = how[0]
        if exponent < 0:
            under = self.power(base, (-exponent, how[1]))
            return ONE if under.text == "1" else self.over(under)
        if exponent == 1 or base.text in ("0", "1"):
            return base
        if exponent == Fraction(1, 2):
            return self.root(base.text)
        return self.write_power(base, str(exponent))

    def over(self, piece: Piece) -> Piece:
        """Return 1 over a piece, which a product later turns into a division."""
        return Piece(f"1/{self.bracket(piece.text)}", OVER, piece)

    def root(self, text: str) -> Piece:
        """Return the square root of a text."""
        return Piece(f"sqrt({text})", ATOM)

    def write_power(self, base: Piece, exponent: str) -> Piece:
        """Return a power, with brackets around a base that is no atom and around an exponent with
        signs."""
        shown = exponent if exponent.isalnum() else f"({exponent})"
        return Piece(f"{self.within(base, ATOM)}^{shown}", ATOM)

    def integer_power(self, base: Any, exponent: Any, _: object = None) -> Any:
        """Return base^exponent for an exponent that is itself a piece, simplified for 0 and 1."""
        if base.text == "1" or exponent.text == "0":
            return ONE
        return base if exponent.text == "1" else self.write_power(base, exponent.text)

    def piecewise(self, *parts: Piece) -> Piece:
        """Return the case that the numbers select, or a text of all remaining cases."""
        left = [(when.text, value) for when, value in self.cases(parts)]
        if left[0][0] == "true":
            return left[0][1]
        told = [f"{value.text} if {when}" for when, value in left]
        return Piece(f"({'; '.join(told).replace(' if true', ' otherwise')})", ATOM)

    def cases(self, parts: Sequence[Piece]) -> list[tuple[Piece, Piece]]:
        """Return the (condition, value) pairs, without the pairs whose condition the numbers show
        to be false."""
        none = lambda when: (
            (sides := re.fullmatch(rf"({NUMBER}) ==? ({NUMBER})", when.text))
            and Fraction(sides[1]) != Fraction(sides[2])
        )
        pairs = list(zip(parts[::2], parts[1::2]))
        return [(when, value) for when, value in pairs if not none(when)] or pairs[-1:]

    def truth(self, value: bool) -> Piece:
        """Return a truth value as a Piece: true or false."""
        return Piece(str(bool(value)).lower(), ATOM)

    def write_call(self, name: str, inside: Sequence[str]) -> Piece:
        """Return a function by its name, with its arguments in brackets."""
        return Piece(f"{name}({', '.join(inside)})", ATOM)

    def within(self, piece: Piece, level: int) -> str:
        """Return the text of a piece, in brackets where the piece binds less tightly than `level`."""
        return piece.text if piece.holds >= level else self.brackets.format(piece.text)

    def bracket(self, text: str) -> str:
        """Return a denominator: in brackets unless it is a word, a number or a function with plain
        arguments."""
        plain = text.isalnum() or re.fullmatch(r"\w+\([^()]*\)|[\d.]+", text)
        return text if plain else self.brackets.format(text)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        sign = self.signs.get(name)
        if sign is not None:
            return lambda *sides: Piece(f" {sign} ".join(side.text for side in sides), SUM)
        return lambda *inside: self.write_call(name, [piece.text for piece in inside])


class LatexWriter(FormulaWriter):
    """An arithmetic whose operations return formulas in LaTeX; `letters` maps names to LaTeX."""

    brackets = r"\left({}\right)"
    signs = dict(SIGNS, le=r"\le", ge=r"\ge", eq="=", ne=r"\ne", both=r"\text{ and }")

    def __init__(self, letters: Mapping[str, str]) -> None:
        self.letters = letters

    def write_number(self, text: str) -> Piece:
        """Return a number in LaTeX as a Piece; a sign or a power of ten decides how tightly it
        binds."""
        found = typeset_number(text)
        return Piece(
            found, SUM if found.startswith("-") else PRODUCT if r"\cdot" in found else ATOM
        )

    def letter(self, name: str) -> Piece:
        """Return a symbol in the paper's LaTeX, or in LaTeX made of its name."""
        return Piece(self.letters.get(name) or plain_letter(name), ATOM)

    def quotient(self, over: Sequence[Piece], under: Sequence[Piece]) -> Piece:
        """Return a fraction; factors are set side by side, with a dot in front of a number or a
        fraction."""
        product, alone = "", len(over) == 1 and under
        for each in over:
            text = each.text if alone else self.within(each, PRODUCT)
            side_by_side = product and (text[0].isdigit() or text.startswith((r"\frac", "-")))
            product += (r" \cdot " if side_by_side else " " * bool(product)) + text
        if not under:
            return Piece(product, PRODUCT)
        below = under[0].text if len(under) == 1 else self.quotient(under, []).text
        return Piece(rf"\frac{{{product}}}{{{below}}}", PRODUCT)

    def over(self, piece: Piece) -> Piece:
        """Return 1 over a piece as a fraction."""
        return Piece(rf"\frac{{1}}{{{piece.text}}}", OVER, piece)

    def root(self, text: str) -> Piece:
        """Return a square root in LaTeX."""
        return Piece(rf"\sqrt{{{text}}}", ATOM)

    def write_power(self, base: Piece, exponent: str) -> Piece:
        """Return a power in LaTeX, with brackets around a fraction, a power and anything that is
        no atom."""
        alone = base.holds == ATOM and "^" not in base.text and not base.text.startswith(r"\frac")
        text = base.text if alone else self.brackets.format(base.text)
        return Piece(f"{text}^{{{exponent}}}", ATOM)

    def piecewise(self, *parts: Piece) -> Any:
        """Return the case that the numbers select, or the remaining cases in LaTeX."""
        cases = self.cases(parts)
        if cases[0][0].text == "true":
            return cases[0][1]
        told = lambda when: r"\text{otherwise}" if when == "true" else rf"\text{{if }} {when}"
        rows = r" \\ ".join(rf"{value.text} & {told(when.text)}" for when, value in cases)
        return Piece(rf"\begin{{cases}} {rows} \end{{cases}}", ATOM)

    def write_call(self, name: str, inside: Sequence[str]) -> Any:
        """Return a function in LaTeX; floor, ceiling and absolute value have their own brackets."""
        known = dict(floor=r"\lfloor {} \rfloor", ceiling=r"\lceil {} \rceil", abs=r"|{}|")
        if name in known:
            return Piece(known[name].format(*inside), ATOM)
        return Piece(rf"\{name}\left({', '.join(inside)}\right)", ATOM)


def typeset_number(text: str) -> str:
    """Return a number of a document in LaTeX; a number of more than DIGITS characters is rounded to
    eight digits."""
    if len(text) > DIGITS:
        text = f"{float(Fraction(text)):.8g}"
    over, _, under = text.removeprefix("-").partition("/")
    mantissa, _, exponent = over.partition("e")
    found = rf"\frac{{{over}}}{{{under}}}" if under else mantissa
    found += rf" \cdot 10^{{{int(exponent)}}}" if exponent else ""
    return "-" * text.startswith("-") + found


def plain_letter(name: str) -> str:
    """Return the LaTeX of a symbol that a user named: the part before the first underscore, with
    the rest as an index."""
    word = lambda text: text if len(text) == 1 else rf"\mathrm{{{text}}}"
    first, _, rest = name.replace("!", "").partition("_")
    rest = ", ".join(map(word, filter(None, rest.split("_"))))
    return word(first or "x") + (f"_{{{rest}}}" if rest else "")


def write_formula(
    program: Sequence[list[Any]],
    numbers: Mapping[str, str],
    arithmetic: Any = None,
    most: int = LONG,
) -> str | None:
    """Return a formula of a document with the given numbers substituted; names without a number
    stay symbols. Return None where the formula is longer than `most` characters.

    `program` is a side of a document's statement, a list of operations. `arithmetic` is a Writes
    (text) or a Typesets (LaTeX). The limit keeps a formula with substituted fractions readable, and
    its cost small.
    """
    arithmetic, pieces = arithmetic or FormulaWriter(), []
    for op, inside, detail in check_instance.read_program(program):
        if op == "symbol":
            value = numbers.get(detail)
            pieces.append(
                arithmetic.letter(detail) if value is None else arithmetic.write_number(value)
            )
        else:
            rest = () if detail is None else (detail,)
            pieces.append(getattr(arithmetic, op)(*(pieces[n] for n in inside), *rest))
        if len(pieces[-1].text) > most:
            return None
    return pieces[-1].text
