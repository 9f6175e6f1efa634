"""FSL, figure 11: FSL, FSLsyn, SCAFFOLD and FedDyn on EMNIST with many clients. What it is said to
show is judged with figure 10."""

from fedtheory.experiments import fsl_scenario2
from fedtheory.figures import _fsl, _scenario2, fsl_fig10
from fedtheory.figures._record import Figure


def compute(scale, progress):
    return _fsl.gathered(fsl_scenario2.EXPERIMENT.runs_of("EMNIST", scale), progress)


def draw(figure, data):
    _scenario2.curves(figure, data, "EMNIST")


def says(data):
    return _scenario2.says(data, "EMNIST")


FIGURE = Figure(
    cites="FSL, figure 11",
    title="FSL, FSLsyn, SCAFFOLD and FedDyn with many clients, EMNIST",
    compute=compute,
    caption=fsl_fig10.caption,
    draw=draw,
    says=says,
    rows=_scenario2.rows,
    width="page",
    stacks=True,
    height=2.0,
)
