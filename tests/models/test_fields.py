"""Fields of an instance: what follows from their list, worked by hand."""

from fractions import Fraction as Q

from fedtheory.models import fields
from fedtheory.models.fields import Field, Fields, coordinate, count, deviation, name_true, number
from fedtheory.schema import fault

NOISY = Fields(
    count("K"),
    number("x"),
    deviation("sigma", "noise"),
    Field(
        "drift",
        "number",
        lambda shape, point, built: built["x"] * point["far"],
        when=lambda shape: shape["drifts"],
    ),
    coordinate("far", "positive", lambda shape: shape["drifts"]),
    order="sigma",
)
SHAPE = dict(K="3", noise=1, drifts=1)


def test_coordinates_have_the_declared_order():
    assert list(NOISY.coordinates(SHAPE)) == ["sigma", "x", "far"]
    assert NOISY.coordinates(dict(SHAPE, noise=0, drifts=0)) == {"x": "real"}


def test_an_entry_sees_those_before_it():
    point = dict(x=Q(2), sigma=Q(1, 3), far=Q(5))
    assert NOISY.build(SHAPE, point) == dict(K=3, x=Q(2), sigma=Q(1, 3), drift=Q(10))
    plain = NOISY.build(dict(SHAPE, noise=0, drifts=0), dict(x=Q(2)))
    assert plain == dict(K=3, x=Q(2), sigma=Q(0))


def test_the_schema_admits_what_is_built_and_nothing_else():
    assert fault(NOISY.schema, dict(K=3, x="2", sigma="0")) is None
    assert fault(NOISY.schema, dict(K=3, x="2", sigma="0", drift="1")) is None
    assert "lacks sigma" in str(fault(NOISY.schema, dict(K=3, x="2")))
    assert "far" in str(fault(NOISY.schema, dict(K=3, x="2", sigma="0", far="1")))
    assert "at least 1" in str(fault(NOISY.schema, dict(K=0, x="2", sigma="0")))


def test_no_condition_holds_where_parts_do_not_fit():
    guarded = NOISY.guard(lambda instance: frozenset({"smooth"}))
    assert guarded(dict(K=1, x=Q(1), sigma=Q(0))) == {"smooth"}
    assert not guarded(dict(K=1, x=Q(1), sigma=Q(-1))) and not guarded({})


def test_a_replaced_field_keeps_its_place():
    other = NOISY.replace(count("K", least=2), fields.vector("y"), without="drift far")
    assert list(other.fields) == ["K", "x", "sigma", "y"]
    assert "at least 2" in str(fault(other.schema, dict(K=1, x="1", sigma="0", y=["1"])))
    assert other.coordinates(dict(noise=0, d=2)) == {"x": "real", "y_0": "real", "y_1": "real"}


def test_names_whose_value_is_true():
    assert name_true(convex=True, smooth=0, bounded=[1]) == {"convex", "bounded"}
