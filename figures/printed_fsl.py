"""FSL: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("fsl", "fsls")
FEW = ("fsl.lemma3", "fsl.lemma4")  # at smoke scale


def compute_arrays(scale, progress):
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("FSL", FEW, compute_arrays, minutes=2.5)
