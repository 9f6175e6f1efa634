"""Mixed FL, figure 2: evaluation loss of the smile classifier (a) and of the language model (b) over
rounds."""

from fedtheory.claims.mixed.findings import LOSS, RISE
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _mixed, mixed_fig1
from fedtheory.figures._panels import LINES
from fedtheory.figures._runs import Cells

SMILE = Cells((RISE, LOSS), where="smile", task="smile")
LANGUAGE = Cells((RISE, LOSS), where="language", task="language")

FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 2",
    title="Losses of the three ways of mixing, smiles and language",
    source=mixed_fig1.SOURCES,
    pooled=mixed_fig1.POOLED,
    only=dict(method=MIXING),
    panels=_mixed.curve_panels(
        quantities=["test_loss", "test_loss"],
        tasks=[*mixed_fig1.SOURCES],
        title=lambda at: f"({'ab'[at['column']]}) {at['task']}",
    ),
    sentences={
        ("mixed.fig2_smile", "mixed.fig2_smile_two_way"): SMILE,
        "mixed.fig2_language": LANGUAGE,
    },
    table=["test_loss", RISE],
    heads={
        "test_loss": "loss at the end",
        RISE: "share of the rounds to nine tenths of the worst's gain",
    },
    text="Mean loss of test data, of the language model of both sources together. " + LINES,
    result="Share of the rounds to nine tenths of the worst's gain, smile: {smile}. "
    "Share of the rounds to nine tenths of the worst's gain, language: {language}.",
    numbers=dict(smile=Cells(RISE), language=Cells(RISE, task="language")),
    stand_in=mixed_fig1.STAND_IN,
)
