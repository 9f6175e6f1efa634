"""FSL, figure 2: accuracy and rise time over the server's weight gamma, for several learning rates
and sizes of the server's data. gamma = 0 is DS, as in the paper, and FL is shown for comparison."""

from typing import TYPE_CHECKING

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _style
from fedtheory.figures._experiment import TELLS_APART, ExperimentFigure
from fedtheory.figures._panels import SPREADS, draw_bars
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import MEASURES, Cells, Coordinates, Name, Runs, Source, of_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GAMMAS = tuple(f"{gamma:g}" for gamma in fsl_scenario1.GAMMAS)
DASHES = (_style.SHORT, "-", _style.LONG)
BOTH = ("final_accuracy", "rise_time")
WHERE = "{set} {C} {rate} {per}"


def derive_coordinates(runs: Runs, at: Coordinates) -> Coordinates:
    """Return the set's own number of samples per class, at which rates vary, the fewest and the
    most, and whether C is the set's first or last."""
    mine = [cell for cell in runs.cells if cell[0] == at["set"]]
    sizes = sorted({cell[3] for cell in mine}, key=int)
    return dict(
        own=at["per"] == mine[0][3],
        fewest=sizes[0],
        most=at["per"] == sizes[-1],
        first=at["C"] == mine[0][1],
        last=at["C"] == mine[-1][1],
    )


def draw_lines(ax: "Axes", runs: Runs, quantity: str, place: int, settings: list[Name]) -> None:
    """Draw a quantity over gamma, a line for each setting."""
    for n, (cell, dash) in enumerate(zip(settings, DASHES)):
        values = [runs(quantity, *cell, name) for name in ("DS", *GAMMAS)]
        label = f"$\\eta_l$ {cell[2]}" if place == 2 else f"{cell[3]} a class"
        look = dict(linestyle=dash, marker="")
        draw_bars(ax, [0, *map(float, GAMMAS)], values, "fsl", label, (n, len(settings)), **look)


def draw_figure(figure: "Figure", data: Arrays) -> None:
    runs = FIGURE.read_runs(data)
    axes = figure.subplots(2, 4, sharex=True, squeeze=False)
    for row, quantity in zip(axes, BOTH):
        for column, name in enumerate(fsl_scenario1.SETS):
            chosen = dict(set=name, first=True, gamma="DS")
            by_rate = [cell[:4] for cell in runs.select_cells(own=True, **chosen)]
            by_size = [cell[:4] for cell in runs.select_cells(rate="base", **chosen)]
            by_size.sort(key=lambda cell: int(cell[3]))
            for ax, settings, place in zip(row[2 * column :], (by_rate, by_size), (2, 3)):
                draw_lines(ax, runs, quantity, place, settings)
                if quantity == "final_accuracy":
                    varied = "rate" if place == 2 else "$n_0$"
                    ax.set_title(f"{name} st.-in, $C={settings[0][1]}$: {varied}")
                else:
                    ax.set_xlabel(r"$\gamma$ (0: DS)")
        share = " (share)" if quantity == "rise_time" else ""
        row[0].set_ylabel(quantity.replace("_", " ") + share)
    _style.legend_below(figure, *axes[0], ncols=6)


FIGURE = ExperimentFigure(
    cites="FSL, figure 2",
    title="Accuracy and rise time over the server's weight, learning rate and data",
    minutes=2.0,
    source=Source(fsl_scenario1.EXPERIMENT, ["fig2"], ["set", "C", "rate", "per", "gamma"]),
    heads=dict(rate="eta_l", per="per class"),
    more=derive_coordinates,
    measures=dict(start_accuracy=of_curve("test_accuracy", lambda curve: curve[0])),
    draw=draw_figure,
    table=tuple(MEASURES),
    sentences={
        "fsl.fig2_gamma_helps": (
            Cells(BOTH, "FSL gamma>0", WHERE, dict(gamma=GAMMAS)),
            Cells(BOTH, "DS", WHERE, dict(gamma="DS")),
        ),
        "fsl.fig2_more_over_fl": tuple(
            Cells(
                "final_accuracy", f"FSL - {x}", WHERE, dict(gamma="1", own=True), minus={"gamma": x}
            )
            for x in ("FL", "DS")
        ),
        "fsl.fig2_gamma_plateau": Cells(
            BOTH, "FSL gamma={gamma}", WHERE, dict(gamma=("0.5", "1.5"))
        ),
        "fsl.fig2_gamma_by_dataset": (
            Cells("final_accuracy", "FSL", "{set}", dict(gamma=GAMMAS), levels="gamma"),
            *(
                Cells(
                    "final_accuracy",
                    name,
                    "EMNIST C=1 large eta_l",
                    dict(set="EMNIST", C="1", rate="high", own=True, gamma=gammas),
                )
                for name, gammas in (("FSL gamma=1", "1"), ("FSL gamma>1", ("1.5", "2")))
            ),
        ),
        "fsl.fig2_pretrain": tuple(
            Cells(
                "start_accuracy", name, "{set}", dict(gamma=gamma, rate="low", own=True, first=True)
            )
            for name, gamma in (("pretrained", "1"), ("random", "FL"))
        ),
        "fsl.fig2_n_0": (
            Cells(
                "final_accuracy", "FSL", "{set} C={C}", dict(rate="base", gamma="1"), levels="per"
            ),
            Cells(
                "final_accuracy",
                "{set}",
                "",
                dict(rate="base", gamma="1", most=True),
                minus=dict(per="{fewest}"),
                called="accuracy_gain_from_n_0",
            ),
        ),
        "fsl.fig2_rise_eta_l": Cells(
            "rise_time",
            "FSL",
            "{set}",
            dict(gamma="DS", own=True, last=True),
            levels="rate",
            minus=dict(gamma="1"),
            called="rise_time_gain",
        ),
    },
    doubts=dict.fromkeys(("fsl.fig2_gamma_by_dataset", "fsl.fig2_n_0"), TELLS_APART),
    text="FSL over $\\gamma$; at $\\gamma=0$ stands DS, as in the paper. Left of each pair: half, "
    "once and twice the base of $\\eta_l$; right: samples of each class at the server. "
    f"{SPREADS}",
    width="page",
    stacks=True,
    height=3.6,
)
