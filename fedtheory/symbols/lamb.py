"""Symbols of FED-LAMB (lamb). A step moves a layer by alpha phi(||theta||); alpha has the unit of a
point, phi none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sympy import sqrt

from fedtheory.symbol import CURVATURE, GRADIENT, LOSS, PLAIN, POINT, SQ_GRADIENT, SQ_POINT, Table

if TYPE_CHECKING:
    import sympy

TABLE = Table(
    "lamb",
    constants=dict(L_l="L", L_bar="L", sigma="sigma_coordinate"),
    run=dict(R="rounds", n="N", h="layers", p="d", v_0="epsilon"),
)

# Numbers a user sets
alpha = TABLE.positive("alpha", r"\alpha", "learning rate", POINT)
alpha_r = TABLE.positive(
    "alpha_r", r"\alpha_r", "learning rate of round r, where it may decrease", POINT
)
beta_1 = TABLE.nonnegative("beta_1", r"\beta_1", "decay of the first moment")
beta_2 = TABLE.nonnegative("beta_2", r"\beta_2", "decay of the second moment")
lambda_ = TABLE.nonnegative("lambda_", r"\lambda", "weight decay")
T = TABLE.count("T", "T", "local steps of a client")
R = TABLE.count("R", "R", "rounds")
tau = TABLE.count("tau", r"\tau", "iterations")
n = TABLE.count("n", "n", "clients")
h = TABLE.count("h", r"\mathsf{h}", "layers of the network")
p = TABLE.count("p", "p", "dimension: coordinates of all layers")
v_0 = TABLE.positive(
    "v_0", "v_0", "the second moment that algorithm 1 starts with, its epsilon", SQ_GRADIENT
)
TABLE.rule(beta_1 < 1, beta_2 < 1, h <= p)

# Constants of a problem
L_l = TABLE.positive(
    "L_l",
    r"L_\ell",
    "smoothness of a layer (H1); of the least smooth one where the text leaves l free",
    CURVATURE,
)
L_bar = TABLE.positive(
    "L_bar",
    r"\overline{L}",
    "smoothness over layers, not defined in the text: the largest L_l",
    CURVATURE,
)
M = TABLE.positive("M", "M", "bound of the stochastic gradient's norm (H2)", GRADIENT)
sigma = TABLE.nonnegative(
    "sigma", r"\sigma", "noise of one coordinate of a stochastic gradient (H3)", GRADIENT
)
phi_m = TABLE.positive("phi_m", r"\phi_m", "least scale of a layer's step (H4)")
phi_M = TABLE.positive("phi_M", r"\phi_M", "largest scale of a layer's step (H4)")
cst = TABLE.some("cst", r"\mathrm{cst.}", "a constant that the text leaves open", GRADIENT)
a = TABLE.positive("a", "a", "constant of alpha = a / sqrt(h R)", POINT)
TABLE.rule(phi_m <= phi_M, L_l <= L_bar)

# Terms of the bounds
drift = TABLE.define(
    "drift",
    r"\frac{\alpha^2L_\ell}{\sqrt{v_0}}M^2(T-1)^2\phi_M^2(1-\beta_2)p",
    "drift over local steps",
    alpha**2 * L_l / sqrt(v_0) * M**2 * (T - 1) ** 2 * phi_M**2 * (1 - beta_2) * p,
    (-1, 2),
)
bracket = TABLE.define(
    "bracket",
    "[B]",
    "the square bracket of (4): drift, gradients, scales and noise",
    drift
    + M**2 / sqrt(v_0)
    + phi_M**2 * sqrt(M**2 + p * sigma**2)
    + phi_M * h * sigma**2 / sqrt(n),
    GRADIENT,
)
momentum = TABLE.define(
    "momentum",
    "[M]",
    "what momentum adds to the smoothness term",
    2 * alpha**2 * L_l * p * phi_M**2 / sqrt(v_0) * beta_1**2 / (1 - beta_1) ** 2,
    POINT,
)
rest = TABLE.define(
    "rest",
    "[R]",
    "what the last display of the proof has besides (4): the terms behind cst",
    alpha * beta_1 / (1 - beta_1) * sqrt((1 - beta_2) * p) * h * M**2 / sqrt(v_0)
    + L_bar * alpha**2 * M**2 * phi_M**2 * (1 - beta_2) * p / (T * v_0)
    + L_bar * beta_1**2 * h * (1 - beta_2) * M**2 * phi_M**2 * n / (2 * (1 - beta_1) ** 2 * v_0)
    + alpha * momentum,
    GRADIENT,
    "real",
)

# Measured: theta_bar_r the mean of the local models, vartheta the point (8), v = v-hat of the
# server
gap_sq = TABLE.measured(
    "gap_sq",
    r"\|\overline{\theta_r}-\theta_{r,i}\|^2",
    "squared distance of the farthest local model from the mean",
    SQ_POINT,
    "gap_sq",
    domain="nonnegative",
)
avg_grad_by_v = TABLE.measured(
    "avg_grad_by_v",
    r"\|\overline{\nabla}f(\theta_r)/\sqrt{v_r^t}\|^2",
    "squared mean of the gradients at the local models, coordinates scaled by 1/sqrt(v)",
    PLAIN,
    "avg_grad_by_v",
    domain="nonnegative",
)
grad_by_v = TABLE.measured(
    "grad_by_v",
    r"\|\nabla f(\overline{\theta_r})/\sqrt{v_r^t}\|^2",
    "squared gradient at the mean model, coordinates scaled by 1/sqrt(v)",
    PLAIN,
    "grad_by_v",
    domain="nonnegative",
)
f_excess = TABLE.measured(
    "f_excess",
    r"(\mathbb{E}[f(\overline{\theta_1})]-\min_\theta f(\theta))",
    "loss after the first round, above its minimum",
    LOSS,
    "loss",
    "1",
    "E",
    "inf",
    domain="nonnegative",
)
f_excess_t = TABLE.measured(
    "f_excess_t",
    r"(\mathbb{E}[f(\overline{\theta_1})]-\min_\theta f(\theta))",
    "loss after the first iteration, above its minimum",
    LOSS,
    "loss_of_iteration",
    "1",
    "E",
    "inf",
    domain="nonnegative",
)
mean_sq = TABLE.measured(
    "mean_sq",
    r"\frac{1}{R}\sum_{r=1}^R\mathbb{E}\|\nabla f(\overline{\theta_r})/\hat v_r^{1/4}\|^2",
    "mean over rounds of the squared gradient, coordinates scaled by v^(-1/4)",
    GRADIENT,
    "grad_by_root_v",
    "mean",
    "E",
    domain="nonnegative",
)
mean_sq_t = TABLE.measured(
    "mean_sq_t",
    r"\frac{1}{\tau}\sum_{t=1}^\tau\mathbb{E}\|\nabla f(\overline{\theta_t})/\hat v_t^{1/4}\|^2",
    "mean over iterations of the squared gradient at the mean model, coordinates scaled by "
    "v^(-1/4)",
    GRADIENT,
    "grad_by_root_v_of_iteration",
    "mean",
    "E",
    domain="nonnegative",
)
mean_sq_v = TABLE.measured(
    "mean_sq_v",
    r"\frac{1}{R}\sum_{r=1}^R\mathbb{E}\|\nabla f(\overline{\theta_r})/\sqrt{v_r^t}\|^2",
    "mean over rounds of the squared gradient, coordinates scaled by 1/sqrt(v)",
    PLAIN,
    "grad_by_v",
    "mean",
    "E",
    domain="nonnegative",
)


def of_proof(
    name: str,
    latex: str,
    meaning: str,
    unit: Sequence[int] = GRADIENT,
    domain: str = "nonnegative",
    at: str = "t",
) -> "sympy.Symbol":
    """Add to the table a quantity of the proof, which fedtheory.models.lamb.quantities computes,
    and return its symbol."""
    return TABLE.measured(name, latex, meaning, unit, name, at, "E", domain=domain)


loss_now = of_proof(
    "loss_now", r"\mathbb{E}f(\bar\vartheta_r)", "loss at the point (8)", LOSS, "real"
)
loss_next = of_proof(
    "loss_next", r"\mathbb{E}f(\bar\vartheta_{r+1})", "loss at the next point (8)", LOSS, "real"
)
inner_move = of_proof(
    "inner_move",
    r"\mathbb{E}\langle\nabla f(\bar\vartheta_r),\bar\vartheta_{r+1}-\bar\vartheta_r\rangle",
    "first-order change",
    LOSS,
    "real",
)
sq_move_L = of_proof(
    "sq_move_L",
    r"\sum_\ell\frac{L_\ell}{2}\mathbb{E}\|\bar\vartheta_{r+1}^\ell-\bar\vartheta_r^\ell\|^2",
    "half the squared move, layers by their smoothness",
    LOSS,
)
sq_gap_11 = of_proof(
    "sq_gap_11",
    r"\|\bar\vartheta_{r+1}-\bar\vartheta_r+(11)\|^2",
    "squared distance of a move from minus the right-hand side of (11)",
    SQ_POINT,
)
sq_gap_11_typed = of_proof(
    "sq_gap_11_typed",
    r"\|\bar\vartheta_{r+1}-\bar\vartheta_r-(11)\|^2",
    "squared distance of a move from the right-hand side of (11) as it is typed",
    SQ_POINT,
)
sq_move_12 = of_proof(
    "sq_move_12",
    r"\sum_\ell\frac{L_\ell}{2}\mathbb{E}\|\bar\vartheta_{r+1}-\bar\vartheta_r\|^2",
    "half the squared move of all layers, by the smoothness of each",
    LOSS,
)
sq_momentum_11 = of_proof(
    "sq_momentum_11",
    r"\|(11),\text{ first sum}\|^2",
    "squared length of the first sum of (11)",
    SQ_POINT,
)
momentum_14 = of_proof(
    "momentum_14", "(14)", "first-order change by momentum, as (14) prints it", LOSS, "real"
)
A_1 = of_proof("A_1", "A_1", "first-order change by the gradients, (15)", LOSS, "real")
inner_g = of_proof(
    "inner_g",
    r"\langle\nabla f(\bar\vartheta_t),\bar g_t/\sqrt{\hat v_t}\rangle",
    "gradient against the normalised gradients' mean",
    GRADIENT,
    "real",
)
sq_grad_vartheta = of_proof(
    "sq_grad_vartheta",
    r"\|\nabla f(\bar\vartheta_t)/\hat v_t^{1/4}\|^2",
    "squared gradient at the point (8), scaled",
)
sq_g_bar = of_proof(
    "sq_g_bar", r"\|\bar g_t/\hat v_t^{1/4}\|^2", "squared mean of the normalised gradients, scaled"
)
sq_error = of_proof(
    "sq_error",
    r"\|(\nabla f(\bar\vartheta_t)-\bar g_t)/\hat v_t^{1/4}\|^2",
    "squared error of that mean as a gradient, scaled",
)
error_momentum = of_proof(
    "error_momentum",
    r"\frac{2}{n}\sum_i\|(\nabla f_i(\bar\vartheta_t)-\nabla f_i(\bar\theta_t))"
    r"/\hat v_t^{1/4}\|^2",
    "what evaluating at (8) adds to it",
)
error_17 = of_proof(
    "error_17",
    r"\frac{2}{n}\sum_i\|(\nabla f(\bar\theta_t)-\bar g_{t,i})/\hat v_t^{1/4}\|^2",
    "what clients add to it",
)
B_1 = of_proof("B_1", "B_1", "part of it that drift of the local models makes")
B_2 = of_proof("B_2", r"\mathbb{E}[B_2]", "part of it that normalisation and noise make")
sum_gap = of_proof(
    "sum_gap",
    r"\sum_i\|\bar\theta_t-\theta_{t,i}\|^2",
    "squared distances of the local models from their mean",
    SQ_POINT,
)
sq_lag = of_proof(
    "sq_lag",
    r"\|\bar\vartheta_t-\bar\theta_t\|^2",
    "squared distance of (8) from the mean model",
    SQ_POINT,
)
sum_inner = of_proof(
    "sum_inner",
    r"\sum_i\mathbb{E}\langle\nabla f(\theta_{t,i}),\bar g_{t,i}/\sqrt{\hat v_t}\rangle",
    "gradients against their normalised estimates",
    GRADIENT,
    "real",
)
sum_sq_grad = of_proof(
    "sum_sq_grad",
    r"\sum_i\mathbb{E}\|\nabla f(\theta_{t,i})\|^2",
    "squared gradients at the local models",
    SQ_GRADIENT,
)
grad_by_root_v = of_proof(
    "grad_by_root_v",
    r"\|\nabla f(\overline{\theta_t})/\hat v_t^{1/4}\|^2",
    "squared gradient at the mean model, scaled",
)
avg_grad_by_root_v = of_proof(
    "avg_grad_by_root_v",
    r"\|\overline{\nabla}f(\theta_t)/\hat v_t^{1/4}\|^2",
    "squared mean of the gradients at the local models, scaled",
)
sum_kept = of_proof(
    "sum_kept",
    r"\sum_{i,\ell,j}\mathbb{E}[\sqrt{\tfrac{1-\beta_2}{M^2p_\ell}}\,\phi\,\nabla_\ell f^j g^j]",
    "the same with 1/||p|| and 1/sqrt(v) replaced by a bound",
    GRADIENT,
    "real",
)
sum_wrong = of_proof(
    "sum_wrong",
    r"\sum_{i,\ell,j}\mathbb{E}[\phi\,\nabla_\ell f^jg^j/\|p^\ell\|\;\mathbf{1}"
    r"(\mathrm{sign}(\nabla_\ell f^j)\neq\mathrm{sign}(g^j))]",
    "products of a gradient's and an estimate's coordinate of opposite signs",
    GRADIENT,
    "real",
)
excess_sign = of_proof(
    "excess_sign",
    r"\max_j(-\mathbb{E}[\phi\,\nabla f^jg^j/\|p\|\;\mathbf{1}(\mathrm{sign}\neq)]"
    r"-\phi_M\nabla f^j\mathbb{P}(\mathrm{sign}\neq))",
    "the worst coordinate's loss by wrong signs, over its bound",
    GRADIENT,
    "real",
)
loss_drop = of_proof(
    "loss_drop",
    r"(f(\bar\vartheta_1)-\mathbb{E}[f(\bar\vartheta_{\tau+1})])",
    "loss gained over tau iterations",
    LOSS,
    "real",
    "T",
)
noise_sum = of_proof(
    "noise_sum",
    r"\sum_{r=1}^\tau\sum_{i=1}^n\sigma_i^2\mathbb{E}\|\phi(\|\theta_{r,i}^\ell\|)"
    r"/(\sqrt{v_t}\|p_{r,i}^\ell\|)\|^2",
    "noise let through by normalisation",
    PLAIN,
    at="T",
)

# Sentences between the theorems
p_more = TABLE.count("p_more", "p'", "more coordinates")
h_more = TABLE.count("h_more", r"\mathsf{h}'", "more layers")
norm_layer = TABLE.positive("norm_layer", r"\|\theta^\ell\|", "length of a layer's weights")
TABLE.rule(p <= p_more, h <= h_more)
