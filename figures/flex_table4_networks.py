"""Flex, table 4, MNIST and EMNIST: rounds until the accuracy is back at its value before an
arrival, with fast and with vanilla reboot.

A run that does not get there within its horizon is censored; in sentences it counts as the horizon.
SYNTHETIC, whose own table is flex_table4, is run too for the sentence that compares the three.
"""

import numpy as np

from fedtheory.claims.flex.findings import REBOUND
from fedtheory.experiments.records import flex_arrivals
from fedtheory.figures import _flex, _flex_networks, _fsl, _table, flex_table4
from fedtheory.figures._flex_networks import REBOOTS, SETS
from fedtheory.figures._record import Figure


def compute_arrays(scale, progress):
    data = _flex_networks.arrival_arrays("table4", scale, progress)
    jobs = [("NIID", seed, flex_table4.SCALES[scale][1]) for seed in range(_seeds(data))]
    synthetic = _flex.run_jobs(jobs, flex_table4.rebounds, progress)
    return data | {"synthetic": np.array([rounds for rounds, _ in synthetic])[None]}


def _seeds(data):
    return data["test_accuracy"].shape[1]


def rounds(data, censored=np.inf):
    """Return {(data, tau_0, reboot): rounds (seeds,)}, with censored values set to `censored`: inf,
    or the horizon."""
    read = _fsl.Read(data)
    return {
        (name, tau_0, reboot): np.minimum(
            _flex_networks.rounds_to_rebound(read, name, tau_0, reboot), censored
        )
        for name, tau_0 in dict.fromkeys(cell[:2] for cell in read.cells)
        for reboot in REBOOTS
    }


def horizon(data):
    read = _fsl.Read(data)
    return _flex_networks.rounds_after_arrival(read, *read.cells[0][:2])


def rounds_saved(data, name):
    """Return the number of rounds (seeds,) that fast reboot saves, averaged over arrivals."""
    found = rounds(data, horizon(data))
    return np.mean(
        [
            found[name, tau_0, "vanilla"] - found[name, tau_0, "fast"]
            for n, tau_0, how in found
            if (n, how) == (name, "fast")
        ],
        axis=0,
    )


def cells(data):
    """Return {(quantity, which): rounds over seeds} of each printed cell that was run."""
    found = {
        (REBOUND, f"{how} reboot, {name} tau_0={tau_0}"): values
        for (name, tau_0, how), values in rounds(data).items()
    }
    return {key: values for key, values in found.items() if key in _flex.PRINTED}


def printed_cells(data):
    """Return {(quantity, which): rounds over seeds} of each printed cell, NaN for cells that were
    not run."""
    asked = [key for key in _flex.PRINTED if key[0] == REBOUND and "SYNTHETIC" not in key[1]]
    return {key: np.full(_seeds(data), np.nan) for key in asked} | cells(data)


def judge_findings(data):
    synthetic = np.minimum(data["synthetic"][0], flex_table4.HORIZON)
    gains = {("rounds_saved", name, ""): rounds_saved(data, name) for name in SETS}
    gains["rounds_saved", "SYNTHETIC", ""] = (synthetic[..., 1] - synthetic[..., 0]).mean(axis=1)
    return {
        **_flex_networks.judge_networks(data, {"flex.table4_emnist": gains}),
        **_flex_networks.cells_judged(data, printed_cells(data)),
    }


HEADER = [r"$\tau_0$", *(f"{name}: {how}" for name in SETS for how in REBOOTS)]


def lines(data):
    outcomes, found, most = judge_findings(data), rounds(data), horizon(data)
    arrived = sorted({tau_0 for _, tau_0, _ in found}, key=int)

    def cell(name, tau_0, how):
        key = REBOUND, f"{how} reboot, {name} tau_0={tau_0}"
        shown = _flex.rounds_of(found[name, tau_0, how], most)
        return (
            _flex.make_cell(key, shown, outcomes)
            if key in _flex.PRINTED
            else _table.Cell(shown, "")
        )

    return [
        [tau_0, *(cell(name, tau_0, how) for name in SETS for how in REBOOTS)] for tau_0 in arrived
    ]


def describe_result(data):
    def told(name):
        values = rounds_saved(data, name)
        error = values.std(ddof=1) / np.sqrt(len(values))
        return f"{name} {values.mean():.1f} ± {error:.1f}".replace("-", "−")

    return f"Rounds that fast reboot saves (mean ± standard error): {', '.join(map(told, SETS))}."


def draw_figure(figure, data):
    lost = np.concatenate([*rounds(data).values()])
    note = (
        f"Median [quartiles] of {_seeds(data)} seeds; {_flex.describe_censored(lost)} censored at {horizon(data)}. "
        f"{_table.MARKED}.\n{describe_result(data)}"
    )
    if _fsl.is_smaller_scale(data):
        note += "\nStand-ins for the data and twins of the networks: the printed numbers are not compared."
    _table.ours_beside_paper(figure, HEADER, lines(data), note=note)


def table_rows(data):
    return _table.table_rows(HEADER, lines(data))


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"One of {flex_arrivals.N} devices, each with a label of its own, joins after round $\\tau_0$. Rounds until the "
        f"accuracy before the arrival is back: medians and quartiles; runs that do not get there within {horizon(data)} "
        "rounds are censored and come last.",
        _flex_networks.STAND_IN,
    )


FIGURE = Figure(
    cites="flex, table 4, MNIST and EMNIST",
    title="Rounds until the accuracy before an arrival is back, networks",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=1.9,
)
