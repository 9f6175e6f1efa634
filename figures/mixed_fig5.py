"""Mixed FL, figure 5: accuracy of the language model on the clients' source (left) and on the server's
(right)."""

from fedtheory.claims.mixed.findings import ACCURACY
from fedtheory.figures import _mixed, mixed_fig1
from fedtheory.figures._panels import LINES
from fedtheory.figures._runs import Cells

WHOSE = {"Stack Overflow": "the clients' source", "Wikipedia": "the server's source"}

FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 5",
    title="Accuracy of the language model on each source",
    source=dict(language=mixed_fig1.SOURCES["language"]),
    panels=_mixed.curve_panels(
        across=["source"],
        quantities=["test_accuracy"],
        share=dict(sharey=True),
        title=lambda at: f"{WHOSE[at['source']]} (for {at['source']})",
        legend=lambda at: "" if at["column"] else "lower right",
    ),
    sentences={
        ("mixed.fig5_both_datasets", "mixed.fig5_only_fl"): Cells(ACCURACY, where="{source}")
    },
    table=["test_accuracy", "test_loss"],
    text=f"Accuracy of the next character on test data of one source. {LINES}",
    result=" ".join(f"At the end, {words}: {{{source}}}." for source, words in WHOSE.items()),
    numbers={source: Cells(ACCURACY, match=dict(source=source)) for source in WHOSE},
)
