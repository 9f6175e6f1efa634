"""The inputs on which a verdict on a claim can depend: the checker, the models that fit, and the
claim's methods.

A result is stored under the hash of these dependencies. This module looks up records in folders the
same way as the checker does, so that a record of another claim has no influence.
"""

from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedtheory import discover, jit
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Certified
from fedtheory.models import conditions, fitting, homes, methods
from fedtheory.models.record import Model
from fedtheory.store import source_hash

if TYPE_CHECKING:
    from fedtheory.algorithm import Algorithm

CHECKER = "fedtheory.verdicts.pipeline"
# The module that builds models for methods without a model file of their own.
MADE = "fedtheory.models.general.run_methods"


def claims_asked(claim: Claim) -> list[Claim]:
    """Return a claim and its explicit companion, if any, each as meant and as printed."""
    both = [claim, *([discover.claim(claim.explicit)] if claim.explicit else [])]
    return [r for each in both for r in dict.fromkeys((each, each.as_printed))]


def deciding_inputs(claim: Claim) -> list[Any]:
    """Return plain data of everything on which a verdict depends beside the claim's record.

    The data are the fitting models and relevant conditions by name, a hash of all modules reached
    by the checker, the models and the shipped methods, and a hash of each function that the claim
    or a user's method brings.
    """
    fits, records, modules = find_dependencies(claim)
    own = [function for r in records if module_of(r) is None for function in user_functions(r)]
    return [
        fits,
        source_hash.digest_of_reach(modules, walked=False),
        [source_hash.digest_of_thing(function) for function in (*claim_functions(claim), *own)],
    ]


def claim_functions(claim: Claim) -> list[Callable[..., Any] | Certified]:
    """Return the functions in a claim's record: its conditions, both sides of a structure, and
    user-defined quantities."""
    several = [claim.compute, *(one for same in claim.same for one in (same.one, same.other))]
    asked = [a.condition for a in claim.assumptions if a.condition]
    held = [function for condition in asked for function in (condition.holds, condition.on)]
    held += [entry.own.of for entry in claim.symbols.values() if entry.own is not None]
    return [one for one in (*several, *held) if callable(one)]


def find_dependencies(claim: Claim) -> "tuple[Any, list[Algorithm], set[str]]":
    """Return (names of the fitting models and the relevant conditions, the records of methods,
    the modules of this library that decide)."""
    try:
        asked = claim if claim.denial is None else claim.denial
        settings = fitting(asked) if asked.lines else []
        fits = [[[s.name, *s.source] for s in settings], sorted(conditions(claim))]
        named = {*methods(claim), *(name for s in settings for name in s.algorithms)}
        named |= {one for same in claim.same for one in (same.one, same.other) if not callable(one)}
        records = [discover.algorithm(name) for name in sorted(named)]
    except InvalidInput as refused:  # the check itself will raise the same error
        return str(refused), [], {CHECKER}
    ours = [
        setting_module(setting) for setting in settings if not setting.source or is_made(setting)
    ]
    return fits, records, {CHECKER, *ours, *filter(None, map(module_of, records))}


def is_made(setting: Model) -> bool:
    """Tell whether a model was generated here from a user's method. Any other model of a user
    is identified by its hash."""
    return all(known is not setting for known, _ in homes())


def setting_module(setting: Model) -> str:
    """Return the module of a model."""
    return next((module for known, module in homes() if known is setting), MADE)


def module_of(record: "Algorithm") -> str | None:
    """Return the module of a method of this library; None for a user's method."""
    name = f"fedtheory.algorithms.{record.name}"
    found = source_hash.source_file(name) and getattr(import_module(name), "ALGORITHM", None)
    return name if found is record else None


def user_functions(record: "Algorithm") -> Any:
    """Return the functions of a user's method."""
    parts = (jit.python(getattr(record, field.name)) for field in fields(record))
    return [part for part in parts if callable(part)]
