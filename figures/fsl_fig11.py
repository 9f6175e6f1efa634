"""FSL, figure 11: FSL, FSLsyn, SCAFFOLD and FedDyn on EMNIST with many clients. The paper's
sentences on this figure are judged with figure 10."""

from fedtheory.experiments.records import fsl_scenario2
from fedtheory.figures import _fsl, _scenario2, fsl_fig10
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario2.EXPERIMENT.runs_of("EMNIST", scale), progress)


def draw_figure(figure, data):
    _scenario2.draw_accuracy(figure, data, "EMNIST")


def describe_result(data):
    return _scenario2.describe_result(data, "EMNIST")


FIGURE = Figure(
    cites="FSL, figure 11",
    title="FSL, FSLsyn, SCAFFOLD and FedDyn with many clients, EMNIST",
    compute=compute_arrays,
    caption=fsl_fig10.write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=_scenario2.table_rows,
    width="page",
    stacks=True,
    height=2.0,
)
