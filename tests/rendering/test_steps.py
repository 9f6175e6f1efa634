"""The run of a counterexample, step by step: by hand, and against what the document says it comes to."""

import json
from fractions import Fraction
from functools import cache
from pathlib import Path

import pytest

from fedtheory import discover
from fedtheory.exact.path_recorder import RecordedOutcome, one_way, record_if_watched, record_paths
from fedtheory.models import by_name, fitting, homes
from fedtheory.models.flex import arrivals, quadratics
from fedtheory.rendering import steps, words
from fedtheory.rendering.mail import counterexample_latex
from fedtheory.rendering.picture import draw_counterexample
from fedtheory.search.exact_instances import answer_at, draw_case

SHIPPED = json.loads(
    (Path(__file__).parents[1] / "second_opinion" / "certificates.json").read_text()
)


def test_lemma_1_by_hand():
    """Losses -x, 0 and x, steps of normalised length 1: clients part, their mean stays."""
    assert steps.run_lines(SHIPPED["lamb.lemma1"]) == [
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
    (only,) = steps.record_steps(document)
    assert len(only.tracks) == document["instance"]["n"]
    for track in only.tracks:
        if low == high and track.taken[0][0] != 0:
            assert abs(track.points[1][0] - track.points[0][0]) == alpha * low
    mean = sum(track.points[-1][0] for track in only.tracks) / len(only.tracks)
    assert mean == only.end[0]


def test_a_run_goes_on_where_it_was():
    rounds = steps.record_steps(SHIPPED["lamb.corollary1_explicit"])
    assert len(rounds) == 7  # two rounds of three iterations, and the one that is looked at
    for one, other in zip(rounds, rounds[1:]):
        assert one.end[0] == other.start[0] and other.number == one.number + 1
    told = steps.run_lines(SHIPPED["lamb.corollary1_explicit"])
    assert told[-1] == "... and 2 more of them, after which it is at 7/4400"


def test_kernels_tell_of_local_steps():
    """Mixed FL, K = 3, f_f = f_c = 50 y^2 along the second coordinate: y <- y - eta (100 y + g_c)
    with the central gradient g_c = -100 at the start, by hand."""
    document = SHIPPED["mixed.lemmaD11!printed"]
    eta = Fraction(document["numbers"]["eta"])
    (only,) = steps.record_steps(document)
    y = Fraction(-1)
    client, center = only.tracks
    assert (center.who, center.taken, center.first[1]) == (0, (), -100)
    for point, gradient in zip(client.points, client.taken):
        assert point[1] == y and gradient[1] == 100 * y
        y -= eta * (100 * y - 100)
    assert client.points[-1][1] == y
    assert "  the server: its gradient at the start is (0, -100)" in steps.run_lines(document)


def test_nothing_is_kept_where_nobody_watches_and_one_way_is_followed():
    record_if_watched(lambda: pytest.fail("asked though nobody watches"))
    with record_paths() as seen:
        for each in (_passed(0, 0, 1), _passed(0, 0, 2), _passed(1, 1, 3), _passed(1, 2, 9)):
            record_if_watched(lambda each=each: each)
    assert [each.end[0] for each in one_way(seen)] == [1, 3]


def _passed(number, start, end):
    ends = [Fraction(start)], [Fraction(end)]
    return RecordedOutcome("round", number, Fraction(1), 1, (), *ends, object(), object())


def test_a_document_whose_setting_tells_nothing_has_no_steps():
    assert steps.run_lines(SHIPPED["mixed.stepD2"]) == []


def test_a_departure_tells_both_runs_by_hand():
    """Scheme C, E = 1: x <- x - eta sum_k p_k a_k (x - b_k), with the device's share kept and with the
    rest's shares made whole; eta is that of the first gradient told."""
    rounds = steps.record_steps(SHIPPED["flex.corollary4_0_3_loss"])
    assert [(each.what, each.number) for each in rounds] == [
        ("round", 0),
        *(("excluded, round", t) for t in (1, 2)),
        *(("included, round", t) for t in (1, 2)),
    ]
    x, a, b = Fraction(-19, 26), (1, 1, Fraction(1, 6)), (0, -1, Fraction(-7, 2))
    ends = {"round": x, "excluded, round": x, "included, round": x}
    shares = {"round": [Fraction(1, 3)] * 3, "excluded, round": [Fraction(1, 2)] * 2}
    shares["included, round"] = [Fraction(1, 3)] * 2
    for each in rounds:
        x, p = ends[each.what], shares[each.what]
        first = each.tracks[0]
        eta = (x - first.points[1][0]) / first.taken[0][0]
        assert [track.who for track in each.tracks] == list(range(1, len(p) + 1))
        assert each.start[0] == x and each.ways == 1 and each.chance == 1
        x = ends[each.what] = x - eta * sum(w * m * (x - o) for w, m, o in zip(p, a, b))
        assert each.end[0] == x
    # and to what the document claims: (x + 1/2)^2 / 2 is the rest's loss above its least
    assert (ends["excluded, round"] + Fraction(1, 2)) ** 2 / 2 == Fraction(
        SHIPPED["flex.corollary4_0_3_loss"]["left"]
    )


def test_a_noisy_run_tells_one_way_and_its_probability():
    """Two devices, E = 2, all work, noise +-1: 1/16 a round, each device's second step with the
    other sign, by hand."""
    rounds = told_of_rounds(r=[Fraction(1)] * 2)
    assert [each.chance for each in rounds] == [Fraction(1, 16)] * 2
    assert all(each.ways is None for each in rounds)
    x, eta = Fraction(3), Fraction(1, 4)
    for each in rounds:
        total = 0
        for k, b in enumerate((0, 1), 1):
            y, signs = x, [1 if (k + i) % 2 == 0 else -1 for i in (0, 1)]
            for sign in signs:
                y -= eta * (y - b + sign)
            total += (y - x) / 2
        x += total
        assert each.end[0] == x
    assert steps.number_text(Fraction(1, 16)) in next(steps.told_of(rounds[0]))


def told_of_rounds(r):
    devices = dict(a=[Fraction(1)] * 2, b=[Fraction(0), Fraction(1)], r=r, p=[Fraction(1, 2)] * 2)
    law = [[Fraction(1), [2, 2]]]
    with record_paths() as seen:
        quadratics.record_rounds("C", [Fraction(3)], devices, law, [Fraction(1, 4)] * 2, 2)
    return seen


def test_work_that_is_unlikely_is_not_told():
    """Of the law of work the likeliest outcome is gone through."""
    devices = dict(a=[Fraction(1)], b=[Fraction(0)], r=[Fraction(0)], p=[Fraction(1)])
    law = [[Fraction(1, 4), [0]], [Fraction(3, 4), [1]]]
    with record_paths() as seen:
        quadratics.record_rounds("B", [Fraction(3)], devices, law, [Fraction(1, 2)], 1)
    assert seen[0].chance == Fraction(3, 4) and seen[0].end[0] == Fraction(3, 2)
    assert quadratics.record_rounds("B", [Fraction(3)], devices, law, [Fraction(1, 2)], 1) == [
        3
    ]  # unwatched


def test_an_extra_update_is_told():
    """f_l = x^2 from w = 3, f = (x - 1)^2 / 2: g = 6 at w, and the best step ends nearest w~*."""
    half = Fraction(1, 2)
    instance = dict(
        bounds="both", a=[[Fraction(1)], [Fraction(2)]], b=[[Fraction(1)], [Fraction(0)]],
        p_l=half, w=[Fraction(3)],
    )  # fmt: skip
    with record_paths() as seen:
        arrivals.reboot_measure(instance, {}, ["dist_reboot"])
    (only,) = seen
    # w~* = (1/2 1) / (1/2 + 1) = 1/3, and in one dimension the best step ends there
    assert only.tracks[0].taken == (6,) and only.end[0] == Fraction(1, 3)
    assert "extra update 1, from 3" in next(steps.told_of(only))


# Settings in which a method has a say and no steps pass: what the telling says then.
QUIET = {
    *(f"flex_laws_{scheme}" for scheme in "abc"),
    "flex_shifting",
    *("fsl_large", "fsl_large_run", "mixed_large"),
}


METHODS = [each for each, _ in homes() if each.by and not each.name.startswith("run_")]


@cache
def claims_in(setting):
    return [
        claim for claim in discover.claims()
        if any(line.relation in ("<=", "<", ">=", ">") for line in claim.lines[:1]) and any(each.name == setting for each in fitting(claim))
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("setting", METHODS, ids=lambda s: s.name)
def test_every_setting_in_which_a_method_runs_tells_steps_or_why_not(setting):
    told, looked = 0, 0
    for claim in claims_in(setting.name)[:8]:
        case = draw_case(claim, setting.name, 1)
        if case is None:
            continue
        looked += 1
        with record_paths() as seen:
            answer_at(claim, case)
        told += len(one_way(seen))
        if told:
            break
    if setting.name in QUIET:
        assert not told and "moments" in setting.by or "coefficients" in setting.by
    else:
        assert told or not looked, setting.name


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_every_counterexample_has_steps_and_a_picture_or_a_reason(name):
    document = SHIPPED[name]
    if "setting" not in (first := document.get("members", [document])[0]):
        assert document["format"] == words.STRUCTURE  # cells of a table: nothing runs
        return
    setting = by_name(first["setting"])
    assert draw_counterexample(document).startswith("<svg") and counterexample_latex(document)
    assert steps.run_lines(first) or steps.reason_untold(first) or not setting.by
    said = "\n".join(words.describe_counterexample(document))
    assert ("Step by step" in said) == bool(steps.run_lines(first))
    assert (steps.reason_untold(first) in said) and ("No steps are told" in said) == bool(
        steps.reason_untold(first)
    )
