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

import dis
from dataclasses import fields
from fractions import Fraction as Q
from functools import cache, partial

import sympy

from fedtheory import discover, jit, plugins
from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import pair
from fedtheory.errors import FedtheoryError, OneByOne
from fedtheory.exact.cohorts import NoSet
from fedtheory.exact.kernel_interpreter import of_library
from fedtheory.language.symbol import DOMAINS, PLAIN, Entry
from fedtheory.models import Model, kernels, losses, names
from fedtheory.models.families import POINT, scale_curvature
from fedtheory.models.fields import Field, name_true, name_vector, read_vector
from fedtheory.models.general import run as whole
from fedtheory.models.general._sight import one_by_one
from fedtheory.models.general.runs import (
    MOST,
    choose_word,
    conditions_met,
    derive_constants,
    measure_entries,
    outcomes_of,
    within_range,
)
from fedtheory.models.general.ways import ways_of
from fedtheory.schema import integer, list_of, plus
from fedtheory.symbols.run import TABLE

KNOWN = frozenset().union(
    *(setting.algorithms for setting in whole.SETTINGS)
)  # methods that have models of their own
# {letter with the same meaning in the neutral table: whether it is a count}
SHARED = dict(eta=False, eta_l=False, eta_g=False, K=True)
SEEN = 4  # rounds in which runs from near and from distant points are compared
TAKEN = frozenset(  # names in use: letters in which a run is measured, and entries of an instance
    {"N", "S", "T", "losses", "at_star", "x_0", "noise", "convex", "lipschitz", "server", "origin"}
    | {"layers", "p", *TABLE}
)


@cache
def letters(method):
    """Return {name of a hyper-parameter: the letter that claims use for this hyper-parameter}."""
    found = {}
    for name, field in method.hyper.items():
        same = SHARED.get(name) is field.integer or name == "option" and field.choices
        letter = name
        while letter in TAKEN and not same or letter in found.values():
            letter += "_"
        found[name] = letter
    return found


def integers(method):
    """Return [(letter, field)] of a method's counts: steps of clients and of the server."""
    return _fields(method, lambda field: field.integer and not field.choices)


def reals(method):
    return _fields(method, lambda field: not field.integer and not field.choices)


def words(method, table):
    """Return (letter, field) of the hyper-parameters of a method that are a choice of words and
    that a claim's table mentions."""
    return [each for each in _fields(method, lambda field: field.choices) if each[0] in table]


def _fields(method, kind):
    own = letters(method)
    return [(own[name], field) for name, field in method.hyper.items() if kind(field)]


def sees_layers(method):
    """Tell whether the code of a method's `init` or `local` reads where layers start."""
    return any(
        step.argval == "layers" and step.opname.startswith("LOAD")
        for function in (method.init, method.local)
        if function is not None
        for step in dis.get_instructions(jit.python(function))
    )


def few_rounds(method, **counts):
    """Return ([instance, ...], values) of a few rounds of a method, with one instance for each word
    that a hyper-parameter can be. Such rounds show how the method's kernels treat points and
    cohorts."""
    curve = lambda slope, tilt: dict(slope=Q(slope), tilt=Q(tilt), bends=[], soft=[])
    instance = dict(
        convex=1,
        lipschitz=1,
        losses=[
            dict(curves=[curve(n, 0), curve(1 / Q(n), 0)])
            for n in ("1", "1/2", "1/3")[: counts["N"]]
        ],
        at_star=[[Q(1, 2), Q(1, 3)], [Q(1, 7), Q(-2)]][: counts["N"] - 1],
        x_0=[Q(1, 5), Q(-1, 7)],
        noise=[],
        **counts,
    )
    for letter, field in integers(method):
        instance[letter] = int(min(max(field.low, 2), field.high))
    if method.server:
        instance["server"] = [curve("1/3", 1), curve(1, "1/3")]
    own = letters(method)
    values = {
        own[name]: Q(1, 3)
        for name, field in method.hyper.items()
        if field.default is None and not field.integer
    }
    every = _fields(method, lambda field: field.choices)
    said = [{letter: n} for letter, field in every for n in range(2, len(field.choices) + 1)]
    return [{**instance, **each} for each in ({}, *said)], values


@cache
def alike_everywhere(method):
    """Tell whether a few rounds of a method, begun at points near and far from 0, are translations
    of each other for every word that a hyper-parameter can be. A search then needs no other
    origins."""
    instances, values = few_rounds(method, N=2, S=2, T=SEEN)

    def paths(instance, **origin):
        ways = outcomes_of({**instance, **origin}, values, method, letters(method))[1][-1]
        return [part for _, path, _ in ways for x in path for part in x]

    try:
        return all(
            pair(a - b)[0] <= 0 <= pair(a - b)[1]
            for one in instances
            for away in ([Q(-3, 1000), Q(2, 7)], [Q(7, 2), Q(7, 2)], [Q(10**6), Q(-9)])
            for a, b in zip(paths(one), paths(one, origin=away), strict=True)
        )
    except (FedtheoryError, ArithmeticError, ValueError):
        return False


@cache
def alike_by_weight(method):
    """Tell whether a round of identical clients, drawn by weight, ends at the same point whichever
    client is drawn; the server's loss is the same too. A method that weighs the drawn clients again
    counts their weights twice."""
    (instance, *_), values = few_rounds(method, N=2, S=1, T=1)
    same = [losses.make_curve(Q(1)), losses.make_curve(Q(1))]
    instance.update(losses=[dict(curves=same)], at_star=[], p=[Q(1, 3), Q(2, 3)])
    instance.update({"server": same} if method.server else {})
    try:
        ways = outcomes_of(instance, values, method, letters(method))[1][-1]
    except (FedtheoryError, ArithmeticError, ValueError):
        return True
    ends = [path[-1] for _, path, _ in ways]
    gaps = [pair(a - b) for x in ends for a, b in zip(x, ends[0])]
    return all(low <= 0 <= high for low, high in gaps)


@cache
def why_order_matters(method):
    """Return why a method depends on the order of a cohort or of its members' work; "" where no
    reason is found."""
    if of_library(method):
        return ""
    instances, values = few_rounds(method, N=3, S=3 if method.everyone else 2, T=2)
    for instance in instances:
        try:
            outcomes_of(instance, values, method, letters(method))
        except NoSet as why:
            return str(why)
        # a run of the method reports the error
        except (FedtheoryError, ArithmeticError, ValueError):
            continue
    return ""


def draw_shapes(random, relaxed, method, table, drawn=whole.draw_shapes):
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


def count_draws(method, shape, which, asked):
    """Return the number of gradients that a client, or the server, draws in a round."""
    steps = which if isinstance(which, int) else shape[letters(method)[which]] if which else 0
    return steps + bool(asked)


def count_outcomes(shape, method):
    """Return the number of outcomes of a run."""
    return whole.ways(
        shape, shape["S"] * count_draws(method, shape, method.steps, method.client_grad)
    )


def build_server(shape, point, built):
    """Return the server's loss, a quadratic in each coordinate."""
    bend, scale = scale_curvature(shape, point), point["scale"]
    return [
        losses.curve_from_pieces(
            [bend(point[f"server_{j}"])], [], scale * point[f"server_tilt_{j}"]
        )
        for j in range(shape["d"])
    ]


def list_server(shape):
    d = shape["d"]
    return name_vector("server", d, "unit") | name_vector("server_tilt", d)


def fields_of(method):
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
        for letter, field in _fields(method, lambda field: field.choices)
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
            list_of(integer(0, plus("d", -1)), starts=None),
            lambda shape, point, built: [0, 1],
            when=lambda shape: shape.get("layered"),
        ),
    )


def known_constants(instance, method, table):
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


def conditions_held(instance):
    found = conditions_met(instance)
    if "server" in instance:
        low = losses.convexity_of(instance["server"])
        found = found - name_true(convex=low < 0, strongly_convex=low <= 0)
    return found


def measure_symbols(instance, values, wanted, method, table):
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


def count_ways(instance, values, method):
    """Return what `Setting.ways` returns, with the letters of a method."""
    return ways_of(instance, values, method, letters(method))


@cache
def setting_of(method, table=None):
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


def made_of(method):
    """Return (name, hash) of the file of a user's method."""
    functions = (getattr(method, field.name) for field in fields(method))
    modules = {jit.python(f).__module__ for f in functions if callable(f)}
    return plugins.source_hashes(modules | {method.Hyper.__module__})


def _spoken(letter, table):
    return table is None or letter in table


def _letter(letter, field):
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


def of_claim(named, table):
    """Return models of the methods that a claim names and that have no model among the shipped
    ones."""
    records = [each if isinstance(each, Algorithm) else discover.algorithm(each) for each in named]
    return [setting_of(record, table) for record in records if record.name not in KNOWN]
