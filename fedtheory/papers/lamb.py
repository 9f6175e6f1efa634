"""FED-LAMB."""

from fedtheory.language.paper import Paper

PAPER = Paper(
    "lamb",
    "Layerwise and Dimensionwise Locally Adaptive Optimization Method",
    (),
    2021,
    "anonymous submission; preprint arXiv:2110.00532 by B. Karimi, X. Li and P. Li, under another title",
    "https://arxiv.org/abs/2110.00532",
    known_by="arXiv, by the method's name",
)
