"""Federated learning with server learning, the short paper."""

from fedtheory.language.paper import Paper

PAPER = Paper(
    "fsls",
    "Federated Learning with Server Learning for Non-IID Data",
    ("Van Sy Mai", "Richard J. La", "Tao Zhang", "Yuxuan Huang", "Abdella Battou"),
    2023,
    "CISS 2023",
    "https://doi.org/10.1109/CISS56502.2023.10089643",
    known_by="the long paper's reference [20], and its publisher",
)
