"""FSL (short), figure 5: accuracy over the server's number of samples n_0."""

from fedtheory.figures import _fsl, _short
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _short.gather_figure("fig5", scale, progress)


def draw_figure(figure, data):
    _short.draw_final_accuracy(figure, data, "samples of each class at the server")


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "per class", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    found, alike = {}, {}
    for method in ("FSL", "DSL"):
        cells = [cell for cell in read.cells if cell[2] == method]
        for quantity in ("final_accuracy", "early_accuracy"):
            found[quantity, method, ""] = _short.level_columns(read, quantity, cells)
        for cell in cells:
            alike["final_accuracy", method, f"{cell[1]} a class"] = read("final_accuracy", *cell)
    return _fsl.judge_outcomes(data, {"fsls.fig5_n_0": found, "fsls.fig5_fsl_dsl": alike})


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"Two classes a client; all begin at the model that the server has trained. {_fsl.SPREADS}",
    )


FIGURE = Figure(
    cites="FSL (short), figure 5",
    title="Accuracy over the server's samples, CIFAR-10",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    height=2.4,
)
