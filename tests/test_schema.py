"""Schemas of instances: all that is drawn meets them, nothing that is changed does unless it is an
instance still, and the reader says what is wrong."""

import json
from random import Random

import pytest

import fedtheory as ft
from fedtheory import schema
from fedtheory.errors import InvalidInput
from fedtheory.models.inference import infer_schema
from fedtheory.models.instances import draw_instance, fault_of, schema_of, texts
from fedtheory.search.objective import Target
from tests import mutated_instances
from tests.second_opinion import instances

EVERY = mutated_instances.settings()
NAMES = sorted(name for name, setting in EVERY.items() if setting is not None)
DRAWN, CHANGED = 25, 3000


@pytest.mark.parametrize("name", NAMES)
def test_what_is_drawn_is_an_instance(name):
    """By its schema, and by what is typed anew."""
    setting, seen = EVERY[name], 0
    for seed in range(DRAWN):
        instance = draw_instance(setting, Random(f"{name}/{seed}"))
        if instance is not None:
            seen += 1
            assert fault_of(setting, json.loads(json.dumps(instance))) is None
            instances.read(name, instance)
    assert seen >= DRAWN // 2


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_plain_data_of_its_own(name):
    own = schema_of(EVERY[name])
    assert EVERY[name].schema is not None and json.loads(json.dumps(own)) == json.loads(
        json.dumps(own, allow_nan=False)
    )


def test_what_is_changed_is_admitted_only_where_it_is_an_instance():
    told, differ = mutated_instances.compared(CHANGED)
    assert not differ
    for change in mutated_instances.CHANGES:
        assert told[change, False] > 5, change
    assert sum(count for (_, admitted), count in told.items() if admitted) > CHANGED / 10


def test_two_readings_that_disagree_are_seen(monkeypatch):
    """Without the order of knots, or the length of vectors, the comparison finds what is wrong."""
    monkeypatch.setitem(schema.MARKS, "rising", lambda *more: None)
    _, differ = mutated_instances.compared(CHANGED)
    assert differ


CURVE = dict(slope="1", tilt="0", bends=[["1", "-1"], ["-1", "2"]])


@pytest.mark.parametrize(
    "told, instance, why",
    [
        (schema.list_of("number", "d"), [], "it must have more than 0 parts"),
        ("number", "1/0", "it must be a number"),
        ("number", 1, "it must be a number"),
        ("number", "1\n", "it must be a number"),
        ("positive", "0", "it must be positive, and is 0"),
        ("share", "1", "it must be between 0 and 1, and is 1"),
        ("whole", "3/2", "it must be a whole number, at least 1, and is 3/2"),
        (schema.integer(), True, "it must be an integer"),
        (schema.integer(0, 2), "1", "it must be an integer"),
        (schema.word("A", "B"), "C", "it must be 'A' or 'B'"),
        (schema.entries({"x": "number"}), {}, "it lacks x"),
        (schema.entries({}), {"x": "1"}, "it has 'x', which means nothing there"),
        (
            schema.entries({"N": schema.integer(), "S": schema.integer(1, "N")}),
            {"N": 2, "S": 3},
            "its S must be at most N = 2, and is 3",
        ),
        (
            schema.entries({"x": schema.list_of("number", "N"), "N": schema.integer()}),
            {"x": ["1"], "N": 2},
            "its N is 2, and there are 1",
        ),
        (schema.list_of("positive", None, total=None), ["1/2", "1/3"], "it must add up to 1"),
        (schema.list_of("positive", None, total=None), [], "it must add up to 1"),
        (
            schema.list_of(schema.row(schema.integer(0), schema.integer()), None, covering=2),
            [[0, 1], [0, 2]],
            "it must be ranges, one after the other, from 0",
        ),
        (
            schema.entries({"more": schema.list_of("number", ["item", "s", 1])}),
            {"more": []},
            "its more must have as many parts as what is not there: ['item', 's', 1]",
        ),
    ],
)
def test_a_fault_is_said_in_one_sentence(told, instance, why):
    assert schema.fault(told, instance) == why


def test_long_numbers_are_not_added_up():
    many = [f"1/{10**3000 + n}" for n in range(20)]
    assert "digits" in schema.fault(schema.list_of("positive", None, total=None), many)


def test_what_no_alternative_says_leaves_no_trace():
    """The lengths of an alternative that does not fit are forgotten."""
    one = schema.entries({"x": schema.list_of("number", "d"), "is": schema.word("one")})
    two = schema.entries({"is": schema.word("two"), "x": schema.list_of("number", 1)})
    both = schema.entries({"p": schema.either(one, two), "y": schema.list_of("number", "d")})
    assert schema.fault(both, {"p": {"x": ["1"], "is": "two"}, "y": ["1", "2"]}) is None
    assert schema.fault(both, {"p": {"x": ["1"], "is": "one"}, "y": ["1", "2"]}) is not None


INFERRED = [
    "run_fedavg",
    "fsl_vectors",
    "lamb_run",
    "fsl_round",
    "mixed_run_two_way_gt",
    "flex_departed",
]


@pytest.mark.parametrize("name", INFERRED)
def test_an_inferred_schema_admits_what_is_drawn_and_refuses_lies(name):
    """As for a setting of a user's that has none."""
    setting = EVERY[name]
    some = [draw_instance(setting, Random(f"inferred/{n}")) for n in range(200)]
    inferred = infer_schema([each for each in some if each is not None])
    others = [draw_instance(setting, Random(f"others/{n}")) for n in range(60)]
    good = [schema.fault(inferred, each) is None for each in others if each is not None]
    assert sum(good) >= 0.9 * len(good)
    seen = 0
    for each in filter(None, others):
        random = Random(seen)
        for _ in range(10):
            change, other = mutated_instances.changed(json.loads(json.dumps(each)), random)
            if change in ("length", "missing", "extra", "wording", "kind"):
                admitted = schema.fault(inferred, other) is None
                seen += admitted and not mutated_instances.is_instance(name, other)
    assert seen <= 12


def test_a_setting_without_a_schema_has_what_its_instances_have_in_common():
    own = EVERY["fsl_vectors"]._replace(name="mine", schema=None)
    assert fault_of(own, {"vectors": [["1", "2"], ["0", "1/2"]]}) is None
    assert "vectors/1" in fault_of(own, {"vectors": [["1"], ["1", "1"]]})
    assert "means nothing" in fault_of(own, {"vectors": [["1"]], "more": "1"})
    assert schema_of(own) is schema_of(own)
    longer = own._replace(build=lambda shape, point: dict(own.build(shape, point), more=1))
    assert "lacks more" in fault_of(longer, {"vectors": [["1"]]})


def test_a_model_that_builds_nothing_must_say_what_its_instances_are():
    def build(shape, point):
        raise InvalidInput("nothing")

    own = EVERY["fsl_vectors"]._replace(name="mine", schema=None, build=build)
    with pytest.raises(InvalidInput, match="the model mine: schema must be given"):
        schema_of(own)
    with pytest.raises(InvalidInput, match="schema must be given"):
        Target(ft.claim("fsl.lemma2"), own)
    with pytest.raises(InvalidInput, match="an instance must consist of numbers"):
        texts(dict(x=[None]))


def test_a_still_start_is_still_exactly():
    """A soft corner's gradient is no fraction: no document could have the tilt that balances it."""
    setting, still = EVERY["fsl_round"], 0
    for seed in range(200):
        shape = setting.shapes(Random(seed), frozenset())
        still += shape["start"] == "still"
        assert not (shape["start"] == "still" and shape["soft"])
    assert still > 20
