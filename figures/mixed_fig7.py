"""Mixed FL, figure 7: the smile classifier by 1-way gradient transfer, for several sizes of central
batches. Parallel training and 2-way gradient transfer are run too, for the sentences of section
C.4.1 on all three methods."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.experiments.records import mixed_smiles
from fedtheory.figures import _mixed
from fedtheory.figures._panels import LINES, Panels
from fedtheory.figures._runs import Cells, Source, rounds_to_worst

SOURCE = {"smile": Source(mixed_smiles.EXPERIMENT, ["batches"], ["task", "B_c", "method"])}
ENOUGH = 25  # the central batch beyond which little is said to change
TABLE = ("test_loss", "test_auc")
ONE_WAY = dict(method="1-W GT")


def batch_panels(method: str) -> Panels:
    """Return panels of loss and AUC over rounds, a line for each size of central batches."""
    lines = _mixed.lines_over("B_c", r"|\mathcal{B}_c|")
    return _mixed.curve_panels(lines, quantities=TABLE, only=dict(method=method))


FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 7",
    title="1-way gradient transfer over central batches, smiles",
    source=SOURCE,
    measures=_mixed.MEASURES | {"rounds_to_auc": rounds_to_worst("test_auc", low=False)},
    more=lambda runs, at: dict(sign="<=>"[int(np.sign(int(at["B_c"]) - ENOUGH)) + 1]),
    panels=batch_panels("1-W GT"),
    sentences={
        ("mixed.fig7_batch", "mixed.fig7_saturates", "mixed.sectionC41_sensitive"): (
            Cells(RISE, where="smile", match=ONE_WAY, levels="B_c"),
            Cells("rounds_to_auc", f"|B_c|{{sign}}{ENOUGH}", "smile 1-W GT", ONE_WAY),
            Cells(RISE, levels="B_c", reduce=np.ptp, called="spread_over_sigma_c"),
        )
    },
    table=TABLE,
    text=f"One-way gradient transfer, a line for each central batch. {LINES}",
    result="Share of the rounds to nine tenths of what the worst of these gains: {shares}.",
    numbers=dict(shares=Cells(RISE, r"$|\mathcal{{B}}_c|={B_c}$", match=ONE_WAY)),
)
