"""Schemas of instances: the structure of a model's plain data, itself written as plain data, and
the one reader that checks an instance by its schema.

A schema is JSON, so that a package can carry it and a checker in one file can read it. This module
imports the standard library alone. A schema describes an instance as documents write it: numbers
are texts of digits, counts are integers, other texts are words.

    "number", "positive", "nonnegative", "share", "factor", "whole"    a number of this kind
    ["integer", least, most]                 a count between two lengths; None: unbounded
    ["word", "one", ...]                     one of these words
    ["row", part, ...]                       a list of exactly these parts
    ["list", item, length, marks]            a list of items of the same form
    ["entries", {name: ...}, {name: ...}]    an object with the first entries, and perhaps the second
    ["named", item]                          an object with items of the same form, under any names
    ["either", ...]                          a value that fits one of these

A length is an integer, a name, ["plus", name, n], ["sum", name] of the integers of an entry,
["item", name, n] (n more than the entry's integer at the index of this list), ["doubled"] (two,
four, eight, ... by that index), ["among", length, ...] or ["from", n]; None means any length. A
name that no entry has is fixed by the first list that uses it, and is at least 1. Marks state what
the items of a list, or their parts at an index, satisfy together: {"rising": index}, {"total":
index} (their sum is 1), {"starts": None} (integers that rise from 0) and {"covering": length}
(ranges, one after the other, from 0).
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NoReturn

DIGITS = re.compile(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?")
LONGEST = 20_000  # limit of digits of numbers that are added up
Length = Any  # an integer, a name, or a list as described above

# Parts of instances


def integer(least: Length = 1, most: Length = None) -> list:
    """Return the schema of an integer from `least` to `most`; None means no limit.

    >>> fault(integer(1, 3), 4)
    'it must be at most 3, and is 4'
    """
    return ["integer", least, most]


def word(*words: str) -> list:
    """Return the schema of a text that is one of these words."""
    return ["word", *words]


def row(*parts: Any) -> list:
    """Return the schema of a list with these parts, in order."""
    return ["row", *parts]


def list_of(item: Any, length: Length = None, **marks: Any) -> list:
    """Return the schema of a list whose items all have the same schema.

    >>> fault(list_of("number", 2), ["1", "x"])
    'its 1 must be a number'
    """
    return ["list", item, length, marks]


def entries(needed: Mapping[str, Any], more: Mapping[str, Any] | None = None) -> list:
    """Return the schema of an object with the entries `needed` and, optionally, the entries `more`."""
    return ["entries", dict(needed), dict(more or {})]


def either(*schemas: Any) -> list:
    """Return the schema of a value that fits one of these schemas; the schemas differ in the part
    that is read first."""
    return ["either", *schemas]


def length_plus(name: str, n: int) -> list:
    """Return the length specification for n more than the length called `name`."""
    return ["plus", name, n]


def total_of(name: str) -> list:
    """Return the length specification for the sum of the integers in the entry `name`."""
    return ["sum", name]


def at_least(n: int) -> list:
    """Return the length specification of any length >= n."""
    return ["from", n]


def length_among(*lengths: Length) -> list:
    """Return the length specification of a length that is one of these lengths."""
    return ["among", *lengths]


# The reader


class Unfit(ValueError):
    """The error that an instance does not fit its schema."""


def fault(
    schema: Any, instance: Any, number: Callable[[str], Fraction] | None = None
) -> str | None:
    """Return a sentence that says where an instance does not fit a schema; None where the instance
    fits.

    `number` turns a text of digits into a number.

    >>> vectors = entries({"vectors": list_of(list_of("number", "d"), "N")})
    >>> fault(vectors, {"vectors": [["1", "0"], ["1/2", "3"]]}) is None
    True
    >>> fault(vectors, {"vectors": [["1"], ["1", "1"]]})
    'its vectors/1 must have d = 1 parts, and has 2'
    """
    reader = Reader(number or fraction)
    try:
        reader.read(schema, instance, "", 0)
        reader.compare()
    except Unfit as why:
        return str(why)
    return None


def fraction(text: str) -> Fraction:
    """Return the number that a text of digits represents, an integer or "p/q"."""
    above, _, below = text.partition("/")
    return Fraction(int(above), int(below or 1))


class Reader:
    """A reader that checks an instance by a schema. Named lengths are inferred while reading and
    compared at the end."""

    def __init__(self, number: Callable[[str], Fraction]) -> None:
        self.number = number
        self.known: dict[str, int] = {}  # values of the names of lengths
        self.lists: dict[str, list] = {}  # the entries that are lists
        # postponed checks: (schema of a value, the value, a length, place, index)
        self.waiting: list = []

    def read(self, schema: Any, value: Any, place: str, index: int) -> None:
        """Refuse a value that does not fit a schema, as far as can be decided before all lengths
        are known."""
        kind, *parts = [schema] if isinstance(schema, str) else schema
        KINDS[kind](self, value, place, index, *(parts or [kind]))

    # Leaves

    def a_number(self, value: Any, place: str, index: int, kind: str) -> None:
        good = isinstance(value, str) and DIGITS.fullmatch(value)
        if not good or value.partition("/")[2].strip("0") == "" and "/" in value:
            refuse(place, "must be a number")
        if kind != "number":
            rule, holds = NUMBERS[kind]
            if not holds(self.number(value)):
                refuse(place, f"must be {rule}, and is {value:.40}")

    def an_integer(self, value: Any, place: str, index: int, least: Any, most: Any) -> None:
        if type(value) is not int:
            refuse(place, "must be an integer")
        self.waiting += [("at least", value, least, place, index)] if least is not None else []
        self.waiting += [("at most", value, most, place, index)] if most is not None else []

    def a_word(self, value: Any, place: str, index: int, *words: str) -> None:
        if not isinstance(value, str) or value not in words:
            refuse(place, f"must be {' or '.join(map(repr, words))}")

    # Parts that contain parts

    def a_row(self, value: Any, place: str, index: int, *parts: Any) -> None:
        self.check_length(value, place, index, len(parts))
        for k, (part, schema) in enumerate(zip(value, parts)):
            self.read(schema, part, f"{place}/{k}", index)

    def a_list(
        self, value: Any, place: str, index: int, item: Any, length: Length, marks: dict
    ) -> None:
        self.check_length(value, place, index, length)
        for k, part in enumerate(value):
            self.read(item, part, f"{place}/{k}", k)
        for mark, detail in marks.items():
            MARKS[mark](self, value, place, index, detail)

    def some_entries(self, value: Any, place: str, index: int, needed: dict, more: dict) -> None:
        if not isinstance(value, dict):
            refuse(place, "must be an object")
        for name in needed:
            if name not in value:
                refuse(place, f"lacks {name}")
        for name, part in value.items():
            schema = needed.get(name, more.get(name))
            if schema is None:
                refuse(place, f"has {name!r:.40}, which means nothing there")
            self.read(schema, part, f"{place}/{name}", index)
            if type(part) is int:
                self.set_count(name, part, f"{place}/{name}")
            elif isinstance(part, list):
                self.lists[name] = part

    def some_named(self, value: Any, place: str, index: int, item: Any) -> None:
        if not isinstance(value, dict):
            refuse(place, "must be an object")
        for name, part in value.items():
            self.read(item, part, f"{place}/{name}", index)

    def one_of(self, value: Any, place: str, index: int, *schemas: Any) -> None:
        before = dict(self.known), dict(self.lists), len(self.waiting)
        why = Unfit("there is nothing that it may be")
        for schema in schemas:
            try:
                return self.read(schema, value, place, index)
            except Unfit as error:
                why = error
                self.known, self.lists = dict(before[0]), dict(before[1])
                del self.waiting[before[2] :]
        raise why

    # Lengths

    def check_length(self, value: Any, place: str, index: int, length: Length) -> None:
        """Refuse a value that is not a list of the given length. An unknown name of a length is set
        from the list."""
        if not isinstance(value, list):
            refuse(place, "must be a list")
        if isinstance(length, int) and len(value) != length:
            refuse(place, f"must have {length} parts, and has {len(value)}")
        name, more = (length, 0) if isinstance(length, str) else (None, 0)
        if isinstance(length, list) and length[0] == "plus":
            _, name, more = length
        if name is not None and name not in self.known:
            if len(value) <= more:
                refuse(place, f"must have more than {more} parts")
            self.known[name] = len(value) - more
        elif length is not None and not isinstance(length, int):
            self.waiting.append(("parts", len(value), length, place, index))

    def set_count(self, name: str, value: int, place: str) -> None:
        """Set the count that a name stands for; raise Unfit if the name stands for another count
        already."""
        if self.known.setdefault(name, value) != value:
            refuse(place, f"is {value}, and there are {self.known[name]}")

    def evaluate_length(self, length: Length, index: int) -> int:
        """Return the number that a length evaluates to, at item `index` of a list."""
        if isinstance(length, int):
            return length
        if isinstance(length, str):
            return self.known[length]
        kind, *parts = length
        if kind == "plus":
            return self.known[parts[0]] + parts[1]
        if kind == "sum":
            return sum(self.lists[parts[0]])
        if kind == "item":
            at = self.lists[parts[0]]
            return at[index] + parts[1] if index < len(at) else -1
        return 2 ** (index + 1) if kind == "doubled" else parts[0]

    def compare(self) -> None:
        """Refuse counts and lengths that differ from the values of their names."""
        for said, value, length, place, index in self.waiting:
            some = length[1:] if isinstance(length, list) and length[0] == "among" else [length]
            try:
                ends = [self.evaluate_length(each, index) for each in some]
            except KeyError:
                refuse(place, f"must have as many parts as what is not there: {length}")
            if isinstance(length, list) and length[0] == "from":
                if value < length[1]:
                    refuse(place, f"must have {length[1]} parts or more, and has {value}")
            elif said == "parts":
                if value not in ends:
                    refuse(
                        place, f"must have {describe_length(length, ends)} parts, and has {value}"
                    )
            elif value < ends[0] if said == "at least" else value > ends[0]:
                refuse(place, f"must be {said} {describe_length(length, ends)}, and is {value}")

    # Marks: properties that the items of a list have together

    def check_rising(self, value: list, place: str, index: int, part: int | None) -> None:
        at = [self.number(text) for text in of_parts(value, part)]
        if any(b < a for a, b in zip(at, at[1:])):
            refuse(place, "must be in rising order")

    def check_total(self, value: list, place: str, index: int, part: int | None) -> None:
        texts = of_parts(value, part)
        if sum(map(len, texts)) > LONGEST:
            refuse(place, f"must have no more than {LONGEST} digits")
        if sum(map(self.number, texts)) != 1:
            refuse(place, "must add up to 1")

    def check_starting(self, value: list, place: str, index: int, _: None) -> None:
        if value[:1] != [0] or any(b <= a for a, b in zip(value, value[1:])):
            refuse(place, "must rise from 0")

    def check_covering(self, value: list, place: str, index: int, length: Length) -> None:
        ends = [0, *(stop for _, stop in value)]
        if [start for start, _ in value] != ends[:-1] or any(b <= a for a, b in value):
            refuse(place, "must be ranges, one after the other, from 0")
        self.waiting.append(("at least", ends[-1], length, place, index))
        self.waiting.append(("at most", ends[-1], length, place, index))


def of_parts(value: list, part: int | None) -> list:
    """Return the items of a list, or the part at index `part` of each item."""
    return value if part is None else [each[part] for each in value]


def describe_length(length: Length, ends: list) -> str:
    """Return a length in words."""
    if isinstance(length, str):
        return f"{length} = {ends[0]}"
    return " or ".join(map(str, ends))


def refuse(place: str, why: str) -> NoReturn:
    """Raise Unfit with a sentence about the part at `place`."""
    raise Unfit(f"its {place[1:]} {why}" if place else f"it {why}")


NUMBERS = {
    "positive": ("positive", lambda x: x > 0),
    "nonnegative": ("at least 0", lambda x: x >= 0),
    "share": ("between 0 and 1", lambda x: 0 < x < 1),
    "factor": ("at least 1", lambda x: x >= 1),
    "whole": ("a whole number, at least 1", lambda x: x >= 1 and x.denominator == 1),
}
KINDS: dict[str, Callable[..., None]] = {
    **dict.fromkeys(("number", *NUMBERS), Reader.a_number),
    "integer": Reader.an_integer,
    "word": Reader.a_word,
    "row": Reader.a_row,
    "list": Reader.a_list,
    "entries": Reader.some_entries,
    "named": Reader.some_named,
    "either": Reader.one_of,
}
MARKS: dict[str, Callable[..., None]] = dict(
    rising=Reader.check_rising,
    total=Reader.check_total,
    starts=Reader.check_starting,
    covering=Reader.check_covering,
)
