"""FED-LAMB, figure 2: test accuracy of Fed-LAMB, Fed-AMS and Fed-SGD with one digit on each device
and 1 and 5 local epochs. The top row shows the perceptron, the bottom row the convolutional
network."""

from fedtheory.experiments.records import lamb_mnist
from fedtheory.figures import _lamb
from fedtheory.figures._runs import Cells, Source

QUANTITIES = ("final_accuracy", "early_accuracy", "test_loss", "train_loss")


def gain_over_ams(name: str, where: str, **match: str) -> Cells:
    """Return the cells of how far Fed-LAMB is ahead of Fed-AMS."""
    return Cells(
        "final_accuracy",
        name,
        where,
        dict(method=_lamb.LAMB, **match),
        minus=dict(method=_lamb.AMS),
        called="accuracy_gain_over_ams",
    )


FIGURE = _lamb.LambFigure(
    cites="FED-LAMB, figure 2",
    title="Fed-LAMB, Fed-AMS and Fed-SGD with one digit a device, MNIST",
    minutes=4.0,
    source=Source(lamb_mnist.EXPERIMENT, ["fig2"], ["net", "epochs", *_lamb.TUNED], lengths=True),
    more=lambda runs, at: dict(
        label=f"{at['net']}, {_lamb.plural_epochs(at['epochs'])}",
        rates=_lamb.tuned_rates(at),
        length=_lamb.plural_epochs(at["epochs"]),
    ),
    panels=_lamb.accuracy_panels(
        "{label}", ["epochs", "label"], down="net", share=dict(sharey="row")
    ),
    sentences={
        tuple(
            f"lamb.fig2_{name}"
            for name in ("mlp_best", "mlp_sgd", "mlp_losses", "deeper")
            + ("cnn_best", "cnn_one_epoch", "cnn_early")
        ): (
            Cells(QUANTITIES, where="{net}"),
            Cells(QUANTITIES, where="{label}"),
            Cells(QUANTITIES, where="{net}, {epochs} epochs"),
            gain_over_ams("{net}", ""),
            gain_over_ams("{length}", "CNN", net="CNN"),
        )
    },
    text="One label a device, half of 50 devices a round (fewer at the scale smoke); above the "
    f"perceptron, below the convolutional network. {_lamb.CURVES}",
    numbers=dict(ends=Cells("final_accuracy", "{method} {{value}} ({label}, {rates})")),
    stand_in="on a stand-in (handwriting of fonts for MNIST) with small networks, not on the paper's",
    stacks=True,
    height=3.6,
)
