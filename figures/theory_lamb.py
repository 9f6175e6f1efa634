"""FED-LAMB, theorem 1 and corollary 1: how far gradients stay below, or rise above, their bounds,
over the rounds.

In the first four panels the plotted method is sign descent: no gradient's coordinate exceeds
sqrt(v_0), so that the second moment stays v_0, and each layer is one coordinate that no other sees,
which a step moves by exactly alpha. What is measured is the squared gradient over sqrt(v_0). Such a
run moves on a lattice, and every way it can go is followed, as far as there is room for all of
them; beyond, there are runs alone. T counts local steps.

In the last panel layers have two coordinates and v_0 is small, so that v_hat moves. There epsilon
is added to the root as the listing has it, which the proof leaves out: the panel's run is outside
its hypotheses by that. The mean of a run of every length is taken, each going on from the last.
"""

from functools import cache

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import NotExact
from fedtheory.figures import _caption, _parts, _style, _theory, _worst
from fedtheory.figures._record import Figure
from fedtheory.problems._separable import separable

D, CLIENTS, L, M, G, SIGMA, X_0 = 2, 2, 1.0, 1.0, 0.2, 0.4, 2.0
FIXED = dict(beta_1=0.0, beta_2=0.9, phi_m=1.0, phi_M=1.0)
V_0, ALPHA, A = M**2, 2.0**-5, 0.5  # alpha = A / sqrt(h R) in the corollary
TITLES = {
    "lamb.theorem1_explicit@1": "thm. 1, $T=1$",
    "lamb.theorem1_explicit@2": "thm. 1, $T=2$",
    "lamb.corollary1_explicit@1": "cor. 1, $T=1$",
    "lamb.corollary1_explicit@2": "cor. 1, $T=2$",
    "lamb.theorem1_explicit@moving": r"thm. 1, $\hat v$ moves",
}
SECOND = "lamb.theorem1_explicit@moving"
LAYERS, SMALL_V = [2, 2], 0.01  # of the second problem, and its v_0
LENGTHS = dict(smoke=64, quick=512, paper=2048)  # rounds of its runs
WORST_R = {1: (1, 2, 3, 6), 2: (1, 2, 3)}  # by local steps
ROUNDS = dict(
    smoke=(2, 8, 32, 128, 512),
    quick=(2, 8, 32, 128, 512, 2048, 8192),
    paper=(2, 8, 32, 128, 512, 2048, 8192),
)
TRIALS = dict(smoke=40, quick=200, paper=400)
SECONDS = dict(smoke=0.1, quick=2.0, paper=10.0)  # of search for each statement and R
BUDGET = dict(
    smoke=4 * 10**4, quick=2 * 10**6, paper=6 * 10**6
)  # rounds of single paths, in an enumeration


def theory_problem():
    """Build convex losses with bounded gradients."""
    return ft.problems.bounded(
        d=D, clients=CLIENTS, L=L, M=M, G=G, sigma=SIGMA, layers=[1] * D, noise="rademacher", seed=3
    )


def one_coordinate(of, j):
    """Build the problem of a single layer, coordinate j."""
    data, noise = of.data, SIGMA / np.sqrt(D)
    return separable(
        "layer",
        "pseudo_huber",
        1.0,
        data.a[[j]],
        data.w[[j]],
        0.0,
        data.c[[j]],
        data.o[:, [j]],
        of.weights[1:],
        noise,
        0.0,
        "rademacher",
        None,
        {},
    )


def method_hyper(steps, alpha):
    """Return the method's parameters; without momentum, the way in which momentum is stored has no
    effect."""
    return dict(FIXED, T=steps, alpha=alpha, epsilon=V_0, phi="clipped", bias_correction="none")


@cache
def exact_expectation(metric, steps, alpha, rounds, budget):
    """Compute E of the loss or of the squared gradient after each round exactly, layer by layer."""
    of = theory_problem()
    return sum(
        ft.expected(
            one_coordinate(of, j),
            "fed_lamb",
            rounds=rounds,
            x_0=np.full(1, X_0),
            budget=budget,
            **method_hyper(steps, alpha),
        ).metrics[metric]
        for j in range(D)
    )


def alpha_of(id, R):
    """Return a statement's learning rate."""
    return A / np.sqrt(D * R) if "corollary" in id else ALPHA


def steps_of(id):
    return 1 if id == SECOND else int(id.partition("@")[2])


def statement_values(id, R):
    """Return the values of a statement's letters at R rounds; the infimum of the loss is 0."""
    alpha, of = float(alpha_of(id, R)), theory_problem()
    return dict(
        FIXED,
        alpha=alpha,
        a=A,
        T=steps_of(id),
        R=R,
        n=CLIENTS,
        h=D,
        p=D,
        v_0=V_0,
        L_l=L,
        L_bar=L,
        M=M,
        lambda_=0,
        sigma=of.constants["sigma_coordinate"].value,
        f_excess=float(exact_expectation("loss", steps_of(id), alpha, 1, 1000)[1]),
    )


def bound_at(id, R):
    """Evaluate a statement's bound on the mean squared gradient over sqrt(v_0)."""
    return float(discover.claim(id.partition("@")[0]).evaluate(statement_values(id, R)))


def mean_over_rounds(squares, R):
    """Return 1/R sum_{r=1}^R of squared gradients (..., rounds + 1), over sqrt(v_0)."""
    return squares[..., 1 : R + 1].mean(axis=-1) / np.sqrt(V_0)


def enumerate_expectation(id, R, budget):
    """Compute the exact expectation by enumeration of all paths; nan if the enumeration needs more
    rounds than the budget, or if there is no budget."""
    if budget is None:
        return np.nan
    try:
        return mean_over_rounds(
            exact_expectation("sq_grad_norm", steps_of(id), alpha_of(id, R), R, budget), R
        )
    except NotExact:
        return np.nan


def measure_rounds(id, R, trials, budget):
    """Return (exact, mean, low, high) at R rounds."""
    steps, alpha = steps_of(id), float(alpha_of(id, R))
    found = ft.compare(
        id.partition("@")[0],
        theory_problem(),
        rounds=R,
        trials=trials,
        x_0=np.full(D, X_0),
        exact=False,
        **(dict(a=A) if "corollary" in id else {}),
        **method_hyper(steps, alpha),
    )
    return [
        enumerate_expectation(id, R, budget),
        *(side[-1] for side in (found.left, found.low, found.high)),
    ]


def bounded_problem():
    """Build convex losses with bounded gradients and two coordinates in each layer."""
    return ft.problems.bounded(
        d=sum(LAYERS),
        clients=CLIENTS,
        L=L,
        M=M,
        G=G,
        sigma=SIGMA,
        layers=LAYERS,
        noise="rademacher",
        seed=3,
    )


def moving_means(rounds, trials):
    """Return, from runs of the second problem, 1/R sum of squared gradients over the root of v_hat
    (trials, rounds), the growth of v_hat, and the mean of f after the first round."""
    of, run, squares = bounded_problem(), None, np.empty((trials, rounds))
    chosen = dict(method_hyper(1, ALPHA), epsilon=SMALL_V)
    start = dict(trials=trials, x_0=np.full(of.d, X_0), metrics=())
    for r in range(rounds):
        run = ft.run(of, "fed_lamb", rounds=r + 1, resume=run, **start, **chosen)
        gradients = np.array([of.grad(x) for x in run.final])
        squares[:, r] = np.sum(gradients**2 / np.sqrt(run._state[1]), axis=1)
        if r == 0:
            first = float(np.mean([of.loss(x) for x in run.final]))
    grown = float(np.mean(run._state[1])) / SMALL_V
    return np.cumsum(squares, axis=1) / np.arange(1, rounds + 1), grown, first


def second_problem(scale):
    """Compute the panel of the second problem, and the growth of its v_hat."""
    of, rounds = bounded_problem(), LENGTHS[scale]
    means, grown, first = moving_means(rounds, TRIALS[scale])
    at = dict(
        statement_values("lamb.theorem1_explicit@1", 1),
        p=of.d,
        h=len(LAYERS),
        v_0=SMALL_V,
        sigma=of.constants["sigma_coordinate"].value,
        f_excess=first,
    )
    Rs = [2**n for n in range(20) if 2**n <= rounds]
    bound = [float(discover.claim("lamb.theorem1_explicit").evaluate(dict(at, R=R))) for R in Rs]
    measured = [[np.nan, *_theory.of_runs(means[:, R - 1])] for R in Rs]
    none = np.array([]), np.array([], bool)
    made = _theory.panel_arrays(SECOND, Rs, bound, measured, np.array([], int), none, np.array([]))
    made[_theory.array_name(SECOND, "trivial")] = np.array(M**2 / np.sqrt(SMALL_V))
    return dict(made, grown=np.array(grown))


def constants_of_panels(without=()):
    """Return the constants of the first four panels, in the paper's letters."""
    at = statement_values("lamb.theorem1_explicit@1", 1)
    names = ("n", "p", "h", "L_l", "M", "sigma", "v_0", "beta_1", "beta_2", "alpha")
    claim = discover.claim("lamb.theorem1_explicit")
    return _caption.constants_text(claim.table, {n: at[n] for n in names if n not in without})


def panel_of(id, scale):
    """Compute the arrays of one of the first four panels."""
    steps, found = steps_of(id), []
    Rs, worst_R = sorted({*ROUNDS[scale], *WORST_R[steps]}), WORST_R[steps]
    for R in Rs:  # where there is no room for all ways, there is none for more rounds
        room = not found or np.isfinite(found[-1][0])
        found.append(measure_rounds(id, R, TRIALS[scale], BUDGET[scale] if room else None))
    return _theory.panel_arrays(
        id,
        Rs,
        [bound_at(id, R) for R in Rs],
        found,
        worst_R,
        _worst.search_once(id.partition("@")[0], worst_R, SECONDS[scale], T=steps),
        [bound_at(id, R) for R in worst_R],
    )


def compute_arrays(scale, progress):
    data = dict(trials=np.array(TRIALS[scale]), constants=np.array(constants_of_panels()))
    for n, id in enumerate(TITLES):
        data |= (
            _parts.compute_part(second_problem, scale)
            if id == SECOND
            else _parts.compute_part(panel_of, id, scale)
        )
        progress(n + 1, len(TITLES))
    return dict(data, trivial=np.array([M**2 / np.sqrt(V_0)]))


def draw_figure(figure, data):
    left = r"mean $\mathbb{E}\|\nabla f(\bar\theta_r)/\hat v_r^{1/4}\|^2$"
    axes = _theory.draw_panels(figure, data, TITLES, "fed_lamb", left, xlabel="$R$", titles=TITLES)
    for ax, id in zip(axes, TITLES):
        _theory.draw_trivial(ax, _theory.trivial_level(data, id))
    level = _theory.trivial_level(data, SECOND)
    _theory.say_trivial(axes[4], level, r"$M^2/\sqrt{v_0}$: trivial")
    marks = [data[_theory.array_name(id, "worst_broken")] for id in FIRST]
    if not all(broken.all() for broken in marks):
        _theory.say_worst(axes[0], 0.06, 0.13, "worst found,\nof bound")
    if any(broken.any() for broken in marks):
        _theory.say_broken(axes[1], 0.06, 0.13)
    axes[3].text(
        0.04,
        0.03,
        "beyond “exact”:\nruns alone",
        transform=axes[3].transAxes,
        fontsize=_style.SMALL,
        color=_style.OPEN,
        linespacing=1.05,
    )
    runs, bound, exact = axes[3].get_lines()[:3]
    there = np.isfinite(exact.get_ydata())
    axes[3].annotate(
        "exact",
        (exact.get_xdata()[there][-1], exact.get_ydata()[there][-1]),
        xytext=(2, 3),
        textcoords="offset points",
        fontsize=_style.SMALL,
    )
    axes[4].text(
        0.04,
        0.03,
        rf"$\hat v$: ${_caption.bare_number(data['grown'], 2)}\,v_0$ at the end",
        transform=axes[4].transAxes,
        fontsize=_style.SMALL,
        color=_style.OPEN,
    )
    _style.direct_labels(axes[4], list(axes[4].get_lines()[:2]))


FIRST = [id for id in TITLES if id != SECOND]


def write_caption(data):
    return _theory.write_caption(
        data,
        r"T counts local steps, $\alpha=0.5/\sqrt{hR}$ in the corollary; rademacher noise, losses are pseudo-Huber. "
        r"In the first four panels $\hat v$ stays $v_0$ and layers are single coordinates: the plotted method is sign "
        r"descent, each step moving each layer by $\alpha$. In the last, layers have two coordinates, "
        rf"$v_0={SMALL_V}$ and $\hat v$ moves; there $\epsilon$ is added to the root as the listing has it, which the "
        "proof leaves out. Constants are those of the first four.",
    )


def describe_result(data):
    grown = (
        f"In the last panel $\\hat v$ ends at {_caption.number_text(data['grown'])} times $v_0$."
    )
    return f"{_theory.describe_result(data, TITLES, 'R')} {grown}"


def table_rows(data):
    return _theory.rows_of(data, TITLES, "mean squared gradient")


FIGURE = Figure(
    cites="FED-LAMB, theorem 1 and corollary 1",
    title="Bounds, exact expectation, runs and worst cases",
    shows=("lamb.theorem1_explicit", "lamb.corollary1_explicit"),
    compute=compute_arrays,
    minutes=1.0,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=2.3,
)
