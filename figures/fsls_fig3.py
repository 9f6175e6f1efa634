"""FSL (short), figure 3: accuracy over rounds for N clients and for ten times as many."""

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _short.gather_figure("fig3", scale, progress)


def draw_figure(figure, data):
    _short.draw_accuracy(figure, data, lambda many: f"$N={10 * int(many)}$")


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "clients, times", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    found = {}
    for place, many, method in read.cells:
        for quantity in ("final_accuracy", "early_accuracy", "oscillation"):
            where = f"N={10 * int(many)}"
            found[quantity, method, where] = read(quantity, place, many, method)
    names = ("fig3_sl_improves", "fig3_over_ds", "fig3_stable")
    return _fsl.judge_outcomes(data, {f"fsls.{name}": found for name in names})


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"Two classes a client; all methods begin at the model that the server has trained. {_fsl.CURVES}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 3",
    title="Four methods, few and many clients, CIFAR-10",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.4,
)
