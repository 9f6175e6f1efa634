"""Mixed federated learning."""

from fedtheory.language.paper import Paper

PAPER = Paper(
    "mixed",
    "Mixed Federated Learning: Joint Decentralized and Centralized Learning",
    ("S. Augenstein", "A. Hard", "L. Ning", "K. Singhal", "S. Kale", "K. Partridge", "R. Mathews"),
    2022,
    "arXiv preprint arXiv:2205.13655",
    "https://arxiv.org/abs/2205.13655",
    known_by="reference [1] of federated learning with server learning",
)
