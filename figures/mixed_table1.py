"""Mixed FL, table 1: rounds to reach an error epsilon by the nine printed rates, and the method
that needs fewest rounds for given constants.

Constants are not printed, so the curves are shapes, with factor 1 for every method.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy
from numpy.random import Generator, Philox

from fedtheory import arithmetic, discover
from fedtheory.claim import Claim
from fedtheory.figures import _caption, _findings, _style
from fedtheory.figures._record import Arrays, Figure, Progress

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

METHODS = {"pt": "parallel_training", "one_way": "one_way_gt", "two_way": "two_way_gt"}
CASES = {"strong": r"$\mu$-convex", "convex": "convex", "nonconvex": "not convex"}
# A problem on which the terms take turns; noise and dissimilarity are varied in the maps.
PROBLEM = dict(K=10, S=10, beta=1.0, mu=0.01, G=1.0, B=1.5, sigma=1.0, sigma_c=0.5, D_sq=1.0, F=0.5)
EPSILON, NOISE, APART = (
    (1e-6, 1e-1),
    (1e-2, 1e1),
    (1e-2, 1e3),
)  # epsilon, sigma_c and G, least and largest
MAP_EPSILON = 1e-3
POINTS, DRAWS = dict(smoke=40, quick=80, paper=160), dict(smoke=30, quick=300, paper=3000)
IMPLICATIONS = (
    "mixed.implication_dissimilarity",
    "mixed.implication_central_noise",
    "mixed.implication_two_way",
)
RUNS = "mixed.implication_two_way_runs"
RELATIONS = {"<=": sympy.Le, "==": sympy.Eq}
HEADER = ["", *(_style.algorithm_look(name).label for name in METHODS.values())]


def printed_rate(method: str, case: str, values: Mapping[str, Any]) -> np.ndarray:
    """Evaluate a printed rate at arrays of numbers; epsilon bounds a loss or a squared gradient."""
    claim = discover.claim(f"mixed.table1_{method}_{case}")
    values = {**values, "eps_grad": values["eps"]}
    return claim.fast({name: values[name] for name in claim.needs(claim.bound)})


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    epsilon = np.geomspace(*EPSILON, POINTS[scale])
    noise, apart = np.meshgrid(
        np.geomspace(*NOISE, POINTS[scale]), np.geomspace(*APART, POINTS[scale])
    )
    data = {"epsilon": epsilon, "noise": noise[0], "apart": apart[:, 0]}
    for case in CASES:
        for method in METHODS:
            label = f"{method}_{case}"
            claim = discover.claim(f"mixed.table1_{label}")
            data[f"formula_{label}"] = np.array(claim.latex(claim.bound))
            data[f"rounds_{label}"] = printed_rate(method, case, {**PROBLEM, "eps": epsilon})
            data[f"map_{label}"] = np.broadcast_to(
                printed_rate(
                    method, case, {**PROBLEM, "eps": MAP_EPSILON, "sigma_c": noise, "G": apart}
                ),
                noise.shape,
            ).astype(float)
    for done, name in enumerate(IMPLICATIONS):
        data[name.rpartition(".")[2]] = count_implied(discover.claim(name), DRAWS[scale], done)
        progress(done + 1, len(IMPLICATIONS))
    return data


def count_implied(claim: Claim, draws: int, stream: int) -> np.ndarray:
    """Return [draws, draws at which the first line is true, the second, ...] for admitted numbers
    of all sizes."""
    rng = Generator(Philox(key=stream))
    names = claim.needs(*(side for left, _, right in claim.lines for side in (left, right)))
    relations = [
        RELATIONS[sign](claim.expand(left), claim.expand(right))
        for left, sign, right in claim.lines
    ]
    true = np.zeros(len(relations), int)
    for _ in range(draws):
        values = {name: draw_number(rng, name, claim.symbols[name].domain) for name in names}
        while claim.admits(values):
            values = {name: draw_number(rng, name, claim.symbols[name].domain) for name in names}
        true += [lines_hold(relation, values) for relation in relations]
    return np.array([draws, *true])


def draw_number(rng: Generator, name: str, domain: str) -> Fraction:
    """Draw a positive number of any size; sometimes 0 where the domain allows it, or 1 for the
    dissimilarity B."""
    size = rng.uniform(-4, 4)
    if rng.random() < 0.1 and (domain == "nonnegative" and name != "mu" or name == "B"):
        return Fraction(int(name == "B"))
    return Fraction(int(10 ** abs(size)) + 1 if domain == "count" else 10.0**size)


def lines_hold(relation: sympy.Basic, values: Mapping[str, Fraction]) -> bool:
    """Tell whether a line is true, decided by enclosures; sides that agree to thousands of bits
    count as equal."""
    if relation in (sympy.true, sympy.false):
        return relation is sympy.true
    return arithmetic.decide_relation(relation, values) is not False


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    lines, maps = figure.subplots(2, len(CASES))
    for ax, (case, title) in zip(lines, CASES.items()):
        for method, name in METHODS.items():
            _style.draw_line(
                ax,
                data["epsilon"],
                data[f"rounds_{method}_{case}"] / data[f"rounds_two_way_{case}"],
                name,
            )
        ax.set(
            xscale="log",
            yscale="log",
            xlim=(data["epsilon"][-1], data["epsilon"][0]),
            ylim=(0.9, 20),
            title=title,
            xlabel=r"error $\varepsilon$",
        )
        ax.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        ax.set_xticks([1e-1, 1e-3, 1e-5])
        ax.minorticks_off()
    lines[0].set_ylabel("rounds beside 2-W GT's")
    for ax, case in zip(maps, CASES):
        draw_contest(ax, data, case)
        ax.set(xlabel=r"central noise $\sigma_c$")
    maps[0].set_ylabel(rf"dissimilarity $G$ (at $\varepsilon=10^{{{np.log10(MAP_EPSILON):.0f}}}$)")
    for ax in lines:
        _style.direct_labels(ax)


def draw_contest(ax: "Axes", data: Arrays, case: str) -> None:
    """Draw parallel training against 1-way transfer; the printed rate of 2-way transfer is below
    both everywhere."""
    advantage = np.log10(data[f"map_pt_{case}"] / data[f"map_one_way_{case}"])
    pt, one = (_style.algorithm_look(name).colour for name in ("parallel_training", "one_way_gt"))
    x, y = data["noise"], data["apart"]
    ax.contourf(
        x,
        y,
        np.clip(advantage, -9, 9),
        levels=(-10, -1, 0, 1, 10),
        colors=[
            _style.tint_colour(pt, 0.55),
            _style.tint_colour(pt, 0.25),
            _style.tint_colour(one, 0.3),
            _style.tint_colour(one, 0.7),
        ],
    )
    ax.contour(x, y, advantage, levels=[0], colors=_style.INK, linewidths=1)
    ax.set(xscale="log", yscale="log", xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    ax.minorticks_off()
    for text, place, ha, va in (
        ("1-W GT\nbefore PT\n(dark: 10 times)", (0.04, 0.96), "left", "top"),
        ("PT before\n1-W GT", (0.96, 0.04), "right", "bottom"),
    ):
        ax.text(
            *place,
            text,
            transform=ax.transAxes,
            fontsize=_style.SMALL,
            ha=ha,
            va=va,
            linespacing=1.0,
        )


def table_rows(data: Arrays) -> list[list[str]]:
    found = [
        [label, *(f"${data[f'formula_{method}_{case}']}$" for method in METHODS)]
        for case, label in CASES.items()
    ]
    for n in (-1, len(data["epsilon"]) // 2, 0):
        found += [
            [
                rf"{label}, at $\varepsilon={data['epsilon'][n]:.2g}$",
                *(f"{data[f'rounds_{method}_{case}'][n]:.4g}" for method in METHODS),
            ]
            for case, label in CASES.items()
        ]
    return [HEADER, *found]


def judge_findings(data: Arrays) -> dict:
    found = {RUNS: _findings.not_judged("the figure computes printed rates, and runs nothing")}
    for name in IMPLICATIONS:
        draws, *true = (int(count) for count in data[name.rpartition(".")[2]])
        outcome = _findings.judge_exactly(
            {
                f"line {n} (true at {count} of {draws} draws)": count == draws
                for n, count in enumerate(true, 1)
            },
            "lines",
        )
        found[name] = (
            outcome.verdict,
            f"{outcome.sentence} at {draws} draws of all numbers, decided by enclosures; "
            "of the printed rates, not of runs",
        )
    return found


def write_caption(data: Arrays) -> str:
    at = discover.claim("mixed.table1_pt_strong").table
    return (
        f"The nine printed rates, with factor 1 for each. Constants: {_caption.constants_text(at, PROBLEM)}. Above: rounds beside "
        r"two-way transfer's, over the error; below: parallel training against one-way transfer over the centre's "
        f"noise and dissimilarity, at an error of {_caption.number_text(MAP_EPSILON)}. The findings rest on "
        f"{int(data['implication_dissimilarity'][0])} draws of all numbers, each decided by enclosures."
    )


def describe_result(data: Arrays) -> str:
    told = []
    for case, label in CASES.items():
        sooner = np.mean(data[f"map_one_way_{case}"] < data[f"map_pt_{case}"])
        told.append(f"{label} {_caption.number_text(100 * sooner)} %")
    return f"Share of the map on which one-way transfer needs fewer rounds than parallel training: {', '.join(told)}."


FIGURE = Figure(
    cites="mixed FL, table 1",
    title="Rounds by the nine printed rates, and who needs fewest where",
    compute=compute_arrays,
    caption=write_caption,
    says=describe_result,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=4.4,
)
