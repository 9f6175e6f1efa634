"""Mixed FL, figure 9: more and shorter steps for the smile classifier."""

from fedtheory.experiments.records import mixed_smiles
from fedtheory.figures import _mixed_steps

FIGURE = _mixed_steps.task_figure(
    "mixed FL, figure 9",
    "More and shorter steps, smiles",
    "smile",
    mixed_smiles.EXPERIMENT,
    "test_auc",
    ("mixed.fig9_steps", "mixed.sectionC42_steps"),
)
