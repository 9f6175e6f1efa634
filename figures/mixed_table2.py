"""Mixed FL, table 2: the largest sampled dissimilarities of the three tasks, and how many rounds
parallel training needs more than gradient transfer."""

import numpy as np

from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _fsl, _mixed, _table, mixed_fig2, mixed_fig3, mixed_fig4
from fedtheory.figures._record import Figure

PRINTED = {"sq_G_t": (49.04, 0.03, 0.03), "sq_B_t": (1.26, 1.34, 1.50)}


def compute_arrays(scale, progress):
    seen = mixed_fig4.compute_arrays(scale, progress)
    others = {**mixed_fig2.compute(scale, progress), **mixed_fig3.compute_arrays(scale, progress)}
    apart = {f"curves_{name}": values for name, values in others.items()}
    return seen | apart


def share_lost(data):
    """Return {task: (seeds,)}: the share of the rounds by which parallel training is later than the
    better gradient transfer to reach nine tenths of the gain of the worst of the three methods."""
    kept = {k.removeprefix("curves_"): v for k, v in data.items() if k.startswith("curves_")}
    curves = {task: mixed_fig2.mixing_curves(kept, task) for task in ("smile", "language")}
    curves["movies"] = {m: v for m, v in mixed_fig3.loss_curves(kept).items() if m in MIXING}
    found = {}
    for task, of in curves.items():
        rounds = _mixed.share_of_rounds(of)
        best = np.minimum(rounds["1-W GT"], rounds["2-W GT"])
        with np.errstate(invalid="ignore"):  # where none arrives, nothing is lost or won
            found[task] = rounds["PT"] - best
    return found


def largest_values(data, name):
    return {task: mixed_fig4.largest_value(data, task, name) for task in mixed_fig4.TASKS}


def judge_findings(data):
    G, B, behind = largest_values(data, "sq_G_t"), largest_values(data, "sq_B_t"), share_lost(data)
    order = sorted(G, key=lambda task: G[task].mean())
    cells = {("max_G_t_sq", task, ""): values for task, values in G.items()}
    cells |= {("max_B_t_sq", task, ""): values for task, values in B.items()}
    cells["rounds_lost_by_pt", "tasks", ""] = np.column_stack([behind[task] for task in order])
    ids = [f"mixed.table2_{name}" for name in ("smile", "B", "predicts")]
    return _fsl.judge_outcomes(data, dict.fromkeys(ids, cells), mixed_fig4.STAND_IN)


HEADER = ["task", *mixed_fig4.LETTERS.values(), "rounds lost by PT"]


def table_lines(data):
    outcomes, behind = judge_findings(data), share_lost(data)
    found = []
    for n, task in enumerate(mixed_fig4.TASKS):
        cells = []
        for name, printed in PRINTED.items():
            id = "mixed.table2_" + ("B" if name == "sq_B_t" else "smile")
            ours = _table.spread_of(largest_values(data, name)[task])
            cells.append(_table.Cell(ours, f"{printed[n]:.2f}", outcomes[id][0], id))
        found.append([task, *cells, _table.spread_of(behind[task])])
    return found


def draw_figure(figure, data):
    note = (
        f"Largest of rounds 10 to 100, mean ± deviation of {data['smile_sq_G_t'].shape[1]} seeds; marks are of the "
        f"sentence on a column.\n{_table.MARKED}. Rounds lost: a share of all rounds, to one loss."
    )
    if _fsl.is_smaller_scale(data):
        note += "\nStand-ins: printed numbers are not compared, the order of tasks is."
    _table.ours_beside_paper(figure, HEADER, table_lines(data), note=note)


def table_rows(data):
    return _table.table_rows(HEADER, table_lines(data))


def write_caption(data):
    return _fsl.write_caption(
        data,
        "The largest sampled $\\tilde G_t^2$ and $\\tilde B_t^2$ (7) of rounds 10 to 100 of parallel training with one "
        "step a round, beside the share of the rounds that parallel training loses. Mean $\\pm$ deviation over seeds.",
        mixed_fig4.STAND_IN,
    )


FIGURE = Figure(
    cites="mixed FL, table 2",
    title="How unlike federated and central gradients are, three tasks",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=1.5,
)
