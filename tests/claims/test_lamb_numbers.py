"""FED-LAMB's right-hand sides against a second transcription: plain Python, from the paper, not
from the records."""

from math import sqrt
from types import SimpleNamespace

import pytest

import fedtheory as ft
from fedtheory import discover
from tests.claims import test_lamb_said

# Layers, clients, steps; momentum and none; one client, one step, no noise; a tiny step
CASES = {
    "plain": dict(
        alpha=0.125,
        alpha_r=0.0625,
        beta_1=0.75,
        beta_2=0.875,
        T=3,
        R=20,
        tau=60,
        n=4,
        h=5,
        p=30,
        v_0=0.25,
        L_l=2.0,
        L_bar=3.0,
        M=0.5,
        sigma=0.75,
        phi_m=0.5,
        phi_M=2.0,
        cst=0.5,
        f_excess=3.0,
    ),
    "one client": dict(
        alpha=0.5,
        alpha_r=0.25,
        beta_1=0.0,
        beta_2=0.5,
        T=1,
        R=1,
        tau=1,
        n=1,
        h=1,
        p=1,
        v_0=4.0,
        L_l=0.25,
        L_bar=0.25,
        M=1.0,
        sigma=0.0,
        phi_m=1.0,
        phi_M=1.0,
        cst=0.0,
        f_excess=0.0,
    ),
    "tiny steps": dict(
        alpha=1e-12,
        alpha_r=1e-12,
        beta_1=0.5,
        beta_2=0.9990234375,
        T=7,
        R=10**6,
        tau=7 * 10**6,
        n=50,
        h=3,
        p=10**5,
        v_0=1e-8,
        L_l=10.0,
        L_bar=10.0,
        M=3.0,
        sigma=1.0,
        phi_m=0.01,
        phi_M=10.0,
        cst=1.0,
        f_excess=2.5,
    ),
}
MEASURED = dict(
    loss_now=2.0,
    loss_next=1.75,
    inner_move=-0.25,
    sq_move_L=0.125,
    sq_move_12=0.375,
    A_1=-0.5,
    momentum_14=0.0625,
    inner_g=0.3,
    sq_grad_vartheta=0.5,
    sq_g_bar=0.75,
    sq_error=0.3125,
    error_momentum=0.1,
    error_17=0.7,
    B_1=0.2,
    B_2=0.9,
    sum_gap=0.15,
    sq_lag=0.05,
    sum_inner=0.4,
    sum_sq_grad=1.5,
    sum_kept=0.35,
    sum_wrong=-0.05,
    grad_by_root_v=0.6,
    avg_grad_by_root_v=0.55,
    loss_drop=1.25,
    noise_sum=8.0,
    grad_by_v=0.9,
    mean_sq=0.4,
    mean_sq_t=0.4,
    gap_sq=0.01,
    avg_grad_by_v=0.8,
    sq_gap_11=0.0,
    sq_gap_11_typed=0.0,
    sq_momentum_11=0.1,
    excess_sign=-0.1,
)


def values(case):
    v = SimpleNamespace(**CASES[case], **MEASURED)
    v.a, v.f_excess_t = v.alpha * sqrt(v.h * v.R), v.f_excess
    v.inside = (
        v.alpha**2
        * v.L_l
        / sqrt(v.v_0)
        * v.M**2
        * (v.T - 1) ** 2
        * v.phi_M**2
        * (1 - v.beta_2)
        * v.p
        + v.M**2 / sqrt(v.v_0)
        + v.phi_M**2 * sqrt(v.M**2 + v.p * v.sigma**2)
        + v.phi_M * v.h * v.sigma**2 / sqrt(v.n)
    )
    v.lag = (
        2 * v.alpha**2 * v.L_l * v.p * v.phi_M**2 / sqrt(v.v_0) * v.beta_1**2 / (1 - v.beta_1) ** 2
    )
    v.tail = (
        v.alpha
        * v.beta_1
        / (1 - v.beta_1)
        * sqrt((1 - v.beta_2) * v.p)
        * v.h
        * v.M**2
        / sqrt(v.v_0)
        + v.L_bar * v.alpha**2 * v.M**2 * v.phi_M**2 * (1 - v.beta_2) * v.p / (v.T * v.v_0)
        + v.L_bar
        * v.beta_1**2
        * v.h
        * (1 - v.beta_2)
        * v.M**2
        * v.phi_M**2
        * v.n
        / (2 * (1 - v.beta_1) ** 2 * v.v_0)
        + 2
        * v.alpha**3
        * v.L_l
        * v.p
        * v.phi_M**2
        / sqrt(v.v_0)
        * v.beta_1**2
        / (1 - v.beta_1) ** 2
    )
    # (18) over n
    v.local = (
        v.L_l
        * v.alpha**2
        / sqrt(v.v_0)
        * v.M**2
        * (v.T - 1) ** 2
        * v.phi_M**2
        * (1 - v.beta_2)
        * v.p
    )
    v.parts = v.n * v.M**2 / sqrt(v.v_0) + v.n * v.phi_M**2 * sqrt(v.M**2 + v.p * v.sigma**2)
    return v


def theorem(v, alpha, rounds, tail):
    return (
        sqrt(v.M**2 * v.p / v.n) * v.f_excess / (v.h * alpha * rounds)
        + v.phi_M * v.sigma**2 / (rounds * v.n) * sqrt((1 - v.beta_2) / (v.M**2 * v.p))
        + 4 * v.alpha * v.inside
        + tail
    )


GAP = lambda v, L: L * v.M**2 * v.phi_M**2 * (1 - v.beta_2) * v.p / v.v_0
# id -> right-hand sides of its lines
TRANSCRIBED = {
    "lamb.lemma1": [lambda v: v.alpha_r**2 * GAP(v, 1)],
    "lamb.lemma2": [lambda v: v.grad_by_v / 2 - v.alpha**2 * GAP(v, v.L_bar)],
    "lamb.theorem1": [lambda v: theorem(v, v.alpha, v.R, v.cst)],
    "lamb.theorem1_explicit": [lambda v: theorem(v, v.alpha, v.R, v.tail)],
    "lamb.theorem1_appendix": [lambda v: theorem(v, v.alpha_r, v.tau, v.cst)],
    "lamb.corollary1_explicit": [lambda v: theorem(v, v.a / sqrt(v.h * v.R), v.R, v.tail)],
    "lamb.communication_explicit": [lambda v: sqrt(v.p / v.n) / sqrt(v.h * v.R)],
    "lamb.communication_rounds_explicit": [lambda v: v.h**1.25 / (v.R**0.5 * (v.n * v.p) ** 0.25)],
    "lamb.communication_local_ams_explicit": [
        lambda v: sqrt(v.p / (v.R * v.n)),
        lambda v: v.p**0.25 / (v.R * v.n) ** 0.75,
    ],
    "lamb.step7": [lambda v: v.loss_now - v.loss_next + v.sq_move_L],
    "lamb.step11": [lambda v: 0],
    "lamb.step11_typed": [lambda v: 0],
    "lamb.step12": [lambda v: v.loss_now - v.loss_next + v.sq_move_12],
    "lamb.step13": [lambda v: v.A_1 - v.momentum_14],
    "lamb.step16": [lambda v: v.sq_grad_vartheta / 2 + v.sq_g_bar / 2 - v.sq_error] * 2,
    "lamb.step16_half": [lambda v: v.sq_grad_vartheta / 2 + v.sq_g_bar / 2 - v.sq_error / 2],
    "lamb.step_split": [lambda v: v.error_momentum + v.error_17],
    "lamb.step_momentum": [
        lambda v: v.lag,
        lambda v: 2 * v.L_l / sqrt(v.v_0) * v.sq_lag,
        lambda v: v.lag,
    ],
    "lamb.step17": [lambda v: 4 / v.n * (v.B_1 + v.B_2)],
    "lamb.step_B1": [
        lambda v: v.n * v.local,
        lambda v: v.L_l / sqrt(v.v_0) * v.sum_gap,
        lambda v: v.n * v.local,
    ],
    "lamb.step_B2": [
        lambda v: (
            v.parts
            - 2 * v.phi_m * sqrt((1 - v.beta_2) / (v.M**2 * v.p)) * v.sum_sq_grad
            + v.phi_M * v.h * v.sigma**2 / sqrt(v.n)
        ),
        lambda v: v.parts - 2 * v.sum_inner,
        lambda v: -2 * v.sum_kept - 2 * v.sum_wrong,
        lambda v: 0,
    ],
    "lamb.step_17_becomes": [lambda v: 4 * v.inside],
    "lamb.step_inner": [
        lambda v: (
            -v.alpha / 2 * v.sq_grad_vartheta
            - v.alpha / 2 * v.sq_g_bar
            + v.alpha * v.lag
            + 4 * v.inside
        )
    ],
    "lamb.step_g_bar": [lambda v: v.phi_m**2 * (1 - v.beta_2) * v.avg_grad_by_root_v],
    "lamb.step_average": [lambda v: v.grad_by_root_v / 2 - v.local],
    "lamb.step_A1": [
        lambda v: (
            -(v.phi_m**2) * (1 - v.beta_2) / 2 * v.grad_by_root_v
            + v.phi_m**2 * (1 - v.beta_2) * v.local
            + v.alpha * v.lag
            + 4 * v.alpha * v.inside
        )
    ],
    "lamb.step_final": [
        lambda v: theorem(v, v.alpha, v.tau, v.tail),
        lambda v: (
            sqrt(v.M**2 * v.p / v.n) * v.loss_drop / (v.h * v.alpha * v.tau)
            + v.alpha / v.n**2 * v.noise_sum
            + 4 * v.alpha * v.inside
            + v.tail
        ),
        lambda v: theorem(v, v.alpha, v.tau, v.tail),
    ],
}
ORDERS = {
    "lamb.corollary1": lambda v: (
        sqrt(v.p / v.n) / sqrt(v.h * v.R)
        + v.sigma**2 / (v.R * v.n * sqrt(v.p))
        + (v.T - 1) ** 2 * v.p / (v.h**3 * v.R**1.5)
    ),
    "lamb.theorem2": lambda v: (
        sqrt(v.p / (v.R * v.n)) * (1 + v.sigma**2) + v.n * (v.T - 1) ** 2 / v.R
    ),
    # rules for choosing T: the first terms of (5) and (6), in regimes of T
    "lamb.communication": lambda v: sqrt(v.p / v.n) / sqrt(v.h * v.R),
    "lamb.communication_rounds": lambda v: sqrt(v.p / v.n) / sqrt(v.h * v.R),
    "lamb.communication_local_ams": lambda v: sqrt(v.p / (v.R * v.n)),
}
REGIMES = {
    "lamb.communication": lambda v: v.R**0.5 * v.h**1.25 / (v.n * v.p) ** 0.25,
    "lamb.communication_rounds": lambda v: v.R**0.5 / v.n**0.25,
    "lamb.communication_local_ams": lambda v: v.R**0.25 / v.n**0.75,
}


def given(claim, v):
    return {
        name: getattr(v, name)
        for name, entry in claim.symbols.items()
        if entry.definition is None and hasattr(v, name)
    }


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", [*TRANSCRIBED, *ORDERS])
def test_bounds_agree_with_the_paper(name, case):
    claim, v = ft.claim(name), values(case)
    sides = TRANSCRIBED.get(name) or [ORDERS[name]]
    assert len(sides) == len(claim.lines)
    for line, side in enumerate(sides):
        found = claim.evaluate(given(claim, v), strict=False, line=line)
        assert float(found) == pytest.approx(side(v), rel=1e-12)
        assert claim.fast(given(claim, v), line=line) == pytest.approx(side(v), rel=2e-12)


@pytest.mark.parametrize("case", CASES)
def test_left_sides(case):
    v = values(case)
    for name, line, expected in (
        ("step7", 0, 0.25),
        ("communication_explicit", 0, (v.T - 1) ** 2 * v.p / (v.h**3 * v.R**1.5)),
        ("communication_local_ams_explicit", 0, v.n * (v.T - 1) ** 2 / v.R),
        ("communication_rounds_explicit", 0, (v.T - 1) / v.R),
        ("step_inner", 0, -0.3 * v.alpha),
        ("step_momentum", 2, 2 * v.L_l / sqrt(v.v_0) * 0.05),
        ("step_B2", 2, -0.8),
    ):
        claim = ft.claim(f"lamb.{name}")
        found = claim.evaluate_left(given(claim, v), strict=False, line=line)
        assert float(found) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", REGIMES)
def test_rules_for_choosing_t_are_regimes(name):
    v = SimpleNamespace(R=81, h=16, n=7, p=13)
    (theta,) = ft.claim(name).regime
    at = {s: getattr(v, s.name) for s in theta.shape.free_symbols}
    assert theta.symbol.name == "T"
    assert float(theta.shape.subs(at)) == pytest.approx(REGIMES[name](v), rel=1e-12)


def test_everything_with_a_bound_is_transcribed():
    assert set(TRANSCRIBED) | set(ORDERS) | set(test_lamb_said.SIDES) == {
        c.id for c in discover.claims() if c.paper == "lamb" and c.lines
    }


def test_the_remarks_on_communication_follow():
    """T - 1 at its largest: the last term of each rate equals the first."""
    v = SimpleNamespace(R=400, h=16, n=1, p=16)  # T - 1 = 20 * 32 / 2 = 320
    claim = ft.claim("lamb.communication_explicit")
    at = dict(vars(v), T=321)
    assert float(claim.evaluate_left(at)) == pytest.approx(float(claim.evaluate(at)), rel=1e-12)
    with pytest.raises(ft.errors.InvalidInput, match="T small"):
        claim.evaluate(dict(at, T=322))
    over = dict(at, T=322)
    assert claim.evaluate_left(over, strict=False) > claim.evaluate(over, strict=False)
    assert claim.replace(bound=claim.weakened).evaluate(at) < claim.evaluate_left(at)


def test_theorem1_by_hand():
    """M = p = n = h = alpha = R = v_0 = phi_M = L = T = 1, sigma = beta_1 = 0: 2 + 0 + 4 (0 + 1 + 1
    + 0) + 3 = 13."""
    found = ft.claim("lamb.theorem1").evaluate(
        dict(
            M=1,
            p=1,
            n=1,
            h=1,
            alpha=1,
            R=1,
            v_0=1,
            phi_M=1,
            L_l=1,
            T=1,
            sigma=0,
            beta_1=0,
            beta_2=0,
            lambda_=0,
            f_excess=2,
            cst=3,
        )
    )
    assert found.exact == 13
