"""Flex, tables 4 and figures 4 (left) and 5: devices that arrive, with fast and with vanilla
reboot, on MNIST and EMNIST (section 5.3).

Before an arrival models are tested on the labels of the devices that are there, from then on on the
newcomer's too. A run is tested on one set, so an arrival has a run to its round for the accuracy
before, and one beyond for each reboot.
"""

from collections.abc import Sequence
from typing import Any

from fedtheory.experiments import _flex
from fedtheory.experiments._record import Experiment
from fedtheory.typing import Number

N, TRACES = 10, 5
BOOST = dict(fast=2.0, vanilla=0.0)  # p^l_tau = p^l (1 + 2 / (tau - tau_0)^2), as on SYNTHETIC
# scale -> arriving rounds of table 4, and how long a run goes on; figure 4's; figure 5's rounds
SIZES = {
    "quick": dict(arrivals=(10, 30, 50, 70), horizon=60, shown=30, first=60, apart=30),
    "smoke": dict(arrivals=(3, 5), horizon=6, shown=5, first=4, apart=3),
    "paper": dict(arrivals=(10, 30, 50, 70), horizon=150, shown=50, first=100, apart=50),
}


def build_request(
    scale: str, data: str, joining: Sequence[Any], before: int, reboot: str, seed: int
) -> dict[str, Any]:
    """Return the request of one run. `joining` are the rounds at which the last devices join, one
    device each; the run ends when the next device joins after `before` of them have joined, and is
    tested on the devices that are present then."""
    told, joining = SIZES[scale], list(joining)
    ends = [*joining, joining[-1] + told["horizon"]]
    there = N - len(joining) + before
    rounds = ends[min(before, len(joining))]
    return _flex.build_request(
        scale,
        data,
        "C",
        N,
        {"one_label": dict(balanced=True)},
        rounds,
        seed,
        shifts=joining,
        traces=TRACES,
        arrivals=[
            [N - len(joining) + 1 + n, tau_0, BOOST[reboot]] for n, tau_0 in enumerate(joining)
        ],
        tested=["devices", there],
    )


def arrival_cells(data: str, tau_0: Number) -> dict[tuple[str, int, str, int], dict[str, Any]]:
    """Return the cells of one arrival: (data, tau_0, reboot, number of arrived devices in the
    test)."""
    found = {(data, tau_0, "vanilla", 0): dict(joining=(tau_0,), before=0, reboot="vanilla")}
    for reboot in BOOST:
        found[data, tau_0, reboot, 1] = dict(joining=(tau_0,), before=1, reboot=reboot)
    return found


def table4_cells(scale: str) -> dict[tuple[str, int, str, int], dict[str, Any]]:
    found = {}
    for data in _flex.SETS:
        for tau_0 in SIZES[scale]["arrivals"]:
            found |= arrival_cells(data, tau_0)
    return found


def fig4_cells(scale: str) -> dict[tuple[str, int, str, int], dict[str, Any]]:
    return arrival_cells("MNIST", SIZES[scale]["shown"])


def fig5_cells(scale: str) -> dict[tuple[str, str, str, int], dict[str, Any]]:
    """Return the cells of three successive arrivals: (data, "three", reboot, number of arrived
    devices)."""
    told = SIZES[scale]
    joining = tuple(told["first"] + n * told["apart"] for n in range(3))
    return {
        ("MNIST", "three", reboot, before): dict(joining=joining, before=before, reboot=reboot)
        for reboot in BOOST
        for before in range(4)
    }


EXPERIMENT = Experiment(
    "flex_arrivals",
    "flex, section 5.3",
    printed={
        "devices": "10, the last of them arrives; in figure 5 seven, and three arrive",
        "arrivals": "tau_0 = 10, 30, 50, 70; in figure 5 at 100, 150, 200",
        "scheme": "C",
        "traces": "the first five",
        "sizes": "the same of all devices",
        "B": 10,
        "eta_0": "2e-3 on MNIST, 5e-4 on EMNIST, over tau - tau_0",
        "coefficient": "3 p^l at first, p^l by O(tau^-2)",
    },
    chosen=_flex.CHOSEN
    | {
        "labels": "one a device, no two alike (dealt out evenly): else the newcomer may bring nothing new",
        "boost": "p^l (1 + 2 / (tau - tau_0)^2)",
        "tau_0 of figure 4": "50 at the scale paper, 30 below: the figure's is no text",
        "arrivals of figure 5 below the scale paper": "60, 90, 120",
        "horizon": "150 rounds after an arrival at the scale paper, 60 below: runs that are not back by then are censored",
        "seeds": "5: none are printed",
    },
    tuning={},
    figures=dict(table4=table4_cells, fig4=fig4_cells, fig5=fig5_cells),
    request=build_request,
    seeds=dict(smoke=2, quick=5, paper=5),
    judges="which reboot is the sooner; no printed number of rounds",
)
