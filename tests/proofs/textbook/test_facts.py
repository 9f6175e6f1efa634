"""What textbook facts say of measured quantities, on a round of FSL that is followed outcome by
outcome in fractions: each vector is computed from the traces, and every relation has to hold."""

from fractions import Fraction as Q
from importlib import import_module

import numpy as np
import pytest
import sympy

import fedtheory as ft
from fedtheory import discover
from fedtheory.models.fsl.quantities import Instance, Round, quantities
from fedtheory.models.quantities import square_norm
from fedtheory.proofs.meaning import Inner
from fedtheory.proofs.textbook import facts, fsl, mixed
from fedtheory.symbols.fsl import TABLE
from tests.proofs.textbook.exactly import truth

vector = lambda *numbers: np.array([Q(n) for n in numbers], dtype=object)
HESSIANS = [vector(*row) for row in ((1, 3), (2, 1), ("1/2", 3), (3, 2))]
LINEAR = [vector(*row) for row in ((1, -2), (3, 1), (-2, 1), ("1/3", 4))]
STEPS = dict(eta_l=Q(1, 8), eta_g=Q(3, 2), eta_0=Q(1, 4), gamma=Q(2, 3))


def case(**changes):
    return Instance(
        **{
            **dict(
                loss=lambda i, x: (HESSIANS[i] * x * x).sum() / 2 + (LINEAR[i] * x).sum(),
                grad=lambda i, x: HESSIANS[i] * x + LINEAR[i],
                noise=lambda i: [(Q(1, 2), vector(1, "1/2")), (Q(1, 2), vector(-1, "-1/2"))],
                **dict(N=3, S=2, K=2, K_0=2, L=Q(3), sigma=Q(9, 8)),  # 9/8 > sqrt(5)/2
                **STEPS,
            ),
            **changes,
        }
    )


class Vectors:
    """Inner products of the vectors that `proofs/textbook/fsl.py` names: what is drawn apart from the round
    (D_c, Z) is independent of it."""

    def __init__(self, found):
        self.found, self.known, c = found, {}, found.case
        F, O = found.grad_F, found.g[0]
        still = lambda v: lambda o, k: v
        mean = lambda v, n: v / n
        self.of_a_round = {
            "F": still(F),
            "0": still(O),
            "A_a": lambda o, k: mean(sum(o.server.estimates) - sum(o.server.gradients), c.K_0),
            "A_b": lambda o, k: mean(found.server_changed(o), c.K_0),
            "B_a": lambda o, k: mean(found.estimates(o) - found.there(o), c.S),
            "B_b": lambda o, k: mean(found.changed(o), c.S),
            "B_c": lambda o, k: mean(found.at_x(o), c.S) - c.K * F,
            "D_0": lambda o, k: o.server.gradients[k] - O,
            "V": lambda o, k: o.server.points[k] - o.middle,
            "C": lambda o, k: o.server.gradients[0] - O,
        }
        change = lambda i, w: [n - found.g[i] for n in w.gradients]
        over = lambda value: found.over_clients(
            lambda i, w: sum(value(d) for d in change(i, w)) / c.K
        )
        self.apart = {
            "D_c": (over(lambda d: d), over(square_norm)),
            "Z": (
                sum(found.g[i] - F for i in found.clients) / c.N,
                sum(square_norm(found.g[i] - F) for i in found.clients) / c.N,
            ),
        }

    def E(self, value):
        K_0 = self.found.case.K_0
        return self.found.E(lambda o: sum(value(o, k) for k in range(K_0)) / K_0)

    def inner(self, *pair):
        if pair not in self.known:
            self.known[pair] = self._inner(*pair)
        return self.known[pair]

    def _inner(self, one, other):
        one, other = (v.name.removeprefix("vec_") for v in (one, other))
        if one in self.apart and other in self.apart:
            return (
                self.apart[one][1] if one == other else self.apart[one][0].dot(self.apart[other][0])
            )
        if one in self.apart or other in self.apart:
            lone, drawn = (one, other) if one in self.apart else (other, one)
            return self.apart[lone][0].dot(self.E(self.of_a_round[drawn]))
        one, other = self.of_a_round[one], self.of_a_round[other]
        return self.E(lambda o, k: one(o, k).dot(other(o, k)))


def holds(relation, measured, vectors, numbers):
    definitions = {e.symbol: e.definition for e in TABLE.values() if e.definition is not None}
    for _ in range(4):
        relation = relation.xreplace(definitions)
    known = {TABLE[name].symbol: Q(v) for name, v in {**numbers, **measured}.items()}
    known.update({one: vectors.inner(*one.args) for one in relation.atoms(Inner)})
    return truth(relation, known)


ROUND = [fact for fact in fsl.FACTS if fact not in fsl.RUN]
CASES = {
    "two of three": case(),
    "all": case(S=3, K=1),
    "one of one": case(N=1, S=1, gamma=Q(0)),
    "one of three, without noise": case(S=1, noise=lambda i: [], sigma=Q(0)),
}


def numbers_of(instance):
    x = vector("5/4", "-2/3")
    found = Round(instance, x)
    G = sum(square_norm(found.g[i] - found.grad_F) for i in found.clients) / instance.N
    names = ("N", "S", "K", "K_0", "eta_l", "eta_g", "eta_0", "gamma", "L", "sigma")
    numbers = {name: getattr(instance, name) for name in names}
    # a bound above the root, so that no root of a fraction is needed
    numbers.update(sigma_0=instance.sigma, G=max(Q(1), G), xi_bar=Q(10))
    return found, quantities(instance, x), numbers


@pytest.mark.parametrize("name", CASES)
def test_every_relation_holds_on_a_computed_round(name):
    found, measured, numbers = numbers_of(CASES[name])
    vectors = Vectors(found)
    for fact in ROUND:
        assert holds(fact.relation, measured, vectors, numbers), (fact.name, fact.relation)


def test_conditions_are_needed():
    """With a cohort that is always the same, or one noise for all, what asks for more fails."""
    broken = case(cohorts=[(Q(1), (1, 2))])
    found, measured, numbers = numbers_of(broken)
    vectors = Vectors(found)
    failing = [f for f in ROUND if not holds(f.relation, measured, vectors, numbers)]
    assert failing and all(fsl.UNIFORM_COHORT in fact.needs for fact in failing)
    unequal = case(weights=(Q(1, 2), Q(1, 3), Q(1, 6)))
    found, measured, numbers = numbers_of(unequal)
    vectors = Vectors(found)
    failing = [f for f in ROUND if not holds(f.relation, measured, vectors, numbers)]
    assert failing and all(
        {fsl.EQUAL_WEIGHTS, fsl.DISSIMILAR, fsl.UNIFORM_COHORT} & set(f.needs) for f in failing
    )
    biased = case(noise=lambda i: [(Q(1), vector(1, "1/2"))])
    found, measured, numbers = numbers_of(biased)
    vectors = Vectors(found)
    failing = [f for f in ROUND if not holds(f.relation, measured, vectors, numbers)]
    assert failing and all(fsl.NOISE in fact.needs for fact in failing)


def test_a_false_relation_is_seen():
    found, measured, numbers = numbers_of(CASES["two of three"])
    vectors = Vectors(found)
    for fact in ROUND:
        if isinstance(fact.relation, sympy.Eq):
            left, right = fact.relation.args
            assert not holds(sympy.Eq(left, 2 * right, evaluate=False), measured, vectors, numbers)


def test_each_instance_names_a_fact_that_there_is():
    for fact in ROUND:
        assert facts.is_textbook_name(fact.name)


@pytest.mark.parametrize("paper, needs", [("lamb", "lamb.step_A1"), ("mixed", "mixed.stepD10_C")])
def test_what_other_papers_write_holds_in_a_search(paper, needs):
    claim = discover.claim(needs)
    for fact in import_module(f"fedtheory.proofs.textbook.{paper}").FACTS:
        if fact.name != "textbook.definition":
            continue
        asked = claim.replace(
            "mine.definition", measures=fact.relation.lhs, relation="==", bound=fact.relation.rhs
        ).replace(follows=())
        verdict = ft.check(asked, budget=1)
        assert verdict.status == "holds" and verdict.cases > 100
        doubled = asked.replace(bound=2 * fact.relation.rhs + 1)
        assert ft.check(doubled, budget=1).status == "violated"


MEANS = dict(convex_mean="mixed.theoremB1_convex_mean", smallest="mixed.theoremB2_nonconvex_mean")


@pytest.mark.parametrize("name", MEANS)
def test_what_mixed_fl_says_of_means_holds_in_a_search(name):
    (fact,) = (fact for fact in mixed.FACTS if fact.name == f"textbook.{name}")
    asked = discover.claim(MEANS[name]).replace(
        "mine.mean", measures=fact.relation.lhs, bound=fact.relation.rhs, follows=()
    )
    verdict = ft.check(asked, budget=1)
    assert verdict.status == "holds" and verdict.cases > 100
    less = asked.replace(bound=fact.relation.rhs * sympy.Rational(9, 10))
    assert ft.check(less, budget=1).status == "violated"


def test_rounds_of_mixed_fl_leave_the_first_and_the_last():
    """Gradient descent on x^2 from 3 by thirds: errors 9, 1, 1/9, 1/81 at x^(0), ..., x^(3)."""
    far, T = [Q(9), Q(1), Q(1, 9), Q(1, 81)], 2
    mean = lambda numbers: sum(numbers) / len(numbers)
    values = {mixed.before: mean(far[:3]), mixed.after: mean(far[1:]), mixed.D_sq: far[0]}
    values |= {mixed.f_before: values[mixed.before], mixed.f_after: values[mixed.after]}
    values |= {mixed.F: far[0], mixed.T: Q(T)}
    two = [fact.relation for fact in mixed.FACTS if fact.name == "textbook.rounds"]
    assert len(two) == 2 and all(truth(relation, values) for relation in two)
    assert not any(
        truth(sympy.Ge(r.lhs, r.rhs * sympy.Rational(99, 100), evaluate=False), values) for r in two
    )


def test_what_is_said_of_a_run_holds_of_exact_expectations():
    problem = ft.problems.quadratic_from_arrays(
        np.ones(1), np.array([[-1.0], [-2.0], [3.0], [0.5]]), sigma=0.5, sigma_0=0.25
    )
    steps = dict(eta_l=0.1, eta_g=1.2, eta_0=0.12, gamma=0.5, K=1, K_0=1)
    found = ft.expected(problem, "fsl", rounds=4, x_0=np.array([2.0]), S=2, **steps).metrics
    loss, squares = found["tilde_loss"], found["sq_tilde_grad_norm"][:4]
    grid = np.linspace(-5, 5, 20001)
    least = (
        min(problem.loss(np.array([x])) + 0.5 * problem.client_loss(0, np.array([x])) for x in grid)
        / 1.5
    )
    T, minimum = 4, loss[0] - least
    assert -minimum <= T * (loss[1:].mean() - loss[:-1].mean()) + 1e-6
    assert -minimum / 50 > T * (loss[1:].mean() - loss[:-1].mean())
    for h in (-1.0, 0.0, 2.0):
        assert h * squares.min() <= max(0, h) * squares.mean()
    assert T * (loss[1:].mean() - loss[:-1].mean()) == pytest.approx(loss[4] - loss[0])
    sides = [(fact.relation.lhs, fact.relation.rhs) for fact in fsl.RUN]
    assert minimum >= 0
    names = ("tilde_F_0", "tilde_F_T", "tilde_D_0", "h", "T", "E_T", "mean_sq_tilde_grad")
    F_0, F_T, D_0, h, rounds, E_T, mean = (TABLE[name].symbol for name in names)
    assert sides == [
        (F_T - F_0, rounds * (fsl.then - fsl.now)),
        (F_0 - F_T, D_0),
        (D_0, 0),
        (h * E_T, sympy.Max(0, h) * mean),
    ]


def test_only_what_is_linear_in_what_is_measured_is_averaged():
    theorem = discover.claim("fsl.theorem1")
    assert facts.average_line(theorem, 0).free_symbols & set(fsl.ROUNDS.values())
    squared = theorem.replace(
        "mine.squared", bound=theorem.bound + TABLE["sq_tilde_grad"].symbol ** 2
    )
    assert facts.average_line(squared, 0) is None
    assert facts.average_line(discover.claim("fsl.step24"), 0) is None  # drifts have no mean here
