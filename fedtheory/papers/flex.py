"""Flexible device participation."""

from fedtheory.language.paper import Paper

PAPER = Paper(
    "flex",
    "Towards Flexible Device Participation in Federated Learning",
    ("Yichen Ruan", "Xiaoxi Zhang", "Shu-Che Liang", "Carlee Joe-Wong"),
    2021,
    "AISTATS 2021",
    "https://proceedings.mlr.press/v130/ruan21a.html",
    known_by="the proceedings",
)
