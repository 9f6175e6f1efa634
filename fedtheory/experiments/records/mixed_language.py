"""Mixed FL, the language model (sections 5.2, C.2.2, C.4.2, C.4.3; figures 1b, 2b, 5, 10, 11, table
2): clients have one source of characters, the server another."""

from typing import Any

from fedtheory.experiments import _mixed
from fedtheory.experiments._mixed import MIXING
from fedtheory.experiments._record import Experiment
from fedtheory.typing import Number

SOURCES = {"Stack Overflow": 0, "Wikipedia": 1}  # whose windows clients have, and the server
PLACES = {
    "quick": dict(
        each=600, test=60, length=20, N=40, S=8, batch=4, K=4, rounds=60, every=3, eta=1.0,
        rates=(1.0, 2.0, 8.0, 32.0), steps=(1, 2, 4),
    ),
    "smoke": dict(
        each=24, test=4, length=6, N=6, S=2, batch=2, K=2, rounds=4, every=1, eta=1.0,
        rates=(1.0, 4.0), steps=(1, 2),
    ),
    "paper": dict(
        each=20000, test=1000, length=40, N=1000, S=100, batch=8, K=16, rounds=2000, every=50,
        eta=1.0, rates=(1.0, 2.0, 3.0, 5.0), steps=(4, 8, 16),
    ),
}  # fmt: skip


def build_request(
    scale: str,
    task: str,
    method: str,
    seed: int,
    tested: str | None = None,
    K: int | None = None,
    rate: Number = 1.0,
    seen: bool = False,
) -> dict[str, Any]:
    """Return the request of one run. `tested` is the source of the test data (both sources if
    absent), `rate` a multiple of eta."""
    told = PLACES[scale]
    steps = 1 if seen else K or told["K"]
    eta = rate * told["eta"] * (1 if seen else told["K"] / steps)
    return dict(
        set=dict(
            name="characters",
            each=told["each"],
            test=told["test"],
            length=told["length"],
            unlike=0.5,
        ),
        side=None,
        apart=["writer", 0],
        N=told["N"],
        split={"iid": {}},
        net="language_twin",
        batch=told["batch"],
        S=told["S"],
        rounds=100 if seen and scale != "smoke" else told["rounds"],
        every=1 if seen else told["every"],
        pretrained=None,
        seed=seed,
        tested=None if tested is None else ["writer", SOURCES[tested]],
        measure=["sq_G_t", "sq_B_t"] if seen else ["test_accuracy", "test_loss"],
        **(
            {"server": {"rest": {}}}
            | _mixed.method_entries(method, eta, steps, told["S"], told["batch"])
        ),
    )


def curve_cells(scale: str) -> dict[tuple[str, str, str], dict[str, str]]:
    """Return {(task, source of test data, method): arguments of `request`} for figures 1b, 2b and
    5."""
    return {
        ("language", source, name): dict(method=name, tested=source)
        for source in SOURCES
        for name in (*MIXING, "only FL", "oracle")
    }


def step_cells(scale: str) -> dict[tuple[str, str, str], dict[str, int | str]]:
    """Return the cells of figure 10: over K, with eta K fixed."""
    return {
        ("language", f"{K}", name): dict(method=name, K=K)
        for K in PLACES[scale]["steps"]
        for name in MIXING
    }


def rate_cells(scale: str) -> dict[tuple[str, str, str], dict[str, float | str]]:
    """Return the cells of figure 11 and C.4.3: over eta, with K fixed."""
    return {
        ("language", f"{rate:g}", name): dict(method=name, rate=rate)
        for rate in PLACES[scale]["rates"]
        for name in MIXING
    }


def trajectory_runs(scale: str) -> dict[tuple[str, str], dict[str, bool | str]]:
    """Return the cell of figure 4 and table 2: G_t and B_t along parallel training."""
    return {("language", "PT"): dict(method="PT", seen=True)}


EXPERIMENT = Experiment(
    "mixed_language",
    "mixed FL, sections 5.2, C.2.2, C.4.2 and C.4.3",
    printed={
        "network": "an embedding of 256 and 1024 GRU units, sequences of 100 characters",
        "S, |B_i|, K": "100, 8, 16",
        "eta, eta_s": "2 (2-W GT: 1), 1",
        "|B_c|": "6400 of 1-W GT, 800 of the others",
        "eta_c, eta_m": "eta, 1",
        "weights": "0.73 and 0.27",
        "trials": "5 of figure 10",
    },
    chosen={
        "network": "the twin at every scale: a run of the paper's takes days here",
        "data": "two made sources of characters at every scale: the corpora have too many bytes and terms of their own",
        "weights": _mixed.WEIGHTS,
        "eta": "the same of all methods, 1; in figure 11 its multiples 1, 2, 3, 5, and 1, 2, 8, 32 below the scale paper",
        "|B_c| of 1-W GT": "K S |B_i|, as the text's rule has it",
        "oracle": "SGD on all samples, a step of twice the size on twice the batch",
        "test data": "of both sources: the mean of what is measured on each",
    },
    tuning={},
    figures=dict(curves=curve_cells, steps=step_cells, rates=rate_cells, seen=trajectory_runs),
    request=build_request,
    seeds=dict(smoke=2, quick=5, paper=5),
    judges="how the ways of mixing compare; no printed accuracy, and no printed rate",
)
