"""FED-LAMB, figure 4: ResNet-9 on IID CIFAR-10 with 10 clients, 1 and 3 local epochs."""

from fedtheory.experiments.records import lamb_cifar
from fedtheory.figures import _findings, _fsl, _lamb, _style, lamb_fig3
from fedtheory.figures._lamb import METHODS, at_best
from fedtheory.figures._record import Figure
from fedtheory.figures.lamb_fig3 import STAND_IN

EPOCHS = (1, 3)
IDS = ("lamb.fig4_faster", "lamb.fig4_generalizes")


def compute_arrays(scale, progress):
    return lamb_fig3.gather_networks(lamb_cifar.EXPERIMENT.runs_of("fig4", scale), progress)


def setting(epochs):
    return "ResNet", "IID", 10, epochs


def draw_figure(figure, data):
    read = _fsl.Read(data)
    for ax, epochs in zip(figure.subplots(1, 2, sharey=True), EPOCHS):
        title = f"{epochs} local epoch{'s' * (epochs > 1)}"
        _lamb.draw_panel(ax, read, title, *setting(epochs))
    figure.axes[0].set_ylabel("test accuracy")
    _style.legend_below(figure, figure.axes[1])


def judge_findings(data):
    if _fsl.is_smaller_scale(data):
        return dict.fromkeys(IDS, _findings.not_judged(lamb_fig3.UNTUNED))
    read = _fsl.Read(data)
    cells = {
        (quantity, method, f"ResNet, 10 clients, {epochs} epochs"): at_best(
            read, quantity, method, *setting(epochs)
        )
        for quantity in ("final_accuracy", "rise_time")
        for method in METHODS
        for epochs in EPOCHS
    }
    return _fsl.judge_outcomes(data, dict.fromkeys(IDS, cells), STAND_IN)


def describe_result(data):
    settings = {f"{epochs} epochs": setting(epochs) for epochs in EPOCHS}
    return _lamb.describe_result(_fsl.Read(data), settings)


def write_caption(data):
    return _fsl.write_caption(data, f"Ten clients, IID data. {_lamb.CURVES}", STAND_IN)


FIGURE = Figure(
    cites="FED-LAMB, figure 4",
    title="Fed-LAMB, Fed-AMS and Fed-SGD with ResNet-9 and 10 clients, CIFAR-10",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=lamb_fig3.table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=2.0,
)
