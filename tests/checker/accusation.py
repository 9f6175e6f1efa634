"""The record of an accusation, and the letters of the paper that the accusations are about.

The paper is invented and its theorems are textbook ones, so that everybody can tell which of its
sentences are false. A statement stands under everything that its text says elsewhere: a section's
title, an assumption, a footnote, a listing, the sentence before. What only a proof or a cited
source says is not part of the statement.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from fedtheory.language.claim import Claim
from fedtheory.symbols import run

# Where an invented paper says a hypothesis of a statement.
PLACES = ("statement", "text", "proof", "source", "convention", "nowhere")
# What a fair referee calls the accusation that a statement is false, with the least number of each:
# the statement is false; a step of its proof is, and what it leads to is true; it is misprinted; it
# needs a hypothesis that only the proof or a source says; a reader takes the text otherwise than it
# says, which accuses nobody; or it is true under its text and the conventions of the field.
LABELS = {"statement": 8, "step": 5, "misprint": 8, "hypothesis": 8, "reading": 5, "none": 8}
# The parts of an invented paper; a hypothesis of the place "text" stands in one of TEXT.
TEXT = ("title", "assumption", "footnote", "listing", "before", "after", "notation")
PARTS = ("statement", "proof", "source", *TEXT)
WHOSE = ("paper", "reader")
QUANTIFIERS = ("", "for all", "there is", "open")

TABLE = run.TABLE.extended([])
TABLE.paper = "invented"
x, y, z = (TABLE.real(name, name, "a number") for name in "xyz")
b, c = (TABLE.positive(name, name, "a number") for name in "bc")
v = TABLE.nonnegative("v", "v", "a variance")
n, m = (TABLE.count(name, name, "a count") for name in "nm")


@dataclass(frozen=True)
class Accusation:
    """The accusation that a statement is false, labelled by hand before any rule for labels exists.

    `text` is what the paper says, part by part. `hypotheses` has the place of each hypothesis of
    the claim, by its name. `holds` computes from the witness whether the claim's line is true there;
    for an order `holds` takes the hidden constant. `meant` is the sentence that is true at the
    witness of a misprint, of a rejected reading (what the text says) and of a false step (the
    conclusion). `needs` is the hypothesis that the witness of the label "hypothesis" lacks.
    """

    name: str
    text: Mapping[str, str]
    hypotheses: Mapping[str, str]
    claim: Callable[[], Claim]
    label: str
    why: str
    witness: Mapping[str, int | Fraction]
    holds: Callable[..., bool]
    meant: Callable[..., bool] | None = None
    needs: Callable[..., bool] | None = None
    intended: Callable[[], Claim] | None = None  # the claim of `meant`
    whose: str = "paper"  # "reader": the claim is how a reader takes the text, and not printed so
    quantifier: str = ""  # where the statement is about step sizes: what the text says of them
    grows: tuple[str, ...] = ()  # the letters of an order that go to infinity
    hides: tuple[str, ...] = ()  # the letters that the constant of an order may depend on


def state(name: str, left: Any, sign: str, right: Any, *assumes: Any, **more: Any) -> Claim:
    """Build a claim of one line in the letters of the invented paper."""
    fields = {"measures": left, "relation": sign, "bound": right, "assumes": assumes, **more}
    return Claim(f"invented.{name}", "an invented paper", TABLE, paper="invented", **fields)


def order(name: str, left: Any, shape: Any, *assumes: Any, **more: Any) -> Claim:
    """Build the claim that `left` is O(shape)."""
    return state(name, left, "O", shape, *assumes, kind="order", **more)
