"""Flexible device participation."""

from fedtheory.paper import Paper

PAPER = Paper(
    "flex",
    "Towards Flexible Device Participation in Federated Learning",
    ("Yichen Ruan", "Xiaoxi Zhang", "Shu-Che Liang", "Carlee Joe-Wong"),
)
