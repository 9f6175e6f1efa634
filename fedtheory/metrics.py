"""The metrics that a theorem may measure on a trajectory: each has a name, a unit and a way to be
computed.

The engine records a row of basic quantities at the server point of each round; the other metrics
are computed from these. Units are powers of (point, loss), so that bounds can be checked for
homogeneity.

>>> import fedtheory as ft
>>> ft.metrics["sq_distance"].meaning
'squared distance to the minimiser, of several to that of least norm'
"""

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

# The columns of the engine's record, in order.
BASIC = (
    "loss",
    "server_loss",
    "sq_grad_norm",
    "sq_server_grad_norm",
    "grad_inner",
    "sq_xi",
    "sq_distance",
    "sq_dissimilarity",
    "client_drift",
    "server_drift",
    "sq_seen",
    "sq_server_seen",
    "seen_inner",
    "test_loss",
    "test_accuracy",
    "test_recall",
    "test_auc",
)
COLUMN = {name: n for n, name in enumerate(BASIC)}
# The bits that switch on groups of columns; other groups cost nothing.
OBJECTIVE, SERVER, DISTANCE, DISSIMILARITY, DRIFT, SEEN, TEST = 1, 2, 4, 8, 16, 32, 64
SLOPE = 128  # the objective's gradient besides its value
# The metrics on held-out samples, measured together in this order.
TESTED = BASIC[-4:]
GROUP = dict(
    loss=OBJECTIVE,
    server_loss=OBJECTIVE | SLOPE | SERVER,
    sq_grad_norm=OBJECTIVE | SLOPE,
    sq_server_grad_norm=OBJECTIVE | SLOPE | SERVER,
    grad_inner=OBJECTIVE | SLOPE | SERVER,
    sq_xi=OBJECTIVE | SLOPE | SERVER,
    sq_distance=DISTANCE,
    sq_dissimilarity=OBJECTIVE | SLOPE | DISSIMILARITY,
    client_drift=DRIFT,
    server_drift=DRIFT,
    sq_seen=SEEN,
    sq_server_seen=SEEN,
    seen_inner=SEEN,
    **dict.fromkeys(TESTED, TEST),
)


class Metric(NamedTuple):
    """A quantity of a run at the server point of each round: a basic column, or one derived from
    some."""

    name: str
    latex: str
    meaning: str
    needs: tuple[Any, ...] = ()  # the basic columns from which it is computed
    derive: Any = None  # (columns by name, hyper) -> array; None for a basic column


def _tilde_loss(m: Mapping[str, np.ndarray], gamma: float) -> np.ndarray:
    """Return (F + gamma f_0) / (1 + gamma) from the records of a run."""
    return (m["loss"] + gamma * m["server_loss"]) / (1 + gamma)


def _sq_tilde_grad_norm(m: Mapping[str, np.ndarray], gamma: float) -> np.ndarray:
    """Return ||grad F + gamma grad f_0||^2 / (1 + gamma)^2 from the records of a run."""
    return _sq_sum(m, gamma) / (1 + gamma) ** 2


def _sq_sum(m: Mapping[str, np.ndarray], gamma: float) -> np.ndarray:
    """Return ||grad F + gamma grad f_0||^2 from the records of a run, at least 0 in spite of
    rounding in the difference."""
    return np.maximum(
        m["sq_grad_norm"] + 2 * gamma * m["grad_inner"] + gamma**2 * m["sq_server_grad_norm"], 0.0
    )


def _sq_B_t(m: Mapping[str, np.ndarray], gamma: float) -> np.ndarray:
    """Return the least B^2 of definition 4.2 of mixed FL for G = 0, from the sampled gradients of a
    round."""
    two = m["sq_seen"] + m["sq_server_seen"]
    return 2 * two / (two + 2 * m["seen_inner"])


_ALL = (
    Metric("loss", r"F(x_t)", "the weighted federated objective at the server point", ("loss",)),
    Metric("server_loss", r"f_0(x_t)", "the server's loss", ("server_loss",)),
    Metric(
        "sq_grad_norm",
        r"\|\nabla F(x_t)\|^2",
        "squared norm of the objective's gradient",
        ("sq_grad_norm",),
    ),
    Metric(
        "sq_server_grad_norm",
        r"\|\nabla f_0(x_t)\|^2",
        "squared norm of the server's gradient",
        ("sq_server_grad_norm",),
    ),
    Metric(
        "grad_inner",
        r"\langle\nabla F(x_t),\nabla f_0(x_t)\rangle",
        "alignment of the two gradients",
        ("grad_inner",),
    ),
    Metric(
        "sq_xi",
        r"\|\nabla f_0(x_t)-\nabla F(x_t)\|^2",
        "the server's dissimilarity (FSL, assumption 3)",
        ("sq_xi",),
    ),
    Metric(
        "sq_distance",
        r"\|x_t-x^\star\|^2",
        "squared distance to the minimiser, of several to that of least norm",
        ("sq_distance",),
    ),
    Metric(
        "sq_dissimilarity",
        r"\frac1N\sum_i\|\nabla f_i(x_t)-\nabla F(x_t)\|^2",
        "the clients' dissimilarity G_t^2 (FSL, assumption 2)",
        ("sq_dissimilarity",),
    ),
    Metric(
        "client_drift",
        r"E_t^{(c)}",
        "mean squared distance of a working client's points y_0..y_{K-1} from x_t, "
        "over the round's cohort",
        ("client_drift",),
    ),
    Metric(
        "server_drift",
        r"E_t^{(0)}",
        "mean squared distance of the server's points w_0..w_{K_0-1} from x_t",
        ("server_drift",),
    ),
    Metric(
        "sq_seen",
        r"\|\tilde\nabla f_f(x_t)\|^2",
        "squared mean of the cohort's sampled gradients at the round's start (mixed FL, (7))",
        ("sq_seen",),
    ),
    Metric(
        "sq_server_seen",
        r"\|\tilde\nabla f_c(x_t)\|^2",
        "squared sampled gradient of the server there",
        ("sq_server_seen",),
    ),
    Metric(
        "seen_inner",
        r"\langle\tilde\nabla f_f(x_t),\tilde\nabla f_c(x_t)\rangle",
        "alignment of the two sampled gradients",
        ("seen_inner",),
    ),
    Metric(
        "sq_G_t",
        r"\tilde G_t^2",
        "what definition 4.2 of mixed FL would need for G^2 if B = 1, at w_f = w_c = 1/2 (7)",
        ("sq_seen", "sq_server_seen", "seen_inner"),
        lambda m, gamma: np.maximum(m["sq_seen"] + m["sq_server_seen"] - 2 * m["seen_inner"], 0.0),
    ),
    Metric(
        "sq_B_t",
        r"\tilde B_t^2",
        "what it would need for B^2 if G = 0, at w_f = w_c = 1/2 (7)",
        ("sq_seen", "sq_server_seen", "seen_inner"),
        _sq_B_t,
    ),
    Metric(
        "test_loss",
        r"\ell_{\mathrm{test}}(x_t)",
        "mean loss of the samples held out",
        ("test_loss",),
    ),
    Metric(
        "test_accuracy",
        r"\mathrm{acc}(x_t)",
        "share of the labels held out that are predicted; of a language model, next tokens",
        ("test_accuracy",),
    ),
    Metric(
        "test_recall",
        r"\mathrm{recall@}k(x_t)",
        "share of the labels held out that are among the k best, k being the network's `top`",
        ("test_recall",),
    ),
    Metric(
        "test_auc",
        r"\mathrm{AUC}(x_t)",
        "area under the ROC curve of the samples held out, of two classes",
        ("test_auc",),
    ),
    Metric(
        "test_perplexity",
        r"e^{\ell_{\mathrm{test}}(x_t)}",
        "exponential of the mean loss of the samples held out",
        ("test_loss",),
        lambda m, gamma: np.exp(m["test_loss"]),
    ),
    Metric(
        "tilde_loss",
        r"\tilde F(x_t)",
        "(F + gamma f_0) / (1 + gamma), what FSL descends",
        ("loss", "server_loss"),
        _tilde_loss,
    ),
    Metric(
        "sq_tilde_grad_norm",
        r"\|\nabla\tilde F(x_t)\|^2",
        "squared norm of its gradient",
        ("sq_grad_norm", "grad_inner", "sq_server_grad_norm"),
        _sq_tilde_grad_norm,
    ),
    Metric(
        "mixed_loss",
        r"f(x_t)=f_f(x_t)+f_c(x_t)",
        "the mixed objective: federated plus central loss",
        ("loss", "server_loss"),
        lambda m, gamma: m["loss"] + m["server_loss"],
    ),
    Metric(
        "sq_mixed_grad_norm",
        r"\|\nabla f(x_t)\|^2",
        "squared norm of the mixed objective's gradient",
        ("sq_grad_norm", "grad_inner", "sq_server_grad_norm"),
        lambda m, gamma: _sq_sum(m, 1.0),
    ),
)
ALL = {metric.name: metric for metric in _ALL}
DEFAULT = ("loss", "server_loss", "sq_grad_norm", "sq_distance")


class _Listing(ModuleType):
    """The class of this module, through which `ft.metrics` also lists its metrics as a mapping
    does."""

    def __iter__(self) -> Iterator[Any]:
        return iter(ALL)

    def __len__(self) -> int:
        return len(ALL)

    def __contains__(self, name: str) -> bool:
        return name in ALL

    def __getitem__(self, name: str) -> Any:
        return ALL[name]

    def keys(self) -> Any:
        return ALL.keys()

    def __repr__(self) -> str:
        return "\n".join(f"{name:22s}{metric.meaning}" for name, metric in ALL.items())


sys.modules[__name__].__class__ = _Listing
