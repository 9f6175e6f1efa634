"""FED-LAMB, figure 3: CIFAR-10 with 1 and 3 local epochs, ResNet-9 on IID data with 10 and 50
clients, and a convolutional network with 50 clients on IID and non-IID data."""

import numpy as np

from fedtheory.experiments.records import lamb_cifar
from fedtheory.experiments.records.lamb_cifar import PANELS
from fedtheory.figures import _findings, _fsl, _lamb
from fedtheory.figures._lamb import AMS, LAMB, METHODS, at_best
from fedtheory.figures._record import Figure

STAND_IN = "on a stand-in (textures for CIFAR-10) with small networks, not on the paper's"
UNTUNED = "ResNet runs at one rate of each method there, and a sentence on who is ahead rests on the rates"
RESNET = ("fig3_resnet", "fig3_resnet_50", "fig3_resnet_ams")


def compute_arrays(scale, progress):
    return gather_networks(lamb_cifar.EXPERIMENT.runs_of("fig3", scale), progress)


def gather_networks(runs, progress):
    """Gather the arrays of both networks, whose runs have different numbers of rounds."""
    parts = {}
    for (cell, seed), request in runs.items():
        parts.setdefault(cell[0], {})[cell, seed] = request
    return _fsl.join_arrays(
        _fsl.gather_arrays(part, progress, _lamb.NAMES) for part in parts.values()
    )


def cell_name(net, split, clients, epochs):
    return f"{net}, {split}, {clients} clients, {epochs} epoch{'s' * (int(epochs) > 1)}"


def draw_figure(figure, data):
    read = _fsl.Read(data)
    axes = figure.subplots(2, 4).ravel()
    for ax, panel in zip(axes, PANELS):
        net, split, clients, epochs = panel
        _lamb.draw_panel(ax, read, f"{net}, {split}\n$n={clients}$, {epochs} ep.", *panel)
    axes[-1].set_axis_off()
    axes[-1].legend(*axes[0].get_legend_handles_labels(), loc="center")
    for ax in axes[::4]:
        ax.set_ylabel("test accuracy")


def measure_cells(data):
    """Return the cells for the sentences on both networks."""
    read, cells = _fsl.Read(data), {}
    for method in METHODS:
        for quantity in ("final_accuracy", "rise_time", "generalization_gap"):
            by_net = {}
            for panel in PANELS:
                values = at_best(read, quantity, method, *panel)
                by_net.setdefault(panel[0], []).append(values)
                net, split, clients, epochs = panel
                if net == "CNN" and split == "IID":
                    for where in {f"CNN, {epochs} epochs", f"CNN, {epochs} epoch"}:
                        cells[quantity, method, where] = values
                elif net == "ResNet":
                    for where in {f"{epochs} epochs", f"{epochs} epoch"}:
                        cells[quantity, method, f"ResNet, {clients} clients, {where}"] = values
            for net, several in by_net.items():
                cells[quantity, method, net] = np.mean(several, axis=0)
    for clients in (10, 50):
        rise = lambda method: at_best(read, "rise_time", method, "ResNet", "IID", clients, 1)
        with np.errstate(invalid="ignore"):  # where neither rises, nothing is gained
            gain = rise(AMS) - rise(LAMB)
        cells["rise_gain_over_ams", f"{clients} clients, 1 epoch", "ResNet"] = gain
    return cells


def judge_findings(data):
    cells = measure_cells(data)
    names = [f"fig3_cnn_{name}" for name in ("one_epoch", "sgd", "more_epochs")]
    found = _fsl.judge_outcomes(data, {f"lamb.{name}": cells for name in names}, STAND_IN)
    if not _fsl.is_smaller_scale(data):
        return found | _fsl.judge_outcomes(
            data, {f"lamb.{name}": cells for name in RESNET}, STAND_IN
        )
    return found | {f"lamb.{name}": _findings.not_judged(UNTUNED) for name in RESNET}


def table_rows(data):
    return _lamb.table_rows(data, ["network", "split", "clients", "epochs"])


def describe_result(data):
    return _lamb.describe_result(
        _fsl.Read(data), {cell_name(*p): p for p in PANELS if p[0] == "CNN"}
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        "ResNet is ResNet-9; $n$ clients; non-IID is one label a device. "
        f"{_lamb.CURVES} Axes have the length of each panel's own runs.",
        STAND_IN,
    )


FIGURE = Figure(
    cites="FED-LAMB, figure 3",
    title="Fed-LAMB, Fed-AMS and Fed-SGD on CIFAR-10",
    compute=compute_arrays,
    minutes=6.0,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=3.4,
)
