"""Code that mixed FL's figures 9 and 10 share: each way of mixing over K, with eta K fixed."""

import numpy as np

from fedtheory.claims.mixed.findings import RISE
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _mixed
from fedtheory.figures._record import Figure


def task_figure(cites, title, task, experiment, metric, ids):
    """Build the Figure of a task: the task's second metric beside the loss."""

    def compute(scale, progress):
        return _mixed.gather_tasks(progress, **{task: experiment.runs_of("steps", scale)})

    def draw(figure, data):
        runs = _mixed.read_task(data, task)
        axes = figure.subplots(2, len(MIXING), sharey="row", sharex=True)
        for name, row in zip(("test_loss", metric), axes):
            for ax, method in zip(row, MIXING):
                cells = {f"$K={K}$": (method, [(task, K, method)]) for K in runs.parts(1)}
                _mixed.draw_curves(ax, runs, name, cells, _mixed.DASHES[-len(cells) :])
                if name == "test_loss":
                    ax.set(title=method, xlabel="", yscale="log")
                    ax.legend(loc="upper right")
                if method != MIXING[0]:
                    ax.set_ylabel("")

    def rounds(data):
        """Return {method: (seeds, K)}: the share of the rounds until a run has nine tenths of the
        gain of the method's worst K."""
        runs = _mixed.read_task(data, task)
        found = {}
        for method in MIXING:
            curves = {K: runs.curve(task, K, method, name="test_loss") for K in runs.parts(1)}
            found[method] = np.column_stack([*_mixed.share_of_rounds(curves).values()])
        return found

    def findings(data):
        cells = {}
        for method, values in rounds(data).items():
            cells[RISE, f"{method} larger K", task] = values[:, -1]
            cells[RISE, f"{method} smaller K", task] = values[:, 0]
            cells[RISE, method, task] = values
        return _mixed.judge_outcomes(data, task, dict.fromkeys(ids, cells))

    def says(data):
        sizes = _mixed.read_task(data, task).parts(1)
        return " ".join(
            f"{method}, share of the rounds to nine tenths of its worst's gain: "
            + _mixed.describe_values({f"$K={K}$": values[:, n] for n, K in enumerate(sizes)})
            + "."
            for method, values in rounds(data).items()
        )

    return Figure(
        cites=cites,
        title=title,
        compute=compute,
        caption=lambda data: _mixed.write_caption(
            data, task, f"A line for each $K$, $\\eta K$ fixed. {_mixed.LINES}"
        ),
        draw=draw,
        says=says,
        rows=lambda data: _mixed.table_rows(
            data, task, ["task", "K", "method"], ["test_loss", metric]
        ),
        findings=findings,
        width="page",
        height=3.4,
    )
