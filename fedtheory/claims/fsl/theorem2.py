"""FSL, theorem 2: how small a gradient T rounds reach, and what its proof says of their mean."""

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import BOUNDED_BELOW, STATED, UNSTATED
from fedtheory.symbols.fsl import (
    E_T,
    K_0,
    TABLE,
    L,
    Phi,
    Psi,
    T,
    eta_0,
    gamma,
    h,
    kappa,
    mean_sq_tilde_grad,
    tilde_D_0,
    tilde_F_0,
    tilde_F_T,
    xi_bar,
)

start = tilde_D_0 / (T * K_0 * eta_0)
noise = 5 * K_0 * eta_0 * L * Psi
drift = 8 * K_0**2 * eta_0**2 * L**2 * (gamma * kappa / (1 + gamma) * xi_bar**2 + Phi)

THEOREM = Claim(
    id="fsl.theorem2",
    cites="FSL, theorem 2",
    algorithm="fsl",
    symbols=TABLE,
    assumes=STATED,
    unstated=(*UNSTATED, BOUNDED_BELOW),
    measures=h * E_T,
    bound=start + noise + drift,
    weakened=start,
    follows=("fsl.theorem2_mean", "fsl.theorem2_positive", "textbook.smallest"),
    meaning="Over T rounds the smallest expected gradient falls like 1/T to a floor set by noise and drift.",
    note="The last step of appendix A-D replaces a mean over rounds by its smallest term, a step that needs h >= 0; "
    "(11) alone does not give it (gamma = 1, eta_g = 1, K_0 eta_0 = 2/(9 L) has h < 0). Where h < 0 the statement "
    "says nothing: its left side is negative, and its right side is not.",
)

CLAIMS = (
    THEOREM,
    # The display of appendix A-D summed over t = 0, ..., T-1, before anything is dropped.
    Claim(
        id="fsl.theorem2_summed",
        cites="FSL, appendix A-D, summed over t",
        algorithm="fsl",
        symbols=TABLE,
        assumes=STATED,
        unstated=UNSTATED,
        measures=h * mean_sq_tilde_grad,
        bound=(tilde_F_0 - tilde_F_T) / (T * K_0 * eta_0) + noise + drift,
        weakened=(tilde_F_0 - tilde_F_T) / (T * K_0 * eta_0),
        follows=("fsl.theorem1", "textbook.rounds"),
        meaning="The loss that T rounds gain pays for the mean of their expected squared gradients.",
        note="It needs neither an infimum nor a sign of h.",
    ),
    Claim(
        id="fsl.theorem2_mean",
        cites="FSL, appendix A-D, of the mean over rounds",
        algorithm="fsl",
        symbols=TABLE,
        assumes=STATED,
        unstated=(*UNSTATED, BOUNDED_BELOW),
        measures=h * mean_sq_tilde_grad,
        bound=start + noise + drift,
        weakened=start,
        follows=("fsl.theorem2_summed", "textbook.minimum"),
        meaning="Theorem 2's bound is one on the mean over rounds, of which the smallest is at most as large.",
    ),
    # What the last step needs where h is negative
    Claim(
        id="fsl.theorem2_positive",
        cites="FSL, sign of theorem 2's bound",
        algorithm="fsl",
        symbols=TABLE,
        unstated=(BOUNDED_BELOW,),
        measures=start + noise + drift,
        relation=">=",
        bound=0,
        weakened=2 * start,
        follows=("textbook.minimum",),
        meaning="Theorem 2's bound is never negative, whatever the sign of h.",
    ),
)
