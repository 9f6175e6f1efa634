"""FSL, theorem 2: how small a gradient T rounds reach."""

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
    tilde_D_0,
    xi_bar,
)

start = tilde_D_0 / (T * K_0 * eta_0)
noise = 5 * K_0 * eta_0 * L * Psi
drift = 8 * K_0**2 * eta_0**2 * L**2 * (gamma * kappa / (1 + gamma) * xi_bar**2 + Phi)

CLAIM = Claim(
    id="fsl.theorem2",
    cites="FSL, theorem 2",
    algorithm="fsl",
    symbols=TABLE,
    assumes=STATED,
    unstated=(*UNSTATED, BOUNDED_BELOW),
    measures=h * E_T,
    bound=start + noise + drift,
    teeth=start,
    meaning="Over T rounds the smallest expected gradient falls like 1/T to a floor set by noise and drift.",
    note="The last step of appendix A-D replaces a mean over rounds by its smallest term, a step that needs h >= 0; "
    "(11) alone does not give it (gamma = 1, eta_g = 1, K_0 eta_0 = 2/(9 L) has h < 0).",
)
