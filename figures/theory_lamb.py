"""FED-LAMB, theorem 1 and corollary 1: how far below their bounds gradients stay, or how far above,
over the rounds.

No gradient's coordinate exceeds sqrt(v_0): the second moment stays v_0, and what is measured is the
squared gradient over sqrt(v_0). Each layer is one coordinate that no other sees, and moves on a
lattice, so that every way a run can go is followed, as far as there is room for all of them;
beyond, there are runs alone. T counts local steps.
"""

from functools import cache

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import NotExact
from fedtheory.figures import _style, _theory
from fedtheory.figures._record import Figure
from fedtheory.problems._separable import separable

D, CLIENTS, L, M, G, SIGMA, X_0 = 2, 2, 1.0, 1.0, 0.2, 0.4, 2.0
FIXED = dict(beta_1=0.0, beta_2=0.9, phi_m=1.0, phi_M=1.0)
V_0, ALPHA, A = M**2, 2.0**-5, 0.5  # alpha = A / sqrt(h R) in the corollary
TITLES = {
    "lamb.theorem1_explicit@1": "theorem 1, $T=1$",
    "lamb.theorem1_explicit@2": "theorem 1, $T=2$",
    "lamb.corollary1_explicit@1": "corollary 1, $T=1$",
    "lamb.corollary1_explicit@2": "corollary 1, $T=2$",
}
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


def problem():
    """Convex losses of bounded gradient."""
    return ft.problems.bounded(
        d=D, clients=CLIENTS, L=L, M=M, G=G, sigma=SIGMA, layers=[1] * D, noise="rademacher", seed=3
    )


def coordinate(of, j):
    """One layer alone."""
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


def hyper(steps, alpha):
    """What the method takes; without momentum, how it is kept does not matter."""
    return dict(FIXED, T=steps, alpha=alpha, epsilon=V_0, phi="clipped", bias_correction="none")


@cache
def exact(metric, steps, alpha, rounds, budget):
    """E of the loss or of the squared gradient after each round; layers are followed one by one."""
    of = problem()
    return sum(
        ft.expected(
            coordinate(of, j),
            "fed_lamb",
            rounds=rounds,
            x_0=np.full(1, X_0),
            budget=budget,
            **hyper(steps, alpha),
        ).metrics[metric]
        for j in range(D)
    )


def alpha_of(id, R):
    """A statement's learning rate."""
    return A / np.sqrt(D * R) if "corollary" in id else ALPHA


def steps_of(id):
    return int(id.partition("@")[2])


def values(id, R):
    """Everything a statement takes, at R rounds; the infimum is 0."""
    alpha, of = float(alpha_of(id, R)), problem()
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
        f_excess=float(exact("loss", steps_of(id), alpha, 1, 1000)[1]),
    )


def bound(id, R):
    """What a statement allows the mean squared gradient over sqrt(v_0) to be."""
    return float(discover.claim(id.partition("@")[0]).evaluate(values(id, R)))


def mean_over_rounds(squares, R):
    """1/R sum_{r=1}^R of squared gradients (..., rounds + 1), over sqrt(v_0)."""
    return squares[..., 1 : R + 1].mean(axis=-1) / np.sqrt(V_0)


def enumerated(id, R, budget):
    """The exact expectation; nan if following every way a run can go takes more rounds than the
    budget, or there is none."""
    if budget is None:
        return np.nan
    try:
        return mean_over_rounds(exact("sq_grad_norm", steps_of(id), alpha_of(id, R), R, budget), R)
    except NotExact:
        return np.nan


def measured(id, R, trials, budget):
    """(exact, mean, low, high) at R rounds."""
    steps, alpha = steps_of(id), float(alpha_of(id, R))
    found = ft.compare(
        id.partition("@")[0],
        problem(),
        rounds=R,
        trials=trials,
        x_0=np.full(D, X_0),
        exact=False,
        **(dict(a=A) if "corollary" in id else {}),
        **hyper(steps, alpha),
    )
    return [enumerated(id, R, budget), *(side[-1] for side in (found.left, found.low, found.high))]


def compute(scale, progress):
    data = {}
    for n, id in enumerate(TITLES):
        steps, found = steps_of(id), []
        Rs, worst_R = sorted({*ROUNDS[scale], *WORST_R[steps]}), WORST_R[steps]
        for R in Rs:
            room = not found or np.isfinite(
                found[-1][0]
            )  # where there is none, there is none for more rounds
            found.append(measured(id, R, TRIALS[scale], BUDGET[scale] if room else None))
        data.update(
            _theory.panel(
                id,
                Rs,
                [bound(id, R) for R in Rs],
                found,
                worst_R,
                _theory.worst(
                    discover.claim(id.partition("@")[0]), worst_R, SECONDS[scale], T=steps
                ),
                [bound(id, R) for R in worst_R],
            )
        )
        progress(n + 1, len(TITLES))
    return dict(data, trivial=np.array([M**2 / np.sqrt(V_0)]))


def draw(figure, data):
    axes = _theory.draw_panels(
        figure,
        data,
        TITLES,
        "fed_lamb",
        r"mean $\mathbb{E}\|\nabla f(\bar\theta_r)/\hat v_r^{1/4}\|^2$",
        data["trivial"],
        xlabel="$R$",
        titles=TITLES,
    )
    _theory.say_trivial(axes[0], data["trivial"][0], r"$M^2/\sqrt{v_0}$: trivial")
    _theory.say_worst(axes[0], 0.06, 0.13, "worst case found,\nas share of bound")
    axes[-1].text(
        0.04,
        0.04,
        "where “exact” ends:\nruns alone",
        transform=axes[-1].transAxes,
        fontsize=_style.SMALL,
        color=_style.OPEN,
        linespacing=1.05,
    )
    runs, bound, exact = axes[-1].get_lines()[:3]
    _style.direct_labels(axes[-1], [runs, bound])
    there = np.isfinite(exact.get_ydata())
    axes[-1].annotate(
        "exact",
        (exact.get_xdata()[there][-1], exact.get_ydata()[there][-1]),
        xytext=(2, 3),
        textcoords="offset points",
        fontsize=_style.SMALL,
    )


def rows(data):
    return _theory.rows_of(data, TITLES, "mean squared gradient")


FIGURE = Figure(
    cites="FED-LAMB, theorem 1 and corollary 1",
    title="Bounds, exact expectation, runs and worst cases",
    shows=("lamb.theorem1_explicit", "lamb.corollary1_explicit"),
    compute=compute,
    draw=draw,
    rows=rows,
    width="page",
    height=2.3,
)
