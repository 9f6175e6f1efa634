"""Which method is ahead where: by the papers' bounds, and in truth.

FSL against FedAvg, on the clients' loss: the bound is theorem 2's, with gamma = 0 for FedAvg, and a
gradient of the modified loss turned into one of the clients' by what xi_bar allows; each at the
longest step of (13). Mixed FL: theorems B.1 to B.3, convex, each at its longest step. What is true is
the exact expectation of the same quantity, on the problems of the theory figures with other noise
and dissimilarity.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.comparing.objectives import objective
from fedtheory.figures import _caption, _style, theory_fsl, theory_mixed
from fedtheory.figures._record import Figure

POINTS = dict(smoke=4, quick=15, paper=31)  # for each axis
ROUNDS = dict(fsl=80, mixed=100)
GAMMA, SERVER = (0.05, 4.0), (0.01, 2.0)  # and xi_bar over G
NOISE, APART = (0.05, 8.0), (0.05, 20.0)  # sigma_c, G
MIXED = {
    f"mixed.theorem{theorem}_convex_explicit": method
    for theorem, method in theory_mixed.METHODS.items()
}


def fsl(gamma, xi_bar):
    """(bound, truth) of the least squared gradient of the clients' loss."""
    claim, T, spectrum = discover.claim("fsl.theorem2"), ROUNDS["fsl"], theory_fsl.SPECTRUM
    spectrum = dict(spectrum, xi_bar=xi_bar)
    of, x_0 = ft.problems.quadratic(seed=3, **spectrum), np.full(spectrum["d"], 2.0)
    at = {name: spectrum[name] for name in ("L", "G", "xi_bar", "sigma", "sigma_0")}
    fixed = dict(theory_fsl.FIXED, gamma=gamma)
    loss = objective(of, "tilde_loss", gamma)
    at.update(fixed, N=spectrum["clients"], T=T, tilde_D_0=loss.loss(x_0) - loss.lowest().high)
    u = theory_fsl.ceiling(**fixed, L=at["L"])
    at.update(eta_0=u / at["K_0"], eta_l=u / (at["K"] * at["eta_g"]))
    h = claim.lines[0][0].coeff(claim.table["E_T"].symbol)
    h = float(claim.expand(h).subs({claim.table[n].symbol: v for n, v in at.items()}))
    right = float(claim.evaluate(at)) / h
    names = ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")
    e = ft.expected(of, "fsl", rounds=T, x_0=x_0, **{name: at[name] for name in names})
    return (right**0.5 + gamma / (1 + gamma) * xi_bar) ** 2, e.metrics["sq_grad_norm"][:T].min()


def mixed(noise, apart):
    """(bounds, truths) of the three methods, of the mean point's excess."""
    of = ft.problems.mixed(seed=3, sigma=1.0, sigma_c=noise, **dict(theory_mixed.SPECTRUM, G=apart))
    bounds, truths = [], []
    for id in MIXED:
        T, claim = ROUNDS["mixed"], discover.claim(id)
        at = theory_mixed.values(id, T, of)
        bounds.append(np.inf if claim.admits(at) else theory_mixed.bound(id, T, of))
        truths.append(theory_mixed.exact_gap(id, T, at, of))
    return bounds, truths


def compute(scale, progress):
    size = POINTS[scale]
    gamma, server = np.geomspace(*GAMMA, size), np.geomspace(*SERVER, size)
    noise, apart = np.geomspace(*NOISE, size), np.geomspace(*APART, size)
    alone = [fsl(0.0, xi) for xi in server * theory_fsl.SPECTRUM["G"]]
    both, three = np.empty((2, size, size)), np.empty((2, size, size, len(MIXED)))
    for n in range(size):
        for m in range(size):
            found = fsl(gamma[n], server[m] * theory_fsl.SPECTRUM["G"])
            both[:, n, m] = [one / other for one, other in zip(found, alone[m])]
            three[:, n, m] = mixed(noise[n], apart[m])
        progress(n + 1, size)
    names = ("gamma", "server", "noise", "apart", "fsl", "mixed")
    return dict(zip(names, (gamma, server, noise, apart, both, three)))


def draw(figure, data):
    from matplotlib.patches import Patch

    left, right = figure.subplots(1, 2)
    colours = [_style.look("fedavg").colour, _style.look("fsl").colour]
    said, true = data["fsl"] < 1
    contest(left, data["server"], data["gamma"], said.astype(int), true.astype(int), colours)
    left.set(xlabel=r"server's dissimilarity $\bar\xi/G$", ylabel=r"weight of the server $\gamma$")
    left.set_title(f"least squared gradient of $F$, $T={ROUNDS['fsl']}$")
    methods = [_style.look(method) for method in MIXED.values()]
    said, true = np.argmin(data["mixed"], axis=-1)
    contest(right, data["apart"], data["noise"], said, true, [m.colour for m in methods])
    right.set(xlabel="dissimilarity $G$", ylabel=r"central noise $\sigma_c$")
    right.set_title(f"excess of the mean point, $T={ROUNDS['mixed']}$")
    handles = [
        Patch(color=_style.tint(look.colour, SHADE), label=look.label)
        for look in (_style.look("fedavg"), _style.look("fsl"), *methods)
    ]
    handles.append(
        Patch(facecolor="white", edgecolor=_style.INK, hatch="////", label="bounds disagree")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=6, handlelength=1.2)


SHADE = 0.55


def contest(ax, x, y, said, true, colours):
    """Who is ahead in truth, as colour; hatched where the bounds say another."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    shades = ListedColormap([_style.tint(colour, SHADE) for colour in colours])
    norm = BoundaryNorm(np.arange(-0.5, len(colours)), shades.N)
    x, y = _style.cells(x), _style.cells(y)
    ax.pcolormesh(x, y, true, cmap=shades, norm=norm)
    wrong = np.ma.masked_where(said == true, np.ones(said.shape))
    clear = dict(cmap=ListedColormap([(1, 1, 1, 0)]), edgecolor=_style.INK, linewidth=0)
    ax.pcolor(x, y, wrong, hatch="////", **clear)
    ax.set(xscale="log", yscale="log")


def caption(data):
    shared = _caption.constants(
        discover.claim("fsl.theorem2").table,
        {
            **{n: theory_fsl.SPECTRUM[n] for n in ("L", "G", "sigma", "sigma_0")},
            **{n: theory_fsl.FIXED[n] for n in ("K", "K_0", "S", "eta_g")},
        },
    )
    return (
        f"Colour: who is ahead by the exact expectation; hatched: where the papers' bounds put another ahead. Left: FSL "
        f"against FedAvg, each at the longest step of (13), {shared}; bounds are those of theorem 2 on the modified loss and "
        r"what $\bar\xi$ adds. Right: theorems B.1 to B.3, convex, each at its longest step. Quadratics of the theory "
        "figures, nothing sampled."
    )


def says(data):
    said, true = data["fsl"] < 1
    ahead = lambda where: _caption.number(100 * np.mean(where))
    bounds, truths = np.argmin(data["mixed"], axis=-1)
    labels = [_style.look(method).label for method in MIXED.values()]
    told = ", ".join(f"{name} {ahead(truths == n)} %" for n, name in enumerate(labels))
    claimed = ", ".join(f"{name} {ahead(bounds == n)} %" for n, name in enumerate(labels))
    return (
        f"FSL is ahead on {ahead(true)} % of the left map in truth and on {ahead(said)} % by the bounds, which are wrong "
        f"about who is on {ahead(said != true)} %. On the right, in truth: {told}; by the bounds: {claimed}; they are wrong "
        f"on {ahead(bounds != truths)} %."
    )


def rows(data):
    found = [["map", "x", "y", "ahead by bounds", "ahead in truth"]]
    pair = ("FedAvg", "FSL")
    said, true = (data["fsl"] < 1).astype(int)
    for (n, m), one in np.ndenumerate(said):
        numbers = [f"{data['server'][m]:.4g}", f"{data['gamma'][n]:.4g}"]
        found.append(["FSL", *numbers, pair[one], pair[true[n, m]]])
    labels = [_style.look(method).label for method in MIXED.values()]
    said, true = np.argmin(data["mixed"], axis=-1)
    for (n, m), one in np.ndenumerate(said):
        numbers = [f"{data['apart'][m]:.4g}", f"{data['noise'][n]:.4g}"]
        found.append(["mixed FL", *numbers, labels[one], labels[true[n, m]]])
    return found


FIGURE = Figure(
    cites="all papers, comparisons",
    title="Who is ahead, by the bounds and in truth",
    shows=("fsl.theorem2", *MIXED),
    compute=compute,
    draw=draw,
    rows=rows,
    caption=caption,
    says=says,
    width="page",
    height=2.8,
)
