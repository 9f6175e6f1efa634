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
from fedtheory.rocq.following import Book
from fedtheory.rocq.steps import Step, Steps
from fedtheory.settings import by_name

WORK = 400_000  # of arithmetic that remembers


class Placed(Book):
    """A book in which a number of the instance is named by its place."""

    def tree(self, instance, path=""):
        if isinstance(instance, dict):
            return {name: self.tree(value, f"{path}{name}/") for name, value in instance.items()}
        if isinstance(instance, list):
            return [self.tree(value, f"{path}{n}/") for n, value in enumerate(instance)]
        if isinstance(instance, Fraction):
            return self.number(self.steps.make("at", (path[:-1],), instance, instance))
        return instance


def derivations(document):
    """The derivations of a document: one of a counterexample, one for each member of a family; none of
    any other."""
    document = document.get("denial", document)  # an existence is the failure of its denial
    members = document.get("members", [document])
    try:
        if all("statement" in member for member in members):
            return [derivation(member) for member in members]
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


def written(wanted, went):
    """Plain data of all steps that some are made of, each after its parts."""
    needed, waiting = {}, [*wanted.values(), *(step for a, _, b in went for step in (a, b))]
    while waiting:
        step = waiting.pop()
        if step.at not in needed:
            needed[step.at] = step
            waiting += [part for part in step.parts if isinstance(part, Step)]
    place = {at: n for n, at in enumerate(sorted(needed))}
    plain = lambda part: (
        place[part.at]
        if isinstance(part, Step)
        else str(part)
        if isinstance(part, Fraction)
        else part
    )
    return dict(
        steps=[[needed[at].op, *map(plain, needed[at].parts)] for at in sorted(needed)],
        values={name: place[step.at] for name, step in sorted(wanted.items())},
        went=[[place[a.at], sign, place[b.at]] for a, sign, b in went],
    )


def standing_alone():
    """The checker as one file: where it imports the checker of proofs, that one's text stands."""
    room = Path(check_instance.__file__).parent
    text, name = (room / "alone.py").read_text(), "check_proof"
    body = textwrap.indent((room / f"{name}.py").read_text(), "    ")
    before, after = text.split(f"from fedtheory.certificates import {name}\n")
    whole = f"def {name}():\n{body}    return SimpleNamespace(**locals())\n\n\n{name} = {name}()\n"
    return before + "from types import SimpleNamespace\n\n\n" + whole + after
