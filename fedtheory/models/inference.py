"""Inference of a schema from instances.

The schema admits the entries, kinds of numbers and words that occur in the instances. Lists have
the length of a count or of another list where this holds in all instances. Numbers that rise, or
add up to 1, in all instances must do so. The schema does not admit anything that no instance shows.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

from fedtheory import schema

MET = 10  # lists in which a property must occur before it becomes a rule


def infer_schema(instances: list) -> Any:
    """Return the schema that plain data have in common.

    >>> some = [{"x": ["1/2"] * n, "y": ["3"] * n, "n": n} for n in (1, 2, 3)] * 5
    >>> schema.fault(infer_schema(some), {"x": ["1", "2"], "y": ["1"], "n": 2})
    'its y must have n = 2 parts, and has 1'
    """
    return Inference(instances).schema


class Inference:
    """The schema that instances have in common. Counts are read first, because lengths of lists are
    named by counts.

    Values at one place of all instances are grouped by kind (number, word, integer, object, list),
    and each group gets the strictest schema that all its values fit. Two kinds at one place give an
    alternative.
    """

    def __init__(self, instances: list) -> None:
        self.names: dict = {}  # name -> {instance: count}
        seen = list(enumerate(instances))
        self._count(seen)
        self.schema = self._common(seen)

    def _count(self, seen: list) -> None:
        """Record each integer entry of each instance under the entry's name, since lengths refer
        to counts."""
        for n, instance in seen:
            for name, value in instance.items() if isinstance(instance, dict) else ():
                if type(value) is int:
                    self.names.setdefault(name, {})[n] = value

    def _common(self, seen: list) -> Any:
        """Return the schema of the values at one place of the instances, given as [(instance
        number, value)]."""
        groups: dict = {}
        for n, value in seen:
            groups.setdefault(_kind(value), []).append((n, value))
        found = [getattr(self, f"_{kind}")(each) for kind, each in sorted(groups.items())]
        return found[0] if len(found) == 1 else schema.either(*found)

    def _number(self, seen: list) -> Any:
        return "number"

    def _integer(self, seen: list) -> Any:
        """Return the schema of integers from the least value that occurs."""
        return schema.integer(min(value for _, value in seen))

    def _word(self, seen: list) -> Any:
        """Return the schema of the words that occur."""
        return schema.word(*sorted({value for _, value in seen}))

    def _object(self, seen: list) -> Any:
        """Return the schema of objects: entries of every instance are needed, entries of some are
        optional."""
        named: dict = {}
        for n, value in seen:
            for name, part in value.items():
                named.setdefault(name, []).append((n, part))
        parts = {name: self._common(each) for name, each in named.items()}
        always = {name for name in parts if len(named[name]) == len(seen)}
        return schema.entries(
            {name: part for name, part in parts.items() if name in always},
            {name: part for name, part in parts.items() if name not in always},
        )

    def _list(self, seen: list) -> Any:
        """Return the schema of lists: a row where places have different kinds, else a list of
        alike items.

        All lists of one length with different kinds at different places are rows, such as
        [probability, vector]. Any other lists get a rule for their length and, where it holds in
        all of them, the rule that numbers rise or add up to 1.
        """
        lengths = {len(value) for _, value in seen}
        columns = [[(n, value[k]) for n, value in seen] for k in range(min(lengths))]
        kinds = [{_kind(value) for _, value in column} for column in columns]
        if len(lengths) == 1 and any(one != other for one, other in pairwise(kinds)):
            return schema.row(*map(self._common, columns))
        length = self._length(seen)
        items = [(n, part) for n, value in seen for part in value]
        item = self._common(items) if items else "number"
        marks = _marks([value for _, value in seen])
        found = schema.list_of(item, length, **marks)
        if "total" in marks and 0 in lengths:  # an empty list does not add up to 1
            return schema.either(schema.list_of(item, 0), found)
        return found

    def _length(self, seen: list, named: bool = True) -> Any:
        """Return the rule for the lengths of lists at a place: a constant, a count or another
        list's length, or one of these and a fixed number more."""
        lengths = {len(value) for _, value in seen}
        # empty, or of a length that follows the rule of the other lists
        if 0 in lengths and len(lengths) > 1:
            rest = self._length([(n, value) for n, value in seen if value], named=False)
            return None if rest is None else schema.length_among(0, rest)
        if len(lengths) == 1:
            return min(lengths)
        by_instance: dict = {}
        for n, value in seen:
            if by_instance.setdefault(n, len(value)) != len(value):
                return schema.at_least(min(lengths)) if named else None
        for name, counts in self.names.items():
            both = by_instance.keys() & counts.keys()
            apart = {by_instance[n] - counts[n] for n in both}
            if len(apart) == 1 and len(both) == len(by_instance):
                more = min(apart)
                return name if more == 0 else schema.length_plus(name, more)
        if not named:
            return None
        name = f"length {len(self.names) + 1}"
        self.names[name] = by_instance
        return name


def _kind(value: Any) -> str:
    """Return the kind of plain data: "number" (digits in a text), "word", "object", "list" or
    "integer".
    """
    if isinstance(value, str):
        return "number" if schema.DIGITS.fullmatch(value) else "word"
    if isinstance(value, dict):
        return "object"
    return "list" if isinstance(value, list) else "integer"


def _marks(lists: list) -> dict:
    """Return the rule that all lists longer than 1 follow: their numbers add up to 1 (`total`) or
    rise (`rising`), at the place in their items that the value of the entry gives."""
    items = [item for value in lists for item in value]
    places = range(min(map(len, items), default=0)) if all(map(_infer_list, items)) else [None]
    for place in places:
        rows = [schema.of_parts(value, place) for value in lists if value]
        if sum(len(row) > 1 for row in rows) < MET or any(
            _kind(text) != "number" for row in rows for text in row
        ):
            continue
        numbers = [[Fraction(text) for text in row] for row in rows]
        if all(sum(row) == 1 for row in numbers):
            return dict(total=place)
        if all(a <= b for row in numbers for a, b in pairwise(row)):
            return dict(rising=place)
    return {}


def _infer_list(item: Any) -> bool:
    return isinstance(item, list)
