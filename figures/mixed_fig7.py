"""Mixed FL, figure 7: the smile classifier by 1-way gradient transfer over central batches. Parallel
training and 2-way gradient transfer are run too, for what section C.4.1 says of all three."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.experiments import mixed_smiles
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure

METHOD = "1-W GT"
PANELS = {"test_loss": "upper right", "test_auc": "lower right"}
ENOUGH = 25  # the central batch beyond which little is said to change


def compute(scale, progress):
    return _mixed.gathered(progress, smile=mixed_smiles.EXPERIMENT.runs_of("batches", scale))


def batches(runs):
    return runs.parts(1)


def panels(figure, data, method):
    """Loss and AUC over rounds, a line for each central batch."""
    runs = _mixed.read(data, "smile")
    cells = {
        f"$|\\mathcal{{B}}_c|={B_c}$": (method, [("smile", B_c, method)]) for B_c in batches(runs)
    }
    for ax, (name, place) in zip(figure.subplots(1, 2), PANELS.items()):
        _mixed.lines(ax, runs, name, cells, _mixed.DASHES[-len(cells) :])
        ax.legend(loc=place)


def draw(figure, data):
    panels(figure, data, METHOD)


def rounds(data, methods=MIXING, name="test_loss"):
    """method -> (seeds, batches): shares of the rounds to nine tenths of the least gain of all these runs."""
    runs = _mixed.read(data, "smile")
    curves = {
        (method, B_c): runs.curve("smile", B_c, method, name=name)
        for method in methods
        for B_c in batches(runs)
    }
    found = _mixed.reached(curves, name == "test_loss")
    return {m: np.column_stack([found[m, B_c] for B_c in batches(runs)]) for m in methods}


def spread(values):
    """(seeds,) how far the rounds differ between batches."""
    with np.errstate(invalid="ignore"):  # what is never reached has no distance
        return np.max(values, axis=1) - np.min(values, axis=1)


def findings(data):
    sizes = np.array([int(B_c) for B_c in batches(_mixed.read(data, "smile"))])
    every = rounds(data)
    own = rounds(data, (METHOD,))[METHOD]
    auc = rounds(data, (METHOD,), "test_auc")[METHOD]
    cells = {(RISE, METHOD, "smile"): own}
    cells["rounds_to_auc", f"|B_c|={ENOUGH}", "smile 1-W GT"] = auc[:, sizes == ENOUGH].mean(axis=1)
    cells["rounds_to_auc", f"|B_c|>{ENOUGH}", "smile 1-W GT"] = (
        auc[:, sizes > ENOUGH].mean(axis=1) if (sizes > ENOUGH).any() else np.full(len(auc), np.nan)
    )
    for method in MIXING:
        cells["spread_over_sigma_c", method, ""] = spread(every[method])
    ids = ("mixed.fig7_batch", "mixed.fig7_saturates", "mixed.sectionC41_sensitive")
    return _mixed.outcomes(data, "smile", dict.fromkeys(ids, cells))


def says(data):
    sizes = batches(_mixed.read(data, "smile"))
    own = rounds(data, (METHOD,))[METHOD]
    told = _mixed.told({f"$|\\mathcal{{B}}_c|={B_c}$": own[:, n] for n, B_c in enumerate(sizes)})
    return f"Share of the rounds to nine tenths of what the worst of these gains: {told}."


def rows(data):
    return _mixed.rows(data, "smile", ["task", "B_c", "method"], ["test_loss", "test_auc"])


def caption(data):
    return _mixed.caption(
        data, "smile", f"One-way gradient transfer, a line for each central batch. {_mixed.LINES}"
    )


FIGURE = Figure(
    cites="mixed FL, figure 7",
    title="1-way gradient transfer over central batches, smiles",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=rows,
    findings=findings,
    width="page",
    height=2.3,
)
