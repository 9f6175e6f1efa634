"""Flex, tables 3 (a) and (b) and figure 3: schemes A, B and C on MNIST and EMNIST with increasingly
heterogeneous devices (section 5.2)."""

from typing import Any

from fedtheory.experiments import _flex
from fedtheory.experiments._record import Experiment

SCHEMES, SPLITS = ("A", "B", "C"), ("IID", "NIID")
# scale -> data -> devices, rounds, numbers of traces
SIZES = {
    "quick": dict(MNIST=(30, 100, tuple(range(1, 9))), EMNIST=(20, 60, (1, 3, 5, 8))),
    "smoke": dict(MNIST=(8, 6, (1, 3, 8)), EMNIST=(8, 4, (1, 3, 5, 8))),
    "paper": dict(MNIST=(100, 200, tuple(range(1, 9))), EMNIST=(62, 200, tuple(range(1, 9)))),
}


def build_request(
    scale: str, data: str, split: str, count: int, scheme: str, seed: int
) -> dict[str, Any]:
    N, rounds, _ = SIZES[scale][data]
    return _flex.build_request(
        scale,
        data,
        scheme,
        N,
        {"iid": {}} if split == "IID" else {"one_label": {}},
        rounds,
        seed,
        traces=count,
        every=1 if rounds < 20 else rounds // 20,
    )


def table_cells(data: str, scale: str) -> dict[tuple[str, str, int, str], dict[str, int | str]]:
    """Return {(data, split, traces, scheme): arguments of `request`}."""
    return {
        (data, split, count, scheme): dict(split=split, count=count, scheme=scheme)
        for split in SPLITS
        for count in SIZES[scale][data][2]
        for scheme in SCHEMES
    }


def table3a_cells(scale: str) -> dict[tuple[str, str, int, str], dict[str, int | str]]:
    return table_cells("MNIST", scale)


def table3b_cells(scale: str) -> dict[tuple[str, str, int, str], dict[str, int | str]]:
    return table_cells("EMNIST", scale)


def fig3_cells(scale: str) -> dict[tuple[str, str, int, str], dict[str, int | str]]:
    """Return the cells of figure 3: non-IID EMNIST with 1, 3, 5 and 8 traces, which are runs of
    table 3 (b)."""
    return {
        cell: arguments
        for cell, arguments in table3b_cells(scale).items()
        if cell[1] == "NIID" and cell[2] in (1, 3, 5, 8)
    }


EXPERIMENT = Experiment(
    "flex_schemes",
    "flex, section 5.2",
    printed={
        "networks": "McMahan's perceptron on MNIST, his convolutional network on EMNIST",
        "devices": "100 on MNIST, 62 on EMNIST (by merge)",
        "B": 10,
        "eta_0": "2e-3 on MNIST, 5e-4 on EMNIST, over tau",
        "non-IID": "one label a device, chosen uniformly at random",
        "sizes": "Type-I Pareto of index 0.5",
        "rounds": 200,
    },
    chosen=_flex.CHOSEN
    | {
        "sizes": "those of a label shared evenly by its devices: with E steps asked of all, Pareto sizes would only "
        "change the weights",
        "seeds": "5: none are printed",
    },
    tuning={},
    figures=dict(table3a=table3a_cells, table3b=table3b_cells, fig3=fig3_cells),
    request=build_request,
    seeds=dict(smoke=2, quick=5, paper=5),
    judges="orders of the schemes; no printed gain",
)
