"""Mixed FL, figure 2: evaluation loss of the smile classifier (a) and of the language model (b) over
rounds."""

from fedtheory.claims.mixed.findings import LOSS
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _fsl, _mixed, mixed_fig1
from fedtheory.figures._record import Figure

NAME = "test_loss"
compute = mixed_fig1.compute_arrays


def mixing_parts(task):
    """Return {label: (look, cells)} of the three ways of mixing."""
    cells, _ = mixed_fig1.PARTS[task]
    return {label: of for label, of in cells().items() if label in MIXING}


def mixing_curves(data, task):
    runs = _mixed.read_task(data, task)
    return {
        label: _mixed.mean_curve(runs, several, NAME)
        for label, (_, several) in mixing_parts(task).items()
    }


def draw_figure(figure, data):
    for ax, task in zip(figure.subplots(1, 2), mixed_fig1.PARTS):
        _mixed.draw_curves(ax, _mixed.read_task(data, task), NAME, mixing_parts(task))
        ax.set(title=f"({'ab'[task == 'language']}) {task}")
        ax.legend(loc="upper right")


def measure_cells(data, task):
    """Return the cells: rounds until nine tenths of the gain of the worst way, and final losses."""
    found = mixing_curves(data, task)
    cells = _mixed.rise_cells(_mixed.share_of_rounds(found), task)
    return cells | {(LOSS, label, task): _mixed.final_losses(v) for label, v in found.items()}


def judge_findings(data):
    smile = dict.fromkeys(
        ("mixed.fig2_smile", "mixed.fig2_smile_two_way"), measure_cells(data, "smile")
    )
    return {
        **_mixed.judge_outcomes(data, "smile", smile),
        **_mixed.judge_outcomes(
            data, "language", {"mixed.fig2_language": measure_cells(data, "language")}
        ),
    }


def describe_result(data):
    return " ".join(
        f"Share of the rounds to nine tenths of the worst's gain, {task}: "
        f"{_mixed.describe_values(_mixed.share_of_rounds(mixing_curves(data, task)))}."
        for task in mixed_fig1.PARTS
    )


def table_rows(data):
    head = [
        "task",
        "method",
        "loss at the end",
        "share of the rounds to nine tenths of the worst's gain",
    ]
    return [head] + [
        [
            task,
            label,
            *(
                _mixed.describe_values({"": v}).strip()
                for v in (_mixed.final_losses(values), share)
            ),
        ]
        for task in mixed_fig1.PARTS
        for (label, values), share in zip(
            mixing_curves(data, task).items(),
            _mixed.share_of_rounds(mixing_curves(data, task)).values(),
        )
    ]


def write_caption(data):
    return _fsl.write_caption(
        data,
        f"Mean loss of test data, of the language model of both sources together. {_mixed.LINES}",
        mixed_fig1.STAND_IN,
    )


FIGURE = Figure(
    cites="mixed FL, figure 2",
    title="Losses of the three ways of mixing, smiles and language",
    compute=compute,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    findings=judge_findings,
    width="page",
    height=2.3,
)
