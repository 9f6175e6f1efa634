"""Federated learning with server learning, the long paper."""

from fedtheory.language.paper import Paper

PAPER = Paper(
    "fsl",
    "Federated Learning with Server Learning: Enhancing Performance for Non-IID Data",
    ("Van Sy Mai", "Richard J. La", "Tao Zhang"),
    2022,
    "arXiv preprint arXiv:2210.02614",
    "https://arxiv.org/abs/2210.02614",
    known_by="arXiv, where this text is the abstract's fourth version",
)
