"""The run of a counterexample, step by step: by hand, and against what the document says it comes to."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from fedtheory.exact.watching import Passed, one_way, passed, watching
from fedtheory.telling import steps

SHIPPED = json.loads(
    (Path(__file__).parents[1] / "second_opinion" / "certificates.json").read_text()
)


def test_lemma_1_by_hand():
    """Losses -x, 0 and x, steps of normalised length 1: clients part, their mean stays."""
    assert steps.steps(SHIPPED["lamb.lemma1"]) == [
        "iteration 1, from 0",
        "  client 1: 0 -> 1, with the gradient -1",
        "  client 2: 0 -> 0, with the gradient 0",
        "  client 3: 0 -> -1, with the gradient 1",
        "  the mean of the models is then 0",
    ]


@pytest.mark.parametrize("name", ["lamb.lemma1", "lamb.lemma2", "lamb.step_g_bar"])
def test_what_is_told_comes_to_what_is_claimed(name):
    """FED-LAMB's step is alpha phi in length where a layer has one coordinate, whatever the gradient."""
    document = SHIPPED[name]
    alpha, (low, high) = (
        Fraction(document["instance"]["alpha"]),
        map(Fraction, document["instance"]["phi"]),
    )
    (only,) = steps.passed(document)
    assert len(only.tracks) == document["instance"]["n"]
    for track in only.tracks:
        if low == high and track.taken[0][0] != 0:
            assert abs(track.points[1][0] - track.points[0][0]) == alpha * low
    mean = sum(track.points[-1][0] for track in only.tracks) / len(only.tracks)
    assert mean == only.end[0]


def test_a_run_goes_on_where_it_was():
    rounds = steps.passed(SHIPPED["lamb.corollary1_explicit"])
    assert len(rounds) == 7  # two rounds of three iterations, and the one that is looked at
    for one, other in zip(rounds, rounds[1:]):
        assert one.end[0] == other.start[0] and other.number == one.number + 1
    told = steps.steps(SHIPPED["lamb.corollary1_explicit"])
    assert told[-1] == "... and 2 more of them, after which it is at 7/4400"


def test_kernels_tell_of_local_steps():
    """Mixed FL, K = 3, f_f = f_c = 50 y^2 along the second coordinate: y <- y - eta (100 y + g_c)
    with the central gradient g_c = -100 at the start, by hand."""
    document = SHIPPED["mixed.lemmaD11!printed"]
    eta = Fraction(document["numbers"]["eta"])
    (only,) = steps.passed(document)
    y = Fraction(-1)
    client, center = only.tracks
    assert (center.who, center.taken, center.first[1]) == (0, (), -100)
    for point, gradient in zip(client.points, client.taken):
        assert point[1] == y and gradient[1] == 100 * y
        y -= eta * (100 * y - 100)
    assert client.points[-1][1] == y
    assert "  the server: its gradient at the start is (0, -100)" in steps.steps(document)


def test_nothing_is_kept_where_nobody_watches_and_one_way_is_followed():
    passed(lambda: pytest.fail("asked though nobody watches"))
    with watching() as seen:
        for each in (_passed(0, 0, 1), _passed(0, 0, 2), _passed(1, 1, 3), _passed(1, 2, 9)):
            passed(lambda each=each: each)
    assert [each.end[0] for each in one_way(seen)] == [1, 3]


def _passed(number, start, end):
    ends = [Fraction(start)], [Fraction(end)]
    return Passed("round", number, Fraction(1), 1, (), *ends, object(), object())


def test_a_document_whose_setting_tells_nothing_has_no_steps():
    assert steps.steps(SHIPPED["mixed.stepD2"]) == []
