"""FedAvg with data sharing (Zhao et al. 2018; FSL, section II-A): clients add the server's samples
to their own samples.

Client i trains on D_i and D_0 together (f'_i of (3)) and counts p'_i, so that F' of (4) is
descended: F + gamma f_0 up to a factor, gamma = N n_0 / n. The metrics still measure F. A round is
FedAvg's, on the shared losses:

    y_i <- y_i - eta_l g'_i(y_i), K times from x;   x <- x + eta_g mean_i (y_i - x).
"""

from typing import Any, NamedTuple

from fedtheory.algorithm import Algorithm, Field, choice, count, nonnegative
from fedtheory.algorithms import fedavg
from fedtheory.problem import Problem
from fedtheory.problems.shared import share

RATIO = Field(
    "N n_0 / n, the weight of f_0 in (4), where the problem has no samples to count",
    1.0,
    low=0,
    fixed=True,
)


class Hyper(NamedTuple):
    """The hyper-parameters: FedAvg's, and the ratio of sample counts."""

    eta_l: float = nonnegative("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    K: int = count("local steps of a client", 1)
    weighting: int = choice("what each client of the cohort counts", "unbiased", "plain", "samples")
    ratio: float = RATIO


def transform(problem: Problem, h: Any) -> Problem:
    """Return the problem on which clients train: f'_i of (3) in place of f_i."""
    return share(problem, h.ratio)


ALGORITHM = Algorithm(
    "data_sharing",
    "FSL, (3)",
    Hyper,
    fedavg.init,
    fedavg.local_sgd_step,
    fedavg.aggregate,
    server=True,
    transform=transform,
    meaning="DS: FedAvg whose clients also hold the server's data",
)
