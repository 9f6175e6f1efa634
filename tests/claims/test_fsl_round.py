"""FSL's lines on small instances in exact rationals: what holds by algebra holds, false variants
are refuted."""

import random
from fractions import Fraction as Q

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.models.fsl.quantities import Instance, quantities, server_quantities

VEC = lambda *entries: np.array([Q(e) for e in entries], dtype=object)


def instance(
    seed,
    N=2,
    S=1,
    K=2,
    K_0=2,
    gamma=Q(1, 2),
    eta_g=Q(1),
    L=Q(2),
    noise=Q(1, 3),
    spread=2,
    edge=True,
):
    """Quadratics L (x - b_i)^2 / 2 in two dimensions, own curvatures up to L, step size at the edge
    of (11)."""
    draw = random.Random(seed)
    b = [VEC(draw.randint(-spread, spread), draw.randint(-spread, spread)) for _ in range(N + 1)]
    A = [VEC(L, Q(draw.randint(0, 4), 4) * L) for _ in range(N + 1)]
    bound = min([eta_g, Q(8, 9)] + ([1 / gamma] if gamma else [])) / (4 * L)
    u = bound if edge else bound / 7
    loss = lambda i, x: ((x - b[i]) * A[i] * (x - b[i])).sum() / 2
    grad = lambda i, x: A[i] * (x - b[i])
    shocks = [(Q(1, 2), VEC(noise, 0)), (Q(1, 2), VEC(-noise, 0))] if noise else [(Q(1), VEC(0, 0))]
    case = Instance(
        loss, grad, lambda i: shocks, N, S, K, K_0, u / (K * eta_g), eta_g, u / K_0, gamma, L, noise
    )
    x = VEC(draw.randint(-3, 3), draw.randint(-3, 3))
    return case, x, b, A


def values(case, x, claim, measured):
    """Symbols of a claim: the case's numbers, and G and xi_bar as they are at x, where the proof
    uses them."""
    g = [case.grad(i, x) for i in range(case.N + 1)]
    F = sum(g[1:]) / case.N
    known = {
        **{k: v for k, v in case._asdict().items() if k not in ("loss", "grad", "noise")},
        **measured,
        "sigma_0": case.sigma,
    }
    squares = dict(
        G=sum((v - F).dot(v - F) for v in g[1:]) / case.N, xi_bar=(g[0] - F).dot(g[0] - F)
    )
    for (
        name,
        square,
    ) in squares.items():  # a rational above the root, as near as makes no difference
        known[name] = Q(int(float(square) ** 0.5 * 10**6) + 2, 10**6) if square else Q(0)
    return {name: known[name] for name in claim.symbols if name in known}


CASES = [
    instance(s, **more)
    for s, more in enumerate(
        (
            {},
            dict(N=3, S=2, K=1, K_0=3),
            dict(gamma=Q(0), K=3),
            dict(gamma=Q(5), K=1, K_0=2),
            dict(noise=Q(0), N=3, S=3, K=3),
            dict(eta_g=Q(3), L=Q(1, 3)),
            dict(eta_g=Q(1, 4), N=1),
            dict(edge=False, N=3, S=1),
            dict(spread=0, noise=Q(1)),
        )
    )
]
MEASURED = [quantities(case, x) for case, x, b, A in CASES]
STEPS = [
    claim
    for claim in discover.claims()
    if claim.paper == "fsl"
    and claim.lines
    and claim.kind != "order"
    and claim.quantities
    and all(name in MEASURED[0] for name in claim.quantities)
]


def gap(claim, given, line=0):
    """Right minus left, exactly."""
    right, left = (
        side(given, strict=False, line=line) for side in (claim.evaluate, claim.evaluate_left)
    )
    return right.lower - left.upper


def test_the_lines_of_the_proof_are_all_here():
    named = {f"fsl.step{n}" for n in (16, 18, 19, 20, 21, 22, 23, 24, 25, 28, 29, 30, 31)} | {
        "fsl.step_T6",
        "fsl.step_T7",
        "fsl.lemma3",
        "fsl.lemma4",
        "fsl.lemma5",
        "fsl.theorem1",
        "fsl.gradient_identity",
    }
    assert named <= {claim.id for claim in STEPS}


@pytest.mark.parametrize("claim", STEPS, ids=lambda c: c.id)
def test_identities_hold_exactly(claim):
    for (case, x, b, A), measured in zip(CASES, MEASURED):
        given = values(case, x, claim, measured)
        for line, (_, sign, _) in enumerate(claim.lines):
            if sign == "==":
                assert gap(claim, given, line) == 0


@pytest.mark.parametrize("claim", STEPS, ids=lambda c: c.id)
def test_lines_hold_on_these_instances(claim):
    """Evidence that left sides are computed as the text defines them; no verdict follows from nine
    instances."""
    for (case, x, b, A), measured in zip(CASES, MEASURED):
        given = values(case, x, claim, measured)
        for line, (_, sign, _) in enumerate(claim.lines):
            if sign == "<=":
                assert gap(claim, given, line) >= 0, (claim.id, line)


def stationary(**more):
    """A start where nothing pulls: what noise or dissimilarity alone does."""
    case, x, b, A = instance(3, **{**dict(spread=0, noise=Q(1)), **more})
    return case, VEC(0, 0)


def balanced(seed, side):
    """All clients work without noise, beside the minimiser of the modified loss: what is left is
    drift."""
    case, x, b, A = instance(seed, N=3, S=3, K=3, noise=Q(0))
    weigh = [case.gamma] + [Q(1, 3)] * 3
    star = sum(w * a * c for w, a, c in zip(weigh, A, b)) / sum(w * a for w, a in zip(weigh, A))
    return case, star + VEC(0, side)


TIGHT = [(case, x, m) for (case, x, b, A), m in zip(CASES, MEASURED)]
TIGHT += [
    (case, x, quantities(case, x))
    for case, x in (
        stationary(),
        stationary(K=3, K_0=3),
        stationary(N=3, S=1, K=1, K_0=1),
        stationary(gamma=Q(8), K=1, K_0=3),
        *(balanced(seed, side) for seed in (11, 12) for side in (0, Q(1, 20), Q(-1, 20))),
    )
]


@pytest.mark.parametrize("claim", [c for c in STEPS if c.weakened is not None], ids=lambda c: c.id)
def test_weakened_bounds_are_refuted(claim):
    false = claim.replace(name=claim.id + "_false", bound=claim.weakened)
    gaps = [gap(false, values(case, x, claim, m)) for case, x, m in TIGHT]
    assert any(g != 0 for g in gaps) if claim.relation == "==" else min(gaps) < 0


SERVER = [
    c
    for c in discover.claims()
    if c.id in ("fsl.eq7", "fsl.eq8_eq9", "fsl.server_multistep", "fsls.eq2")
]


@pytest.mark.parametrize("claim", SERVER, ids=lambda c: c.id)
def test_server_steps(claim):
    assert len(SERVER) == 4
    refuted = False
    for case, x, b, A in CASES:
        known = {**case._asdict(), **server_quantities(case, x)}
        given = {name: v for name, v in known.items() if name in claim.symbols}
        for line, (_, sign, _) in enumerate(claim.lines):
            assert gap(claim, given, line) == 0 if sign == "==" else gap(claim, given, line) >= 0
        false = gap(claim.replace(bound=claim.weakened), given)
        refuted |= false != 0 if claim.relation == "==" else false < 0
    assert refuted


def test_the_round_is_the_engines_round():
    """The enumerated mean of tilde F after one round is what ft.expected computes."""
    case, x, b, A = instance(0, K=1)
    shocks = [
        (Q(1, 4), VEC(i, j) / 3) for i in (-1, 1) for j in (-1, 1)
    ]  # isotropic: the Hessian weighs both axes
    case = case._replace(noise=lambda i: shocks)
    exact, sigma = quantities(case, x), 2**0.5 / 3
    problem = ft.problems.quadratic_from_arrays(
        np.array(A, dtype=float),
        np.array(b, dtype=float),
        sigma=sigma,
        sigma_0=sigma,
        noise="gaussian",
    )
    found = ft.expected(
        problem,
        "fsl",
        rounds=1,
        x_0=x.astype(float),
        S=case.S,
        **{k: float(getattr(case, k)) for k in ("eta_l", "eta_g", "eta_0", "gamma")},
        K=case.K,
        K_0=case.K_0,
    )
    loss = (found.metrics["loss"] + float(case.gamma) * found.metrics["server_loss"]) / (
        1 + float(case.gamma)
    )
    assert loss[0] == pytest.approx(float(exact["tilde_F_t"]), rel=1e-12)
    assert loss[1] == pytest.approx(float(exact["tilde_F_next"]), rel=1e-12)
