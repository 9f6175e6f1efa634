"""The fields of a model's instances, each declared once: what it is as data, from which
coordinates it is built, and for which shapes it is there.

From its list of fields a model has the schema of its instances, the coordinates of a shape, the
instance at a point of these coordinates, and the guard that refuses plain data which are no
instance. A kind of coordinate says what a search may try: "real", "positive", "nonnegative", or
"unit" for numbers in [0, 1]. Constants and measured quantities are never fields: a model derives
them from the instance.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory import schema
from fedtheory.models.families import NOISE, POINT, build_family, family_coordinates, two_point
from fedtheory.models.instances import texts
from fedtheory.typing import Instance, Point, Shape

Coordinates = dict[str, str]  # {name: kind}
ZERO = Fraction(0)


class Field(NamedTuple):
    """An entry of an instance, or coordinates from which entries are built (no schema). A shape
    without the field has none of its coordinates either."""

    name: str
    schema: Any  # as in fedtheory.schema; None: no entry
    # (shape, point, entries built before it) -> the entry
    build: Callable[[Shape, Point, Instance], Any] = lambda shape, point, built: None
    coordinates: Callable[[Shape], Coordinates] = lambda shape: {}
    when: Callable[[Shape], Any] | None = None  # shapes that have the field; None: all shapes


class Fields:
    """The fields of an instance, in the order of its entries. Coordinates have the same order,
    unless `order` names the fields whose coordinates come first.

    A model of a similar kind is made with `replace`, so that shared fields are declared once. The
    order of entries is the order of `build`, since a field may read the entries built before.
    """

    def __init__(self, *fields: Field, order: str = "") -> None:
        self.fields = {field.name: field for field in fields}
        self.first = order
        first = [name for name in order.split() if name in self.fields]
        self.order = list(dict.fromkeys([*first, *self.fields]))

    def replace(
        self, *fields: Field, without: str = "", after: str = "", order: str = ""
    ) -> "Fields":
        """Return the fields with others in the place of those of the same names; new ones come
        after the field `after`, or at the end. The order of coordinates stays unless it is given."""
        given, found = {field.name: field for field in fields}, []
        for name, field in self.fields.items():
            found += [given.pop(name, field)] if name not in without.split() else []
            if name == after:
                found += [given.pop(new) for new in list(given) if new not in self.fields]
        return Fields(*found, *given.values(), order=order or self.first)

    def coordinates(self, shape: Shape) -> Coordinates:
        """Return {name: kind} of the coordinates in which instances of a shape vary."""
        found: Coordinates = {}
        for field in self._of(shape, self.order):
            found.update(field.coordinates(shape))
        return found

    def build(self, shape: Shape, point: Point) -> Instance:
        """Return the instance at a point of a shape's coordinates."""
        built: dict[str, Any] = {}
        for field in self._of(shape, self.fields):
            if field.schema is not None:
                built[field.name] = field.build(shape, point, built)
        return built

    def _of(self, shape: Shape, names: Iterable[str]) -> list[Field]:
        """Return the fields with some names that a shape has, in the order of the names."""
        several = [self.fields[name] for name in names]
        return [field for field in several if field.when is None or field.when(shape)]

    @property
    def schema(self) -> Any:
        """The schema of instances, in which fields of some shapes only are optional."""
        every = [field for field in self.fields.values() if field.schema is not None]
        return schema.entries(
            {field.name: field.schema for field in every if field.when is None},
            {field.name: field.schema for field in every if field.when is not None},
        )

    def record(self) -> dict[str, Any]:
        """Return the fields of a Model that follow from the fields of its instances."""
        return dict(coordinates=self.coordinates, build=self.build, schema=self.schema)

    def guard(self, holds: Callable[[Instance], frozenset]) -> Callable[[Instance], frozenset]:
        """Return the function `holds` with no condition met by plain data that are no instance.

        Data in a document may come from anybody. Data that fit no instance meet no condition, so
        that no hypothesis of a claim is taken as met.
        """
        return guard_by(self.schema)(holds)


def fits_schema(form: Any, instance: Instance) -> bool:
    """Tell whether plain data with numbers fit a schema."""
    return schema.fault(form, texts(instance)) is None


def guard_by(form: Any) -> Callable[[Callable], Callable[[Instance], frozenset]]:
    """Return the decorator of a function that returns the conditions which an instance meets: none
    where plain data do not fit the schema `form`."""

    def decorate(holds: Callable) -> Callable[[Instance], frozenset]:
        return lambda instance: (
            frozenset(holds(instance)) if fits_schema(form, instance) else frozenset()
        )

    return decorate


# Fields that several models have


def count(name: str, least: Any = 1, most: Any = None, of: str = "") -> Field:
    """Return the field of a count that the shape has, as an integer or a text, under the field's
    name or the name `of`."""
    build = lambda shape, point, built: int(shape[of or name])
    return Field(name, schema.integer(least, most), build)


def vector(name: str, form: Any = POINT) -> Field:
    """Return the field of a vector of any d numbers."""
    return Field(
        name,
        form,
        lambda shape, point, built: read_vector(point, name, shape["d"]),
        lambda shape: name_vector(name, shape["d"]),
    )


def family(
    name: str, form: Any, size: Callable[[Shape], int], build: Callable = build_family
) -> Field:
    """Return the field of a family of `size` losses; `build` is called with shape, point, size."""
    return Field(
        name,
        form,
        lambda shape, point, built: build(shape, point, size(shape)),
        lambda shape: family_coordinates(shape, size(shape)),
    )


def single_loss(name: str, form: Any) -> Field:
    """Return the field of one loss of a family."""
    build = lambda shape, point, built: build_family(shape, point, 1)[0]
    return Field(name, form, build, lambda shape: family_coordinates(shape, 1))


def noise(name: str, sigma: str) -> Field:
    """Return the field of zero-mean two-point noise of size `sigma`, where a shape names its
    skewness under the field's name; "none" stands for no noise."""
    return Field(
        name,
        NOISE,
        lambda shape, point, built: two_point(point.get(sigma), shape[name], shape["d"]),
        lambda shape: {sigma: "positive"} if shape[name] != "none" else {},
    )


def deviation(name: str, kind: str) -> Field:
    """Return the field of a standard deviation, 0 unless the shape has noise of this `kind`."""
    return Field(
        name,
        "nonnegative",
        lambda shape, point, built: point.get(name, ZERO),
        lambda shape: {name: "positive"} if shape[kind] else {},
    )


def number(name: str, form: Any = "number", kind: str = "real", when: Any = None) -> Field:
    """Return the field of a number that is a coordinate."""
    return Field(
        name, form, lambda shape, point, built: point[name], lambda shape: {name: kind}, when
    )


def coordinate(name: str, kind: str, when: Any = None) -> Field:
    """Return a coordinate that is no entry of an instance."""
    return Field(name, None, coordinates=lambda shape: {name: kind}, when=when)


def flag(name: str) -> Field:
    """Return the field of a flag, 0 or 1, that is part of the shape."""
    return Field(name, schema.integer(0, 1), lambda shape, point, built: shape[name])


def word(name: str, *words: str, when: Any = None) -> Field:
    """Return the field of a word or a flag that is part of the shape."""
    return Field(name, schema.word(*words), lambda shape, point, built: shape[name], when=when)


def name_vector(name: str, d: int, kind: str = "real") -> Coordinates:
    """Return the coordinates of a vector of d numbers."""
    return {f"{name}_{j}": kind for j in range(d)}


def read_vector(point: Point, name: str, d: int) -> list:
    """Return the vector whose coordinates `name_vector` names."""
    return [point[f"{name}_{j}"] for j in range(d)]


def name_true(**truths: Any) -> frozenset[str]:
    """Return the names whose value is true.

    >>> sorted(name_true(convex=True, smooth=False))
    ['convex']
    """
    return frozenset(name for name, truth in truths.items() if truth)
