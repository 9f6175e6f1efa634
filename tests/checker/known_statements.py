"""True statements from textbooks, with their sources, and false statements made from them, which a
checker must tell apart."""

from sympy import Eq, Max, Rational, sqrt

from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    DISSIMILAR,
    EQUAL_WEIGHTS,
    EXACT_GRADIENTS,
    INDEPENDENT,
    LIPSCHITZ,
    NOISE,
    SMOOTH,
    STRONGLY_CONVEX,
    UNIFORM_COHORT,
)
from fedtheory.models import fitting
from fedtheory.search import scheduler
from fedtheory.search.objective import Target
from fedtheory.search.rational_points import Point
from fedtheory.symbols.run import (
    COORDINATE_NOISE,
    QUADRATIC,
    SAME_CURVATURE,
    TABLE,
    G,
    G_t_sq,
    K,
    L,
    N,
    S,
    T,
    a,
    best_sq_grad,
    cohort_error,
    cohort_square,
    d,
    eta,
    eta_g,
    eta_l,
    f_mix,
    f_x,
    f_y,
    gap_0,
    gap_mean,
    gap_of_mean,
    gap_T,
    gap_x,
    inner_change,
    inner_points,
    inner_xy,
    lam,
    least_sq_grad,
    loss_0,
    loss_before,
    loss_T,
    mean_sq_grad,
    mean_square,
    mu,
    option,
    rho_s,
    sigma,
    sigma_j,
    sq_change,
    sq_distance_0,
    sq_distance_before,
    sq_distance_T,
    sq_grad,
    sq_grad_0,
    sq_grad_before,
    sq_grad_T,
    sq_grad_x,
    sq_sum,
    sq_x,
    sq_xy,
    sq_y,
    u,
    zeta,
)

half = Rational(1, 2)
ALL_CLIENTS = Eq(S, N)
STRONG = (SMOOTH, STRONGLY_CONVEX, mu > 0)
DESCENT = (EXACT_GRADIENTS, ALL_CLIENTS)
SAMPLED = (NOISE, INDEPENDENT, UNIFORM_COHORT, EQUAL_WEIGHTS)
ALONG_EACH = (COORDINATE_NOISE, *SAMPLED[1:])  # sigma^2 = d sigma_j^2 where all sigma_j are equal
NESTEROV = "Nesterov, Lectures on Convex Optimization (2018)"
DRORI = "Drori and Teboulle, Mathematical Programming 145 (2014)"


def house(name, cites, left, sign, right, *assumes, by=None, unstated=()):
    return Claim(
        id=f"house.{name}",
        cites=cites,
        symbols=TABLE,
        measures=left,
        relation=sign,
        bound=right,
        assumes=assumes,
        algorithm=by,
        unstated=unstated,
    )


def contraction(step):
    return Max((1 - step * mu) ** 2, (1 - step * L) ** 2)


def after(rounds, rate):
    """Return 1 + rate + ... + rate^(rounds - 1)."""
    return (1 - rate**rounds) / (1 - rate)


descent = eta * (1 - eta * L / 2)
drift = eta_l**2 * L * K * (K - 1) / 2
# FedAvg on quadratics with A_i between mu and L, S = N, eta_g = 1, eta_l <= 1 / L, e = x_0 - x*,
# g_i = grad f_i(x*): client i ends at (1 - eta A_i)^K e - eta sum_k (1 - eta A_i)^k g_i from x*.
# The g_i add up to 0, so (1 - eta A_i)^k - 1 may stand for its power, whose norm is at most k eta
# L; and the mean of ||g_i|| is at most zeta.
fedavg_quadratic = (1 - eta_l * mu) ** K * sqrt(sq_distance_0) + drift * zeta
# SCAFFOLD with option I: in the second round c_i - c = g_i + (A_i - A) e with e = x_0 - x*, A the
# mean of A_i. Client i's deviation z obeys z <- (1 - eta A_i) z + eta (A_i - A) e, and the A_i - A
# add up to 0: as above, with ||A_i - A|| <= L - mu in the place of ||g_i||.
scaffold_quadratic = (1 - eta_l * mu) ** K * sqrt(sq_distance_before) + drift * (L - mu) * sqrt(
    sq_distance_0
)
# SCAFFOLD, either option, equal Hessians A, S = N: c stays the mean of c_i, so sum (c_i - c) = 0
# and the mean of what clients do is eta_g ((1 - eta_l A)^K - 1) (x - x*): FedAvg without drift.
scaffold_alike = (1 - eta_g * (1 - (1 - eta_l * mu) ** K)) ** (2 * T) * sq_distance_0

TRUE = {
    claim.id.partition(".")[2]: claim
    for claim in (
        # One function
        house(
            "descent_lemma",
            f"{NESTEROV}, lemma 1.2.3",
            f_y,
            "<=",
            f_x + inner_xy + L / 2 * sq_xy,
            SMOOTH,
        ),
        house(
            "cocoercive",
            f"{NESTEROV}, theorem 2.1.5",
            inner_change,
            ">=",
            sq_change / L,
            SMOOTH,
            CONVEX,
        ),
        house(
            "interpolation",
            f"{NESTEROV}, theorem 2.1.5",
            f_y,
            ">=",
            f_x + inner_xy + sq_change / (2 * L),
            SMOOTH,
            CONVEX,
        ),
        house("lipschitz", f"{NESTEROV}, section 1.2.2", sq_change, "<=", L**2 * sq_xy, LIPSCHITZ),
        house(
            "gradient_below_gap",
            f"{NESTEROV}, section 1.2.3",
            sq_grad_x,
            "<=",
            2 * L * gap_x,
            SMOOTH,
            BOUNDED_BELOW,
        ),
        house(
            "polyak",
            "Polyak, USSR Comput. Math. 3 (1963)",
            2 * mu * gap_x,
            "<=",
            sq_grad_x,
            *STRONG,
        ),
        house(
            "jensen",
            "Jensen, Acta Math. 30 (1906)",
            f_mix,
            "<=",
            lam * f_x + (1 - lam) * f_y,
            CONVEX,
        ),
        house(
            "strong_jensen",
            f"{NESTEROV}, theorem 2.1.9",
            f_mix,
            "<=",
            lam * f_x + (1 - lam) * f_y - mu / 2 * lam * (1 - lam) * sq_xy,
            *STRONG,
        ),
        house(
            "young",
            "Young, Proc. Royal Soc. A 87 (1912)",
            inner_points,
            "<=",
            a / 2 * sq_x + sq_y / (2 * a),
        ),
        house(
            "relaxed_triangle",
            "Karimireddy et al. 2020, lemma 3",
            sq_sum,
            "<=",
            (1 + a) * sq_x + (1 + 1 / a) * sq_y,
        ),
        # Cohorts
        house(
            "cohort_variance",
            "Cochran, Sampling Techniques (1977), theorem 2.2",
            cohort_error,
            "==",
            rho_s * G_t_sq / S,
            UNIFORM_COHORT,
            EQUAL_WEIGHTS,
            EXACT_GRADIENTS,
        ),
        house(
            "cohort_coordinates",
            "the same, of noise along each coordinate",
            cohort_error,
            "<=",
            (d * sigma_j**2 + rho_s * G**2) / S,
            DISSIMILAR,
            *ALONG_EACH,
        ),
        house(
            "cohort_bound",
            "the same, with independent noise",
            cohort_error,
            "<=",
            (sigma**2 + rho_s * G**2) / S,
            DISSIMILAR,
            *SAMPLED,
        ),
        house(
            "cohort_square",
            "the same, about the origin",
            cohort_square,
            "<=",
            sq_grad + rho_s / S * (mean_square - sq_grad) + sigma**2 / S,
            *SAMPLED,
        ),
        house(
            "pythagoras",
            "variance about the mean",
            mean_square,
            "==",
            sq_grad + G_t_sq,
            EQUAL_WEIGHTS,
        ),
        # Gradient descent
        house(
            "gd_step",
            f"{NESTEROV}, (1.2.19)",
            loss_T,
            "<=",
            loss_before - descent * sq_grad_before,
            SMOOTH,
            *DESCENT,
            by="fedsgd",
        ),
        house(
            "gd_rate",
            f"{DRORI}, theorem 3.1",
            gap_T,
            "<=",
            L * sq_distance_0 / (4 * T + 2),
            Eq(eta * L, 1),
            SMOOTH,
            CONVEX,
            *DESCENT,
            by="fedsgd",
        ),
        house(
            "gd_short",
            f"{DRORI}, theorem 3.1",
            gap_T,
            "<=",
            sq_distance_0 / (4 * T * eta + 2 / L),
            eta * L <= 1,
            SMOOTH,
            CONVEX,
            *DESCENT,
            by="fedsgd",
        ),
        house(
            "gd_contraction",
            "Polyak, Introduction to Optimization (1987), theorem 1.4.3",
            sq_distance_T,
            "<=",
            contraction(eta) ** T * sq_distance_0,
            *STRONG,
            *DESCENT,
            by="fedsgd",
        ),
        house(
            "gd_gradient",
            "Abbaszadehpeivasti, de Klerk and Zamani, Optim. Letters 16 (2022)",
            best_sq_grad,
            "<=",
            4 * L * gap_0 / (3 * T + 2),
            Eq(eta * L, 1),
            LIPSCHITZ,
            BOUNDED_BELOW,
            *DESCENT,
            by="fedsgd",
        ),
        house(
            "gd_mean_gradient",
            f"{NESTEROV}, (1.2.22)",
            mean_sq_grad,
            "<=",
            gap_0 / (T * descent),
            eta * L < 2,
            SMOOTH,
            BOUNDED_BELOW,
            *DESCENT,
            by="fedsgd",
        ),
        house(
            "gd_monotone",
            f"{NESTEROV}, theorem 2.1.14",
            sq_grad_T,
            "<=",
            sq_grad_before,
            eta * L <= 2,
            SMOOTH,
            CONVEX,
            *DESCENT,
            by="fedsgd",
        ),
        # SGD
        house(
            "sgd_step",
            "Bottou, Curtis and Nocedal, SIAM Review 60 (2018), lemma 4.4",
            loss_T,
            "<=",
            loss_0 - descent * sq_grad_0 + L * eta**2 / 2 * (sigma**2 + rho_s * G**2) / S,
            Eq(T, 1),
            SMOOTH,
            DISSIMILAR,
            *SAMPLED,
            by="fedsgd",
        ),
        house(
            "sgd_coordinates",
            "the same, of noise along each coordinate",
            loss_T,
            "<=",
            loss_0 - descent * sq_grad_0 + L * eta**2 / 2 * (d * sigma_j**2 + rho_s * G**2) / S,
            Eq(T, 1),
            SMOOTH,
            DISSIMILAR,
            *ALONG_EACH,
            by="fedsgd",
        ),
        house(
            "sgd_floor",
            "Moulines and Bach, NeurIPS 2011, for constant steps",
            sq_distance_T,
            "<=",
            (1 - eta * mu) ** (2 * T) * sq_distance_0
            + eta**2 * sigma**2 / N * after(T, (1 - eta * mu) ** 2),
            eta * (L + mu) <= 2,
            *STRONG,
            *SAMPLED,
            ALL_CLIENTS,
            by="fedsgd",
        ),
        house(
            "sgd_convex",
            "Nemirovski et al., SIAM J. Optim. 19 (2009), for smooth losses",
            gap_mean,
            "<=",
            (sq_distance_0 / (2 * eta * T) + eta * sigma**2 / (2 * N)) / (1 - eta * L),
            eta * L < 1,
            SMOOTH,
            CONVEX,
            *SAMPLED,
            ALL_CLIENTS,
            by="fedsgd",
        ),
        house(
            "sgd_nonconvex",
            "Ghadimi and Lan, SIAM J. Optim. 23 (2013)",
            mean_sq_grad,
            "<=",
            2 * gap_0 / (eta * T) + L * eta * sigma**2 / N,
            eta * L <= 1,
            SMOOTH,
            BOUNDED_BELOW,
            *SAMPLED,
            ALL_CLIENTS,
            by="fedsgd",
        ),
        house(
            "least_below_best",
            "Jensen's inequality for the minimum",
            least_sq_grad,
            "<=",
            best_sq_grad,
            by="fedsgd",
        ),
        house(
            "mean_iterate",
            "Jensen's inequality for the mean of the points",
            gap_of_mean,
            "<=",
            gap_mean,
            CONVEX,
            by="fedsgd",
        ),
        # Federated averaging
        house(
            "one_local_step",
            "house check 1",
            sq_distance_T,
            "<=",
            (1 - u * mu) ** T * sq_distance_0 + u * sigma**2 / (N * mu),
            Eq(K, 1),
            ALL_CLIENTS,
            u * L <= 1,
            *STRONG,
            *SAMPLED,
            by="fedavg",
        ),
        house(
            "fedavg_alike",
            f"{DRORI}, theorem 3.1, for K T steps",
            gap_T,
            "<=",
            L * sq_distance_0 / (4 * K * T + 2),
            Eq(G, 0),
            Eq(eta_g, 1),
            Eq(eta_l * L, 1),
            SMOOTH,
            CONVEX,
            DISSIMILAR,
            EXACT_GRADIENTS,
            by="fedavg",
        ),
        house(
            "fedavg_bias",
            "derived above",
            sqrt(sq_distance_T),
            "<=",
            fedavg_quadratic,
            Eq(T, 1),
            Eq(eta_g, 1),
            eta_l * L <= 1,
            SMOOTH,
            CONVEX,
            QUADRATIC,
            *DESCENT,
            by="fedavg",
        ),
        # SCAFFOLD
        house(
            "scaffold_alike",
            "derived above",
            sq_distance_T,
            "<=",
            scaffold_alike,
            eta_g <= 1,
            eta_l * L <= 1,
            SMOOTH,
            CONVEX,
            QUADRATIC,
            SAME_CURVATURE,
            *DESCENT,
            by="scaffold",
        ),
        house(
            "scaffold_descent",
            "Karimireddy et al. 2020, algorithm 1, with one step",
            sq_distance_T,
            "<=",
            contraction(eta_l * eta_g) ** T * sq_distance_0,
            Eq(K, 1),
            *STRONG,
            *DESCENT,
            by="scaffold",
        ),
        house(
            "scaffold_second",
            "derived above",
            sqrt(sq_distance_T),
            "<=",
            scaffold_quadratic,
            Eq(T, 2),
            Eq(eta_g, 1),
            Eq(option, 1),
            eta_l * L <= 1,
            SMOOTH,
            CONVEX,
            QUADRATIC,
            *DESCENT,
            by="scaffold",
        ),
    )
}

# Statements that instances of the models attain or approach, which a search must find.
TIGHT = (
    "descent_lemma",
    "cocoercive",
    "interpolation",
    "lipschitz",
    "gradient_below_gap",
    "polyak",
    "strong_jensen",
    "young",
    "relaxed_triangle",
    "cohort_variance",
    "cohort_bound",
    "cohort_coordinates",
    "cohort_square",
    "pythagoras",
    "gd_step",
    "gd_rate",
    "gd_short",
    "gd_contraction",
    "gd_gradient",
    "gd_monotone",
    "sgd_step",
    "sgd_coordinates",
    "sgd_floor",
    "sgd_nonconvex",
    "least_below_best",
    "mean_iterate",
    "fedavg_alike",
    "scaffold_alike",
    "scaffold_descent",
)


def wrong(name, **bounds):
    """Return {label: false variant of a true statement}, given {label: right-hand side}."""
    return {
        f"{name}.{label}": TRUE[name].replace(name=f"house.{name}.{label}", bound=bound)
        for label, bound in bounds.items()
    }


def under_hypotheses(name, label, *assumes, **changes):
    """Return a true statement under the hypotheses `assumes`, which replace all hypotheses of the
    statement."""
    claim = TRUE[name]
    return {
        f"{name}.{label}": claim.replace(
            name=f"house.{name}.{label}", **changes, assumptions=assumes
        )
    }


def less(name, *dropped):
    """Return a true statement without some of its hypotheses."""
    label = "without_" + "_".join(text.split()[0] for text in dropped)
    return {f"{name}.{label}": TRUE[name].without(*dropped).replace(name=f"house.{name}.{label}")}


def stepping(name, label, old, new):
    """Return a true statement with one hypothesis between numbers widened."""
    kept = [new if a.relation == old else a for a in (*TRUE[name].assumes, *TRUE[name].unstated)]
    assert any(a is new for a in kept)
    return {f"{name}.{label}": TRUE[name].replace(name=f"house.{name}.{label}", assumptions=kept)}


percent = Rational(1, 100)
FALSE = {
    # Constants too small or too large by 1 to 10 per cent
    **wrong(
        "descent_lemma",
        constant=f_x + inner_xy + 99 * percent * L / 2 * sq_xy,
        no_curvature=f_x + inner_xy,
        halved=f_x + inner_xy + L / 4 * sq_xy,
        sign=f_x - inner_xy + L / 2 * sq_xy,
        exponent=f_x + inner_xy + L**2 / 2 * sq_xy,
    ),
    **wrong(
        "cocoercive",
        constant=101 * percent * sq_change / L,
        swapped=sq_change / mu,
        exponent=sq_change / L**2,
    ),
    **wrong("interpolation", constant=f_x + inner_xy + 51 * percent * sq_change / L),
    **less("cocoercive", "convex"),
    **less("interpolation", "convex"),
    **wrong("lipschitz", constant=98 * percent * L**2 * sq_xy, exponent=L * sq_xy),
    **wrong("gradient_below_gap", constant=198 * percent * L * gap_x, exponent=2 * L**2 * gap_x),
    **wrong("polyak", exponent=sq_grad_x / 2),
    **under_hypotheses(
        "polyak", "convex_only", SMOOTH, CONVEX, measures=gap_x, bound=sq_grad_x / L
    ),
    **under_hypotheses(
        "polyak",
        "constant",
        SMOOTH,
        STRONGLY_CONVEX,
        mu > 0,
        measures=102 * percent * 2 * mu * gap_x,
    ),
    **less("jensen", "convex"),
    **wrong(
        "strong_jensen",
        constant=lam * f_x + (1 - lam) * f_y - 105 * percent * mu / 2 * lam * (1 - lam) * sq_xy,
        no_half=lam * f_x + (1 - lam) * f_y - mu * lam * (1 - lam) * sq_xy,
    ),
    **wrong(
        "young",
        constant=a / 2 * sq_x + 95 * percent * sq_y / (2 * a),
        no_inverse=a / 2 * sq_x + a / 2 * sq_y,
    ),
    **wrong("relaxed_triangle", no_cross=(1 + a) * sq_x + sq_y, no_one=(1 + a) * sq_x + sq_y / a),
    # Sampling: missing factors, dropped terms, wrong signs in identities
    **wrong(
        "cohort_variance",
        no_rho=G_t_sq / S,
        with_replacement=(N - S) * G_t_sq / (N * S),
        over_N=rho_s * G_t_sq / N,
        clients=(N - S) / N * G_t_sq,
    ),
    **wrong(
        "cohort_coordinates",
        no_d=(sigma_j**2 + rho_s * G**2) / S,
        root_d=(sqrt(d) * sigma_j**2 + rho_s * G**2) / S,
    ),
    **wrong(
        "cohort_bound",
        no_noise=rho_s * G**2 / S,
        no_sampling=sigma**2 / S,
        over_NS=(sigma**2 + rho_s * G**2) / (N * S),
        noise_over_N=sigma**2 / N + rho_s * G**2 / S,
        constant=sigma**2 / S + 99 * percent * rho_s * G**2 / S,
        root=(sigma + rho_s * G**2 / sigma) * sigma / S * 95 * percent,
    ),
    **wrong(
        "cohort_square",
        sign=sq_grad - rho_s / S * (mean_square - sq_grad) + sigma**2 / S,
        no_noise=sq_grad + rho_s / S * (mean_square - sq_grad),
        mean=sq_grad + sigma**2 / S,
    ),
    **wrong(
        "pythagoras",
        sign=sq_grad - G_t_sq,
        double=sq_grad + 2 * G_t_sq,
        factor=sq_grad + G_t_sq * N / (N + 1),
    ),
    # Gradient descent
    **wrong(
        "gd_step",
        constant=loss_before - 102 * percent * descent * sq_grad_before,
        no_half=loss_before - eta * (1 - eta * L / 4) * sq_grad_before,
        full=loss_before - eta * sq_grad_before,
    ),
    **wrong(
        "gd_rate",
        constant=99 * percent * L * sq_distance_0 / (4 * T + 2),
        plus_three=L * sq_distance_0 / (4 * T + 3),
        square=L * sq_distance_0 / (2 * T + 1) ** 2,
        exponent=L**2 * sq_distance_0 / (4 * T + 2),
    ),
    **less("gd_rate", "convex"),
    **stepping("gd_rate", "longer", Eq(eta * L, 1), Eq(eta * L, 2)),
    **wrong(
        "gd_short",
        constant=98 * percent * sq_distance_0 / (4 * T * eta + 2 / L),
        no_L=sq_distance_0 / (4 * T * eta + 3 / L),
    ),
    **stepping("gd_short", "ceiling", eta * L <= 1, eta * L <= Rational(21, 10)),
    **wrong(
        "gd_contraction",
        only_mu=(1 - eta * mu) ** (2 * T) * sq_distance_0,
        constant=99 * percent * contraction(eta) ** T * sq_distance_0,
        exponent=contraction(eta) ** (T + 1) * sq_distance_0,
    ),
    **under_hypotheses(
        "gd_contraction",
        "convex_only",
        SMOOTH,
        CONVEX,
        *DESCENT,
        eta * L <= 1,
        bound=(1 - eta * L / 2) ** (2 * T) * sq_distance_0,
    ),
    **wrong(
        "gd_gradient",
        constant=98 * percent * 4 * L * gap_0 / (3 * T + 2),
        convex=4 * L * gap_0 / (4 * T + 2),
        square=4 * L * gap_0 / (3 * T + 2) ** 2,
    ),
    **less("gd_gradient", "lipschitz"),
    **wrong("gd_mean_gradient", step=gap_0 / (T * eta), halved=gap_0 / (2 * T * descent)),
    **wrong("gd_monotone", strict=98 * percent * sq_grad_before),
    **less("gd_monotone", "convex"),
    **stepping("gd_monotone", "ceiling", eta * L <= 2, eta * L <= Rational(101, 50)),
    # SGD
    **wrong(
        "sgd_step",
        no_noise=loss_0 - descent * sq_grad_0 + L * eta**2 / 2 * rho_s * G**2 / S,
        no_rho=loss_0 - descent * sq_grad_0 + L * eta**2 / 2 * (sigma**2 / S),
        over_N=loss_0 - descent * sq_grad_0 + L * eta**2 / 2 * (sigma**2 / N + rho_s * G**2 / S),
        L_squared=loss_0 - descent * sq_grad_0 + (L * eta) ** 2 / 2 * (sigma**2 + rho_s * G**2) / S,
        step=loss_0 - eta * sq_grad_0 + L * eta**2 / 2 * (sigma**2 + rho_s * G**2) / S,
    ),
    **wrong(
        "sgd_coordinates",
        no_d=loss_0 - descent * sq_grad_0 + L * eta**2 / 2 * (sigma_j**2 + rho_s * G**2) / S,
        root_d=loss_0
        - descent * sq_grad_0
        + L * eta**2 / 2 * (sqrt(d) * sigma_j**2 + rho_s * G**2) / S,
    ),
    **wrong(
        "sgd_floor",
        no_noise=(1 - eta * mu) ** (2 * T) * sq_distance_0,
        constant=(1 - eta * mu) ** (2 * T) * sq_distance_0
        + 95 * percent * eta**2 * sigma**2 / N * after(T, (1 - eta * mu) ** 2),
        over_NT=(1 - eta * mu) ** (2 * T) * sq_distance_0
        + eta**2 * sigma**2 / (N * T) * after(T, (1 - eta * mu) ** 2),
        rate=(1 - eta * mu) ** (2 * T + 1) * sq_distance_0
        + eta**2 * sigma**2 / N * after(T, (1 - eta * mu) ** 2),
    ),
    **stepping("sgd_floor", "ceiling", eta * (L + mu) <= 2, eta * L <= 2),
    **wrong(
        "sgd_convex",
        small=(sq_distance_0 / (4 * eta * T) + eta * sigma**2 / (8 * N)),
        no_noise=sq_distance_0 / (4 * eta * T),
    ),
    **wrong(
        "sgd_nonconvex",
        no_noise=2 * gap_0 / (eta * T),
        constant=2 * gap_0 / (eta * T) * 95 * percent + L * eta * sigma**2 / N,
        over_T=2 * gap_0 / (eta * T) + L * eta * sigma**2 / (N * T),
        exponent=2 * gap_0 / (eta * T) + L**2 * eta * sigma**2 / N,
    ),
    **under_hypotheses("least_below_best", "reversed", measures=best_sq_grad, bound=least_sq_grad),
    **less("mean_iterate", "convex"),
    **under_hypotheses("mean_iterate", "reversed", CONVEX, measures=gap_mean, bound=gap_of_mean),
    # Federated averaging
    **wrong(
        "one_local_step",
        over_KN=(1 - u * mu) ** T * sq_distance_0 + u * sigma**2 / (4 * N * mu),
        no_noise=(1 - u * mu) ** T * sq_distance_0,
        over_N_twice=(1 - u * mu) ** T * sq_distance_0 + u * sigma**2 / (N**2 * mu),
        rate=(1 - u * mu) ** (3 * T) * sq_distance_0 + u * sigma**2 / (N * mu),
    ),
    **less("one_local_step", "K = 1"),
    **less("one_local_step", "S = N"),
    **less("fedavg_alike", "G = 0"),
    **wrong(
        "fedavg_alike",
        constant=98 * percent * L * sq_distance_0 / (4 * K * T + 2),
        squared=L * sq_distance_0 / (4 * K**2 * T + 2),
    ),
    **wrong(
        "fedavg_bias",
        no_drift=(1 - eta_l * mu) ** K * sqrt(sq_distance_0),
        one_step=(1 - eta_l * mu) * sqrt(sq_distance_0) * half + drift * zeta,
    ),
    **less("fedavg_bias", "S = N"),
    # SCAFFOLD
    **less("scaffold_alike", "S = N"),
    **less("scaffold_alike", "same_curvature"),
    **wrong(
        "scaffold_alike",
        rate=(1 - eta_g * (1 - (1 - eta_l * mu) ** (K + 1))) ** (2 * T) * sq_distance_0,
    ),
    **less("scaffold_descent", "K = 1"),
    **less("scaffold_descent", "S = N"),
    **wrong("scaffold_second", no_drift=(1 - eta_l * mu) ** K * sqrt(sq_distance_before)),
}


def reach_ratio(claim, enough, budget, seed=0):
    """Return the first exact ratio of at least `enough` that a search finds; else the exact ratio
    at the point with the best ratio in floats."""
    best = (-1.0, None)
    for setting in fitting(claim):
        for hunt, ratio, raw in scheduler.search_waves(Target(claim, setting, 0), budget, seed):
            if ratio > best[0]:
                best = ratio, Point.near(hunt, raw)
                found = (best[1].ratio() or 0.0) if ratio >= enough and best[1] else 0.0
                if found >= enough:
                    return found
    return (best[1] and best[1].ratio()) or 0.0
