"""A computation in a form that Rocq checks: each number has a definition, and a lemma that gives
its value or an enclosing interval.

A `Step` is a numeral, or is made of earlier steps. Its enclosure is computed here, rounded outward
to `bits`, and proved in Rocq from the enclosures of its operands: roots from squares, everything
else from products.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

from fedtheory.certificates.check_proof import Refused, require
from fedtheory.rocq.text import number_text

if TYPE_CHECKING:
    from fedtheory.arithmetic.work import Counted

BITS = 100  # bits of an end that is not exact
LONG = 6000  # bits of a number that is kept exact
MOST = 12_000  # limit of steps


class Step:
    """A number of a computation: its operation and operands, and two fractions that enclose its
    value."""

    __slots__ = ("at", "op", "parts", "low", "high")

    def __init__(
        self,
        at: int,
        op: str,
        parts: Sequence[Any],
        low: "Fraction | Counted",
        high: "Fraction | Counted",
    ) -> None:
        self.at, self.op, self.parts, self.low, self.high = at, op, parts, low, high

    @property
    def exact(self) -> bool:
        return self.low == self.high

    @property
    def name(self) -> str:
        if self.op == "number":
            return number_text(self.low)
        return self.parts[1] if self.op in ("alias", "taken") else f"x{self.at}"


class Steps:
    """The steps of a computation, each stored once."""

    bits, long, most = BITS, LONG, MOST

    def __init__(self) -> None:
        self.each, self.found, self.given = [], {}, {}

    def number(self, value: Any) -> Step:
        return self.make("number", (Fraction(value),), Fraction(value), Fraction(value))

    def outside_number(self, name: str, low: Any, high: Any) -> Any:
        """Return the step of a number that is given by an identifier and two ends."""
        return self.make("taken", ("", name), low, high)

    def alias(self, name: str, step: Step) -> Step:
        """Return a step that is equal to `step` and has another identifier."""
        return self.make("alias", (step, name), step.low, step.high)

    def make(self, op: str, parts: Sequence[Any], low: Any, high: "Fraction | Counted") -> Step:
        key = (op, *(part.at if isinstance(part, Step) else part for part in parts))
        if key not in self.found:
            most = f"its computation takes more than {self.most} steps"
            require(len(self.each) < self.most, most)
            self.found[key] = Step(len(self.each), op, parts, *self.round_ends(low, high, op))
            self.each.append(self.found[key])
        return self.found[key]

    def add(self, a: Step, b: Step) -> Step:
        return self.make("add", (a, b), a.low + b.low, a.high + b.high)

    def sub(self, a: Step, b: Step) -> Step:
        return self.make("sub", (a, b), a.low - b.high, a.high - b.low)

    def neg(self, a: Step) -> Step:
        return self.make("neg", (a,), -a.high, -a.low)

    def mul(self, a: Step, b: Step) -> Step:
        ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self.make("mul", (a, b), min(ends), max(ends))

    def inv(self, a: Step) -> Step:
        require(a.low > 0 or a.high < 0, "it divides by what may be zero")
        return self.make("inv", (a,), 1 / a.high, 1 / a.low)

    def div(self, a: Step, b: Step) -> Step:
        if b.exact and a.exact:
            require(b.low, "it divides by zero")
            return self.make("div", (a, b), a.low / b.low, a.low / b.low)
        return self.mul(a, self.inv(b))

    def power(self, a: Step, n: int) -> Step:
        require(abs(n) <= 64, f"a power of {n}")
        if n < 0:
            return self.inv(self.power(a, -n))
        if a.exact and n not in (0, 1):
            return self.make("pow", (a, n), a.low**n, a.low**n)
        total = self.number(1) if n == 0 else a
        for _ in range(n - 1):
            total = self.mul(total, a)
        return total

    def root(self, a: Step, q: int) -> Step:
        require(q in (2, 4, 8), f"a root of degree {q}")
        require(a.low >= 0, "a root of what may be negative")
        if q > 2:
            return self.root(self.root(a, q // 2), 2)
        return self.make("sqrt", (a,), *root_ends(a.low, a.high, self.bits))

    def abs(self, a: Step) -> Step:
        if a.low < 0 < a.high:
            raise Refused("the size of what may have either sign")
        low, high = sorted((abs(a.low), abs(a.high)))
        return self.make("abs", (a,), low, high)

    def max(self, a: Step, b: Step) -> Step:
        return self.make("max", (a, b), max(a.low, b.low), max(a.high, b.high))

    def min(self, a: Step, b: Step) -> Step:
        return self.make("min", (a, b), min(a.low, b.low), min(a.high, b.high))

    def round_ends(
        self, low: "Fraction | Counted", high: "Fraction | Counted", op: str
    ) -> "tuple[Fraction | Counted, Fraction | Counted]":
        """Return the ends, rounded outward to a bounded length. An exact value is not rounded, and
        is refused if its length exceeds a limit."""
        if low == high and op != "taken":
            bits = low.numerator.bit_length() + low.denominator.bit_length()
            require(bits <= self.long, "its numbers grow too long")
            return low, high
        if low == high:
            return low, high
        return round_outward(low, -1, self.bits), round_outward(high, 1, self.bits)

    # As text

    def text(self, wanted: Sequence[Step]) -> str:
        """Return the definitions and lemmas of the wanted steps and of all steps from which they
        are computed."""
        needed, waiting = set(), [step.at for step in wanted]
        while waiting:
            at = waiting.pop()
            if at not in needed:
                needed.add(at)
                waiting += [part.at for part in self.each[at].parts if isinstance(part, Step)]
        return "\n".join(
            self.one(self.each[at]) for at in sorted(needed) if self.one(self.each[at])
        )

    def one(self, step: Any) -> str:
        if step.op == "number":
            return ""
        if step.op == "taken":
            held = f"{number_text(step.low)} <= {step.name} <= {number_text(step.high)}"
            if step.exact:
                held = f"{step.name} = {number_text(step.low)}"
            return f"Variable {step.name} : R.\nHypothesis B{step.at} : {held}."
        made = f"Definition {step.name} : R := {FORMS[step.op](*map(show_part, step.parts))}."
        if step.exact:
            return f"{made}\nLemma B{step.at} : {step.name} = {number_text(step.low)}.\n{equality_proof(step)}"
        return (
            f"{made}\nLemma B{step.at} : {number_text(step.low)} <= {step.name} <= {number_text(step.high)}.\n"
            f"Proof. unfold {step.name}; {prove_enclosure(step)}. Qed."
        )


FORMS = {
    "alias": lambda a, name: a,
    "add": lambda a, b: f"{a} + {b}",
    "sub": lambda a, b: f"{a} - {b}",
    "neg": lambda a: f"- {a}",
    "mul": lambda a, b: f"{a} * {b}",
    "div": lambda a, b: f"{a} / {b}",
    "inv": lambda a: f"/ {a}",
    "pow": lambda a, n: f"{a} ^ {n}",
    "sqrt": lambda a: f"sqrt {a}",
    "abs": lambda a: f"Rabs {a}",
    "max": lambda a, b: f"Rmax {a} {b}",
    "min": lambda a, b: f"Rmin {a} {b}",
}


def show_part(part: Step) -> str:
    return part.name if isinstance(part, Step) else str(part)


def round_outward(value: "Fraction | Counted", way: int, bits: int) -> "Fraction | Counted":
    if value.denominator.bit_length() <= bits:
        return value
    size = value.numerator.bit_length() - value.denominator.bit_length()
    scale = Fraction(2) ** (bits - size)
    return Fraction(-(-value * scale // 1) if way > 0 else value * scale // 1) / scale


def root_ends(
    low: "Fraction | Counted", high: "Fraction | Counted", bits: int
) -> tuple[Fraction, Fraction]:
    def below(x: "Fraction | Counted") -> tuple[Fraction, bool]:
        p, q = isqrt(x.numerator), isqrt(x.denominator)
        if p * p == x.numerator and q * q == x.denominator:
            return Fraction(p, q), True
        shift = bits + 16 + max(0, (x.denominator.bit_length() - x.numerator.bit_length()) // 2)
        return Fraction(isqrt((x.numerator << 2 * shift) // x.denominator), 1 << shift), False

    (least, _), (most, exact) = below(low), below(high)
    if exact:
        return least, most
    shift = most.denominator.bit_length() + bits
    return least, most * (1 + Fraction(1, 1 << bits)) if shift else most


def prove_ends(part: Step) -> str:
    """Return a proof of the ends of a step."""
    if part.op == "number":
        return f"(point {part.name} {part.name} eq_refl)"
    return f"(point _ _ B{part.at})" if part.exact else f"B{part.at}"


def equality_proof(step: Step) -> str:
    """Return the proof of the value of an exact step."""
    known = [part for part in step.parts if isinstance(part, Step) and part.op != "number"]
    start = f"Proof. unfold {step.name}"
    rewriting = "".join(f"; rewrite B{at}" for at in dict.fromkeys(p.at for p in known if p.exact))
    if step.op == "alias":
        return f"{start}{rewriting}; lra. Qed."
    if step.op == "sqrt":
        return f"{start}{rewriting}; apply sqrt_point; [lra | field]. Qed."
    if step.op == "abs":
        way = "Rabs_right" if step.parts[0].low >= 0 else "Rabs_left1"
        return f"{start}{rewriting}; rewrite {way}; lra. Qed."
    if step.op in ("max", "min"):
        a, b = step.parts
        left = (a.low >= b.low) if step.op == "max" else (a.low <= b.low)
        loose = "".join(f"; pose proof B{p.at}" for p in known if not p.exact)
        return f"{start}{rewriting}{loose}; rewrite R{step.op}_{'left' if left else 'right'}; lra. Qed."
    if step.op == "mul" and not all(part.exact for part in step.parts):
        rewriting = "".join(f"; rewrite B{p.at}" for p in known if p.exact)
        return f"{start}{rewriting}; ring. Qed."  # zero times a number
    return f"{start}{rewriting}; {'lra' if step.op in ('add', 'sub', 'neg') else 'field'}. Qed."


def prove_enclosure(step: Step) -> str:
    """Return the proof of the interval that encloses a step."""
    low, high, parts = number_text(step.low), number_text(step.high), step.parts
    if step.op == "alias":
        return f"exact {prove_ends(parts[0])}"
    ends = [end for p in parts for end in (number_text(p.low), number_text(p.high))]
    given = " ".join(ends)
    if step.op in ("add", "sub", "mul"):
        proofs = " ".join(map(prove_ends, parts))
        return f"apply ({step.op}_between {given} {low} {high} _ _ {proofs}); lra"
    (a, *rest), proof = parts, prove_ends(parts[0])
    if step.op == "neg":
        return f"pose proof (neg_between {given} _ {proof}); lra"
    if step.op == "inv":
        way = "inv_between" if a.low > 0 else "inv_between_below"
        return f"apply ({way} {given} {low} {high} _ {proof}); lra"
    if step.op == "sqrt":
        return f"apply (root_step {given} {low} {high} _ {proof}); lra"
    if step.op == "abs":
        way = "above" if a.low >= 0 else "below"
        return f"pose proof (abs_between_{way} {given} _ {proof} ltac:(lra)); lra"
    return f"apply ({step.op}_between {given} {low} {high} _ _ {proof} {prove_ends(rest[0])}); lra"
