"""Symbols of federated learning with server learning (the long paper; the short one uses a part of
them)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sympy import Eq, Max, Piecewise, Rational

from fedtheory.symbol import CURVATURE, GRADIENT, LOSS, PLAIN, SQ_GRADIENT, SQ_POINT, STEP, Table

if TYPE_CHECKING:
    import sympy

TABLE = Table("fsl")

# Numbers a user sets
eta_l = TABLE.positive("eta_l", r"\eta_l", "step size of a client", STEP)
eta_g = TABLE.positive("eta_g", r"\eta_g", "aggregation step")
eta_0 = TABLE.positive("eta_0", r"\eta_0", "step size of the server, before its weight gamma", STEP)
gamma = TABLE.nonnegative("gamma", r"\gamma", "weight of the server's loss")
K = TABLE.count("K", "K", "local steps of a client")
K_0 = TABLE.count("K_0", "K_0", "local steps of the server")
T = TABLE.count("T", "T", "rounds")
S = TABLE.count("S", "S", "clients in a cohort")
N = TABLE.count("N", "N", "clients")
TABLE.rule(S <= N)

# Constants of a problem
L = TABLE.positive("L", "L", "smoothness of every loss", CURVATURE)
mu = TABLE.nonnegative("mu", r"\mu", "strong convexity", CURVATURE)
G = TABLE.nonnegative("G", "G", "dissimilarity of the clients' gradients (assumption 2)", GRADIENT)
xi_bar = TABLE.nonnegative(
    "xi_bar", r"\bar{\xi}", "dissimilarity of the server's gradient (assumption 3)", GRADIENT
)
sigma = TABLE.nonnegative(
    "sigma", r"\sigma", "noise of a client's gradient (assumption 4)", GRADIENT
)
sigma_0 = TABLE.nonnegative(
    "sigma_0", r"\sigma_0", "noise of the server's gradient (assumption 4)", GRADIENT
)
n = TABLE.count("n", "n", "training samples of all clients")
n_0 = TABLE.count("n_0", "n_0", "samples of the server")

# Derived
half = Rational(1, 2)
rho_s = TABLE.define(
    "rho_s",
    r"\rho_s",
    "what sampling S of N clients without replacement leaves of the variance",
    Piecewise((0, Eq(N, 1)), ((N - S) / (N - 1), True)),
)
tau_s = TABLE.define("tau_s", r"\tau_s", "the same per cohort member", rho_s / S)
u = TABLE.define("u", "u", "the server's effective step in a round", K_0 * eta_0, STEP, "positive")
Psi = TABLE.define(
    "Psi",
    r"\Psi",
    "noise of one round",
    gamma**2 * sigma_0**2 / K_0 + sigma**2 / (K * S) + rho_s * G**2 / S,
    SQ_GRADIENT,
)
kappa = TABLE.define(
    "kappa",
    r"\kappa",
    "weight of the drift",
    Max(4 * gamma**3, 2 / eta_g**2 + 3 * gamma**2),
    domain="positive",
)
Phi = TABLE.define(
    "Phi",
    r"\Phi",
    "what drift adds to the noise",
    gamma**2 * Psi
    + 2 * gamma**2 / S * (sigma**2 / K + rho_s * G**2)
    + (2 * G**2 + sigma**2 / K) / eta_g**2,
    SQ_GRADIENT,
)
phi = TABLE.define(
    "phi",
    r"\phi",
    "the part of Phi without the server's noise",
    3 * gamma**2 / S * (rho_s * G**2 + sigma**2 / K) + (2 * G**2 + sigma**2 / K) / eta_g**2,
    SQ_GRADIENT,
)
h = TABLE.define(
    "h",
    "h",
    "progress per unit of effective step",
    gamma
    + half
    - K_0 * eta_0 * L * (1 + gamma) / 2 * (3 * gamma + 3 + 16 * kappa * K_0 * eta_0 * L),
    domain="real",
)
G_2 = TABLE.define(
    "G_2",
    "G_2",
    "noise of one round, in (24)",
    3 * gamma**2 * sigma_0**2 / K_0 + 9 * sigma**2 / (2 * K * S) + 9 * rho_s * G**2 / (2 * S),
    SQ_GRADIENT,
)
G_3 = TABLE.define(
    "G_3",
    "G_3",
    "noise in the server's drift (27)",
    sigma**2 / (K * S) + rho_s * G**2 / S + gamma**2 * sigma_0**2 / (3 * K_0),
    SQ_GRADIENT,
)
G_4 = TABLE.define(
    "G_4",
    "G_4",
    "noise in both drifts",
    3 * gamma**2 * G_3 + (2 * G**2 + sigma**2 / K) / eta_g**2,
    SQ_GRADIENT,
)
M_sq = TABLE.define(
    "M_sq",
    "M^2",
    "noise of corollary 1",
    gamma**2 * sigma_0**2 * S + sigma**2 + rho_s * K * G**2,
    SQ_GRADIENT,
)
G_tilde_sq = TABLE.define(
    "G_tilde_sq",
    r"\tilde{G}^2",
    "noise of corollary 2 (b)",
    gamma**2 * sigma_0**2 * S / K_0 + sigma**2 / K + rho_s * G**2,
    SQ_GRADIENT,
)
G_tilde = TABLE.define(
    "G_tilde",
    r"\tilde{G}",
    "noise of the clients, appendix A-F",
    sigma**2 / (K * S) + rho_s * G**2 / S,
    SQ_GRADIENT,
)
alpha = TABLE.define(
    "alpha", r"\alpha", "the server's step size in algorithm 1", eta_0 * gamma, STEP
)

# Constants behind the Thetas of the corollaries: K_0 eta_0 = c times its shape, eta_g = a sqrt(S),
# K_0 >= b K. The shapes differ in unit, hence three constants c.
c = TABLE.positive("c", "c", "constant of K_0 eta_0 L = c / gamma^2")
c_a = TABLE.positive("c_a", "c", "constant of K_0 eta_0 = c / ((gamma + 1) sqrt(T))", STEP)
c_b = TABLE.positive(
    "c_b",
    "c",
    "constant of K_0 eta_0 = c sqrt(S) / (sqrt(L T) (gamma + 1)), K S for S in (c)",
    (1, -half),
)
a = TABLE.positive("a", "a", "constant of eta_g = a sqrt(S)")
b = TABLE.positive("b", "b", "constant of K_0 >= b K")

# Measured, at the server point x_t of a round and after it
tilde_F_t = TABLE.measured(
    "tilde_F_t", r"\tilde F(x_t)", "the modified loss before the round", LOSS, "tilde_loss"
)
tilde_F_next = TABLE.measured(
    "tilde_F_next",
    r"\mathbb{E}_t[\tilde F(x_{t+1})]",
    "expected modified loss after the round",
    LOSS,
    "tilde_loss",
    "t+1",
    "E_t",
)
tilde_D_0 = TABLE.measured(
    "tilde_D_0",
    r"\tilde D_0",
    "modified loss at the start, above its infimum",
    LOSS,
    "tilde_loss",
    "0",
    minus="inf",
    domain="nonnegative",
)
E_T = TABLE.measured(
    "E_T",
    r"\mathcal{E}_T",
    "least expected squared gradient of the modified loss over T rounds",
    SQ_GRADIENT,
    "sq_tilde_grad_norm",
    "min",
    "E",
    domain="nonnegative",
)
tilde_F_0 = TABLE.measured(
    "tilde_F_0", r"\tilde F(x_0)", "the modified loss at the start", LOSS, "tilde_loss", "0"
)
tilde_F_T = TABLE.measured(
    "tilde_F_T",
    r"\mathbb{E}[\tilde F(x_T)]",
    "expected modified loss after T rounds",
    LOSS,
    "tilde_loss",
    "T",
    "E",
)
mean_sq_tilde_grad = TABLE.measured(
    "mean_sq_tilde_grad",
    r"\frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla\tilde F(x_t)\|^2",
    "mean over T rounds of the expected squared gradient of the modified loss",
    SQ_GRADIENT,
    "sq_tilde_grad_norm",
    "mean",
    "E",
    domain="nonnegative",
)
mean_sq_grad = TABLE.measured(
    "mean_sq_grad",
    r"\frac1T\sum_{t=0}^{T-1}\mathbb{E}\|\nabla F(x_t)\|^2",
    "mean over T rounds of the expected squared gradient of the clients' loss",
    SQ_GRADIENT,
    "sq_grad_norm",
    "mean",
    "E",
    domain="nonnegative",
)
L_tilde = TABLE.measured(
    "L_tilde",
    r"\tilde L",
    "smoothness of the modified loss itself, at most L",
    CURVATURE,
    "tilde_smoothness",
    domain="nonnegative",
)
F_after = TABLE.measured(
    "F_after",
    r"\mathbb{E}_t[F(x_{t+1})]",
    "expected loss of the clients after the round",
    LOSS,
    "loss",
    "t+1",
    "E_t",
)
best_sq_grad = TABLE.measured(
    "best_sq_grad",
    r"\min_{t\le T-1}\mathbb{E}\|\nabla F(x_t)\|^2",
    "least expected squared gradient of the clients' loss over T rounds",
    SQ_GRADIENT,
    "sq_grad_norm",
    "min",
    "E",
    domain="nonnegative",
)
sq_tilde_grad = TABLE.measured(
    "sq_tilde_grad",
    r"\|\nabla\tilde F(x_t)\|^2",
    "squared gradient of the modified loss",
    SQ_GRADIENT,
    "sq_tilde_grad_norm",
    domain="nonnegative",
)
sq_grad = TABLE.measured(
    "sq_grad",
    r"\|\nabla F(x_t)\|^2",
    "squared gradient of the clients' loss",
    SQ_GRADIENT,
    "sq_grad_norm",
    domain="nonnegative",
)
sq_server_grad = TABLE.measured(
    "sq_server_grad",
    r"\|\nabla f_0(x_t)\|^2",
    "squared gradient of the server's loss",
    SQ_GRADIENT,
    "sq_server_grad_norm",
    domain="nonnegative",
)
grad_inner = TABLE.measured(
    "grad_inner",
    r"\langle\nabla F(x_t),\nabla f_0(x_t)\rangle",
    "inner product of both",
    SQ_GRADIENT,
    "grad_inner",
)
sq_xi = TABLE.measured(
    "sq_xi",
    r"\xi^2(x_t)",
    "squared difference of both gradients",
    SQ_GRADIENT,
    "sq_xi",
    domain="nonnegative",
)
sq_dissimilar = TABLE.measured(
    "sq_dissimilar",
    r"\frac1N\sum_{i\in[N]}\|\nabla f_i(x_t)-\nabla F(x_t)\|^2",
    "dissimilarity of the clients' gradients at x_t itself, squared",
    SQ_GRADIENT,
    "sq_dissimilarity",
    domain="nonnegative",
)
E_c = TABLE.measured(
    "E_c",
    r"E_t^{(c)}",
    "drift of the clients in a round",
    SQ_POINT,
    "client_drift",
    "t+1",
    "E_t",
    domain="nonnegative",
)
E_0 = TABLE.measured(
    "E_0",
    r"E_t^{(0)}",
    "drift of the server in a round",
    SQ_POINT,
    "server_drift",
    "t+1",
    "E_t",
    domain="nonnegative",
)


def of_proof(
    name: str,
    latex: str,
    meaning: str,
    unit: Sequence[int],
    domain: str = "nonnegative",
    average: str = "E_t",
) -> "sympy.Symbol":
    """Add to the table a quantity of the proof, which fedtheory.models.fsl.quantities computes, and
    return its symbol."""
    return TABLE.measured(name, latex, meaning, unit, name, "t+1", average, domain=domain)


# Named in the proof of theorem 1
T_1 = of_proof("T_1", "T_1", "first-order change of the modified loss", LOSS, "real")
T_2 = of_proof("T_2", "T_2", "half the expected squared move", SQ_POINT)
T_3 = of_proof("T_3", "T_3", "error of the first-order change", LOSS, "real")
T_4 = of_proof("T_4", "T_4", "squared error of the server's mean gradient", SQ_GRADIENT)
T_4a = of_proof("T_4a", "T_{4a}", "its noise", SQ_GRADIENT)
T_4b = of_proof("T_4b", "T_{4b}", "its drift", SQ_GRADIENT)
T_5 = of_proof(
    "T_5", "T_5", "squared error of the clients' mean gradient, times 3 in (20)", SQ_GRADIENT
)
T_5a = of_proof("T_5a", "T_{5a}", "its noise", SQ_GRADIENT)
T_5b = of_proof("T_5b", "T_{5b}", "its drift", SQ_GRADIENT)
T_5c = of_proof("T_5c", "T_{5c}", "its sampling error", SQ_GRADIENT)
T_6 = of_proof("T_6", "T_6", "both drifts, weighed", SQ_POINT)
T_7 = of_proof("T_7", "T_7", "the clients' drift with its share in the server's", SQ_POINT)
drift_grad_0 = of_proof(
    "drift_grad_0",
    r"\mathbb{E}_t\sum_{k\in[K_0]}\|\nabla f_0(x_t)-\nabla f_0(w_{t,k-1})\|^2",
    "change of the server's gradient over its steps",
    SQ_GRADIENT,
)
drift_grad_c = of_proof(
    "drift_grad_c",
    r"\frac1N\mathbb{E}_t\sum_{i,k}\|\nabla f_i(x_t)-\nabla f_i(x_{t,k-1}^{(i)})\|^2",
    "change of the clients' gradients over their steps",
    SQ_GRADIENT,
)
sq_move_bar = of_proof(
    "sq_move_bar", r"\mathbb{E}_t\|x_t-\bar x_t\|^2", "squared move by aggregation", SQ_POINT
)
inner_drift_0 = of_proof(
    "inner_drift_0",
    r"\mathbb{E}_t\frac1{K_0}\sum_{k\in[K_0]}\|w_{t,k-1}-w_{t,0}\|^2",
    "drift of the server's points from its own start",
    SQ_POINT,
)
sq_server_grad_bar = of_proof(
    "sq_server_grad_bar",
    r"\mathbb{E}_t\|\nabla f_0(\bar x_t)\|^2",
    "squared gradient of the server's loss after aggregation",
    SQ_GRADIENT,
)
sq_mean_17 = of_proof(
    "sq_mean_17",
    r"\mathbb{E}_t\|\frac{\sum_k\gamma g_{t,k-1}^{(0)}}{K_0}+\frac{\sum_k\sum_{i\in\mathcal{S}}g_{t,k-1}^{(i)}}{KS}\|^2",
    "squared length of the mean estimates, the server's and the cohort's, in (17)",
    SQ_GRADIENT,
)
T_3_mean = of_proof(
    "T_3_mean",
    r"\mathbb{E}_t\langle\nabla\tilde F(x_t),\frac{\sum_{i,k}(\nabla f_i(x_t)"
    r"-\nabla f_i(x_{t,k-1}^{(i)}))}{KN}+\frac{\sum_k\gamma(\nabla f_0(x_t)-\nabla f_0(w_{t,k-1}))}{K_0}\rangle",
    "the same by gradients of all clients in the place of the cohort's estimates",
    SQ_GRADIENT,
    "real",
)
excess_step_29 = of_proof(
    "excess_step_29",
    r"\max_{i,k}\left(\mathbb{E}\|x_k^{(i)}-x\|^2-(1+\tfrac{1.125}{K-1})\mathbb{E}\|x_{k-1}^{(i)}-x\|^2"
    r"-\eta_l^2(2K\|\nabla f_i(x)\|^2+\sigma^2)\right)",
    "the worst client's drift after a step over its bound by the drift before",
    SQ_POINT,
    "real",
)
excess_29 = of_proof(
    "excess_29",
    r"\max_{i,k}\left(\mathbb{E}\|x_k^{(i)}-x\|^2"
    r"-1.85K\eta_l^2(2K\|\nabla f_i(x)\|^2+\sigma^2)\right)",
    "the worst client's drift over its bound",
    SQ_POINT,
    "real",
)

# Points of section III-A: w_0 and w_1 = w_0 - eta_0 grad f_0(w_0), exact gradients
F_w0 = TABLE.measured("F_w0", "F(w_0)", "loss before the server's step", LOSS, "F_w0")
F_w1 = TABLE.measured("F_w1", "F(w_1)", "loss after the server's step", LOSS, "F_w1")
a_w0 = TABLE.measured(
    "a_w0",
    r"\|\nabla F(w_0)\|^2",
    "squared gradient of F at w_0",
    SQ_GRADIENT,
    "a_w0",
    domain="nonnegative",
)
b_w0 = TABLE.measured(
    "b_w0",
    r"\|\nabla f_0(w_0)\|^2",
    "squared gradient of f_0 at w_0",
    SQ_GRADIENT,
    "b_w0",
    domain="nonnegative",
)
inner_w0 = TABLE.measured(
    "inner_w0",
    r"\langle\nabla F(w_0),\nabla f_0(w_0)\rangle",
    "inner product of both at w_0",
    SQ_GRADIENT,
    "inner_w0",
)
inner_move = TABLE.measured(
    "inner_move",
    r"\langle\nabla F(w_0),w_1-w_0\rangle",
    "first-order change over the step",
    LOSS,
    "inner_move",
)
sq_move = TABLE.measured(
    "sq_move",
    r"\|w_1-w_0\|^2",
    "squared length of the server's step",
    SQ_POINT,
    "sq_move",
    domain="nonnegative",
)
xi_w0 = TABLE.measured(
    "xi_w0",
    r"\|\nabla F(w_0)-\nabla f_0(w_0)\|^2",
    "squared difference of the gradients at w_0",
    SQ_GRADIENT,
    "xi_w0",
    domain="nonnegative",
)
F_bar = TABLE.measured("F_bar", r"F(\bar x_t)", "loss after aggregation", LOSS, "F_bar")
F_next = TABLE.measured("F_next", "F(x_{t+1})", "loss after the round", LOSS, "F_next")
sum_a = TABLE.measured(
    "sum_a",
    r"\sum_{k=0}^{K_0-1}\|\nabla F(w_{t,k})\|^2",
    "squared gradients of F on the path",
    SQ_GRADIENT,
    "sum_a",
    domain="nonnegative",
)
sum_b = TABLE.measured(
    "sum_b",
    r"\sum_{k=0}^{K_0-1}\|\nabla f_0(w_{t,k})\|^2",
    "squared gradients of f_0 on the server's path",
    SQ_GRADIENT,
    "sum_b",
    domain="nonnegative",
)
sum_xi = TABLE.measured(
    "sum_xi",
    r"\sum_{k=0}^{K_0-1}\|\nabla F(w_{t,k})-\nabla f_0(w_{t,k})\|^2",
    "squared differences of the gradients on the server's path",
    SQ_GRADIENT,
    "sum_xi",
    domain="nonnegative",
)

# Data sharing and sampling
F_shared = TABLE.measured("F_shared", "F'(x)", "loss that data sharing minimises", LOSS, "F_shared")
F_x = TABLE.measured("F_x", "F(x)", "the clients' loss", LOSS, "loss")
f_0_x = TABLE.measured("f_0_x", "f_0(x)", "the server's loss", LOSS, "server_loss")
sampled_xi = TABLE.measured(
    "sampled_xi",
    r"\mathbb{E}_{\mathcal{D}_0}\|\nabla f_0(x)-\nabla F(x)\|^2",
    "expected dissimilarity of a server whose samples are drawn from the clients'",
    SQ_GRADIENT,
    "sampled_xi",
    domain="nonnegative",
)
population = TABLE.measured(
    "population",
    r"\tilde\sigma_0^2(x)",
    "variance of the samples' gradients",
    SQ_GRADIENT,
    "population",
    domain="nonnegative",
)

# Pre-training (third remark after corollary 1)
D_0 = TABLE.measured(
    "D_0", "D_0", r"F at the start above F at the minimiser of the modified loss", LOSS, "D_0"
)
f_0_start = TABLE.measured(
    "f_0_start", "f_0(x_0)", "the server's loss at the start", LOSS, "server_loss", "0"
)
f_0_star = TABLE.measured(
    "f_0_star",
    r"f_0(\tilde x^*)",
    "the server's loss at the modified loss's minimiser",
    LOSS,
    "f_0_star",
)

# Lemmas 1 and 2: any vectors
sq_sum = TABLE.measured(
    "sq_sum",
    r"\|\sum_{i=1}^m v_i\|^2",
    "squared norm of a sum",
    PLAIN,
    "sq_sum",
    domain="nonnegative",
)
sum_sq = TABLE.measured(
    "sum_sq",
    r"\sum_{i=1}^m\|v_i\|^2",
    "sum of squared norms",
    PLAIN,
    "sum_sq",
    domain="nonnegative",
)
sq_pair = TABLE.measured(
    "sq_pair",
    r"\|v_i+v_j\|^2",
    "squared norm of a sum of two",
    PLAIN,
    "sq_pair",
    domain="nonnegative",
)
sq_i = TABLE.measured(
    "sq_i", r"\|v_i\|^2", "squared norm of the first", PLAIN, "sq_i", domain="nonnegative"
)
sq_j = TABLE.measured(
    "sq_j", r"\|v_j\|^2", "squared norm of the second", PLAIN, "sq_j", domain="nonnegative"
)
E_sq_sum = TABLE.measured(
    "E_sq_sum",
    r"\mathbb{E}\|\sum_{i=1}^m z_i\|^2",
    "expected squared norm of a sum",
    PLAIN,
    "sq_sum",
    average="E",
    domain="nonnegative",
)
E_sum_sq = TABLE.measured(
    "E_sum_sq",
    r"\mathbb{E}\sum_{i=1}^m\|z_i\|^2",
    "expected sum of squared norms",
    PLAIN,
    "sum_sq",
    average="E",
    domain="nonnegative",
)
m = TABLE.count("m", "m", "how many vectors")
a_split = TABLE.positive("a_split", "a", "how a square is split")
eta_g_more = TABLE.positive("eta_g_more", r"\eta_g'", "a larger aggregation step")

# A second value of a letter, for sentences that say what increases or decreases
gamma_more = TABLE.nonnegative("gamma_more", r"\gamma'", "a larger weight of the server's loss")
K_more = TABLE.count("K_more", "K'", "more local steps of a client")
S_more = TABLE.count("S_more", "S'", "a larger cohort")
