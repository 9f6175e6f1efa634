"""FED-LAMB: each statement as it is printed and as it is meant, what saves it, and how much of its
constants the truth needs."""

from fedtheory.figures import _needed

PAPERS = ("lamb",)
FEW = ("lamb.step7", "lamb.step_average")  # at smoke scale


def compute_arrays(scale, progress):
    return _needed.needed_arrays(PAPERS, FEW, scale, progress)


FIGURE = _needed.needed_figure("FED-LAMB", FEW, compute_arrays, minutes=0.5)
