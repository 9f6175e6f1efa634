"""FSL, figure 1: test accuracy of FL, DS and FSL for clients with C classes; DS and FSL start from
a model that the server has trained before, FL from a random model."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario1
from fedtheory.figures import _fsl, _style
from fedtheory.figures._record import Figure

BASE = "FSL gamma=1"
QUANTITIES = ("final_accuracy", "rise_time", "early_accuracy", "oscillation")


def compute_arrays(scale, progress):
    return _fsl.gather_arrays(fsl_scenario1.EXPERIMENT.runs_of("fig1", scale), progress)


def places(read):
    """Yield (set, C, C's place in the claims) for every panel; C = all classes is the iid case."""
    for place, printed in zip(fsl_scenario1.SETS, (45, 10)):
        counts = list(dict.fromkeys(cell[1] for cell in read.having(place)))
        for C in counts:
            yield place, C, f"{place} C={printed if C == counts[-1] else C}", C == counts[-1]


def draw_figure(figure, data):
    panels(figure, data, {"FL": "FL", "DS": "DS", "FSL": BASE})


def panels(figure, data, lines):
    read = _fsl.Read(data)
    columns = max(
        len({C for place, C, _, _ in places(read) if place == p}) for p in fsl_scenario1.SETS
    )
    axes = figure.subplots(2, columns, sharex=True, sharey="row", squeeze=False)
    for row, place in zip(axes, fsl_scenario1.SETS):
        mine = [(C, iid) for p, C, _, iid in places(read) if p == place]
        for ax, (C, iid) in zip(row, mine):
            for method, name in lines.items():
                _fsl.draw_accuracy(ax, read, method, place, C, name)
            ax.set_title(
                f"{place} stand-in, $C={C}$" if C == mine[0][0] else f"$C={C}$" + " (iid)" * iid
            )
        row[0].set_ylabel("test accuracy")
    for ax in axes[1]:
        ax.set_xlabel("round $t$")
    _style.legend_below(figure, axes[0, -1])


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "C", "method"])


def judge_findings(data):
    read = _fsl.Read(data)
    iid, best, robust, suffers, better = {}, {}, {}, {}, {}
    for place, C, name, is_iid in places(read):
        for method, line in (("FSL", BASE), ("DS", "DS"), ("FL", "FL")):
            for quantity in QUANTITIES:
                best[quantity, method, name] = read(quantity, place, C, line)
            if is_iid:
                iid["final_accuracy", method, name] = best["final_accuracy", method, name]
        for gamma in ("0.5", "1", "1.5"):
            line = f"FSL gamma={gamma}"
            robust["final_accuracy", line, name] = read("final_accuracy", place, C, line)
    for place in fsl_scenario1.SETS:
        counts = [C for p, C, _, _ in places(read) if p == place]
        for quantity in ("final_accuracy", "rise_time"):
            levels = [read(quantity, place, C, "FL") for C in counts]
            suffers[quantity, "FL", place] = np.column_stack(levels)
    for method in ("DS", "FL"):
        for quantity in QUANTITIES:
            values = [
                read(quantity, p, C, method) for p, C, _, is_iid in places(read) if not is_iid
            ]
            better[quantity, method, "non-IID"] = np.mean(values, axis=0)
    return _fsl.judge_outcomes(
        data,
        {
            "fsl.fig1_iid_alike": iid,
            "fsl.fig1_fl_suffers": suffers,
            "fsl.fig1_ds_improves": better,
            "fsl.fig1_fsl_best": best,
            "fsl.fig1_gamma_robust": robust,
        },
    )


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"FSL with $\\gamma=1$, DS and FL; $C$ classes a client. FSL and DS begin at a model that the server has trained, FL at a random one. {_fsl.CURVES}",
    )


FIGURE = Figure(
    cites="FSL, figure 1",
    title="Test accuracy as clients have fewer classes, with a server that learned before",
    compute=compute_arrays,
    minutes=1.0,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    stacks=True,
    height=3.6,
)
