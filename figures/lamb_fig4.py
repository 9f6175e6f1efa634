"""FED-LAMB, figure 4: ResNet-9 on IID CIFAR-10 with 10 clients, 1 and 3 local epochs."""

from fedtheory.experiments.records import lamb_cifar
from fedtheory.figures import _lamb, lamb_fig3
from fedtheory.figures._runs import Cells, Source

IDS = ("lamb.fig4_faster", "lamb.fig4_generalizes")

FIGURE = _lamb.LambFigure(
    cites="FED-LAMB, figure 4",
    title="Fed-LAMB, Fed-AMS and Fed-SGD with ResNet-9 and 10 clients, CIFAR-10",
    source=Source(lamb_cifar.EXPERIMENT, ["fig4"], lamb_fig3.COORDINATES, lengths=True),
    more=lambda runs, at: dict(
        title=f"{at['epochs']} local epoch{'s' * (at['epochs'] != '1')}",
        rates=_lamb.tuned_rates(at),
    ),
    panels=_lamb.accuracy_panels("{title}", ["title"], share=dict(sharey=True)),
    sentences={
        IDS: Cells(("final_accuracy", "rise_time"), where="ResNet, 10 clients, {epochs} epochs")
    },
    doubts=dict.fromkeys(IDS, lamb_fig3.UNTUNED),
    text=f"Ten clients, IID data. {_lamb.CURVES}",
    numbers=dict(ends=Cells("final_accuracy", "{method} {{value}} ({epochs} epochs, {rates})")),
    stand_in=lamb_fig3.STAND_IN,
    stacks=True,
    height=2.0,
)
