"""FED-LAMB, figures 3 and 4: a convolutional network and ResNet-9 on CIFAR-10 (section 4.2,
appendix B).

ResNet on IID data with 10 and 50 clients, 1 and 3 local epochs (figure 4 is the case of 10); the
convolutional network with 50 clients, IID data and one label a device.
"""

from typing import Any

from fedtheory.experiments import _lamb
from fedtheory.experiments._record import Experiment
from fedtheory.typing import Number

# (network, split, clients, epochs) of figure 3's panels, in its order
PANELS = (
    ("ResNet", "IID", 10, 1),
    ("ResNet", "IID", 10, 3),
    ("ResNet", "IID", 50, 1),
    ("ResNet", "IID", 50, 3),
    ("CNN", "IID", 50, 1),
    ("CNN", "IID", 50, 3),
    ("CNN", "non-IID", 50, 3),
)
FINE = {
    "Fed-LAMB": (0.001, 0.003, 0.01, 0.03, 0.1),
    "Fed-AMS": (0.0001, 0.0003, 0.001, 0.003, 0.01),
    "Fed-SGD": (0.003, 0.01, 0.03, 0.1, 0.3),
}
PLACES = {
    "quick": dict(
        set=dict(name="textures", each=40, test=20, noise=0.15),
        nets={"CNN": ("lamb_cifar_twin", 16), "ResNet": ("resnet9_twin", None)},
        batch=8,
        steps=2,
        S={10: 2, 50: 4},
        rounds={"CNN": 40, "ResNet": 10},
        every=2,
        grid={
            "CNN": {
                "Fed-LAMB": (0.01, 0.03, 0.1),
                "Fed-AMS": (0.0003, 0.001, 0.003),
                "Fed-SGD": (0.03, 0.1, 0.3),
            },
            "ResNet": {"Fed-LAMB": (0.03,), "Fed-AMS": (0.003,), "Fed-SGD": (0.1,)},
        },
        lambdas={"CNN": (0.0, 0.1), "ResNet": (0.0,)},
    ),
    "smoke": dict(
        set=dict(name="textures", each=10, test=2),
        nets={"CNN": ("lamb_cifar_twin", 16), "ResNet": ("resnet9_twin", None)},
        batch=2,
        steps=1,
        S={10: 1, 50: 2},
        rounds={"CNN": 4, "ResNet": 2},
        every=1,
        grid={
            "CNN": {"Fed-LAMB": (0.03,), "Fed-AMS": (0.003,), "Fed-SGD": (0.1,)},
            "ResNet": {"Fed-LAMB": (0.03,), "Fed-AMS": (0.003,), "Fed-SGD": (0.1,)},
        },
        lambdas=dict.fromkeys(("CNN", "ResNet"), (0.0,)),
    ),
    "paper": dict(
        set=dict(name="cifar10"),
        nets={"CNN": ("lamb_cifar", None), "ResNet": ("resnet9", None)},
        batch=32,
        steps=None,
        S={10: 5, 50: 25},
        rounds={"CNN": 200, "ResNet": 100},
        every=1,
        grid={"CNN": FINE, "ResNet": FINE},
        lambdas=dict.fromkeys(("CNN", "ResNet"), _lamb.LAMBDAS),
    ),
}
SAMPLES = 50_000


def build_request(
    scale: str,
    net: str,
    split: str,
    clients: Number,
    epochs: Number,
    method: str,
    alpha: Number,
    lambda_: Number,
    seed: int,
) -> dict[str, Any]:
    told = PLACES[scale]
    steps = told["steps"] or SAMPLES // clients // told["batch"]
    return dict(
        set=told["set"],
        side=told["nets"][net][1],
        N=clients,
        split={"iid": {}} if split == "IID" else {"one_label": dict(balanced=True)},
        server=None,
        net=told["nets"][net][0],
        batch=told["batch"],
        S=told["S"][clients],
        rounds=told["rounds"][net],
        every=told["every"],
        seed=seed,
        **_lamb.method_entries(method, alpha, lambda_, steps * epochs),
    )


def fig3_cells(
    scale: str, few: tuple[str, str, int] | None = None
) -> dict[tuple[int | str, ...], dict[str, Any]]:
    """Return {(network, split, clients, epochs, method, alpha, lambda): arguments of `request`} for
    figure 3."""
    told = PLACES[scale]
    return {
        (*panel, *cell): dict(zip(("split", "clients", "epochs"), panel[1:])) | arguments
        for panel in PANELS
        if few in (None, panel[:3])
        for cell, arguments in _lamb.tuning_grid(
            told["grid"][panel[0]], told["lambdas"][panel[0]]
        ).items()
    }


def fig4_cells(scale: str) -> dict[tuple[int | str, ...], dict[str, Any]]:
    """Return the cells of figure 4: the runs of figure 3 of ResNet with 10 clients."""
    return fig3_cells(scale, ("ResNet", "IID", 10))


EXPERIMENT = Experiment(
    "lamb_cifar",
    "FED-LAMB, section 4.2 and appendix B",
    printed={
        "data": "CIFAR-10, IID; one label a device for the CNN's last panel",
        "networks": "three convolutions and two fully-connected layers; ResNet-9",
        "clients": "10 and 50",
        "participation": 0.5,
        "B": 32,
        "local epochs": "1 and 3",
        "beta_1, beta_2": "0.9, 0.999",
        "phi": "the identity",
        "runs": "3 (the checklist says 5)",
    },
    chosen={
        "non-IID": "one label a device, as on MNIST: the text does not say",
        "rounds": "200 of the CNN, 100 of ResNet-9: the figures' axes are no text",
        "widths of both networks": "the text has none (experiments/networks/lamb.py, experiments/networks/resnet9.py)",
        "BatchNorm under averaging": "statistics are those of each batch, gains and offsets are averaged",
        "participation below the scale paper": "2 of 10 clients and 4 of 50: a step of the twin takes 10 ms",
        "data below the scale paper": "textures, 16 x 16 for the CNN's twin, 32 x 32 for ResNet's",
    },
    tuning=_lamb.TUNING
    | {
        "ResNet below the scale paper": "one rate of each method, those of its MLP; so what rests on the rate is not "
        "judged there"
    },
    figures=dict(fig3=fig3_cells, fig4=fig4_cells),
    request=build_request,
    seeds=dict(smoke=2, quick=5, paper=5),
    judges="the CNN's sentences; ResNet's at the scale paper alone, where each method has its own rate",
)
