"""What settings say of themselves is so: what they measure, and on whose kernels."""

import importlib
import re
from fractions import Fraction
from random import Random

import pytest

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Undecided
from fedtheory.exact import traces
from fedtheory.models import all_models, by_name, kernels
from fedtheory.models.quantities import Quantities
from fedtheory.symbols.fsl import TABLE

# Measured by formulas of counts and costs (tables of mixed FL), or by a figure alone
ELSEWHERE = {
    "rounds_to_loss",
    "rounds_to_sq_grad",
    "comp_base",
    "comp_mixed",
    "comm_base",
    "comm_pt",
    "comm_gt",
    "grad_by_v",  # of theorem 1's mean over rounds, as the text divides it
}
OTHERS = ["run_feddyn", "run_server_sgd", "run_fsl_parallel"]  # made of a method's record


def test_no_measured_symbol_lacks_its_function():
    known = {measure for setting in all_models() for measure in setting.measures}
    for paper in ("fsl", "mixed", "flex", "lamb", "run"):
        table = importlib.import_module(f"fedtheory.symbols.{paper}").TABLE
        lacking = {
            entry.measure.metric
            for entry in table.values()
            if entry.measure is not None and entry.measure not in known
        }
        assert lacking <= ELSEWHERE, paper


@pytest.mark.parametrize("name", ["nonsense", "eta_l"])
def test_no_function_lacks_its_symbol(name):
    with pytest.raises(KeyError, match=name):
        Quantities(TABLE, **{name: lambda r: 0})


def point(setting, shape, random):
    number = lambda: Fraction(random.randint(1, 7), 8)
    kinds = [*setting.coordinates(shape), *setting.takes]
    return {name: number() for name in kinds}


def measured(setting, seed):
    """What a setting measures at a drawn instance, exactly, and what was wanted; None where nothing
    is defined there."""
    random, theirs = Random(seed), {e.measure: n for n, e in setting.table.items() if e.measure}
    shape = min((setting.shapes(random, frozenset()) for _ in range(20)), key=size)
    at = point(setting, shape, random)
    instance = setting.build(shape, {name: at[name] for name in setting.coordinates(shape)})
    wanted = sorted({theirs[m] for m in setting.measures if m in theirs} - setting.early)
    try:
        errors = dict(eps=Fraction(1, 8), eps_grad=Fraction(1, 8))
        known = {
            "mu": Fraction(1, 8),
            "E": Fraction(1),
            **errors,
            **setting.constants(instance),
            **at,
        }
        return setting.measure(instance, known, wanted), wanted
    except (Undefined, Undecided):
        return None


def size(shape):
    return sum(int(v) for v in shape.values() if str(v).isdigit())


SETTINGS = [*all_models(), *map(by_name, OTHERS)]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: s.name)
def test_a_setting_measures_what_it_says_on_what_it_says(setting, monkeypatch):
    ran, walked = set(), traces.Rounds._close_round

    def recorded(rounds, *arguments):
        ran.add(rounds.method.name)
        return walked(rounds, *arguments)

    monkeypatch.setattr(traces.Rounds, "_close_round", recorded)
    found = [each for each in (measured(setting, seed) for seed in range(8)) if each]
    assert found or setting.name.startswith("flex")
    for told, wanted in found:
        assert set(told) >= set(wanted)
    if setting.by.startswith("the kernels of"):
        # more steps than these may be joined in closed form, which a test of their own compares
        assert {setting.by.split(", and what is tested to be the same")[0]} == set(
            map(kernels, ran)
        )
    elif setting.by:
        assert re.search(r"beside the kernels of (\w+) \(.+\)", setting.by)[1] in setting.algorithms
        assert ran <= set(setting.algorithms)
    else:
        assert not ran
