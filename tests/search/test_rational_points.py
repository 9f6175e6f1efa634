"""Exact looks at points: what they cost is work of the search, and one that costs too much has no
answer."""

import pytest

from fedtheory.arithmetic import work
from fedtheory.discover import claim as claim_of
from fedtheory.models import fitting
from fedtheory.search import scheduler
from fedtheory.search.coordinates import LOOK
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import STEP, Point


@pytest.fixture
def point():
    """A point inside the hypotheses of lemma 4 of FSL."""
    claim = claim_of("fsl.lemma4")
    target = Target(claim, fitting(claim)[0])
    for hunt, ratio, row in scheduler.search_waves(target, 0.2, 0):
        if ratio > 0 and Point.near(hunt, row).answer():
            return Point.near(hunt, row)


def test_a_look_is_counted_once_and_by_its_arithmetic(point):
    begun = point.hunt.work
    with work.limit_work(10**9) as left:
        answer = point.hunt.target.exactly(*point.instance_and_values())
    taken = 10**9 - left[0]
    assert taken > 100 and point.answer().left == answer.left
    once = point.hunt.work - begun
    assert once >= STEP * taken
    point.answer()
    assert point.hunt.work - begun == once
    assert (
        type(point.instance_and_values()[1]["gamma"]).__name__ == "Fraction"
    )  # nothing is counted outside


def test_a_look_that_takes_more_than_it_may_has_no_answer(point):
    again, begun = Point(point.hunt, point.numbers), point.hunt.work
    point.hunt.look = 50
    assert again.answer() is None and again.dear and again.breaks() is None
    assert STEP * 50 <= point.hunt.work - begun < STEP * 1000
    assert again.ratio() is None and not again.certainly_holds() and again.simpler() is None
    row = point.hunt.top[0]
    near = Point.nearby_points(point.hunt, row)
    assert next(near).answer() is None and next(near, None) is None  # no other is asked for
    point.hunt.look = LOOK
    assert Point(point.hunt, point.numbers).answer() is not None


def test_what_numpy_makes_of_an_exception_is_told_apart():
    with pytest.raises(work.Spent), work.limit_work(10):
        work._budget.get()[0] = -1
        raise SystemError("a sum went on though a term of it raised")
    with pytest.raises(SystemError), work.limit_work(10):
        raise SystemError("of its own")


def test_a_look_that_numpy_went_on_with_has_no_answer(point):
    """A sum of NumPy drops the error of a term, and ends in one of its own."""

    def sum_that_went_on():
        try:
            work.spend_work(10**12)
        except work.Spent:
            raise SystemError("a result with an exception set") from None

    again = Point(point.hunt, point.numbers)
    before = again.hunt.work
    assert (
        again.answer_question(sum_that_went_on) is None and again.dear and again.hunt.work > before
    )


def test_a_look_may_take_a_share_of_the_budget():
    looks = [scheduler.look_of(seconds) for seconds in (0.01, 0.1, 4, 10, 1000)]
    assert looks == sorted(looks) and looks[0] == looks[1] == scheduler.FEWEST and looks[-1] == LOOK
