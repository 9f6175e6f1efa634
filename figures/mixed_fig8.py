"""Mixed FL, figure 8: the smile classifier by 2-way gradient transfer, for several sizes of central
batches."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.figures import _mixed, mixed_fig7
from fedtheory.figures._panels import LINES
from fedtheory.figures._runs import Cells

# How far the rounds to one loss differ between central batches.
SPREAD = Cells(
    RISE,
    where="smile",
    match=dict(method=("2-W GT", "1-W GT")),
    levels="B_c",
    reduce=np.ptp,
    called="spread_over_batch",
)

FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 8",
    title="2-way gradient transfer over central batches, smiles",
    source=mixed_fig7.SOURCE,
    panels=mixed_fig7.batch_panels("2-W GT"),
    sentences={"mixed.fig8_less_sensitive": SPREAD},
    table=mixed_fig7.TABLE,
    text=f"Two-way gradient transfer, a line for each central batch. {LINES}",
    result="How far the rounds to one loss differ between central batches, as a share of all "
    "rounds: {spread}.",
    numbers=dict(spread=SPREAD),
)
