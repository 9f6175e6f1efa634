"""Symbols of claims in the house's letters: plain statements about runs, points and cohorts, in the
usual letters of textbooks."""

from sympy import Eq, Piecewise

from fedtheory.conditions import Certified, Condition
from fedtheory.symbol import CURVATURE, GRADIENT, LOSS, POINT, SQ_GRADIENT, SQ_POINT, STEP, Table

TABLE = Table("house", constants=dict(sigma_j="sigma_coordinate"))

# Numbers a user sets
eta = TABLE.positive("eta", r"\eta", "step size of one gradient a round", STEP)
eta_l = TABLE.positive("eta_l", r"\eta_l", "step size of a client", STEP)
eta_g = TABLE.positive("eta_g", r"\eta_g", "aggregation step")
K = TABLE.count("K", "K", "local steps of a client")
T = TABLE.count("T", "T", "rounds")
S = TABLE.count("S", "S", "clients in a cohort")
N = TABLE.count("N", "N", "clients")
option = TABLE.count("option", r"\mathrm{option}", "how SCAFFOLD renews its variates: 1 or 2")
lam = TABLE.nonnegative("lam", r"\lambda", "weight of a point, at most 1")
a = TABLE.positive("a", "a", "how a product is split")
TABLE.rule(S <= N, lam <= 1)

# Constants of a problem
L = TABLE.positive("L", "L", "smoothness of every loss", CURVATURE)
mu = TABLE.nonnegative("mu", r"\mu", "strong convexity of every loss", CURVATURE)
G = TABLE.nonnegative("G", "G", "dissimilarity of the clients' gradients, anywhere", GRADIENT)
zeta = TABLE.nonnegative(
    "zeta", r"\zeta", "dissimilarity of the clients' gradients at the minimiser", GRADIENT
)
sigma = TABLE.nonnegative("sigma", r"\sigma", "noise of a client's gradient", GRADIENT)
sigma_j = TABLE.nonnegative(
    "sigma_j", r"\sigma_j", "noise of a client's gradient along any coordinate", GRADIENT
)
d = TABLE.count("d", "d", "coordinates of a point")
growth = TABLE.nonnegative(
    "growth", r"\varrho", "how a client's noise grows with its gradient, beside sigma"
)
mu_PL = TABLE.constant(
    "mu_PL",
    r"\mu_{\mathrm{PL}}",
    "Polyak-Lojasiewicz: ||grad F||^2 is at least 2 mu_PL times F above its infimum",
    CURVATURE,
    lambda problem: problem.polyak_lojasiewicz,
    bound="lower",
)
R = TABLE.nonnegative("R", "R", "distance of the start to the nearest minimiser", POINT)

# Derived
rho_s = TABLE.define(
    "rho_s",
    r"\rho_s",
    "what sampling S of N clients without replacement leaves of the variance",
    Piecewise((0, Eq(N, 1)), ((N - S) / (N - 1), True)),
)
u = TABLE.define(
    "u", "u", "the server's effective step in a round", K * eta_l * eta_g, STEP, "positive"
)

# Measured on a run
M = TABLE.measured
more = dict(domain="nonnegative")
loss_0 = M("loss_0", "F(x_0)", "loss of the start", LOSS, "loss", "0")
loss_T = M("loss_T", r"\mathbb{E}F(x_T)", "expected loss after T rounds", LOSS, "loss", "T", "E")
loss_before = M(
    "loss_before",
    r"\mathbb{E}F(x_{T-1})",
    "expected loss a round earlier",
    LOSS,
    "loss",
    "T-1",
    "E",
)
gap_0 = M(
    "gap_0",
    r"F(x_0)-F^\star",
    "loss of the start above its infimum",
    LOSS,
    "loss",
    "0",
    "",
    "inf",
    **more,
)
gap_T = M(
    "gap_T",
    r"\mathbb{E}F(x_T)-F^\star",
    "expected loss after T rounds above its infimum",
    LOSS,
    "loss",
    "T",
    "E",
    "inf",
    **more,
)
gap_mean = M(
    "gap_mean",
    r"\frac1T\sum_{t<T}\mathbb{E}F(x_t)-F^\star",
    "mean expected loss of x_0, ..., x_(T-1) above its infimum",
    LOSS,
    "loss",
    "mean",
    "E",
    "inf",
    **more,
)
gap_of_mean = M(
    "gap_of_mean",
    r"\mathbb{E}F(\bar x_T)-F^\star",
    "expected loss of the mean of x_0, ..., x_(T-1) above its infimum",
    LOSS,
    "loss_of_mean",
    "T",
    "E",
    "inf",
    **more,
)
sq_distance_0 = M(
    "sq_distance_0",
    r"\|x_0-x^\star\|^2",
    "squared distance of the start to the nearest minimiser",
    SQ_POINT,
    "sq_distance",
    "0",
    **more,
)
sq_distance_T = M(
    "sq_distance_T",
    r"\mathbb{E}\|x_T-x^\star\|^2",
    "expected squared distance to the nearest minimiser after T rounds",
    SQ_POINT,
    "sq_distance",
    "T",
    "E",
    **more,
)
sq_distance_before = M(
    "sq_distance_before",
    r"\mathbb{E}\|x_{T-1}-x^\star\|^2",
    "the same a round earlier",
    SQ_POINT,
    "sq_distance",
    "T-1",
    "E",
    **more,
)
sq_grad_0 = M(
    "sq_grad_0",
    r"\|\nabla F(x_0)\|^2",
    "squared gradient at the start",
    SQ_GRADIENT,
    "sq_grad_norm",
    "0",
    **more,
)
sq_grad_T = M(
    "sq_grad_T",
    r"\mathbb{E}\|\nabla F(x_T)\|^2",
    "expected squared gradient after T rounds",
    SQ_GRADIENT,
    "sq_grad_norm",
    "T",
    "E",
    **more,
)
sq_grad_before = M(
    "sq_grad_before",
    r"\mathbb{E}\|\nabla F(x_{T-1})\|^2",
    "the same a round earlier",
    SQ_GRADIENT,
    "sq_grad_norm",
    "T-1",
    "E",
    **more,
)
best_sq_grad = M(
    "best_sq_grad",
    r"\min_{t\le T}\mathbb{E}\|\nabla F(x_t)\|^2",
    "least expected squared gradient at x_0, ..., x_T",
    SQ_GRADIENT,
    "sq_grad_norm",
    "min_T",
    "E",
    **more,
)
mean_sq_grad = M(
    "mean_sq_grad",
    r"\frac1T\sum_{t<T}\mathbb{E}\|\nabla F(x_t)\|^2",
    "mean expected squared gradient at x_0, ..., x_(T-1)",
    SQ_GRADIENT,
    "sq_grad_norm",
    "mean",
    "E",
    **more,
)
least_sq_grad = M(
    "least_sq_grad",
    r"\mathbb{E}\min_{t\le T}\|\nabla F(x_t)\|^2",
    "expected least squared gradient at x_0, ..., x_T",
    SQ_GRADIENT,
    "least_sq_grad_norm",
    "T",
    "E",
    **more,
)

# One loss f at points x and y
f_x = M("f_x", "f(x)", "a loss at x", LOSS, "f_x")
f_y = M("f_y", "f(y)", "a loss at y", LOSS, "f_y")
f_mix = M("f_mix", r"f(\lambda x+(1-\lambda)y)", "a loss between x and y", LOSS, "f_mix")
gap_x = M("gap_x", r"f(x)-f^\star", "a loss above its infimum", LOSS, "gap_x", **more)
sq_x = M("sq_x", r"\|x\|^2", "squared norm of a point", SQ_POINT, "sq_x", **more)
sq_y = M("sq_y", r"\|y\|^2", "squared norm of another", SQ_POINT, "sq_y", **more)
sq_sum = M("sq_sum", r"\|x+y\|^2", "squared norm of their sum", SQ_POINT, "sq_sum", **more)
sq_xy = M("sq_xy", r"\|x-y\|^2", "squared distance of x and y", SQ_POINT, "sq_xy", **more)
inner_points = M(
    "inner_points", r"\langle x,y\rangle", "inner product of x and y", SQ_POINT, "inner_points"
)
sq_grad_x = M(
    "sq_grad_x", r"\|\nabla f(x)\|^2", "squared gradient at x", SQ_GRADIENT, "sq_grad_x", **more
)
sq_change = M(
    "sq_change",
    r"\|\nabla f(x)-\nabla f(y)\|^2",
    "squared change of the gradient",
    SQ_GRADIENT,
    "sq_change",
    **more,
)
inner_xy = M(
    "inner_xy", r"\langle\nabla f(x),y-x\rangle", "first-order change from x to y", LOSS, "inner_xy"
)
inner_change = M(
    "inner_change",
    r"\langle\nabla f(x)-\nabla f(y),x-y\rangle",
    "change of the gradient along x - y",
    LOSS,
    "inner_change",
)

# The mean g_S of a cohort's gradient estimates at one point
cohort_error = M(
    "cohort_error",
    r"\mathbb{E}\|g_S-\nabla F(x)\|^2",
    "variance of a cohort's mean gradient",
    SQ_GRADIENT,
    "cohort_error",
    "t",
    "E",
    **more,
)
cohort_square = M(
    "cohort_square",
    r"\mathbb{E}\|g_S\|^2",
    "mean square of a cohort's mean gradient",
    SQ_GRADIENT,
    "cohort_square",
    "t",
    "E",
    **more,
)
sq_grad = M(
    "sq_grad",
    r"\|\nabla F(x)\|^2",
    "squared gradient of the mean loss",
    SQ_GRADIENT,
    "sq_grad_norm",
    **more,
)
mean_square = M(
    "mean_square",
    r"\frac1N\sum_i\|\nabla f_i(x)\|^2",
    "mean squared gradient of the clients",
    SQ_GRADIENT,
    "mean_square",
    **more,
)
G_t_sq = M(
    "G_t_sq",
    r"\frac1N\sum_i\|\nabla f_i(x)-\nabla F(x)\|^2",
    "the clients' dissimilarity at x",
    SQ_GRADIENT,
    "sq_dissimilarity",
    **more,
)

COORDINATE_NOISE = Condition(
    "coordinate_noise",
    "gradient estimates are unbiased, with variance at most sigma_j^2 along each coordinate",
    Certified("sigma_coordinate"),
    ("sigma_coordinate",),
)
QUADRATIC = Condition(
    "quadratic", "losses are quadratics", lambda problem, setup: hasattr(problem.data, "A")
)
SAME_CURVATURE = Condition(
    "same_curvature",
    "losses differ by linear functions",
    lambda problem, setup: hasattr(problem.data, "A") and len(problem.data.A) == 1,
)
