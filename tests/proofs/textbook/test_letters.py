"""What counts as the same letter, rule, method or constant: records, and never names."""

from dataclasses import replace

import pytest

from fedtheory import discover
from fedtheory.language.conditions import Assumption, Rule
from fedtheory.language.symbol import Table
from fedtheory.proofs.textbook import facts, letters, proof_steps
from fedtheory.symbols import fsl, mixed
from tests.checker import premises

SEEDS = 12  # of each kind; `python -m tests.checker.soundness graphs` draws 200


@pytest.mark.parametrize("kind", premises.KINDS)
def test_premises_that_speak_of_something_else_prove_nothing(kind):
    for seed in range(SEEDS):
        step = premises.draw(kind, seed)
        found = [proof_steps.step_of(step.claim, at - 1).status for at in step.claim.follows]
        if found:  # of `other_weights` algebra alone decides
            assert (set(found) == {"proved"}) == step.follows, (seed, step.claim, found)


def test_a_letter_is_its_record_and_what_it_is_read_for():
    other = fsl.TABLE.extended([fsl.TABLE["L"]._replace(latex="M")])
    assert letters.differing_letters(fsl.TABLE, other, fsl.TABLE) == []  # but for how it is typeset
    for change in (dict(meaning="another"), dict(unit=(9, 9)), dict(some=True)):
        other = fsl.TABLE.extended([fsl.TABLE["L"]._replace(**change)])
        assert letters.differing_letters(fsl.TABLE, other, ["K", "L", "S"]) == ["L"]
    read = Table("fsl", fsl.TABLE.values(), constants=dict(L="sigma"))
    assert letters.differing_letters(fsl.TABLE, read, ["K", "L"]) == ["L"]
    assert letters.differing_letters(fsl.TABLE, Table("fsl"), ["L"]) == ["L"]


def test_rules_bind_where_they_are_this_library_s_own():
    (rule,) = fsl.TABLE.rules
    assert letters.is_binding(rule, fsl.TABLE.extended([]))
    assert not letters.is_binding(rule, Table("mine", fsl.TABLE.values(), [rule]))
    assert not letters.is_binding(fsl.S <= 5, Table("fsl", fsl.TABLE.values(), [fsl.S <= 5]))
    other = fsl.TABLE.extended([fsl.TABLE["S"]._replace(meaning="samples")])
    assert not letters.is_binding(rule, other)


def test_a_rule_is_made_of_a_table_alone():
    claim = discover.claim("fsl.step21").replace(
        "mine.a", assumptions=[Rule(fsl.K >= 2, "by meaning")]
    )
    assert type(claim.assumes[0]) is Assumption
    assert [type(a) for a in claim.assumptions[1:]] == [Rule] * len(claim.symbols.rules)


def test_methods_are_records():
    record = discover.algorithm("fedavg")
    assert letters.same_method("fedavg", record) and letters.same_method(record, record)
    assert not letters.same_method(replace(record), record) and not letters.same_method(
        "fedavg", "fedsgd"
    )
    assert not letters.same_method("fedavg", replace(record)) and not letters.same_method(
        "nobody", record
    )


def test_facts_speak_of_the_methods_of_their_paper():
    claim = discover.claim("fsl.step21")
    names = {"textbook.definition"}
    assert facts.usable_facts([claim], names, ())
    for method in ("fedavg", "dsl", ("fsl", "fedavg"), None):
        assert not facts.usable_facts([claim.replace(algorithm=method)], names, ())


def test_every_letter_and_condition_of_a_recorded_round_is_known_to_be_steady():
    for name in ("fsl.theorem1", "mixed.stepB1_convex", "mixed.stepB2_nonconvex"):
        claim = discover.claim(name)
        assert facts.average_line(claim, 0) is not None
        started = claim.replace(assumptions=[*claim.assumptions, claim.lines[0].left <= 1])
        assert facts.average_line(started, 0) is None
    transfer = discover.claim("mixed.stepB1_convex").replace(algorithm="two_way_gt")
    assert facts.average_line(transfer, 0) is None
    assert mixed.TABLE["lag"].measure is not None  # what a round of two-way transfer begins with
