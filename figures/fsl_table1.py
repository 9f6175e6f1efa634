"""FSL, table I: accuracy on CIFAR-10 with C = 2 and rounds until accuracy 0.5, over the server's
samples; each method at the best values of the parameters that the table tunes."""

import numpy as np

from fedtheory.claims.fsl.findings import TABLE_1
from fedtheory.experiments import _curves
from fedtheory.experiments.records import fsl_table1
from fedtheory.figures import _table
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._record import Arrays, Table
from fedtheory.figures._runs import Name, Runs, Source, is_smaller_scale

PRINTED = {"FSL": ("n_0=250", "n_0=500"), "FSLsyn": ("n_0=504", "n_0=720")}
QUANTITIES = {"T_0.5": "$T_{0.5}$", "accuracy": "accuracy"}
LETTERS = dict(alpha=r"\alpha", gamma=r"\gamma", eta_l=r"\eta_l")
HALF = 0.5


def table_columns(runs: Runs) -> dict[str, tuple[str, Name]]:
    """Return {column name in the paper's words: (n_0 used here, best cell over the tuned
    parameters)}."""
    found = {}
    for method in ("FedDyn", "FSLsyn", "FSL", "SCAFFOLD"):
        sizes = runs.distinct_values("n_0", method=method)
        for n_0, printed in zip(sizes, PRINTED.get(method, ("",))):
            accuracy = lambda cell: np.nan_to_num(runs("final_accuracy", *cell)).mean()
            best = max(runs.select_cells(method=method, n_0=n_0), key=accuracy)
            found[f"{method} {printed}".strip()] = n_0, best
    return found


def measure_cells(data: Arrays) -> dict:
    """Return {(quantity, column, ""): values over seeds}; T_0.5 is in rounds, inf where the
    accuracy is not reached."""
    runs, found = FIGURE.read_runs(data), {}
    last = float(data["rounds"][-1])
    for column, (_, cell) in table_columns(runs).items():
        curves = runs.curves_of(*cell)
        rise = [_curves.rounds_to_goal(c, HALF) if np.isfinite(c).all() else np.nan for c in curves]
        found["T_0.5", column, ""] = last * np.array(rise)
        found["accuracy", column, ""] = runs("final_accuracy", *cell)
    for method, (few, many) in PRINTED.items():
        at = lambda printed: found["accuracy", f"{method} {printed}", ""]
        found["accuracy_gain_from_n_0", method, ""] = at(many) - at(few)
    return found


def claim_of(cell: str) -> str:
    """Return the id of a printed cell's claim."""
    return "fsl.table1_" + "".join(
        {" ": "_", "=": "_", ".": "", ",": ""}.get(sign, sign) for sign in cell
    )


def table_lines(data: Arrays) -> list[list]:
    """Return the rows [column, n_0 used here, tuned values, Cells of T_0.5 and accuracy]."""
    cells, outcomes, found = measure_cells(data), FIGURE.judge_sentences(data), []
    for column, (n_0, best) in table_columns(FIGURE.read_runs(data)).items():
        name = column.replace("n_0=", "$n_0=") + "$" * ("n_0" in column)
        ours = f" (here {n_0})" if n_0 and not column.endswith(f"={n_0}") else ""
        tuned, _, value = best[2].partition("=")
        row: list = [name + ours, rf"${LETTERS[tuned]}={value}$"]
        for quantity in QUANTITIES:
            printed = TABLE_1.get(f"{quantity}, {column}")
            id = claim_of(f"{quantity}, {column}") if printed else ""
            ours = _table.spread_of(cells[quantity, column, ""])
            if quantity == "T_0.5" and np.isinf(cells[quantity, column, ""]).any():
                ours = f"{int(np.isinf(cells[quantity, column, '']).sum())} censored"
            verdict = outcomes[id][0] if id else ""
            row.append(_table.Cell(ours, "" if printed is None else str(printed), verdict, id))
        found.append(row)
    return found


HEADER = ["method", "best", *QUANTITIES.values()]


def write_note(data: Arrays) -> str:
    count, rounds = data["test_accuracy"].shape[1], int(data["rounds"][-1])
    note = f"{rounds:,} rounds (the paper’s: 1,000), mean ± deviation of {count} seeds. {_table.MARKED}."
    if is_smaller_scale(data):
        note += "\nStand-ins for CIFAR-10 and STL-10, a small perceptron: the printed numbers are not compared."
    return note


SENTENCES = ("more_data", "fewer_rounds", "quality", "scaffold")
FIGURE = ExperimentFigure(
    cites="FSL, table I",
    title="Accuracy and rounds to 0.5, over the server's samples, CIFAR-10",
    source=Source(fsl_table1.EXPERIMENT, ["table1"], ["method", "n_0", "tuned"], absent=True),
    printed=Table(HEADER, table_lines, write_note),
    sentences={
        (*(f"fsl.table1_{name}" for name in SENTENCES), *map(claim_of, TABLE_1)): measure_cells
    },
    text="Each method at the best of what the table tunes ($\\alpha$ of FedDyn, $\\gamma$ of FSL and "
    "FSLsyn) by final accuracy, SCAFFOLD at the best rate of figure 5. $T_{0.5}$ is the first round "
    "whose rolling mean is $0.5$.",
    width="page",
    height=1.9,
)
