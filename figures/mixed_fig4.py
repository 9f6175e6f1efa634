"""Mixed FL, figure 4: the sampled dissimilarities G_t^2 and B_t^2 of the three tasks along parallel
training with one step in a round. The paper's sentences on them are judged with table 2."""

from typing import TYPE_CHECKING

import numpy as np

from fedtheory.experiments.records import mixed_language, mixed_movies, mixed_smiles
from fedtheory.figures import _mixed, _style
from fedtheory.figures._record import Arrays
from fedtheory.figures._runs import Cells, Source, of_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASKS = {
    "smile": mixed_smiles.EXPERIMENT,
    "language": mixed_language.EXPERIMENT,
    "movies": mixed_movies.EXPERIMENT,
}
LETTERS = {"sq_G_t": r"$\tilde G_t^2$", "sq_B_t": r"$\tilde B_t^2$"}
STYLES = dict(zip(TASKS, ("-", "--", ":")))
BEGUN = 0.1  # of the rounds, after which table 2 looks: rounds 10 to 100


def largest_value(curve: np.ndarray) -> float:
    """Return the largest value of a curve from the first tenth of the rounds on; nothing is sampled
    at the start."""
    return curve[1:][round(BEGUN * (len(curve) - 1)) :].max()


def draw_figure(figure: "Figure", data: Arrays) -> None:
    for ax, (name, letter) in zip(figure.subplots(1, 2), LETTERS.items()):
        for task in TASKS:
            values = (
                FIGURE.read_runs(data, task).curves_of(task, "PT", name=name)[:, 1:].max(axis=0)
            )
            x = np.arange(1, len(values) + 1)
            _style.draw_line(ax, x, values, "parallel_training", task, linestyle=STYLES[task])
        ax.set(yscale="log", xlabel="round $t$", ylabel=letter)
        ax.legend()


FIGURE = _mixed.MixedFigure(
    cites="mixed FL, figure 4",
    title="How unlike federated and central gradients are",
    source={task: Source(of, ["seen"], ["task", "method"]) for task, of in TASKS.items()},
    measures={name: of_curve(name, largest_value) for name in LETTERS},
    draw=draw_figure,
    table=[*LETTERS],
    heads={name: name.replace("sq_", "largest sq ") for name in LETTERS},
    text="Sampled along parallel training with one step a round; a line is the largest over seeds, "
    "as in the paper.",
    result=" ".join(
        f"Largest {letter} from a tenth of the rounds on: {{{name}}}."
        for name, letter in LETTERS.items()
    ),
    numbers={name: [Cells(name, "{task}", task=task) for task in TASKS] for name in LETTERS},
    stand_in="; ".join(_mixed.STAND_INS.values()),
    height=2.2,
)
