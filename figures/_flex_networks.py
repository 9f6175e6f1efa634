"""Code that flex's figures on MNIST and EMNIST share: accuracy gains of the schemes as a table, and
accuracies around arrivals."""

import numpy as np

from fedtheory.experiments import _flex as of
from fedtheory.experiments.records import flex_arrivals, flex_schemes
from fedtheory.figures import _findings, _flex, _fsl, _table
from fedtheory.figures._record import Figure

STAND_IN = (
    "on stand-ins (handwriting of fonts) with the twins of McMahan's networks, not on the paper's "
    "data and networks"
)
SPLITS = {"IID": "IID", "NIID": "non-IID"}
GAIN, PAIRS = "accuracy_gain_percent", {"B over A": ("B", "A"), "C over B": ("C", "B")}


def judge_networks(data, by_claim):
    return _fsl.judge_outcomes(data, by_claim, STAND_IN)


def cells_judged(data, cells):
    """Return the outcomes of printed cells, given {(quantity, which): values}; on stand-in data no
    cell is judged."""
    if not _fsl.is_smaller_scale(data):
        return _flex.cells_judged(cells)
    return {_flex.PRINTED[key][0]: _findings.not_judged(_fsl.PRINTED) for key in cells}


# Tables 3 (a) and (b)


def accuracy_gains(data, name):
    """Return {(quantity, which): accuracy gains over seeds, in percentage points} for each printed
    cell that was run."""
    read, found = _fsl.Read(data), {}
    for split in SPLITS:
        for count in client_counts(read):
            for pair, (one, other) in PAIRS.items():
                at = lambda scheme: 100 * read("final_accuracy", name, split, count, scheme)
                key = GAIN, f"scheme {pair}, {name} {split} |T|={count}"
                found[key] = at(one) - at(other)
    return found


def client_counts(read):
    return [int(part) for part in read.parts(2)]


HEADER = [
    r"$|\mathcal{T}|$",
    *(f"{split}: {pair}" for split in SPLITS.values() for pair in ("B–A", "C–B")),
]


def table3_figure(name, part, runs, minutes):
    """Build the Figure of one part of table 3."""

    def compute(scale, progress):
        return _fsl.gather_arrays(flex_schemes.EXPERIMENT.runs_of(runs, scale), progress)

    def findings(data):
        """Judge the cells of this part; cells that were not run enter as NaN."""
        cells = {
            key: np.full(5, np.nan)
            for key in _flex.PRINTED
            if key[0] == GAIN and f", {name} " in key[1]
        }
        return cells_judged(data, cells | accuracy_gains(data, name))

    def lines(data):
        outcomes = findings(data)
        shown = {
            key: _flex.make_cell(key, _table.spread_of(values), outcomes)
            for key, values in accuracy_gains(data, name).items()
        }
        return [
            [str(count), *(cell for (_, w), cell in shown.items() if w.endswith(f"|T|={count}"))]
            for count in client_counts(_fsl.Read(data))
        ]

    def said(data):
        found = accuracy_gains(data, name)
        at = lambda split, pair: np.mean(
            [v for (_, w), v in found.items() if f"{pair}, {name} {split} " in w]
        )
        paper = lambda split, pair: np.mean(
            [_flex.PRINTED[key][1] for key in found if f"{pair}, {name} {split} " in key[1]]
        )
        return (
            "; ".join(
                f"{pair}: "
                + ", ".join(
                    f"{words} {at(split, pair):.1f} ({paper(split, pair):.1f})"
                    for split, words in SPLITS.items()
                )
                for pair in PAIRS
            )
            .replace("-", "−")
            .replace("non−IID", "non-IID")
        )

    def draw(figure, data):
        note = (
            f"Points of test accuracy, mean ± deviation of {data['test_accuracy'].shape[1]} seeds. {_table.MARKED}.\n"
            f"Mean gains, the paper’s in brackets. {said(data)}."
        )
        if _fsl.is_smaller_scale(data):
            note += "\nA stand-in for the data and a twin of the network: the printed numbers are not compared."
        _table.ours_beside_paper(figure, HEADER, lines(data), note=note)

    def caption(data):
        return _fsl.write_caption(
            data,
            "Differences of test accuracy in points; $|\\mathcal{T}|$ is the number of traces that devices follow, at "
            "1 all complete their work and the schemes are one algorithm. Mean $\\pm$ deviation over seeds.",
            STAND_IN,
        )

    return Figure(
        cites=f"flex, table 3 ({part})",
        title=f"Schemes A, B and C as devices become heterogeneous, {name}",
        compute=compute,
        minutes=minutes,
        caption=caption,
        draw=draw,
        says=lambda data: f"Mean gains in points, the paper's in brackets. {said(data)}.",
        rows=lambda data: _table.table_rows(HEADER, lines(data)),
        findings=findings,
        width="page",
        height=2.4,
    )


# Arrivals


def rounds_to_rebound(read, data, tau_0, reboot):
    """Return the number of rounds (seeds,) until the accuracy is back at its value before an
    arrival; inf where the accuracy never comes back."""
    goal = read.curve(data, tau_0, "vanilla", 0)[:, -2]  # of round tau_0 - 1
    later = read.curve(data, tau_0, reboot, 1)[:, int(tau_0) + 1 :]
    return np.array(
        [_flex.rounds_to_hit(curve >= g, later.shape[1]) for curve, g in zip(later, goal)]
    )


def arrival_arrays(figure, scale, progress):
    """Compute the arrays of the runs around an arrival; the runs differ in length."""
    parts = {}
    for (cell, seed), request in flex_arrivals.EXPERIMENT.runs_of(figure, scale).items():
        parts.setdefault(request["rounds"], {})[cell, seed] = request
    return _fsl.join_arrays(_fsl.gather_arrays(part, progress) for part in parts.values())


def rounds_after_arrival(read, data, tau_0):
    """Return the number of rounds that a run continues after the arrival."""
    return int(read.rounds(data, tau_0, "fast", 1)[-1]) - int(tau_0)


def clip_rounds(values, most):
    """Return numbers of rounds with censored values (inf) replaced by the horizon `most`."""
    return np.minimum(values, most)


SETS, REBOOTS = of.SETS, tuple(flex_arrivals.BOOST)
