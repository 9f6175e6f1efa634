"""Mixed FL, figure 7: the smile classifier by 1-way gradient transfer, for several sizes of central
batches. Parallel training and 2-way gradient transfer are run too, for the sentences of section
C.4.1 on all three methods."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.experiments._mixed import MIXING
from fedtheory.experiments.records import mixed_smiles
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure

METHOD = "1-W GT"
PANELS = {"test_loss": "upper right", "test_auc": "lower right"}
ENOUGH = 25  # the central batch beyond which little is said to change


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(progress, smile=mixed_smiles.EXPERIMENT.runs_of("batches", scale))


def central_batches(runs):
    return runs.parts(1)


def draw_panels(figure, data, method):
    """Draw loss and AUC over rounds, one line for each size of central batches."""
    runs = _mixed.read_task(data, "smile")
    cells = {
        f"$|\\mathcal{{B}}_c|={B_c}$": (method, [("smile", B_c, method)])
        for B_c in central_batches(runs)
    }
    for ax, (name, place) in zip(figure.subplots(1, 2), PANELS.items()):
        _mixed.draw_curves(ax, runs, name, cells, _mixed.DASHES[-len(cells) :])
        ax.legend(loc=place)


def draw_figure(figure, data):
    draw_panels(figure, data, METHOD)


def rounds_to_gain(data, methods=MIXING, name="test_loss"):
    """Return {method: (seeds, batches)}: the share of the rounds until nine tenths of the least
    gain of all these runs."""
    runs = _mixed.read_task(data, "smile")
    curves = {
        (method, B_c): runs.curve("smile", B_c, method, name=name)
        for method in methods
        for B_c in central_batches(runs)
    }
    found = _mixed.share_of_rounds(curves, name == "test_loss")
    return {m: np.column_stack([found[m, B_c] for B_c in central_batches(runs)]) for m in methods}


def batch_spread(values):
    """Return the difference (seeds,) between the most and the fewest rounds over batch sizes."""
    with np.errstate(invalid="ignore"):  # what is never reached has no distance
        return np.max(values, axis=1) - np.min(values, axis=1)


def judge_findings(data):
    sizes = np.array([int(B_c) for B_c in central_batches(_mixed.read_task(data, "smile"))])
    every = rounds_to_gain(data)
    own = rounds_to_gain(data, (METHOD,))[METHOD]
    auc = rounds_to_gain(data, (METHOD,), "test_auc")[METHOD]
    cells = {(RISE, METHOD, "smile"): own}
    cells["rounds_to_auc", f"|B_c|={ENOUGH}", "smile 1-W GT"] = auc[:, sizes == ENOUGH].mean(axis=1)
    cells["rounds_to_auc", f"|B_c|>{ENOUGH}", "smile 1-W GT"] = (
        auc[:, sizes > ENOUGH].mean(axis=1) if (sizes > ENOUGH).any() else np.full(len(auc), np.nan)
    )
    for method in MIXING:
        cells["spread_over_sigma_c", method, ""] = batch_spread(every[method])
    ids = ("mixed.fig7_batch", "mixed.fig7_saturates", "mixed.sectionC41_sensitive")
    return _mixed.judge_outcomes(data, "smile", dict.fromkeys(ids, cells))


def describe_result(data):
    sizes = central_batches(_mixed.read_task(data, "smile"))
    own = rounds_to_gain(data, (METHOD,))[METHOD]
    told = _mixed.describe_values(
        {f"$|\\mathcal{{B}}_c|={B_c}$": own[:, n] for n, B_c in enumerate(sizes)}
    )
    return f"Share of the rounds to nine tenths of what the worst of these gains: {told}."


def table_rows(data):
    return _mixed.table_rows(data, "smile", ["task", "B_c", "method"], ["test_loss", "test_auc"])


def write_caption(data):
    return _mixed.write_caption(
        data, "smile", f"One-way gradient transfer, a line for each central batch. {_mixed.LINES}"
    )


FIGURE = Figure(
    cites="mixed FL, figure 7",
    title="1-way gradient transfer over central batches, smiles",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
