"""Mixed FL, theorems B.1 to B.3: how far the three methods stay below their bounds, over the number
of rounds.

Steps are the longest that a statement admits, and of the length that it asks for where it names
one. Losses are convex quadratics in every panel, those of statements that ask for no convexity
included: on them moments of the points' mean are exact. Two statements need a
case of their own: theorem B.2 without convexity takes a beta that f itself meets, twice the losses'
own; theorem B.3 without convexity takes true gradients to transfer first, which a round that moves
nothing leaves where there is no noise.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _parts, _style, _theory, _worst
from fedtheory.figures._record import Figure
from fedtheory.models.mixed import moments
from fedtheory.problems.mixed import mixed_minimizer

SPECTRUM = dict(d=2, clients=8, L=1.0, mu=0.5, G=1.0)
FIXED = dict(S=4, K=2, eta_s=2.0)  # eta_s = sqrt(S), the least that theorem B.2 admits
METHODS = {"B1": "parallel_training", "B2": "one_way_gt", "B3": "two_way_gt"}
CASES = {"strong": "strongly convex", "convex": "convex", "nonconvex": "no convexity asked"}
IDS = {
    f"mixed.theorem{theorem}_{case}_explicit": (theorem, case)
    for theorem in METHODS
    for case in CASES
}
SUM_SMOOTH, QUIET = "mixed.theoremB2_nonconvex_explicit", "mixed.theoremB3_nonconvex_explicit"
WORST_T = dict(
    smoke=dict(B1=(30,), B2=(30,), B3=(10, 170)),
    quick=dict(B1=(10, 30, 100), B2=(10, 30, 100), B3=(10, 90, 170)),
)
WORST_T["paper"] = WORST_T["quick"]
ROUNDS = dict(
    smoke=(10, 30, 100, 300, 1000),
    quick=(10, 30, 100, 300, 1000, 3000),
    paper=(10, 30, 100, 300, 1000, 3000, 10000),
)
TRIALS = dict(smoke=40, quick=200, paper=400)
SECONDS = dict(smoke=0.1, quick=2.0, paper=10.0)  # of search for each statement and T


def theory_problem(id):
    """Return a statement's losses and the start x_0."""
    noise = 0.0 if id == QUIET else 1.0
    return ft.problems.mixed(seed=3, sigma=noise, sigma_c=noise, **SPECTRUM), np.full(
        SPECTRUM["d"], 2.0
    )


def loss_curvatures(of):
    """Return the curvatures of f_f and of f_c, one row each."""
    return np.stack([of.data.H, of.data.A[0]])


def excess_at(of, x):
    """Return f minus its minimum at points (..., d)."""
    return (x - mixed_minimizer(of)) ** 2 @ loss_curvatures(of).sum(axis=0) / 2


def longest_step(id, T, beta, D_sq, F, sigma, sigma_c, K, S, **others):
    """Return the longest effective step K eta eta_s (with eta_m = 1) that a statement admits."""
    theorem, case = IDS[id]
    if theorem == "B1":
        return 1 / (6 * 2 * beta)  # 1 + B^2 = 2
    if theorem == "B3":
        return 1 / ((48 if case == "nonconvex" else 162) * beta)
    if case == "convex":
        return (
            D_sq / max(64 * beta**2 * D_sq, (5 * sigma**2 / (K * S) + 3 * sigma_c**2) * (T + 1))
        ) ** 0.5
    if case == "nonconvex":
        return (
            F / max(324 * beta**2 * F, beta * (3 * sigma**2 / (K * S) + 2 * sigma_c**2) * (T + 1))
        ) ** 0.5
    return 1 / (8 * beta)


def statement_values(id, T, of=None):
    """Return the values of a statement's letters at T rounds, for its own losses or for the losses
    `of` from the same start."""
    of, x_0 = (of, theory_problem(id)[1]) if of is not None else theory_problem(id)
    star = mixed_minimizer(of)
    at_star = loss_curvatures(of) * (star - np.stack([of.data.x_star, of.data.b[0]]))
    found = {name: of.constants[name].value for name in ("mu", "sigma", "sigma_c")}
    found.update(
        FIXED,
        beta=SPECTRUM["L"] * (2 if id == SUM_SMOOTH else 1),
        G=of.constants["G_bgd"].value,
        B=of.constants["B_bgd"].value,
        N=SPECTRUM["clients"],
        T=T,
        eta_m=1.0,
        D_sq=float(np.sum((x_0 - star) ** 2)),
        F=float(excess_at(of, x_0)),
        lag=float(2 * np.sum(at_star**2)),
    )  # nothing is transferred first
    eta = longest_step(id, **found) / (found["K"] * found["eta_s"])
    return dict(found, eta=eta, eta_c=eta * found["eta_s"])


def bound_at(id, T, of=None):
    """Evaluate a statement's bound on its measured quantity."""
    return float(discover.claim(id).evaluate(statement_values(id, T, of)))


def method_hyper(id, at):
    """Return the method's parameters from a statement's values; eta and eta_c hold for all rounds
    except an idle first round."""
    names = ("K", "eta", "eta_s") if IDS[id][0] == "B2" else ("K", "eta", "eta_s", "eta_c", "eta_m")
    return {name: at[name] for name in names}


def with_idle_round(id, chosen, rounds):
    """Return the parameters with a first round of step 0 added, if the statement needs an idle
    first round."""
    wait = lambda step: np.append(0.0, np.full(rounds, step))
    return (
        chosen
        if id != QUIET
        else dict(chosen, eta=wait(chosen["eta"]), eta_c=wait(chosen["eta_c"]))
    )


def point_weights(id, T, at):
    """Return the weights of x^(0), ..., x^(T) in the mean point."""
    method, strong = METHODS[IDS[id][0]], IDS[id][1] == "strong"
    rate = (
        float(moments.CONTRACTIONS[method])
        * at["mu"]
        * at["K"]
        * at["eta_m"]
        * at["eta_s"]
        * at["eta"]
    )
    found = (1 - rate) ** np.arange(T, -1.0, -1) if strong else np.ones(T + 1)
    return found / found.sum()


def exact_gap(id, T, at, of=None):
    """Compute E f(mean point) - f* exactly, coordinate by coordinate: the coordinates do not
    interact."""
    of, x_0 = (of, theory_problem(id)[1]) if of is not None else theory_problem(id)
    method, star = METHODS[IDS[id][0]], mixed_minimizer(of)
    case = moments.Case(
        method, None, None, at["S"], at["K"], T, at["eta"], at["eta_s"], at["eta_c"], at["eta_m"]
    )
    bends, total = loss_curvatures(of), 0.0
    tilts = bends * (star - np.stack([of.data.x_star, of.data.b[0]]))
    for j in range(of.d):
        state = (x_0[j] - star[j], 0.0, 0.0) if method == "two_way_gt" else (x_0[j] - star[j],)
        _, (mean, variance) = moments.point_moments(
            case,
            state,
            bends[:, j].tolist(),
            tilts[:, j].tolist(),
            [at["sigma"] ** 2 / of.d, at["sigma_c"] ** 2 / of.d],
            point_weights(id, T, at).tolist(),
        )
        total += bends[:, j].sum() * (mean**2 + variance) / 2
    return total


def measure_rounds(id, Ts, trials):
    """Return (exact, mean, low, high) for each T; runs with equal steps are shared, and followed to
    the largest T."""
    (of, x_0), method, kept, found = theory_problem(id), METHODS[IDS[id][0]], {}, []
    for T in reversed(Ts):
        at, idles = statement_values(id, T), int(id == QUIET)
        chosen = method_hyper(id, at)
        key = tuple(chosen.values())
        names = dict(rounds=T + idles, S=at["S"], x_0=x_0, **with_idle_round(id, chosen, T))
        if key not in kept:
            squares = ft.expected(of, method, **names).metrics["sq_mixed_grad_norm"][idles:]
            kept[key] = (
                squares,
                ft.run(of, method, trials=trials, keep="x", metrics=(), **names).x[:, idles:],
            )
        squares, path = kept[key]
        if IDS[id][1] == "nonconvex":
            best = int(np.argmin(squares[: T + 1]))
            gradient = (path[:, best] - mixed_minimizer(of)) * loss_curvatures(of).sum(axis=0)
            found.append([squares[best], *_theory.of_runs(np.sum(gradient**2, axis=1))])
        else:
            point = np.tensordot(path[:, : T + 1], point_weights(id, T, at), (1, 0))
            found.append([exact_gap(id, T, at), *_theory.of_runs(excess_at(of, point))])
    return found[::-1]


def panel_of(id, scale):
    """Compute the arrays of a panel."""
    claim, worst_T = discover.claim(id), WORST_T[scale][IDS[id][0]]
    admitted = lambda Ts: [T for T in sorted(Ts) if not claim.admits(statement_values(id, T))]
    Ts, worst_T = admitted({*ROUNDS[scale], *worst_T}), admitted(worst_T)
    made = _theory.panel_arrays(
        id,
        Ts,
        [bound_at(id, T) for T in Ts],
        measure_rounds(id, Ts, TRIALS[scale]),
        worst_T,
        _worst.search_once(id, worst_T, SECONDS[scale]),
        [bound_at(id, T) for T in worst_T],
    )
    at = statement_values(id, 1)
    level = 4 * at["beta"] * at["F"] if IDS[id][1] == "nonconvex" else at["beta"] * at["D_sq"]
    return {**made, _theory.array_name(id, "trivial"): level}


def compute_arrays(scale, progress):
    data = dict(trials=np.array(TRIALS[scale]), constants=np.array(constants_of_panels()))
    for n, id in enumerate(IDS):
        data |= _parts.compute_part(panel_of, id, scale)
        progress(n + 1, len(IDS))
    return data


def constants_of_panels():
    """Return the constants of all panels, in the paper's letters."""
    at = statement_values("mixed.theoremB1_strong_explicit", 1)
    return _caption.constants_text(
        discover.claim("mixed.theoremB1_strong_explicit").table,
        {
            name: at[name]
            for name in ("beta", "mu", "G", "B", "sigma", "sigma_c", "N", "S", "K", "eta_s")
        },
    )


TITLES = {
    id: f"{_style.algorithm_look(METHODS[theorem]).label}, {CASES[case]}"
    for id, (theorem, case) in IDS.items()
}


def write_caption(data):
    return _theory.write_caption(
        data,
        "Rows: parallel training, one-way and two-way gradient transfer; columns: what a statement "
        "asks of the losses. Clients and the centre have convex quadratics in all panels, noise is "
        "Gaussian, S of N clients are drawn uniformly, steps are the longest that a statement admits; "
        "in the last panel there is no noise.",
    )


def describe_result(data):
    return _theory.describe_result(data, TITLES)


def draw_figure(figure, data):
    axes = figure.subplots(len(METHODS), len(CASES), sharex=True)
    share_scales(axes)
    for ax, (id, (theorem, case)) in zip(axes.flat, IDS.items()):
        method, trivial = METHODS[theorem], data[_theory.array_name(id, "trivial")]
        _theory.draw_panel(ax, data, id, method, TITLES[id])
        _theory.draw_trivial(ax, trivial)
        if theorem == "B1":
            _theory.say_trivial(
                ax, trivial, r"$4\beta F$" if case == "nonconvex" else r"$\beta D^2$"
            )
    _theory.say_worst(axes[0, 0], 0.06, 0.2)
    for ax in axes[-1]:
        ax.set_xlabel("$T$")
    for row in axes:
        row[0].set_ylabel(r"$\mathbb{E}f(\bar x)-f^*$, weighted mean")
        row[1].set_ylabel(r"$\mathbb{E}f(\bar x)-f^*$, mean")
        row[2].set_ylabel(r"least $\mathbb{E}\|\nabla f\|^2$")
    axes[-1, -1].text(
        0.04, 0.05, "without noise", transform=axes[-1, -1].transAxes, fontsize=_style.SMALL
    )
    for ax in axes[:2, -1]:
        _style.direct_labels(ax)


def share_scales(axes):
    """Share one scale within each column of axes; the panel without noise, whose gradients decrease
    to 0, has its own scale."""
    for column in axes.T:
        for ax in column[1:]:
            if ax is not axes[-1, -1]:
                ax.sharey(column[0])


def table_rows(data):
    return _theory.rows_of(data, IDS, "error")


FIGURE = Figure(
    cites="mixed FL, theorems B.1 to B.3",
    title="Bounds, exact expectation, runs and worst cases",
    shows=tuple(IDS),
    compute=compute_arrays,
    minutes=1.0,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    height=5.2,
)
