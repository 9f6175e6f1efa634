"""Lies about instances, with honest numbers and a true digest: replay, the checker in one file, the
second opinion and whoever is handed a witness refuse each."""

import copy
import json
import runpy
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

import fedtheory as ft
from fedtheory.arithmetic import NoInstance
from fedtheory.certificates import alone, check_instance, schemas
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import InvalidInput
from fedtheory.models import by_name
from fedtheory.rocq import derivations
from fedtheory.search import counterexample, witnesses
from fedtheory.search.objective import Target
from fedtheory.verdicts import structural_certificate
from tests import mutated_instances
from tests.second_opinion import instances as typed
from tests.second_opinion import judge, opinion

CURVE = dict(slope="1", tilt="0", bends=[], soft=[])
BENT = dict(CURVE, slope="0", bends=[["-29", "1"], ["30", "0"]])  # 1 at 0 already, were it in order
STARTED = dict(N=1, S=1, T=1, K=1, convex=1, lipschitz=1, at_star=[], x_0=["1"], noise=[])
DEVICES = dict(a=["1", "1"], b=["0", "1"], r=["0", "0"], p=["1/2", "1/2"])
LAW = dict(E=1, tau=1, k=1, s_k=1, devices=DEVICES, law=[["1", [1, 1]]])
WEIGHTED = dict(N=2, S=1, K=1, K_0=1, losses=[[CURVE]] * 3, x=["1"], noise=[], noise_0=[])
# {what is forged: (a claim or None, its setting, an instance, what it says)}
LIES = {
    "vectors of two lengths": (
        "fsl.lemma2",
        "fsl_vectors",
        dict(vectors=[["1"], ["1", "1"]]),
        "vectors/1 must have d = 1 parts",
    ),
    "vectors of two lengths, of mixed FL": (
        "mixed.lemmaD2",
        "mixed_vectors",
        dict(vectors=[["1"], ["1", "1"]]),
        "vectors/1 must have d = 1 parts",
    ),
    "gradients of two lengths": (
        "mixed.eq7",
        "mixed_samples",
        dict(clients=[["1"], ["1", "2"]], center=["1"]),
        "clients/1",
    ),
    "knots out of order": (
        "fsl.lemma4",
        "fsl_round",
        dict(WEIGHTED, losses=[[BENT]] * 3),
        "rising order",
    ),
    "knots out of order, in a run": (
        None,
        "run_fedavg",
        dict(STARTED, losses=[dict(curves=[BENT])]),
        "rising order",
    ),
    "another scheme": (
        "flex.scheme_B_bounded",
        "flex_laws_b",
        dict(LAW, scheme="C"),
        "scheme must be 'B'",
    ),
    "another event": (
        "flex.theorem3_2_arrival",
        "flex_arrival",
        dict(event="departure", n=[1, 1], a=[["1"], ["1"]], b=[["0"], ["1"]]),
        "event must be 'arrival'",
    ),
    "half a step": (
        "flex.scheme_C_bounded",
        "flex_laws_c",
        dict(LAW, scheme="C", law=[["1", [1, "1/2"]]]),
        "must be an integer",
    ),
    "more steps than there are": (
        "flex.scheme_C_bounded",
        "flex_laws_c",
        dict(LAW, scheme="C", law=[["1", [1, 2]]]),
        "at most E = 1",
    ),
    "steps that a method does not take": (
        None,
        "run_fedsgd",
        dict(STARTED, K=2, losses=[dict(curves=[CURVE])]),
        "K must be at most 1",
    ),
    "a word that means nothing": (
        "fsl.lemma4",
        "fsl_round",
        dict(WEIGHTED, breaks="convex"),
        "breaks must be",
    ),
    "a soft corner where none is drawn": (
        "mixed.lemmaD9",
        "mixed_point",
        dict(losses=[[dict(CURVE, soft=[["1", "1", "0"]])]] * 2, smooth="each", x=["0"], B="1"),
        "soft must have 0 parts",
    ),
    "an entry that nobody reads": (
        "fsl.lemma2",
        "fsl_vectors",
        dict(vectors=[["1"]], more="1"),
        "means nothing there",
    ),
    "a negative count": ("fsl.lemma4", "fsl_round", dict(WEIGHTED, K=-1), "K must be at least 1"),
    "a number for a count": ("fsl.lemma4", "fsl_round", dict(WEIGHTED, K="1"), "an integer"),
    "noise of a negative chance": (
        "fsl.lemma4",
        "fsl_round",
        dict(WEIGHTED, noise=[["2", ["1"]], ["-1", ["2"]]]),
        "positive",
    ),
}


def resealed(document):
    return {**document, "digest": check_instance.digest_of(document)}


@pytest.mark.parametrize("lie", LIES)
def test_an_instance_that_lies_is_refused_in_words(lie):
    _, name, instance, why = LIES[lie]
    document = dict(instance=instance, setting=name)
    with pytest.raises(Refused, match=f"no instance of {name}: .*{why}"):
        check_instance.instance_of(document, by_name(name))
    with pytest.raises(Refused, match=f"no instance of {name}: .*{why}"):
        alone.instance_of(document, name)
    with pytest.raises(opinion.Refused):
        typed.read(name, instance)


@pytest.mark.parametrize("lie", LIES)
def test_a_witness_that_lies_is_refused(lie):
    _, name, instance, why = LIES[lie]
    document = dict(
        format=check_instance.FORMAT, setting=name, instance=instance, numbers={}, values={}
    )
    with pytest.raises(InvalidInput, match=f"no instance of {name}"):
        witnesses.read_witnesses([document])


@pytest.mark.parametrize("lie", [lie for lie, parts in LIES.items() if parts[0] is not None])
def test_no_lie_is_measured_where_a_search_asks(lie):
    name, setting, instance, why = LIES[lie]
    target = Target(ft.claim(name), by_name(setting))
    with pytest.raises(NoInstance, match=f"no instance of {setting}: .*{why}"):
        target.exactly(check_instance.read_numbers(instance), {})


# What was accepted: a document with honest numbers, of a claim that is true


STEEP = dict(  # as listed, second derivatives are 1 and -1; by place, -21 from 0 to 1000
    slope="1", tilt="0", bends=[["-2", "0"], ["2", "1000"]] * 11, soft=[]
)
SLOW = dict(N=1, S=1, K=10, K_0=1, losses=[[STEEP]] * 2, x=["1"], noise=[], noise_0=[])
LAZY = dict(LAW, E=2, tau=1, k=1, s_k=1)
FORGED = {
    "vectors": ("fsl.lemma2", 1, "fsl_vectors", LIES["vectors of two lengths"][2], {}),
    "vectors of mixed FL": ("mixed.lemmaD2", 1, "mixed_vectors", {}, {}),
    "gradients": (
        "mixed.eq7",
        3,
        "mixed_samples",
        dict(clients=[["1"], ["1", "1"]], center=["2"]),
        dict(w_f="1/2"),
    ),
    "knots": ("fsl.lemma4", 0, "fsl_round", SLOW, dict(eta_l="1/40")),
    "scheme": ("flex.scheme_B_bounded", 0, "flex_laws_b", dict(LAZY, scheme="C"), {}),
    "half a step": (
        "flex.scheme_C_bounded",
        0,
        "flex_laws_c",
        dict(LAW, scheme="C", law=[["1", [1, "1/2"]]]),
        {},
    ),
}
FORGED["vectors of mixed FL"] = (*FORGED["vectors of mixed FL"][:3], *FORGED["vectors"][3:])


@pytest.fixture(params=list(FORGED))
def forged(request, monkeypatch):
    """(a setting's name, the document of an instance that is none, its derivations), as they are where
    nobody looks at an instance: all checkers accept them."""
    name, line, setting, instance, given = FORGED[request.param]
    with monkeypatch.context() as patched:
        patched.setattr(check_instance, "fault_of", lambda *more: None)
        patched.setattr("fedtheory.search.objective.fault", lambda *more: None)
        patched.setattr("fedtheory.models.fields.fits_schema", lambda *more: True)
        patched.setattr(alone, "instance_of", lambda document, name: document["instance"])
        target = Target(ft.claim(name), by_name(setting), line)
        read = check_instance.read_numbers(instance)
        tight = target.setting.constants(read)
        numbers = dict.fromkeys((*target.reals, *target.counts), Fraction(1))
        numbers |= {each: Fraction(text) for each, text in given.items()}
        answer = target.exactly(read, target.values_before_run(numbers, tight))
        document = plain(counterexample.build_document(target, answer, list(numbers)))
        found = plain(derivations.list_derivations(document))
        assert ft.replay(document)["about"] and alone.judge_document(document, found)
    return setting, document, found


def plain(value):
    return json.loads(json.dumps(value))


def test_a_forged_counterexample_is_refused_by_every_checker(forged, tmp_path):
    name, document, found = forged
    why = f"no instance of {name}"
    with pytest.raises(Refused, match=why):
        ft.replay(document)
    with pytest.raises(Refused, match=why):
        alone.judge_document(document, found)
    with pytest.raises(opinion.Refused):
        typed.read(name, document["instance"])
    with pytest.raises(InvalidInput, match=why):
        ft.check(document["claim"], budget=0.1, witnesses=[document])
    (tmp_path / "check.py").write_text(derivations.standing_alone([document]))
    one_file = runpy.run_path(str(tmp_path / "check.py"))
    with pytest.raises(ValueError, match=why):
        one_file["judge_document"](document, found)


def test_a_member_of_a_family_that_lies_is_refused():
    family = plain(judge_family())
    member = family["members"][3]
    member["instance"] = dict(member["instance"], more="1")
    family["members"][3] = resealed(member)
    with pytest.raises(Refused, match="no instance of"):
        ft.replay(resealed(family))


def judge_family():
    shipped = json.loads((SHIPPED / "certificates.json").read_text())
    return next(each for each in shipped.values() if "members" in each)


RUNS = dict(
    A=[["1"], ["1"]],
    b=[["0"], ["1"]],
    weights=["1"],
    sigma="0",
    x=["1"],
    S=1,
    rounds=2,
    seed=0,
    hyper=dict(eta="1/16", eta_s="1/16", eta_c="1/16"),
)


@pytest.mark.parametrize(
    "changed, why",
    [
        (dict(weights=["1/2", "1/2"]), "weights must have N = 1 parts"),
        (dict(weights=["2"]), "add up to 1"),
        (dict(A=[["1", "2"], ["1"]]), "A/1"),
        (dict(S="1"), "an integer"),
        (dict(more=1), "means nothing"),
    ],
    ids=str,
)
def test_two_runs_on_no_instance_are_refused(changed, why):
    """By replay, by the one file, and by the second opinion."""
    shipped = json.loads((SHIPPED / "certificates.json").read_text())["mixed.K1_equivalence"]
    document = resealed(dict(shipped, instance={**shipped["instance"], **changed}))
    if "N" in why or "A" in why:
        document = resealed(dict(shipped, instance={**RUNS, **changed}))
    with pytest.raises(Refused, match=f"no instance of two runs: .*{why}"):
        structural_certificate.check_structure(document)
    with pytest.raises(Refused, match=f"no instance of two runs: .*{why}"):
        alone.instance_of(document, schemas.RUNS)
    with pytest.raises(opinion.Refused):
        judge.judged(document)


SHIPPED = Path(opinion.__file__).parent


def test_the_second_opinion_refuses_what_replay_refuses_of_its_certificates():
    """Each kind of change, of every shipped instance: what is no instance is refused by all three."""
    shipped = {n: d for n, d in judge_documents() if d["format"] == check_instance.FORMAT}
    refused = 0
    for seed in range(6):
        for name, document in shipped.items():
            random = Random(f"{name}/{seed}")
            change, instance = mutated_instances.changed(
                copy.deepcopy(document["instance"]), random
            )
            other = resealed(dict(document, instance=instance))
            if mutated_instances.is_instance(document["setting"], instance):
                continue
            refused += 1
            for ask in (judge.judged, ft.replay, lambda d: alone.check_counterexample(d, {})):
                with pytest.raises((Refused, opinion.Refused)):
                    ask(other)
                    pytest.fail(f"{name}: {change}")
    assert refused > 100


def judge_documents():
    return json.loads((SHIPPED / "certificates.json").read_text()).items()


def test_the_one_file_knows_every_setting_of_the_library_and_those_of_its_documents():
    known = schemas.all_schemas([dict(setting="run_fedprox"), dict(denial=dict(setting="run_fsl"))])
    assert {"run_fedprox", "run_fsl", "fsl_round", schemas.RUNS} <= set(known)
    assert "run_feddyn" not in known and schemas.find_schema("no such setting") is None
    assert schemas.all_schemas([dict(setting=["x"], members=None), None, 3])
    with pytest.raises(Refused, match="no schema"):
        alone.instance_of(dict(instance={}), "no such setting")
