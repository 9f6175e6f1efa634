"""Which models fit a claim: they share its letters, measure what it measures, and can meet what it
assumes.

A model that fits only by name would decide another statement. Each test here therefore refuses one
way to misread a claim: letters of another paper, parameters that nothing in the run depends on, a
method whose record is another one, a condition that no instance of the model can meet. Nothing is
drawn or measured here.
"""

from collections.abc import Sequence, Set
from functools import cache, lru_cache
from typing import Any

import sympy

from fedtheory import discover, plugins
from fedtheory.errors import refuse
from fedtheory.language.claim import ANY, Claim
from fedtheory.language.conditions import (
    EQUAL_WEIGHTS,
    SAMPLED_BY_WEIGHT,
    UNIFORM_COHORT,
    unsaid_laws,
)
from fedtheory.models.record import Model
from fedtheory.models.registry import HOUSE, all_models, list_models


def conditions(claim: Claim) -> Any:
    """Return {name: Condition} of the conditions that matter for a claim. For a claim that measures
    nothing, conditions that some model ensures are left out unless they certify one of the claim's
    parameters, because some losses and some method meet all of them; a condition that no model
    ensures is never left out."""
    found = {a.name: a.condition for a in claim.assumptions if a.condition is not None}
    if claim.quantities:
        return found
    known = frozenset().union(*(model.ensures for model in all_models()))
    return {
        name: condition
        for name, condition in found.items()
        if name not in known
        or set(claim.table.names_of_constants(condition.constants)) & set(claim.parameters)
    }


def tacit(model: Any, claim: Claim) -> Any:
    """Return the laws of chance that are assumed for a claim in the house's letters that does not
    mention them: on a run F is the plain mean of the clients' losses, unless a variant has dropped
    that law. Cohorts are uniform where the claim assumes S = N or N = 1."""
    if model.table.paper != HOUSE:
        return frozenset()
    found = (
        unsaid_laws(a.name for a in (*claim.assumptions, *claim.dropped))
        if model.algorithms
        else ()
    )
    found = {EQUAL_WEIGHTS.name} & set(found)
    N, S = (model.table[name].symbol if name in model.table else None for name in "NS")
    everyone = {sympy.Eq(S, N), sympy.Eq(N, S), sympy.Eq(N, 1)} if N and S else set()
    if everyone & {a.relation for a in claim.assumptions}:
        found |= {UNIFORM_COHORT.name}
    return frozenset(found)


def methods(claim: Claim) -> Any:
    """Return the names of the methods of a claim; the tuple is empty where the claim names none. A
    user's record with the name of a shipped method is refused, because the models of the shipped
    method would be used for it."""
    several = claim.algorithm if isinstance(claim.algorithm, tuple) else (claim.algorithm,)
    for each in several:
        if each is not None and not isinstance(each, str):
            discover.adopt_method(each)
    return tuple(getattr(each, "name", each) for each in several if each is not None)


def fitting(claim: Claim) -> list[Model]:
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
        model
        for model in candidates(claim, named)
        if wanted <= model.measures
        and bool(wanted) == bool(model.measures)
        and (not wanted or reads(model, claim))
        and bearing <= model.ensures
        and not strangers(model, claim)
        and not (wanted and silent(model, claim))
        and (not named or not model.algorithms or named & set(model.algorithms))
        and (model.runs is None or model.runs(claim))
    ]
    on_a_run = on_runs(claim)
    if on_a_run and not named and found and all(model.algorithms for model in found):
        able = sorted({name for model in found for name in model.algorithms})
        refuse(
            f"{claim.id}: algorithm",
            f"must name the method on whose run {', '.join(on_a_run)} is measured, such as "
            f"{', '.join(able)}",
            claim.algorithm,
        )
    return found


def candidates(claim: Claim, named: Set[str]) -> list[Model]:
    """Return the models that might fit a claim. Where the claim has functions of a user's own, only
    models of runs are returned, extended by these functions."""
    from fedtheory.models.general import own

    found = [*all_models(), *further(claim, named)]
    if not own.asks(claim):
        return found
    return [own.of_claim(model, claim) for model in found if model.ways is not None]


def on_runs(claim: Claim) -> list[str]:
    """Return the names of the quantities that a claim measures on a run."""
    return [name for name, entry in claim.quantities.items() if entry.measure.of_a_run]


def of_a_paper(claim: Claim) -> bool:
    """Tell whether a claim is in the letters of a paper that has models of its own."""
    return claim.table.paper in {model.table.paper for model in all_models()} - {HOUSE}


def refuse_letters(claim: Claim, named: Set[str]) -> None:
    """Refuse a user's claim about runs of methods that contains a letter that is not a letter of
    the method. Such a letter would not depend on anything that happens in the run."""
    runs = [s for s in candidates(claim, named) if s.table.paper == HOUSE and s.algorithms]
    measured = frozenset().union(*(model.measures for model in runs))
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
        able = [s for s in runs if name in s.algorithms]
        strange = [sorted({*strangers(model, claim), *unread(model, claim)}) for model in able]
        if able and all(strange):
            takes = dict.fromkeys(
                letter
                for model in able
                for letter in (*model.gives, *model.loose, *model.takes, *model.optional)
            )
            refuse(
                f"{claim.id}: its letters",
                f"must be, with the domain and the unit that they have there, those of {name} and "
                f"of its runs ({', '.join(takes)}) where it is no measured one",
                ", ".join(strange[0]),
            )


def refuse_weights(claim: Claim, named: Set[str]) -> None:
    """Refuse a claim on clients drawn by weight about a shipped method that weighs the drawn
    clients again and has no option for plain means. The weights of a cohort would not add up to 1.
    """
    if SAMPLED_BY_WEIGHT.name not in {a.name for a in claim.assumptions}:
        return
    from fedtheory.models.general import method_probe

    shipped = discover.shipped_algorithms()
    for name in sorted(named & shipped.keys()):
        if not method_probe.alike_by_weight(shipped[name]):
            refuse(
                f"{claim.id}: algorithm",
                f"must take plain means of a cohort where {SAMPLED_BY_WEIGHT.says}: one that counts "
                "client i by p_i counts it twice",
                name,
            )


def further(claim: Claim, named: Set[str]) -> list[Model]:
    """Return models of the named methods for which no file here has a model, built from the
    method's record."""
    if of_a_paper(claim):
        return []
    known = {
        name for model in all_models() if model.table.paper == HOUSE for name in model.algorithms
    }
    if named <= known:
        return []
    from fedtheory.models.general import run_methods

    several = claim.algorithm if isinstance(claim.algorithm, tuple) else (claim.algorithm,)
    return run_methods.of_claim(
        [each for each in several if getattr(each, "name", each) not in known], claim.table
    )


def reads(model: Any, claim: Claim) -> Any:
    """Tell whether a claim's parameters are parameters of a model. A parameter of another name
    would not depend on the instance."""
    if claim.table.paper in {other.table.paper for other in all_models()}:
        return model.table.paper == claim.table.paper
    return not unread(model, claim)


def unread(model: Any, claim: Claim) -> Any:
    """Return the names of a claim's parameters that are no letters of a model or have another unit
    or domain there. Where a method runs, letters that the model neither takes nor gives are
    returned too, because they would not depend on anything that happens.

    The symbols must agree in unit and domain, not only in name: the K of one paper is no K of
    another.
    """
    free = set(claim.parameters) - known_letters(model, claim) if model.algorithms else set()
    alike = lambda name, entry: (
        name in model.table
        and (name not in free or model.table.paper != HOUSE)
        and (entry.unit, entry.domain) == (model.table[name].unit, model.table[name].domain)
    )
    return [
        name
        for name, entry in claim.parameters.items()
        if not name.startswith(ANY) and not alike(name, entry)
    ]


def strangers(model: Any, claim: Claim) -> Any:
    """Return the parameters of a claim that other methods take and the model's methods do not. They
    would not depend on anything that happens in the run, so that the claim would fail for some
    value of each."""
    theirs = {
        name
        for other in all_models()
        if other.algorithms and other.table.paper == model.table.paper
        for name in other.takes
    }
    free = theirs & set(claim.parameters)
    return sorted(free - known_letters(model, claim)) if model.algorithms and free else []


def silent(model: Any, claim: Claim) -> Any:
    """Return the parameters of a claim that other models with the same table derive from an
    instance and this model does not know. They could be any number at each instance of this model,
    so that the claim would fail for some value of each."""
    asked = _facts(plugins.list_files(), model.table.paper) & set(claim.parameters)
    return sorted(asked - known_letters(model, claim)) if asked else []


@cache
def _facts(files: Sequence[Any], paper: str) -> set[str]:
    """Return the letters that models with a paper's table derive from an instance."""
    found = [model for model in list_models(files) if model.table.paper == paper]
    return {name for model in found for name in (*model.gives, *model.loose)}


def known_letters(model: Any, claim: Claim) -> Any:
    """Return the letters that a model gives or its methods take, and the letters that the claim's
    equations determine from these.

    An equation with a single unknown letter determines the letter, unless the equation contains a
    measured quantity. The determined letters may determine others, until nothing changes.
    """
    found = {*model.gives, *model.loose, *model.takes, *model.optional}
    measured, equations = set(claim.quantities), _equations(claim)
    while tied := [e - found for e in equations if len(e - found) == 1 and not e & measured]:
        found |= set().union(*tied)
    return found


@lru_cache(maxsize=64)
def _equations(claim: Claim) -> list[set[str]]:
    """Return the set of letters of each equation that a claim assumes."""
    return [
        {symbol.name for symbol in claim.expand(a.relation).free_symbols}
        for a in claim.assumptions
        if isinstance(a.relation, sympy.Eq)
    ]
