"""Statements of existence: shown by an instance that replays, refuted by a proof, else undecided."""

import copy
import json

import pytest
from sympy import Eq, Rational

import fedtheory as ft
from fedtheory import plugins
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ
from fedtheory.rendering.words import describe_counterexample
from fedtheory.symbols.run import TABLE as RUN

LETTERS = ("eta_l", "eta_g", "L", "mu", "N", "S", "T", "K", "gap_0", "gap_T")
eta_l, eta_g, L, mu, N, S, T, K, gap_0, gap_T = (RUN[name].symbol for name in LETTERS)
STEPS = (LIPSCHITZ, CONVEX, EXACT_GRADIENTS, Eq(S, N), Eq(eta_g, 1))


def exists(bound, *more, relation=">", name="lower.mine", measures=gap_T, method="fedavg"):
    table = RUN.extended([])
    table.paper = "lower"
    return Claim(id=name, cites="a test", kind="existence", symbols=table, algorithm=method,
                 assumes=(*(STEPS if method else ()), *more), measures=measures,
                 relation=relation, bound=bound)  # fmt: skip


LOCAL = exists(gap_0, Eq(eta_l * L, 1), Eq(K, 2))


def test_an_instance_shows_it_and_replays():
    """Local steps of two clients may end above where they began, which no gradient step does."""
    v = ft.check(LOCAL, budget=0.5)
    assert (v.status, v.kind, v.confidence) == ("proved", "enumerated", 1.0)
    document = json.loads(json.dumps(v.certificate))
    found = ft.replay(document)
    assert found["status"] == "proved" and found["left"] > found["right"]
    story = describe_counterexample(document)
    assert story[-1].endswith("which is true.") and " > " in story[-1]
    assert ft.replay(document)["about"] == "a statement of its own"


def test_what_no_instance_shows_is_undecided():
    v = ft.check(exists(gap_0, eta_l * L <= 1, Eq(K, 1)), budget=0.3)
    assert v.status == "undecided" and v.certificate is None and "No such instance" in v.why


def test_a_proof_of_the_denial_refutes_it():
    claim = exists(2 * mu * L, relation="<", measures=mu**2 + L**2, method=None)
    v = ft.check(claim, budget=0.3)
    assert v.status == "violated" and ft.replay(v.certificate)["status"] == "violated"


def test_hypotheses_that_contradict_each_other():
    v = ft.check(exists(gap_0, L < mu, mu < L / 2), budget=0.3)
    assert v.status == "vacuous"


def test_documents_that_were_tampered_with():
    document = json.loads(json.dumps(ft.check(LOCAL, budget=0.5).certificate))
    for change in (
        dict(claim="another"),
        dict(denial={}),
        dict(denial=None),
        dict(claim=3),
        dict(format="fedtheory existence 2"),
        dict(more=1),
        dict(denial=dict(document, claim="lower.mine!denied")),
    ):
        with pytest.raises(Refused):
            ft.replay({**document, **change})
    wrong = copy.deepcopy(document)
    wrong["denial"]["left"] = "17"
    with pytest.raises(Refused):
        ft.replay(wrong)


@pytest.mark.parametrize(
    "words, told",
    [
        (dict(relation="=="), "relation must be one of"),
        (dict(relation="O"), "relation must be one of"),
        (dict(bound=None), "bound must be an expression"),
        (dict(weakened=gap_0), "weakened must be left out"),
        (dict(also=((gap_T, "<=", gap_0),)), "also must be left out"),
    ],
)
def test_other_words_are_refused(words, told):
    with pytest.raises(ft.errors.InvalidInput, match=told):
        LOCAL.replace(**words)


def test_variants_and_what_needs_a_line():
    half = LOCAL.replace("lower.half", bound=gap_0 / 2)
    assert str(half) == "there is an instance with gap_T > gap_0/2"
    assert half.denial.lines[0].text == "gap_T <= gap_0/2" and half.denial.id == "lower.half!denied"
    assert ft.claim("fsl.theorem1").denial is None
    problem = ft.problems.quadratic(d=2, clients=2, L=1.0, mu=0.5)
    for asked in (ft.mutate, ft.sharpen, lambda c: ft.compare(c, problem, rounds=2)):
        with pytest.raises(ft.errors.FedtheoryError):
            asked(half)
    with pytest.raises(ft.errors.FedtheoryError):
        half.evaluate({})


SOURCE = """
from sympy import Eq, Rational
from fedtheory.claim import Claim
from fedtheory.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ
from fedtheory.symbols.run import TABLE, K, L, N, S, eta_g, eta_l, gap_0, gap_T
CLAIM = Claim(id="lower.brought", cites="a test", kind="existence", symbols=TABLE, paper="lower",
              algorithm="fedavg", assumes=(LIPSCHITZ, CONVEX, EXACT_GRADIENTS, Eq(S, N),
              Eq(eta_g, 1), Eq(K, 2), Eq(eta_l * L, 1)), measures=gap_T, relation=">", bound=gap_0)
"""


def test_of_a_record_no_other_is_taken(tmp_path):
    """A document bears its claim's name: of another statement it is refused."""
    file = tmp_path / "lower.py"
    file.write_text(SOURCE)
    with plugins.registered([file]):
        claim = ft.claim("lower.brought")
        document = ft.check(claim, budget=0.5).certificate
        assert ft.replay(document)["about"] == "the claim as it is recorded here"
        weaker = ft.check(claim.replace(bound=gap_0 * Rational(1, 2)), budget=0.5).certificate
        assert weaker["claim"] == "lower.brought!variant"
        renamed = {**weaker, "claim": "lower.brought"}
        with pytest.raises(Refused):
            ft.replay(renamed)
