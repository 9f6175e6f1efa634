"""FSL, theorem 2: where in the plane of steps and rounds, and of steps and the server's weight, it says
nothing, something, or something false; and where the method itself is unstable.

The problem is that of the theory figure; what is true of it is the exact expectation. A run is
unstable where the exact map of a round, whose square is that of second moments (Hessians are alike,
so that nothing multiplies noise), stretches some direction.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _style, theory_fsl, vacuity_fsl
from fedtheory.figures._record import Figure
from fedtheory.symbols.fsl import TABLE

CLAIM, CEILING = "fsl.theorem2", "fsl.h_lower"  # (11), (13)
POINTS = dict(smoke=(8, 8, 4), quick=(40, 40, 24), paper=(80, 80, 48))  # steps, rounds, gamma
STEPS, ROUNDS, GAMMA = (0.03, 60.0), (2, 640), (0.05, 8.0)  # steps: shares of (11) at gamma = 1/2
AT_T = 80  # rounds, in the plane of steps and gamma
SPEAKS, VACUOUS, FALSE, OUTSIDE, BROKEN, UNSTABLE = range(6)
WORDS = {
    SPEAKS: "informative",
    VACUOUS: "vacuous",
    FALSE: "violated",
    OUTSIDE: "outside (11), holds",
    BROKEN: "outside (11), false",
    UNSTABLE: "method unstable",
}
COLOURS = {
    SPEAKS: "#5d9bd3",
    VACUOUS: "#dbe6f1",
    FALSE: _style.DIFFER,
    OUTSIDE: _style.PALE,
    BROKEN: "#e3a19c",
    UNSTABLE: "#5f5f5f",
}

WHITE = dict(boxstyle="square,pad=.1", facecolor="white", edgecolor="none", alpha=0.8)


def numbers(gamma, u, T=1):
    """Everything theorem 2 takes, at arrays or numbers, but the start."""
    fixed, spectrum = theory_fsl.FIXED, theory_fsl.SPECTRUM
    at = {name: spectrum[name] for name in ("L", "G", "xi_bar", "sigma", "sigma_0")}
    at.update(fixed, gamma=gamma, N=spectrum["clients"], T=T, tilde_D_0=0.0)
    return dict(at, eta_0=u / fixed["K_0"], eta_l=u / (fixed["K"] * fixed["eta_g"]))


def ceilings(gamma):
    """K_0 eta_0 of (11) and of (13)."""
    claim, found = discover.claim(CLAIM), []
    for id, where in ((CLAIM, "(11)"), (CEILING, "(13)")):
        (limit,) = [a.relation for a in discover.claim(id).assumes if a.where == where]
        found.append(float(vacuity_fsl.value(claim, limit.rhs, numbers(gamma, 1.0))))
    return found


def settings(gamma, u):
    at = numbers(gamma, u)
    return {name: at[name] for name in ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")}


def truth(gamma, u, T):
    """The least expected squared gradient of the modified loss within 1, 2, ..., T rounds."""
    of, x_0 = theory_fsl.problem()
    with np.errstate(all="ignore"):
        e = ft.expected(of, "fsl", rounds=T, x_0=x_0, **settings(gamma, u))
        squares = np.asarray(e.metrics["sq_tilde_grad_norm"], float)[:T]
    return np.minimum.accumulate(np.nan_to_num(squares, nan=np.inf))


def radius(gamma, u):
    """How far the exact map of a round stretches at most: read off the means from two starts."""
    of, _ = theory_fsl.problem()
    ends = [
        ft.expected(of, "fsl", rounds=1, x_0=x_0, **settings(gamma, u)).mean[1]
        for x_0 in (np.zeros(of.d), np.ones(of.d))
    ]
    return float(np.abs(ends[1] - ends[0]).max())  # Hessians are diagonal


def bounds(gamma, u, T):
    """What theorem 2 allows the least squared gradient to be; infinite where h <= 0."""
    claim, at = discover.claim(CLAIM), numbers(gamma, u, T)
    h = vacuity_fsl.value(claim, claim.table["h"].symbol, at)
    start = theory_fsl.excess(*theory_fsl.problem(), gamma)
    right = claim.fast(dict(at, tilde_D_0=start))
    return np.where(h > 0, right / np.where(h > 0, h, 1.0), np.inf), 2 * at["L"] * start


def state(gamma, u, true, right, trivial, ceiling):
    """What theorem 2 is at a step, for each T."""
    if radius(gamma, u) > 1:
        return np.full(len(true), UNSTABLE)
    false = true > right * (1 + 1e-9)
    if u > ceiling:
        return np.where(false, BROKEN, OUTSIDE)
    return np.where(false, FALSE, np.where(right < trivial, SPEAKS, VACUOUS))


def compute(scale, progress):
    steps, rounds, weights = POINTS[scale]
    at = theory_fsl.FIXED["gamma"]
    T = np.unique(np.round(np.geomspace(*ROUNDS, rounds)).astype(int))
    u = ceilings(at)[0] * np.geomspace(*STEPS, steps)
    gamma = np.geomspace(*GAMMA, weights)
    over_T, over_gamma = np.empty((len(u), len(T)), int), np.empty((len(u), len(gamma)), int)
    limits = np.array([ceilings(g) for g in gamma])
    for n, step in enumerate(u):
        right, trivial = bounds(at, step, T)
        true = truth(at, step, T[-1])[T - 1]
        over_T[n] = state(at, step, true, right, trivial, ceilings(at)[0])
        for m, g in enumerate(gamma):
            right, trivial = bounds(g, step, np.array([AT_T]))
            true = truth(g, step, AT_T)[-1:]
            over_gamma[n, m] = state(g, step, true, right, trivial, limits[m, 0])[0]
        progress(n + 1, len(u))
    names = ("L", "mu", "G", "xi_bar", "sigma", "sigma_0")
    constants = {**{n: theory_fsl.SPECTRUM[n] for n in names}, **theory_fsl.FIXED}
    return dict(
        u=u,
        T=T,
        gamma=gamma,
        over_T=over_T,
        over_gamma=over_gamma,
        limits=limits,
        ceilings=np.array(ceilings(at)),
        stable=np.array([stable(g) for g in [at, *gamma]]),
        constants=np.array(_caption.constants(TABLE, constants)),
    )


def stable(gamma, low=0.1, high=100.0):
    """The longest step at which a round stretches nothing, by halving intervals of its logarithm."""
    for _ in range(18):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if radius(gamma, middle) <= 1 else (low, middle)
    return low


def draw(figure, data):
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.patches import Patch

    shades = ListedColormap([COLOURS[n] for n in WORDS])
    norm = BoundaryNorm(np.arange(-0.5, len(WORDS)), shades.N)
    axes = figure.subplots(1, 2)
    for ax, y, states in zip(
        axes, (data["T"], data["gamma"]), (data["over_T"], data["over_gamma"])
    ):
        x, y = _style.cells(data["u"]), _style.cells(y)
        ax.pcolormesh(x, y, states.T, cmap=shades, norm=norm)
        ax.set(xscale="log", yscale="log", xlabel=r"step $K_0\eta_0=K\eta_l\eta_g$")
    lines = (
        (data["ceilings"][0], "(11)"),
        (data["ceilings"][1], "(13)"),
        (data["stable"][0], "stable"),
    )
    for x, text in lines:
        axes[0].axvline(x, color=_style.INK, linewidth=0.9, linestyle="--")
        said = dict(xycoords=("data", "axes fraction"), textcoords="offset points", rotation=90)
        axes[0].annotate(
            text, (x, 0.98), xytext=(-8, 0), va="top", fontsize=_style.SMALL, bbox=WHITE, **said
        )
    for x in (*data["limits"].T, data["stable"][1:]):
        axes[1].plot(x, data["gamma"], color=_style.INK, linewidth=0.9, linestyle="--")
    axes[0].set(ylabel="rounds $T$", title=rf"$\gamma={theory_fsl.FIXED['gamma']:g}$")
    axes[1].set(ylabel=r"weight of the server $\gamma$", title=f"$T={AT_T}$")
    present = np.union1d(data["over_T"], data["over_gamma"])
    handles = [Patch(color=COLOURS[n], label=words) for n, words in WORDS.items() if n in present]
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), handlelength=1.0)


def caption(data):
    return (
        f"Quadratics of the theory figure: {data['constants']}. Informative: theorem 2 bounds the least expected squared "
        r"gradient by less than $2L\tilde D_0$, which holds without training; vacuous: by more, or $h\leq0$; outside: steps "
        "beyond (11), where its inequality still holds for this problem's exact expectation or does not; unstable: the "
        "exact map of a round, whose square is that of second moments, stretches some direction. Dashed, from left "
        f"to right: (13), (11), the longest stable step. Left $\\gamma={theory_fsl.FIXED['gamma']:g}$, right $T={AT_T}$."
    )


def says(data):
    share = lambda states, n: _caption.number(100 * np.mean(states == n))
    eleven, thirteen = data["ceilings"]
    far = data["stable"][0] / np.array([eleven, thirteen])
    false = int(np.sum(data["over_T"] == FALSE) + np.sum(data["over_gamma"] == FALSE))
    return (
        f"The longest stable step is {_caption.number(far[0])} times that of (11) and {_caption.number(far[1])} times that of "
        f"(13). Theorem 2 is informative on {share(data['over_T'], SPEAKS)} % of the left map and "
        f"{share(data['over_gamma'], SPEAKS)} % of the right one; "
        + (f"it is violated at {false} points." if false else "it is violated nowhere on them.")
    )


def rows(data):
    found = [["", *WORDS.values()]]
    for name, states in (
        ("steps and rounds", data["over_T"]),
        ("steps and gamma", data["over_gamma"]),
    ):
        found.append([name, *(f"{np.mean(states == n):.1%}" for n in WORDS)])
    return found


FIGURE = Figure(
    cites="FSL, theorem 2",
    title="Where the theorem speaks, and where the method is stable",
    shows=(CLAIM,),
    compute=compute,
    draw=draw,
    rows=rows,
    caption=caption,
    says=says,
    width="page",
    stacks=True,
    height=2.7,
)
