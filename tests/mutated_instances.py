"""Instances of all settings, drawn and changed: those that a schema admits, and those that are instances
by what is typed anew in `tests/second_opinion/instances.py`.

    python -m tests.mutated_instances --count 1000000

Exit 1 if the two disagree about any.
"""

import argparse
import json
import re
import sys
from collections import Counter
from fractions import Fraction
from random import Random

from fedtheory import discover
from fedtheory.certificates.schemas import RUNS, TWO_RUNS
from fedtheory.models import all_models
from fedtheory.models.general import run_methods
from fedtheory.models.instances import draw_instance, schema_of
from fedtheory.schema import fault
from tests.second_opinion import instances
from tests.second_opinion.opinion import Refused

WHOLE = re.compile("-?[0-9]{1,5}")
EACH = 40  # changes of one drawn instance
WORDS = ("arrival", "departure", "A", "B", "C", "mean", "given", "plain", "each", "sum", "both")
BREAKS = ("independent_noise", "uniform_cohort", "lipschitz", "equal_weights", "x", "")


def settings():
    """{name: schema} of every setting, and of two runs."""
    methods = [m for n, m in discover.algorithms().items() if n not in run_methods.KNOWN]
    every = [*all_models(), *map(run_methods.model_of, methods)]
    return {**{each.name: each for each in every if not each.source}, RUNS: None}


def two_runs(random):
    """An instance that two ways to run are compared on."""
    N, d = random.randint(1, 3), random.randint(1, 2)
    some = lambda: str(Fraction(random.randint(0, 9), random.randint(1, 9)))
    rows = lambda: [[some() for _ in range(d)] for _ in range(N + 1)]
    weights, x = [str(Fraction(1, N))] * N, rows()[0]
    counts = dict(S=random.randint(1, N), rounds=random.randint(1, 5), seed=random.randint(0, 9))
    return dict(
        counts, A=rows(), b=rows(), weights=weights, sigma=some(), x=x, hyper=dict(eta=some())
    )


# Changes: each of a place (a list or an object, and an index or a name there), in place


def length(random, at, key):
    """A list with an item more or less."""
    part = at[key]
    if isinstance(part, list):
        return part[:-1] if part and random.random() < 0.5 else [*part, *(part[-1:] or ["1"])]
    return [part]


def order(random, at, key):
    part = at[key]
    if isinstance(part, list) and len(part) > 1:
        return random.sample(part, len(part))
    return part


def kind(random, at, key):
    part = at[key]
    if isinstance(part, str):
        whole = WHOLE.fullmatch(part)
        return random.choice([int(part) if whole else 1, [part], {"x": part}, None, 1.5, True])
    return random.choice([str(part) if isinstance(part, int) else "1", [], {}, None, True, 2.0])


def wording(random, at, key):
    return random.choice(WORDS + BREAKS)


def half(random, at, key):
    part = at[key]
    if isinstance(part, (int, str)) and WHOLE.fullmatch(str(part)):
        return f"{2 * int(part) + 1}/2"
    return part


def negative(random, at, key):
    part = at[key]
    if isinstance(part, int):
        return -part - random.randint(0, 1)
    if isinstance(part, str):
        return part[1:] if part.startswith("-") else f"-{part}"
    return part


def other(random, at, key):
    """Another number: 0, a neighbour, a large one, a text that is none."""
    part = at[key]
    if isinstance(part, int):
        return part + random.choice([-2, -1, 1, 2, 100])
    return random.choice(
        ["0", "1", "1/2", "3/2", "1/0", "1e3", "0.5", "", " 1", "1\n", "--1", "7/3"]
    )


def missing(random, at, key):
    del at[key]


def extra(random, at, key):
    name = random.choice(
        ["breaks", "turn", "growth", "copies", "reset", "soft", "shared", "x", "K"]
    )
    value = random.choice(["1", 1, [], "independent_noise", ["1", "0"]])
    if isinstance(at, dict):
        at[name] = value
    else:
        at.insert(random.randint(0, len(at)), value)


def swapped(random, at, key):
    others = list(at) if isinstance(at, dict) else range(len(at))
    with_ = random.choice(list(others))
    at[key], at[with_] = at[with_], at[key]


def duplicated(random, at, key):
    if isinstance(at, list):
        at.insert(key, at[key])
    else:
        at[f"{key}_"] = at[key]


NEW = (length, order, kind, wording, half, negative, other)
IN_PLACE = (missing, extra, swapped, duplicated)
CHANGES = {change.__name__: change for change in (*NEW, *IN_PLACE)}


def places(tree):
    """[(a list or an object, an index or a name in it)] of plain data, deep ones as well."""
    found, waiting = [], [tree]
    while waiting:
        at = waiting.pop()
        for key in at if isinstance(at, dict) else range(len(at)):
            found.append((at, key))
            if isinstance(at[key], (dict, list)):
                waiting.append(at[key])
    return found


def changed(instance, random):
    """(name of a change, the instance with it), None where nothing can be changed."""
    name = random.choice(list(CHANGES))
    change = CHANGES[name]
    some = places(instance)
    if not some:
        return "extra", {"x": "1"}
    at, key = random.choice(some)
    found = change(random, at, key)
    if change in NEW:
        at[key] = found
    return name, instance


def is_instance(name, instance):
    try:
        instances.read(name, instance)
    except Refused:
        return False
    return True


def compared(count, seed=0):
    """(Counter of (change, admitted), [(setting, change, instance, what the schema says)] of those about
    which the two disagree) of so many changed instances of all settings in turn."""
    every, told, differ, done = settings(), Counter(), [], 0
    names, turn = sorted(every), 0
    while done < count:
        name, random = names[turn % len(names)], Random(f"{seed}/{turn}")
        turn += 1
        setting = every[name]
        instance = two_runs(random) if setting is None else draw_instance(setting, random)
        if instance is None:
            continue
        text, schema = json.dumps(instance), TWO_RUNS if setting is None else schema_of(setting)
        for _ in range(min(EACH, count - done)):
            done += 1
            change, other_ = changed(json.loads(text), random)
            if random.random() < 0.2:
                change, other_ = changed(other_, random)
            why = fault(schema, other_)
            told[change, why is None] += 1
            if (why is None) is not is_instance(name, other_):
                differ.append((name, change, other_, why))
    return told, differ


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    told, differ = compared(given.count, given.seed)
    for change in CHANGES:
        print(f"{change}: {told[change, True]} admitted, {told[change, False]} refused")
    for name, change, instance, why in differ[:20]:
        print(f"differ: {name}, {change}: {why}: {json.dumps(instance)[:400]}")
    print(f"{sum(told.values())} instances, {len(differ)} about which the two disagree")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
