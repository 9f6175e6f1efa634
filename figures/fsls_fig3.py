"""FSL (short), figure 3: accuracy over rounds for N and for ten times as many clients."""

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _short.gathered("fig3", scale, progress)


def draw(figure, data):
    _short.curves(figure, data, lambda many: f"$N={10 * int(many)}$")


def rows(data):
    return _fsl.table(_fsl.Read(data), ["set", "clients, times", "method"])


def findings(data):
    read = _fsl.Read(data)
    found = {}
    for place, many, method in read.cells:
        for quantity in ("final_accuracy", "early_accuracy", "oscillation"):
            where = f"N={10 * int(many)}"
            found[quantity, method, where] = read(quantity, place, many, method)
    names = ("fig3_sl_improves", "fig3_over_ds", "fig3_stable")
    return _fsl.outcomes(data, {f"fsls.{name}": found for name in names})


def caption(data):
    return _fsl.caption(
        data,
        f"Two classes a client; all methods begin at the model that the server has trained. {_fsl.CURVES}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 3",
    title="Four methods, few and many clients, CIFAR-10",
    compute=compute,
    caption=caption,
    draw=draw,
    rows=rows,
    findings=findings,
    width="page",
    stacks=True,
    height=2.4,
)
