"""What every setting is asked: the same numbers from a batch of floats as exactly, and documents
that can be refused."""

import copy
import json
from random import Random

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic.operations import Many, ends_of
from fedtheory.certificates.check_proof import Refused
from fedtheory.models import fitting
from fedtheory.models.instances import fault_of, texts
from fedtheory.search.rational_points import round_to_bits


def middle(value):
    return float(sum(ends_of(value)) / 2)


def exact_is_batch(setting, wanted, takes=(), count=8, seed=0, relaxed=frozenset()):
    """Constants and measures at drawn points, two of them side by side in a batch; how many numbers
    were compared."""
    compared, random = 0, Random(seed)
    for _ in range(count):
        shape = setting.shapes(random, relaxed)
        kinds = {**setting.coordinates(shape), **dict.fromkeys(takes, "positive")}
        draw = lambda kind: round_to_bits(
            random.random() if kind != "real" else random.gauss(0, 1), 12
        )
        points = [{name: draw(kind) for name, kind in kinds.items()} for _ in range(2)]
        both = {name: Many(np.array([float(point[name]) for point in points])) for name in kinds}

        def numbers(point):
            instance = setting.build(
                shape, {name: point[name] for name in setting.coordinates(shape)}
            )
            known = setting.constants(instance)
            values = {**known, **{name: point[name] for name in takes}}
            return {**known, **setting.measure(instance, values, wanted)}

        many = numbers(both)
        for n, point in enumerate(points):
            for name, value in numbers(point).items():
                found = many[name].at if isinstance(many[name], Many) else float(many[name])
                found = float(np.broadcast_to(found, 2)[n])
                if isinstance(value, float) or not np.isfinite(found):
                    assert isinstance(value, float) or np.isnan(found) or abs(found) > 1e300
                    continue
                assert found == pytest.approx(middle(value), rel=1e-9, abs=1e-9), (name, shape)
                compared += 1
    return compared


def refuted(claim, budget=5.0, says=None):
    """The Verdict on a false claim, whose document replays, and does not once its numbers are
    others."""
    verdict = ft.check(claim, budget=budget)
    assert verdict.status == "violated", verdict
    document = json.loads(json.dumps(verdict.certificate))
    assert ft.replay(document)["status"] == "violated"
    changed = copy.deepcopy(document)
    changed["statement"]["right"] = changed["statement"]["left"]
    with pytest.raises(Refused, match="changed"):
        ft.replay(changed)
    assert says is None or says in verdict.why
    return verdict


def weakened(name):
    claim = ft.claim(name)
    return claim.replace(bound=claim.weakened, name="a.variant")


def refuses(model, instance):
    """Whether plain data are no instance of a model, by its schema and by its conditions."""
    return fault_of(model, texts(instance)) is not None and not model.holds(instance)


def fits(name, setting):
    return setting in fitting(ft.claim(name))
