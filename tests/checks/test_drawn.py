"""Claims judged by sampled runs on one problem: true ones stand, false ones fall, and nothing is said of NaN."""

import warnings

import pytest
from sympy import Rational

import fedtheory as ft
from fedtheory.checks.drawn import check_on, seed_of
from fedtheory.errors import InvalidInput

PROBLEM = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=1.0, G=0.5, xi_bar=0.2, sigma=0.4, sigma_0=0.4, seed=2)
SETTING = dict(rounds=4, S=2, K=2, K_0=2, eta_l=0.02, eta_g=1.0, eta_0=0.02, gamma=1.0, x_0=[1.0, -1.0])
THEOREM = ft.claim("fsl.theorem2")


def start():
    grad = lambda x: (PROBLEM.grad(x) + PROBLEM.client_grad(0, x)) / 2
    import numpy as np
    x = -np.linalg.solve(np.column_stack([grad(e) - grad(0 * e) for e in np.eye(2)]), grad(np.zeros(2)))
    F = lambda x: (PROBLEM.loss(x) + PROBLEM.client_loss(0, x)) / 2
    return dict(tilde_D_0=float(F(np.array(SETTING["x_0"])) - F(x)) * (1 + 1e-12))


def test_a_theorem_is_not_refuted():
    v = check_on(THEOREM, PROBLEM, start=start(), draws=256, **SETTING)
    assert v.status == "holds" and v.kind == "sampled" and v.tightness < 1 and v.confidence == 1 - 1e-3


def test_a_false_bound_is_refuted_and_confirmed():
    exact = ft.expected(PROBLEM, "fsl", **SETTING).metrics["sq_tilde_grad_norm"][:4].min()
    v = check_on(THEOREM.replace(name="false", teeth=None, measures=THEOREM.quantities["E_T"].symbol, bound=Rational(8, 10) * Rational(float(exact))),
                 PROBLEM, draws=4096, **SETTING)
    assert v.status == "violated" and v.tightness > 1
    true = check_on(THEOREM.replace(name="true", teeth=None, measures=THEOREM.quantities["E_T"].symbol, bound=Rational(101, 100) * Rational(float(exact))),
                    PROBLEM, draws=512, **SETTING)
    assert true.status == "holds"


def test_the_same_seed_gives_the_same_verdict():
    one, other = (check_on(THEOREM, PROBLEM, start=start(), draws=128, **SETTING).as_dict() for _ in range(2))
    assert one == other


def test_a_run_that_diverges_says_nothing():
    wild = {**SETTING, "eta_l": 1e150, "eta_0": 1e150}
    loose = THEOREM.replace(name="loose", teeth=None, measures=THEOREM.quantities["E_T"].symbol, bound=1, assumptions=[])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ft.errors.Diverged)
        v = check_on(loose, PROBLEM, draws=64, **{**wild, "rounds": 3})
    assert v.status == "undecided" and "finite" in v.why


@pytest.mark.parametrize("change, says", [
    (dict(alpha=2), "alpha"), (dict(draws=3), "draws"), (dict(eta_0=5.0, eta_l=5.0), "assumes"),
    (dict(start={}), "one measured expectation"),
])
def test_bad_input_is_refused(change, says):
    with pytest.raises(InvalidInput, match=says):
        check_on(THEOREM, PROBLEM, **{**dict(start=start()), **SETTING, **change})


def test_a_letter_means_what_its_paper_says():
    """G is dissimilarity in FSL and a bound of second moments in flex, which a quadratic on all of R^d has not."""
    from fedtheory.symbols import flex
    G = flex.TABLE["G"].symbol
    claim = ft.claim("flex.theorem3_1").replace(name="mine", teeth=None, algorithm="fedavg", assumptions=[], bound=G**2,
                                               measures=ft.metrics["sq_grad_norm"].name)
    with pytest.raises(InvalidInput, match="needs G"):
        check_on(claim, PROBLEM, rounds=2, eta_l=0.1, K=1)


def test_blocks_and_looks_have_seeds_of_their_own():
    seeds = {seed_of(seed, look, block) for seed in range(3) for look in (0, 1) for block in range(50)}
    assert len(seeds) == 300
