"""The record of a model of instances, and the texts and sets that models fill it with.

A Model is data and functions, and holds no state. Everything that a search, a verdict or a replay
knows of a model is read from the record, so a user's file can define a model with the same rights
as a shipped file. The functions accept any arithmetic of the library: batches of floats in a
search, fractions and enclosures in a decision.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from fedtheory.language.claim import ANY
from fedtheory.language.symbol import Table


class Model(NamedTuple):
    """What can happen and be measured exactly; `Fields.record` fills coordinates, build and schema.

    A random shape fixes the integers and words of an instance; a point of the shape's coordinates
    fixes the numbers; `build` makes the instance of both. `constants` derives what is known before
    a method runs, and `measure` what is measured, both from the instance alone, so that a reader of
    a certificate can repeat the two steps. Relaxed conditions are those that the claim does not
    assume: only instances that break some of them can show that the claim needs them.

    `gives`, `takes`, `loose` and `optional` say which letters of a claim a model knows. A letter of a claim about runs that no entry names would depend on nothing in the run, and then the model does not fit the claim.
    """

    name: str
    says: str  # what happens in the model, in words
    measures: frozenset[Any]  # the Measures (symbol.Measure) that the model yields
    # (random, relaxed) -> {name: int or text}; `relaxed` are conditions that need not hold
    shapes: Callable[..., Any]
    coordinates: Callable[..., Any]  # (shape) -> {name: "real" | "positive" | "unit"}
    build: Callable[..., Any]  # (shape, point) -> instance; the numbers may be of any number type
    # (instance) -> {symbol: value}: `gives`, and all else that is known before a method runs
    constants: Callable[..., Any]
    measure: Callable[..., Any]  # (instance, {symbol: value}, wanted symbols) -> {symbol: value}
    table: Any  # the Table whose symbols all these names are
    algorithms: tuple[
        Any, ...
    ] = ()  # names of the methods that the model runs; () without a method
    gives: tuple[Any, ...] = ()  # parameters derived from an instance: counts and other facts
    # derived constants that are bounds: 1 upper (L, G), -1 lower (mu)
    loose: Mapping[str, Any] = MappingProxyType({})
    takes: tuple[Any, ...] = ()  # real parameters that the model needs, such as step sizes
    # measured symbols that `constants` yields, known before the method runs
    early: frozenset[Any] = frozenset()
    ensures: frozenset[Any] = frozenset()  # names of the conditions that instances can meet
    # (instance) -> the conditions that the instance meets, where relaxed conditions may fail
    holds: Callable[..., Any] | None = None
    kind: str = "enumerated"  # or "exact", where nothing is random
    # (claim) -> whether step sizes follow the claim's schedule over rounds; None: they always do
    runs: Callable[..., Any] | None = None
    by: str = ""  # the text of `kernels` or `beside` where a method runs; "" without a method
    # parameters that a claim may leave unset: they have defaults, or no influence on the run
    optional: tuple[Any, ...] = ()
    source: tuple[
        Any, ...
    ] = ()  # (name, SHA-256) of the user's file that defines it; () in this library
    # (instance, values) -> [(probability, points x_0, ..., x_T, a Round for each round)], for a
    # user's own functions
    ways: Callable[..., Any] | None = None
    # {coordinate, or the part before its first "_": (power of a point, power of a loss)}
    coordinates_in: Mapping[str, Any] = MappingProxyType({})
    # (random, relaxed) -> a shape of long runs, or None; searched after all other shapes
    longer: Callable[..., Any] | None = None
    # (shape) -> whether a run has few enough outcomes; None where shapes of any size are possible
    affords: Callable[..., Any] | None = None
    # the schema of instances, as in fedtheory.schema; None: the schema that instances built by the
    # model have in common
    schema: Any = None

    def measured(
        self, instance: dict[str, Any], values: Sequence[Any], wanted: Sequence[Any]
    ) -> Any:
        """Return what `measure` returns, with each constant that a variant of a claim sets free
        replaced by its free value. The free value also enters the quantities that are defined with
        the constant.

        A variant of a claim "for any value of a constant" carries the free value under the
        constant's name with the prefix ANY.
        """
        free = {
            name.removeprefix(ANY): value for name, value in values.items() if name.startswith(ANY)
        }
        return self.measure(instance, {**values, **free}, wanted)


Setting = Model  # the name that users' files import


def kernels(method: str) -> str:
    """Return the text for the field `by` of a model whose rounds are traces of a method's kernels."""
    return f"the kernels of {method}"


def beside(method: str, why: str) -> str:
    """Return the text for the field `by` of a model that has a definition of its own. Tests compare
    such a model with the method's kernels."""
    return f"a definition beside the kernels of {method} ({why})"


def names(table: Table, *symbols: str) -> frozenset:
    """Return the set of Measures of symbols of a table; each text names one symbol or several."""
    return frozenset(table[symbol].measure for text in symbols for symbol in text.split())
