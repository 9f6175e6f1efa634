"""FSL: how far below its bounds the method stays, over the number of rounds.

Theorem 2's step is the largest that (13) admits; the corollaries' constants are such that theirs
are there from T = 5. With a large weight of the server (appendix A-F (b)) its loss is the clients'
mean, and its weight 4.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.claims.fsl.corollaries import step_a, step_b, step_c
from fedtheory.comparing.objectives import objective
from fedtheory.figures import _style, _theory
from fedtheory.figures._record import Figure
from fedtheory.symbols import fsl as symbols

SPECTRUM = dict(d=4, clients=8, L=1.0, mu=0.05, G=1.0, xi_bar=0.3, sigma=1.0, sigma_0=1.0)
FIXED = dict(gamma=0.5, eta_g=2.0, K=2, K_0=4, S=4)  # eta_g = sqrt(S)
SGD = "fsl.special_sgd_explicit"
SHAPES = {
    "fsl.theorem2": None,
    "fsl.corollary1_explicit": (step_c, "c_b"),
    "fsl.corollary2a_explicit": (step_a, "c_a"),
    "fsl.corollary2b_explicit": (step_b, "c_b"),
    "fsl.corollary2c_explicit": (step_c, "c_b"),
    SGD: (1 / (symbols.L * symbols.gamma**2), "c"),
}
OWN = {SGD: dict(gamma=4.0, xi_bar=0.0)}  # where a statement asks for it
TITLES = {
    "fsl.theorem2": "theorem 2",
    "fsl.corollary1_explicit": "corollary 1",
    "fsl.corollary2a_explicit": "corollary 2 (a)",
    "fsl.corollary2b_explicit": "corollary 2 (b)",
    "fsl.corollary2c_explicit": "corollary 2 (c)",
    SGD: r"large $\gamma$, appendix A-F",
}
WORST_T = (5, 10, 20, 40)
ROUNDS = dict(smoke=(4, 1280), quick=(2, 10240), paper=(2, 40960))  # factor between them, most
TRIALS = dict(smoke=40, quick=200, paper=1000)
SECONDS = dict(smoke=0.1, quick=3.0, paper=20.0)  # of search for each statement and T


def ceiling(gamma, eta_g, L, **others):
    """The largest K_0 eta_0 of (13), a rounding below."""
    kappa = max(4 * gamma**3, 2 / eta_g**2 + 3 * gamma**2)
    return min(1, (gamma + 1) ** 2 / (2 * kappa)) / (8 * L * (gamma + 1)) * (1 - 1e-9)


def given(of, id):
    """SPECTRUM or FIXED as a statement asks for it."""
    return {name: OWN.get(id, {}).get(name, value) for name, value in of.items()}


def problem(id=None):
    return ft.problems.quadratic(seed=3, **given(SPECTRUM, id)), np.full(SPECTRUM["d"], 2.0)


def excess(of, x_0, gamma=FIXED["gamma"]):
    """The modified loss above its infimum at x_0."""
    loss = objective(of, "tilde_loss", gamma)
    return loss.loss(x_0) - loss.lowest().high


def values(id, T, D):
    """Everything a statement takes, at T rounds."""
    fixed, spectrum = given(FIXED, id), given(SPECTRUM, id)
    u = ceiling(**fixed, L=spectrum["L"])
    found = dict(
        {name: spectrum[name] for name in ("L", "G", "xi_bar", "sigma", "sigma_0")},
        **fixed,
        N=SPECTRUM["clients"],
        T=T,
        tilde_D_0=D,
        a=1.0,
        b=2.0,
    )
    if SHAPES[id]:
        shape, constant = SHAPES[id]
        at = lambda rounds: float(
            shape.subs(
                {
                    getattr(symbols, name): value
                    for name, value in {**found, "T": rounds}.items()
                    if name in symbols.TABLE
                }
            )
        )
        found[constant] = u / at(WORST_T[0])
        u = found[constant] * at(T)
    return dict(found, eta_0=u / FIXED["K_0"], eta_l=u / (FIXED["K"] * FIXED["eta_g"]))


def progress_of(id, at):
    """What a statement multiplies the least expected squared gradient by: h in theorem 2, else
    1."""
    claim = discover.claim(id)
    factor = claim.expand(claim.lines[0][0].coeff(symbols.E_T))
    return float(factor.subs({claim.table[n].symbol: v for n, v in at.items()}))


def bound(id, T, D):
    """What a statement allows the least expected squared gradient to be."""
    at = values(id, T, D)
    return float(discover.claim(id).evaluate(at)) / progress_of(id, at)


def measured(id, T, D, trials):
    """(exact, mean, low, high) of the least expected squared gradient over T rounds."""
    of, x_0 = problem(id)
    at = values(id, T, D)
    names = ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S", "a", "b", "c", "c_a", "c_b")
    asked = set(names) & set(at) & {"S", *discover.claim(id).parameters}
    found = ft.compare(
        id, of, rounds=T, trials=trials, x_0=x_0, **{name: at[name] for name in asked}
    )
    ends = (found.left_exact, found.left, found.low, found.high)
    return np.array([side[-1] for side in ends]) / progress_of(id, at)


def compute(scale, progress):
    factor, most = ROUNDS[scale]
    T = np.array([5 * factor**n for n in range(20) if 5 * factor**n <= most])
    data, total = {}, len(SHAPES) * len(T)
    for n, id in enumerate(SHAPES):
        D, found = excess(*problem(id), given(FIXED, id)["gamma"]), []
        data[_theory.key(id, "trivial")] = np.array(2 * SPECTRUM["L"] * D)
        for m, rounds in enumerate(T):
            found.append(measured(id, int(rounds), D, TRIALS[scale]))
            progress(n * len(T) + m, total)
        data.update(
            _theory.panel(
                id,
                T,
                [bound(id, int(rounds), D) for rounds in T],
                found,
                WORST_T,
                _theory.worst(discover.claim(id), WORST_T, SECONDS[scale]),
                [bound(id, rounds, D) for rounds in WORST_T],
            )
        )
    return data


def draw(figure, data):
    axes = figure.subplots(2, 3, sharex=True, sharey=True)
    for ax, id in zip(axes.flat, SHAPES):
        _theory.draw_panel(ax, data, id, "fsl", TITLES[id])
        _theory.draw_trivial(ax, data[_theory.key(id, "trivial")])
    for row in axes:
        row[0].set_ylabel(r"least $\mathbb{E}\|\nabla\tilde F(x_t)\|^2$")
    for ax in axes[1]:
        ax.set_xlabel("$T$")
    _theory.say_trivial(
        axes[0, 0], data[_theory.key("fsl.theorem2", "trivial")], r"$2L\tilde D_0$: trivial"
    )
    _theory.say_worst(axes[0, 1], 0.06, 0.26)
    _style.direct_labels(axes[0, -1])
    _style.direct_labels(axes[1, -1])


def rows(data):
    return _theory.rows_of(data, SHAPES, "least squared gradient")


FIGURE = Figure(
    cites="FSL, theorem 2, corollaries 1 and 2, appendix A-F",
    title="Bounds, exact expectation, runs and worst cases",
    shows=tuple(SHAPES),
    compute=compute,
    draw=draw,
    rows=rows,
    width="page",
    height=3.9,
)
