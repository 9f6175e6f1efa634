"""Runs by their definitions, against the engine's exact moments, and by hand."""

import json
from fractions import Fraction as F

import numpy as np
import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import ends_of
from fedtheory.certificates.check_instance import digest_of, read_numbers
from fedtheory.language.claim import Claim
from fedtheory.models import all_models, by_name, fitting
from fedtheory.models.families import by_coordinate, two_point, variance
from fedtheory.models.general.clients import Clients
from fedtheory.search.counterexample import texts
from fedtheory.symbols.run import TABLE
from fedtheory.verdicts import pipeline
from tests.checker.known_statements import FALSE
from tests.models.agree import exact_is_batch

ALL = [
    "loss_0",
    "loss_T",
    "loss_before",
    "gap_T",
    "sq_distance_T",
    "sq_grad_T",
    "best_sq_grad",
    "mean_sq_grad",
]


def line(*slopes, at_star=(), x_0=F(2), S=None, T=2, K=1, noise=(), convex=1, knots=(), **more):
    """Quadratics on a line, or one loss by its slopes between knots."""
    own = (
        [
            dict(
                slope=F(slopes[0]),
                tilt=F(0),
                soft=[],
                bends=[[F(b) - F(a), F(y)] for a, b, y in zip(slopes, slopes[1:], knots)],
            )
        ]
        if knots
        else [dict(slope=F(a), tilt=F(0), soft=[], bends=[]) for a in slopes]
    )
    N = max(len(own), len(at_star) + 1)
    return dict(
        N=N,
        S=S or N,
        T=T,
        K=K,
        convex=convex,
        lipschitz=1,
        losses=[dict(curves=[c]) for c in own],
        at_star=[[F(v)] for v in at_star],
        x_0=[x_0],
        noise=list(noise),
        **more,
    )


def even(sigma):
    return [[F(1, 2), [F(sigma)]], [F(1, 2), [F(-sigma)]]]


def matrices(instance):
    """Hessians and minimisers of an instance of quadratics, in floats."""
    A, b = [], []
    N, d = instance["N"], len(instance["x_0"])
    last = [-sum(v[j] for v in instance["at_star"]) for j in range(d)]
    at_star = [*instance["at_star"], last] if instance["at_star"] else [[0] * d] * N
    for i in range(N):
        f = instance["losses"][min(i, len(instance["losses"]) - 1)]
        H = np.diag([float(c["slope"]) for c in f["curves"]])
        if "turn" in f:
            angle = 2 * np.arctan(float(f["turn"]))
            Q = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
            H = Q.T @ H @ Q
        A.append(H)
        b.append(-np.linalg.solve(H, np.array([float(v) for v in at_star[i]])))
    return A, b


def turned(T=3, **more):
    own = [([F(1), F(1, 4)], F(1, 3)), ([F(1, 2), F(3, 4)], F(-2)), ([F(1), F(1, 8)], F(5, 2))]
    return dict(
        N=3,
        S=3,
        T=T,
        K=2,
        convex=1,
        lipschitz=1,
        at_star=[[F(1), F(-1)], [F(1, 2), F(2)]],
        losses=[
            dict(turn=t, curves=[dict(slope=a, tilt=F(0), bends=[], soft=[]) for a in slopes])
            for slopes, t in own
        ],
        x_0=[F(3), F(-1)],
        noise=[],
        **more,
    )


RUNS = {
    "gradient descent": ("fedsgd", line(2), dict(eta=F(1, 5))),
    "SGD, sampled": (
        "fedsgd",
        line(2, F(1, 2), at_star=[F(3)], S=1, noise=even(F(1, 3))),
        dict(eta=F(1, 4)),
    ),
    "averaging": (
        "fedavg",
        line(2, 1, F(1, 3), at_star=[1, F(-1, 2)], S=2, K=2),
        dict(eta_l=F(1, 4), eta_g=F(3, 2)),
    ),
    "averaging, noisy": (
        "fedavg",
        line(1, 3, at_star=[1], S=1, K=2, noise=even(1)),
        dict(eta_l=F(1, 4), eta_g=F(1)),
    ),
    "averaging in the plane": ("fedavg", turned(), dict(eta_l=F(1, 2), eta_g=F(5, 4))),
    **{
        f"SCAFFOLD {option} {where}": ("scaffold", instance, dict(eta_l=F(1, 4), eta_g=F(1, 2)))
        for option in (1, 2)
        for where, instance in {
            "in the plane": turned(option=option),
            "sampled": line(2, 1, F(1, 3), at_star=[1, F(-1, 2)], S=2, K=2, T=3, option=option),
            "noisy": line(1, 3, at_star=[1], S=1, K=1, T=2, noise=even(1), option=option),
        }.items()
    },
}


@pytest.mark.parametrize("name", RUNS)
def test_runs_agree_with_the_engines_exact_expectations(name):
    method, instance, steps = RUNS[name]
    found = by_name(f"run_{method}").measure(instance, steps, ALL)
    A, b = matrices(instance)
    sigma = float(max((v[0] for _, v in instance["noise"]), default=0))
    problem = ft.problems.quadratic_from_arrays(
        np.array([A[0], *A]),
        np.array([b[0], *b]),
        sigma=sigma,
        noise="rademacher" if sigma else "none",
    )
    option = {"option": {1: "I", 2: "II"}[instance["option"]]} if "option" in instance else {}
    local = {} if method == "fedsgd" else dict(K=instance["K"])
    T = instance["T"]
    seen = ft.expected(
        problem,
        method,
        rounds=T,
        x_0=[float(x) for x in instance["x_0"]],
        S=instance["S"],
        **{k: float(v) for k, v in steps.items()},
        **local,
        **option,
    ).metrics
    close = lambda value, other: abs(float(value) - other) <= 1e-9 * (1 + abs(other))
    assert close(found["sq_distance_T"], seen["sq_distance"][T]) and close(
        found["sq_grad_T"], seen["sq_grad_norm"][T]
    )
    assert close(found["loss_T"] - found["loss_0"], seen["loss"][T] - seen["loss"][0])
    assert close(found["loss_before"] - found["loss_0"], seen["loss"][T - 1] - seen["loss"][0])
    assert close(found["best_sq_grad"], min(seen["sq_grad_norm"]))
    assert close(found["mean_sq_grad"], sum(seen["sq_grad_norm"][:T]) / T)


def test_bent_losses_in_the_plane_agree_with_the_plain_recursion():
    instance = turned(T=2)
    for f, at in zip(instance["losses"], (F(1, 2), F(-1), F(2))):
        for c in f["curves"]:
            c["bends"] = [[-c["slope"], at]]  # one side of a Huber loss
    clients = Clients(instance)
    value = by_name("run_fedavg").measure(
        instance, dict(eta_l=F(1, 2), eta_g=F(1)), ["loss_T", "sq_distance_T"]
    )
    x = np.array(instance["x_0"], dtype=object)
    for _ in range(2):  # rounds of three clients that take two steps of 1/2 each
        ends = [x, x, x]
        for _ in range(2):
            ends = [y - F(1, 2) * clients.grad(i, y) for i, y in enumerate(ends)]
        x = sum(ends) / F(3)
    assert value["sq_distance_T"] == x.dot(x) and value["loss_T"] == clients.F(x)
    step, slope = 1e-6, clients.mean_grad(x)
    for j in range(2):  # gradients are those of the values
        moved = [
            x + s * F(1, 10**6) * np.array([F(int(j == 0)), F(int(j == 1))], dtype=object)
            for s in (1, -1)
        ]
        assert (
            abs(float(clients.F(moved[0]) - clients.F(moved[1])) / (2 * step) - float(slope[j]))
            < 1e-6
        )
    assert sum(
        clients.grad(i, np.array([F(0), F(0)], dtype=object)) for i in range(3)
    ).tolist() == [0, 0]


def test_a_run_by_hand():
    # f = x^2 (slope 2), x_0 = 2, eta = 1/4, noise +-1: x_1 = 1 -+ 1/4, x_2 = x_1 / 2 -+ 1/4.
    instance = line(2, noise=even(1))
    found = by_name("run_fedsgd").measure(
        instance,
        dict(eta=F(1, 4)),
        ["sq_distance_T", "gap_mean", "gap_of_mean", "least_sq_grad", "best_sq_grad"],
    )
    assert found["sq_distance_T"] == F(1, 4) + F(1, 16) + F(1, 64)
    assert found["gap_mean"] == (4 + 1 + F(1, 16)) / 2
    assert found["gap_of_mean"] == (F(13, 8) ** 2 + F(11, 8) ** 2) / 2
    # x_2 among 7/8, 3/8, 5/8, 1/8 after x_1 = 5/4 or 3/4: the last point is always the least
    assert found["least_sq_grad"] == found["best_sq_grad"] == (49 + 9 + 25 + 1) / F(64) / 4 * 4
    assert by_name("run_fedsgd").constants(instance) == dict(
        **dict(N=1, S=1, K=1, T=2, option=1, mu=2, L=2, G=0, zeta=0, sigma=1, growth=0, R=2),
        **dict(sq_distance_0=4, gap_0=4, d=1, sigma_j=1),
    )


@pytest.mark.parametrize(
    "method, takes",
    [("fedsgd", ["eta"]), ("fedavg", ["eta_l", "eta_g"]), ("scaffold", ["eta_l", "eta_g"])],
)
def test_a_batch_agrees_with_fractions(method, takes):
    assert (
        exact_is_batch(
            by_name(f"run_{method}"),
            ["loss_T", "sq_distance_T", "best_sq_grad", "gap_of_mean"],
            takes,
            relaxed=frozenset({"quadratic", "same_curvature", "exact_gradients"}),
        )
        >= 100
    )


@pytest.mark.parametrize(
    "name, wanted",
    [
        ("run_points", ["f_mix", "gap_x", "sq_change", "inner_change"]),
        ("run_cohort", ["cohort_error", "cohort_square", "G_t_sq"]),
    ],
)
def test_points_and_cohorts_in_a_batch_agree_with_fractions(name, wanted):
    assert (
        exact_is_batch(
            by_name(name),
            wanted,
            ["lam"] if name == "run_points" else [],
            relaxed=frozenset({"quadratic", "exact_gradients"}),
        )
        >= 50
    )


def test_conditions_are_read_off_the_instance():
    holds = by_name("run_fedavg").holds
    assert {"convex", "strongly_convex", "quadratic", "same_curvature", "exact_gradients"} <= holds(
        line(1)
    )
    assert "exact_gradients" not in holds(line(1, noise=even(1))) and "same_curvature" not in holds(
        line(1, 2)
    )
    assert "strongly_convex" not in holds(line(1, 0, knots=(1,))) and "quadratic" not in holds(
        line(1, 0, knots=(1,))
    )
    bumpy = line(1, -3, 1, knots=(1, 2), convex=0)
    assert {"bounded_below", "lipschitz"} <= holds(bumpy) and "convex" not in holds(bumpy)
    assert "bounded_below" not in holds(line(1, -3, knots=(1,), convex=0))
    assert "lipschitz" not in holds(dict(bumpy, lipschitz=0))
    assert by_name("run_fedavg").constants(dict(bumpy, lipschitz=0))["L"] == 1
    assert by_name("run_fedavg").constants(bumpy)["L"] == 3


@pytest.mark.parametrize(
    "broken",
    [
        line(1, -1, knots=(1,)),  # said to be convex
        dict(line(1, 2), S=3),
        dict(line(1), T=0),  # counts
        dict(line(1, 2, at_star=[1]), at_star=[[F(1)], [F(1)]]),
        line(1, noise=[[F(1, 2), [F(1)]], [F(1, 2), [F(0)]]]),
        dict(line(1), losses=[dict(turn=F(1), curves=line(1)["losses"][0]["curves"])]),
    ],
)
def test_an_instance_that_does_not_fit_together_certifies_nothing(broken):
    with pytest.raises(Undefined):
        by_name("run_fedavg").constants(broken)


def test_instances_are_documents():
    for _, instance, _ in RUNS.values():
        assert read_numbers(json.loads(json.dumps(texts(instance)))) == instance


def zero(tree):
    return [zero(part) for part in tree] if isinstance(tree, list) else "0"


@pytest.mark.parametrize(
    "name, part",
    [
        ("polyak.constant", "x"),
        ("cohort_bound.over_NS", "grads"),
        ("fedavg_bias.no_drift", "at_star"),
    ],
)
def test_tampered_documents_are_refused(name, part):
    document = json.loads(json.dumps(pipeline.check(FALSE[name], budget=5.0).certificate))
    assert pipeline.replay(document)["status"] == "violated"
    instance = {**document["instance"], part: zero(document["instance"][part])}
    for change in (
        dict(instance=instance),
        dict(setting="run_scaffold"),
        dict(numbers={**document["numbers"], "lam": "-1", "sigma": "-1", "L": "1/1000000"}),
    ):
        changed = {**document, **change}
        with pytest.raises(pipeline.Refused, match="digest"):
            pipeline.replay(changed)
        with pytest.raises(pipeline.Refused):
            pipeline.replay(
                {**changed, "digest": digest_of(changed)}
            )  # where the digest was made to match


def test_every_measured_symbol_is_served():
    served = set().union(*(s.measures for s in all_models() if s.table is TABLE))
    assert {entry.measure for entry in TABLE.values() if entry.measure} == served


def test_every_setting_of_runs_and_points_says_its_dimension():
    """A letter that a setting does not give would be free of its instances: `d = 1` met in a plane."""
    silent = [
        s.name for s in all_models() if s.table is TABLE and s.measures and "d" not in s.gives
    ]
    assert silent == []
    point = dict(loss=[dict(slope=F(1), tilt=F(0), soft=[], bends=[])] * 2, lipschitz=1)
    found = by_name("run_points").constants(dict(point, x=[F(0), F(1)], y=[F(1), F(0)]))
    assert found["d"] == 2


def test_a_letter_that_a_setting_s_instances_do_not_say_is_free_of_none():
    """Points have no S, no noise: a claim that names these is none of points, where it would be
    asked for any S beside the same points. eta, which nothing has, is any number."""
    f_x, f_y, inner_xy, sq_xy, L, S, sigma, eta, d = (
        TABLE[name].symbol
        for name in ("f_x", "f_y", "inner_xy", "sq_xy", "L", "S", "sigma", "eta", "d")
    )
    points = by_name("run_points")

    def fits(*more, add=0):
        claim = Claim(
            id="mine.descent",
            cites="x",
            symbols=TABLE,
            measures=f_y,
            bound=f_x + inner_xy + L / 2 * sq_xy + add,
            assumes=more,
        )
        return points in fitting(claim)

    assert fits() and fits(Eq(d, 1)) and fits(eta <= 1) and fits(Eq(S, d))
    assert not fits(S >= 2) and not fits(add=sigma) and not fits(Eq(d, 1), S <= 3)


def test_noise_along_each_coordinate_by_hand():
    """1/2 on +-3 in each of four coordinates: 3 along each, 6 together; along the first alone, 3."""
    across, along = two_point(F(3), "even", 4, True), two_point(F(3), "even", 4)
    assert (variance(across), by_coordinate(across, F(6))) == (36, 3)
    assert (variance(along), by_coordinate(along, F(3))) == (9, 3)
    skewed = [[F(4, 5), [F(1), F(2)]], [F(1, 5), [F(-4), F(-8)]]]  # variances 4 and 16
    assert by_coordinate(skewed, None) == 4


# Laws of chance that an instance breaks


def alike_losses(law, S=2, T=1, **more):
    """Two clients, or three, with x^2/2 - g_i x."""
    return line(1, at_star=[3, F(-3, 2)], x_0=F(0), S=S, T=T, breaks=law, **more)


LAWS_BY_HAND = {
    # always client 1, whose gradient at 0 is 3: from 0 to -3
    "the same client": (alike_losses("uniform_cohort", S=1), "uniform_cohort", 9),
    # one draw of size 1 of all three in both rounds: from 0 to -n to -n
    "one draw": (line(1, at_star=[0, 0], x_0=F(0), noise=even(1), breaks="independent_noise"),
                 "independent_noise", 1),
    # from 0 to -(n - n + n)/3, then to -(-n + n - n)/3, for noise is all that is left of a step
    "a draw that turns": (
        line(1, at_star=[0, 0], x_0=F(0), noise=even(1), breaks="independent_noise", turns=1),
        "independent_noise", F(1, 9)),
    "a mean": (line(1, x_0=F(0), T=1, noise=[[F(1), [F(2)]]], breaks="noise"), "noise", 4),
    # weights 1/2, 1/4, 1/4; F's gradient at 0 stays 0, so the third client's is that of the others,
    # weighed: all three move at once, by N p_i each
    "weights": (alike_losses("equal_weights", S=3, p=[F(1, 2), F(1, 4), F(1, 4)]),
                "equal_weights", 0),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS_BY_HAND)
def test_what_breaks_a_law_by_hand(name):
    instance, law, value = LAWS_BY_HAND[name]
    setting = by_name("run_fedsgd")
    setting.constants(instance)
    found = setting.measure(instance, dict(eta=F(1)), ["sq_distance_T"])["sq_distance_T"]
    assert found == value and law not in setting.holds(instance)
    lost = {law, "coordinate_noise", "growing_noise"} if law == "noise" else {law}
    others = {"equal_weights", "uniform_cohort", "independent_noise", "noise"} - lost
    assert others <= setting.holds(instance)


@pytest.mark.parametrize(
    "wrong",
    [
        dict(breaks="quadratic"),
        dict(breaks="noise", turns=1),
        dict(turns=1),
        dict(breaks="uniform_cohort", p=[F(1, 2), F(1, 4), F(1, 4)]),
        dict(breaks="independent_noise", noise=[[F(1), [F(2)]]]),
        dict(breaks="noise", noise=[[F(1, 2), [F(2)]]]),
    ],
)
def test_what_is_broken_is_one_law_and_says_so(wrong):
    with pytest.raises(Undefined):
        by_name("run_fedsgd").constants(line(1, at_star=[3, F(-3, 2)], **wrong))


def test_what_makes_no_difference_is_not_broken():
    holds = by_name("run_fedsgd").holds
    same = line(1, at_star=[3, F(-3, 2)], p=[F(1, 3)] * 3, breaks="equal_weights")
    assert "equal_weights" in holds(same)
    assert "uniform_cohort" in holds(line(1, at_star=[3], breaks="uniform_cohort"))
    assert "independent_noise" in holds(line(1, breaks="independent_noise"))
    assert "noise" in holds(line(1, noise=even(1), breaks="noise"))


COHORTS_BY_HAND = {
    # gradients 3, 0, 0, of mean 1: the first is 2 away, and G_t^2 = 6/3
    "the same client": (dict(breaks="uniform_cohort"), 4, 2),
    # their mean by weights 1/2, 1/4, 1/4 is 3/2, each is 3/2 away
    "weights": (dict(breaks="equal_weights", p=[F(1, 2), F(1, 4), F(1, 4)]), F(9, 4), F(9, 4)),
    "one draw": (dict(breaks="independent_noise", S=3, noise=even(2)), 4, 2),
    "a draw that turns": (dict(breaks="independent_noise", S=3, noise=even(3), turns=1), 1, 2),
    "a mean": (dict(breaks="noise", S=3, noise=[[F(1), [F(2)]]]), 4, 2),
}


@pytest.mark.parametrize("name", COHORTS_BY_HAND)
def test_a_cohort_that_breaks_a_law_by_hand(name):
    more, error, dissimilarity = COHORTS_BY_HAND[name]
    setting = by_name("run_cohort")
    instance = dict(dict(S=1, grads=[[F(3)], [F(0)], [F(0)]], noise=[]), **more)
    found = setting.measure(instance, {}, ["cohort_error", "G_t_sq"])
    assert found == dict(cohort_error=error, G_t_sq=dissimilarity)
    G = setting.constants(instance)["G"]
    low, high = ends_of(G * G)
    assert low <= dissimilarity <= high
    assert more["breaks"] not in setting.holds(instance)
    for wrong in (
        dict(instance, p=[F(1)]),
        dict(instance, breaks="convex"),
        dict(instance, turns=2),
    ):
        with pytest.raises(Undefined):
            setting.constants(wrong)


@pytest.mark.parametrize("name", ["run_fedavg", "run_scaffold", "run_cohort"])
def test_a_batch_that_breaks_laws_agrees_with_fractions(name):
    setting = by_name(name)
    relaxed = setting.ensures - {"convex", "strongly_convex", "lipschitz", "sampled_by_weight"}
    relaxed |= {"sampled_by_weight", "growing_noise", "coordinate_noise"}
    cohort = name == "run_cohort"
    wanted = ["cohort_error", "cohort_square"] if cohort else ["loss_T", "sq_grad_T"]
    takes = [] if cohort else ["eta_l", "eta_g"]
    assert exact_is_batch(setting, wanted, takes, count=12, relaxed=relaxed) >= 80
