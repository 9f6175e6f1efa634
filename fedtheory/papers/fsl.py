"""Federated learning with server learning, the long paper."""

from fedtheory.paper import Paper

PAPER = Paper(
    "fsl",
    "Federated Learning with Server Learning: Enhancing Performance for Non-IID Data",
    ("Van Sy Mai", "Richard J. La", "Tao Zhang"),
)
