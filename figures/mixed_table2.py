"""Mixed FL, table 2: the largest sampled dissimilarities of the three tasks, and how many rounds
parallel training needs more than gradient transfer."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.figures import _table, mixed_fig2, mixed_fig3, mixed_fig4
from fedtheory.figures._experiment import ExperimentFigure
from fedtheory.figures._record import Arrays, Progress, Table
from fedtheory.figures._runs import Cells, is_smaller_scale

PRINTED = {"sq_G_t": (49.04, 0.03, 0.03), "sq_B_t": (1.26, 1.34, 1.50)}
CALLED = {"sq_G_t": "max_G_t_sq", "sq_B_t": "max_B_t_sq"}
CURVES = {"smile": mixed_fig2.FIGURE, "language": mixed_fig2.FIGURE, "movies": mixed_fig3.FIGURE}
HEADER = ["task", *mixed_fig4.LETTERS.values(), "rounds lost by PT"]


def compute_arrays(scale: str, progress: Progress) -> Arrays:
    data = mixed_fig4.FIGURE.gather_arrays(scale, progress)
    for figure in (mixed_fig2.FIGURE, mixed_fig3.FIGURE):
        found = figure.gather_arrays(scale, progress)
        data |= {f"curves_{name}": values for name, values in found.items()}
    return data


def share_lost(data: Arrays) -> dict[str, np.ndarray]:
    """Return {task: (seeds,)}: the share of the rounds by which parallel training is later than the
    better gradient transfer to reach nine tenths of the gain of the worst of the three methods."""
    kept = {k.removeprefix("curves_"): v for k, v in data.items() if k.startswith("curves_")}
    found = {}
    for task, figure in CURVES.items():
        asked = Cells(RISE, match=dict(method=mixed_fig2.MIXING))
        rounds = {
            name: v for (_, name, _), v in figure.read_runs(kept, task).measure_cells(asked).items()
        }
        with np.errstate(invalid="ignore"):  # where none arrives, nothing is lost or won
            found[task] = rounds["PT"] - np.minimum(rounds["1-W GT"], rounds["2-W GT"])
    return found


def measure_cells(data: Arrays) -> dict:
    """Return the largest dissimilarities of each task, and the rounds lost over the tasks in the
    order of the first of them."""
    cells = {
        key: values
        for name, called in CALLED.items()
        for task in mixed_fig4.TASKS
        for key, values in mixed_fig4.FIGURE.read_runs(data, task)
        .measure_cells(Cells(name, "{task}", called=called))
        .items()
    }
    order = sorted(mixed_fig4.TASKS, key=lambda task: cells["max_G_t_sq", task, ""].mean())
    lost = share_lost(data)
    cells["rounds_lost_by_pt", "tasks", ""] = np.column_stack([lost[task] for task in order])
    return cells


def table_lines(data: Arrays) -> list[list]:
    outcomes, cells, lost = FIGURE.judge_sentences(data), measure_cells(data), share_lost(data)
    found = []
    for n, task in enumerate(mixed_fig4.TASKS):
        row: list = [task]
        for name, printed in PRINTED.items():
            id = "mixed.table2_" + ("B" if name == "sq_B_t" else "smile")
            ours = _table.spread_of(cells[CALLED[name], task, ""])
            row.append(_table.Cell(ours, f"{printed[n]:.2f}", outcomes[id][0], id))
        found.append([*row, _table.spread_of(lost[task])])
    return found


def write_note(data: Arrays) -> str:
    note = (
        f"Largest of rounds 10 to 100, mean ± deviation of {data['smile_sq_G_t'].shape[1]} seeds; marks are of the "
        f"sentence on a column.\n{_table.MARKED}. Rounds lost: a share of all rounds, to one loss."
    )
    if is_smaller_scale(data):
        note += "\nStand-ins: printed numbers are not compared, the order of tasks is."
    return note


FIGURE = ExperimentFigure(
    cites="mixed FL, table 2",
    title="How unlike federated and central gradients are, three tasks",
    compute=compute_arrays,
    source=mixed_fig4.FIGURE.source,
    printed=Table(HEADER, table_lines, write_note),
    sentences={("mixed.table2_smile", "mixed.table2_B", "mixed.table2_predicts"): measure_cells},
    text="The largest sampled $\\tilde G_t^2$ and $\\tilde B_t^2$ (7) of rounds 10 to 100 of "
    "parallel training with one step a round, beside the share of the rounds that parallel training "
    "loses. Mean $\\pm$ deviation over seeds.",
    stand_in=mixed_fig4.FIGURE.stand_in,
    width="page",
    height=1.5,
)
