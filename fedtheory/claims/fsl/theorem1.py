"""FSL, theorem 1: what one round gains."""

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import STATED, UNSTATED
from fedtheory.symbols.fsl import (
    K_0,
    TABLE,
    L,
    Phi,
    Psi,
    eta_0,
    gamma,
    h,
    kappa,
    sq_tilde_grad,
    tilde_F_next,
    tilde_F_t,
    xi_bar,
)

gain = K_0 * eta_0 * h * sq_tilde_grad
noise = 5 * K_0**2 * eta_0**2 * L * Psi
drift = 8 * K_0**3 * eta_0**3 * L**2 * (gamma * kappa / (1 + gamma) * xi_bar**2 + Phi)

CLAIM = Claim(
    id="fsl.theorem1",
    cites="FSL, theorem 1",
    algorithm="fsl",
    symbols=TABLE,
    assumes=STATED,
    unstated=UNSTATED,
    measures=tilde_F_next,
    bound=tilde_F_t - gain + noise + drift,  # (12)
    weakened=tilde_F_t - gain,
    follows=("fsl.step28/1", "fsl.step_28_to_12/1"),
    meaning="One round lowers the modified loss in proportion to its squared gradient, up to noise and drift.",
)
