"""Mixed FL, figure 10: more and shorter steps for the language model."""

from fedtheory.experiments.records import mixed_language
from fedtheory.figures import _mixed_steps

FIGURE = _mixed_steps.task_figure(
    "mixed FL, figure 10",
    "More and shorter steps, language",
    "language",
    mixed_language.EXPERIMENT,
    "test_accuracy",
    ("mixed.fig10_steps",),
)
