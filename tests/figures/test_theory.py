"""Theory against practice: the plotted numbers against closed forms and the statements
themselves."""

from functools import partial
from random import Random

import numpy as np
import pytest
from matplotlib.figure import Figure

import fedtheory as ft
from fedtheory import discover, figures
from fedtheory.errors import InvalidInput
from fedtheory.figures import (
    _slack,
    _store,
    _theory,
    _worst,
    mutants_fsl,
    theory_flex,
    theory_fsl,
    theory_lamb,
    theory_mixed,
    vacuity_fsl,
)
from fedtheory.models import by_name
from fedtheory.participation import Arrival, Participation, distribution
from fedtheory.problems.mixed import mixed_minimizer
from tests.figures.looks import wrong


def saved(name, data, tmp_path):
    """The arrays as a figure is drawn from them: checked, saved and loaded."""
    _store.save_arrays(tmp_path / f"{name}-smoke-0.npz", _store.check_arrays(name, data))
    return _store.load_arrays(tmp_path / f"{name}-smoke-0.npz")


def looks_well(name, data, tmp_path):
    record, kept = figures.figure(name), saved(name, data, tmp_path)
    assert len({len(row) for row in record.rows(kept)}) == 1
    assert wrong(record, kept) == []
    return True


def bound(figure, id, T):
    """The bound that a figure plots at T rounds."""
    return compared(figure, id, T, trials=0).right[0]


def compared(figure, id, T, trials, **settings):
    if figure is theory_fsl:
        return theory_fsl.compare_panel(id, [T], trials=trials, **settings)
    if figure is theory_lamb:
        return theory_lamb.compare_panel(id, [T], trials)
    own = theory_mixed.panel_settings(id)
    of = theory_mixed.theory_problem(id)
    return theory_mixed.compare_longest(id, *of, [T], trials=trials, **own)


def letters(figure, id, T):
    found = _theory.letters_at(compared(figure, id, T, trials=0), T)
    claim = discover.claim(_theory.claim_id(id))
    return {name: value for name, value in found.items() if name in claim.symbols}


def test_the_excess_and_the_ceiling_by_hand():
    # f_0 = (x - 3)^2 / 2, F = (x - 0)^2 / 2, gamma = 1/2: F~ = (x^2 + (x - 3)^2 / 2) / 3, least at
    # 1: (1 + 2) / 3
    of = ft.problems.quadratic_from_arrays([1.0], [[3.0], [0.0]])
    assert theory_fsl.modified_excess(of, np.array([2.0])) == pytest.approx((4 + 0.5) / 3 - 1)
    # kappa = max(1/2, 1/2 + 3/4) = 5/4: min(1, (9/4) / (5/2)) / (8 * 3/2) = 3/40
    assert 4 * letters(theory_fsl, theory_fsl.THEOREM, 10)["eta_0"] == pytest.approx(0.075)


@pytest.mark.parametrize("id", theory_fsl.TITLES)
def test_the_plotted_numbers_are_inside_the_hypotheses(id):
    claim = discover.claim(_theory.claim_id(id))
    for T in (5, 1280):
        at = letters(theory_fsl, id, T)
        assert not claim.admits(at)
        longer = dict(at, eta_0=2 * at["eta_0"], eta_l=2 * at["eta_l"])
        assert claim.id == "fsl.theorem2" or claim.admits(longer)


def test_theorem_2_by_hand():
    at = letters(theory_fsl, theory_fsl.THEOREM, 10)
    u, kappa, Psi = 4 * at["eta_0"], 1.25, 0.25 / 4 + 1 / 8 + 4 / 7 / 4
    Phi = 0.25 * Psi + 0.5 / 4 * (0.5 + 4 / 7) + 2.5 / 4
    h = 1 - u * 1.5 / 2 * (4.5 + 16 * kappa * u)
    start = theory_fsl.modified_excess(*theory_fsl.theory_problem())
    right = start / (10 * u) + 5 * u * Psi + 8 * u**2 * (0.5 * kappa / 1.5 * 0.09 + Phi)
    assert bound(theory_fsl, theory_fsl.THEOREM, 10) == pytest.approx(right / h)


@pytest.mark.parametrize("id", ["fsl.theorem2", "fsl.corollary1_explicit", theory_fsl.SGD])
def test_the_plotted_expectation_is_the_least_of_the_rounds(id):
    of, x_0 = theory_fsl.theory_problem(id)
    at = letters(theory_fsl, id, 20)
    hyper = {name: at[name] for name in ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")}
    hyper.update({name: int(hyper[name]) for name in ("K", "K_0", "S")})
    e = ft.expected(of, "fsl", rounds=20, x_0=x_0, **hyper).metrics["sq_tilde_grad_norm"]
    found = compared(theory_fsl, id, 20, trials=400)
    (exact,), (mean,), (low,), (high,) = found.left_exact, found.left, found.low, found.high
    assert exact == pytest.approx(e[:20].min(), rel=1e-9)
    assert low < mean < high and abs(mean - exact) < 5 * (high - low) / 2.5 / np.sqrt(400)
    assert exact <= found.right[0]


def test_the_cases_of_a_corollary_share_their_runs():
    """The bounds differ; the steps, and with them the runs, do not."""
    first, *others = (theory_fsl.compare_panel(id, [5, 20], trials=8) for id in theory_fsl.CASES)
    for other in others:
        assert other.left == pytest.approx(first.left, rel=1e-12)
        assert other.left_exact == pytest.approx(first.left_exact, rel=1e-12)


def test_only_instances_of_that_many_rounds_are_searched():
    setting = _worst.of_rounds(by_name("fsl_run"), 20)
    assert {setting.shapes(Random(n), frozenset())["rounds"] for n in range(5)} == {"20"}


def test_a_false_bound_is_reached_by_the_worst_case():
    claim = discover.claim("fsl.theorem2")
    true, false = (
        _worst.worst_ratio(claim, (20,), 0.2),
        _worst.worst_ratio(claim.replace(bound=claim.bound / 20), (20,), 0.2),
    )
    assert 0 < true[0][0] <= 1 < false[0][0] and [*true[1], *false[1]] == [False, True]


def curves(T, bound, measured):
    """Made-up curves; `measured` is (exact, mean, low, high) for each T."""
    return _theory.Curves(T, bound, *np.array(measured, float).T)


MADE = dict(trials=np.array(40), constants=np.array("$L=1$"))


def test_theory_looks_well(tmp_path):
    T, data = np.array([5, 80, 1280]), dict(MADE)
    for id in theory_fsl.TITLES:
        data[_theory.array_name(id, "trivial")] = np.array(6.0)
        measured = [[1 / t, 1.1 / t, 0.9 / t, 1.4 / t] for t in T]
        worst = _worst.Worst(np.array([0.5, np.nan]), np.array([False, False]))
        data.update(_theory.panel_arrays(id, curves(T, 50 / T, measured), (5, 80), worst))
    assert looks_well("theory_fsl", data, tmp_path)


def errors_apart(runs, exact):
    """How many standard errors the mean of runs (trials,) is from the expectation."""
    return abs(runs.mean() - exact) / (runs.std(ddof=1) / np.sqrt(len(runs)))


def test_only_instances_of_that_many_rounds_and_local_steps_are_searched():
    setting = _worst.of_rounds(by_name("lamb_run"), 3, T=2)
    assert {
        (s["R"], s["T"]) for s in (setting.shapes(Random(n), frozenset()) for n in range(5))
    } == {(3, 2)}
    with pytest.raises(InvalidInput, match="rounds"):
        _worst.of_rounds(by_name("lamb_run"), 5).shapes(Random(0), frozenset())


@pytest.mark.parametrize("id", theory_mixed.IDS)
def test_mixed_steps_are_the_longest_that_the_statement_admits(id):
    claim, at = discover.claim(id), letters(theory_mixed, id, 1000)
    assert not claim.admits(at)
    longer = {name: 1.01 * at[name] for name in ("eta", "eta_c") if name in at}
    assert claim.admits(dict(at, **longer))


def test_mixed_bounds_by_hand():
    # beta = 1, mu = 1/2, B = G = sigma = sigma_c = 1, K = 2, S = 4: (sigma^2 + S sigma_c^2) / (K S)
    # = 5/8
    of, x_0 = theory_mixed.theory_problem("mixed.theoremB1_strong_explicit")
    gap = x_0 - mixed_minimizer(of)
    D_sq, F = gap @ gap, gap**2 @ theory_mixed.loss_curvatures(of).sum(axis=0) / 2
    plotted = lambda name, T: bound(theory_mixed, f"mixed.theorem{name}_explicit", T)
    right = 4.5 * D_sq * np.exp(-30 / 24) + 6 / 12 * 5 / 8 + 24 / 144 * (1 + 1)
    assert plotted("B1_strong", 30) == pytest.approx(right)
    # 20 sigma^2 + 12 K S sigma_c^2 = 116
    right = 4 / 3 * (8 * D_sq / 1001 + np.sqrt(116 * D_sq / 8008))
    assert plotted("B2_convex", 1000) == pytest.approx(right)
    # beta = 2: 54 * 2 F / (T + 1), noise 3/8 + 2
    right = 108 * F / 1001 + 6 * np.sqrt(19 / 8 * 2 * F / 1001)
    assert plotted("B2_nonconvex", 1000) == pytest.approx(right)
    # both gradients at x* are G/2 long: lag 1; noise 5/8 + (1 + 1) / (2 * 2)
    eta = 1 / 162
    right = (D_sq + 9 * eta**2) / (100 * eta) + 12 * eta * 9 / 8
    assert plotted("B3_convex", 99) == pytest.approx(right)
    assert bound(theory_mixed, theory_mixed.QUIET, 99) == pytest.approx(14 * 48 * F / 100)


@pytest.mark.parametrize("id", theory_mixed.IDS)
def test_mixed_expectations_are_those_of_runs_and_below_the_bound(id):
    T, trials = 200, 100
    found = compared(theory_mixed, id, T, trials)
    if theory_mixed.IDS[id][1] == "nonconvex":
        (exact,) = found.left_exact
    else:
        at = _theory.letters_at(found, T)
        exact = theory_mixed.exact_gap(id, T, at, *theory_mixed.theory_problem(id))
    (mean,), (low,), (high,) = found.left, found.low, found.high
    assert 0 <= exact <= found.right[0]
    if id == theory_mixed.QUIET:  # every run is the same
        assert [low, mean, high] == pytest.approx([exact] * 3)
    else:  # 80 % lie in the band: 1.3 deviations of a normal law to either side
        assert low < mean < high and abs(mean - exact) < 5 * (high - low) / 2.5 / np.sqrt(trials)


def test_the_last_point_as_mean_point_has_the_expected_loss(monkeypatch):
    monkeypatch.setattr(theory_mixed, "point_weights", lambda id, T, at: np.eye(T + 1)[T])
    for name in ("B1_convex", "B2_strong", "B3_strong"):
        id = f"mixed.theorem{name}_explicit"
        (of, x_0), at = theory_mixed.theory_problem(id), letters(theory_mixed, id, 200)
        method = ft.algorithm(theory_mixed.METHODS[theory_mixed.IDS[id][0]])
        hyper = {
            n: at[n] for n in ("eta", "eta_s", "eta_c", "eta_m") if {n} <= {*method.hyper, *at}
        }
        e = ft.expected(of, method, rounds=40, x_0=x_0, S=4, K=2, **hyper).metrics["mixed_loss"]
        gap = x_0 - mixed_minimizer(of)
        excess = gap**2 @ theory_mixed.loss_curvatures(of).sum(axis=0) / 2
        found = theory_mixed.exact_gap(id, 40, dict(at, S=4), of, x_0)
        assert found - excess == pytest.approx(e[-1] - e[0])


def test_flex_bounds_by_hand():
    # mu = 1/2, L = 1, E = 2, theta = 1, all work: gamma = max(32 * 2 * 2 / (mu 2), 16 / 2) = 128,
    # and the larger of gamma^2 D_0 and (16 * 2 / (mu 2))^2 B / 2 with sigma_bar^2 = 1/16
    of, G_sq = theory_flex.arc_problem(), theory_flex.largest_gradient() ** 2
    star = of.minimizer()
    D_0 = np.sum((theory_flex.X_0 - star) ** 2)
    Gamma = np.mean((of.data.b[1:] - star) ** 2 @ of.data.A[0]) / 2
    B = 12 * Gamma + 2.125 * 4 * G_sq + 8 * G_sq + 1 / 8
    assert theory_flex.bound_at("flex.fedavg_special", 10) == pytest.approx(
        max(128**2 * D_0, 512 * B) / (20 + 128)
    )
    # some device always completes: E[sum p s] = 2, gamma = 32 * 2 * 5 = 320; the start dominates, D
    # adds to it
    D = 64 * theory_flex.statement_values("flex.table1_A_het_explicit", 10)["ps_Gamma"] / 0.5
    assert theory_flex.bound_at("flex.table1_A_het_explicit", 10) == pytest.approx(
        (10 * D + 320**2 * D_0) / (20 + 320)
    )
    moved, Delta = (
        np.linalg.norm(theory_flex.objective_shift()),
        theory_flex.statement_values(theory_flex.START, 10)["Delta"],
    )
    assert Delta == pytest.approx(theory_flex.exact_distance(theory_flex.START, 10)[-1])
    assert theory_flex.start_over(Delta) == pytest.approx((np.sqrt(Delta) + moved) ** 2)


@pytest.mark.parametrize("id", theory_flex.PANELS)
def test_flex_expectations_are_those_of_runs_and_of_expected_and_below_the_bound(id):
    claim, rounds = discover.claim(id), 12
    assert not claim.admits(theory_flex.statement_values(id, rounds))
    assert (
        claim.admits(dict(theory_flex.statement_values(id, rounds), eta=1.0))
        or id == theory_flex.START
    )
    exact, runs = (
        theory_flex.exact_distance(id, rounds),
        theory_flex.sampled_distance(id, rounds, 1000),
    )
    assert errors_apart(runs[:, -1], exact[-1]) < 5
    measured = theory_flex.start_over(exact) if id == theory_flex.START else exact
    assert measured[-1] <= theory_flex.bound_at(id, rounds)
    _, scheme, rows = theory_flex.PANELS[id]
    if id != theory_flex.AFTER:
        found = ft.expected(
            theory_flex.arc_problem(),
            f"flex_{scheme.lower()}",
            rounds=rounds,
            x_0=theory_flex.X_0,
            E=2,
            eta=theory_flex.learning_rates(id, rounds),
            participation=Participation(
                work=distribution([list(map(float, row)) for row in rows[:4]])
            ),
        )
        # scheme A's discarded rounds, one in 10^4, are none here
        assert exact == pytest.approx(
            found.metrics["sq_distance"], rel=1e-3 if "A_hom" in id else 1e-9
        )


def test_flex_points_stay_where_gradients_are_bounded():
    of = theory_flex.arc_problem(5)
    found = ft.run(
        of,
        "flex_c",
        rounds=40,
        trials=50,
        keep="x",
        x_0=theory_flex.X_0,
        E=2,
        metrics=(),
        eta=theory_flex.learning_rates(theory_flex.AFTER, 20),
        participation=Participation(arrivals=(Arrival(5, theory_flex.ARRIVAL),)),
    ).x
    squares = (
        (found[:, :, None] - of.data.b[1:]) ** 2 @ of.data.A[0] ** 2
    ).max() + theory_flex.SIGMA**2
    assert squares <= theory_flex.largest_gradient() ** 2 <= 2 * squares


def test_lamb_bounds_by_hand():
    # M = v_0 = phi = L = 1, n = p = h = 2, sigma^2 = .08 of a coordinate, beta_1 = 0, beta_2 = .9
    alpha, s, plotted = 1 / 32, 0.08, partial(bound, theory_lamb)
    e = ft.expected(
        theory_lamb.theory_problem(),
        "fed_lamb",
        rounds=1,
        x_0=np.full(2, 2.0),
        alpha=alpha,
        **theory_lamb.method_hyper(2),
    )
    start, noise = e.metrics["loss"][1] / (2 * alpha * 8), s / 16 * np.sqrt(0.1 / 2)
    bracket = alpha**2 * 0.2 + 1 + np.sqrt(1 + 2 * s) + 2 * s / np.sqrt(2)
    right = start + noise + 4 * alpha * bracket + alpha**2 * 0.1 * 2 / 2
    assert plotted("lamb.theorem1_explicit@2", 8) == pytest.approx(right)
    assert theory_lamb.alpha_of("lamb.corollary1_explicit@1", 8) == pytest.approx(0.5 / 4)
    assert plotted("lamb.corollary1_explicit@2", 128) == pytest.approx(  # alpha = 1 / 32 again
        e.metrics["loss"][1] / (2 * alpha * 128)
        + s / 256 * np.sqrt(0.1 / 2)
        + 4 * alpha * bracket
        + alpha**2 * 0.1
    )


@pytest.mark.parametrize("id", theory_lamb.FIRST)
def test_lamb_expectations_are_those_of_all_layers_and_of_runs(id):
    steps, R = theory_lamb.steps_of(id), 4
    assert not discover.claim(_theory.claim_id(id)).admits(letters(theory_lamb, id, R))
    alpha = theory_lamb.alpha_of(id, R)
    whole = ft.expected(
        theory_lamb.theory_problem(),
        "fed_lamb",
        rounds=2,
        x_0=np.full(2, 2.0),
        budget=10**6,
        alpha=alpha,
        **theory_lamb.method_hyper(steps),
    )
    assert theory_lamb.exact_expectation("sq_grad_norm", steps, alpha, 2, 10**6) == pytest.approx(
        whole.metrics["sq_grad_norm"]
    )
    (exact,), found = theory_lamb.exact_means(id, [R], 10**6), compared(theory_lamb, id, R, 2000)
    (mean,), (low,), (high,) = found.left, found.low, found.high
    assert low <= mean <= high and exact <= found.right[0]
    assert abs(mean - exact) < 5 * (high - low) / 2.5 / np.sqrt(2000)
    none = theory_lamb.exact_means(id, [R, R + 1], 1)  # no room for the ways it can go
    assert np.isnan(none).all()


def test_the_second_moment_stays_at_its_start():
    found = ft.run(
        theory_lamb.theory_problem(),
        "fed_lamb",
        rounds=20,
        trials=20,
        x_0=np.full(2, 2.0),
        alpha=theory_lamb.ALPHA,
        **theory_lamb.method_hyper(2),
    )
    assert np.all(found._state[1] == theory_lamb.V_0)  # State's v_hat


def test_where_v_hat_moves_runs_of_every_length_are_one_run():
    means, grown, _ = theory_lamb.moving_means(6, 20)
    of, chosen = (
        theory_lamb.bounded_problem(),
        dict(theory_lamb.method_hyper(1), alpha=theory_lamb.ALPHA, epsilon=0.01),
    )
    start = dict(trials=20, x_0=np.full(4, 2.0), metrics=())
    runs = [ft.run(of, "fed_lamb", rounds=r + 1, **start, **chosen) for r in range(6)]
    size = lambda run: np.array([np.sum(of.grad(x) ** 2) for x in run.final])
    assert all(np.all(run._state[1] >= 0.01) for run in runs) and grown > 2
    slow = [
        np.array([np.sum(of.grad(x) ** 2 / v**0.5) for x, v in zip(run.final, run._state[1])])
        for run in runs
    ]
    assert means[:, -1] == pytest.approx(np.mean(slow, axis=0), rel=1e-12)
    assert np.all(slow[-1] < size(runs[-1]) / 0.1)  # v_hat above its start


def test_worst_cases_go_on_from_their_neighbours():
    """A search that has found nothing at some number of rounds takes what stands beside it."""
    claim = discover.claim("fsl.theorem2")
    setting = by_name("fsl_run")
    good, poor = (
        _worst.Search(claim, 0, _worst.of_rounds(setting, T), seconds, 0)
        for T, seconds in ((40, 0.3), (20, 0.01))
    )
    before = max((ratio for ratio, *_ in poor.rank_found()), default=0.0)
    poor.most = 10**6
    poor.go_on(good, 20, 0)
    ratio, hunt, _ = poor.rank_found()[0]
    assert ratio > before and _worst.rounds_of(hunt.shape) == 20


def test_a_violated_statement_is_drawn_as_such():
    T, id = np.array([1, 10, 100]), "lamb.theorem1_explicit"
    measured = [[1 / t, 1 / t, 0.9 / t, 1.1 / t] for t in T]
    worst = _worst.Worst(np.array([0.5, 2.0]), np.array([False, True]))
    data = _theory.panel_arrays(id, curves(T, 9 / T, measured), (1, 10), worst)
    ax = Figure().add_subplot()
    _theory.draw_panel(ax, data, id, "fed_lamb", "theorem 1")
    assert ax.get_title() == "theorem 1: violated"
    crosses = [line for line in ax.lines if line.get_marker() == "X"]
    assert [line.get_xydata().tolist() for line in crosses] == [[[10.0, 1.8]]]
    assert "left over right $2$ at $T=10$" in _theory.describe_result(data, {id: "theorem 1"})
    with pytest.raises(InvalidInput, match="no square below 0"):
        _theory.panel_arrays(id, curves(T, 9 / T, -np.ones((3, 4))), (1, 10), worst)


def test_no_worst_case_is_below_what_the_panels_own_problem_does():
    T, id = np.array([1, 10, 100]), "lamb.theorem1_explicit"
    measured = [[exact, 1 / t, 0.9 / t, 1.1 / t] for exact, t in zip((1.0, 0.3, np.nan), T)]
    worst = _worst.Worst(np.array([0.2, np.nan, 0.2]), np.zeros(3, bool))
    data = _theory.panel_arrays(id, curves(T, 9 / T, measured), T, worst)
    found = data[_theory.array_name(id, "worst_ratio")]
    assert found == pytest.approx([0.2, 1 / 3, 0.2])  # 1/9, 0.3/0.9, nothing exact


def test_what_is_false_is_seen_on_the_axis():
    seconds = theory_lamb.SECONDS["quick"]
    ratios, violated = _worst.worst_ratio(
        discover.claim("lamb.theorem1_explicit"), (1,), seconds, T=1
    )
    assert ratios[0] > 1 and violated[0]
    claim = discover.claim("mixed.theoremB1_convex_explicit")
    assert (
        _worst.worst_ratio(claim, (10,), 0.1)[0][0]
        <= 1
        < _worst.worst_ratio(claim.replace(bound=claim.bound / 30), (10,), 0.1)[0][0]
    )
    claim = discover.claim("flex.table1_B_hom_explicit")
    assert (
        _worst.worst_ratio(claim, (1,), 0.1)[0][0]
        <= 1
        < _worst.worst_ratio(claim.replace(bound=claim.bound / 300), (1,), 0.1)[0][0]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name, panels, trivial",
    [
        (
            "theory_mixed",
            theory_mixed.IDS,
            {_theory.array_name(id, "trivial"): np.array(6.0) for id in theory_mixed.IDS},
        ),
        ("theory_flex", theory_flex.PANELS, {"trivial": np.array([6.0])}),
        (
            "theory_lamb",
            theory_lamb.TITLES,
            {
                "trivial": np.array([6.0]),
                _theory.array_name(theory_lamb.SECOND, "trivial"): np.array(60.0),
            },
        ),
    ],
)
def test_the_other_theory_figures_look_well(name, panels, trivial, tmp_path):
    T, data = np.array([1, 30, 1000]), dict(MADE, **trivial, grown=np.array(7.0))
    for id in panels:
        measured = [
            [1 / t if t < 100 or name != "theory_lamb" else np.nan, 1.1 / t, 0.9 / t, 1.4 / t]
            for t in T
        ]
        worst = _worst.Worst(np.array([3.0, np.nan]), np.array([True, False]))
        data.update(_theory.panel_arrays(id, curves(T, 50 / T, measured), (1, 30), worst))
    assert looks_well(name, data, tmp_path)


def test_the_vacuity_map_against_the_statement(tmp_path):
    data = vacuity_fsl.compute_arrays("smoke", lambda done, total: None)
    n, m = 24, 24  # gamma = 1
    gamma, eta_g, claim = data["gamma"][n], data["eta_g"][m], discover.claim("fsl.theorem2")
    assert data["longest_11"][n, m] == pytest.approx(min(8 / 9, eta_g, 1 / gamma) / 4)
    assert data["h_13"].min() > 0 > data["h_11"].min()
    needed = data["rounds_11"][n, m]

    def speaks(T):
        u = data["longest_11"][n, m] * np.geomspace(1e-5, 1, 60)
        at = dict(
            vacuity_fsl.AT, gamma=gamma, eta_g=eta_g, eta_0=u / 10, eta_l=u / (10 * eta_g), T=T
        )
        h = vacuity_fsl.value_at(claim, claim.table["h"].symbol, at)
        return bool((claim.fast(at) < 2 * h).any())  # 2 L D~_0 = 2

    assert speaks(1.001 * needed) and not speaks(0.999 * needed)
    assert (
        data["rounds_11"] <= data["rounds_13"] * 1.2
    ).all()  # (11) admits more, up to the grid of steps
    assert looks_well("vacuity_fsl", data, tmp_path)


def test_mutants_are_grouped_and_drawn(tmp_path):
    from fedtheory.verdicts import perturbations

    claim = discover.claim(mutants_fsl.CLAIM)
    made = list(perturbations.list_mutants(claim))
    assert 0 < sum(map(mutants_fsl.is_small_scale, made)) < len(made)
    data = dict(
        change=np.array([m.change for m in made]),
        kind=np.array([m.at[0] for m in made]),
        state=np.array((["killed", "survives", "implied", "unasked"] * len(made))[: len(made)]),
        reached=np.linspace(0, 1, len(made)),
        part=np.array([mutants_fsl.part_of(claim, m) for m in made]),
        about=np.array([mutants_fsl.change_text(claim, m) for m in made]),
        statement=np.array(claim.latex()),
    )
    found = mutants_fsl.group_mutants(data)
    assert sum(map(len, found.values())) == len(made)
    for marks in found.values():  # as their headings stand
        places = [mutants_fsl.kind_column(kind) for kind, *_ in marks]
        assert places == sorted(places)
    assert looks_well("mutants_fsl", data, tmp_path)


def test_the_slack_adds_up(tmp_path, monkeypatch):
    monkeypatch.setitem(_slack.INSTANCES, "smoke", 1)
    data = figures.figure("slack_mixed").compute("smoke", lambda done, total: None)
    row = ft.audit("mixed.stepB2_convex", at="drawn", seed=0).rows[-1]
    assert np.nansum(data["shares"]) == pytest.approx(1) and row["slack"] > 0
    assert not (data["shares"] < 0).any() and not data["fails"].any()
    assert data["ratios"][-1, 0] == row["ratio"]
    assert looks_well("slack_mixed", data, tmp_path)


def test_a_line_that_fails_is_drawn_as_such_and_no_dot_lies_outside(tmp_path):
    data = dict(
        line=np.array(["a", "b", "c"]),
        ratios=np.array([[0.2, 0.4], [0.5, 1e6], [np.nan, np.nan]]),
        fails=np.array([[False, False], [False, True], [True, True]]),
        shares=np.array([[0.25, 0.75], [0.75, 0.25], [np.nan, np.nan]]),
        measures=np.array("x"),
    )
    drawn = Figure(figsize=(6.9, 3))
    _slack.draw_figure(drawn, data)
    left, right = drawn.axes
    assert right.get_title() == "how tight each line is: 2 lines fail"
    crosses = [line for line in right.lines if line.get_marker() == "X"]
    assert [line.get_ydata()[0] for line in crosses] == [1, 2]
    assert [text.get_text() for text in right.texts] == ["1 of 2", "2 of 2"]
    for ax in (left, right):
        low, high = ax.get_xlim()
        assert all(low <= x <= high for line in ax.lines for x in line.get_xdata())
    assert [row[2] for row in _slack.table_rows(data)] == ["fails", "", "1 of 2", "2 of 2"]
    assert looks_well("slack_mixed", data, tmp_path)
