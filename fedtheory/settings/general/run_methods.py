"""Whole runs of any other method, by its own kernels: those of the library that have no setting,
and a user's own.

The letters are the house's (N, S, T, L, mu, G, zeta, sigma, what is measured) and the method's own
hyper-parameters; those that a claim does not mention stay at their defaults. Where the method uses
a server's loss, one is drawn too.
"""

from fractions import Fraction
from functools import cache, partial
from math import comb

from fedtheory import discover
from fedtheory.algorithm import Algorithm
from fedtheory.errors import refuse
from fedtheory.settings import Setting, kernels, losses, names
from fedtheory.settings.general import run as whole
from fedtheory.settings.general.runs import MOST, constants, measured, met
from fedtheory.symbol import Entry
from fedtheory.symbols.run import TABLE

KNOWN = frozenset().union(
    *(setting.algorithms for setting in whole.SETTINGS)
)  # those have settings of their own
ZERO = Fraction(0)


def integers(method):
    """Names of a method's counts: steps of clients and of the server."""
    return [name for name, field in method.hyper.items() if field.integer and not field.choices]


def reals(method):
    return [name for name, field in method.hyper.items() if not field.integer and not field.choices]


def readable(method):
    """Refused where a letter of the method is one of the house's with another meaning."""
    taken = sorted(
        {"N", "S", "T", *TABLE} & set(method.hyper) - {"eta", "eta_l", "eta_g", "K", "lam"}
    )
    if taken:
        refuse(
            f"{method.name}: its hyper-parameters",
            "must not share a letter with what a run is measured in",
            taken,
        )
    if method.transform is not None:
        refuse(
            f"{method.name}",
            "must train on the losses themselves to be read on exact numbers",
            "a transform",
        )


def shapes(random, relaxed, method):
    while True:
        shape = whole.shapes(random, relaxed, "fedsgd")
        shape.pop("K")
        shape.update({name: random.choice([1, 1, 2, 2, 3]) for name in integers(method)})
        if method.everyone:
            shape["S"] = shape["N"]
        shape["server"] = int(method.server)
        if ways(shape, method) <= MOST:
            return shape


def draws(method, shape, which, asked):
    """Gradients of a client, or of the server, in a round."""
    steps = which if isinstance(which, int) else shape[which] if which else 0
    return steps + bool(asked)


def ways(shape, method):
    """Outcomes of a run."""
    calls = shape["S"] * draws(method, shape, method.steps, method.client_grad)
    calls += draws(method, shape, method.server_steps, method.server_grad) if method.server else 0
    return (comb(shape["N"], shape["S"]) * (1 if shape["noise"] == "none" else 2**calls)) ** shape[
        "T"
    ]


def coordinates(shape):
    found = whole.coordinates(shape)
    if shape["server"]:
        found.update({f"server_{j}": "unit" for j in range(shape["d"])})
        found.update({f"server_tilt_{j}": "real" for j in range(shape["d"])})
    return found


def build(shape, point, method):
    instance = whole.build({**shape, "K": 1}, point)
    instance.pop("K")
    instance.update({name: shape[name] for name in integers(method)})
    if shape["server"]:
        bend = lambda u: point["scale"] * (u if shape["convex"] else 2 * u - 1)
        instance["server"] = [
            losses.bent(
                [bend(point[f"server_{j}"])], [], point["scale"] * point[f"server_tilt_{j}"]
            )
            for j in range(shape["d"])
        ]
    return instance


def known(instance, method):
    found = constants({"K": 1, **instance})
    for name in ("K", "option"):
        found.pop(name)
    found.update({name: Fraction(instance[name]) for name in integers(method)})
    if "server" in instance:  # the constants are those of every loss, the server's among them
        low, high = losses.convexity(instance["server"]), losses.smoothness(instance["server"])
        found.update(mu=losses.minimum(found["mu"], low), L=losses.maximum(found["L"], high))
    return found


def holds(instance):
    found = met(instance)
    if "server" in instance:
        low = losses.convexity(instance["server"])
        found = found - {
            name
            for name, kept in dict(convex=low >= 0, strongly_convex=low > 0).items()
            if not kept
        }
    return found


def measure(instance, values, wanted, method, table):
    return measured(instance, values, {name: table[name].measure for name in wanted}, method)


@cache
def setting_of(method, table=TABLE):
    """The Setting of a method's runs; `table` is the claim's, which says what the method's letters
    are."""
    readable(discover.adopted(method))
    own = [
        table[name] if name in table else Entry(*_letter(name, method))
        for name in method.hyper
        if name not in TABLE and not method.hyper[name].choices
    ]
    letters = TABLE.extended(own)
    return Setting(
        name=f"run_{method.name}",
        says=f"runs of {method.name}",
        measures=names(TABLE, *whole.MEASURED),
        algorithms=(method.name,),
        by=kernels(method.name),
        gives=("N", "S", "T", *integers(method)),
        loose=dict(L=1, G=1, zeta=1, sigma=1, R=1, mu=-1),
        takes=tuple(name for name in reals(method) if method.hyper[name].default is None),
        shapes=partial(shapes, method=method),
        coordinates=coordinates,
        build=partial(build, method=method),
        constants=partial(known, method=method),
        measure=partial(measure, method=method, table=letters),
        table=letters,
        early=frozenset({"sq_distance_0", "gap_0"}),
        ensures=whole.ENSURES,
        holds=holds,
    )


def _letter(name, method):
    """A hyper-parameter that a claim does not mention, as a letter."""
    import sympy

    from fedtheory.symbol import DOMAINS, PLAIN

    field = method.hyper[name]
    domain = (
        "count"
        if field.integer
        else "positive"
        if field.low == 0 and field.open_low
        else "nonnegative"
        if field.low >= 0
        else "real"
    )
    return sympy.Symbol(name, **DOMAINS[domain][0]), name, field.meaning, PLAIN, domain


def of_claim(named, table):
    """Settings of the methods that a claim names and that have none of their own."""
    records = [each if isinstance(each, Algorithm) else discover.algorithm(each) for each in named]
    return [setting_of(record, table) for record in records if record.name not in KNOWN]
