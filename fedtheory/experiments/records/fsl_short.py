"""The short paper of FSL (section III, figures 1 to 6): server learning compared with data sharing,
and both combined (DSL), over the server's step size, epochs and samples."""

from typing import Any

from fedtheory.experiments._record import Experiment

SETS = ("EMNIST", "CIFAR-10")
# set -> what is loaded, N, n_i, S, batch, hidden widths, eta_l, the server's samples a class
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
            eta_l=0.05,
            classes=20,
            pers=(2, 5, 8, 11),
        ),
        "CIFAR-10": dict(
            set=dict(name="textures", each=400, test=60, noise=0.15),
            side=8,
            N=10,
            n_i=400,
            S=3,
            batch=20,
            net=[48],
            eta_l=0.03,
            classes=10,
            pers=(2, 4, 6, 8, 10),
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
            classes=6,
            pers=(1, 2, 3, 4),
        ),
        "CIFAR-10": dict(
            set=dict(name="textures", each=30, test=6, side=16),
            side=4,
            N=10,
            n_i=24,
            S=2,
            batch=8,
            net=[8],
            eta_l=0.05,
            classes=10,
            pers=(1, 2, 3),
        ),
    },
    "paper": {
        "EMNIST": dict(
            set=dict(name="emnist"),
            side=None,
            N=47,
            n_i=2400,
            S=5,
            batch=100,
            net="fsl_emnist",
            eta_l=0.04,
            classes=47,
            pers=(2, 5, 8, 11),
        ),
        "CIFAR-10": dict(
            set=dict(name="cifar10"),
            side=None,
            N=10,
            n_i=4000,
            S=3,
            batch=100,
            net="fsl_cifar",
            eta_l=0.02,
            classes=10,
            pers=(20, 40, 60, 80, 100),
        ),
    },
}
LENGTHS = dict(smoke=(10, 1), quick=(120, 1), paper=(400, 5))
SEEDS = dict(smoke=2, quick=5, paper=5)
RATIOS = (0.25, 0.5, 0.75)  # eta_0 / eta_l: 0.01, 0.02, 0.03 over 0.04
ES = (1, 2, 3, 4, 5)
METHODS = {"FL": "fedavg", "DS": "data_sharing", "FSL": "fsl", "DSL": "dsl"}
BOTH = ("FSL", "DSL")


def build_request(
    scale: str,
    place: str,
    method: str,
    seed: int,
    per: int | None = None,
    C: int = 2,
    E_s: int = 1,
    ratio: float = 1.0,
    start: bool = True,
    many: int = 1,
) -> dict[str, int | dict[str, Any]]:
    """Return the request of one run. eta_0 is `ratio` times eta_l, and `many` times as many clients
    share the same samples."""
    told = PLACES[scale][place]
    rounds, every = LENGTHS[scale]
    n_0 = (told["pers"][1] if per is None else per) * told["classes"]
    batch, n_i = told["batch"], told["n_i"] // many
    B_0 = min(batch, n_0)
    hyper = dict(eta_l=told["eta_l"], K=max(1, n_i // batch))
    if method in BOTH:
        hyper |= dict(K_0=max(1, round(E_s * n_0 / B_0)), eta_0=ratio * told["eta_l"])
    return dict(
        set=told["set"],
        side=told["side"],
        classes=told["classes"],
        N=told["N"] * many,
        split={"classes": dict(C=C, each=n_i)},
        server={"server_iid": dict(n_0=n_0)},
        net=told["net"],
        batch=batch,
        method=METHODS[method],
        hyper=hyper,
        S=told["S"],
        rounds=rounds,
        every=every,
        pretrained=dict(steps=max(1, 500 * n_0 // B_0), eta=0.01) if start else None,
        seed=seed,
    )


def fig1_cells(scale: str) -> Any:
    """Return the cells of figure 1: over eta_0 and E_s on EMNIST, from a model that the server
    pre-trained, except for FL."""
    found = {("EMNIST", "", "", "FL"): dict(method="FL", start=False)}
    found["EMNIST", "", "", "DS"] = dict(method="DS")
    for ratio in RATIOS:
        for E_s in ES:
            for method in BOTH:
                found["EMNIST", ratio, E_s, method] = dict(method=method, ratio=ratio, E_s=E_s)
    return found


def fig2_cells(scale: str) -> Any:
    """Return the cells of figure 2: over n_0 on EMNIST, from one random model for all methods, with
    eta_0 = 0.03."""
    found = {("EMNIST", "", "FL"): dict(method="FL", start=False)}
    for per in PLACES[scale]["EMNIST"]["pers"]:
        for method in ("DS", *BOTH):
            at = dict(method=method, per=per, start=False)
            found["EMNIST", per, method] = at | (dict(ratio=RATIOS[-1]) if method in BOTH else {})
    return found


def fig3_cells(scale: str) -> dict[tuple[str, int, str], dict[str, int | str]]:
    """Return the cells of figure 3: N and ten times N clients on CIFAR-10, from one pre-trained
    model for all methods."""
    return {
        ("CIFAR-10", many, method): dict(method=method, many=many)
        for many in ((1, 10) if scale != "smoke" else (1, 2))
        for method in METHODS
    }


def fig4_cells(scale: str) -> dict[tuple[str, int, str], dict[str, Any]]:
    """Return the cells of figure 4: over C on CIFAR-10, with the largest number of samples; FL
    starts from a random model."""
    per = PLACES[scale]["CIFAR-10"]["pers"][-1]
    return {
        ("CIFAR-10", C, method): dict(method=method, C=C, per=per, start=method != "FL")
        for C in (1, 2, 5)
        for method in METHODS
    }


def fig5_cells(scale: str) -> dict[tuple[str, int, str], dict[str, int | str]]:
    """Return the cells of figure 5: over n_0 on CIFAR-10."""
    return {
        ("CIFAR-10", per, method): dict(method=method, per=per)
        for per in PLACES[scale]["CIFAR-10"]["pers"]
        for method in ("DS", *BOTH)
    }


def fig6_cells(scale: str) -> dict[tuple[str, float, int, str], dict[str, Any]]:
    """Return the cells of figure 6: over eta_0 and E_s on CIFAR-10, with the largest number of
    samples."""
    per = PLACES[scale]["CIFAR-10"]["pers"][-1]
    return {
        ("CIFAR-10", ratio, E_s, method): dict(method=method, ratio=ratio, E_s=E_s, per=per)
        for ratio in (0.5, 1.0, 1.5)
        for E_s in ES
        for method in BOTH
    }


FIGURES = dict(
    fig1=fig1_cells,
    fig2=fig2_cells,
    fig3=fig3_cells,
    fig4=fig4_cells,
    fig5=fig5_cells,
    fig6=fig6_cells,
)


EXPERIMENT = Experiment(
    "fsl_short",
    "FSL (short), section III",
    printed={
        "EMNIST": "112,800 samples of 47 classes, N = 47, n_i = 2400, C = 2, S = 5, eta_l = 0.04",
        "eta_0 on EMNIST": "0.01, 0.02, 0.03",
        "n_0 on EMNIST": "94, 235, 376, 517",
        "CIFAR-10": "n = 40,000, N = 10 or 100, S = 3, eta_l = eta_0 = 0.02 unless stated",
        "n_0 on CIFAR-10": "200 to 1000; 400 in figure 3",
        "E_c": 1,
        "E_s": "1 to 5",
        "B": 100,
        "T": 400,
        "runs": 5,
    },
    chosen={
        "eta_g": "1: algorithm 1 of the short paper averages",
        "E_s where it does not vary": "1: 'E_s should be set small'",
        "eta_0 of figure 6": "0.5, 1 and 1.5 times eta_l: the text names three values, not which",
        "pretraining": "500 epochs of step size 0.01, the long paper's",
        "sets below the scale paper": "handwriting for EMNIST, textures for CIFAR-10, small images",
        "network below the scale paper": "one hidden layer of 48",
    },
    tuning={},
    figures=FIGURES,
    request=build_request,
    seeds=SEEDS,
    judges="what compares methods on the same data; not what rests on a convolution",
)
