"""Mixed FL, figure 4: the sampled dissimilarities G_t^2 and B_t^2 of the three tasks along parallel
training with one step in a round. The paper's sentences on them are judged with table 2."""

import numpy as np

from fedtheory.experiments.records import mixed_language, mixed_movies, mixed_smiles
from fedtheory.figures import _fsl, _mixed, _style
from fedtheory.figures._record import Figure

TASKS = {
    "smile": mixed_smiles.EXPERIMENT,
    "language": mixed_language.EXPERIMENT,
    "movies": mixed_movies.EXPERIMENT,
}
LETTERS = {"sq_G_t": r"$\tilde G_t^2$", "sq_B_t": r"$\tilde B_t^2$"}
STYLES = dict(zip(TASKS, ("-", "--", ":")))
BEGUN = 0.1  # of the rounds, after which table 2 looks: rounds 10 to 100
STAND_IN = "; ".join(_mixed.STAND_INS.values())


def compute_arrays(scale, progress):
    return _mixed.gather_tasks(progress, **{t: e.runs_of("seen", scale) for t, e in TASKS.items()})


def trajectory_values(data, task, name):
    """Return the sampled values (seeds, rounds), without the start, at which nothing is sampled."""
    return _mixed.read_task(data, task).curve(task, "PT", name=name)[:, 1:]


def largest_value(data, task, name):
    """Return the largest value of each seed (seeds,), from the first tenth of the rounds on."""
    values = trajectory_values(data, task, name)
    return values[:, round(BEGUN * values.shape[1]) :].max(axis=1)


def draw_figure(figure, data):
    for ax, (name, letter) in zip(figure.subplots(1, 2), LETTERS.items()):
        for task in TASKS:
            values = trajectory_values(data, task, name).max(axis=0)
            x = np.arange(1, len(values) + 1)
            _style.draw_line(ax, x, values, "parallel_training", task, linestyle=STYLES[task])
        ax.set(yscale="log", xlabel="round $t$", ylabel=letter)
        ax.legend()


def describe_result(data):
    return " ".join(
        f"Largest {letter} from a tenth of the rounds on: "
        + _mixed.describe_values({task: largest_value(data, task, name) for task in TASKS})
        + "."
        for name, letter in LETTERS.items()
    )


def table_rows(data):
    head = ["task", *(name.replace("sq_", "largest sq ") for name in LETTERS)]
    return [head] + [
        [
            task,
            *(
                _mixed.describe_values({"": largest_value(data, task, name)}).strip()
                for name in LETTERS
            ),
        ]
        for task in TASKS
    ]


def write_caption(data):
    return _fsl.write_caption(
        data,
        "Sampled along parallel training with one step a round; a line is the largest over seeds, as in the paper.",
        STAND_IN,
    )


FIGURE = Figure(
    cites="mixed FL, figure 4",
    title="How unlike federated and central gradients are",
    compute=compute_arrays,
    caption=write_caption,
    draw=draw_figure,
    says=describe_result,
    rows=table_rows,
    width="page",
    height=2.2,
)
