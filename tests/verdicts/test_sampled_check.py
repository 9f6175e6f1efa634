"""Claims judged by sampled runs on one problem: true ones stand, false ones fall, and nothing is
said of NaN."""

import warnings

import numpy as np
import pytest
from sympy import Rational

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.language.claim import Claim
from fedtheory.symbols.run import TABLE, gap_T
from fedtheory.verdicts.sampled_check import Sample, check_on, seed_of

PROBLEM = ft.problems.quadratic(
    d=2, clients=3, L=1.0, mu=1.0, G=0.5, xi_bar=0.2, sigma=0.4, sigma_0=0.4, seed=2
)
SETTING = dict(
    rounds=4, S=2, K=2, K_0=2, eta_l=0.02, eta_g=1.0, eta_0=0.02, gamma=1.0, x_0=[1.0, -1.0]
)
THEOREM = ft.claim("fsl.theorem2")


def start():
    grad = lambda x: (PROBLEM.grad(x) + PROBLEM.client_grad(0, x)) / 2
    import numpy as np

    x = -np.linalg.solve(
        np.column_stack([grad(e) - grad(0 * e) for e in np.eye(2)]), grad(np.zeros(2))
    )
    F = lambda x: (PROBLEM.loss(x) + PROBLEM.client_loss(0, x)) / 2
    return dict(tilde_D_0=float(F(np.array(SETTING["x_0"])) - F(x)) * (1 + 1e-12))


def test_a_theorem_is_not_refuted():
    v = check_on(THEOREM, PROBLEM, start=start(), draws=256, **SETTING)
    assert (
        v.status == "holds" and v.kind == "sampled" and v.tightness < 1 and v.confidence == 1 - 1e-3
    )


def test_the_start_and_the_infimum_are_derived_where_none_is_given():
    given = check_on(THEOREM, PROBLEM, start=start(), draws=64, **SETTING)
    derived = check_on(THEOREM, PROBLEM, draws=64, **SETTING)
    assert derived.status == "holds"
    assert float(derived.tightness) == pytest.approx(float(given.tightness), rel=1e-9)
    # one step of size 1/L on a parabola from 1 ends at its minimiser: nothing is left of the gap
    parabola = ft.problems.quadratic_from_arrays([1.0], [[3.0], [0.5]])
    claim = Claim(
        id="mine.gap",
        cites="by hand",
        symbols=TABLE,
        algorithm="fedsgd",
        measures=gap_T,
        bound=Rational(1, 10**6),
    )
    v = check_on(claim, parabola, rounds=1, eta=1.0, x_0=[1.0], draws=64)
    assert v.status == "holds"
    assert check_on(claim, parabola, rounds=1, eta=0.5, x_0=[1.0], draws=4096).status == "violated"


def test_a_false_bound_is_refuted_and_confirmed():
    exact = ft.expected(PROBLEM, "fsl", **SETTING).metrics["sq_tilde_grad_norm"][:4].min()
    v = check_on(
        THEOREM.replace(
            name="false",
            weakened=None,
            measures=THEOREM.quantities["E_T"].symbol,
            bound=Rational(8, 10) * Rational(float(exact)),
        ),
        PROBLEM,
        draws=4096,
        **SETTING,
    )
    assert v.status == "violated" and v.tightness > 1
    true = check_on(
        THEOREM.replace(
            name="true",
            weakened=None,
            measures=THEOREM.quantities["E_T"].symbol,
            bound=Rational(101, 100) * Rational(float(exact)),
        ),
        PROBLEM,
        draws=512,
        **SETTING,
    )
    assert true.status == "holds"


PARABOLA = ft.problems.quadratic_from_arrays([1.0], [[3.0], [0.5]])
BOUND = Claim(
    id="mine.bound",
    cites="by hand",
    symbols=TABLE,
    algorithm="fedsgd",
    measures=gap_T,
    bound=Rational(1, 100),
)
STEP = dict(rounds=1, eta=0.5, x_0=[1.0])


@pytest.mark.parametrize(
    "looks, status", [((1.0, 1.0), "violated"), ((1.0, 0.0), "undecided"), ((0.0, 1.0), "holds")]
)
def test_what_the_second_look_says_of_the_first(monkeypatch, looks, status):
    """Runs of which all of a look are 1, or 0, beside a bound of 1/100."""
    row = lambda self, look, first, count: np.full((count, 1), looks[look])
    monkeypatch.setattr(Sample, "rows", row)
    v = check_on(BOUND, PARABOLA, draws=128, **STEP)
    assert v.status == status
    assert (v.tightness is None) == (status == "undecided")


def test_a_bound_below_nothing_is_violated():
    v = check_on(BOUND.replace(name="negative", bound=-1), PARABOLA, draws=64, **STEP)
    assert v.status == "violated"


def test_rounding_hides_no_excess_of_a_method_that_contracts():
    """x - 1/2 = 2^-(T + 1) after T steps of size 1/2: floats know it well after 40 of them."""
    steps = dict(STEP, rounds=20)
    half = Rational(1, 2) ** 43 / 2  # of ((1/2)^21)^2 / 2
    v = check_on(BOUND.replace(name="half", bound=half), PARABOLA, draws=4096, **steps)
    assert v.status == "violated"
    v = check_on(BOUND.replace(name="twice", bound=4 * half), PARABOLA, draws=64, **steps)
    assert v.status == "holds"


def test_a_bound_that_rounding_hides_is_undecided():
    """x - 1/3 = 2^-T (x_0 - 1/3) is below every float's distance to 1/3 after 100 steps."""
    third = ft.problems.quadratic_from_arrays([1.0], [[1 / 3], [1 / 3]])
    steps = dict(rounds=100, eta=0.5, x_0=[1.0])
    truth = Rational(1, 4) ** 100 * Rational(2, 9)
    for share in (Rational(1, 2), 2):
        v = check_on(BOUND.replace(name="share", bound=share * truth), third, draws=64, **steps)
        assert v.status == "undecided" and "rounding" in v.why
    v = check_on(BOUND.replace(name="far", bound=Rational(1, 10**20)), third, draws=64, **steps)
    assert v.status == "holds"


def test_the_same_seed_gives_the_same_verdict():
    one, other = (
        check_on(THEOREM, PROBLEM, start=start(), draws=128, **SETTING).as_dict() for _ in range(2)
    )
    assert one == other


def test_a_run_that_diverges_says_nothing():
    wild = {**SETTING, "eta_l": 1e150, "eta_0": 1e150}
    loose = THEOREM.replace(
        name="loose",
        weakened=None,
        measures=THEOREM.quantities["E_T"].symbol,
        bound=1,
        assumptions=[],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ft.errors.Diverged)
        v = check_on(loose, PROBLEM, draws=64, **{**wild, "rounds": 3})
    assert v.status == "undecided" and "finite" in v.why


@pytest.mark.parametrize(
    "change, says",
    [
        (dict(alpha=2), "alpha"),
        (dict(draws=3), "draws"),
        (dict(eta_0=5.0, eta_l=5.0), "assumes"),
        (dict(start={}), "one measured expectation"),
    ],
)
def test_bad_input_is_refused(change, says):
    with pytest.raises(InvalidInput, match=says):
        check_on(THEOREM, PROBLEM, **{**dict(start=start()), **SETTING, **change})


def test_a_letter_means_what_its_paper_says():
    """G is dissimilarity in FSL and a bound of second moments in flex, which a quadratic on all of
    R^d has not."""
    from fedtheory.symbols import flex

    G = flex.TABLE["G"].symbol
    claim = ft.claim("flex.theorem3_1").replace(
        name="mine",
        weakened=None,
        algorithm="fedavg",
        assumptions=[],
        bound=G**2,
        measures=ft.metrics["sq_grad_norm"].name,
    )
    with pytest.raises(InvalidInput, match="needs G"):
        check_on(claim, PROBLEM, rounds=2, eta_l=0.1, K=1)


def test_blocks_and_looks_have_seeds_of_their_own():
    seeds = {
        seed_of(seed, look, block) for seed in range(3) for look in (0, 1) for block in range(50)
    }
    assert len(seeds) == 300


@pytest.mark.parametrize("T", [60, 500])
def test_floats_that_stagnate_are_no_counterexample(T):
    """Gradient descent of step 1/L on a quadratic: ||x_T - x*||^2 <= (1 - mu/L)^(2T) ||x_0 -
    x*||^2, with equality, until the floats have no finer numbers around x*."""
    problem = ft.problems.quadratic(d=2, clients=1, L=1.0, mu=0.5, seed=1)
    x_0 = problem.minimizer() + np.array([0.0, 1.0])
    bound = Rational(1, 4) ** T * Rational(1000001, 1000000)
    claim = ft.claim("fsl.theorem2").replace(
        name="descent",
        weakened=None,
        algorithm="fedavg",
        assumptions=[],
        also=(),
        measures="sq_distance",
        bound=bound,
    )
    v = check_on(claim, problem, rounds=T, x_0=x_0, K=1, eta_l=1.0, draws=64)
    assert v.status == ("undecided" if T == 500 else v.status) and v.status in (
        "holds",
        "undecided",
    ), v
    wrong = check_on(
        claim.replace(name="false", bound=Rational(1, 8) ** 4),
        problem,
        rounds=4,
        x_0=x_0,
        K=1,
        eta_l=1.0,
        draws=2048,
    )
    assert wrong.status == "violated"


@pytest.mark.parametrize(
    "change, says",
    [
        (dict(alpha="x"), "alpha must be"),
        (dict(alpha=True), "alpha must be"),
        (dict(start=5), "start must be"),
        (dict(start=[1]), "start must be"),
        (dict(infimum="x"), "infimum must be"),
        (dict(x_0="abc"), "x_0 must be"),
        (dict(seed=-1), "seed must be"),
        (dict(seed="x"), "seed must be"),
        (dict(rounds="4"), "rounds must be"),
        (dict(rounds=10**30), "rounds must be"),
        (dict(draws=2.5), "draws must be"),
        (dict(S="2"), "S must be"),
    ],
)
def test_arguments_of_the_wrong_type_are_named(change, says):
    with pytest.raises(InvalidInput, match=says):
        check_on(THEOREM, PROBLEM, **{**dict(start=start()), **SETTING, **change})
    with pytest.raises(InvalidInput, match="problem must be a Problem"):
        check_on(THEOREM, None, rounds=2)
