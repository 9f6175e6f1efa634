"""FSL, figure 7: incremental (FSL) and non-incremental (FSL-p) server learning and data sharing,
over the number of classes C of a client and the number of clients S in a round."""

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _fsl, _style
from fedtheory.figures._record import Figure

METHODS = ("FSL", "FSL-p", "DS")


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario1.EXPERIMENT.runs_of("fig7", scale), progress)


def draw_figure(figure, data):
    read = _fsl.Read(data)
    panels = [
        (p, S) for p in fsl_scenario1.SETS for S in dict.fromkeys(c[2] for c in read.having(p))
    ]
    for ax, (place, S) in zip(figure.subplots(1, len(panels), sharey=True), panels):
        counts = list(dict.fromkeys(cell[1] for cell in read.having(place)))
        for n, method in enumerate(METHODS):
            values = [read("final_accuracy", place, C, S, method) for C in counts]
            _fsl.draw_bars(ax, range(len(counts)), values, method, (n, len(METHODS)))
        ax.set_xticks(range(len(counts)), counts)
        ax.set(title=f"{place} stand-in, $S={S}$", xlabel="$C$")
    figure.axes[0].set_ylabel("test accuracy")
    _style.legend_below(figure, figure.axes[0])


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "C", "S", "method"])


def judge_findings(data):
    read, cells = _fsl.Read(data), {}
    for place, C, S, method in read.cells:
        where = f"{place} C={C} S={S}"
        cells["final_accuracy", method, where] = read("final_accuracy", place, C, S, method)
    return _fsl.judge_outcomes(data, {"fsl.fig7_nonincremental": cells})


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"Accuracy at the end over the classes $C$ of a client, for $S$ clients a round; $\\gamma=1$. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL, figure 7",
    title="Incremental and non-incremental server learning, over C and S",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.2,
)
