"""Data sharing with server learning, DSL (FSL short paper, section III): FSL's round on the shared
problem.

Clients train on f'_i of data sharing (data_sharing.py); the server then learns on f_0:

    y_i <- y_i - eta_l g'_i(y_i), K times from x;   x <- x + eta_g mean_i (y_i - x);
    x <- x - gamma eta_0 g_0(x), K_0 times.
"""

from typing import NamedTuple

from fedtheory.algorithm import Algorithm, choice, count, nonnegative
from fedtheory.algorithms import data_sharing, fedavg, fsl


class Hyper(NamedTuple):
    """The hyper-parameters: FSL's, the weighting of FedAvg, and the ratio of sample counts."""

    eta_l: float = nonnegative("step size of a client")
    eta_g: float = nonnegative("aggregation step", 1.0)
    eta_0: float = nonnegative("step size of the server, before its weight gamma")
    gamma: float = nonnegative("weight of the server's own learning", 1.0)
    K: int = count("local steps of a client", 1)
    K_0: int = count("local steps of the server", 1)
    weighting: int = choice("what each client of the cohort counts", "unbiased", "plain", "samples")
    ratio: float = data_sharing.RATIO


ALGORITHM = Algorithm(
    "dsl",
    "FSL short paper, section III",
    Hyper,
    fedavg.init,
    fedavg.local_sgd_step,
    fedavg.aggregate,
    server_step=fsl.server_step,
    server_steps="K_0",
    server=True,
    transform=data_sharing.transform,
    meaning="DSL: clients hold the server's data, and the server learns on it too",
)
