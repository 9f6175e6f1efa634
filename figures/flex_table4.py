"""Flex, table 4, SYNTHETIC: rounds until the accuracy is back at its value before an arrival, with
fast and with vanilla reboot.

A device joins 29 others after round tau_0, and the rate starts anew at eta_0. The accuracy to reach
is that of round tau_0 - 1 on the test data of the 29; from tau_0 on the newcomer's are included. A
run that does not get there within HORIZON rounds is censored: it comes last in medians and
quartiles, a cell with censored runs is not judged by its mean, and in sentences that compare the
two reboots it counts as HORIZON for both (means of the first HORIZON rounds).

Ours agree that later arrivals take longer. The spread of single runs is as large as their mean, so
that cells have no power against the printed numbers, nor do they show that fast reboot is the
faster: what it saves is within errors of 0. Most accuracy is lost to the new rate, which starts at
eta_0 = 1, and little to the newcomer's data, one device's in 30.

Tried too, on 30 seeds, with the same outcome: E = 20, and a boost that decays with tau instead of
tau - tau_0.
"""

from collections.abc import Sequence

import numpy as np

import fedtheory as ft
from fedtheory.claims.flex.findings import REBOUND
from fedtheory.figures import _flex, _table
from fedtheory.figures._flex import ETA_0, SAMPLES, E
from fedtheory.figures._record import Arrays, Figure, Progress, Table
from fedtheory.participation import Arrival, Participation, staircase
from fedtheory.participation.traces import traces

N, HORIZON = 30, 100
BOOST = dict(
    fast=2.0, vanilla=0.0
)  # p^l_tau = p^l (1 + 2 / (tau - tau_0)^2): 3 p^l at first, p^l by O(tau^-2)
SPLITS = {"NIID": 1.0, "IID": 0.0}
SCALES = dict(smoke=(2, (10, 30)), quick=(8, (10, 30, 50, 70)), paper=(40, (10, 30, 50, 70)))


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    seeds, arrivals = SCALES[scale]
    jobs = [(split, seed, arrivals) for split in SPLITS for seed in range(seeds)]
    found = _flex.run_jobs(jobs, measure_rebounds, progress)
    shape = len(SPLITS), seeds, len(arrivals), 2
    return {
        "tau_0": np.array(arrivals),
        "rounds": np.array([rounds for rounds, _ in found]).reshape(shape),
        "lost": np.array([lost for _, lost in found]).reshape(shape),
    }


def measure_rebounds(
    split: str, seed: int, arrivals: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return, for a seed, the rounds (arrivals, reboots) until the accuracy is back, and for
    vanilla reboot the accuracy lost to the newcomer's data and to the new rate (arrivals, 2)."""
    problem, arrays = _flex.synthetic_task(SPLITS[split], N, seed, samples=SAMPLES)
    before, after = (_flex.held_out(arrays, range(1, last + 1)) for last in (N - 1, N))
    found, lost = np.empty((len(arrivals), len(BOOST))), np.empty((len(arrivals), 2))
    for m, tau_0 in enumerate(arrivals):
        for n, boost in enumerate(BOOST.values()):
            rounds = tau_0 + HORIZON
            run = ft.run(
                problem,
                "flex_c",
                rounds=rounds,
                seed=seed,
                E=E,
                eta=staircase(ETA_0, rounds, [tau_0]),
                participation=Participation(
                    work=traces(5, seed), arrivals=(Arrival(N, tau_0, boost),)
                ),
                metrics=(),
                keep="x",
                workers=1,
            )
            goal = _flex.accuracy_at(run.x[0, tau_0 - 1 : tau_0], before)[0]
            at, *later = _flex.accuracy_at(run.x[0, tau_0:], after)
            found[m, n] = _flex.rounds_to_hit(np.array(later) >= goal, HORIZON)
        lost[m] = goal - at, at - later[0]
    return found, lost


HEADER = [r"$\tau_0$", "fast", "vanilla", "saved"]


def rebound_cells(data: Arrays) -> dict[tuple[str, str], np.ndarray]:
    """Return {(quantity, which): rounds over seeds} of each printed cell."""
    return {
        (REBOUND, f"{how} reboot, SYNTHETIC tau_0={tau_0}"): data["rounds"][0, :, m, n]
        for m, tau_0 in enumerate(data["tau_0"])
        for n, how in enumerate(BOOST)
    }


def clip_rounds(data: Arrays) -> np.ndarray:
    """Return the rounds of all runs (splits, seeds, arrivals, reboots), with censored values
    replaced by HORIZON."""
    return np.minimum(data["rounds"], HORIZON)


def table_lines(data: Arrays) -> list[list]:
    found, outcomes = [], _flex.judge_printed(rebound_cells(data))
    saved = clip_rounds(data)[..., 1] - clip_rounds(data)[..., 0]
    shown = [
        _flex.make_cell(key, _flex.rounds_of(values, HORIZON), outcomes)
        for key, values in rebound_cells(data).items()
    ]
    for m, tau_0 in enumerate(data["tau_0"]):
        found.append(
            [str(tau_0), *shown[2 * m : 2 * m + 2], _flex.rounds_of(saved[0, :, m], HORIZON)]
        )
    fast, vanilla = (_flex.rounds_of(data["rounds"][1, :, :, n].ravel(), HORIZON) for n in range(2))
    return [
        *found,
        [
            "IID",
            _table.Cell(fast, ""),
            _table.Cell(vanilla, ""),
            _flex.rounds_of(saved[1].ravel(), HORIZON),
        ],
    ]


def write_note(data: Arrays) -> str:
    saved = (clip_rounds(data)[..., 1] - clip_rounds(data)[..., 0])[0]
    error = saved.mean(axis=1).std(ddof=1) / np.sqrt(len(saved))
    data_lost, rate_lost = data["lost"][0].mean(axis=(0, 1))
    note = (
        f"Median [quartiles] of {len(saved)} seeds; {_flex.describe_censored(data['rounds'])} censored at {HORIZON}.\n"
        f"{_table.MARKED}.\n"
        f"Fast reboot is the sooner in {(saved > 0).mean():.0%} of the runs, the later in {(saved < 0).mean():.0%},\n"
        f"and saves {saved.mean():.1f} ± {error:.1f} rounds (mean ± standard error).\n"
        f"Points of accuracy lost to the newcomer’s data: {data_lost:.1f},\n"
        f"to the first round of the new rate: {rate_lost:.1f}."
    )
    return note.replace("-", "−")


def judge_findings(data: Arrays) -> dict:
    """Judge the sentences of section 5.3 on SYNTHETIC, and the cells of the SYNTHETIC row."""
    niid, iid = clip_rounds(data)
    each, late, alike = {}, {}, {}
    for n, how in enumerate(BOOST):
        for m, tau_0 in enumerate(data["tau_0"]):
            each[REBOUND, f"{how} reboot", f"SYNTHETIC tau_0={tau_0}"] = niid[:, m, n]
        each[REBOUND, f"{how} reboot", "mean over cells"] = niid[:, :, n].mean(axis=1)
        alike[REBOUND, f"{how} reboot", "IID"] = iid[:, :, n].mean(axis=1)
    late["rounds_saved", "fast reboot", ""] = niid[:, :, 1] - niid[:, :, 0]
    return {
        **_flex.judge_cells(each, "table4_fast_faster"),
        **_flex.judge_cells(late, "table4_late"),
        **_flex.judge_cells(alike, "table4_iid"),
        **_flex.judge_printed(rebound_cells(data)),
        **_flex.unrun_cells("flex_table4", rebound_cells(data)),
    }


def write_caption(data: Arrays) -> str:
    seeds = data["rounds"].shape[1]
    return (
        f"SYNTHETIC, one device joins {N - 1} others after round $\\tau_0$; E = {E}, {SAMPLES} samples a device. Rounds until the "
        f"accuracy before the arrival is back: medians and quartiles of {seeds} seeds; runs that do not get there "
        f"within {HORIZON} rounds are censored and come last ({_flex.describe_censored(data['rounds'])}). Verdicts are of means "
        f"against the printed numbers: {_table.MARKED}."
    )


FIGURE = Figure(
    cites="flex, table 4, SYNTHETIC",
    title="Rounds until the accuracy before an arrival is back",
    compute=compute_arrays,
    caption=write_caption,
    findings=judge_findings,
    printed=Table(HEADER, table_lines, write_note),
    height=2.5,
)
