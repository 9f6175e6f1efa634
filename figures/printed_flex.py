"""flex: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("flex",)
FEW = ("flex.jensen_s", "flex.distance_by_gradient")  # at smoke scale


def compute_arrays(scale, progress):
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("flex", FEW, compute_arrays, minutes=0.8)
