"""Symbols of flexible device participation (flex). Sums over devices and expectations over s have a
symbol each.

`fedtheory.participation.moments` computes the moments from weights, distributions of s and a
scheme.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sympy import Eq, Max, Piecewise, sqrt

from fedtheory.symbol import (
    CURVATURE,
    GRADIENT,
    LOSS,
    PLAIN,
    POINT,
    SQ_GRADIENT,
    SQ_POINT,
    STEP,
    Table,
)

if TYPE_CHECKING:
    import sympy

TABLE = Table("flex", constants=dict(G="M"), run=dict(tau="rounds", N="N"), paced=("eta",))

# Numbers a user sets
E = TABLE.count("E", "E", "local steps asked of each device in a round")
N = TABLE.count("N", "N", "devices")
tau = TABLE.count("tau", r"\tau", "rounds done")
eta = TABLE.positive("eta", r"\eta_\tau", "learning rate of round tau", STEP)
tau_0 = TABLE.nonnegative("tau_0", r"\tau_0", "round of an arrival or a departure")
T = TABLE.count("T", "T", "the deadline: rounds in all")
n = TABLE.count("n", "n", "data points of all devices before the change")
n_l = TABLE.count("n_l", "n_l", "data points of the device that arrives or departs")
p_l = TABLE.positive("p_l", r"\tilde{p}^l", "the arriving device's weight in the new objective")
p_k = TABLE.positive("p_k", "p^k", "weight of device k in the objective")
s_k = TABLE.count("s_k", r"s_\tau^k", "local steps that device k completes in a round")
TABLE.rule(s_k <= E, p_k <= 1, p_l <= 1, tau_0 <= tau, tau_0 <= T, tau <= T)

# Constants of a problem
L = TABLE.positive("L", "L", "smoothness of every device's loss (assumption 3.1)", CURVATURE)
mu = TABLE.positive(
    "mu", r"\mu", "strong convexity of every device's loss (assumption 3.2)", CURVATURE
)
G = TABLE.nonnegative(
    "G", "G", "root of the largest mean squared stochastic gradient (assumption 3.4)", GRADIENT
)
theta = TABLE.positive(
    "theta", r"\theta", "bound of the aggregation coefficients p_tau^k / p^k (assumption 3.5)"
)
W = TABLE.positive(
    "W", "W", "bound of gradients and of Hessians' norms (corollary 4.0.2)", GRADIENT
)
Gamma = TABLE.nonnegative(
    "Gamma", r"\Gamma", "sum over devices of p^k Gamma_k: how far from IID the data are", LOSS
)
Gamma_l = TABLE.nonnegative(
    "Gamma_l", r"\Gamma_l", "F_l(w*) - F_l*: the device's excess loss at the old optimum", LOSS
)
tilde_Gamma_l = TABLE.nonnegative(
    "tilde_Gamma_l",
    r"\tilde{\Gamma}_l",
    "F_l(w~*) - F_l*: the device's excess loss at the new optimum",
    LOSS,
)
sigma_bar_sq = TABLE.nonnegative(
    "sigma_bar_sq", r"\bar{\sigma}_N^2", "sum over devices of (p^k sigma_k)^2", SQ_GRADIENT
)
Delta = TABLE.nonnegative(
    "Delta",
    r"\Delta_{\tau_0}",
    "bound of the mean squared distance when the objective shifts",
    SQ_POINT,
)
TABLE.rule(mu <= L)


def of_law(
    name: str, latex: str, meaning: str, unit: Sequence[int] = PLAIN, domain: str = "nonnegative"
) -> "sympy.Symbol":
    """Add to the table a moment of the participation law, which fedtheory.participation.moments
    computes, and return its symbol."""
    return TABLE.measured(name, latex, meaning, unit, name, "t", "E", domain=domain)


def moments(mark: str, tilde: Callable[..., Any], whose: str) -> "tuple[sympy.Symbol, ...]":
    """Return the moments that theorem 3.1 needs, for the devices of one objective."""
    p = tilde("p") + r"_\tau^k"
    ps = of_law(
        f"{mark}ps",
        rf"\mathbb{{E}}[\sum_k {p} s_\tau^k]",
        f"expected aggregated work of a round{whose}",
        domain="positive" if mark else "nonnegative",
    )  # that it is not 0 is an assumption of theorem 3.1
    ps_Gamma = of_law(
        f"{mark}ps_Gamma",
        rf"\sum_k\mathbb{{E}}[{p} s_\tau^k]{tilde(chr(92) + 'Gamma')}_k",
        f"the same, each device by its excess loss{whose}",
        LOSS,
    )
    ps_plus = of_law(
        f"{mark}ps_plus",
        rf"\mathbb{{E}}[(\sum_k {p}-2)_+\sum_k {p} s_\tau^k]",
        f"the same, by how far the coefficients' sum exceeds 2{whose}",
    )
    p2s_over_p = of_law(
        f"{mark}p2s_over_p",
        rf"\mathbb{{E}}[\sum_k ({p})^2 s_\tau^k/{tilde('p')}^k]",
        f"the same, by p_tau^k / p^k{whose}",
    )
    p2s_sigma = of_law(
        f"{mark}p2s_sigma",
        rf"\mathbb{{E}}[\sum_k ({p})^2 s_\tau^k\sigma_k^2]",
        f"noise that aggregation lets through{whose}",
        SQ_GRADIENT,
    )
    least = of_law(
        f"{mark}ratio_min",
        rf"\min_k\mathbb{{E}}[{p} s_\tau^k]/{tilde('p')}^k",
        f"the least favoured device's share of work{whose}",
    )
    most = of_law(
        f"{mark}ratio_max",
        rf"\max_k\mathbb{{E}}[{p} s_\tau^k]/{tilde('p')}^k",
        f"the most favoured device's share of work{whose}",
    )
    return ps, ps_Gamma, ps_plus, p2s_over_p, p2s_sigma, least, most


def expected_B(
    ps: "sympy.Expr",
    ps_Gamma: "sympy.Expr",
    ps_plus: "sympy.Expr | int",
    p2s_over_p: "sympy.Expr",
    p2s_sigma: "sympy.Expr",
    theta: "sympy.Expr | int" = theta,
) -> "sympy.Expr":
    """Return E[B_tau]. The text prints (sum_k p - 2)_+ + sum_k p s; the product is used here,
    because the text assumes that the product's expectation exists."""
    return (
        2 * (2 + theta) * L * ps_Gamma
        + (2 + mu / (2 * (1 + theta) * L)) * E * (E - 1) * G**2 * (ps + theta * ps_plus)
        + 2 * E * G**2 * p2s_over_p
        + p2s_sigma
    )


def offset(ps: "sympy.Expr", theta: "sympy.Expr | int" = theta) -> "sympy.Expr":
    """Return gamma of theorem 3.1."""
    # SymPy would try to order the two, which takes longer than the rest of this table
    return Max(32 * E * (1 + theta) * L / (mu * ps), 4 * E**2 * theta / ps, evaluate=False)


def level(
    gamma: "sympy.Symbol", start: "sympy.Symbol", ps: "sympy.Expr", B: "sympy.Symbol"
) -> "sympy.Expr":
    """Return V of theorem 3.1. `start` is the mean squared distance at the start."""
    return Max(gamma**2 * start, (16 * E / (mu * ps)) ** 2 * B / E, evaluate=False)


# Measured: points w^G_{tau E} of the server, w* and w~* the minimisers of the old and the new
# objective
sq_dist_0 = TABLE.measured(
    "sq_dist_0",
    r"\mathbb{E}\|w_0^G-w^*\|^2",
    "mean squared distance to w* at the start",
    SQ_POINT,
    "sq_distance",
    "0",
    "E",
    domain="nonnegative",
)
sq_dist = TABLE.measured(
    "sq_dist",
    r"\mathbb{E}\|w_{\tau E}^G-w^*\|^2",
    "mean squared distance to w* after tau rounds",
    SQ_POINT,
    "sq_distance",
    "T",
    "E",
    domain="nonnegative",
)
limit_sq_dist = TABLE.measured(
    "limit_sq_dist",
    r"\lim_{\tau\to\infty}\mathbb{E}\|w_{\tau E}^G-w^*\|^2",
    "mean squared distance to w* that is left in the end",
    SQ_POINT,
    "sq_distance",
    "limit",
    "E",
    domain="nonnegative",
)
sq_dist_new = TABLE.measured(
    "sq_dist_new",
    r"\mathbb{E}\|w_{\tau E}^G-\tilde w^*\|^2",
    "mean squared distance to the new minimiser",
    SQ_POINT,
    "sq_distance",
    "T",
    "E",
    domain="nonnegative",
)
shift = TABLE.measured(
    "shift",
    r"\|w^*-\tilde w^*\|",
    "distance between the old and the new minimiser",
    POINT,
    "shift",
    domain="nonnegative",
)

# Theorem 3.1
ps, ps_Gamma, ps_plus, p2s_over_p, p2s_sigma, ratio_min, ratio_max = moments("", lambda x: x, "")
ratio_sup = of_law(
    "ratio_sup", r"\sup_{k,\tau} p_\tau^k/p^k", "largest aggregation coefficient, by weight"
)
z = TABLE.define(
    "z",
    r"z_\tau",
    "1 where E[p_tau^k s_tau^k] / p^k differs between devices, else 0",
    Piecewise((0, Eq(ratio_min, ratio_max)), (1, True)),
)
gamma = TABLE.define(
    "gamma", r"\gamma", "offset of the learning rate's decay", offset(ps), domain="positive"
)
M_tau = TABLE.define(
    "M_tau",
    r"M_\tau",
    "rounds so far in which devices were favoured: z_tau times tau, as z is "
    "constant where expectations do not vary with time",
    z * tau,
)
D = TABLE.define("D", "D", "what a favoured round costs", 64 * E * ps_Gamma / (mu * ps), SQ_POINT)
B_tau = TABLE.define(
    "B_tau",
    r"\mathbb{E}[B_\tau]",
    "noise and drift of one round",
    expected_B(ps, ps_Gamma, ps_plus, p2s_over_p, p2s_sigma),
    SQ_GRADIENT,
)
V = TABLE.define(
    "V",
    "V",
    "start, or noise and drift, whichever is larger",
    level(gamma, sq_dist_0, ps, B_tau),
    SQ_POINT,
)
p_plus = of_law(
    "p_plus", r"\mathbb{E}(\sum_k p_\tau^k-2)_+", "how far the coefficients' sum exceeds 2"
)
B_printed = TABLE.define(
    "B_printed",
    r"\mathbb{E}[B_\tau]",
    "noise and drift of one round, signs as printed",
    2 * (2 + theta) * L * ps_Gamma
    + (2 + mu / (2 * (1 + theta) * L)) * E * (E - 1) * G**2 * (2 * ps + theta * p_plus)
    + 2 * E * G**2 * p2s_over_p
    + p2s_sigma,
    SQ_GRADIENT,
)
V_printed = TABLE.define(
    "V_printed", "V", "V with E[B_tau] as printed", level(gamma, sq_dist_0, ps, B_printed), SQ_POINT
)

# Corollary 3.2.1: the same for the new set of devices
(
    tilde_ps,
    tilde_ps_Gamma,
    tilde_ps_plus,
    tilde_p2s_over_p,
    tilde_p2s_sigma,
    tilde_ratio_min,
    tilde_ratio_max,
) = moments("tilde_", lambda x: rf"\tilde{{{x}}}", ", new devices")
tilde_z = TABLE.define(
    "tilde_z",
    r"\tilde{z}_\tau",
    "z of the new devices",
    Piecewise((0, Eq(tilde_ratio_min, tilde_ratio_max)), (1, True)),
)
tilde_gamma = TABLE.define(
    "tilde_gamma",
    r"\tilde{\gamma}",
    "gamma of the new devices",
    offset(tilde_ps),
    domain="positive",
)
tilde_M = TABLE.define(
    "tilde_M",
    r"\tilde{M}_\tau",
    "rounds since the shift in which devices were favoured",
    tilde_z * (tau - tau_0),
)
tilde_D = TABLE.define(
    "tilde_D",
    r"\tilde{D}",
    "D of the new devices",
    64 * E * tilde_ps_Gamma / (mu * tilde_ps),
    SQ_POINT,
)
tilde_B = TABLE.define(
    "tilde_B",
    r"\mathbb{E}[\tilde{B}_\tau]",
    "noise and drift of a round, new devices",
    expected_B(tilde_ps, tilde_ps_Gamma, tilde_ps_plus, tilde_p2s_over_p, tilde_p2s_sigma),
    SQ_GRADIENT,
)
tilde_start = TABLE.define(
    "tilde_start",
    r"(\sqrt{\Delta_{\tau_0}}+\|w^*-\tilde w^*\|)^2",
    "squared distance to the new minimiser at the shift",
    (sqrt(Delta) + shift) ** 2,
    SQ_POINT,
)
tilde_V = TABLE.define(
    "tilde_V",
    r"\tilde{V}",
    "V of the new devices",
    level(tilde_gamma, tilde_start, tilde_ps, tilde_B),
    SQ_POINT,
)

# Table 1: one distribution of s for all devices, or one each
E_s = of_law("E_s", r"\mathbb{E}[s_\tau]", "expected work of a device")
E_inv_s = of_law(
    "E_inv_s",
    r"\mathbb{E}[1/s_\tau]",
    "expected inverse work of a device; an inactive one counts 0, as its coefficient does",
)
E_inv_K = of_law(
    "E_inv_K",
    r"\mathbb{E}[1/K_\tau]",
    "expected inverse number of complete devices",
    domain="positive",
)
active = of_law(
    "active", r"\mathbb{P}(s_\tau>0)", "probability that a device is active", domain="positive"
)
plus_A = of_law(
    "plus_A",
    r"\mathbb{E}[(\sum_k p_\tau^k-2)_+\sum_k p_\tau^k]",
    "how far scheme A's coefficients exceed 2, by their sum",
)
p_sigma_inv = of_law(
    "p_sigma_inv",
    r"\sum_k(p^k\sigma_k)^2\mathbb{E}[1/s_\tau^k]",
    "noise of each device by its expected inverse work",
    SQ_GRADIENT,
)
p_inv = of_law(
    "p_inv", r"\sum_k p^k\mathbb{E}[1/s_\tau^k]", "expected inverse work, devices by weight"
)
I_sum = of_law(
    "I_sum", r"\sum_{t=0}^{\tau-1}I_t", "rounds so far in which some device was inactive"
)
TABLE.rule(active <= 1, E_s <= E)

gamma_A = TABLE.define(
    "gamma_A",
    r"\gamma",
    "gamma of scheme A on homogeneous devices",
    offset(E, N),
    domain="positive",
)
B_A = TABLE.define(
    "B_A",
    r"\mathbb{E}[B_\tau]",
    "E[B_tau] of scheme A on homogeneous devices",
    expected_B(E, E * Gamma, E * plus_A, E * N * E_inv_K, E * N * E_inv_K * sigma_bar_sq, N),
    SQ_GRADIENT,
)
V_A = TABLE.define(
    "V_A", "V", "V of scheme A on homogeneous devices", level(gamma_A, sq_dist_0, E, B_A), SQ_POINT
)
gamma_B = TABLE.define(
    "gamma_B",
    r"\gamma",
    "gamma of scheme B on homogeneous devices",
    offset(E_s, 1),
    domain="positive",
)
B_B = TABLE.define(
    "B_B",
    r"\mathbb{E}[B_\tau]",
    "E[B_tau] of scheme B on homogeneous devices",
    expected_B(E_s, E_s * Gamma, 0, E_s, E_s * sigma_bar_sq, 1),
    SQ_GRADIENT,
)
V_B = TABLE.define(
    "V_B",
    "V",
    "V of scheme B on homogeneous devices",
    level(gamma_B, sq_dist_0, E_s, B_B),
    SQ_POINT,
)
gamma_C = TABLE.define(
    "gamma_C",
    r"\gamma",
    "gamma of scheme C on homogeneous devices",
    offset(E * active, E),
    domain="positive",
)
B_C = TABLE.define(
    "B_C",
    r"\mathbb{E}[B_\tau]",
    "E[B_tau] of scheme C on homogeneous devices",
    expected_B(
        E * active, E * active * Gamma, ps_plus, E**2 * E_inv_s, E**2 * E_inv_s * sigma_bar_sq, E
    ),
    SQ_GRADIENT,
)
V_C = TABLE.define(
    "V_C",
    "V",
    "V of scheme C on homogeneous devices",
    level(gamma_C, sq_dist_0, E * active, B_C),
    SQ_POINT,
)
gamma_full = TABLE.define(
    "gamma_full", r"\gamma", "gamma under full participation", offset(E, 1), domain="positive"
)
B_full = TABLE.define(
    "B_full",
    r"\mathbb{E}[B_\tau]",
    "E[B_tau] under full participation",
    expected_B(E, E * Gamma, 0, E, E * sigma_bar_sq, 1),
    SQ_GRADIENT,
)
V_full = TABLE.define(
    "V_full", "V", "V under full participation", level(gamma_full, sq_dist_0, E, B_full), SQ_POINT
)

# One device
ps_k = of_law("ps_k", r"\mathbb{E}[p_\tau^k s_\tau^k]", "expected aggregated work of device k")
gain_k = of_law("gain_k", r"p_\tau^k/p^k", "how much scheme C enlarges the change of a device")
E_s_k = of_law("E_s_k", r"\mathbb{E}[s_\tau^k]", "expected work of device k")
E_complete_k = of_law(
    "E_complete_k", r"\mathbb{E}[q_\tau^k N/K_\tau]", "expected coefficient of k under scheme A"
)
limit_weight_B_k = TABLE.measured(
    "limit_weight_B_k",
    r"\hat{p}_B^k",
    "weight of F_k in the loss that scheme B's small steps minimise",
    PLAIN,
    "limit_weight_B_k",
    "limit",
    domain="nonnegative",
)
limit_weight_A_k = TABLE.measured(
    "limit_weight_A_k",
    r"\hat{p}_A^k",
    "the same under scheme A",
    PLAIN,
    "limit_weight_A_k",
    "limit",
    domain="nonnegative",
)
sum_weight_B = of_law(
    "sum_weight_B", r"\sum_l p^l\mathbb{E}[s_\tau^l]", "scheme B's expected work", domain="positive"
)
sum_weight_A = of_law(
    "sum_weight_A",
    r"\sum_l p^l\mathbb{E}[q_\tau^l N/K_\tau]",
    "scheme A's expected coefficients",
    domain="positive",
)
sq_bias = TABLE.measured(
    "sq_bias",
    r"\|\hat w-w^*\|^2",
    "squared distance of the minimiser of the loss with weights p-hat to w*",
    SQ_POINT,
    "sq_bias",
    "limit",
    domain="nonnegative",
)

# (2), on one round
sq_gap_eq2 = TABLE.measured(
    "sq_gap_eq2",
    r"\|\text{first line}-\text{second line, }i<s_\tau^k\|^2",
    "squared distance of the two lines of (2), s gradients summed",
    SQ_POINT,
    "sq_gap_eq2",
    domain="nonnegative",
)
sq_gap_printed = TABLE.measured(
    "sq_gap_printed",
    r"\|\text{first line}-\text{second line, }i\le s_\tau^k\|^2",
    "squared distance of the two lines of (2), s + 1 gradients summed",
    SQ_POINT,
    "sq_gap_printed",
    domain="nonnegative",
)
sq_extra = TABLE.measured(
    "sq_extra",
    r"\|\eta_\tau\sum_k p_\tau^k g_{\tau E+s_\tau^k}^k\|^2",
    "squared length of what the summand i = s adds",
    SQ_POINT,
    "sq_extra",
    domain="nonnegative",
)

# Fast reboot (section 4.2), at a point w
dist_old = TABLE.measured(
    "dist_old",
    r"\|w-w^*\|",
    "distance to the old minimiser",
    POINT,
    "dist_old",
    domain="nonnegative",
)
dist_new = TABLE.measured(
    "dist_new",
    r"\|w-\tilde w^*\|",
    "distance to the new minimiser",
    POINT,
    "dist_new",
    domain="nonnegative",
)
dist_reboot = TABLE.measured(
    "dist_reboot",
    r"\min_{\delta^l>0}\|w-\delta^l\nabla F_l(w)-\tilde w^*\|",
    "least distance to the new minimiser over the size of the extra update",
    POINT,
    "dist_reboot",
    domain="nonnegative",
)
inner_l = TABLE.measured(
    "inner_l",
    r"\langle\nabla F_l(w),w-\tilde w^*\rangle",
    "how far the arriving device's gradient points away from the new minimiser",
    LOSS,
    "inner_l",
)
gap_new = TABLE.measured(
    "gap_new",
    r"(\tilde F(w^*)-\tilde F(\tilde w^*))",
    "new objective at the old minimiser, above its minimum",
    LOSS,
    "gap_new",
    domain="nonnegative",
)

# Departures (section 4.3)
V_0 = TABLE.nonnegative("V_0", "V", "V of (3) when the device departs", SQ_POINT)
gamma_0 = TABLE.positive("gamma_0", r"\gamma", "gamma of (3) when the device departs")
D_0 = TABLE.nonnegative("D_0", "D", "D of (3)", SQ_POINT)
V_1 = TABLE.nonnegative("V_1", r"\tilde{V}", "V of (6) without the device", SQ_POINT)
gamma_1 = TABLE.positive("gamma_1", r"\tilde{\gamma}", "gamma of (6) without the device")
loss_included = TABLE.measured(
    "loss_included",
    r"\mathbb{E}[F(w_{TE}^G)]-F^*",
    "training loss at the deadline, device included",
    LOSS,
    "excess_loss_included",
    "T",
    "E",
    domain="nonnegative",
)
loss_excluded = TABLE.measured(
    "loss_excluded",
    r"\mathbb{E}[\tilde F(w_{TE}^G)]-\tilde F^*",
    "training loss at the deadline, device excluded",
    LOSS,
    "excess_loss_excluded",
    "T",
    "E",
    domain="nonnegative",
)
delay = TABLE.measured(
    "delay",
    r"T-\tau_0",
    "least remaining rounds for which (8) holds",
    PLAIN,
    "delay",
    domain="nonnegative",
)
delay_at_T = TABLE.measured(
    "delay_at_T",
    r"T-\tau_0",
    "least remaining rounds for which f_0(T) >= f_1(T)",
    PLAIN,
    "delay_at_T",
    domain="nonnegative",
)

# Sentences between the theorems
n_l_more = TABLE.count("n_l_more", "n_l'", "more data points of the device that arrives or departs")
TABLE.rule(n_l <= n_l_more)
Gamma_max = of_law(
    "Gamma_max", r"\max_k\Gamma_k", "largest excess loss of a device at the optimum", LOSS
)
Gamma_l_new = TABLE.measured(
    "Gamma_l_new",
    r"\tilde{\Gamma}_l",
    "F_l(w~*) - F_l*, of a device that arrives",
    LOSS,
    "excess_l_new",
    domain="nonnegative",
)
Gamma_l_old = TABLE.measured(
    "Gamma_l_old",
    r"\Gamma_l",
    "F_l(w*) - F_l*, of a device that departs",
    LOSS,
    "excess_l_old",
    domain="nonnegative",
)
grad_norm_old = TABLE.measured(
    "grad_norm_old",
    r"\|\nabla F(w)\|",
    "length of the old objective's gradient",
    GRADIENT,
    "grad_norm_old",
    domain="nonnegative",
)
sq_gap_rate = TABLE.measured(
    "sq_gap_rate",
    r"\|\sum_k p_\tau^k\Delta^k(\eta_\tau)-\sum_k p^k\Delta^k(\eta_\tau p_\tau^k/p^k)\|^2",
    "squared distance between larger coefficients and larger learning rates, where Delta^k is what device k sends",
    SQ_POINT,
    "sq_gap_rate",
    domain="nonnegative",
)

# Theorem 3.2, by its proof: one objective's gradient at the other's minimiser
grad_new_old = TABLE.measured(
    "grad_new_old",
    r"\|\nabla\tilde F(w^*)\|",
    "length of the new objective's gradient at the old minimiser",
    GRADIENT,
    "grad_new_old",
    domain="nonnegative",
)
grad_old_new = TABLE.measured(
    "grad_old_new",
    r"\|\nabla F(\tilde w^*)\|",
    "length of the old objective's gradient at the new minimiser",
    GRADIENT,
    "grad_old_new",
    domain="nonnegative",
)
grad_l_old = TABLE.measured(
    "grad_l_old",
    r"\|\nabla F_l(w^*)\|",
    "length of the arriving device's gradient at the old minimiser",
    GRADIENT,
    "grad_l_old",
    domain="nonnegative",
)
grad_l_new = TABLE.measured(
    "grad_l_new",
    r"\|\nabla F_l(\tilde w^*)\|",
    "length of the departing device's gradient at the new minimiser",
    GRADIENT,
    "grad_l_new",
    domain="nonnegative",
)
