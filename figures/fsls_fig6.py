"""FSL (short), figure 6: accuracy and rise time on CIFAR-10 over the server's epochs E_s and step
size eta_0."""

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _short.gather_figure("fig6", scale, progress)


def draw_figure(figure, data):
    _short.by_epochs(figure, data)


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "eta_0 / eta_l", "E_s", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    found = {}
    for place, ratio, E_s, method in read.cells:
        for quantity in ("final_accuracy", "rise_time"):
            if method == "FSL" and E_s in ("1", "5"):
                where = f"eta_0 = {ratio} eta_l"
                found[quantity, f"FSL E_s={E_s}", where] = read(quantity, place, ratio, E_s, method)
    return _fsl.judge_outcomes(data, {"fsls.fig6_E_s": found})


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"Over the server's epochs and step size, the most samples at the server. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 6",
    title="Server learning over its epochs and step size, CIFAR-10",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.6,
)
