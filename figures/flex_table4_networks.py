"""Flex, table 4, MNIST and EMNIST: rounds until the accuracy is back at its value before an
arrival, with fast and with vanilla reboot.

A run that does not get there within its horizon is censored; in sentences it counts as the horizon.
SYNTHETIC, whose own table is flex_table4, is run too for the sentence that compares the three.
"""

import numpy as np

from fedtheory.claims.flex.findings import REBOUND
from fedtheory.experiments._flex import SETS
from fedtheory.experiments.records import flex_arrivals
from fedtheory.figures import _flex, _flex_networks, _table, flex_table4
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._flex_networks import REBOOTS
from fedtheory.figures._record import Arrays, Progress, Table
from fedtheory.figures._runs import is_smaller_scale

SOURCE = _flex_networks.arrival_source("table4")


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    data = SOURCE.gather_runs(scale, progress)
    jobs = [("NIID", seed, flex_table4.SCALES[scale][1]) for seed in range(_count_seeds(data))]
    synthetic = _flex.run_jobs(jobs, flex_table4.measure_rebounds, progress)
    return data | {"synthetic": np.array([rounds for rounds, _ in synthetic])[None]}


def _count_seeds(data: Arrays) -> int:
    return data["test_accuracy"].shape[1]


def rebound_rounds(
    data: Arrays, censored: float = np.inf
) -> dict[tuple[str, str, str], np.ndarray]:
    """Return {(data, tau_0, reboot): rounds (seeds,)}, with censored values set to `censored`: inf,
    or the horizon."""
    runs = FIGURE.read_runs(data)
    return {
        (name, tau_0, reboot): np.minimum(
            _flex_networks.rounds_to_rebound(runs, name, tau_0, reboot), censored
        )
        for name, tau_0 in dict.fromkeys(cell[:2] for cell in runs.cells)
        for reboot in REBOOTS
    }


def find_horizon(data: Arrays) -> int:
    runs = FIGURE.read_runs(data)
    return _flex_networks.rounds_after_arrival(runs, *runs.cells[0][:2])


def rounds_saved(data: Arrays, name: str) -> np.ndarray:
    """Return the number of rounds (seeds,) that fast reboot saves, averaged over arrivals."""
    found = rebound_rounds(data, find_horizon(data))
    arrivals = [tau_0 for n, tau_0, how in found if (n, how) == (name, "fast")]
    return np.mean(
        [found[name, tau_0, "vanilla"] - found[name, tau_0, "fast"] for tau_0 in arrivals], axis=0
    )


def printed_cells(data: Arrays) -> dict[tuple[str, str], np.ndarray]:
    """Return {(quantity, which): rounds over seeds} of each printed cell, NaN for cells that were
    not run."""
    asked = [key for key in _flex.PRINTED if key[0] == REBOUND and "SYNTHETIC" not in key[1]]
    found = {
        (REBOUND, f"{how} reboot, {name} tau_0={tau_0}"): values
        for (name, tau_0, how), values in rebound_rounds(data).items()
    }
    return {key: found.get(key, np.full(_count_seeds(data), np.nan)) for key in asked}


def measure_gains(data: Arrays) -> dict:
    synthetic = np.minimum(data["synthetic"][0], flex_table4.HORIZON)
    gains = {("rounds_saved", name, ""): rounds_saved(data, name) for name in SETS}
    gains["rounds_saved", "SYNTHETIC", ""] = (synthetic[..., 1] - synthetic[..., 0]).mean(axis=1)
    return gains


def judge_findings(data: Arrays) -> dict:
    printed = _flex_networks.judge_printed(data, printed_cells(data))
    return {**FIGURE.judge_sentences(data), **printed}


HEADER = [r"$\tau_0$", *(f"{name}: {how}" for name in SETS for how in REBOOTS)]


def table_lines(data: Arrays) -> list[list]:
    outcomes, found, most = judge_findings(data), rebound_rounds(data), find_horizon(data)
    arrived = sorted({tau_0 for _, tau_0, _ in found}, key=int)

    def table_cell(name: str, tau_0: str, how: str) -> _table.Cell:
        key = REBOUND, f"{how} reboot, {name} tau_0={tau_0}"
        shown = _flex.rounds_of(found[name, tau_0, how], most)
        return (
            _flex.make_cell(key, shown, outcomes)
            if key in _flex.PRINTED
            else _table.Cell(shown, "")
        )

    return [
        [tau_0, *(table_cell(name, tau_0, how) for name in SETS for how in REBOOTS)]
        for tau_0 in arrived
    ]


def describe_result(data: Arrays) -> str:
    def describe_saved(name: str) -> str:
        values = rounds_saved(data, name)
        error = values.std(ddof=1) / np.sqrt(len(values))
        return f"{name} {values.mean():.1f} ± {error:.1f}".replace("-", "−")

    return f"Rounds that fast reboot saves (mean ± standard error): {', '.join(map(describe_saved, SETS))}."


def write_note(data: Arrays) -> str:
    lost = np.concatenate([*rebound_rounds(data).values()])
    note = (
        f"Median [quartiles] of {_count_seeds(data)} seeds; {_flex.describe_censored(lost)} censored at {find_horizon(data)}. "
        f"{_table.MARKED}.\n{describe_result(data)}"
    )
    if is_smaller_scale(data):
        note += "\nStand-ins for the data and twins of the networks: the printed numbers are not compared."
    return note


def write_caption(data: Arrays) -> str:
    return FIGURE.write_caption(
        data,
        f"One of {flex_arrivals.N} devices, each with a label of its own, joins after round $\\tau_0$. Rounds until the "
        f"accuracy before the arrival is back: medians and quartiles; runs that do not get there within {find_horizon(data)} "
        "rounds are censored and come last.",
    )


FIGURE = ExperimentFigure(
    cites="flex, table 4, MNIST and EMNIST",
    title="Rounds until the accuracy before an arrival is back, networks",
    compute=compute_arrays,
    source=SOURCE,
    printed=Table(HEADER, table_lines, write_note),
    sentences={"flex.table4_emnist": measure_gains},
    findings=judge_findings,
    caption=write_caption,
    says=describe_result,
    stand_in=_flex_networks.STAND_IN,
    width="page",
    height=1.9,
)
