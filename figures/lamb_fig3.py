"""FED-LAMB, figure 3: CIFAR-10 with 1 and 3 local epochs, ResNet-9 on IID data with 10 and 50
clients, and a convolutional network with 50 clients on IID and non-IID data."""

from fedtheory.experiments.records import lamb_cifar
from fedtheory.figures import _lamb
from fedtheory.figures._runs import Cells, Coordinates, Runs, Source

STAND_IN = "on a stand-in (textures for CIFAR-10) with small networks, not on the paper's"
UNTUNED = "ResNet runs at one rate of each method there, and a sentence on who is ahead rests on the rates"
COORDINATES = ["net", "split", "clients", "epochs", *_lamb.TUNED]
QUANTITIES = ("final_accuracy", "rise_time", "generalization_gap")
CNN = tuple(f"lamb.fig3_cnn_{name}" for name in ("one_epoch", "sgd", "more_epochs"))
RESNET = ("lamb.fig3_resnet", "lamb.fig3_resnet_50", "lamb.fig3_resnet_ams")


def derive_coordinates(runs: Runs, at: Coordinates) -> Coordinates:
    """Return a cell's setting and tuned values, as texts."""
    length = _lamb.plural_epochs(at["epochs"])
    label = f"{at['net']}, {at['split']}, {at['clients']} clients, {length}"
    return dict(label=label, rates=_lamb.tuned_rates(at))


FIGURE = _lamb.LambFigure(
    cites="FED-LAMB, figure 3",
    title="Fed-LAMB, Fed-AMS and Fed-SGD on CIFAR-10",
    minutes=6.0,
    source=Source(lamb_cifar.EXPERIMENT, ["fig3"], COORDINATES, lengths=True),
    more=derive_coordinates,
    panels=_lamb.accuracy_panels(
        "{net}, {split}\n$n={clients}$, {epochs} ep.", COORDINATES[:4], wrap=4, legend="spare"
    ),
    sentences={
        CNN + RESNET: (
            Cells(QUANTITIES, where="{net}"),
            *(
                Cells(QUANTITIES, where=f"{place}, {length}", match=match)
                for place, match in (
                    ("CNN", dict(net="CNN", split="IID")),
                    ("ResNet, {clients} clients", dict(net="ResNet")),
                )
                for length in ("{epochs} epochs", "{epochs} epoch")
            ),
            Cells(
                "rise_time",
                "{clients} clients, 1 epoch",
                "ResNet",
                dict(net="ResNet", epochs="1", method=_lamb.AMS),
                minus=dict(method=_lamb.LAMB),
                called="rise_gain_over_ams",
            ),
        )
    },
    doubts=dict.fromkeys(RESNET, UNTUNED),
    text="ResNet is ResNet-9; $n$ clients; non-IID is one label a device. "
    f"{_lamb.CURVES} Axes have the length of each panel's own runs.",
    numbers=dict(
        ends=Cells("final_accuracy", "{method} {{value}} ({label}, {rates})", match=dict(net="CNN"))
    ),
    stand_in=STAND_IN,
    height=3.4,
)
