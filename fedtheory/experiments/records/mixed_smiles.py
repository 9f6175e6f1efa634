"""Mixed FL, smiles (sections 5.1, C.2.1, C.4.1, C.4.2; figures 1a, 2a, 7, 8, 9, table 2): clients
have smiling faces, the server has the other faces."""

from typing import Any

from fedtheory.experiments import _mixed
from fedtheory.experiments._mixed import MIXING
from fedtheory.experiments._record import Experiment

PLACES = {
    "quick": dict(
        each=600, test=100, side=14, net="smiles_twin", N=60, S=20, batch=5, eta=0.02, K=2,
        rounds=150, every=2, B_c=(2, 25, 100), steps=(1, 2, 4),
    ),
    "smoke": dict(
        each=30, test=10, side=14, net="smiles_twin", N=6, S=3, batch=2, eta=0.02, K=2,
        rounds=10, every=1, B_c=(1, 25), steps=(1, 2),
    ),
    "paper": dict(
        each=15000, test=2000, side=28, net="smiles", N=2800, S=100, batch=5, eta=0.01, K=2,
        rounds=2000, every=10, B_c=(5, 25, 100, 500), steps=(1, 2, 4),
    ),
}  # fmt: skip


def build_request(
    scale: str,
    task: str,
    method: str,
    seed: int,
    B_c: int | None = None,
    K: int | None = None,
    seen: bool = False,
) -> dict[str, Any]:
    """Return the request of one run with `K` steps of a size that keeps eta K fixed. With `seen`,
    G_t and B_t are measured, with one step per round."""
    told = PLACES[scale]
    steps = 1 if seen else K or told["K"]
    eta = told["eta"] if seen else told["eta"] * told["K"] / steps
    return dict(
        set=dict(name="faces", each=told["each"], test=told["test"], side=28),
        side=told["side"],
        apart=["label", 1],
        N=told["N"],
        split={"iid": {}},
        net=told["net"],
        batch=told["batch"],
        S=told["S"],
        rounds=100 if seen and scale != "smoke" else told["rounds"],
        every=1 if seen else told["every"],
        pretrained=None,
        seed=seed,
        measure=["sq_G_t", "sq_B_t"] if seen else ["test_auc", "test_loss"],
        **(
            {"server": {"rest": {}}}
            | _mixed.method_entries(method, eta, steps, told["S"], told["batch"], B_c)
        ),
    )


def curve_cells(scale: str) -> dict[tuple[str, str], dict[str, str]]:
    """Return {(task, method): arguments of `request`} for figures 1a and 2a."""
    return {("smile", name): dict(method=name) for name in (*MIXING, "oracle")}


def batch_cells(scale: str) -> dict[tuple[str, str, str], dict[str, int | str]]:
    """Return the cells of figures 7 and 8: over the central batch."""
    return {
        ("smile", f"{B_c}", name): dict(method=name, B_c=B_c)
        for B_c in PLACES[scale]["B_c"]
        for name in MIXING
    }


def step_cells(scale: str) -> dict[tuple[str, str, str], dict[str, int | str]]:
    """Return the cells of figure 9: over K, with eta K fixed."""
    return {
        ("smile", f"{K}", name): dict(method=name, K=K)
        for K in PLACES[scale]["steps"]
        for name in MIXING
    }


def trajectory_runs(scale: str) -> dict[tuple[str, str], dict[str, bool | str]]:
    """Return the cell of figure 4 and table 2: G_t and B_t along parallel training."""
    return {("smile", "PT"): dict(method="PT", seen=True)}


EXPERIMENT = Experiment(
    "mixed_smiles",
    "mixed FL, sections 5.1, C.2.1, C.4.1 and C.4.2",
    printed={
        "network": "one hidden layer of 64",
        "clients": "2,802, about 31 smiling faces each; S = 100",
        "|B_i|, K, eta, eta_s": "5, 2, 0.01, 1",
        "|B_c|": "1000 of 1-W GT, 500 of the others",
        "eta_c, eta_m": "eta, 1",
        "trials": "10 of figures 7 and 8, 5 of figure 9",
    },
    chosen={
        "data": "drawn faces at every scale: CelebA is not to be had without its terms",
        "rounds": "2000 at the scale paper: the figures' axes are no text",
        "eta below the scale paper": "0.02: rounds are fewer",
        "|B_c| of figures 7 and 8": "5 to 500, 2 to 100 below the scale paper: the text names 25 alone",
        "K of figure 9": "1, 2 and 4, eta K fixed",
        "oracle": "SGD on all samples, a step of twice the size on twice the batch",
        "trials": "5",
    },
    tuning={},
    figures=dict(curves=curve_cells, batches=batch_cells, steps=step_cells, seen=trajectory_runs),
    request=build_request,
    seeds=dict(smoke=2, quick=5, paper=5),
    judges="how the ways of mixing compare; no printed AUC",
)
