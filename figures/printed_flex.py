"""flex: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("flex",)
FEW = ("flex.jensen_s", "flex.distance_by_gradient")  # at smoke scale


def compute(scale, progress):
    return _needed.arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.table("flex", FEW, compute, minutes=0.8)
