"""FSL: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("fsl", "fsls")
FEW = ("fsl.lemma3", "fsl.lemma4")  # at smoke scale


def compute(scale, progress):
    return _needed.arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.table("FSL", FEW, compute, minutes=2.5)
