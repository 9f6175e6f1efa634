"""Long runs of one client: what is drawn, and the worst losses for which closed forms are known."""

from fractions import Fraction as Q
from random import Random

import pytest

from fedtheory.models import by_name
from fedtheory.models.general import _long, run

FEDAVG, HALF = by_name("run_fedavg"), Q(1, 2)
NAMES = ("growing_noise", "coordinate_noise", "sampled_by_weight")
ANY = frozenset({"convex", "strongly_convex", "lipschitz", "quadratic", "same_curvature", *NAMES})


def drawn(relaxed, number=300):
    random = Random(0)
    return [_long.shapes(random, relaxed, "fedsgd", NAMES) for _ in range(number)]


def test_what_is_drawn_meets_what_is_asked():
    """A single way to go at any number of rounds; nothing where each gradient is drawn."""
    found = drawn(ANY)
    assert {int(each["T"]) for each in found} >= {2, 20, 90} and max(
        int(s["T"]) for s in found
    ) <= 100
    assert any("saw" in each for each in found) and any(each["convex"] for each in found)
    assert all(run.ways(each, 1) == 1 for each in found)
    assert all(each["convex"] for each in drawn(ANY - {"convex"}))
    assert {each["pieces"] for each in drawn(ANY - {"quadratic"})} == {1}
    assert set(drawn(ANY - {"growing_noise"})) == {None}


def saw(T, **changes):
    """The saw whose derivative is 1 at each point of a run with eta = 1/L = 1, and 1/2 between."""
    shape = dict(next(each for each in drawn(ANY) if "saw" in each), T=str(T), lipschitz=1)
    point = dict(scale=Q(1), knot_0_0=Q(1), tooth_0_0=Q(1))
    point |= {f"slope_0_0_{k}": Q(1) for k in range(4)}
    assert set(point) == set(FEDAVG.coordinates(shape))
    return FEDAVG.build(shape, {**point, **changes})


@pytest.mark.parametrize("T", [4, 12])
def test_a_saw_keeps_the_gradient(T):
    """All of f' is 1 at x_0, ..., x_T, and each round costs 3/4 of the loss: the gap is 3T/4 + 1/2."""
    setting, instance = by_name("run_fedsgd"), saw(T)
    found = setting.constants(instance)
    assert (found["L"], found["gap_0"]) == (1, Q(3 * T, 4) + HALF)
    assert "bounded_below" in setting.holds(instance)
    measured = setting.measured(instance, {"eta": Q(1)}, ["best_sq_grad", "gap_T"])
    assert measured == {"best_sq_grad": 1, "gap_T": HALF}


def test_weakened_bounds_that_fall_less_than_they_rise_end_where_they_began():
    """However steep the two sides are, the derivative comes back."""
    instance = saw(3, slope_0_0_1=HALF)
    knots = [at for _, at in instance["losses"][0]["curves"][0]["bends"]]
    assert knots == sorted(knots) and instance["x_0"] == [knots[-1]]
    at_start = by_name("run_fedsgd").measured(instance, {"eta": Q(1)}, ["sq_grad_0"])
    assert at_start == {"sq_grad_0": 1}


def test_a_huber_loss_is_the_slowest():
    """With eta L = 1 and its knot at x_0/(2T + 1), the gap after T rounds is L D/(4T + 2)."""
    T, setting = 30, by_name("run_fedsgd")
    shape = dict(N=1, S=1, d=1, convex=1, T=str(T), K=1, pieces=2, lipschitz=1)
    shape |= dict(shared=1, equal=1, noise="none", turned=0)
    point = dict(scale=Q(1), slope_0_0_0=Q(1), slope_0_0_1=Q(0), knot_0_0=Q(1), x_0=Q(2 * T + 1))
    instance = FEDAVG.build(shape, point)
    assert setting.constants(instance)["L"] == 1
    assert setting.measured(instance, {"eta": Q(1)}, ["gap_T"]) == {
        "gap_T": Q((2 * T + 1) ** 2, 4 * T + 2)
    }
