"""Exponents: by how much the bounds grow with each of their letters, and by how much the truth does.

An exponent is the slope of the logarithm where one letter is doubled and nothing else changes but
the steps that a statement prescribes. A bound may be right and its exponents wrong: a letter on
which the truth does not depend has exponent 0.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.claims.fsl.corollaries import step_c
from fedtheory.comparing.objectives import objective
from fedtheory.figures import _caption, _style, theory_fsl, theory_mixed
from fedtheory.figures._record import Figure
from fedtheory.symbols import fsl as fsl_symbols

T = dict(smoke=100, quick=1000, paper=10000)
FSL = dict(gamma=0.5, K=2, S=4, G=1.0, xi_bar=1.0, sigma=1.0)
MIXED = dict(S=4, K=2, G=1.0, sigma=1.0, sigma_c=1.0)
METHODS = {f"mixed.theorem{t}_convex_explicit": m for t, m in theory_mixed.METHODS.items()}
COROLLARY = "fsl.corollary1_explicit"


def fsl(T, gamma, K, S, **sources):
    """(bound, exact) of corollary 1's least squared gradient, at its own steps."""
    spectrum = dict(d=4, clients=32, L=1.0, mu=0.05, sigma_0=1.0, **sources)
    of, claim = ft.problems.quadratic(seed=3, **spectrum), discover.claim(COROLLARY)
    x_0, loss = np.full(4, 2.0), objective(of, "tilde_loss", gamma)
    at = dict(
        spectrum, gamma=gamma, K=K, K_0=8, S=S, N=32, eta_g=float(S) ** 0.5, T=T, a=1.0, b=2.0
    )
    at = {name: value for name, value in at.items() if name in claim.table and name != "mu"}
    at["tilde_D_0"] = loss.loss(x_0) - loss.lowest().high
    values = {claim.table[name].symbol: value for name, value in at.items()}
    shape = float(step_c.subs(values))
    early = float(step_c.subs({**values, fsl_symbols.T: START}))
    at["c_b"] = theory_fsl.ceiling(gamma, at["eta_g"], 1.0) / early
    u = at["c_b"] * shape
    at.update(eta_0=u / 8, eta_l=u / (K * at["eta_g"]))
    names = ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")
    e = ft.expected(of, "fsl", rounds=T, x_0=x_0, **{name: at[name] for name in names})
    exact = e.metrics["sq_tilde_grad_norm"][:T].min()
    return float(claim.evaluate(at)) / theory_fsl.progress_of(COROLLARY, at), float(exact)


START = 5  # the number of rounds from which the corollary's steps are admitted


def mixed(id, T, S, K, G, **noise):
    """(bound, exact) of a theorem of mixed FL, at its longest steps."""
    of = ft.problems.mixed(seed=3, **dict(theory_mixed.SPECTRUM, clients=32, G=G), **noise)
    at = theory_mixed.values(id, T, of)
    at.update(N=32, S=S, K=K, eta_s=float(S) ** 0.5)
    eta = theory_mixed.longest(id, **at) / (K * at["eta_s"])
    at.update(eta=eta, eta_c=eta * at["eta_s"])
    return float(discover.claim(id).evaluate(at)), theory_mixed.exact_gap(id, T, at, of)


def slopes(both, letters):
    """name -> exponents of the bound and of the truth."""
    here = np.log2(both(**letters))
    return {
        name: np.log2(both(**{**letters, name: 2 * value})) - here
        for name, value in letters.items()
    }


def compute(scale, progress):
    found, total = [], 1 + len(METHODS)
    made = slopes(fsl, dict(FSL, T=T[scale]))
    found += [(COROLLARY, name, *pair) for name, pair in made.items()]
    progress(1, total)
    for n, id in enumerate(METHODS):
        made = slopes(lambda id=id, **letters: mixed(id, **letters), dict(MIXED, T=T[scale]))
        found += [(id, name, *pair) for name, pair in made.items()]
        progress(n + 2, total)
    names = ("claim", "letter", "bound", "exact")
    return dict({n: np.array(c) for n, c in zip(names, zip(*found))}, T=np.array(T[scale]))


def title(id):
    return "FSL, corollary 1" if id == COROLLARY else f"{_style.look(METHODS[id]).label}, convex"


def draw(figure, data):
    ids = [COROLLARY, *METHODS]
    axes = figure.subplots(1, len(ids), sharex=True)
    for ax, id in zip(axes, ids):
        at = np.flatnonzero(data["claim"] == id)
        look = _style.look("fsl" if id == COROLLARY else METHODS[id])
        for y, n in enumerate(at):
            ends = data["bound"][n], data["exact"][n]
            ax.plot(ends, [y, y], color=_style.RULE, linewidth=0.9, zorder=0)
        ax.plot(data["bound"][at], np.arange(len(at)), "|", color=_style.INK, markersize=8)
        ax.plot(data["exact"][at], np.arange(len(at)), "o", color=look.colour, markersize=3.5)
        table = discover.claim(id).table
        letters = [f"${table[name].latex}$" for name in data["letter"][at].tolist()]
        ax.axvline(0, color=_style.RULE, linewidth=0.6, zorder=0)
        ax.set(yticks=range(len(at)), yticklabels=letters, ylim=(len(at) - 0.5, -0.5))
        ax.set(title=title(id), xlabel="exponent")
        ax.tick_params(axis="y", length=0)
    from matplotlib.lines import Line2D

    bare = dict(linestyle="", color=_style.INK)
    handles = [
        Line2D([], [], marker="|", markersize=8, label="bound", **bare),
        Line2D([], [], marker="o", markersize=3.5, label="exact expectation", **bare),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=2)


def caption(data):
    return (
        "Exponents: base-2 logarithms of the ratio when one letter is doubled, from "
        f"{_caption.constants(discover.claim(COROLLARY).table, dict(FSL, T=data['T']))} (FSL) and "
        f"{_caption.constants(discover.claim(next(iter(METHODS))).table, dict(MIXED, T=data['T']))} (mixed FL), 32 clients, "
        "quadratics; steps are those that each statement prescribes or admits at the letters' values. Nothing is sampled."
    )


def says(data):
    gap = np.abs(data["bound"] - data["exact"])
    worst = np.argsort(-gap)[:3]
    name = lambda n: (
        f"{title(data['claim'][n].item())} in ${discover.claim(data['claim'][n].item()).table[data['letter'][n].item()].latex}$ "
        f"({_caption.number(data['bound'][n])} for {_caption.number(data['exact'][n])})"
    )
    return (
        f"Exponents of bound and truth differ by {_caption.number(np.median(gap))} in the median, most for "
        f"{'; '.join(map(name, worst))}."
    )


def rows(data):
    columns = zip(*(data[name].tolist() for name in ("claim", "letter", "bound", "exact")))
    return [
        ["claim", "letter", "exponent of the bound", "of the truth"],
        *([id, letter, f"{one:.3f}", f"{other:.3f}"] for id, letter, one, other in columns),
    ]


FIGURE = Figure(
    cites="all papers, exponents",
    title="How bounds grow with their letters, and how the truth does",
    shows=(COROLLARY, *METHODS),
    compute=compute,
    draw=draw,
    rows=rows,
    caption=caption,
    says=says,
    width="page",
    stacks=True,
    height=2.3,
)
