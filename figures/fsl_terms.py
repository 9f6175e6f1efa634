"""FSL, theorem 1, term by term: one source of error at a time, its exact effect beside the two terms that
the bound has for it.

The round starts at the minimiser of the modified loss, where nothing is to be gained: what the loss
rises by is the source's own. The 5-term grows as the square of the step, the 8-term as its cube;
which of them the truth follows, and with how much of its constant, is read off.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.comparing.objectives import objective
from fedtheory.figures import _caption, _style, theory_fsl
from fedtheory.figures._record import Figure

CLAIM = "fsl.theorem1"
SOURCES = dict(
    sigma="noise of clients",
    sigma_0="noise of the server",
    G="unlike clients",
    xi_bar="unlike server",
)
POINTS = dict(smoke=7, quick=25, paper=60)
SPECTRUM = dict(d=4, clients=8, L=1.0, mu=0.05)
FIXED = theory_fsl.FIXED
LOW = 1e-3  # the shortest step, as a share of the longest that (11) admits


def numbers(source, u):
    """Everything theorem 1 takes where one source is 1 and the others are 0."""
    at = dict(FIXED, L=SPECTRUM["L"], N=SPECTRUM["clients"], **dict.fromkeys(SOURCES, 0.0))
    return dict(at, **{source: 1.0}, eta_0=u / at["K_0"], eta_l=u / (at["K"] * at["eta_g"]))


def ceiling():
    """The longest K_0 eta_0 of (11)."""
    claim = discover.claim(CLAIM)
    (limit,) = [a.relation for a in claim.assumes if a.where == "(11)"]
    at = dict(FIXED, L=SPECTRUM["L"])
    return float(limit.rhs.subs({s: at[s.name] for s in limit.rhs.free_symbols}))


def terms(source, u):
    """The terms in Psi and in Phi, which follow 5 and 8."""
    claim, at = discover.claim(CLAIM), numbers(source, u)
    right = claim.lines[0][2]
    values = {claim.table[name].symbol: value for name, value in at.items()}
    found = []
    for factor in (5, 8):
        (term,) = [t for t in right.as_ordered_terms() if t.as_coeff_Mul()[0] == factor]
        found.append(float(claim.expand(term).subs(values)))
    return found


def risen(source, u):
    """By how much the modified loss is expected to rise in a round from its minimiser."""
    spread = dict.fromkeys(SOURCES, 0.0) | {source: 1.0}
    of = ft.problems.quadratic(seed=3, **SPECTRUM, **spread)
    loss, at = objective(of, "tilde_loss", FIXED["gamma"]), numbers(source, u)
    start = minimizer(of)
    names = ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")
    e = ft.expected(of, "fsl", rounds=1, x_0=start, **{name: at[name] for name in names})
    return float(e.metrics["tilde_loss"][1] - loss.loss(start))


def minimizer(of):
    """Of the modified loss: Hessians are alike, so a mean of minimisers."""
    gamma = FIXED["gamma"]
    A, zero = of.client_grad(0, np.ones(of.d)), np.zeros(of.d)
    H = A - of.client_grad(0, zero)
    slope = (of.grad(zero) + gamma * of.client_grad(0, zero)) / (1 + gamma)
    return -slope / H


def compute(scale, progress):
    u = ceiling() * np.geomspace(LOW, 1, POINTS[scale])
    data = dict(u=u)
    for n, source in enumerate(SOURCES):
        five, eight = np.array([terms(source, step) for step in u]).T
        data |= {
            f"{source}_five": five,
            f"{source}_eight": eight,
            f"{source}_exact": np.array([risen(source, step) for step in u]),
        }
        progress(n + 1, len(SOURCES))
    given = {n: SPECTRUM[n] for n in ("L", "mu")} | FIXED | {"N": SPECTRUM["clients"]}
    return dict(data, constants=np.array(_caption.constants(discover.claim(CLAIM).table, given)))


def draw(figure, data):
    axes = figure.subplots(1, len(SOURCES), sharex=True, sharey=True)
    table, colour = discover.claim(CLAIM).table, _style.look("fsl").colour
    for ax, (source, words) in zip(axes, SOURCES.items()):
        of = lambda name: np.where(data[name] > FLOOR, data[name], np.nan)
        ax.plot(data["u"], of(f"{source}_five"), label="5-term", **_style.BOUND)
        look = dict(_style.BOUND, linestyle=":")
        ax.plot(data["u"], of(f"{source}_eight"), label="8-term", **look)
        ax.plot(data["u"], of(f"{source}_exact"), color=colour, label="exact")
        ax.set(xscale="log", yscale="log", title=f"${table[source].latex}$: {words}")
        ax.set_xlabel(r"step $K_0\eta_0$")
    axes[0].set_ylabel("what one round adds")
    figure.legend(handles=axes[0].get_lines(), loc="outside lower center", ncols=3)


FLOOR = 1e-15  # below it, a difference of losses is rounding's


def caption(data):
    return (
        f"Quadratics with equal Hessians, one source of error at 1 and the others at 0; {data['constants']}. One round of FSL "
        "from the minimiser of the modified loss: its expected rise, exactly (solid), and the terms "
        r"$5K_0^2\eta_0^2L\Psi$ (dashed) and $8K_0^3\eta_0^3L^2(\Phi+\gamma\kappa\bar\xi^2/(1+\gamma))$ (dotted) of the bound with the same "
        "source, over steps up to the longest of (11). Nothing is sampled."
    )


def needed(data, source):
    """(which term the truth follows, how much of its constant it needs at the shortest step that shows it, of both
    terms together at the longest)."""
    exact, five, eight = (data[f"{source}_{name}"] for name in ("exact", "five", "eight"))
    first = "5" if five[0] > 0 else "8"
    lead = five if five[0] > 0 else eight
    n = int(np.argmax(exact > FLOOR))  # the first that is no rounding
    return first, int(first) * exact[n] / lead[n], exact[-1] / (five[-1] + eight[-1])


def says(data):
    table, told = discover.claim(CLAIM).table, []
    for source in SOURCES:
        first, constant, whole = needed(data, source)
        told.append(
            f"${table[source].latex}$: {_caption.number(max(constant, 0))} for {first} at the shortest step that shows it, "
            f"{_caption.number(100 * max(whole, 0))} % of both terms at the longest"
        )
    return f"What these problems need of the constants: {'; '.join(told)}."


def rows(data):
    found = [["source", "step", "exact", "5-term", "8-term"]]
    for source in SOURCES:
        for n, u in enumerate(data["u"]):
            names = ("exact", "five", "eight")
            found.append([source, f"{u:.4g}", *(f"{data[f'{source}_{k}'][n]:.4g}" for k in names)])
    return found


FIGURE = Figure(
    cites="FSL, theorem 1",
    title="Term by term: what one source of error does, and what the bound has for it",
    shows=(CLAIM,),
    compute=compute,
    draw=draw,
    rows=rows,
    caption=caption,
    says=says,
    width="page",
    stacks=True,
    height=2.2,
)
