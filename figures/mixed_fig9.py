"""Mixed FL, figure 9: more and shorter steps for the smile classifier."""

from fedtheory.experiments.records import mixed_smiles
from fedtheory.figures import _mixed

IDS = ("mixed.fig9_steps", "mixed.sectionC42_steps")
FIGURE = _mixed.steps_figure(9, "smiles", "smile", mixed_smiles.EXPERIMENT, "test_auc", IDS)
