"""Flex, table 5: rounds after a departure until the test loss is lower with the device excluded
(and figure 4, right).

A device leaves 29 others after round tau_0. Included, it stays in the objective and in the test
data, and the rate decays on; excluded, it is in neither, and the rate starts anew at eta_0 (section
5.4). Curves that do not cross within HORIZON rounds are censored: they come last in medians and
quartiles, a cell with some is not judged by its mean, and in trends they count as HORIZON (a mean
of the first HORIZON rounds).

Ours agree that the losses jump, cross later, and cross the later the less IID the data are; from
tau_0 = 45 on the means are near the printed ones. For early departures they are 20 to 40 rounds
above: restarting at eta_0 = 1 lifts the loss whenever it happens, and 1/tau takes some 25 rounds
and more to bring it down, so that ours grow less with tau_0. Single runs spread as widely as their
mean, so that most cells have no power; the two trends say more.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import fedtheory as ft
from fedtheory.claims.flex.findings import CROSSING, DEPARTING, LOSS, TABLE_5
from fedtheory.figures import _flex, _style, _table
from fedtheory.figures._flex import ETA_0, SAMPLES, E
from fedtheory.figures._record import Arrays, Figure, Progress
from fedtheory.participation import Departure, Participation, staircase
from fedtheory.participation.traces import traces

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

N, HORIZON, SHOWN = 30, 150, 30  # SHOWN: the departure whose losses are drawn, at the last alpha
ALPHAS = tuple(TABLE_5)
SCALES = dict(smoke=(2, (10, 30)), quick=(5, DEPARTING), paper=(20, DEPARTING))


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    seeds, departures = SCALES[scale]
    jobs = [(alpha, seed, departures) for alpha in ALPHAS for seed in range(seeds)]
    found = _flex.run_jobs(jobs, follow_departure, progress)
    shape = len(ALPHAS), seeds, len(departures)
    curves = np.array([curve for _, _, curve in found]).reshape(len(ALPHAS), seeds, 2, -1)
    return {
        "tau_0": np.array(departures),
        "crossing": np.array([c for c, _, _ in found]).reshape(shape),
        "ends": np.array([e for _, e, _ in found]).reshape(*shape, 5),
        "curves": curves[-1],
    }


def follow_departure(
    alpha: float, seed: int, departures: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return, for a seed, the rounds until the losses cross, the losses just before and just after
    each departure and at the end, and the two loss curves of the departure that is shown."""
    problem, arrays = _flex.synthetic_task(alpha, N, seed, samples=SAMPLES)
    everyone, others = (_flex.held_out(arrays, range(1, last + 1)) for last in (N, N - 1))
    crossing, ends, shown = np.empty(len(departures)), np.empty((len(departures), 5)), None
    for m, tau_0 in enumerate(departures):
        found = []
        for exclude in (True, False):
            rounds = tau_0 + HORIZON
            run = ft.run(
                problem,
                "flex_c",
                rounds=rounds,
                seed=seed,
                E=E,
                metrics=(),
                keep="x",
                workers=1,
                eta=staircase(ETA_0, rounds, [tau_0] if exclude else []),
                participation=Participation(
                    work=traces(5, seed), departures=(Departure(N, tau_0, exclude),)
                ),
            )
            found.append(_flex.loss_at(run.x[0, tau_0 + 1 :], others if exclude else everyone))
        past = _flex.loss_at(run.x[0, : tau_0 + 1], everyone)  # the same in both
        excluded, included = found
        crossing[m] = _flex.rounds_to_hit(excluded <= included, HORIZON)
        ends[m] = past[-1], excluded[0], included[0], excluded[-1], included[-1]
        if tau_0 == SHOWN:
            shown = np.array([np.concatenate([past, after]) for after in found])
    return crossing, ends, shown


def printed_value(alpha: float, tau_0: int) -> float:
    return TABLE_5[alpha][DEPARTING.index(tau_0)]


def crossing_cells(data: Arrays) -> dict[tuple[str, str], np.ndarray]:
    """Return {(quantity, which): rounds over seeds} of each printed cell."""
    return {
        (CROSSING, f"SYNTHETIC({alpha}, {alpha}) tau_0={tau_0}"): crossing[:, m]
        for alpha, crossing in zip(ALPHAS, data["crossing"])
        for m, tau_0 in enumerate(data["tau_0"])
    }


def shown_cells(data: Arrays) -> list[list]:
    """Return the Cells as rows (departures, alphas)."""
    outcomes = _flex.judge_printed(crossing_cells(data))
    found = [
        _flex.make_cell(key, _flex.rounds_of(values, HORIZON), outcomes)
        for key, values in crossing_cells(data).items()
    ]
    return [found[m :: len(data["tau_0"])] for m in range(len(data["tau_0"]))]


def table_rows(data: Arrays) -> list[list[str]]:
    return _table.table_rows(
        ["tau_0", *(f"({alpha:g}, {alpha:g})" for alpha in ALPHAS)],
        [[str(tau_0), *line] for tau_0, line in zip(data["tau_0"], shown_cells(data))],
    )


def draw_figure(figure: "Canvas", data: Arrays) -> None:
    axes = figure.subplots(1, 4, width_ratios=(1.25, 1, 1, 1))
    draw_losses(axes[0], data["curves"])
    for n, (ax, alpha, crossing) in enumerate(zip(axes[1:], ALPHAS, data["crossing"])):
        low, middle, high = np.minimum(_flex.quartiles(crossing), HORIZON)
        _style.draw_band(ax, data["tau_0"], middle, low, high, "flex_c", "ours")
        for tau_0, line in zip(data["tau_0"], shown_cells(data)):
            _table.plot_printed(ax, tau_0, line[n])
        ax.set(
            title=rf"$\alpha=\beta={alpha:g}$",
            xlabel=r"$\tau_0$",
            ylim=(0, 1.04 * HORIZON),
            xlim=(7, 53),
            xticks=(10, 30, 50),
        )
        ax.axhline(HORIZON, color=_style.OPEN, linewidth=0.7, linestyle=":")
        ax.tick_params(labelleft=ax is axes[1])
    axes[1].set_ylabel("rounds until the losses cross")
    axes[1].annotate(
        "censored",
        (0, HORIZON),
        xycoords=("axes fraction", "data"),
        xytext=(2, -2),
        va="top",
        textcoords="offset points",
        fontsize=_style.SMALL,
        color=_style.OPEN,
    )
    _table.printed_legend(
        axes[-1],
        _flex.judge_printed(crossing_cells(data)),
        loc="upper left",
        bbox_to_anchor=(0, 0.93),
    )


def draw_losses(ax: "Axes", curves: np.ndarray) -> None:
    """Draw the mean test losses of excluding and including the device, after one departure (figure
    4, right)."""
    excluded, included = curves.mean(axis=0)
    t = np.arange(len(excluded))
    late = t >= SHOWN
    ax.plot(t, included, color=_style.INK, linestyle=_style.LONG, label="include")
    ax.plot(t[late], excluded[late], color=_style.algorithm_look("flex_c").colour, label="exclude")
    ax.axvline(SHOWN, color=_style.RULE, linewidth=0.8, zorder=0)
    ax.set(
        xlabel=r"$\tau$",
        ylabel="test loss",
        yscale="log",
        xlim=(0, t[-1]),
        yticks=(ticks := (0.3, 0.5, 1, 2, 5)),
        yticklabels=[f"{tick:g}" for tick in ticks],
        ylim=(min(0.25, 0.95 * np.min([included.min(), excluded[late].min()])), None),
        title=rf"$\alpha=\beta={ALPHAS[-1]:g}$, $\tau_0={SHOWN}$",
    )
    ax.minorticks_off()
    ax.legend(loc="upper right", handlelength=1.8, borderaxespad=0)


def judge_findings(data: Arrays) -> dict:
    """Judge the sentences of section 5.4, and the cells."""
    before, excluded, included, excluded_end, included_end = np.moveaxis(
        data["ends"].mean(axis=2), -1, 0
    )[:, -1]
    crossing = np.minimum(data["crossing"], HORIZON)
    along = {
        (CROSSING, "exclude", f"alpha=beta={alpha}"): values
        for alpha, values in zip(ALPHAS, crossing)
    }
    across = {(CROSSING, "exclude", ""): crossing.mean(axis=2).T}
    curves = {
        (LOSS, "exclude", "just after tau_0"): excluded,
        (LOSS, "include", "just after tau_0"): included,
        (LOSS, "exclude after tau_0", ""): excluded,
        (LOSS, "exclude before tau_0", ""): before,
        (LOSS, "exclude", "at the end"): excluded_end,
        (LOSS, "include", "at the end"): included_end,
    }
    return {
        **_flex.judge_cells(along, "table5_tau_0"),
        **_flex.judge_cells(across, "table5_non_iid"),
        **_flex.judge_cells(curves, "fig4_exclude_jump", "fig4_exclude_cross"),
        **_flex.judge_printed(crossing_cells(data)),
        **_flex.unrun_cells("flex_table5", crossing_cells(data)),
    }


def write_caption(data: Arrays) -> str:
    seeds = data["crossing"].shape[1]
    return (
        f"SYNTHETIC, one of {N} devices leaves after round $\\tau_0$; E = {E}, {SAMPLES} samples a device. Left: mean test "
        f"losses of {seeds} seeds. Others: rounds until excluding has the lower loss, median and quartiles (band) of "
        f"{seeds} seeds, runs that do not cross within {HORIZON} rounds being censored and last "
        f"({_flex.describe_censored(data['crossing'])}); points: the paper's numbers, by verdict."
    )


FIGURE = Figure(
    cites="flex, table 5",
    title="Rounds after a departure until excluding the device pays",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.1,
)
