"""The common part of FED-LAMB's experiments: its three methods, and the grids from which the best
value of each method is taken."""

from collections.abc import Mapping, Sequence
from typing import Any

METHODS = {"Fed-LAMB": "fed_lamb", "Fed-AMS": "fed_ams", "Fed-SGD": "fedsgd"}  # and their looks
LAMBDAS = (0.0, 0.01, 0.1)
MEASURE = ["test_accuracy", "test_loss", "loss"]
TUNING = {
    "alpha": "each method's best of a grid in half decades around its own (up to 4 values below the scale "
    "paper, 6 at it), by final test accuracy, the mean over seeds: each setting apart",
    "lambda": "of 0, 0.01, 0.1, with alpha: Fed-LAMB has three times the budget of the others",
}


def method_entries(name: str, alpha: float, lambda_: float, steps: int) -> dict[str, Any]:
    """Return the entries of a request that describe a method and its measurements."""
    chosen = {
        "Fed-LAMB": ("fed_lamb", dict(alpha=alpha, lambda_=lambda_, T=steps)),
        "Fed-AMS": ("fed_ams", dict(alpha=alpha, epsilon=1e-8, T=steps)),
        "Fed-SGD": ("fedavg", dict(eta_l=alpha, K=steps)),
    }
    called, hyper = chosen[name]
    return dict(method=called, hyper=hyper, measure=MEASURE, pretrained=None)


def tuning_grid(
    alphas: Mapping[str, tuple[float, ...]], lambdas: Sequence[float]
) -> dict[tuple[str, str, str], dict[str, float | str]]:
    """Return {(method, alpha, lambda): arguments} for the grid of tuned values."""
    return {
        (name, f"{alpha:g}", f"{each:g}"): dict(method=name, alpha=alpha, lambda_=each)
        for name, steps in alphas.items()
        for alpha in steps
        for each in (lambdas if name == "Fed-LAMB" else lambdas[:1])
    }
