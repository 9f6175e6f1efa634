"""Runs on which a claim measures quantities of a user's own or has conditions of a user's own: a
model of runs, extended by the functions that the claim's table names."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np

from fedtheory import plugins
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, Undecided, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.errors import OneByOne, refuse
from fedtheory.language import user_quantities
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import ALL
from fedtheory.language.symbol import Entry, Table
from fedtheory.models import losses, minima, polyak
from fedtheory.models.families import variance
from fedtheory.models.general._sight import one_by_one, origin
from fedtheory.models.general.clients import Clients
from fedtheory.models.record import Model
from fedtheory.typing import Assignment, Instance

MARK = "+"  # separates the two parts of the name of an extended model
NAN = Many(np.asarray(np.nan))


class UserInstance(user_quantities.Landscape):
    """An instance of these models, as it is passed to a user's function."""

    def __init__(self, instance: Instance) -> None:
        self._clients = Clients(instance)
        self.N, self.d, self.p = self._clients.N, self._clients.d, tuple(self._clients.p)
        self.sigma_sq = variance(instance["noise"])
        away = origin(instance, self.d)  # points have the coordinates that the method sees
        self._away = vector([Fraction(0)] * self.d) if away is None else away
        self.x_0 = vector(instance["x_0"]) + self._away
        self.x_0.flags.writeable = False

    def loss(self, x: np.ndarray) -> Any:
        return self._clients.F(x - self._away)

    def grad(self, x: np.ndarray) -> Any:
        return self._clients.mean_grad(x - self._away)

    def client_loss(self, i: int, x: np.ndarray) -> Any:
        return self._clients.value(self._of(i), x - self._away)

    def client_grad(self, i: int, x: np.ndarray) -> Any:
        return self._clients.grad(self._of(i), x - self._away)

    def gap(self, x: np.ndarray) -> Any:
        return self._clients.gap(self.loss(x), x - self._away)

    @cached_property
    def _least(self) -> Any:
        infimum, x_star = self._clients.least()
        if isinstance(infimum, float):
            raise Undefined("an infimum that is not there")
        return infimum, x_star

    @property
    def minimizer(self) -> Any:
        return self._least[1] + self._away

    def sq_distance(self, x: np.ndarray) -> Any:
        found = self._clients.sq_distance(x - self._away)
        if isinstance(found, float):
            raise Undefined("a minimiser that is not there, or is not known to be alone")
        return found

    def client_infimum(self, i: int) -> Any:
        found = minima.infimum_of([self._clients.curves[self._of(i)]], [Fraction(1)])
        if isinstance(found, float):
            raise Undefined("an infimum that is not there")
        return found

    def curvature(self, i: int) -> Any:
        return losses.curvature_range(self._clients.curves[self._of(i)])

    def _of(self, i: int) -> Any:
        if not 1 <= i <= self.N:
            raise IndexError(f"clients are 1 to {self.N}")
        return int(i) - 1

    @cached_property
    def polyak_lojasiewicz(self) -> Many | Counted:
        clients = self._clients
        if any(clients.turns):
            return losses.positive_part(clients.low)
        return polyak.polyak_lojasiewicz(clients.curves, clients.p)


# A claim's own functions


def entries(symbols: Table) -> dict[str, Entry]:
    """Return {name: Entry} of the symbols in a table that a user's function defines."""
    return {name: entry for name, entry in symbols.items() if entry.own is not None}


def conditions(claim: Claim) -> dict[str, Any]:
    """Return {name: Condition} of the conditions of a claim that a user's function decides."""
    found = {a.name: a.condition for a in claim.assumptions if a.condition is not None}
    return {name: condition for name, condition in found.items() if condition.on is not None}


def asks(claim: Claim) -> bool:
    """Tell whether a claim has symbols or conditions that a user's function defines."""
    return bool(entries(claim.symbols) or conditions(claim))


def of_claim(model: Any, claim: Claim) -> Model:
    """Return a model of runs extended by the symbols and conditions of a claim that a user's
    functions define."""
    return make_model(model, entries(claim.symbols), conditions(claim))


# name -> (functions, Model) of models that no file holds, for the life of the process
_MADE: dict = {}


def make_model(model: Any, mine: Mapping[str, Entry], asked: Mapping[str, Any]) -> Any:
    """Return a model of runs with symbols `mine` and conditions `asked` that a user's functions
    define."""
    _refuse_names(model, mine, asked)
    functions = (*(e.own.of for e in mine.values()), *(c.on for c in asked.values()))
    source = _source(model, functions)
    parts = [*sorted(mine), *(f"{name}?" for name in sorted(asked))]
    sha = hashlib.sha256(repr((model.name, *source)).encode()).hexdigest()[:12]
    name = MARK.join([model.name, *parts, sha])
    known = _MADE.get(name)
    if known is None or known[0] != functions:
        _MADE[name] = functions, _make_model(model, name, mine, asked, source)
    return _MADE[name][1]


def _refuse_names(model: Any, mine: Mapping[str, Entry], asked: Mapping[str, Any]) -> None:
    for name in (*mine, *asked):
        if not name.isidentifier():
            refuse(
                "a symbol or condition of one's own", "must have an identifier as its name", name
            )
    for name in asked:
        if name in model.ensures or name in ALL:
            refuse("a condition of one's own", "must have a name that no other has", name)


def _source(model: Any, functions: Sequence[Callable[..., Any]]) -> tuple[Any, ...]:
    modules = {getattr(f, "__module__", None) or "" for f in functions}
    told = plugins.source_hashes(modules)
    if not model.source or not told or model.source == told:
        return told or model.source
    joint = hashlib.sha256((model.source[1] + told[1]).encode()).hexdigest()
    return f"{model.source[0]}, {told[0]}", joint if model.source[1] and told[1] else ""


def _make_model(
    model: Any, name: str, mine: Mapping[str, Entry], asked: Mapping[str, Any], source: str
) -> Any:
    along = {n: e.own for n, e in mine.items() if e.own.bound is None}
    fixed = {n: e.own for n, e in mine.items() if e.own.bound is not None}
    return model._replace(
        name=name,
        table=model.table.extended(mine.values()),
        measures=model.measures | {mine[n].measure for n in along},
        gives=(*model.gives, *(n for n, each in fixed.items() if not each.bound)),
        loose={**model.loose, **{n: each.bound for n, each in fixed.items() if each.bound}},
        constants=partial(derive_constants, base=model, fixed=fixed),
        measure=partial(measure_symbols, base=model, along=along, asked=asked),
        ensures=model.ensures | asked.keys(),
        holds=partial(conditions_held, base=model, asked=asked),
        source=source,
    )


def by_name(name: str, plain: Callable[..., Any]) -> Model | None:
    """Return the model with a name that `make_model` gave, built from the files at hand or made
    earlier in this process, or None where its functions are not found. `plain` finds the model that
    is extended."""
    base, *parts, _ = name.split(MARK)
    model = plain(base)
    if model is None or model.ways is None or not parts:
        return None
    for mine, asked in _find_brought(parts):
        found = make_model(model, mine, asked)
        if found.name == name:
            return found
    return _MADE[name][1] if name in _MADE else None


def _find_brought(parts: Sequence[str]) -> Any:
    """Yield (symbols, conditions) with these names, for each file that defines all of them."""
    for file in plugins.list_files():
        claims = [record for found, record in plugins.list_records("CLAIM", file)]
        tables = [t for t in vars(file.module).values() if isinstance(t, Table)]
        tables += [claim.table for claim in claims]
        symbols, met = {}, {}
        for table in tables:
            symbols.update(entries(table))
        for claim in claims:
            met.update(conditions(claim))
        mine = {name: symbols[name] for name in parts if name in symbols}
        asked = {n[:-1]: met[n[:-1]] for n in parts if n.endswith("?") and n[:-1] in met}
        if len(mine) + len(asked) == len(parts):
            yield mine, asked


# Values of the functions


def derive_constants(
    instance: Instance, base: Model, fixed: Mapping[str, user_quantities.Own]
) -> dict[str, Fraction]:
    found = dict(base.constants(instance))
    if not fixed:
        return found

    def ours(instance: Instance, values: Assignment) -> dict[str, Many | Counted]:
        about = UserInstance(instance)
        given = kind(instance)
        return {
            name: user_quantities.evaluate_checked(name, each.of, about, given)
            for name, each in fixed.items()
        }

    return {**found, **alone(fixed, ours, instance, {})}


def measure_symbols(
    instance: Instance,
    values: Assignment,
    wanted: Sequence[Any],
    base: Model,
    along: Mapping[str, Any],
    asked: Mapping[str, Any],
) -> dict[str, Any]:
    plain = [name for name in wanted if name not in along]
    found = base.measure(instance, values, plain) if plain else {}
    mine = [name for name in wanted if name in along]

    def ours(instance: dict[str, Any], values: dict[str, Any]) -> Any:
        about = UserInstance(instance)
        ways = [
            (p, user_quantities.Way(about, x, rounds, values))
            for p, x, rounds in base.ways(instance, values)
        ]
        told = lambda name, way: user_quantities.evaluate_checked(
            name, along[name].of, way, kind(instance)
        )
        return {name: sum(p * told(name, way) for p, way in ways) for name in mine}

    found.update(alone(mine, ours, instance, values) if mine else {})
    if not asked:
        return found

    def met(instance: Instance, values: Assignment) -> Any:
        about = UserInstance(instance)
        truths = [
            user_quantities.check_truth(name, condition.on, about)
            for name, condition in asked.items()
        ]
        good = Fraction(1)
        for truth in truths:
            good = where(truth, good, NAN)
        return dict(met=good)

    if any(
        isinstance(value, Many) for value in found.values()
    ):  # only in a search; for a single instance, `holds` decides the conditions
        good = alone(("met",), met, instance, values)["met"]
        found = {name: value * good for name, value in found.items()}
    return found


def kind(instance: Instance) -> str:
    """Return MANY where an instance holds batches, else EXACT."""
    return user_quantities.MANY if isinstance(instance["x_0"][0], Many) else user_quantities.EXACT


def alone(
    names: Mapping[str, user_quantities.Own],
    ours: Callable[..., Any],
    instance: Instance,
    values: Assignment,
) -> dict[str, Any]:
    """Return {name: number} by a function that may branch, called for one instance at a time where
    it does. In a batch, a number is NaN where the function has no value."""
    many = kind(instance) == user_quantities.MANY

    def valued(instance: Instance, values: Assignment) -> dict[str, Many | Counted]:
        try:
            return ours(instance, values)
        except (Undefined, ZeroDivisionError):
            if not many:
                raise
            return dict.fromkeys(names, NAN)

    try:
        return valued(instance, values)
    except OneByOne:
        return one_by_one(valued, instance, values)


def conditions_held(
    instance: dict[str, Any], base: Any, asked: Mapping[str, Any]
) -> frozenset[str]:
    about, met = UserInstance(instance), base.holds(instance)
    for name, each in asked.items():
        try:
            met |= (
                {name} if user_quantities.check_truth(name, each.on, about) is True else frozenset()
            )
        # a condition that cannot be decided is not counted as met
        except (Undecided, Undefined, ZeroDivisionError):
            continue
    return met
