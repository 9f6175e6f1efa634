"""FSL: how far below its bounds the method stays, over the number of rounds.

Theorem 2's step is the largest that (13) admits; the corollaries' constants are such that theirs are there from T = 5.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.claims.fsl.corollaries import step_a, step_b, step_c
from fedtheory.symbols import fsl as symbols
from figures import _style, _theory
from figures._record import Figure

SPECTRUM = dict(d=4, clients=8, L=1., mu=.05, G=1., xi_bar=.3, sigma=1., sigma_0=1.)
FIXED = dict(gamma=.5, eta_g=2., K=2, K_0=4, S=4)    # eta_g = sqrt(S)
SHAPES = {"fsl.theorem2": None, "fsl.corollary1_explicit": (step_c, "c_b"), "fsl.corollary2a_explicit": (step_a, "c_a"),
          "fsl.corollary2b_explicit": (step_b, "c_b")}
TITLES = {"fsl.theorem2": "theorem 2", "fsl.corollary1_explicit": "corollary 1",
          "fsl.corollary2a_explicit": "corollary 2 (a)", "fsl.corollary2b_explicit": "corollary 2 (b)"}
WORST_T = (5, 10, 20, 40)
ROUNDS = dict(smoke=(4, 1280), quick=(2, 10240), paper=(2, 40960))    # factor between them, most
TRIALS = dict(smoke=40, quick=200, paper=1000)
SECONDS = dict(smoke=.3, quick=3., paper=20.)    # of search for each statement and T


def ceiling(gamma, eta_g, L, **others):
    """The largest K_0 eta_0 of (13), a rounding below."""
    kappa = max(4 * gamma**3, 2 / eta_g**2 + 3 * gamma**2)
    return min(1, (gamma + 1)**2 / (2 * kappa)) / (8 * L * (gamma + 1)) * (1 - 1e-9)


def problem():
    return ft.problems.quadratic(seed=3, **SPECTRUM), np.full(SPECTRUM["d"], 2.)


def excess(of, x_0):
    """The modified loss above its infimum at x_0; Hessians are alike, so its minimiser is a mean of minimisers."""
    gamma = FIXED["gamma"]
    x_star = (of.data.x_star + gamma * of.data.b[0]) / (1 + gamma)
    at = lambda x: ft.expected(of, "fsl", rounds=0, x_0=x, eta_l=0., eta_0=0., gamma=gamma).metrics["tilde_loss"][0]
    return at(x_0) - at(x_star)


def values(id, T, D):
    """Everything a statement takes, at T rounds."""
    u = ceiling(**FIXED, L=SPECTRUM["L"])
    found = dict({name: SPECTRUM[name] for name in ("L", "G", "xi_bar", "sigma", "sigma_0")}, **FIXED,
                 N=SPECTRUM["clients"], T=T, tilde_D_0=D, a=1., b=2.)
    if SHAPES[id]:
        shape, constant = SHAPES[id]
        at = lambda rounds: float(shape.subs({getattr(symbols, name): value for name, value in
                                              {**found, "T": rounds}.items() if name in symbols.TABLE}))
        found[constant] = u / at(WORST_T[0])
        u = found[constant] * at(T)
    return dict(found, eta_0=u / FIXED["K_0"], eta_l=u / (FIXED["K"] * FIXED["eta_g"]))


def bound(id, T, D):
    """What a statement allows the least expected squared gradient to be."""
    claim, at = discover.claim(id), values(id, T, D)
    right = float(claim.evaluate(at))
    progress = claim.lines[0][0].coeff(symbols.E_T)    # h in theorem 2
    return right / float(claim.expand(progress).subs({claim.table[n].symbol: v for n, v in at.items()}))


def compute(scale, progress):
    of, x_0 = problem()
    D = excess(of, x_0)
    factor, most = ROUNDS[scale]
    T = np.array([5 * factor**n for n in range(20) if 5 * factor**n <= most])
    data, total = {"trivial": np.array([2 * SPECTRUM["L"] * D])}, len(SHAPES) * len(T)
    for n, id in enumerate(SHAPES):
        measured = []
        for m, rounds in enumerate(T):
            at = values(id, int(rounds), D)
            hyper = {name: at[name] for name in ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0")}
            measured.append(_theory.least(of, "fsl", "sq_tilde_grad_norm", int(rounds), TRIALS[scale], x_0, at["S"],
                                          **hyper))
            progress(n * len(T) + m, total)
        data.update(_theory.panel(
            id, T, [bound(id, int(rounds), D) for rounds in T], measured, WORST_T,
            _theory.worst(discover.claim(id), WORST_T, SECONDS[scale]), [bound(id, rounds, D) for rounds in WORST_T]))
    return data


def draw(figure, data):
    axes = _theory.draw_panels(figure, data, SHAPES, "fsl", r"least $\mathbb{E}\|\nabla\tilde F(x_t)\|^2$",
                               data["trivial"], titles=TITLES)
    _theory.say_trivial(axes[0], data["trivial"][0], r"$2L\tilde D_0$: trivial")
    _theory.say_worst(axes[1], .06, .215)
    _style.direct_labels(axes[-1])


def rows(data):
    return _theory.rows_of(data, SHAPES, "least squared gradient")


FIGURE = Figure(cites="FSL, theorem 2 and corollaries 1 and 2", title="Bounds, exact expectation, runs and worst cases",
                shows=tuple(SHAPES), compute=compute, draw=draw, rows=rows, width="page", height=2.3)
