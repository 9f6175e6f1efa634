"""FSL, figure 8: incremental (FSL) and non-incremental (FSL-p) server learning over the server's
weight gamma, compared with data sharing."""

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _fsl, _style
from fedtheory.figures._record import Figure

METHODS = ("FSL", "FSL-p", "DS")


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario1.EXPERIMENT.runs_of("fig8", scale), progress)


def draw_figure(figure, data):
    read = _fsl.Read(data)
    for ax, place in zip(figure.subplots(1, 2), fsl_scenario1.SETS):
        gammas = list(dict.fromkeys(cell[1] for cell in read.having(place)))
        for n, method in enumerate(METHODS):
            values = [read("final_accuracy", place, gamma, method) for gamma in gammas]
            _fsl.draw_bars(
                ax, [float(gamma) for gamma in gammas], values, method, (n, len(METHODS))
            )
        ax.set(title=f"{place} stand-in", xlabel=r"$\gamma$ (DS has none)")
    figure.axes[0].set_ylabel("test accuracy")
    _style.legend_below(figure, figure.axes[0])


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "gamma", "method"])


def judge_findings(data):
    read, cells = _fsl.Read(data), {}
    for place, gamma, method in read.cells:
        where = f"{place} gamma={gamma}"
        cells["final_accuracy", method, where] = read("final_accuracy", place, gamma, method)
    return _fsl.judge_outcomes(data, {"fsl.fig8_nonincremental_gamma": cells})


def write_caption(data):
    return _fsl.write_caption(data, f"Accuracy at the end over the server's weight. {_fsl.SPREADS}")


FIGURE = Figure(
    cites="FSL, figure 8",
    title="Incremental and non-incremental server learning, over the server's weight",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.2,
)
