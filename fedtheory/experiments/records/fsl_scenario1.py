"""FSL, scenario 1 (section IV-B, figures 1, 2, 6 to 9): few clients, and a server with a few
samples of every class.

What makes FedAvg fail is kept at the smaller scales: the labels a client has, the share of clients
in a round, the progress K eta_l of a round, and a server with a hundredth of the data, a few samples
a class. Networks are small, sets are stand-ins, rounds are fewer.
"""

import math
from typing import Any

from fedtheory.experiments._record import Experiment

NAME = "fsl_scenario1"
SETS = ("EMNIST", "CIFAR-10")
RATES = dict(low=0.5, base=1.0, high=2.0)  # eta_l, as multiples of its base
# set -> what is loaded, its sides, labels, N, n_i, S, batch, hidden widths, eta_l at the base, C
PLACES = {
    "quick": {
        "EMNIST": dict(
            set=dict(name="handwriting", writers=40, each=5, test=2, classes=20),
            side=14,
            N=20,
            n_i=200,
            S=3,
            batch=20,
            net=[48],
            eta_l=0.03,
            C=(1, 2, 5, 20),
            per=2,
            pers=(2, 5, 10),
        ),
        "CIFAR-10": dict(
            set=dict(name="textures", each=400, test=60, noise=0.15),
            side=8,
            N=10,
            n_i=400,
            S=4,
            batch=20,
            net=[48],
            eta_l=0.02,
            C=(1, 2, 5, 10),
            per=5,
            pers=(2, 5, 10),
        ),
    },
    "smoke": {
        "EMNIST": dict(
            set=dict(name="handwriting", writers=8, each=3, test=1, classes=6),
            side=7,
            N=6,
            n_i=24,
            S=2,
            batch=8,
            net=[8],
            eta_l=0.05,
            C=(1, 6),
            per=2,
            pers=(1, 2),
        ),
        "CIFAR-10": dict(
            set=dict(name="textures", each=24, test=6, side=16),
            side=4,
            N=5,
            n_i=48,
            S=2,
            batch=8,
            net=[8],
            eta_l=0.05,
            C=(1, 10),
            per=1,
            pers=(1, 2),
        ),
    },
    "paper": {
        "EMNIST": dict(
            set=dict(name="emnist"),
            side=None,
            N=45,
            n_i=2400,
            S=5,
            batch=50,
            net="fsl_emnist",
            eta_l=0.01,
            C=(1, 2, 5, 45),
            per=5,
            pers=(2, 5, 10),
        ),
        "CIFAR-10": dict(
            set=dict(name="cifar10"),
            side=None,
            N=10,
            n_i=5000,
            S=4,
            batch=50,
            net="fsl_cifar",
            eta_l=0.01,
            C=(1, 2, 5, 10),
            per=50,
            pers=(20, 50, 100),
        ),
    },
}
LENGTHS = dict(
    smoke=(10, 1), quick=(150, 1), paper=(1000, 10)
)  # rounds, and how often they are tested
SEEDS = dict(smoke=2, quick=5, paper=3)
GAMMAS = (0.5, 1.0, 1.5, 2.0)
METHODS = {"FL": "fedavg", "DS": "data_sharing", "FSL": "fsl", "FSL-p": "fsl_parallel"}


def build_request(
    scale: str,
    place: str,
    method: str,
    C: int,
    seed: int,
    gamma: float = 1.0,
    rate: str = "base",
    per: int | None = None,
    S: int | None = None,
    start: bool | None = None,
    watch: bool = False,
) -> dict[str, Any]:
    """Return the request of one run with `per` samples of each class at the server. `start` states
    whether the server pre-trains (default as in figure 1: for FSL and DS yes, for FL no)."""
    told = PLACES[scale][place]
    rounds, every = LENGTHS[scale]
    classes = max(told["C"])
    S, n_0, batch = S or told["S"], (per or told["per"]) * classes, told["batch"]
    K = told["n_i"] // batch
    E_s = math.ceil(told["n_i"] / n_0)  # n / (N n_0) epochs, rounded up
    B_0 = min(batch, n_0)
    K_0 = max(1, round(E_s * n_0 / B_0))
    eta_l = told["eta_l"] * RATES[rate]
    hyper = dict(eta_l=eta_l, eta_g=math.sqrt(S), K=K)
    if method in ("FSL", "FSL-p"):
        hyper |= dict(K_0=K_0, gamma=gamma, eta_0=math.sqrt(S) * eta_l * K / K_0)
    start = method != "FL" if start is None else start
    return dict(
        set=told["set"],
        side=told["side"],
        classes=max(told["C"]),
        N=told["N"],
        split={"classes": dict(C=C)},
        server={"server_iid": dict(n_0=n_0)},
        net=told["net"],
        batch=batch,
        method=METHODS[method],
        hyper=hyper,
        S=S,
        rounds=rounds,
        every=max(1, rounds // 20) if watch else every,
        pretrained=dict(steps=max(1, 500 * n_0 // B_0), eta=0.01) if start else None,
        seed=seed,
        **(dict(measure=["sq_xi", "sq_dissimilarity"]) if watch else {}),
    )


def fig1_cells(scale: str) -> dict[tuple[str, int, str], dict[str, Any]]:
    """Return {(place, C, label): arguments of `request`} for the curves of figure 1."""
    lines = [("FL", {}), ("DS", {}), *((f"FSL gamma={g:g}", dict(gamma=g)) for g in GAMMAS[:3])]
    return {
        (place, C, label): dict(method=label.partition(" ")[0], C=C, **more)
        for place in SETS
        for C in PLACES[scale][place]["C"]
        for label, more in lines
    }


def fig6_cells(scale: str) -> dict[tuple[str, int, str], dict[str, Any]]:
    """Return the cells of figure 6: those of figure 1 with one random initial point for all
    methods."""
    return {
        (place, C, method): dict(method=method, C=C, start=False)
        for place in SETS
        for C in PLACES[scale][place]["C"]
        for method in ("FL", "DS", "FSL")
    }


def fig2_cells(scale: str) -> Any:
    """Return the cells of figure 2: gamma (0 is DS; FL is shown, too), eta_l and n_0, at the
    smallest C and the next one."""
    found = {}
    for place in SETS:
        told = PLACES[scale][place]
        settings = [(rate, told["per"]) for rate in RATES]
        settings += [("base", per) for per in told["pers"] if per != told["per"]]
        for C in told["C"][: 1 if scale == "smoke" else 2]:
            for rate, per in settings:
                at = dict(C=C, rate=rate, per=per)
                found[place, C, rate, per, "DS"] = dict(method="DS", **at)
                for gamma in GAMMAS:
                    found[place, C, rate, per, f"{gamma:g}"] = dict(method="FSL", gamma=gamma, **at)
                if per == told["per"]:
                    found[place, C, rate, per, "FL"] = dict(method="FL", **at)
    return found


def fig7_cells(scale: str) -> dict[tuple[str, int, int, str], dict[str, int | str]]:
    """Return the cells of figure 7: FSL, FSL-p and DS over C and S."""
    return {
        (place, C, S, method): dict(method=method, C=C, S=S)
        for place in SETS
        for C in PLACES[scale][place]["C"][:3]
        for S in (PLACES[scale][place]["S"], PLACES[scale][place]["N"])
        for method in ("FSL", "FSL-p", "DS")
    }


def fig8_cells(scale: str) -> dict[tuple[str, float, str], dict[str, Any]]:
    """Return the cells of figure 8: FSL, FSL-p and DS over gamma, at the S of figure 1."""
    return {
        (place, gamma, method): dict(
            method=method,
            C=PLACES[scale][place]["C"][1],
            **(dict(gamma=gamma) if method != "DS" else {}),
        )
        for place in SETS
        for gamma in GAMMAS
        for method in ("FSL", "FSL-p", "DS")
    }


def fig9_cells(scale: str) -> dict[tuple[str, int, int], dict[str, Any]]:
    """Return the cells of figure 9: xi_t^2 and G_t^2 along FSL's runs, over C and n_0."""
    return {
        (place, C, per): dict(method="FSL", C=C, per=per, watch=True)
        for place in SETS
        for C in PLACES[scale][place]["C"]
        for per in PLACES[scale][place]["pers"]
    }


FIGURES = dict(
    fig1=fig1_cells,
    fig2=fig2_cells,
    fig6=fig6_cells,
    fig7=fig7_cells,
    fig8=fig8_cells,
    fig9=fig9_cells,
)


EXPERIMENT = Experiment(
    NAME,
    "FSL, section IV-B",
    printed={
        "EMNIST": "108,000 samples of 45 classes, N = 45, n_i = 2400, n_0 = 225, S = 5",
        "CIFAR-10": "50,000 samples of 10 classes, N = 10, n_i = 5000, n_0 = 500, S = 4",
        "eta_l": 0.01,
        "eta_g": "sqrt(S)",
        "eta_0": "sqrt(S) eta_l K / K_0",
        "gamma": "N n_0 / n, 0.5, 1, 1.5, 2",
        "E_c": 1,
        "E_s": "ceil(n E_c / (N n_0))",
        "pretrained": "500 epochs of step size 0.01 on D_0, for FSL and DS",
        "T": 1000,
        "seeds": 3,
    },
    chosen={
        "B": "50 at the scale paper, scenario 2's; a tenth or less of a client's data below",
        "minibatches": "drawn anew in each step, without replacement within it; an epoch is n_i / B steps",
        "classes of EMNIST": "the first 45 of 47: the paper does not say which it leaves out",
        "eta_g of FL and DS": "sqrt(S), as FSL's: one sentence fixes it for all",
        "eta_l below the scale paper": "such that K eta_l of a round is about the printed one",
        "sets below the scale paper": "handwriting for EMNIST, textures for CIFAR-10, small images",
        "network below the scale paper": "one hidden layer of 48",
        "early_accuracy": "the mean over the first tenth of the rounds",
        "oscillation": "the deviation from a rolling mean of 5 % of the rounds, over the second half",
        "rise_time": "as a share of all rounds",
    },
    tuning={},
    figures=FIGURES,
    request=build_request,
    seeds=SEEDS,
    judges="what compares methods on the same data; not what tells EMNIST from CIFAR-10, nor what rests on a convolution",
)
