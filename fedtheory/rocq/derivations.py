"""The derivation of a counterexample: the steps by which the measured quantities follow from the
instance, as plain data that `fedtheory/certificates/alone.py` computes again with plain Python
only.

A model's definitions run once on numbers that record their steps, as for Rocq. A number of the
document becomes a step that names its place in the document. A quantity whose steps are lost, or
that is infinite, is written as an enclosure. A value of the document that is not a number there,
such as a count of rounds through which a loop runs, is repeated: the steps are valid only for
documents with this value.
"""

import json
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import arithmetic
from fedtheory.arithmetic.operations import Arithmetic, Interval, Many, ends_of
from fedtheory.arithmetic.work import Counted, limit_work
from fedtheory.certificates import alone, check_instance, schemas
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import FedtheoryError
from fedtheory.models import Model, by_name
from fedtheory.rocq import structures
from fedtheory.rocq.numbered_values import NumberedBook, write_steps
from fedtheory.rocq.steps import Step
from fedtheory.rocq.tracked_values import Exact
from fedtheory.typing import Assignment, Document, Number

# The imports of `alone` in the library; a package's checker contains the imported sources instead.
IMPORTS = """from fedtheory import schema
from fedtheory.certificates import check_proof, schemas
"""
STRUCTURE = "fedtheory structure 1"
INFINITE = float("inf")
WORK = 400_000  # budget for arithmetic that records its steps
# The errors of a definition that cannot run on such numbers; NumPy turns any error into a
# SystemError.
UNFOLLOWED = (
    Refused,
    FedtheoryError,
    TypeError,
    AttributeError,
    ValueError,
    OverflowError,
    SystemError,
)


class TrackedStatement(check_instance.Statement):
    """A statement whose numbers record that the document gives them."""

    def __init__(self, document: Document, setting: Model) -> None:
        super().__init__(document, setting)
        self.book = NumberedBook()

    def read_number(self, name: str, text: str) -> Exact:
        return self.book.number_of_document(name, super().read_number(name, text))

    def certain(self, slack: Exact) -> bool:
        return super().certain(slack) and slack >= 0  # the comparison is recorded

    def solution(self, steps: Sequence[list[Any]], values: Assignment) -> Exact:
        return arithmetic.execute_program(
            check_instance.read_program(steps), TrackedOperations(self.book), values
        )


class TrackedOperations(Arithmetic):
    """The operations of a program on numbers that record their steps. Roots of constants are steps
    too; 1/0 of a nonnegative base is infinite, and a minimum ignores infinite values."""

    def __init__(self, book: NumberedBook) -> None:
        self.book = book

    def number(self, value: Counted) -> Exact:
        return self.book.number(self.book.steps.number(value))

    def power(self, base: Fraction | Exact, detail: tuple[Counted, bool]) -> Number | Exact:
        exponent, nonnegative = detail
        never = nonnegative or exponent.denominator > 1
        if exponent < 0 and never and isinstance(base, Fraction) and base == 0:
            return Many(np.array(np.inf))
        return super().power(base, detail)

    def min(self, *values: Any) -> Any:
        finite = [value for value in values if not (isinstance(value, Many) and value.at == np.inf)]
        return super().min(*finite)


def list_derivations(document: Document) -> list[dict[str, Any]]:
    """Return the derivations of a document: one for a counterexample, for cells or for two runs,
    one for each member of a family, and an empty list for any other document."""
    # an existence statement is proved by the failure of its denial
    document = document.get("denial", document)
    members = document.get("members", [document])
    try:
        if all("statement" in member for member in members):
            return [derive_counterexample(member) for member in members]
        if document["format"] == STRUCTURE:
            return [structures.derive_structure(document)]
    except Exception:  # a malformed document, or a computation that is too long to follow
        pass
    return []


def derive_counterexample(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return {"steps", "values", "went", "told", "of"} of a counterexample. "told" lists the
    measured quantities whose steps could not be recorded, and "of" is the part of the document on
    which the steps depend."""
    setting = by_name(document["setting"])
    instance = check_instance.instance_of(document, setting)
    with limit_work(WORK):
        stated = check_instance.Statement(document, setting)
        plain = stated.values(document, instance)
        following = TrackedStatement(document, setting)
        book = following.book
        try:
            values = following.values(document, book.tree(instance))
        except UNFOLLOWED:
            book, values = NumberedBook(), plain
    free = [name for name in plain if name not in stated.solved]
    steps = {name: step_of_value(book, values[name]) for name in free}
    wanted = {name: steps[name] or step_of_ends(book, plain[name]) for name in free}
    went = [(a, sign, b) for (_, _, sign), (a, b) in book.taken.items()]
    told = sorted(name for name in stated.measured if name in free and not steps[name])
    return dict(write_steps(wanted, went), told=told, of=alone.document_outline(document))


def step_of_value(book: NumberedBook, value: Number | Exact) -> Step | None:
    """Return the step of a value, or the step of its lower end if the value is unbounded above.
    Return None where the steps are lost."""
    if isinstance(value, Interval) and value.high == INFINITE and value.low != INFINITE:
        low = getattr(value.low, "step", None)
        return low and book.steps.make("at least", (low,), Fraction(0), Fraction(0))
    return getattr(value, "step", None)


def step_of_ends(book: NumberedBook, plain: Number | Counted) -> Step:
    """Build a step that states a value, or the two ends of an interval."""
    low, high = (plain, plain) if isinstance(plain, float) else ends_of(plain)
    if low == high and not isinstance(low, float):
        return book.steps.number(low)
    ends = tuple("inf" if isinstance(end, float) else str(end) for end in (low, high))
    return book.steps.make("ends", ends, Fraction(0), Fraction(0))


def standing_alone(documents: Iterable[Any] | Sequence[dict[str, Any]] = ()) -> str:
    """Return the checker as one file: the texts of the proof checker and of the schema reader
    replace their imports. The file contains the schemas of all models of this library and of the
    models that the documents name."""
    room = Path(check_instance.__file__).parent
    text = (room / "alone.py").read_text()
    before, after = text.split(IMPORTS)
    told = schemas.all_schemas(documents)
    lines = [f"        {name!r}: json.loads({json.dumps(one)!r})," for name, one in told.items()]
    whole = [
        before + "from types import SimpleNamespace\n",
        _as_function("check_proof", room / "check_proof.py"),
        _as_function("schema", room.parent / "schema.py"),
        "\n".join(
            ["schemas = SimpleNamespace(", f"    RUNS={schemas.RUNS!r},", "    find_schema={"]
        ),
        "\n".join([*lines, "    }.get,", ")"]),
    ]
    return "\n\n".join(whole[:3]) + "\n\n" + "\n".join(whole[3:]) + "\n" + after


def _as_function(name: str, path: Path) -> str:
    """Return the text of a module wrapped in a function, whose result replaces the module."""
    body = textwrap.indent(path.read_text(), "    ")
    return f"def {name}():\n{body}    return SimpleNamespace(**locals())\n\n\n{name} = {name}()\n"
