"""FSL, remarks after the theorems: what the conditions give, and what they say of the original
loss."""

from typing import TYPE_CHECKING

from fedtheory.claim import Claim
from fedtheory.claims.fsl._assumptions import A3, BOUNDED_BELOW, EQ13
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import (
    D_0,
    E_T,
    TABLE,
    best_sq_grad,
    eta_g,
    eta_g_more,
    f_0_star,
    f_0_start,
    gamma,
    h,
    kappa,
    phi,
    sq_grad,
    sq_server_grad,
    sq_tilde_grad,
    sq_xi,
    tilde_D_0,
    xi_bar,
)

if TYPE_CHECKING:
    import sympy


def at_larger(symbol: "sympy.Symbol") -> "sympy.Expr":
    """Return a derived symbol's definition at the larger aggregation step."""
    return TABLE[symbol.name].definition.xreplace({eta_g: eta_g_more})


CLAIMS = (
    Claim(
        id="fsl.h_lower",
        cites="FSL, after (13)",
        symbols=TABLE,
        assumes=(EQ13,),
        measures=h,
        relation=">=",
        bound=(3 * gamma + 1) / 4,
        weakened=(3 * gamma + 2) / 4,
        meaning="Small enough steps keep at least three quarters of the progress that gamma promises.",
    ),
    Claim(
        id="fsl.phi_kappa_decrease",
        cites="FSL, after theorem 2",
        symbols=TABLE,
        assumes=(Assumption(eta_g <= eta_g_more, "phi and kappa decrease in eta_g"),),
        measures=at_larger(phi),
        bound=phi,
        also=((at_larger(kappa), "<=", kappa),),
        weakened=phi / 2,
        meaning="A larger aggregation step lowers the bound's drift terms.",
    ),
    Claim(
        id="fsl.gradient_identity",
        cites="FSL, before (28)",
        algorithm="fsl",
        symbols=TABLE,
        measures=sq_grad + gamma * sq_server_grad,
        relation="==",
        bound=(1 + gamma) * sq_tilde_grad + gamma / (1 + gamma) * sq_xi,
        weakened=(1 + gamma) * sq_tilde_grad,
        meaning="Both losses' gradients, split into the modified loss's and their difference.",
    ),
    Claim(
        id="fsl.original_loss",
        cites="FSL, last remark of section III",
        algorithm="fsl",
        symbols=TABLE,
        assumes=(A3,),
        measures=sq_grad,
        bound=(1 + gamma) * sq_tilde_grad + gamma / (1 + gamma) * xi_bar**2,
        also=((best_sq_grad, "<=", (1 + gamma) * E_T + gamma / (1 + gamma) * xi_bar**2),),
        weakened=(1 + gamma) * sq_tilde_grad,
        meaning="A small gradient of the modified loss makes the clients' gradient small, up to the server's mismatch.",
    ),
    Claim(
        id="fsl.d0_pretrain",
        cites="FSL, third remark after corollary 1",
        algorithm="fsl",
        symbols=TABLE,
        # The text: pre-training overfits, f_0(x_0) = 0 approximately; with f_0 >= 0 that is this,
        # up to f_0(x_0).
        assumes=(Assumption(f_0_start <= f_0_star, "f_0(x_0) near 0"),),
        unstated=(BOUNDED_BELOW,),
        measures=tilde_D_0,
        relation="==",
        bound=(D_0 + gamma * (f_0_start - f_0_star)) / (1 + gamma),
        also=((tilde_D_0, "<=", D_0 / (1 + gamma)),),
        weakened=D_0 / (1 + gamma) ** 2,
        meaning="A pre-trained start is close to the modified minimum, closer for larger gamma.",
    ),
)
