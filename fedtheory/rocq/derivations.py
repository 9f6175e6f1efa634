"""The derivation of a counterexample: how what is measured comes from its instance, step by step, as plain
data that `fedtheory/certificates/alone.py` computes again with nothing but Python.

A setting's definitions run once on numbers that remember their steps, as for Rocq. A number of the
instance is a step that says where it stands there; a quantity whose steps are lost, or that has no
end, is written with its ends.
"""

import textwrap
from fractions import Fraction
from pathlib import Path

from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.enclosure.arithmetic import pair
from fedtheory.enclosure.work import within
from fedtheory.errors import FedtheoryError
from fedtheory.rocq import structures
from fedtheory.rocq.placed import Placed, written
from fedtheory.rocq.steps import Steps
from fedtheory.settings import by_name

STRUCTURE = "fedtheory structure 1"
WORK = 400_000  # of arithmetic that remembers


def derivations(document):
    """The derivations of a document: one of a counterexample, of cells or of two runs, one for each member
    of a family; none of any other."""
    document = document.get("denial", document)  # an existence is the failure of its denial
    members = document.get("members", [document])
    try:
        if all("statement" in member for member in members):
            return [derivation(member) for member in members]
        if document["format"] == STRUCTURE:
            return [structures.derivation(document)]
    except Exception:  # a document of somebody else's, or a computation that is too long to follow
        pass
    return []


def derivation(document):
    """{"steps", "values", "went", "told"} of a counterexample; `told` are the names of what is
    measured and could not be followed."""
    setting = by_name(document["setting"])
    stated = check_instance.Statement(document, setting)
    instance = check_instance.numbers(document["instance"])
    with within(WORK):
        plain = stated.values(document, instance)
        book = Placed(Steps())
        try:
            values = stated.values(document, book.tree(instance))
        except (Refused, FedtheoryError, TypeError, AttributeError, ValueError, OverflowError):
            book.taken.clear()
            values = plain
    wanted = {name: step_of(book, values[name], plain[name]) for name in plain}
    wanted = {name: step for name, step in wanted.items() if name not in stated.solved}
    went = [(a, sign, b) for (_, _, sign), (a, b) in book.taken.items()]
    lost = [name for name in stated.measured if getattr(values[name], "step", None) is None]
    told = sorted(name for name in lost if name not in stated.solved)
    return dict(written(wanted, went), told=told)


def step_of(book, value, plain):
    step = getattr(value, "step", None)
    if step is not None:
        return step
    low, high = (plain, plain) if isinstance(plain, float) else pair(plain)
    if low == high and not isinstance(low, float):
        return book.steps.number(low)
    ends = tuple("inf" if isinstance(end, float) else str(end) for end in (low, high))
    return book.steps.make("ends", ends, Fraction(0), Fraction(0))


def standing_alone():
    """The checker as one file: where it imports the checker of proofs, that one's text stands."""
    room = Path(check_instance.__file__).parent
    text, name = (room / "alone.py").read_text(), "check_proof"
    body = textwrap.indent((room / f"{name}.py").read_text(), "    ")
    before, after = text.split(f"from fedtheory.certificates import {name}\n")
    whole = f"def {name}():\n{body}    return SimpleNamespace(**locals())\n\n\n{name} = {name}()\n"
    return before + "from types import SimpleNamespace\n\n\n" + whole + after
