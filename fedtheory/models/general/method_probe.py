"""What a method's record and a few of its rounds tell: the letters of its hyper-parameters, and how
its kernels treat points, weights and the order of a cohort."""

import dis
from collections.abc import Sequence
from fractions import Fraction as Q
from functools import cache
from typing import Any

from fedtheory import jit
from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic.operations import ends_of
from fedtheory.errors import FedtheoryError
from fedtheory.exact.cohorts import NoSet
from fedtheory.exact.kernel_interpreter import of_library
from fedtheory.language.symbol import Table
from fedtheory.models import losses
from fedtheory.models.fields import Field
from fedtheory.models.general.runs import outcomes_of
from fedtheory.symbols.run import TABLE
from fedtheory.typing import Instance, Number

# {letter with the same meaning in the neutral table: whether it is a count}
SHARED = dict(eta=False, eta_l=False, eta_g=False, K=True)
SEEN = 4  # rounds in which runs from near and from distant points are compared
TAKEN = frozenset(  # names in use: letters in which a run is measured, and entries of an instance
    {"N", "S", "T", "losses", "at_star", "x_0", "noise", "convex", "lipschitz", "server", "origin"}
    | {"layers", "p", *TABLE}
)


@cache
def letters(method: Algorithm) -> dict[str, str]:
    """Return {name of a hyper-parameter: the letter that claims use for this hyper-parameter}."""
    found = {}
    for name, field in method.hyper.items():
        same = SHARED.get(name) is field.integer or name == "option" and field.choices
        letter = name
        while letter in TAKEN and not same or letter in found.values():
            letter += "_"
        found[name] = letter
    return found


def integers(method: Algorithm) -> list[tuple[str, Field]]:
    """Return [(letter, field)] of a method's counts: steps of clients and of the server."""
    return list_hyper(method, lambda field: field.integer and not field.choices)


def reals(method: Algorithm) -> list[tuple[str, Field]]:
    return list_hyper(method, lambda field: not field.integer and not field.choices)


def words(method: Algorithm, table: Table) -> list[tuple[str, Field]]:
    """Return (letter, field) of the hyper-parameters of a method that are a choice of words and
    that a claim's table mentions."""
    return [each for each in list_hyper(method, lambda field: field.choices) if each[0] in table]


def list_hyper(method: Any, kind: Any) -> Any:
    own = letters(method)
    return [(own[name], field) for name, field in method.hyper.items() if kind(field)]


def sees_layers(method: Algorithm) -> bool:
    """Tell whether the code of a method's `init` or `local` reads where layers start."""
    return any(
        step.argval == "layers" and step.opname.startswith("LOAD")
        for function in (method.init, method.local)
        if function is not None
        for step in dis.get_instructions(jit.python(function))
    )


def few_rounds(method: Algorithm, **counts: int) -> tuple[Any, dict[str, Q]]:
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
    every = list_hyper(method, lambda field: field.choices)
    said = [{letter: n} for letter, field in every for n in range(2, len(field.choices) + 1)]
    return [{**instance, **each} for each in ({}, *said)], values


@cache
def alike_everywhere(method: Algorithm) -> bool:
    """Tell whether a few rounds of a method, begun at points near and far from 0, are translations
    of each other for every word that a hyper-parameter can be. A search then needs no other
    origins."""
    instances, values = few_rounds(method, N=2, S=2, T=SEEN)

    def paths(instance: Instance, **origin: Sequence[Q]) -> list[Number]:
        ways = outcomes_of({**instance, **origin}, values, method, letters(method))[1][-1]
        return [part for _, path, _ in ways for x in path for part in x]

    try:
        return all(
            ends_of(a - b)[0] <= 0 <= ends_of(a - b)[1]
            for one in instances
            for away in ([Q(-3, 1000), Q(2, 7)], [Q(7, 2), Q(7, 2)], [Q(10**6), Q(-9)])
            for a, b in zip(paths(one), paths(one, origin=away), strict=True)
        )
    except (FedtheoryError, ArithmeticError, ValueError):
        return False


@cache
def alike_by_weight(method: Any) -> bool:
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
    gaps = [ends_of(a - b) for x in ends for a, b in zip(x, ends[0])]
    return all(low <= 0 <= high for low, high in gaps)


@cache
def why_order_matters(method: Algorithm) -> str:
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
