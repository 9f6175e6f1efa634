"""FSL, scenario 2 (section IV-C, figures 5, 10, 11, table I): many clients, of which few work in a
round; the server has samples of a few clients, or of another source (FSLsyn).

Kept at the smaller scales: five local steps, a few per cent of the clients in a round, a server with
a hundredth of the data, the labels a client has, and how the server comes by its data.
"""

import math
from functools import partial
from typing import Any

from fedtheory.experiments._record import Experiment
from fedtheory.typing import Number

SETS = ("EMNIST", "CIFAR-10")
ABSENT = 6  # frog, which STL-10 has not
PLACES = {
    "quick": {
        "EMNIST": dict(
            set=dict(name="handwriting", writers=36, each=5, test=2, classes=20),
            other=dict(name="rendered", classes=20),
            each=3,
            side=14,
            N=60,
            n_i=60,
            S=3,
            batch=12,
            net=[48],
            c=4,
            s=10,
            C=(1, 2, 5, 20),
            eta_l=(0.03, 0.06, 0.12, 0.24),
        ),
        "CIFAR-10": dict(
            set=dict(name="textures", each=400, test=60, noise=0.15),
            other=dict(
                name="textures", each=20, test=0, noise=0.15, shift=0.5, absent=[ABSENT], seed=1
            ),
            each=4,
            side=8,
            N=100,
            n_i=40,
            S=5,
            batch=8,
            net=[48],
            c=5,
            s=8,
            C=(1, 2, 5, 10),
            eta_l=(0.02, 0.04, 0.08, 0.16),
        ),
    },
    "smoke": {
        "EMNIST": dict(
            set=dict(name="handwriting", writers=8, each=3, test=1, classes=6),
            other=dict(name="rendered", classes=6),
            each=2,
            side=7,
            N=12,
            n_i=12,
            S=2,
            batch=3,
            net=[8],
            c=3,
            s=4,
            C=(1, 6),
            eta_l=(0.05, 0.1),
        ),
        "CIFAR-10": dict(
            set=dict(name="textures", each=24, test=6, side=16),
            other=dict(
                name="textures", each=2, test=0, side=16, shift=0.5, absent=[ABSENT], seed=1
            ),
            each=1,
            side=4,
            N=20,
            n_i=12,
            S=2,
            batch=3,
            net=[8],
            c=3,
            s=3,
            C=(1, 10),
            eta_l=(0.05, 0.1),
        ),
    },
    "paper": {
        "EMNIST": dict(
            set=dict(name="emnist"),
            other=dict(name="rendered", classes=45),
            each=15,
            side=None,
            N=450,
            n_i=240,
            S=5,
            batch=50,
            net="fsl_emnist",
            c=9,
            s=50,
            C=(1, 2, 5, 45),
            eta_l=(0.01, 0.02, 0.05, 0.1),
        ),
        "CIFAR-10": dict(
            set=dict(name="cifar10"),
            other=dict(name="stl10"),
            each=56,
            side=None,
            N=1000,
            n_i=50,
            S=10,
            batch=10,
            net="fsl_cifar",
            c=10,
            s=50,
            C=(1, 2, 5, 10),
            eta_l=(0.01, 0.02, 0.05, 0.1),
        ),
    },
}
LENGTHS = dict(smoke=(10, 1), quick=(200, 2), paper=(1000, 10))
SEEDS = dict(smoke=2, quick=5, paper=3)
METHODS = {"FSL": "fsl", "FSLsyn": "fsl", "SCAFFOLD": "scaffold", "FedDyn": "feddyn"}


def server_of(told: dict[str, Any], method: str, per: int | None = None) -> tuple[Any, int]:
    """Return how the server gets its samples, and the number of samples; `per` is the number per
    client, or per class."""
    told = told | ({} if per is None else {"each" if method == "FSLsyn" else "s": per})
    if method == "FSLsyn":
        absent = [ABSENT] if told["other"]["name"] in ("textures", "stl10") else []
        classes = max(told["C"]) - len(absent)
        options = dict(each=told["each"], **(dict(absent=absent) if absent else {}))
        return {"server_other": options}, told["each"] * classes
    return {"server_from_clients": dict(c=told["c"], s=told["s"])}, told["c"] * told["s"]


def build_request(
    scale: str,
    place: str,
    method: str,
    C: int,
    eta_l: Number,
    seed: int,
    gamma: Number = 1.0,
    alpha: Number = 0.01,
    per: int | None = None,
) -> dict[str, Any]:
    """Return the request of one run. Methods without a server of their own use the same clients."""
    told = PLACES[scale][place]
    rounds, every = LENGTHS[scale]
    S, K = told["S"], math.ceil(told["n_i"] / told["batch"])
    server, n_0 = server_of(told, method, per)
    K_0 = max(1, round(math.ceil(told["n_i"] / n_0) * n_0 / min(told["batch"], n_0)))
    hyper = dict(eta_l=eta_l, K=K)
    if method.startswith("FSL"):
        hyper |= dict(
            eta_g=math.sqrt(S), K_0=K_0, gamma=gamma, eta_0=math.sqrt(S) * eta_l * K / K_0
        )
    else:
        server = None
        hyper |= dict(eta_g=math.sqrt(S)) if method == "SCAFFOLD" else dict(alpha=alpha)
    return dict(
        set=told["set"],
        **(dict(other=told["other"]) if method == "FSLsyn" else {}),
        side=told["side"],
        classes=max(told["C"]),
        N=told["N"],
        split={"classes": dict(C=C)},
        server=server,
        net=told["net"],
        batch=told["batch"],
        method=METHODS[method],
        hyper=hyper,
        S=S,
        rounds=rounds,
        every=every,
        pretrained=None,
        seed=seed,
    )


def fig5_cells(place: str, scale: str) -> dict[tuple[str, int, str, str], dict[str, Any]]:
    """Return {(set, C, eta_l, method): arguments of `request`} for the half of figure 5 that shows
    one data set."""
    told = PLACES[scale][place]
    return {
        (place, C, f"{eta_l:g}", method): dict(method=method, C=C, eta_l=eta_l)
        for C in told["C"]
        for eta_l in told["eta_l"]
        for method in METHODS
    }


EXPERIMENT = Experiment(
    "fsl_scenario2",
    "FSL, section IV-C",
    printed={
        "EMNIST": "N = 450, n_i = 240, B = 50, S = 5; server: 50 samples of each of 9 clients",
        "CIFAR-10": "N = 1000, n_i = 50, B = 10, S = 10; server: 50 samples of each of 10 clients",
        "FSLsyn": "675 rendered letters (15 a class); 504 images of STL-10 (56 a class, no frog)",
        "eta_g": "sqrt(S) for FSL, FSLsyn and SCAFFOLD",
        "gamma": 1.0,
        "alpha of FedDyn": 0.01,
        "pretrained": "none",
        "T": 1000,
        "seeds": 3,
    },
    chosen={
        "eta_l": "0.01, 0.02, 0.05, 0.1 at the scale paper: figure 5 prints no numbers, table I has two of these",
        "option of SCAFFOLD": "II, which costs no more gradients",
        "K of EMNIST": "5: 240 samples in batches of 50, rounded up",
        "sets below the scale paper": "handwriting and rendered letters; textures, and shifted ones for STL-10",
        "network below the scale paper": "one hidden layer of 48",
    },
    tuning={
        "eta_l": "each method's best at a C, by final accuracy on the test data, as the heat maps are read",
        "the grid": "below the scale paper it had three values; a fourth was added above them after the best "
        "of FSL lay at the end, so what rests on the grid alone is not judged there",
    },
    figures={place: partial(fig5_cells, place) for place in SETS},
    request=build_request,
    seeds=SEEDS,
    judges="what compares methods on the same data; not what tells EMNIST from CIFAR-10, nor what rests on a convolution",
)
