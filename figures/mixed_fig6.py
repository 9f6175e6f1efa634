"""Mixed FL, figure 6: recall@10 of the recommender over rounds."""

from fedtheory.claims.mixed.findings import RECALL
from fedtheory.figures import _mixed, mixed_fig3
from fedtheory.figures._panels import LINES
from fedtheory.figures._runs import Cells

FIGURE: _mixed.MixedFigure = _mixed.MixedFigure(
    cites="mixed FL, figure 6",
    title="Recall@10 of the recommender",
    source=mixed_fig3.SOURCE,
    panels=_mixed.curve_panels(quantities=["test_recall"]),
    sentences={"mixed.fig6_recall": Cells(RECALL, where="movies")},
    table=mixed_fig3.TABLE,
    text=f"Of users held out, all films ranked. {LINES}",
    result="Recall@10 at the end: {recall}.",
    numbers=dict(recall=Cells(RECALL)),
    says=lambda data: mixed_fig3.describe_distances(FIGURE, data, "test_recall"),
    width="column",
)
