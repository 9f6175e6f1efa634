"""FSL (short), figure 5: accuracy over the samples n_0 of the server."""

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _short.gathered("fig5", scale, progress)


def draw(figure, data):
    _short.over(figure, data, "samples of each class at the server")


def rows(data):
    return _fsl.table(_fsl.Read(data), ["set", "per class", "method"])


def findings(data):
    read = _fsl.Read(data)
    found, alike = {}, {}
    for method in ("FSL", "DSL"):
        cells = [cell for cell in read.cells if cell[2] == method]
        for quantity in ("final_accuracy", "early_accuracy"):
            found[quantity, method, ""] = _short.levels(read, quantity, cells)
        for cell in cells:
            alike["final_accuracy", method, f"{cell[1]} a class"] = read("final_accuracy", *cell)
    return _fsl.outcomes(data, {"fsls.fig5_n_0": found, "fsls.fig5_fsl_dsl": alike})


def caption(data):
    return _fsl.caption(
        data,
        f"Two classes a client; all begin at the model that the server has trained. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 5",
    title="Accuracy over the server's samples, CIFAR-10",
    compute=compute,
    caption=caption,
    draw=draw,
    rows=rows,
    findings=findings,
    height=2.4,
)
