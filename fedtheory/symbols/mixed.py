"""Symbols of mixed FL: a federated loss f_f and a central loss f_c, f = f_f + f_c (equation 1).

Letters that the paper uses twice have two names: N counts clients, and movies in appendix C.3
(`movies`); epsilon bounds a loss or a squared gradient (`eps`, `eps_grad`).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from sympy import Rational

from fedtheory.symbol import CURVATURE, GRADIENT, LOSS, PLAIN, SQ_GRADIENT, SQ_POINT, STEP, Table

if TYPE_CHECKING:
    import sympy

TABLE = Table("mixed", constants=dict(beta="L", G="G_bgd", B="B_bgd"))
half = Rational(1, 2)
# What a round's recursion takes off ||x - x*||^2, over mu times the effective step: c of
# `gap_weighted`, the weights of theorems B.1 to B.3
CONTRACTIONS = dict(
    parallel_training=Fraction(1), one_way_gt=Fraction(3, 2), two_way_gt=Fraction(1)
)

# Numbers a user sets
eta = TABLE.positive("eta", r"\eta", "step size of a client", STEP)
eta_s = TABLE.positive("eta_s", r"\eta_s", "step size of the server")
eta_c = TABLE.positive("eta_c", r"\eta_c", "step size of the central steps", STEP)
eta_m = TABLE.positive("eta_m", r"\eta_m", "step size of the merge")
K = TABLE.count("K", "K", "local steps of a client, and central steps")
T = TABLE.count("T", "T", "the last round's number: rounds 0, ..., T are done")
S = TABLE.count("S", "S", "clients in a cohort")
N = TABLE.count("N", "N", "clients")
w_f = TABLE.positive("w_f", "w_f", "influence of the federated loss (definition 4.2)")
w_c = TABLE.positive("w_c", "w_c", "influence of the central loss (definition 4.2)")
eps = TABLE.positive("eps", r"\varepsilon", "error to reach in loss", LOSS)
eps_grad = TABLE.positive(
    "eps_grad", r"\varepsilon", "error to reach in squared gradient", SQ_GRADIENT
)
TABLE.rule(S <= N)

# Constants of a problem
beta = TABLE.positive(
    "beta", r"\beta", "smoothness of every f_i and of f_c (definition D.1)", CURVATURE
)
mu = TABLE.nonnegative(
    "mu", r"\mu", "convexity of every f_i and of f_c (definition D.4)", CURVATURE
)
TABLE.rule(mu <= beta)
G = TABLE.nonnegative("G", "G", "gradient dissimilarity, additive (definition 4.2)", GRADIENT)
B = TABLE.positive("B", "B", "gradient dissimilarity, relative (definition 4.2)")
TABLE.rule(B >= 1)  # no smaller B serves where grad f is large (mixed.def4_2, second line)
sigma = TABLE.nonnegative("sigma", r"\sigma", "noise of a client's gradient (4)", GRADIENT)
sigma_c = TABLE.nonnegative("sigma_c", r"\sigma_c", "noise of the central gradient (6)", GRADIENT)
# f_c sits at index 0; G and B are those of w_f = w_c = 1/2.

# Derived
eta_tilde = TABLE.define(
    "eta_tilde",
    r"\tilde\eta",
    "effective step of a federated round",
    K * eta_s * eta,
    STEP,
    "positive",
)
eta_round = TABLE.define(
    "eta_round",
    r"\hat\eta",
    "effective step of a merged round, K eta_m eta eta_s",
    K * eta_m * eta_s * eta,
    STEP,
    "positive",
)
beta_sum = TABLE.nonnegative(
    "beta_sum", r"\beta_f", "smoothness of f = f_f + f_c itself, at most 2 beta", CURVATURE
)
sigma_f = TABLE.nonnegative(
    "sigma_f", r"\sigma_f", "root mean square of the clients' gradients around grad f_f", GRADIENT
)
noise_one = TABLE.define(
    "noise_one",
    r"\left(\frac{2}{KS}\sigma^2+\sigma_c^2\right)",
    "noise of a 1-way round (lemma D.9)",
    2 * sigma**2 / (K * S) + sigma_c**2,
    SQ_GRADIENT,
)
noise_convex = TABLE.define(
    "noise_convex",
    r"\left(\frac{5\sigma^2}{KS}+3\sigma_c^2\right)",
    "noise and drift of a 1-way round, convex",
    5 * sigma**2 / (K * S) + 3 * sigma_c**2,
    SQ_GRADIENT,
)
noise_nonconvex = TABLE.define(
    "noise_nonconvex",
    r"\left(\frac{3}{KS}\sigma^2+2\sigma_c^2\right)",
    "noise and drift of a 1-way round, not convex",
    3 * sigma**2 / (K * S) + 2 * sigma_c**2,
    SQ_GRADIENT,
)
noise_merged = TABLE.define(
    "noise_merged",
    r"\frac{\sigma^2+S\sigma_c^2}{KS}",
    "noise of a round of two meta-clients",
    (sigma**2 + S * sigma_c**2) / (K * S),
    SQ_GRADIENT,
)
noise_paths = TABLE.define(
    "noise_paths",
    r"\frac{\sigma^2+\sigma_c^2}{K}",
    "noise along single paths: a client's is not averaged over the cohort",
    (sigma**2 + sigma_c**2) / K,
    SQ_GRADIENT,
)

# Measured at the start of a round, and after it
M = TABLE.measured
more = dict(domain="nonnegative")
f_t = M("f_t", r"f(x^{(t)})", "mixed loss before the round", LOSS, "mixed_loss")
f_next = M(
    "f_next",
    r"\mathbb{E}_{|t}[f(x^{(t+1)})]",
    "expected mixed loss after the round",
    LOSS,
    "mixed_loss",
    "t+1",
    "E_t",
)
gap = M(
    "gap",
    r"\left(f(x^{(t)})-f(x^*)\right)",
    "mixed loss above its minimum",
    LOSS,
    "mixed_loss",
    minus="inf",
    **more,
)
sq_grad = M(
    "sq_grad",
    r"\|\nabla f(x^{(t)})\|^2",
    "squared gradient of the mixed loss",
    SQ_GRADIENT,
    "sq_mixed_grad_norm",
    **more,
)
sq_grad_f = M(
    "sq_grad_f",
    r"\|\nabla f_f(x)\|^2",
    "squared gradient of the federated loss",
    SQ_GRADIENT,
    "sq_grad_norm",
    **more,
)
sq_grad_c = M(
    "sq_grad_c",
    r"\|\nabla f_c(x)\|^2",
    "squared gradient of the central loss",
    SQ_GRADIENT,
    "sq_server_grad_norm",
    **more,
)
sq_dist = M(
    "sq_dist",
    r"\|x^{(t)}-x^*\|^2",
    "squared distance to a minimiser of the mixed loss",
    SQ_POINT,
    "sq_mixed_distance",
    **more,
)
sq_dist_next = M(
    "sq_dist_next",
    r"\mathbb{E}_{|t}\|x^{(t+1)}-x^*\|^2",
    "expected squared distance after the round",
    SQ_POINT,
    "sq_mixed_distance",
    "t+1",
    "E_t",
    **more,
)

# Measured on a whole run. The text numbers points from 1 in x^(1), ..., x^(T+1); its recursions
# hold at x^(0), ..., x^(T), which is what is averaged here.
D_sq = M(
    "D_sq",
    "D^2",
    "squared distance of the start to a minimiser",
    SQ_POINT,
    "sq_mixed_distance",
    "0",
    **more,
)
F = M(
    "F",
    "F",
    "mixed loss of the start above its minimum",
    LOSS,
    "mixed_loss",
    "0",
    minus="inf",
    **more,
)
gap_mean = M(
    "gap_mean",
    r"\mathbb{E}[f(\bar x^{(T)})]-f(x^*)",
    "mixed loss, above its minimum, at the mean of x^(0), ..., x^(T)",
    LOSS,
    "mixed_loss_of_mean",
    "T",
    "E",
    "inf",
    **more,
)
gap_weighted = M(
    "gap_weighted",
    r"\mathbb{E}[f(\bar x^{(T)})]-f(x^*)",
    "the same at their mean with weights (1 - c)^(-t), c the contraction of a round",
    LOSS,
    "mixed_loss_of_weighted_mean",
    "T",
    "E",
    "inf",
    **more,
)
gap_decreasing = M(
    "gap_decreasing",
    r"\mathbb{E}[f(\bar x^{(T)})]-f(x^*)",
    "the same at their mean with weights (1 - c)^t, which decrease",
    LOSS,
    "mixed_loss_of_decreasing_mean",
    "T",
    "E",
    "inf",
    **more,
)
mean_gap = M(
    "mean_gap",
    r"\frac{1}{T+1}\sum_{t=0}^{T}\mathbb{E}[f(x^{(t)})]-f(x^*)",
    "mean over x^(0), ..., x^(T) of the expected mixed loss, above its minimum",
    LOSS,
    "mixed_loss",
    "mean_T",
    "E",
    "inf",
    **more,
)
mean_sq_grad = M(
    "mean_sq_grad",
    r"\frac{1}{T+1}\sum_{t=0}^{T}\mathbb{E}\|\nabla f(x^{(t)})\|^2",
    "mean expected squared gradient at x^(0), ..., x^(T)",
    SQ_GRADIENT,
    "sq_mixed_grad_norm",
    "mean_T",
    "E",
    **more,
)
best_sq_grad = M(
    "best_sq_grad",
    r"\min_{t}\mathbb{E}\|\nabla f(x^{(t)})\|^2",
    "least expected squared gradient at x^(0), ..., x^(T)",
    SQ_GRADIENT,
    "sq_mixed_grad_norm",
    "min_T",
    "E",
    **more,
)
rounds = M(
    "rounds",
    "T",
    "rounds from which the expected mixed loss, at the mean of the points, stays within epsilon of its minimum",
    PLAIN,
    "rounds_to_loss_of_mean",
    "T",
    "E",
    **more,
)
rounds_weighted = M(
    "rounds_weighted",
    "T",
    "the same at their mean with the weights of gap_weighted",
    PLAIN,
    "rounds_to_loss_of_weighted_mean",
    "T",
    "E",
    **more,
)
rounds_grad = M(
    "rounds_grad",
    "T",
    "rounds until the expected squared gradient is at most epsilon",
    PLAIN,
    "rounds_to_sq_grad",
    "T",
    "E",
    **more,
)
lag = M(
    "lag",
    r"\mathcal{C}_0",
    "2 ||g_f - grad f_f(x*)||^2 + 2 ||g_c - grad f_c(x*)||^2 of the gradients that are "
    "transferred first",
    SQ_GRADIENT,
    "transfer_lag",
    "0",
    **more,
)


def of_proof(
    name: str,
    latex: str,
    meaning: str,
    unit: Sequence[int],
    domain: str = "nonnegative",
    average: str = "E_t",
) -> "sympy.Symbol":
    """Add to the table a quantity of a round of 1-way gradient transfer, which
    fedtheory.models.mixed.quantities computes, and return its symbol."""
    return M(name, latex, meaning, unit, name, "t+1", average, domain=domain)


# Named in appendix D. Gradients are taken at x_i^(t,0), ..., x_i^(t,K-1) in the listings; (11) and
# (12) number them from 1. `ends` reads (12) by the listing's numbers, as the proofs of D.11 and
# D.13 do.
drift = of_proof(
    "drift",
    r"\mathcal{E}^{(t)}",
    "drift: mean squared distance from x^(t) of the points at which clients take gradients (12)",
    SQ_POINT,
)
ends = of_proof(
    "ends",
    r"\frac{1}{KN}\sum_{i}\sum_{k=1}^K\mathbb{E}_{|t}\|x_i^{(t,k)}-x^{(t)}\|^2",
    "the same over the points after each step",
    SQ_POINT,
)
furthest = of_proof(
    "furthest",
    r"\max_{i,k}\mathbb{E}_{|t}\|x_i^{(t,k)}-x^{(t)}\|^2",
    "the furthest point of a client's steps, in mean square",
    SQ_POINT,
)
sq_move = of_proof(
    "sq_move",
    r"\mathbb{E}_{|t}\|x^{(t+1)}-x^{(t)}\|^2",
    "expected squared move of a round",
    SQ_POINT,
)
term_A = of_proof("term_A", r"\mathcal{A}", "the clients' part of the move (D.9)", SQ_POINT)
term_B = of_proof("term_B", r"\mathcal{B}", "the central part of the move (D.9)", SQ_POINT)
term_C = of_proof(
    "term_C", r"\mathcal{C}", "twice the move along x^(t) - x* (D.10)", SQ_POINT, "real"
)
term_C1 = of_proof("term_C1", r"\mathcal{C}_1", "its central part", SQ_POINT, "real")
term_C2 = of_proof("term_C2", r"\mathcal{C}_2", "its federated part", SQ_POINT, "real")
gap_f = of_proof(
    "gap_f",
    r"\left(f_f(x^{(t)})-f_f(x^*)\right)",
    "change of the federated loss from x* to x^(t)",
    LOSS,
    "real",
    "",
)
gap_c = of_proof(
    "gap_c",
    r"\left(f_c(x^{(t)})-f_c(x^*)\right)",
    "change of the central loss from x* to x^(t)",
    LOSS,
    "real",
    "",
)
change_mean = of_proof(
    "change_mean",
    r"\mathbb{E}_{|t}\|\frac{1}{KS}\sum_{i\in\mathcal S,k}(\nabla f_f(x_i^{(t,k)})"
    r"-\nabla f_f(x^{(t)}))\|^2",
    "squared mean change of the gradients over a cohort",
    SQ_GRADIENT,
)
mean_change = of_proof(
    "mean_change",
    r"\frac{1}{KN}\sum_{i,k}\mathbb{E}_{|t}\|\nabla f_f(x_i^{(t,k)})"
    r"-\nabla f_f(x^{(t)})\|^2",
    "mean squared change of the gradients",
    SQ_GRADIENT,
)
sq_mean_error = of_proof(
    "sq_mean_error",
    r"\|\frac{1}{KN}\sum_{i,k}\mathbb{E}_{|t}\nabla f_f(x_i^{(t,k)})"
    r"+\nabla f_c(x^{(t)})-\nabla f(x^{(t)})\|^2",
    "squared error of the expected direction",
    SQ_GRADIENT,
)
inner_move = of_proof(
    "inner_move",
    r"\mathbb{E}_{|t}\langle\nabla f(x^{(t)}),x^{(t+1)}-x^{(t)}\rangle",
    "first-order change of the mixed loss",
    LOSS,
    "real",
)
sq_augmented = of_proof(
    "sq_augmented",
    r"\mathbb{E}_{|t}\|\nabla f_f(x^{(t)})+g_c(x^{(t)})\|^2",
    "squared direction of the clients at the start",
    SQ_GRADIENT,
)
excess_D11 = of_proof(
    "excess_D11",
    r"\max_{i,k}(\mathbb{E}_{|t}\|x_i^{(t,k)}-x^{(t)}\|^2-\frac{K+1}{K}\mathbb{E}_{|t}"
    r"\|x_i^{(t,k-1)}-x^{(t)}\|^2-2K\eta^2\mathbb{E}_{|t}\|\nabla f_f(x^{(t)})+g_c(x^{(t)})\|^2"
    r"-\eta^2\sigma^2)",
    "the worst step over its recursion in D.11",
    SQ_POINT,
    "real",
)
excess_D13 = of_proof(
    "excess_D13",
    r"\max_{i,k}(\mathbb{E}_{|t}\|x_i^{(t,k)}-x^{(t)}\|^2-(\frac{K+1}{K}+2K\eta^2"
    r"\beta^2)\mathbb{E}_{|t}\|x_i^{(t,k-1)}-x^{(t)}\|^2-4K\eta^2\|\nabla f(x^{(t)})\|^2"
    r"-4K\eta^2\sigma_c^2-\eta^2\sigma^2)",
    "the worst step over its recursion in D.13",
    SQ_POINT,
    "real",
)

# Points x and x* (D.5, D.6)
mean_sq_change = M(
    "mean_sq_change",
    r"\frac1N\sum_i\|\nabla f_i(x)-\nabla f_i(x^*)\|^2",
    "mean squared change of the clients' gradients from x* to x",
    SQ_GRADIENT,
    "mean_sq_change",
    **more,
)
sq_change_f = M(
    "sq_change_f",
    r"\|\frac1N\sum_i(\nabla f_i(x)-\nabla f_i(x^*))\|^2",
    "squared change of the federated gradient",
    SQ_GRADIENT,
    "sq_change_f",
    **more,
)
sq_change_c = M(
    "sq_change_c",
    r"\|\nabla f_c(x)-\nabla f_c(x^*)\|^2",
    "squared change of the central gradient",
    SQ_GRADIENT,
    "sq_change_c",
    **more,
)
excess_D5 = M(
    "excess_D5",
    r"\max_h(\|\nabla\tilde h(x)\|^2/2\beta-\tilde h(x)+\tilde h(x^*))",
    "the worst of the losses f_i and f_c, tilted to be flat at x*, over its bound",
    LOSS,
    "excess_D5",
)

# One function h and points x, y, z (D.7, D.8)
inner_zy = M(
    "inner_zy", r"\langle\nabla h(x),z-y\rangle", "first-order change from y to z", LOSS, "inner_zy"
)
inner_zx = M(
    "inner_zx", r"\langle\nabla h(x),z-x\rangle", "first-order change from x to z", LOSS, "inner_zx"
)
inner_xy = M(
    "inner_xy", r"\langle\nabla h(x),x-y\rangle", "first-order change from y to x", LOSS, "inner_xy"
)
h_x = M("h_x", "h(x)", "a function at x", LOSS, "h_x")
h_y = M("h_y", "h(y)", "a function at y", LOSS, "h_y")
h_z = M("h_z", "h(z)", "a function at z", LOSS, "h_z")
sq_yz = M("sq_yz", r"\|y-z\|^2", "squared distance of y and z", SQ_POINT, "sq_yz", **more)
sq_zx = M("sq_zx", r"\|z-x\|^2", "squared distance of z and x", SQ_POINT, "sq_zx", **more)
sq_xy = M("sq_xy", r"\|x-y\|^2", "squared distance of x and y", SQ_POINT, "sq_xy", **more)
sq_map = M(
    "sq_map",
    r"\|x-\eta\nabla h(x)-y+\eta\nabla h(y)\|^2",
    "squared distance after a gradient step each",
    SQ_POINT,
    "sq_map",
    **more,
)
inner_change = M(
    "inner_change",
    r"\langle\nabla h(x)-\nabla h(y),x-y\rangle",
    "change of the gradient along x - y",
    LOSS,
    "inner_change",
)

# Vectors and random variables (D.2, D.3)
tau = TABLE.count("tau", r"\tau", "how many vectors")
a = TABLE.positive("a", "a", "how a square is split")
spread = TABLE.nonnegative("spread", r"\sigma", "bound on the standard deviation of each variable")
sq_pair = M("sq_pair", r"\|v_i+v_j\|^2", "squared norm of a sum of two", PLAIN, "sq_pair", **more)
sq_i = M("sq_i", r"\|v_i\|^2", "squared norm of the first", PLAIN, "sq_i", **more)
sq_j = M("sq_j", r"\|v_j\|^2", "squared norm of the second", PLAIN, "sq_j", **more)
sq_cross = M(
    "sq_cross", r"\|\sqrt{a}v_i+v_j/\sqrt{a}\|^2", "what the split loses", PLAIN, "sq_cross", **more
)
sq_sum = M("sq_sum", r"\|\sum_{i=1}^\tau v_i\|^2", "squared norm of a sum", PLAIN, "sq_sum", **more)
sum_sq = M("sum_sq", r"\sum_{i=1}^\tau\|v_i\|^2", "sum of squared norms", PLAIN, "sum_sq", **more)
E_sq_sum = M(
    "E_sq_sum",
    r"\mathbb{E}\|\sum_{i=1}^\tau\Xi_i\|^2",
    "expected squared norm of a sum",
    PLAIN,
    "sq_sum",
    average="E",
    **more,
)
sq_sum_means = M(
    "sq_sum_means",
    r"\|\sum_{i=1}^\tau\xi_i\|^2",
    "squared norm of the sum of means",
    PLAIN,
    "sq_sum_means",
    **more,
)
E_sq_sum_means = M(
    "E_sq_sum_means",
    r"\mathbb{E}\|\sum_{i=1}^\tau\xi_i\|^2",
    "expected squared norm of the sum of conditional means",
    PLAIN,
    "sq_sum_means",
    average="E",
    **more,
)
E_sq_sum_errors = M(
    "E_sq_sum_errors",
    r"\mathbb{E}\|\sum_{i=1}^\tau(\Xi_i-\xi_i)\|^2",
    "expected squared norm of the summed deviations",
    PLAIN,
    "sq_sum_errors",
    average="E",
    **more,
)

# Sampled gradients (5), (7)
cohort_error = M(
    "cohort_error",
    r"\mathbb{E}\|g_f(x)-\nabla f_f(x)\|^2",
    "variance of a cohort's mean gradient",
    SQ_GRADIENT,
    "cohort_error",
    average="E",
    **more,
)
sq_seen_f = M(
    "sq_seen_f",
    r"\|\tilde\nabla f_f^t\|^2",
    "squared sampled federated gradient",
    SQ_GRADIENT,
    "sq_seen_f",
    **more,
)
sq_seen_c = M(
    "sq_seen_c",
    r"\|\tilde\nabla f_c^t\|^2",
    "squared sampled central gradient",
    SQ_GRADIENT,
    "sq_seen_c",
    **more,
)
sq_seen = M(
    "sq_seen",
    r"\|\tilde\nabla f^t\|^2",
    "squared sum of both sampled gradients",
    SQ_GRADIENT,
    "sq_seen",
    **more,
)
G_t_sq = M(
    "G_t_sq",
    r"\tilde G_t^2",
    "what definition 4.2 would need for G^2 at x^(t) if B = 1",
    SQ_GRADIENT,
    "G_t_sq",
)
B_t_sq = M(
    "B_t_sq",
    r"\tilde B_t^2",
    "what definition 4.2 would need for B^2 at x^(t) if G = 0",
    PLAIN,
    "B_t_sq",
)

# Gradients recovered from deltas (8), (9), (10): squared distance of the formula from the mean of
# the gradients
miss_8 = M(
    "miss_8",
    r"\|-\Delta_i^{(t)}/(\eta K_i)-\frac{1}{K_i}\sum_k(g_i+\tilde g_c^{(t)})\|^2",
    "how far (8) is from the mean gradient that client i applied",
    SQ_GRADIENT,
    "miss_8",
    **more,
)
miss_9 = M(
    "miss_9",
    r"\|-\Delta_i^{(t)}/(\eta K_i)-\tilde g_c^{(t)}-\frac{1}{K_i}\sum_k g_i\|^2",
    "how far (9) is from client i's own mean gradient",
    SQ_GRADIENT,
    "miss_9",
    **more,
)
miss_10 = M(
    "miss_10",
    r"\|-\sum_i\Delta_i^{(t)}/(\eta\sum_i K_i)-\tilde g_c^{(t)}-\sum_i K_i\bar g_i^{(t)}/"
    r"\sum_i K_i\|^2",
    "how far (10) is from the cohort's mean gradient, weighted by steps",
    SQ_GRADIENT,
    "miss_10",
    **more,
)
sq_transferred = M(
    "sq_transferred",
    r"\|\tilde g_c^{(t)}\|^2",
    "squared gradient that was transferred to clients",
    SQ_GRADIENT,
    "sq_transferred",
    **more,
)
sq_applied = M(
    "sq_applied",
    r"\|\frac{1}{K_i}\sum_k(g_i+\tilde g_c^{(t)})\|^2",
    "squared mean gradient of a client",
    SQ_GRADIENT,
    "sq_applied",
    **more,
)

# Costs of the movie recommender (appendix C.3)
movies = TABLE.count("movies", "N", "movies in the vocabulary")
dim = TABLE.count("dim", "d", "embedding dimension")
local_movies = TABLE.count(
    "local_movies", "n", "movies in a client's data of one round, on average"
)
batch = TABLE.count("batch", "B_i", "examples in a batch")
comp_base = M(
    "comp_base",
    r"\mathrm{comp}_{\mathrm{baseline}}",
    "operations of the regulariser in a round, computed on a client's device",
    PLAIN,
    "comp_base",
    **more,
)
comp_mixed = M(
    "comp_mixed",
    r"\mathrm{comp}_{\mathrm{mixed}}",
    "the same, computed once at the server",
    PLAIN,
    "comp_mixed",
    **more,
)
comm_base = M(
    "comm_base",
    r"\mathrm{comm}_{\mathrm{baseline}}",
    "numbers sent between server and a client in a round",
    PLAIN,
    "comm_base",
    **more,
)
comm_pt = M(
    "comm_pt",
    r"\mathrm{comm}_{\mathrm{PT}}",
    "the same under parallel training",
    PLAIN,
    "comm_pt",
    **more,
)
comm_gt = M(
    "comm_gt",
    r"\mathrm{comm}_{\mathrm{GT}}",
    "the same under gradient transfer",
    PLAIN,
    "comm_gt",
    **more,
)

# A second value of a letter, for sentences that say what increases or decreases
K_more = TABLE.count("K_more", "K'", "more local steps")
B_more = TABLE.positive("B_more", "B'", "a larger relative dissimilarity")
