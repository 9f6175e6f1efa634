"""Models of instances: what can happen and be measured exactly, so that a claim about it can be
searched and decided. A model is a record of the class Setting.

A model (`Setting`) is one file. It draws shapes (small integers), names the coordinates in which
instances of a shape vary, and builds an instance from coordinates. An instance is plain data, which
a certificate holds unchanged. From the instance alone, by definition and without the engine, the
model derives the constants and measured quantities that claims refer to.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import NamedTuple

import sympy

from fedtheory import discover, plugins
from fedtheory.errors import InvalidInput, refuse
from fedtheory.language.claim import ANY
from fedtheory.language.conditions import EQUAL_WEIGHTS, SAMPLED_BY_WEIGHT, UNIFORM_COHORT, unsaid
from fedtheory.language.symbol import Table


class Model(NamedTuple):
    name: str
    says: str  # what happens in the model, in words
    measures: frozenset  # the Measures (symbol.Measure) that the model yields
    algorithms: tuple  # names of the methods that the model runs; () without a method
    gives: tuple  # parameters derived from an instance: counts and other facts
    loose: dict  # derived constants that are bounds: 1 upper (L, G), -1 lower (mu)
    takes: tuple  # real parameters that the model needs, such as step sizes
    # (random, relaxed) -> {name: int or text}; `relaxed` are conditions that need not hold
    shapes: Callable
    coordinates: Callable  # (shape) -> {name: "real" | "positive" | "unit"}
    build: Callable  # (shape, point) -> instance; the numbers may be of any number type
    # (instance) -> {symbol: value}: `gives`, and all else that is known before a method runs
    constants: Callable
    measure: Callable  # (instance, {symbol: value}, wanted symbols) -> {symbol: value}
    table: object  # the Table whose symbols all these names are
    early: frozenset = (
        frozenset()
    )  # measured symbols that `constants` yields, known before the method runs
    ensures: frozenset = frozenset()  # names of the conditions that instances can meet
    # (instance) -> the conditions that the instance meets, where relaxed conditions may fail
    holds: Callable | None = None
    kind: str = "enumerated"  # or "exact", where nothing is random
    # (claim) -> whether step sizes follow the claim's schedule over rounds; None: they always do
    runs: Callable | None = None
    by: str = ""  # the text of `kernels` or `beside` where a method runs; "" without a method
    # parameters that a claim may leave unset: they have defaults, or no influence on the run
    optional: tuple = ()
    source: tuple = ()  # (name, SHA-256) of the user's file that defines it; () in this library
    # (instance, values) -> [(probability, points x_0, ..., x_T, a Round for each round)], for a
    # user's own functions
    ways: Callable | None = None
    # {coordinate, or the part before its first "_": (power of a point, power of a loss)}
    coordinates_in: Mapping = MappingProxyType({})
    # (random, relaxed) -> a shape of long runs, or None; searched after all other shapes
    longer: Callable | None = None
    # (shape) -> whether a run has few enough outcomes; None where shapes of any size are possible
    affords: Callable | None = None
    # the schema of instances, as in fedtheory.schema; None: the schema that instances built by the
    # model have in common
    schema: object = None

    def measured(self, instance, values, wanted):
        """Return what `measure` returns, with each constant that a variant of a claim sets free
        replaced by its free value. The free value also enters the quantities that are defined with
        the constant."""
        free = {
            name.removeprefix(ANY): value for name, value in values.items() if name.startswith(ANY)
        }
        return self.measure(instance, {**values, **free}, wanted)


Setting = Model  # the name that users' files import


def kernels(method):
    """Return the text for the field `by` of a model whose rounds are traces of a method's kernels."""
    return f"the kernels of {method}"


def beside(method, why):
    """Return the text for the field `by` of a model that has a definition of its own. Tests compare
    such a model with the method's kernels."""
    return f"a definition beside the kernels of {method} ({why})"


HOUSE = "house"  # the neutral table, which belongs to no paper and serves every method


GENERAL = "general"  # the folder of models in the letters of the neutral table


def homes():
    """Return [(Setting, name of its module)] of all models. The shipped models come first, by paper
    and then by file name; the models in users' files follow."""
    return _homes(plugins.list_files())


@cache
def _homes(files):
    own = [
        _check_setting(file, record)
        for f in files
        for file, record in plugins.list_records("SETTING", f)
    ]
    names = [setting.name for setting, _ in (*_shipped_settings(), *own)]
    for setting, _ in own:
        if names.count(setting.name) > 1 or setting.name.startswith("run_"):
            refuse(
                "SETTING",
                "must have a name that no other has and that does not begin with run_",
                setting.name,
            )
    return (*_shipped_settings(), *own)


def _check_setting(file, record):
    if not isinstance(record, Model):
        refuse("SETTING", "must be a fedtheory Model", record)
    return record._replace(source=file.source), file.module.__name__


@cache
def _shipped_settings():
    files = [
        module.split(".")
        for _, name, package in pkgutil.iter_modules(__path__)
        if package
        for _, module, _ in pkgutil.iter_modules([f"{__path__[0]}/{name}"], f"{name}.")
    ]
    found = []
    for folder, name in sorted(files, key=lambda each: (each[0] == GENERAL, each)):
        if not name.startswith("_"):
            module = importlib.import_module(f"{__name__}.{folder}.{name}")
            several = getattr(module, "SETTINGS", ()) or [getattr(module, "SETTING", None)]
            found += [(setting, module.__name__) for setting in several if setting is not None]
    return tuple(found)


def all_settings():
    """Return all models: the records Setting of the folders of this package and of users' files."""
    return _settings(plugins.list_files())


@cache
def _settings(files):
    return tuple(setting for setting, _ in _homes(files))


def entry_names(setting):
    """Return {entry of a model's instances: the words for that entry}, as the model's file or else
    its folder defines them in CALLED. For losses the words name the first losses, which precede the
    clients' losses."""
    homes_ = {other.name: home for other, home in homes()}
    # other names are models of any method
    home = homes_.get(setting.name, f"{__name__}.{GENERAL}.run")
    own = importlib.import_module(home) if home.startswith(__name__) else None
    folder = importlib.import_module(home.rpartition(".")[0]) if own else None
    return getattr(own, "CALLED", None) or getattr(folder, "CALLED", {})


def names(table: Table, *symbols: str) -> frozenset:
    """Return the set of Measures of symbols of a table; each text names one symbol or several."""
    return frozenset(table[symbol].measure for text in symbols for symbol in text.split())


def conditions(claim):
    """Return {name: Condition} of the conditions that matter for a claim. For a claim that measures
    nothing, conditions that some model ensures are left out unless they certify one of the claim's
    parameters, because some losses and some method meet all of them; a condition that no model
    ensures is never left out."""
    found = {a.name: a.condition for a in claim.assumptions if a.condition is not None}
    if claim.quantities:
        return found
    known = frozenset().union(*(setting.ensures for setting in all_settings()))
    return {
        name: condition
        for name, condition in found.items()
        if name not in known
        or set(claim.table.certified(condition.constants)) & set(claim.parameters)
    }


def tacit(setting, claim):
    """Return the laws of chance that are assumed for a claim in the house's letters that does not
    mention them: on a run F is the plain mean of the clients' losses, unless a variant has dropped
    that law. Cohorts are uniform where the claim assumes S = N or N = 1."""
    if setting.table.paper != HOUSE:
        return frozenset()
    found = (
        unsaid(a.name for a in (*claim.assumptions, *claim.dropped)) if setting.algorithms else ()
    )
    found = {EQUAL_WEIGHTS.name} & set(found)
    N, S = (setting.table[name].symbol if name in setting.table else None for name in "NS")
    everyone = {sympy.Eq(S, N), sympy.Eq(N, S), sympy.Eq(N, 1)} if N and S else set()
    if everyone & {a.relation for a in claim.assumptions}:
        found |= {UNIFORM_COHORT.name}
    return frozenset(found)


def methods(claim):
    """Return the names of the methods of a claim; the tuple is empty where the claim names none. A
    user's record with the name of a shipped method is refused, because the models of the shipped
    method would be used for it."""
    several = claim.algorithm if isinstance(claim.algorithm, tuple) else (claim.algorithm,)
    for each in several:
        if each is not None and not isinstance(each, str):
            discover.adopt_method(each)
    return tuple(getattr(each, "name", each) for each in several if each is not None)


def fitting(claim):
    """Return the models that share a claim's symbols and can measure everything that the claim
    measures.

    If a claim measures nothing, its numbers alone decide it. Names mean what the claim's paper
    says: K, N or S of one paper are never read as those of another paper. A user's own table is
    read as the table with which it agrees in names, units and domains. A quantity that is measured
    on a run depends on the method, so a claim about a run that names no method is refused. A
    parameter that other models with the same table derive from instances must be known to a model
    that fits. No model fits a claim that is made for some value of a constant, because an instance
    has one value at a time.
    """
    if claim.left_open:
        return []
    wanted, named = {entry.measure for entry in claim.quantities.values()}, set(methods(claim))
    refuse_letters(claim, named)
    refuse_weights(claim, named)
    bearing = set(conditions(claim))
    found = [
        setting
        for setting in candidates(claim, named)
        if wanted <= setting.measures
        and bool(wanted) == bool(setting.measures)
        and (not wanted or reads(setting, claim))
        and bearing <= setting.ensures
        and not strangers(setting, claim)
        and not (wanted and silent(setting, claim))
        and (not named or not setting.algorithms or named & set(setting.algorithms))
        and (setting.runs is None or setting.runs(claim))
    ]
    on_a_run = on_runs(claim)
    if on_a_run and not named and found and all(setting.algorithms for setting in found):
        able = sorted({name for setting in found for name in setting.algorithms})
        refuse(
            f"{claim.id}: algorithm",
            f"must name the method on whose run {', '.join(on_a_run)} is measured, such as "
            f"{', '.join(able)}",
            claim.algorithm,
        )
    return found


def candidates(claim, named):
    """Return the models that might fit a claim. Where the claim has functions of a user's own, only
    models of runs are returned, extended by these functions."""
    from fedtheory.models.general import own

    found = [*all_settings(), *further(claim, named)]
    if not own.asks(claim):
        return found
    return [own.of_claim(setting, claim) for setting in found if setting.ways is not None]


def on_runs(claim):
    """Return the names of the quantities that a claim measures on a run."""
    return [name for name, entry in claim.quantities.items() if entry.measure.of_a_run]


def of_a_paper(claim):
    """Tell whether a claim is in the letters of a paper that has models of its own."""
    return claim.table.paper in {setting.table.paper for setting in all_settings()} - {HOUSE}


def refuse_letters(claim, named):
    """Refuse a user's claim about runs of methods that contains a letter that is not a letter of
    the method. Such a letter would not depend on anything that happens in the run."""
    runs = [s for s in candidates(claim, named) if s.table.paper == HOUSE and s.algorithms]
    measured = frozenset().union(*(setting.measures for setting in runs))
    wanted = {entry.measure for entry in claim.quantities.values()}
    if of_a_paper(claim) or not on_runs(claim) or not wanted <= measured:
        return
    if not named:
        refuse(
            f"{claim.id}: algorithm",
            f"must name the method on whose run {', '.join(on_runs(claim))} is measured, such as "
            f"{', '.join(sorted({name for s in runs for name in s.algorithms}))}",
            claim.algorithm,
        )
    for name in sorted(named):
        settings = [s for s in runs if name in s.algorithms]
        strange = [
            sorted({*strangers(setting, claim), *unread(setting, claim)}) for setting in settings
        ]
        if settings and all(strange):
            takes = dict.fromkeys(
                letter
                for setting in settings
                for letter in (*setting.gives, *setting.loose, *setting.takes, *setting.optional)
            )
            refuse(
                f"{claim.id}: its letters",
                f"must be, with the domain and the unit that they have there, those of {name} and "
                f"of its runs ({', '.join(takes)}) where it is no measured one",
                ", ".join(strange[0]),
            )


def refuse_weights(claim, named):
    """Refuse a claim on clients drawn by weight about a shipped method that weighs the drawn
    clients again and has no option for plain means. The weights of a cohort would not add up to 1.
    """
    if SAMPLED_BY_WEIGHT.name not in {a.name for a in claim.assumptions}:
        return
    from fedtheory import discover
    from fedtheory.models.general import run_methods

    shipped = discover.shipped_algorithms()
    for name in sorted(named & shipped.keys()):
        if not run_methods.alike_by_weight(shipped[name]):
            refuse(
                f"{claim.id}: algorithm",
                f"must take plain means of a cohort where {SAMPLED_BY_WEIGHT.says}: one that counts "
                "client i by p_i counts it twice",
                name,
            )


def further(claim, named):
    """Return models of the named methods for which no file here has a model, built from the
    method's record."""
    if of_a_paper(claim):
        return []
    known = {
        name
        for setting in all_settings()
        if setting.table.paper == HOUSE
        for name in setting.algorithms
    }
    if named <= known:
        return []
    from fedtheory.models.general import run_methods

    several = claim.algorithm if isinstance(claim.algorithm, tuple) else (claim.algorithm,)
    return run_methods.of_claim(
        [each for each in several if getattr(each, "name", each) not in known], claim.table
    )


def reads(setting, claim):
    """Tell whether a claim's parameters are parameters of a model. A parameter of another name
    would not depend on the instance."""
    if claim.table.paper in {other.table.paper for other in all_settings()}:
        return setting.table.paper == claim.table.paper
    return not unread(setting, claim)


def unread(setting, claim):
    """Return the names of a claim's parameters that are no letters of a model or have another unit
    or domain there. Where a method runs, letters that the model neither takes nor gives are
    returned too, because they would not depend on anything that happens."""
    free = set(claim.parameters) - known_letters(setting, claim) if setting.algorithms else set()
    alike = lambda name, entry: (
        name in setting.table
        and (name not in free or setting.table.paper != HOUSE)
        and (entry.unit, entry.domain) == (setting.table[name].unit, setting.table[name].domain)
    )
    return [
        name
        for name, entry in claim.parameters.items()
        if not name.startswith(ANY) and not alike(name, entry)
    ]


def strangers(setting, claim):
    """Return the parameters of a claim that other methods take and the model's methods do not. They
    would not depend on anything that happens in the run, so that the claim would fail for some
    value of each."""
    theirs = {
        name
        for other in all_settings()
        if other.algorithms and other.table.paper == setting.table.paper
        for name in other.takes
    }
    free = theirs & set(claim.parameters)
    return sorted(free - known_letters(setting, claim)) if setting.algorithms and free else []


def silent(setting, claim):
    """Return the parameters of a claim that other models with the same table derive from an
    instance and this model does not know. They could be any number at each instance of this model,
    so that the claim would fail for some value of each."""
    asked = _facts(plugins.list_files(), setting.table.paper) & set(claim.parameters)
    return sorted(asked - known_letters(setting, claim)) if asked else []


@cache
def _facts(files, paper):
    """Return the letters that models with a paper's table derive from an instance."""
    found = [setting for setting in _settings(files) if setting.table.paper == paper]
    return {name for setting in found for name in (*setting.gives, *setting.loose)}


def known_letters(setting, claim):
    """Return the letters that a model gives or its methods take, and the letters that the claim's
    equations determine from these."""
    found = {*setting.gives, *setting.loose, *setting.takes, *setting.optional}
    measured, equations = set(claim.quantities), _equations(claim)
    while tied := [e - found for e in equations if len(e - found) == 1 and not e & measured]:
        found |= set().union(*tied)
    return found


@lru_cache(maxsize=64)
def _equations(claim):
    """Return the set of letters of each equation that a claim assumes."""
    return [
        {symbol.name for symbol in claim.expand(a.relation).free_symbols}
        for a in claim.assumptions
        if isinstance(a.relation, sympy.Eq)
    ]


def by_name(name):
    """Return the model with a name, or None where there is none."""
    from fedtheory.models.general import own

    if isinstance(name, str) and own.MARK in name:
        return own.by_name(name, by_name)
    found = next((setting for setting in all_settings() if setting.name == name), None)
    if found is None and isinstance(name, str) and name.startswith("run_"):
        from fedtheory.models.general import run_methods

        try:
            found = run_methods.setting_of(discover.algorithm(name.removeprefix("run_")))
        except InvalidInput:
            return None
    return found
