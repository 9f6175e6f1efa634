"""Mixed FL, table 3: the computation and communication of a client of the movie recommender,
derived from one vocabulary and width."""

import numpy as np

from fedtheory import discover
from fedtheory.claims.mixed import costs
from fedtheory.figures import _findings, _structure, _table
from fedtheory.figures._record import Arrays, Figure, Progress, Table

CLAIM, SAVED = "mixed.table3_numbers", "mixed.fig3_savings"
METHODS = {
    "Baseline": ("comp. baseline, MFLOP", "comm. baseline, KB"),
    "PT": ("comp. mixed, MFLOP", "comm. PT, KB"),
    "1-W GT": ("comp. mixed, MFLOP", "comm. GT, KB"),
    "2-W GT": ("comp. mixed, MFLOP", "comm. GT, KB"),
}
HEADER = ["", "Computation (MFLOP)", "Communication (KB)"]


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    ((unit, movies, dim, batch),) = costs.solutions()
    work = costs.on_client(batch, dim), costs.with_regulariser(movies, dim, batch)
    return {
        **_structure.cell_arrays(CLAIM),
        "unit": np.array(unit),
        "movies": np.array(movies),
        "dim": np.array(dim),
        "batch": np.array(batch),
        "local": np.array(costs.local_sizes(unit, dim)),
        "computation_saved": np.array(float(1 - work[0] / work[1])),
        "communication_saved": np.array(1 - 3 * costs.CACHE / (2 * movies)),
    }


def table_lines(data: Arrays) -> list[list]:
    """Return the table's cells, the numbers that the text states about them, and the values that
    follow from the paper's other numbers."""
    cells, blank = _structure.by_cell(data), _table.Cell("", "")
    table = [[name, *(cells[cell] for cell in pair)] for name, pair in METHODS.items()]
    saved = cells["computation saved, %"], cells["communication saved by GT, %"]
    return [
        *table,
        ["Saved (%)", *saved],
        ["Baseline, $K=10$", cells["baseline of table 12 at K = 10, MFLOP"], blank],
        ["$n<B_iK$", blank, cells["n below B_i K"]],
        ["$N$ of ML-1M", blank, cells["N is MovieLens 1M's"]],
    ]


def write_note(data: Arrays) -> str:
    local = data["local"]
    return (
        rf"Only $N={data['movies']}$ movies, $d={data['dim']}$, $B_i={data['batch']}$ give all;"
        "\n"
        rf"$n={local.min()}$ to {local.max()} of them are a client's. One step is"
        "\n"
        rf"counted, not table 12's $K=10$."
        "\n"
        f"{_table.MARKED}."
    )


def judge_findings(data: Arrays) -> dict:
    saved = {
        (quantity, "mixed", ""): float(data[quantity])
        for quantity in ("computation_saved", "communication_saved")
    }
    return {
        CLAIM: _structure.judge_structure(data),
        SAVED: _findings.judge_claim(discover.claim(SAVED), saved),
    }


def write_caption(data: Arrays) -> str:
    return (
        f"What one step of a client computes and sends, from N = {data['movies']} movies of width d = {data['dim']}, "
        f"batches of {data['batch']} and n = {data['local'].min()} to {data['local'].max()} movies of a client: the only whole "
        f"numbers that give all printed cells. Exact counts. {_table.MARKED}."
    )


FIGURE = Figure(
    cites="mixed FL, table 3",
    title="What a client of the movie recommender computes and sends",
    compute=compute_arrays,
    caption=write_caption,
    findings=judge_findings,
    printed=Table(HEADER, table_lines, write_note),
    height=2.4,
)
