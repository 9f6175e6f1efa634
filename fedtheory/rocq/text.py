"""The text that Rocq reads: names, numbers, expressions and polynomials.

No text of a document is copied into a file verbatim. Names become ASCII identifiers that mean
nothing else in Rocq, numbers are spelled from integers, and comments contain no sign that could end
them.
"""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib import resources
from typing import Any

# Words of the language, and names that the generated files use besides symbols.
KEPT = frozenset(
    "as at cofix else end exists exists2 fix for forall fun if IF in let match mod Prop return Set"
    " SProp then Type using where with by R sqrt root inner plus times vector V pow Rabs Rmin Rmax"
    " Rle_dec Rlt_dec Rge_dec Rgt_dec Req_EM_T nat IZR INR Z Q list nil cons fst snd sum exp ln not"
    " True False or and eq ex Rinv Rmult Rplus Rminus Rdiv Ropp coordinates InnerProductSpace"
    " pow_le pow_lt eq_sym lra ring field".split()
)
# names in generated files, and in the library of reals
OURS = re.compile("[A-Z][0-9]+|line_.*|R[a-z].*")


def assign_identifiers(each: Sequence[str]) -> dict[str, str]:
    """Return {name: identifier}. The identifiers are ASCII, distinct, and different from all names
    that a file defines or that Rocq reserves."""
    found, taken = {}, set()
    for name in each:
        plain = re.sub("[^A-Za-z0-9_]", "_", name)
        if not plain[:1].isalpha():
            plain = f"x{plain}"
        plain = f"x_{plain}"[:60] if OURS.fullmatch(plain) else plain[:60]
        while plain in KEPT or plain in taken or plain in DEFINED:
            plain += "_"
        taken.add(plain)
        found[name] = plain
    return found


def prelude_text(name: str) -> str:
    """Return the text of a prelude."""
    return resources.files("fedtheory.rocq").joinpath(f"{name}.v").read_text()


PRELUDES = ("lines", "squares", "roots", "vectors")
DEFINED = frozenset(
    name
    for part in PRELUDES
    for name in re.findall(r"(?:Lemma|Definition|Fixpoint|Record|Ltac) (\w+)", prelude_text(part))
)


def comment_lines(text: str, width: int = 96) -> str:
    """Return words as a comment on lines of its own, without any characters that could end the
    comment early."""
    plain = re.sub(r"[^ A-Za-z0-9_+/^=<>.,:;|\[\]{}()*-]", "?", " ".join(str(text).split()))
    plain = re.sub(r"\*(?=\))|(?<=\()\*", "x", plain)
    lines, line = [], ""
    for word in plain[:4000].split(" "):
        if line and len(line) + len(word) + 1 > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return "(* " + "\n   ".join([*lines, line]) + " *)"


def number_text(value: Fraction) -> str:
    """Return a fraction as text, in parentheses where Rocq needs parentheses."""
    value = Fraction(value)
    if value.denominator == 1:
        return str(value.numerator) if value >= 0 else f"(- {-value.numerator})"
    if value > 0:
        return f"({value.numerator} / {value.denominator})"
    return f"(- {-value.numerator} / {value.denominator})"


class Spelling:
    """A writer of the expressions of a proof document, in the symbols of one file."""

    def __init__(self, symbols: Mapping[str, str]) -> None:
        self.symbols = symbols

    def atom(self, name: str) -> str:
        """Return a symbol, or the inner product of two symbols, as text."""
        one, dot, other = name.partition(".")
        if not dot:
            return self.symbols[name]
        return f"inner {self.symbols[min(one, other)]} {self.symbols[max(one, other)]}"

    def tree(self, tree: Any, tight: int = 0) -> str:
        """Return an expression as text; `tight` says where the expression stands: 0 alone, 1 in a
        sum, 2 in a product, 3 under a power or in an application."""
        if isinstance(tree, str):
            if tree in self.symbols or "." in tree:
                text = self.atom(tree)
                return f"({text})" if "." in tree and tight > 2 else text
            return number_text(Fraction(tree))
        op, first, *rest = tree
        if op == "dot":
            text, level = f"inner {self.combination(first)} {self.combination(rest[0])}", 3
        elif op == "^":
            (power,) = rest
            text = f"{self.tree(first, 3)} ^ {abs(power)}" if abs(power) != 1 else None
            if power < 0:
                text, level = f"/ {text or self.tree(first, 3)}", 2
                text = f"1 {text}"
            else:
                text, level = (text, 3) if text else (self.tree(first, 2), 2)
        elif op == "*":
            text, level = self.product([first, *rest]), 2
        else:
            text, level = self.sum([first, *rest]), 1
        return f"({text})" if tight >= level else text

    def product(self, factors: Sequence[str | list[Any]]) -> str:
        above, below = [], []
        for factor in factors:
            if isinstance(factor, list) and factor[0] == "^" and factor[2] < 0:
                if factor[1] != "1":
                    below.append(["^", factor[1], -factor[2]] if factor[2] < -1 else factor[1])
            else:
                above.append(factor)
        if len(above) > 1 and above[0] == "1":
            above = above[1:]
        top = " * ".join(self.tree(factor, 2) for factor in above) or "1"
        if not below:
            return top
        if len(below) == 1:
            return f"{top} / {self.tree(below[0], 3)}"
        return f"{top} / ({' * '.join(self.tree(factor, 2) for factor in below)})"

    def sum(self, parts: Sequence[str | list[Any]]) -> str:
        text = self.tree(parts[0], 1)
        for part in parts[1:]:
            if isinstance(part, list) and part[0] == "*" and part[1] == "-1" and len(part) > 2:
                rest = ["*", *part[2:]] if len(part) > 3 else part[2]
                text += f" - {self.tree(rest, 2 if isinstance(rest, list) else 1)}"
            else:
                text += f" + {self.tree(part, 1)}"
        return text

    def combination(self, vectors: Mapping[str, Any]) -> str:
        """Return a linear combination of vectors as text, in parentheses."""
        parts = [
            self.symbols[name] if tree == "1" else f"{self.tree(tree, 3)} |*| {self.symbols[name]}"
            for name, tree in vectors.items()
        ]
        return f"({' |+| '.join(parts)})"

    def relation(self, relation: Sequence[str | list[str | list[Any]]]) -> str:
        sign, left, right = relation
        return f"{self.tree(left)} {'=' if sign == '==' else sign} {self.tree(right)}"

    def monomial(self, powers: Sequence[tuple[str, int]]) -> list[str]:
        return [self.power(name, k) for name, k in powers]

    def power(self, name: str, k: int) -> str:
        text = self.atom(name)
        return text if k == 1 else f"({text}) ^ {k}" if "." in name else f"{text} ^ {k}"

    def polynomial(self, p: Mapping[tuple[tuple[str, int], ...], Fraction]) -> str:
        """Return a polynomial as a sum. Equal polynomials give the same text."""
        return " + ".join(self.monomial_of(m, value) for m, value in sorted(p.items())) or "0"

    def monomial_of(self, m: Sequence[tuple[str, int]], value: Fraction) -> str:
        factors = self.monomial(m)
        return " * ".join([number_text(value)] * (value != 1 or not factors) + factors)
