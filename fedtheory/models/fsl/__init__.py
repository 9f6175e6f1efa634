"""Models of instances in the letters of FSL.

A round (`round`) and a run (`run`) enumerate cohorts and noise on small instances; `large` and
`large_run` follow two moments for thousands of clients and steps. `server` has exact steps on f_0
alone, `pretrain` the start and the modified loss's minimiser, `sharing` samples instead of losses.
The modified loss is (gamma f_0 + F) / (1 + gamma), with f_0 the server's loss and F the clients'.
"""

from typing import Any

CALLED = dict(
    losses=("f_0, the server's loss",),
    noise="noise of a client's gradients",
    noise_0="noise of the server's gradients",
    x="the start",
    weights="weights of the clients",
    breaks="what is not met",
)
# Conditions that a round can meet, and the facts of a record that all models of FSL's rounds share
ENSURES = frozenset(
    "smooth lipschitz dissimilar server_dissimilar noise independent_noise equal_weights "
    "uniform_cohort server convex".split()
)
ROUNDS: dict[str, Any] = dict(
    algorithms=("fsl",),
    gives=("N", "S", "K", "K_0"),
    loose=dict(L=1, G=1, xi_bar=1, sigma=1, sigma_0=1, mu=-1),
    takes=("eta_l", "eta_g", "eta_0", "gamma"),
    ensures=ENSURES,
)
