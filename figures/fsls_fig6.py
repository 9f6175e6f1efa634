"""FSL (short), figure 6: accuracy and rise time over the server's epochs E_s and step size eta_0, CIFAR-10."""

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _short.gathered("fig6", scale, progress)


def draw(figure, data):
    _short.by_epochs(figure, data)


def rows(data):
    return _fsl.table(_fsl.Read(data), ["set", "eta_0 / eta_l", "E_s", "method"])


def findings(data):
    read = _fsl.Read(data)
    found = {}
    for place, ratio, E_s, method in read.cells:
        for quantity in ("final_accuracy", "rise_time"):
            if method == "FSL" and E_s in ("1", "5"):
                where = f"eta_0 = {ratio} eta_l"
                found[quantity, f"FSL E_s={E_s}", where] = read(quantity, place, ratio, E_s, method)
    return _fsl.outcomes(data, {"fsls.fig6_E_s": found})


def caption(data):
    return _fsl.caption(
        data,
        f"Over the server's epochs and step size, the most samples at the server. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 6",
    title="Server learning over its epochs and step size, CIFAR-10",
    compute=compute,
    caption=caption,
    draw=draw,
    rows=rows,
    findings=findings,
    width="page",
    stacks=True,
    height=2.6,
)
