"""Maps of which method is ahead, by the papers' bounds and by exact values.

FSL against FedAvg, on the clients' loss: the bound is theorem 2's, with gamma = 0 for FedAvg, and a
gradient of the modified loss turned into one of the clients' by what xi_bar allows; each at the
longest step of (13). Mixed FL: theorems B.1 to B.3, convex, each at its longest step. What is true is
the exact expectation of the same quantity, on the problems of the theory figures with other noise
and dissimilarity.

Flex: whether to keep a device that has left in the objective. The bounds are theorem 3.1's, whose bias
counts every round since then, and corollary 3.2.1's, at the distance from which training starts over;
the truth is the exact expectation of what they bound, the squared distance to the optimum of what is
trained.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _style, _theory, theory_flex, theory_fsl, theory_mixed
from fedtheory.figures._record import Figure
from fedtheory.participation import staircase
from fedtheory.typing import Number

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

POINTS = dict(smoke=4, quick=15, paper=31)  # for each axis
ROUNDS = dict(fsl=80, mixed=100)
GAMMA, SERVER = (0.05, 4.0), (0.01, 2.0)  # and xi_bar over G
NOISE, APART = (0.05, 8.0), (0.05, 20.0)  # sigma_c, G
STEPS, LEAVE, REMAIN = (1, 64), (1, 1000), (1, 3000)  # K, and flex's rounds
MIXED = {
    f"mixed.theorem{theorem}_convex_explicit": method
    for theorem, method in theory_mixed.METHODS.items()
}


def fsl(gamma: float, xi_bar: float) -> tuple[float, float]:
    """Compute (bound, exact value) of the least squared gradient of the clients' loss."""
    spectrum, fixed = dict(theory_fsl.SPECTRUM, xi_bar=xi_bar), dict(theory_fsl.FIXED, gamma=gamma)
    of, x_0, T = (
        ft.problems.quadratic(seed=3, **spectrum),
        theory_fsl.theory_problem()[1],
        ROUNDS["fsl"],
    )
    bound = theory_fsl.compare_longest("fsl.theorem2", of, x_0, [T], trials=0, exact=False, **fixed)
    steps = {name: bound.numbers[name] for name in ("eta_l", "eta_0")}
    e = ft.expected(of, "fsl", rounds=T, x_0=x_0, **fixed, **steps)
    right = (bound.right[0] ** 0.5 + gamma / (1 + gamma) * xi_bar) ** 2
    return right, e.metrics["sq_grad_norm"][:T].min()


def mixed_bounds(noise: float, apart: float, K: float) -> tuple[list[float], list[float]]:
    """Compute (bounds, exact values) of the three methods for the excess loss of the mean point."""
    of = ft.problems.mixed(seed=3, sigma=1.0, sigma_c=noise, **dict(theory_mixed.SPECTRUM, G=apart))
    bounds, truths, T = [], [], ROUNDS["mixed"]
    for id in MIXED:
        _, x_0 = theory_mixed.theory_problem(id)
        found = theory_mixed.compare_longest(id, of, x_0, [T], trials=0, exact=False, K=int(K))
        bounds.append(found.right[0])
        at = _theory.letters_at(found, T)
        truths.append(theory_mixed.exact_gap(id, T, at, of, x_0))
    return bounds, truths


LEAVING, LAW = theory_flex.N + 1, theory_flex.AFTER  # the device that leaves, and how all work


def rates_of(tau_0: int, rounds: int, excluded: bool) -> np.ndarray:
    """Return theorem 3.1's learning rates of all rounds; after a departure the rates start over if
    the device is excluded."""
    eta_0, offset = theory_flex.printed_rate(LAW, _letters(LEAVING)["ps"])
    if not excluded:
        return staircase(eta_0, tau_0 + rounds, offset=offset)
    again, anew = theory_flex.printed_rate(LAW, _letters(theory_flex.N)["ps"])
    after = staircase(again, rounds, offset=anew)
    return np.append(staircase(eta_0, tau_0, offset=offset), after)


def include(tau_0: int, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute (bounds, exact values) for the given numbers of rounds since a departure, with the
    device kept in the objective: the device does no work, and the rate keeps decreasing."""
    own = _letters(LEAVING)
    eta_0, offset = theory_flex.printed_rate(LAW, own["ps"])
    at = dict(own, tau=tau_0 + rounds, I_sum=rounds, eta=eta_0 / (tau_0 + rounds + offset))
    away = [*theory_flex.PANELS[LAW][2][:-1], theory_flex.work_law(20, 0, 0)]
    of, etas = theory_flex.arc_problem(LEAVING), rates_of(tau_0, int(rounds[-1]), False)
    _, square = theory_flex.carry_moments(of, "C", away, etas[tau_0:], _after_departure(tau_0))
    return discover.claim("flex.theorem3_1").fast(at), square.sum(axis=1)[rounds]


def exclude(tau_0: int, rounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute (bounds, exact values) for the given numbers of rounds since a departure, with the
    device removed from the objective: training starts over at the initial rate."""
    own, new = _letters(LEAVING), _letters(theory_flex.N)
    eta_0, offset = theory_flex.printed_rate(LAW, new["ps"])
    x, square = _after_departure(tau_0)
    to = -theory_flex.objective_shift()  # x - w~* from x - w*
    at = dict(
        {**own, **{f"tilde_{name}": new[name] for name in MOMENTS}},
        I_sum=0,
        tau=tau_0 + rounds,
        tau_0=tau_0,
        eta=eta_0 / (rounds + offset),
        Delta=float(square.sum()),
        shift=float(np.linalg.norm(to)),
    )
    before = x + to, square + 2 * to * x + to**2
    etas, rows = rates_of(tau_0, int(rounds[-1]), True), theory_flex.PANELS[LAW][2][:-1]
    _, square = theory_flex.carry_moments(
        theory_flex.arc_problem(), "C", rows, etas[tau_0:], before
    )
    return discover.claim("flex.corollary3_2_1").fast(at), square.sum(axis=1)[rounds]


MOMENTS = "ps ps_Gamma ps_plus p2s_over_p p2s_sigma ratio_min ratio_max".split()


def _letters(devices: int) -> dict[str, Number]:
    """Return the values of theorem 3.1's letters for the given number of devices, except the
    training time."""
    apart = theory_flex.X_0 - theory_flex.arc_problem(devices).minimizer()
    found = theory_flex.of_law(LAW, devices)
    found.update(E=theory_flex.E, N=devices, L=theory_flex.L, mu=theory_flex.MU)
    found.update(G=theory_flex.largest_gradient(), theta=theory_flex.E, ratio_sup=theory_flex.E)
    return dict(found, sq_dist_0=float(apart @ apart))


def _after_departure(tau_0: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute E of x - w* and of its square, coordinate by coordinate, when the device leaves."""
    of, rows = theory_flex.arc_problem(LEAVING), theory_flex.PANELS[LAW][2]
    gap, etas = theory_flex.X_0 - of.minimizer(), rates_of(tau_0, 0, False)
    mean, square = theory_flex.carry_moments(of, "C", rows, etas, (gap, gap**2))
    return mean[-1], square[-1]


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    size = POINTS[scale]
    gamma, server = np.geomspace(*GAMMA, size), np.geomspace(*SERVER, size)
    noise, apart = np.geomspace(*NOISE, size), np.geomspace(*APART, size)
    steps, leave, remain = (
        np.unique(np.round(np.geomspace(*ends, size)).astype(int))
        for ends in (STEPS, LEAVE, REMAIN)
    )
    alone = [fsl(0.0, xi) for xi in server * theory_fsl.SPECTRUM["G"]]
    both, three = np.empty((2, size, size)), np.empty((2, size, size, len(MIXED)))
    more = np.empty((2, size, len(steps), len(MIXED)))
    for n in range(size):
        for m in range(size):
            found = fsl(gamma[n], server[m] * theory_fsl.SPECTRUM["G"])
            both[:, n, m] = [one / other for one, other in zip(found, alone[m])]
            three[:, n, m] = mixed_bounds(noise[n], apart[m], theory_mixed.FIXED["K"])
        for m, K in enumerate(steps):
            more[:, n, m] = mixed_bounds(noise[n], theory_mixed.SPECTRUM["G"], K)
        progress(n + 1, size + 1)
    kept = np.array([[include(tau_0, remain), exclude(tau_0, remain)] for tau_0 in leave])
    return dict(
        gamma=gamma,
        server=server,
        noise=noise,
        apart=apart,
        steps=steps,
        leave=leave,
        remain=remain,
        fsl=both,
        mixed=three,
        mixed_steps=more,
        flex=kept.transpose(2, 3, 0, 1),  # bound or truth, remaining, departure, method
    )


class Map(NamedTuple):
    name: str
    title: str
    across: str  # arrays of the axes, and what they are
    up: str
    xlabel: str
    ylabel: str
    labels: tuple[Any, ...]  # what is ahead, and in which colours
    colours: tuple[Any, ...]


LOOKS = [_style.algorithm_look(method) for method in MIXED.values()]
THREE = tuple(look.label for look in LOOKS), tuple(look.colour for look in LOOKS)
MAPS = (
    Map(
        *("fsl", f"FSL, $T={ROUNDS['fsl']}$", "server", "gamma"),
        *(r"server's dissimilarity $\bar\xi/G$", r"weight of the server $\gamma$"),
        *(
            ("FedAvg", "FSL"),
            (_style.algorithm_look("fedavg").colour, _style.algorithm_look("fsl").colour),
        ),
    ),
    Map(
        *("mixed", f"mixed FL, $T={ROUNDS['mixed']}$", "apart", "noise"),
        *("dissimilarity $G$", r"central noise $\sigma_c$"),
        *THREE,
    ),
    Map(
        *("mixed_steps", f"mixed FL, $T={ROUNDS['mixed']}$", "steps", "noise"),
        *("local steps $K$", r"central noise $\sigma_c$"),
        *THREE,
    ),
    Map(
        *("flex", "flex, scheme C", "leave", "remain"),
        *(r"departure $\tau_0$", r"remaining rounds $T-\tau_0$"),
        *(
            ("include", "exclude"),
            (_style.STATUS["vacuous"], _style.algorithm_look("flex_b").colour),
        ),
    ),
)


def ahead(data: Mapping[str, np.ndarray], each: Map) -> np.ndarray:
    """Return the index of the method that is ahead at each place of a map, by the bounds and by the
    exact values."""
    if each.name == "fsl":
        return (data["fsl"] < 1).astype(int)
    return np.argmin(data[each.name], axis=-1)


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    from matplotlib.patches import Patch

    shown = {}
    for ax, each in zip(figure.subplots(2, 2).flat, MAPS):
        contest(ax, data[each.across], data[each.up], *ahead(data, each), each.colours)
        ax.set(title=each.title, xlabel=each.xlabel, ylabel=each.ylabel)
        shown |= dict(zip(each.labels, each.colours))
    handles = [
        Patch(color=_style.tint_colour(colour, SHADE), label=label)
        for label, colour in shown.items()
    ]
    hatched = dict(facecolor="white", edgecolor=_style.INK, hatch="////")
    handles.append(Patch(label="bounds disagree", **hatched))
    figure.legend(handles=handles, loc="outside lower center", ncols=4, handlelength=1.2)


SHADE = 0.55


def contest(
    ax: "Axes",
    x: np.ndarray,
    y: np.ndarray,
    said: np.ndarray,
    true: np.ndarray,
    colours: Sequence[str],
) -> None:
    """Draw which method is ahead by the exact values as colour, hatched where the bounds name
    another method."""
    from matplotlib.colors import BoundaryNorm, ListedColormap

    shades = ListedColormap([_style.tint_colour(colour, SHADE) for colour in colours])
    norm = BoundaryNorm(np.arange(-0.5, len(colours)), shades.N)
    x, y = _style.cell_edges(x), _style.cell_edges(y)
    ax.pcolormesh(x, y, true, cmap=shades, norm=norm)
    wrong = np.ma.masked_where(said == true, np.ones(said.shape))
    clear = dict(cmap=ListedColormap([(1, 1, 1, 0)]), edgecolor=_style.INK, linewidth=0)
    ax.pcolor(x, y, wrong, hatch="////", **clear)
    ax.set(xscale="log", yscale="log")


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    shared = _caption.constants_text(
        discover.claim("fsl.theorem2").table,
        {
            **{n: theory_fsl.SPECTRUM[n] for n in ("L", "G", "sigma", "sigma_0")},
            **{n: theory_fsl.FIXED[n] for n in ("K", "K_0", "S", "eta_g")},
        },
    )
    return (
        "Colour: who is ahead by the exact expectation; hatched: where the papers' bounds put another ahead. FSL against "
        f"FedAvg: the least squared gradient of $F$, each at the longest step of (13), {shared}; bounds are those of theorem 2 on the modified loss and "
        r"what $\bar\xi$ adds. Mixed FL: the mean point's excess, theorems B.1 to B.3, convex, each at its longest step, once with "
        f"$K={theory_mixed.FIXED['K']}$, once with $G={theory_mixed.SPECTRUM['G']:g}$. Flex: the squared distance to the optimum, one of {LEAVING} devices leaves; "
        "theorem 3.1 if it is kept in the objective, corollary 3.2.1 from where training stands if not, at theorem 3.1's "
        "rates. Quadratics of the theory figures, nothing sampled."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    share = lambda where: f"{_caption.number_text(100 * np.mean(where))} %"
    told = []
    for each in MAPS:
        said, true = ahead(data, each)
        counts = [
            f"{label} {share(true == n)} ({share(said == n)})"
            for n, label in enumerate(each.labels)
        ]
        axes = f"{each.title.partition(',')[0]} over {each.xlabel} and {each.ylabel}"
        wrong = f"the bounds are wrong on {share(said != true)}"
        told.append(f"{axes}: {_caption.join_words(counts)}; {wrong}")
    return f"Ahead in truth (by the bounds), of each map. {'. '.join(told)}."


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    found = [["map", "x", "y", "ahead by bounds", "ahead in truth"]]
    for each in MAPS:
        said, true = ahead(data, each)
        for (n, m), one in np.ndenumerate(said):
            numbers = [f"{data[each.across][m]:.4g}", f"{data[each.up][n]:.4g}"]
            found.append([each.name, *numbers, each.labels[one], each.labels[true[n, m]]])
    return found


FIGURE = Figure(
    cites="all papers, comparisons",
    title="Who is ahead, by the bounds and in truth",
    shows=("fsl.theorem2", *MIXED, "flex.theorem3_1", LAW),
    compute=compute_arrays,
    minutes=0.7,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=5.2,
)
