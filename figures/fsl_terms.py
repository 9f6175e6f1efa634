"""FSL, theorem 1, term by term: the exact effect of one source of error at a time, beside the two
terms of the bound for that source.

The round starts at the minimiser of the modified loss, where nothing is to be gained: what the loss
rises by is the source's own. The 5-term grows as the square of the step, the 8-term as its cube;
which of them the truth follows, and with how much of its constant, is read off. Below, what the terms
come from: how far clients and the server drift from the point along one gradient of length 1, beside
(26) with its 4 and (27) with its 12 and its 16 = 12 4/3, and the progress per unit of step and squared
gradient beside h, where clients and server are alike.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.comparison.objectives import measured_loss
from fedtheory.figures import _caption, _style, theory_fsl
from fedtheory.figures._record import Figure

if TYPE_CHECKING:
    from fedtheory.problem import Problem

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
DRIFTS = {  # what moves -> (the lemma, its constant, gradients of F and of f_0 at the start, title)
    "clients": ("fsl.lemma4", 4.0, (1.0, 0.0), r"clients along $\nabla F$, (26)"),
    "server": ("fsl.lemma5", 12.0, (1.0, 0.0), r"server along $\nabla F$, (27)"),
    "server_own": ("fsl.lemma5", 16.0, (0.0, 1.0), r"server along $\nabla f_0$, (27)"),
}
LOW = 1e-3  # the shortest step, as a share of the longest that (11) admits


def numbers(source: str, u: float) -> dict[str, float]:
    """Return the values of all letters of theorem 1 with one source at 1 and the other sources at
    0."""
    at = dict(FIXED, L=SPECTRUM["L"], N=SPECTRUM["clients"], **dict.fromkeys(SOURCES, 0.0))
    return dict(at, **{source: 1.0}, eta_0=u / at["K_0"], eta_l=u / (at["K"] * at["eta_g"]))


def ceiling() -> float:
    """Return the longest K_0 eta_0 that (11) admits."""
    claim = discover.claim(CLAIM)
    (limit,) = [a.relation for a in claim.assumes if a.where == "(11)"]
    at = dict(FIXED, L=SPECTRUM["L"])
    return float(limit.rhs.subs({s: at[s.name] for s in limit.rhs.free_symbols}))


def terms(source: str, u: float) -> list[float]:
    """Return the bound's terms with factors 5 (in Psi) and 8 (in Phi)."""
    claim, at = discover.claim(CLAIM), numbers(source, u)
    right = claim.lines[0][2]
    values = {claim.table[name].symbol: value for name, value in at.items()}
    found = []
    for factor in (5, 8):
        (term,) = [t for t in right.as_ordered_terms() if t.as_coeff_Mul()[0] == factor]
        found.append(float(claim.expand(term).subs(values)))
    return found


def risen(source: str, u: float) -> float:
    """Compute the expected increase of the modified loss in a round that starts at its minimiser."""
    spread = dict.fromkeys(SOURCES, 0.0) | {source: 1.0}
    of = ft.problems.quadratic(seed=3, **SPECTRUM, **spread)
    loss, at = measured_loss(of, "tilde_loss", FIXED["gamma"]), numbers(source, u)
    start = minimizer(of)
    names = ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0", "S")
    e = ft.expected(of, "fsl", rounds=1, x_0=start, **{name: at[name] for name in names})
    return float(e.metrics["tilde_loss"][1] - loss.loss(start))


def minimizer(of: "Problem") -> np.ndarray:
    """Return the minimiser of the modified loss, a mean of minimisers since all Hessians are equal."""
    gamma = FIXED["gamma"]
    A, zero = of.client_grad(0, np.ones(of.d)), np.zeros(of.d)
    H = A - of.client_grad(0, zero)
    slope = (of.grad(zero) + gamma * of.client_grad(0, zero)) / (1 + gamma)
    return -slope / H


def alike(slope: float, server_slope: float) -> "Problem":
    """Build a problem in one dimension with identical clients and a server, all of curvature 1,
    with the given gradients at 0."""
    return ft.problems.quadratic_from_arrays([1.0], [[-server_slope], [-slope]])


def after(of: "Problem", method: str, **hyper: float) -> float:
    """Return the point after one round from 0; nothing is random."""
    return float(ft.expected(of, method, rounds=1, x_0=[0.0], **hyper).mean[1, 0])


def drifts(slopes: Sequence[float], u: float) -> tuple[float, float]:
    """Return (E_c, E_0) of a round: the mean squared distances of clients and of the server from
    the round's start."""
    of, at = alike(*slopes), numbers("sigma", u)
    local, own = dict(eta_l=at["eta_l"]), dict(gamma=at["gamma"], eta_0=at["eta_0"])
    clients = [0.0, *(after(of, "fedavg", **local, eta_g=1.0, K=k) for k in range(1, at["K"]))]
    local |= dict(eta_g=at["eta_g"], K=at["K"])
    server = [after(of, "fedavg", **local)]
    server += [after(of, "fsl", **local, **own, K_0=k) for k in range(1, at["K_0"])]
    return np.mean(np.square(clients)), np.mean(np.square(server))


def drift(name: str, u: float) -> tuple[float, float]:
    """Return (exact value, bound) of a drift."""
    id, _, slopes, _ = DRIFTS[name]
    E_c, E_0 = drifts(slopes, u)
    claim, at = discover.claim(id), dict(numbers("sigma", u), sigma=0.0, E_c=E_c)
    at.update(sq_grad=slopes[0] ** 2, sq_server_grad=slopes[1] ** 2)
    values = {claim.table[key].symbol: value for key, value in at.items()}
    right = float(claim.expand(claim.lines[0][2]).subs(values))
    return (E_c if name == "clients" else E_0), right


def exact_gain(u: float) -> tuple[float, float]:
    """Return (exact value, h): the decrease of the modified loss, divided by the step and the
    squared gradient, beside the bound's h."""
    of, at = alike(1.0, 1.0), numbers("sigma", u)
    names = ("eta_l", "eta_g", "eta_0", "gamma", "K", "K_0")
    end = after(of, "fsl", **{name: at[name] for name in names})
    h = discover.claim(CLAIM).table["h"].symbol
    claim = discover.claim(CLAIM)
    values = {claim.table[key].symbol: value for key, value in at.items()}
    return (1.0 - (end + 1.0) ** 2) / 2 / u, float(claim.expand(h).subs(values))


def compute_arrays(scale: str, progress: Callable[..., Any]) -> Any:
    u = ceiling() * np.geomspace(LOW, 1, POINTS[scale])
    data = dict(u=u)
    for n, source in enumerate(SOURCES):
        five, eight = np.array([terms(source, step) for step in u]).T
        data |= {
            f"{source}_five": five,
            f"{source}_eight": eight,
            f"{source}_exact": np.array([risen(source, step) for step in u]),
        }
        progress(n + 1, len(SOURCES) + 1)
    for name in DRIFTS:
        data[name] = np.array([drift(name, step) for step in u]).T
    data["progress"] = np.array([exact_gain(step) for step in u]).T
    given = {n: SPECTRUM[n] for n in ("L", "mu")} | FIXED | {"N": SPECTRUM["clients"]}
    return dict(
        data, constants=np.array(_caption.constants_text(discover.claim(CLAIM).table, given))
    )


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    axes = figure.subplots(2, len(SOURCES), sharex=True)
    table, colour = discover.claim(CLAIM).table, _style.algorithm_look("fsl").colour
    for ax, (source, words) in zip(axes[0], SOURCES.items()):
        of = lambda name: np.where(data[name] > FLOOR, data[name], np.nan)
        ax.plot(data["u"], of(f"{source}_five"), label="5-term, or bound", **_style.BOUND)
        look = dict(_style.BOUND, linestyle=":")
        ax.plot(data["u"], of(f"{source}_eight"), label="8-term", **look)
        ax.plot(data["u"], of(f"{source}_exact"), color=colour, label="exact")
        ax.set(xscale="log", yscale="log", title=f"${table[source].latex}$: {words}")
    shown = {name: title for name, (*_, title) in DRIFTS.items()} | {"progress": "progress, $h$"}
    for ax, (name, title) in zip(axes[1], shown.items()):
        exact, right = data[name]
        ax.plot(data["u"], right, **_style.BOUND)
        ax.plot(data["u"], exact, color=colour)
        ax.set(title=title, xlabel=r"step $K_0\eta_0$")
        ax.set_yscale("linear" if name == "progress" else "log")
    for row in (axes[0], axes[1, :-1]):
        for ax in row[1:]:
            ax.sharey(row[0])
            ax.tick_params(labelleft=False)
        row[0].autoscale_view()
    axes[0, 0].set_ylabel("what one round adds")
    axes[1, 0].set_ylabel("drift, mean square")
    axes[1, -1].set_ylabel("fall over step")
    figure.legend(handles=axes[0, 0].get_lines(), loc="outside lower center", ncols=3)


FLOOR = 1e-15  # below it, a difference of losses is rounding's


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    return (
        f"Quadratics with equal Hessians, one source of error at 1 and the others at 0; {data['constants']}. One round of FSL "
        "from the minimiser of the modified loss: its expected rise, exactly (solid), and the terms "
        r"$5K_0^2\eta_0^2L\Psi$ (dashed) and $8K_0^3\eta_0^3L^2(\Phi+\gamma\kappa\bar\xi^2/(1+\gamma))$ (dotted) of the bound with the same "
        "source, over steps up to the longest of (11). Below: drifts from the point along one gradient of length 1, curvature 1, "
        r"beside (26) and (27), and the fall of $\tilde F$ over $K_0\eta_0\|\nabla\tilde F\|^2$ beside $h$. Nothing is sampled."
    )


def needed_constant(data: Mapping[str, np.ndarray], source: str) -> Any:
    """Return (the term that the exact effect follows, the needed part of its constant at the
    shortest step where the effect exceeds rounding, the needed share of both terms together at the
    longest step)."""
    exact, five, eight = (data[f"{source}_{name}"] for name in ("exact", "five", "eight"))
    first = "5" if five[0] > 0 else "8"
    lead = five if five[0] > 0 else eight
    n = int(np.argmax(exact > FLOOR))  # the first that is no rounding
    return first, int(first) * exact[n] / lead[n], exact[-1] / (five[-1] + eight[-1])


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    table, told = discover.claim(CLAIM).table, []
    for source in SOURCES:
        first, constant, whole = needed_constant(data, source)
        told.append(
            f"${table[source].latex}$: {_caption.number_text(max(constant, 0))} for {first} at the shortest step that shows it, "
            f"{_caption.number_text(100 * max(whole, 0))} % of both terms at the longest"
        )
    for name, (_, constant, _, title) in DRIFTS.items():
        exact, right = data[name]
        share, number = exact[0] / right[0], _caption.number_text
        told.append(f"{title}: {number(constant * share)} for {number(constant)}")
    exact, right = data["progress"]
    told.append(
        f"progress {_caption.number_text(exact[-1])} at the longest step, where $h={_caption.bare_number(right[-1], 2)}$"
    )
    return f"What these problems need of the constants: {'; '.join(told)}."


def table_rows(data: Mapping[str, np.ndarray]) -> Any:
    found = [["source", "step", "exact", "5-term, or bound", "8-term"]]
    for source in SOURCES:
        for n, u in enumerate(data["u"]):
            names = ("exact", "five", "eight")
            found.append([source, f"{u:.4g}", *(f"{data[f'{source}_{k}'][n]:.4g}" for k in names)])
    for name in (*DRIFTS, "progress"):
        for u, exact, right in zip(data["u"], *data[name]):
            found.append([name, f"{u:.4g}", f"{exact:.4g}", f"{right:.4g}", ""])
    return found


FIGURE = Figure(
    cites="FSL, theorem 1",
    title="Term by term: what one source of error does, and what the bound has for it",
    shows=(CLAIM,),
    compute=compute_arrays,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=3.7,
)
