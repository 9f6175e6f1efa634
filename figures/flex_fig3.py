"""Flex, figure 3: test accuracy of schemes A, B and C on non-IID EMNIST, with 1, 3, 5 and 8 traces."""

from fedtheory.experiments import _curves
from fedtheory.experiments.records import flex_schemes
from fedtheory.figures import _flex, _flex_networks
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._panels import LINES, Line, Panels
from fedtheory.figures._runs import Cells, Source, of_curve

FIGURE = ExperimentFigure(
    cites="flex, figure 3",
    title="Schemes A, B and C on non-IID EMNIST",
    source=Source(flex_schemes.EXPERIMENT, ["fig3"], _flex_networks.COORDINATES),
    measures=dict(percent=of_curve("test_accuracy", _curves.final_mean, 100)),
    panels=Panels(
        [
            Line(f"scheme {scheme}", look, dict(scheme=scheme))
            for scheme, look in _flex.SCHEMES.items()
        ],
        across=["traces"],
        share=dict(sharey=True),
        title=r"$|\mathcal{{T}}|={traces}$",
        xlabel=r"round $\tau$",
        ylabel="test accuracy",
        legend=lambda at: "" if at["column"] else "lower right",
    ),
    sentences={
        ("flex.fig3_C_over_B", "flex.fig3_A_below"): Cells(
            "percent", "scheme {scheme}", "|T|={traces}", called="final_accuracy"
        )
    },
    table=["final_accuracy"],
    text="One label a device; $|\\mathcal{T}|$ is the number of traces that devices follow. "
    f"{LINES}",
    result="Accuracy at the end in per cent, from few traces to many: {accuracies}.",
    numbers=dict(accuracies=Cells("percent", "{scheme}", levels="traces")),
    show=lambda values: ", ".join(f"{mean:.1f}" for mean in values.mean(axis=0)),
    stand_in=_flex_networks.STAND_IN,
    width="page",
    height=2.0,
)
