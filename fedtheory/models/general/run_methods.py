"""Whole runs of any other method by its own kernels: shipped methods that have no model, and users'
methods.

The letters are those of the neutral table (N, S, T, L, mu, G, zeta, sigma, measured quantities) and
the method's own hyper-parameters. A hyper-parameter whose name has another meaning in the neutral
table gets an underscore: the local steps T of Fed-LAMB are T_. Numbers that a claim does not
mention keep their defaults; counts may have any value. A word is given by the number of its place,
1 for the first, and is the first word where a claim does not mention it. Where the method uses a
server's loss, a loss of the server is drawn too. The minimiser lies at 0, or anywhere if the method
does not treat all points alike.
"""

from collections.abc import Callable, Sequence, Set
from dataclasses import fields
from fractions import Fraction as Q
from functools import cache, partial
from random import Random
from typing import Any

import sympy

from fedtheory import discover, jit, plugins
from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.domains import DOMAINS
from fedtheory.errors import OneByOne
from fedtheory.exact.cohorts import NoSet
from fedtheory.language.symbol import PLAIN, Entry, Table
from fedtheory.models import Model, kernels, losses, names
from fedtheory.models.families import POINT, scale_curvature
from fedtheory.models.fields import Field, name_true, name_vector, read_vector
from fedtheory.models.general import run as whole
from fedtheory.models.general._sight import one_by_one
from fedtheory.models.general.method_probe import (
    alike_everywhere,
    integers,
    letters,
    list_hyper,
    reals,
    sees_layers,
    why_order_matters,
    words,
)
from fedtheory.models.general.runs import (
    MOST,
    choose_word,
    conditions_met,
    derive_constants,
    measure_entries,
    within_range,
)
from fedtheory.models.general.ways import ways_of
from fedtheory.schema import integer, length_plus, list_of
from fedtheory.symbols.run import TABLE
from fedtheory.typing import Assignment, Instance, Point, Shape

KNOWN = frozenset().union(
    *(model.algorithms for model in whole.MODELS)
)  # methods that have models of their own


def draw_shapes(
    random: Random,
    relaxed: Set[str],
    method: Algorithm,
    table: Table,
    drawn: Callable[..., Any] = whole.draw_shapes,
) -> dict[str, int] | None:
    """Draw a shape of `run` in which the method's own counts and words take the place of K.

    Counts lie within two of their least value. The cohort is everybody, the server has a loss, and
    layers are drawn, where the method asks for it. Shapes of more than MOST outcomes are drawn
    again.
    """
    while True:
        shape = drawn(random, relaxed, "fedsgd")
        if shape is None:
            return None
        shape.pop("K")
        for letter, field in integers(method):
            least = max(field.low, 0)
            steps = random.choice([least, least, least + 1, least + 1, least + 2])
            shape[letter] = int(min(steps, field.high))
        for letter, field in words(method, table):
            shape[letter] = random.randint(1, len(field.choices))
        if method.everyone:
            shape["S"] = shape["N"]
            if shape.get("breaks") == "uniform_cohort":
                shape.pop("breaks")
        shape["server"] = int(method.server)
        if not alike_everywhere(method):
            shape["away"] = int(random.random() < 0.5)
        if sees_layers(method):
            shape["layered"] = int(shape["d"] > 1 and random.random() < 0.5)
        if count_outcomes(shape, method) <= MOST:
            return shape


def count_draws(method: Algorithm, shape: Shape, which: int | str, asked: bool) -> int:
    """Return the number of gradients that a client, or the server, draws in a round."""
    steps = which if isinstance(which, int) else shape[letters(method)[which]] if which else 0
    return steps + bool(asked)


def count_outcomes(shape: Shape, method: Algorithm) -> int:
    """Return the number of outcomes of a run."""
    return whole.ways(
        shape, shape["S"] * count_draws(method, shape, method.steps, method.client_grad)
    )


def build_server(shape: Shape, point: Point, built: Any) -> Any:
    """Return the server's loss, a quadratic in each coordinate."""
    bend, scale = scale_curvature(shape, point), point["scale"]
    return [
        losses.curve_from_pieces(
            [bend(point[f"server_{j}"])], [], scale * point[f"server_tilt_{j}"]
        )
        for j in range(shape["d"])
    ]


def list_server(shape: Shape) -> Any:
    d = shape["d"]
    return name_vector("server", d, "unit") | name_vector("server_tilt", d)


def fields_of(method: Any) -> Any:
    """Return the fields of an instance of a method's runs."""
    most = lambda field: None if field.high == float("inf") else int(field.high)
    read = lambda letter: lambda shape, point, built: shape[letter]
    counts = [
        Field(letter, integer(max(int(field.low), 0), most(field)), read(letter))
        for letter, field in integers(method)
    ]
    words = [
        Field(
            letter,
            integer(1, len(field.choices)),
            read(letter),
            when=lambda shape, letter=letter: letter in shape,
        )
        for letter, field in list_hyper(method, lambda field: field.choices)
    ]
    cohort = [Field("S", integer("N", "N"), read("S"))] if method.everyone else []
    server = [Field("server", losses.LOSS, build_server, list_server)] if method.server else []
    return whole.FIELDS.replace(without="K").replace(
        *(*cohort, *counts, *words, *server),
        Field(
            "origin",
            POINT,
            lambda shape, point, built: read_vector(point, "origin", shape["d"]),
            lambda shape: name_vector("origin", shape["d"]),
            lambda shape: shape.get("away"),
        ),
        Field(
            "layers",
            list_of(integer(0, length_plus("d", -1)), starts=None),
            lambda shape, point, built: [0, 1],
            when=lambda shape: shape.get("layered"),
        ),
    )


def known_constants(instance: Instance, method: Algorithm, table: Table) -> dict[str, Any]:
    found = derive_constants({**instance, "K": 1, "option": 1})
    for name in ("K", "option"):
        found.pop(name)
    for letter, field in integers(method):
        found[letter] = Q(within_range(field, instance[letter]))
    for letter, field in words(method, table):
        if letter in instance:
            choose_word(field, instance[letter])
            found[letter] = Q(instance[letter])
    if (
        method.everyone
        and instance["S"] != instance["N"]
        or method.server != ("server" in instance)
    ):
        raise Undefined("clients, or a server, that the method does not ask for")
    if "server" in instance:  # the constants hold for every loss, including the server's
        if len(instance["server"]) != len(instance["x_0"]):
            raise Undefined("a server's loss of another dimension")
        low, high = (
            losses.convexity_of(instance["server"]),
            losses.smoothness_of(instance["server"]),
        )
        found.update(mu=losses.minimum(found["mu"], low), L=losses.maximum(found["L"], high))
    return found


def conditions_held(instance: Instance) -> frozenset[str]:
    found = conditions_met(instance)
    if "server" in instance:
        low = losses.convexity_of(instance["server"])
        found = found - name_true(convex=low < 0, strongly_convex=low <= 0)
    return found


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str], method: Algorithm, table: Table
) -> dict[str, Any]:
    """Measure the wanted symbols by the method's kernels. Where the instances of a batch take
    different branches, each instance is measured alone."""
    if why_order_matters(method):
        raise NoSet(why_order_matters(method))
    entries = {name: table[name].measure for name in wanted}
    run = lambda instance, values: measure_entries(
        instance, values, entries, method, letters(method)
    )
    try:
        return run(instance, values)
    except OneByOne:
        return one_by_one(run, instance, values)


def count_ways(instance: Instance, values: Assignment, method: str) -> Any:
    """Return what `Model.ways` returns, with the letters of a method."""
    return ways_of(instance, values, method, letters(method))


@cache
def model_of(method: Any, table: Any = None) -> Any:
    """Return the model of a method's runs. `table` is the claim's table, which defines the method's
    letters; None stands for all letters of the method."""
    discover.adopt_method(method)
    own = letters(method)
    mine = [
        table[own[name]]
        if table is not None and own[name] in table
        else Entry(*_letter(own[name], method.hyper[name]))
        for name in method.hyper
        if own[name] not in TABLE and (not method.hyper[name].choices or _spoken(own[name], table))
    ]
    all_letters = TABLE.extended(mine)
    told = dict(method=method, table=all_letters)
    return Model(
        name=f"run_{method.name}",
        says=f"runs of {method.name}",
        measures=names(TABLE, *whole.MEASURED),
        algorithms=(method.name,),
        by=kernels(method.name),
        gives=(
            *("N", "S", "T", "d"),
            *(letter for letter, _ in (*integers(method), *words(method, all_letters))),
        ),
        loose=whole.LOOSE,
        takes=tuple(letter for letter, field in reals(method) if field.default is None),
        optional=tuple(letter for letter, field in reals(method) if field.default is not None),
        shapes=partial(draw_shapes, **told),
        longer=partial(draw_shapes, **told, drawn=whole.longer),
        constants=partial(known_constants, **told),
        measure=partial(measure_symbols, **told),
        table=all_letters,
        early=frozenset({"sq_distance_0", "gap_0"}),
        ensures=whole.ENSURES,
        holds=conditions_held,
        ways=partial(count_ways, method=method),
        **fields_of(method).record(),
        source=() if method in discover.shipped_algorithms().values() else made_of(method),
    )


def made_of(method: Algorithm) -> tuple[Any, ...]:
    """Return (name, hash) of the file of a user's method."""
    functions = (getattr(method, field.name) for field in fields(method))
    modules = {jit.python(f).__module__ for f in functions if callable(f)}
    return plugins.source_hashes(modules | {method.Hyper.__module__})


def _spoken(letter: str, table: Table | None) -> bool:
    return table is None or letter in table


def _letter(letter: str, field: Any) -> tuple[sympy.Symbol, str, str, tuple[int, int], str]:
    """Return the symbol and entries for a hyper-parameter that a claim does not mention."""
    domain = (
        "count"
        if field.choices or field.integer and field.low >= 1
        else "positive"
        if field.low == 0 and field.open_low
        else "nonnegative"
        if field.low >= 0
        else "real"
    )
    return sympy.Symbol(letter, **DOMAINS[domain][0]), letter, field.meaning, PLAIN, domain


def of_claim(named: Sequence[str | Algorithm], table: Table) -> list[Model]:
    """Return models of the methods that a claim names and that have no model among the shipped
    ones."""
    records = [each if isinstance(each, Algorithm) else discover.algorithm(each) for each in named]
    return [model_of(record, table) for record in records if record.name not in KNOWN]
