"""The common part of mixed FL's experiments (section 5, appendix C.2): the mixing strategies as
methods of this library.

Central and federated losses have equal weights, as the methods of ours add them. The oracle trains
on all samples by itself: as many steps as a client's, of twice the size and on twice the batch, so
that a step is the sum of a client's and a central one.
"""

from typing import Any

from fedtheory.typing import Number

METHODS = {"PT": "parallel_training", "1-W GT": "one_way_gt", "2-W GT": "two_way_gt"}
MIXING = tuple(METHODS)
WEIGHTS = "equal: the text has 0.5 and 0.5, and 0.73 and 0.27 of the language model"


def method_entries(
    name: str,
    eta: Number,
    K: Number,
    S: Number,
    batch: Number,
    B_c: Any = None,
    eta_s: Number = 1.0,
    adam: bool = False,
) -> dict[str, Any]:
    """Return the entries of a request that describe a method. `B_c` is the central batch, by
    default as in table 7."""
    central = {"1-W GT": K * S * batch, "oracle": 2 * S * batch}.get(name, S * batch)
    if name == "only FL":
        return dict(method="fedavg", hyper=dict(eta_l=eta, K=K), server=None)
    if name == "oracle":
        return dict(
            method="server_sgd",
            hyper=dict(eta_0=2 * eta, K_0=K),
            server={"all": {}},
            batch_0=central,
        )
    hyper = dict(eta=eta, K=K)
    if name != "1-W GT":
        hyper |= dict(eta_c=eta)
    if eta_s != 1 or adam:
        hyper |= dict(eta_s=eta_s, server_opt="adam" if adam else "sgd")
    return dict(method=METHODS[name], hyper=hyper, batch_0=B_c or central)
