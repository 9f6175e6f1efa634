"""Mixed FL, figure 2: evaluation loss of the smile classifier (a) and of the language model (b) over
rounds."""

from fedtheory.claims.mixed.findings import LOSS
from fedtheory.experiments._mixed import MIXING
from fedtheory.figures import _fsl, _mixed, mixed_fig1
from fedtheory.figures._record import Figure

NAME = "test_loss"
compute = mixed_fig1.compute


def parts(task):
    """label -> (look, cells) of the three ways of mixing."""
    cells, _ = mixed_fig1.PARTS[task]
    return {label: of for label, of in cells().items() if label in MIXING}


def curves(data, task):
    runs = _mixed.read(data, task)
    return {label: _mixed.curve(runs, several, NAME) for label, (_, several) in parts(task).items()}


def draw(figure, data):
    for ax, task in zip(figure.subplots(1, 2), mixed_fig1.PARTS):
        _mixed.lines(ax, _mixed.read(data, task), NAME, parts(task))
        ax.set(title=f"({'ab'[task == 'language']}) {task}")
        ax.legend(loc="upper right")


def measured(data, task):
    """Rounds to nine tenths of what the worst gains, and losses at the end."""
    found = curves(data, task)
    cells = _mixed.faster(_mixed.reached(found), task)
    return cells | {(LOSS, label, task): _mixed.final(v) for label, v in found.items()}


def findings(data):
    smile = dict.fromkeys(("mixed.fig2_smile", "mixed.fig2_smile_two_way"), measured(data, "smile"))
    return {
        **_mixed.outcomes(data, "smile", smile),
        **_mixed.outcomes(data, "language", {"mixed.fig2_language": measured(data, "language")}),
    }


def says(data):
    return " ".join(
        f"Share of the rounds to nine tenths of the worst's gain, {task}: "
        f"{_mixed.told(_mixed.reached(curves(data, task)))}."
        for task in mixed_fig1.PARTS
    )


def rows(data):
    head = [
        "task",
        "method",
        "loss at the end",
        "share of the rounds to nine tenths of the worst's gain",
    ]
    return [head] + [
        [task, label, *(_mixed.told({"": v}).strip() for v in (_mixed.final(values), share))]
        for task in mixed_fig1.PARTS
        for (label, values), share in zip(
            curves(data, task).items(), _mixed.reached(curves(data, task)).values()
        )
    ]


def caption(data):
    return _fsl.caption(
        data,
        f"Mean loss of test data, of the language model of both sources together. {_mixed.LINES}",
        mixed_fig1.STAND_IN,
    )


FIGURE = Figure(
    cites="mixed FL, figure 2",
    title="Losses of the three ways of mixing, smiles and language",
    compute=compute,
    caption=caption,
    draw=draw,
    says=says,
    rows=rows,
    findings=findings,
    width="page",
    height=2.3,
)
