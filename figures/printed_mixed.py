"""mixed FL: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("mixed",)
FEW = ("mixed.propD5", "mixed.propD6")  # at smoke scale


def compute_arrays(scale, progress):
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("mixed FL", FEW, compute_arrays, minutes=4.0)
