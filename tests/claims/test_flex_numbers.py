"""Flex's right-hand sides against a second transcription: devices one by one, every outcome of work
enumerated."""

import math
from fractions import Fraction as Q
from itertools import product

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.models import by_name
from fedtheory.participation import moments
from tests.claims import test_flex_said

# L, mu, G; the data and the work of each device; tau rounds, squared distance at the start
CASES = {
    "unlike": dict(
        L=Q(3),
        mu=Q(1, 2),
        G=Q(2),
        E=3,
        tau=7,
        start=Q(5, 4),
        p=[Q(1, 2), Q(3, 10), Q(1, 5)],
        Gamma=[Q(1), Q(1, 3), Q(2)],
        s2=[Q(1), Q(0), Q(4)],
        pmf=[
            [Q(1, 10), Q(1, 5), Q(3, 10), Q(2, 5)],
            [0, Q(1, 3), Q(1, 3), Q(1, 3)],
            [Q(1, 2), 0, 0, Q(1, 2)],
        ],
    ),
    "alike": dict(
        L=Q(1, 3),
        mu=Q(1, 7),
        G=Q(1, 5),
        E=2,
        tau=40,
        start=Q(0),
        p=[Q(1, 2), Q(1, 2)],
        Gamma=[Q(1), Q(3)],
        s2=[Q(2), Q(1)],
        pmf=[[Q(1, 4), Q(1, 4), Q(1, 2)]] * 2,
    ),
    "alike, many": dict(
        L=Q(2),
        mu=Q(2),
        G=Q(3),
        E=2,
        tau=1,
        start=Q(7),
        p=[Q(7, 10), Q(1, 10), Q(1, 10), Q(1, 10)],
        Gamma=[Q(1), Q(3), Q(0), Q(0)],
        s2=[Q(2), Q(1), Q(0), Q(0)],
        pmf=[[Q(0), Q(3, 4), Q(1, 4)]] * 4,
    ),
    "one device": dict(
        L=Q(1),
        mu=Q(1, 9),
        G=Q(1),
        E=1,
        tau=3,
        start=Q(2),
        p=[Q(1)],
        Gamma=[Q(0)],
        s2=[Q(0)],
        pmf=[[Q(0), Q(1)]],
    ),
    "full work": dict(
        L=Q(5),
        mu=Q(1),
        G=Q(1, 2),
        E=4,
        tau=100,
        start=Q(9),
        p=[Q(1, 3), Q(2, 3)],
        Gamma=[Q(1, 2), Q(1)],
        s2=[Q(1), Q(1, 2)],
        pmf=[[Q(0)] * 4 + [Q(1)]] * 2,
    ),
}
ALIKE = [name for name, case in CASES.items() if case["pmf"] == [case["pmf"][0]] * len(case["pmf"])]
FULL = ["one device", "full work"]


def outcomes(case, scheme):
    """(probability, p_tau, s) of every round that is not discarded."""
    p, E = case["p"], case["E"]
    found = []
    for s in product(range(E + 1), repeat=len(p)):
        chance = math.prod(case["pmf"][k][steps] for k, steps in enumerate(s))
        K = s.count(E)
        if not chance or scheme == "A" and not K:
            continue
        found.append(
            (
                chance,
                {
                    "A": lambda: [len(p) * w / K if steps == E else Q(0) for w, steps in zip(p, s)],
                    "B": lambda: p,
                    "C": lambda: [E * w / steps if steps else Q(0) for w, steps in zip(p, s)],
                }[scheme](),
                s,
            )
        )
    total = sum(chance for chance, _, _ in found)
    return [(chance / total, c, s) for chance, c, s in found]


def theorem(case, scheme, theta, M=None, printed=False, since=0):
    """Right-hand side of (3), and the learning rate of round tau."""
    p, E, L, mu, G, tau = (case[name] for name in ("p", "E", "L", "mu", "G", "tau"))
    law, devices = outcomes(case, scheme), range(len(p))
    mean = lambda value: sum(chance * value(c, s) for chance, c, s in law)
    ps = mean(lambda c, s: sum(c[k] * s[k] for k in devices))
    gamma = max(32 * E * (1 + theta) * L / (mu * ps), 4 * E**2 * theta / ps)
    ratios = {mean(lambda c, s, k=k: c[k] * s[k]) / p[k] for k in devices}
    M = (tau - since if len(ratios) > 1 else 0) if M is None else M
    D = (
        64
        * E
        * sum(mean(lambda c, s, k=k: c[k] * s[k]) * case["Gamma"][k] for k in devices)
        / (mu * ps)
    )

    def B(c, s):
        work = sum(c[k] * s[k] for k in devices)
        over = max(sum(c) - 2, 0)
        last = 2 * work + theta * over if printed else work + theta * over * work
        return (
            2 * (2 + theta) * L * sum(c[k] * s[k] * case["Gamma"][k] for k in devices)
            + (2 + mu / (2 * (1 + theta) * L)) * E * (E - 1) * G**2 * last
            + 2 * E * G**2 * sum(c[k] ** 2 / p[k] * s[k] for k in devices)
            + sum(c[k] ** 2 * s[k] * case["s2"][k] for k in devices)
        )

    V = max(gamma**2 * case["start"], (16 * E / (mu * ps)) ** 2 * mean(B) / E)
    t = tau - since
    return dict(
        bound=(M * D + V) / (t * E + gamma),
        eta=16 * E / (mu * ps) / (t * E + gamma),
        D=D,
        V=V,
        gamma=gamma,
        ratio_sup=max(c[k] / p[k] for _, c, s in law for k in devices),
    )


def given(case, scheme, theta, **more):
    """Values of a claim's symbols."""
    found = theorem(case, scheme, theta)
    return {
        **moments.moments(scheme, case["p"], case["pmf"], case["E"], case["Gamma"], case["s2"]),
        **{name: case[name] for name in ("L", "mu", "G", "E", "tau")},
        "N": len(case["p"]),
        "theta": theta,
        "sq_dist_0": case["start"],
        "eta": found["eta"],
        "ratio_sup": found["ratio_sup"],
        **more,
    }


def agree(claim, values, expected, line=0, strict=True):
    values = {
        name: value
        for name, value in values.items()
        if name in claim.symbols and claim.symbols[name].definition is None
    }
    found = claim.evaluate(values, strict=strict, line=line)
    if found.exact is not None and isinstance(expected, (Q, int)):
        assert found.exact == expected
    assert float(found) == pytest.approx(float(expected), rel=1e-12)
    assert claim.fast(
        {name: float(value) for name, value in values.items()}, line=line
    ) == pytest.approx(float(expected), rel=2e-12)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scheme", "ABC")
def test_moments_are_those_of_the_enumerated_rounds(case, scheme):
    case = CASES[case]
    law, devices = outcomes(case, scheme), range(len(case["p"]))
    found = moments.moments(scheme, case["p"], case["pmf"], case["E"], case["Gamma"], case["s2"])
    mean = lambda value: sum(chance * value(c, s) for chance, c, s in law)
    pull = [mean(lambda c, s, k=k: c[k] * s[k]) for k in devices]
    assert found["ps"] == sum(pull) and found["ps_Gamma"] == sum(
        a * b for a, b in zip(pull, case["Gamma"])
    )
    assert found["ps_plus"] == mean(
        lambda c, s: max(sum(c) - 2, 0) * sum(a * b for a, b in zip(c, s))
    )
    assert found["p_plus"] == mean(lambda c, s: max(sum(c) - 2, 0))
    assert found["p2s_sigma"] == mean(
        lambda c, s: sum(a * a * b * v for a, b, v in zip(c, s, case["s2"]))
    )
    assert found["p2s_over_p"] == mean(
        lambda c, s: sum(a * a * b / w for a, b, w in zip(c, s, case["p"]))
    )
    assert found["ratio_max"] == max(a / w for a, w in zip(pull, case["p"]))
    assert found["ratio_min"] == min(a / w for a, w in zip(pull, case["p"]))
    assert moments.limit_weights(scheme, case["p"], case["pmf"], case["E"]) == [
        a / sum(pull) for a in pull
    ]
    if scheme == "A":
        assert found["E_inv_K"] == mean(lambda c, s: Q(1, s.count(case["E"])))
        assert found["plus_A"] == mean(lambda c, s: max(sum(c) - 2, 0) * sum(c))


def test_discarded_rounds_may_count():
    case = CASES["alike"]  # K_tau = 0 has probability 1/4
    found = moments.moments("A", case["p"], case["pmf"], 2, omit=False)
    assert found["ps"] == Q(3, 4) * 2 and found["E_inv_K"] == Q(1, 2) * 1 + Q(1, 4) * Q(1, 2)


THETA = {"A": lambda case: len(case["p"]), "B": lambda case: 1, "C": lambda case: case["E"]}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("scheme", "ABC")
def test_theorem3_1(case, scheme):
    case = CASES[case]
    for theta in (Q(THETA[scheme](case)), Q(THETA[scheme](case)) + Q(1, 3)):
        agree(
            ft.claim("flex.theorem3_1"),
            given(case, scheme, theta),
            theorem(case, scheme, theta)["bound"],
        )
        agree(
            ft.claim("flex.theorem3_1_printed"),
            given(case, scheme, theta),
            theorem(case, scheme, theta, printed=True)["bound"],
        )


@pytest.mark.parametrize("scheme, case", [(scheme, case) for scheme in "ABC" for case in ALIKE])
def test_table1_homogeneous(scheme, case):
    """Theorem 3.1, device by device, is what the cell's formula says in E[s], E[1/s] and E[1/K]."""
    case = CASES[case]
    theta = Q(THETA[scheme](case))
    assert len(ALIKE) >= 3
    agree(
        ft.claim(f"flex.table1_{scheme}_hom_explicit"),
        given(case, scheme, theta),
        theorem(case, scheme, theta)["bound"],
    )
    agree(
        ft.claim("flex.theorem3_1"),
        given(case, scheme, theta),
        theorem(case, scheme, theta, M=0)["bound"],
    )


@pytest.mark.parametrize("case", CASES)
def test_table1_heterogeneous_and_the_limit(case):
    case = CASES[case]
    for scheme in "AB":
        theta = Q(THETA[scheme](case))
        expected = theorem(case, scheme, theta, M=case["tau"])
        values, strict = given(case, scheme, theta), case is CASES["unlike"]
        agree(
            ft.claim(f"flex.table1_{scheme}_het_explicit"), values, expected["bound"], strict=strict
        )
        agree(
            ft.claim(f"flex.table1_{scheme}_het"), values, expected["D"] / case["E"], strict=strict
        )
        agree(ft.claim("flex.suboptimal_DE"), values, expected["D"] / case["E"], strict=strict)
        # (3) tends to that
        far = theorem({**case, "tau": 10**12}, scheme, theta, M=10**12)["bound"]
        assert float(far) == pytest.approx(float(expected["D"] / case["E"]), rel=1e-6, abs=1e-6)
    claim, theta = ft.claim("flex.table1_C_het_explicit"), Q(case["E"])
    values = {**given(case, "C", theta), "I_sum": Q(2, 3)}
    agree(claim, values, theorem(case, "C", theta, M=Q(2, 3))["bound"])
    inverse = [sum(chance * Q(1, s) for s, chance in enumerate(row) if s) for row in case["pmf"]]
    agree(claim, values, case["E"] ** 2 * sum(a * b for a, b in zip(case["p"], inverse)), line=1)
    agree(
        claim,
        values,
        case["E"] ** 2 * sum(a**2 * b * c for a, b, c in zip(case["p"], case["s2"], inverse)),
        line=2,
    )
    for line in (1, 2):  # identities
        left = claim.evaluate_left(
            {k: v for k, v in values.items() if k in claim.symbols}, line=line
        )
        assert (
            left.exact
            == claim.evaluate(
                {k: v for k, v in values.items() if k in claim.symbols}, line=line
            ).exact
        )


@pytest.mark.parametrize("case", CASES)
def test_fedavg_is_full_work(case):
    case = {**CASES[case], "pmf": [[Q(0)] * CASES[case]["E"] + [Q(1)]] * len(CASES[case]["p"])}
    for scheme in "ABC":  # all three coincide
        values, expected = given(case, scheme, Q(1)), theorem(case, scheme, Q(1))
        agree(ft.claim("flex.fedavg_special"), values, 0)
        agree(ft.claim("flex.fedavg_special"), values, expected["bound"], line=1)
        assert expected["bound"] == theorem(case, scheme, Q(1), M=0)["bound"]


@pytest.mark.parametrize("case", CASES)
def test_corollary3_2_1(case):
    """Theorem 3.1 from tau_0 on, for the new devices."""
    case = CASES[case]
    Delta, shift, since = Q(4, 9), Q(1, 5), case["tau"] - 1
    again = {**case, "start": (Q(2, 3) + shift) ** 2}
    theta = Q(case["E"])
    expected = theorem(again, "C", theta, since=since)
    tilde = {"tilde_" + name: value for name, value in given(case, "C", theta).items()}
    agree(
        ft.claim("flex.corollary3_2_1"),
        {
            **tilde,
            **given(case, "C", theta),
            "tau_0": since,
            "Delta": Delta,
            "shift": shift,
            "eta": expected["eta"],
        },
        expected["bound"],
    )
    before = theorem(case, "C", theta)
    claim, n, n_l, Gamma_l = ft.claim("flex.corollary3_2_1_start_explicit"), 30, 7, Q(2, 5)
    agree(
        claim,
        {
            **given(case, "C", theta),
            "n": n,
            "n_l": n_l,
            "Gamma_l": Gamma_l,
            "Delta": Q(0),
            "shift": Q(0),
        },
        2 * before["bound"] + 16 * case["L"] * Gamma_l * n_l**2 / (case["mu"] * (n + n_l)) ** 2,
    )


@pytest.mark.parametrize(
    "L, mu, n, n_l, Gamma", [(2, 1, 10, 5, 3), (7, Q(1, 3), 4, 90, Q(1, 8)), (1, 1, 1, 1, 0)]
)
def test_theorem3_2(L, mu, n, n_l, Gamma):
    factor = 2 * math.sqrt(2 * L) / mu * math.sqrt(Gamma)
    agree(
        ft.claim("flex.theorem3_2_arrival"),
        dict(L=L, mu=mu, n=n, n_l=n_l, Gamma_l=Gamma),
        factor * n_l / (n + n_l),
    )
    agree(
        ft.claim("flex.theorem3_2_departure"),
        dict(L=L, mu=mu, n=n, n_l=n_l, tilde_Gamma_l=Gamma),
        factor * n_l / n,
    )


@pytest.mark.parametrize(
    "L, mu, p_l, Gamma, W, gap",
    [
        (2, 1, Q(1, 4), 3, 5, 1),
        (1, 1, Q(1, 2), 0, Q(1, 3), 2),
        (9, 2, Q(1, 100), Q(1, 7), 10, Q(1, 50)),
    ],
)
def test_corollary4_0_2_is_refused_outside_its_sphere(L, mu, p_l, Gamma, W, gap):
    claim = ft.claim("flex.corollary4_0_2")
    radius = gap / ((2 * math.sqrt(2 * L) / mu * p_l * math.sqrt(Gamma) + 1) * p_l * W)
    values = dict(L=L, mu=mu, p_l=p_l, Gamma_l=Gamma, W=W, gap_new=gap)
    assert claim.evaluate({**values, "dist_old": radius * (1 - 1e-9)}).exact == 0
    with pytest.raises(ft.errors.InvalidInput, match=r"\(7\)"):
        claim.evaluate({**values, "dist_old": radius * (1 + 1e-9)})


DEPARTURES = [
    dict(V_0=Q(9), gamma_0=Q(20), D_0=Q(3), E=5, tau_0=10, Gamma_l=Q(1, 2)),
    dict(V_0=Q(100), gamma_0=Q(3), D_0=Q(1, 4), E=1, tau_0=50, Gamma_l=Q(2)),
    dict(V_0=Q(2), gamma_0=Q(7), D_0=Q(40), E=2, tau_0=3, Gamma_l=Q(1, 9)),
]


@pytest.mark.parametrize("case", DEPARTURES)
def test_departures(case):
    V, gamma, D, E, tau_0, Gamma_l = (
        case[name] for name in ("V_0", "gamma_0", "D_0", "E", "tau_0", "Gamma_l")
    )
    f_0 = lambda tau: ((tau - tau_0) * D + V) / (tau * E + gamma)
    V_1 = V / (tau_0 * E + gamma) + Gamma_l
    f_1 = lambda tau: V_1 / ((tau - tau_0) * E + gamma)
    values = {**case, "V_1": V_1, "gamma_1": gamma}
    agree(ft.claim("flex.corollary4_0_3"), {**values, "T": tau_0 + 9}, f_0(tau_0 + 9), strict=False)
    # From the delay on (8) holds, before it does not; f_0 falls or rises to D/E
    lowest = min(f_0(tau_0), D / E)
    assert all(f_0(tau) >= lowest for tau in range(tau_0, tau_0 + 200))
    delay = max(0, (V_1 / lowest - gamma) / E)
    agree(ft.claim("flex.eq9_explicit"), values, delay)
    assert lowest == f_1(tau_0 + delay) if delay else lowest >= f_1(tau_0)
    claim = ft.claim("flex.eq9_at_T_explicit")
    if V * gamma <= V_1 * (tau_0 * E + gamma):
        x = float(claim.evaluate(values))
        assert x >= 0 and float(f_0(tau_0 + Q(x))) == pytest.approx(
            float(f_1(tau_0 + Q(x))), rel=1e-12
        )
        agree(claim, values, x)
    else:
        with pytest.raises(ft.errors.InvalidInput, match="f_0 <= f_1 at tau_0"):
            claim.evaluate(values)
    # (8) is what corollary 4.0.3 insists on
    claim, T = ft.claim("flex.corollary4_0_3"), tau_0 + math.ceil(delay) + 1
    assert claim.evaluate({**values, "T": T}) >= claim.evaluate_left({**values, "T": T})
    if delay > 2:
        with pytest.raises(ft.errors.InvalidInput, match=r"\(8\)"):
            claim.evaluate({**values, "T": tau_0 + 1})


@pytest.mark.parametrize("case", CASES)
def test_schemes(case):
    case = CASES[case]
    E, p = case["E"], case["p"]
    B, A = outcomes(case, "B"), outcomes(case, "A")
    for k in range(len(p)):
        mean = lambda law, value: sum(chance * value(c, s) for chance, c, s in law)
        E_s, share = mean(B, lambda c, s: s[k]), mean(A, lambda c, s: c[k]) / p[k]
        sums = (
            sum(p[j] * mean(B, lambda c, s: s[j]) for j in range(len(p))),
            mean(A, lambda c, s: sum(c)),
        )
        claim = ft.claim("flex.bias_A_B")
        values = dict(
            p_k=p[k],
            E_s_k=E_s,
            sum_weight_B=sums[0],
            E_complete_k=share,
            sum_weight_A=sums[1],
            sq_bias=Q(3, 8),
        )
        agree(claim, values, moments.limit_weights("B", p, case["pmf"], E)[k])
        agree(claim, values, moments.limit_weights("A", p, case["pmf"], E)[k], line=1)
        agree(claim, values, Q(3, 8), line=2)
        agree(ft.claim("flex.scheme_C_unbiased"), dict(p_k=p[k], E=E, s_k=1), p[k] * E)
        agree(ft.claim("flex.scheme_C_unbiased"), dict(p_k=p[k], E=E, s_k=E), 1, line=1)
    agree(ft.claim("flex.jensen_s"), dict(E_s=E, E_inv_s=Q(1, E)), Q(1, E))
    assert ft.claim("flex.fig1_gains").cells() == [
        ("E=5, s=3", Q(5, 3), Q(5, 3)),
        ("E=5, s=4", Q(5, 4), Q(5, 4)),
        ("E=5, s=5", 1, 1),
    ]


@pytest.mark.parametrize("event", ("arrival", "departure"))
def test_a_shift_worked_by_hand(event):
    """F = x^2/2 of 1 point, F_l = (x - 1)^2/2 of 2: both together are least at 2/3, where F' = 2/3;
    at 0, F_l' = -1, (F_l' 2)/3 = -2/3, and F_l is 1/2 above its least."""
    n = 1 if event == "arrival" else 3
    claim = ft.claim(
        {"arrival": "flex.step3_2_arrival", "departure": "flex.step3_2_departure"}[event]
    )
    setting = by_name(f"flex_{event}")
    instance = dict(event=event, n=[1, 2], a=[[Q(1)], [Q(1)]], b=[[Q(0)], [Q(1)]])
    names = {e.name for e in claim.quantities.values()}
    steep, slope = sorted(names - {"shift"}, key=lambda name: "_l_" in name)
    values = {**setting.constants(instance), **setting.measure(instance, {}, names)}
    assert (values["n"], values["shift"], values[steep], values[slope]) == (n, Q(2, 3), Q(2, 3), 1)
    values = {name: values[name] for name in claim.symbols if name in values}
    for line, right in enumerate((Q(2, 3), Q(2, 3), 1)):
        agree(claim, values, right, line=line)


def test_a_bound_worked_by_hand():
    """L = mu = E = N = 1, full work, no noise: gamma = 64, B = 2 G^2 = 2, V = max(64^2/16, 16^2 2)
    = 512, tau = 64."""
    agree(ft.claim("flex.theorem3_1"), WORKED, 4)


WORKED = dict(
    L=1,
    mu=1,
    G=1,
    E=1,
    tau=64,
    theta=1,
    ps=1,
    ps_Gamma=0,
    ps_plus=0,
    p2s_over_p=1,
    p2s_sigma=0,
    ratio_min=1,
    ratio_max=1,
    ratio_sup=1,
    sq_dist_0=Q(1, 16),
    eta=Q(16, 128),
)


def test_the_proof_of_theorem_3_1_worked_by_hand():
    """There x = 128, V/(x + 1) = 512/129. In round 0, at eta_0 = 16/64 = 1/4, eta_1 being 16/65,
    (1 - 1/8)/16 + 2/16 = 23/128."""
    for n, right in enumerate((1, 4, 256)):
        agree(ft.claim("flex.step3_1_start"), WORKED, right, line=n)
    level = ft.claim("flex.step3_1_level")
    agree(level, WORKED, Q(512, 129))
    agree(level, WORKED, Q(1, 129), line=1)
    assert level.evaluate_left({n: v for n, v in WORKED.items() if n in level.symbols}).exact == (
        (1 - Q(8, 128)) * 4 + Q(512, 128**2)
    )
    agree(ft.claim("flex.step3_1_round"), {**WORKED, "tau": 1, "eta": Q(16, 65)}, Q(23, 128))


def test_assumption_3_5_and_the_learning_rate_are_asked_for():
    claim, case = ft.claim("flex.theorem3_1"), CASES["unlike"]
    values = {
        name: value for name, value in given(case, "C", Q(3)).items() if name in claim.symbols
    }
    claim.evaluate(values)
    with pytest.raises(ft.errors.InvalidInput, match="assumption 3.5"):
        claim.evaluate({**values, "ratio_sup": Q(4)})
    with pytest.raises(ft.errors.InvalidInput, match="learning rate"):
        claim.evaluate({**values, "eta": values["eta"] * 2})
    assert [a.name for a in claim.admits({**values, "ratio_sup": Q(4)})] == ["assumption 3.5"]
    with pytest.raises(ft.errors.InvalidInput, match="some work"):
        claim.evaluate({**values, "ps": 0})


def test_every_explicit_claim_has_been_transcribed():
    source = open(__file__).read() + open(test_flex_said.__file__).read()
    for claim in discover.claims():
        if claim.paper == "flex" and claim.lines and claim.kind == "exact":
            names = {
                claim.id,
                *(claim.id.replace(f"_{scheme}_h", "_{scheme}_h") for scheme in "ABC"),
            }
            assert any(f'"{name}"' in source for name in names) or claim.id in (
                "flex.eq2",
                "flex.eq2_printed",
                "flex.corollary4_0_3_loss",
            )  # numbers are given, not computed
