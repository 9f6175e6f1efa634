"""Mixed FL, figure 10: more and shorter steps for the language model."""

from fedtheory.experiments.records import mixed_language
from fedtheory.figures import _mixed

FIGURE = _mixed.steps_figure(
    10, "language", "language", mixed_language.EXPERIMENT, "test_accuracy", ["mixed.fig10_steps"]
)
