"""mixed FL: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("mixed",)
FEW = ("mixed.propD5", "mixed.propD6")  # at smoke scale


def compute(scale, progress):
    return _needed.arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.table("mixed FL", FEW, compute, minutes=4.0)
