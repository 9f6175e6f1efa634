"""What a worst case takes a method for: hostile kernels are refused, what is left is never exceeded by a
run, and `replay` asks the kernels again."""

import copy
from dataclasses import replace
from fractions import Fraction as F

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.app import worst
from fedtheory.certificates import check_worst_case
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import FedtheoryError, InvalidInput, NotExact
from fedtheory.proofs.worstcase import methods, program, structure
from tests.checker import hostile_methods, soundness

TRAITS = hostile_methods.TRAITS


def asked(trait, rounds=4, clients=3):
    numbers = dict(eta=F(1, 3), a=F(1, 4), trait=TRAITS.index(trait))
    return program.state_question(
        methods.kernel_method(hostile_methods.METHOD, clients, **numbers), rounds
    )


@pytest.mark.parametrize("trait", [t for t in TRAITS if t not in hostile_methods.ACCEPTED])
def test_a_method_that_is_no_recursion_of_whole_vectors_is_refused_in_a_sentence(trait):
    with pytest.raises(NotExact, match="hostile has no worst case here: [a-z]") as caught:
        asked(trait)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("trait", sorted(hostile_methods.ACCEPTED))
def test_a_recursion_of_whole_vectors_is_told_as_what_it_is(trait):
    document = asked(trait)
    assert document["structure"] == check_worst_case.check_structure({1, 2, 3})
    assert document["method"]["numbers"] == dict(eta="1/3", a="1/4", trait=str(TRAITS.index(trait)))
    plain = asked("plain")
    assert (document["points"] == plain["points"]) == (trait in ("plain", "crowd"))


@pytest.mark.parametrize("name", ["fed_lamb", "fed_ams", "fedadam"])
def test_a_method_of_the_library_that_divides_by_norms_or_roots_is_refused(name):
    record = discover.algorithm(name)
    given = {n: 1 if f.integer else F(1, 2) for n, f in record.hyper.items() if f.default is None}
    with pytest.raises(NotExact, match=f"{name} has no worst case here"):
        program.state_question(methods.kernel_method(name, 1, **given), 2)


def test_rounds_are_counted():
    """With a = 0 a step of size 1 is taken in rounds 0 and 2 alone, half of it with a = 1/2."""
    numbers = dict(eta=1, a=F(1, 2), trait=TRAITS.index("parity"))
    document = program.state_question(
        methods.kernel_method(hostile_methods.METHOD, 1, **numbers), 3
    )
    assert document["points"][3] == {"0": "1", "1": "-1", "2": "-1/2", "3": "-1"}


def test_numbers_that_a_method_does_not_take_are_refused():
    for wrong in (dict(eta=-1), dict(eta=1, b=2), dict(), dict(eta=1, trait=F(1, 2))):
        with pytest.raises(FedtheoryError):
            program.state_question(methods.kernel_method(hostile_methods.METHOD, 1, **wrong), 1)
    with pytest.raises(InvalidInput, match="K must be an integer"):
        program.state_question(worst.method_of("fedavg", dict(K=F(5, 2), eta_l=F(1, 2))), 1)
    with pytest.raises(InvalidInput, match="a name that no method of fedtheory has"):
        methods.kernel_method(replace(hostile_methods.METHOD, name="fedavg"), 1, eta=1)


def test_soundness_sees_a_program_that_takes_mixed_coordinates_for_one(monkeypatch):
    """Two nodes of a gossip method in one vector: what was proved of gradient descent."""
    pytest.importorskip("clarabel")
    seeds = (1, 3)
    assert not any(soundness.of_method("sum", seed, 1)[1] for seed in seeds)
    monkeypatch.setattr(structure, "require_structure", lambda method, rounds: None)
    assert any(soundness.of_method("sum", seed, 1)[1] for seed in seeds)


def test_what_is_proved_of_a_hostile_method_is_exceeded_by_no_run():
    pytest.importorskip("clarabel")
    for trait in sorted(hostile_methods.ACCEPTED):
        assert not soundness.of_method(trait, 1, 1)[1]


# Documents


@pytest.fixture(scope="module")
def document():
    pytest.importorskip("clarabel")
    numbers = dict(eta=1, a=F(1, 4), trait=TRAITS.index("parity"))
    return program.worst_case(
        methods.kernel_method(hostile_methods.METHOD, 1, **numbers), 2
    ).certificate


def test_replay_asks_the_kernels_of_the_method_that_a_document_describes(document, monkeypatch):
    found = ft.replay(document)
    assert "of hostile is at most" in found["says"] and "hostile as it is here" in found["rests_on"]
    other = replace(hostile_methods.METHOD, begin=discover.algorithm("fedavg").begin)
    monkeypatch.setitem(discover._ADOPTED, "hostile", other)  # it no longer knows the round
    with pytest.raises(Refused, match="not those of hostile"):
        ft.replay(document)
    monkeypatch.delitem(discover._ADOPTED, "hostile")
    with pytest.raises(Refused, match="hostile, which is not known here: give the method's file"):
        ft.replay(document)


def test_a_document_cannot_say_that_a_method_is_what_it_is_not(document):
    """The recursion of a document under the name of another method, or of a hostile one."""
    numbers = document["method"]["numbers"]
    for trait in TRAITS:
        other = copy.deepcopy(document)
        other["method"]["numbers"] = dict(numbers, trait=str(TRAITS.index(trait)))
        if trait == "parity":
            assert ft.replay(other)["status"] == "proved"
            continue
        with pytest.raises(Refused, match="hostile"):
            ft.replay(other)


@pytest.mark.parametrize(
    "change",
    [
        dict(structure=None),
        dict(method=None),
        dict(format="fedtheory pep 1"),
        dict(structure=dict(coordinates="all alike, each by itself")),
        dict(structure=check_worst_case.check_structure({0, 1})),
        dict(structure=dict(check_worst_case.check_structure({1}), coordinates="mixed")),
        dict(method=dict(name="hostile", clients=10**9, numbers={})),
        dict(method=dict(name="hostile", clients=True, numbers={})),
        dict(method=dict(name="hostile", clients=1, numbers={"eta": 1})),
        dict(method=dict(name="momentum", clients=1, numbers={"eta": "1", "beta": "0"})),
        dict(method=dict(name=["hostile"], clients=1, numbers={})),
        dict(method=dict(name="no_such", clients=1, numbers={})),
        dict(method=dict(name="fedsgd", clients=1, numbers={"eta": "1"})),
    ],
    ids=str,
)
def test_a_description_that_is_none_is_refused(document, change):
    with pytest.raises(Refused) as caught:
        ft.replay({**document, **change})
    assert "Error" not in str(caught.value)


def test_a_document_that_describes_no_method_says_so(document):
    """As those written before methods were described do."""
    bare = {key: value for key, value in document.items() if key not in ("method", "structure")}
    for form in check_worst_case.FORMATS:
        found = ft.replay(dict(bare, format=form))
        assert found["status"] == "proved" and "describes no method" in found["says"]


def test_textbook_methods_are_described_too():
    for method in (program.nesterov(F(1, 2)), program.momentum("1/2", F(1, 4))):
        document = program.state_question(method, 3)
        again = methods.method_of_document(document["method"])
        structure.require_method(document, again)
        changed = copy.deepcopy(document)
        changed["method"]["numbers"]["eta"] = "1/3"
        with pytest.raises(InvalidInput, match="not those of"):
            structure.require_method(changed, methods.method_of_document(changed["method"]))
