"""Instances that were found before are asked first, exactly; what is handed in decides nothing but by
its instance, and costs little whatever it is."""

import json
import time

import pytest
import sympy

import fedtheory as ft
from fedtheory.arithmetic import work
from fedtheory.errors import InvalidInput
from fedtheory.search import witnesses
from fedtheory.verdicts import decision, given_witnesses, minimal_hypotheses, pipeline
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.evidence import Counterexample, Given

LEMMA = "fsl.lemma4"


@pytest.fixture(scope="module")
def tight():
    """The verdict on a lemma that holds, with its tightest instance."""
    return pipeline.as_meant(ft.claim(LEMMA), 1.0, 0, proofs=False)


@pytest.fixture(scope="module")
def broken():
    return ft.check("flex.eq2_printed", budget=0.3)


def tried(claim, given):
    """The evidence of instances on a claim's first line."""
    case = Case.of(claim, 1.0, witnesses=tuple(witnesses.read_witnesses(given)))
    return given_witnesses.try_witnesses(case)


def relative(share):
    """The lemma with a share of its bound."""
    claim = ft.claim(LEMMA)
    return claim.replace(bound=share * claim.lines[0][2], name="less")


def test_a_counterexample_is_tried_before_anything_is_searched(broken):
    for given in (broken, broken.certificate, json.loads(json.dumps(broken.as_dict()))):
        again = ft.check("flex.eq2_printed", budget=0.3, witnesses=[given])
        assert again.status == "violated" and again.cases == 1
        assert again.searched == "1 of 1 instances that were handed in"
        assert ft.replay(again.certificate)["status"] == "violated"


def test_the_tightest_instance_refutes_what_asks_for_more(tight):
    """With a ratio r > 0.1 at an instance, a twentieth of the bound fails there; three times the
    bound does not."""
    assert tight.status == "holds" and float(tight.tightness) > 0.1
    less = pipeline.as_meant(
        relative(sympy.Rational(1, 20)), 0.05, 0, witnesses=witnesses.read_witnesses([tight])
    )
    assert less.status == "violated" and less.cases == 1
    assert ft.replay(less.certificate)["status"] == "violated"
    more = tried(relative(3), [tight])
    assert more.refuting is None and more.tightest.ratio == pytest.approx(tight.tightness / 3)


def test_no_less_is_reported_than_is_known(tight):
    little = pipeline.as_meant(
        ft.claim(LEMMA), 0.05, 5, proofs=False, witnesses=witnesses.read_witnesses([tight])
    )
    assert little.status == "holds" and little.tightness >= tight.tightness
    assert little.searched.startswith("1 of 1 instances that were handed in; ")


def test_a_constant_below_the_instance_s_own_is_no_witness(tight):
    """With a hundredth of L the lemma fails at most points: these do not meet its hypotheses."""
    numbers = dict(tight.witness["numbers"])
    numbers["slack L"] = "1/100"
    given = witnesses.read_witnesses([dict(tight.witness, numbers=numbers)])
    assert tried(ft.claim(LEMMA), given).says == ""


def test_an_instance_that_was_changed_is_only_what_it_is(broken):
    """Its instance is asked anew; words and values that a document has beside count for nothing."""
    forged = dict(broken.certificate, left="7", says="anything", claim=LEMMA)
    assert ft.check("flex.eq2_printed", budget=0.3, witnesses=[forged]).cases == 1
    assert tried(ft.claim(LEMMA), [forged]).says == ""


@pytest.mark.parametrize(
    "given",
    [
        "x",
        7,
        {},
        [7],
        [{}],
        [{"setting": "none", "numbers": {}}],
        [{"setting": "fsl_round", "numbers": {}}],
        [{"setting": "fsl_round", "numbers": {"x": 1}, "shape": {"N": 1}}],
        [{"setting": "fsl_round", "numbers": {"x": "9" * 5000}, "shape": {"N": 1}}],
        [{"setting": "fsl_round", "numbers": {}, "shape": {"N": 10**9}}],
        [{"setting": "fsl_round", "numbers": {}, "shape": {"N": "9" * 30}}],
        [{"setting": "fsl_round", "numbers": {}, "shape": {"N": 64, "d": 64}}],
        [{"setting": "fsl_round", "numbers": {}, "shape": {str(n): 1 for n in range(100)}}],
        [{"format": "fedtheory family 1", "setting": "fsl_round", "numbers": {}}],
        [{"setting": "fsl_round", "numbers": {}, "shape": {"N": 1}}] * 1000,
    ],
    ids=range(15),
)
def test_what_is_no_witness_is_refused_in_one_sentence(given):
    with pytest.raises(InvalidInput, match="^witnesses must be") as why:
        ft.check(LEMMA, budget=0.1, witnesses=given)
    assert "\n" not in str(why.value) and len(str(why.value)) < 600


@pytest.mark.parametrize(
    "change", [dict(K=64, K_0=64), dict(K="9" * 20), dict(S="9" * 20), dict(d=9), {}]
)
def test_whatever_a_shape_asks_for_ends_soon(tight, change):
    begun = time.process_time()
    shape = dict(tight.witness["shape"], **change)
    given = witnesses.read_witnesses([dict(tight.witness, shape=shape)] * 3)
    assert bool(tried(ft.claim(LEMMA), given).says) == (not change)
    assert time.process_time() - begun < 20


def test_a_witness_at_which_numpy_goes_on_after_an_exception_is_none(tight, monkeypatch):
    def dear(q, witness):
        work.limit_work(0).__enter__()[0] = -1
        raise SystemError("a sum went on though a term of it raised")

    monkeypatch.setattr(witnesses, "_ask_witness", dear)
    assert tried(ft.claim(LEMMA), [tight]).says == ""


def test_a_relative_is_refuted_by_what_refuted_another(tight):
    one = pipeline.as_meant(
        relative(sympy.Rational(1, 20)), 0.05, 0, witnesses=witnesses.read_witnesses([tight])
    )
    known = witnesses.read_witnesses([one.certificate])
    verdict, seconds = given_witnesses.refute_by_witness(
        relative(sympy.Rational(1, 30)), 0, known, 1.0
    )
    assert verdict.status == "violated" and 0 < seconds < 1
    assert ft.replay(verdict.certificate)["status"] == "violated"
    assert given_witnesses.refute_by_witness(ft.claim(LEMMA), 0, known, 1.0)[0] is None


def test_mutants_are_asked_at_what_refuted_those_before(monkeypatch):
    given, plain = [], given_witnesses.refute_by_witness
    monkeypatch.setattr(
        given_witnesses, "refute_by_witness", lambda *a: given.append(len(a[2])) or plain(*a)
    )
    found = ft.mutate(LEMMA, budget=1.0, only=lambda m: m.change.startswith("without the term"))
    killed = [m.killed for m in found.mutants]
    assert any(killed) and given == [sum(killed[:n]) for n in range(len(killed))]


def test_hypotheses_are_dropped_with_what_was_found_without_others(monkeypatch, broken):
    given = []

    def fake(claim, budget, seed, witnesses=()):
        given.append(len(witnesses))
        status = "violated" if len(given) == 2 else "holds"
        return pipeline.Verdict(claim.id, status, "exact", certificate=broken.certificate)

    monkeypatch.setattr(minimal_hypotheses, "as_meant", fake)
    ft.minimise(LEMMA, budget=1.0)
    assert given[:2] == [0, 0] and set(given[2:]) == {1}


@pytest.mark.parametrize("seeds", (1, 3))
def test_an_instance_that_lies_refutes_nothing_that_is_proved(monkeypatch, seeds):
    """Its first line is proved; whatever an instance is made to say of that, a note reports it."""

    def lies(case):
        document = dict(left="8", right="6", instance={}, numbers={})
        refuting = Counterexample(model=case.models[0], document=document, ratio=None)
        return Given(refuting if case.line == 0 else None)

    monkeypatch.setattr(decision, "try_witnesses", lies)
    known = witnesses.read_witnesses([ft.check("flex.eq2_printed", budget=0.3)])
    found = ft.check("fsl.lemma2", budget=0.3, witnesses=known, seeds=seeds)
    assert [line.status for line in found.lines] == ["proved", "holds"]
    (note,) = [note for note in found.notes if "handed in" in note]
    assert note.startswith("An instance that was handed in refutes line 1, which is proved")
    assert not [note for note in ft.check("fsl.lemma2", budget=0.3).notes if "handed in" in note]
    # Where nothing proves the line, the instance refutes it.
    monkeypatch.setattr(decision, "prove_line", lambda case: None)
    assert ft.check("fsl.lemma2", budget=0.3, witnesses=known, seeds=seeds).status == "violated"


def test_a_known_instance_refutes_no_relative_that_is_proved(monkeypatch, tight):
    claim = relative(sympy.Rational(1, 20))
    assert (
        given_witnesses.refute_by_witness(claim, 0, witnesses.read_witnesses([tight]), 1.0)[
            0
        ].status
        == "violated"
    )
    monkeypatch.setattr(given_witnesses.algebra, "prove_line", lambda *asked, **more: True)
    assert (
        given_witnesses.refute_by_witness(claim, 0, witnesses.read_witnesses([tight]), 1.0)[0]
        is None
    )
