"""Accusations about the means of cohorts: their variance, their noise and how clients are drawn."""

from collections.abc import Iterable
from fractions import Fraction as F

from sympy import Eq

from fedtheory.language.conditions import (
    DISSIMILAR,
    EQUAL_WEIGHTS,
    EXACT_GRADIENTS,
    INDEPENDENT,
    NOISE,
    SAMPLED_BY_WEIGHT,
    UNIFORM_COHORT,
)
from fedtheory.symbols import run as r
from tests.checker.accusation import Accusation, c, n, state

SIGNS = (1, -1)


def mean(values: Iterable[int | F]) -> F:
    """Return the mean of numbers, a fraction."""
    numbers = [F(value) for value in values]
    return sum(numbers, F(0)) / len(numbers)


ACCUSATIONS = (
    Accusation(
        "cohort_conventions",
        dict(
            statement="With unbiased gradients of variance at most sigma^2, dissimilarity G and "
            "F = (1/N) sum f_i: E|g_S - grad F|^2 <= (sigma^2 + rho_s G^2)/S.",
            listing="4: sample a cohort of S clients",
        ),
        {
            "dissimilar": "statement",
            "noise": "statement",
            "equal_weights": "statement",
            "independent_noise": "convention",
            "uniform_cohort": "convention",
        },
        lambda: state(
            "cohort_conventions",
            r.cohort_error,
            "<=",
            (r.sigma**2 + r.rho_s * r.G**2) / r.S,
            *(DISSIMILAR, NOISE, EQUAL_WEIGHTS, INDEPENDENT, UNIFORM_COHORT),
        ),
        "none",
        "By convention a sampled cohort is uniform and clients draw their noise independently.",
        dict(sigma=1, G=1, rho_s=1, S=1),  # N = 2, gradients 1 and -1, noise 1 or -1
        lambda sigma, G, rho_s, S: (
            mean((G * g + sigma * e) ** 2 for g in SIGNS for e in SIGNS)
            <= F(sigma**2 + rho_s * G**2, S)
        ),
    ),
    Accusation(
        "shared_sample",
        dict(
            statement="With unbiased gradients of variance at most sigma^2, all N = S clients "
            "working, F = (1/N) sum f_i: E|g_S - grad F|^2 <= sigma^2/S.",
            listing="3: the server draws one sample xi, which all clients use",
        ),
        {"noise": "statement", "equal_weights": "statement", "S = N": "statement"},
        lambda: state(
            "shared_sample",
            r.cohort_error,
            "<=",
            r.sigma**2 / r.S,
            *(NOISE, EQUAL_WEIGHTS, Eq(r.S, r.N)),
        ),
        "statement",
        "The listing gives all clients the same noise, so that a mean has the variance of one.",
        dict(S=2, sigma=1),
        lambda S, sigma: mean((sum([sigma * e] * S) / F(S)) ** 2 for e in SIGNS) <= F(sigma**2, S),
    ),
    Accusation(
        "without_replacement",
        dict(
            statement="E|g_S - grad F|^2 = rho_s G_t^2/S with rho_s = (N - S)/(N - 1).",
            listing="2: draw S of the N clients uniformly without replacement",
            assumption="Assumption 1: F is the plain mean of f_i, and gradients are exact.",
        ),
        {"uniform_cohort": "text", "equal_weights": "text", "exact_gradients": "text"},
        lambda: state(
            "without_replacement",
            r.cohort_error,
            "==",
            r.rho_s * r.G_t_sq / r.S,
            *(UNIFORM_COHORT, EQUAL_WEIGHTS, EXACT_GRADIENTS),
        ),
        "none",
        "The listing says how cohorts are drawn, and assumption 1 says the rest.",
        dict(g_1=3, g_2=0, g_3=-3, S=2),
        lambda g_1, g_2, g_3, S: (
            mean(F(one + other, S) ** 2 for one, other in ((g_1, g_2), (g_1, g_3), (g_2, g_3)))
            == F(3 - S, 3 - 1) * mean(g**2 for g in (g_1, g_2, g_3)) / S
        ),
    ),
    Accusation(
        "with_replacement",
        dict(
            statement="E|g_S - grad F|^2 = G_t^2/S for exact gradients and F = (1/N) sum f_i.",
            listing="2: draw S clients independently, each uniform over 1, ..., N",
        ),
        {"uniform_cohort": "nowhere", "equal_weights": "statement", "exact_gradients": "statement"},
        lambda: state(
            "with_replacement",
            r.cohort_error,
            "==",
            r.G_t_sq / r.S,
            *(EQUAL_WEIGHTS, EXACT_GRADIENTS),
            unstated=(UNIFORM_COHORT,),
        ),
        "reading",
        "The formula is false for draws without replacement; the listing draws with replacement.",
        dict(S=2, G=1),  # N = 2, gradients G and -G
        lambda S, G: F(G - G, S) ** 2 == F(G**2, S),
        intended=lambda: state(
            "with_replacement.meant",
            r.cohort_error,
            "==",
            r.G_t_sq / r.S,
            SAMPLED_BY_WEIGHT,
            EQUAL_WEIGHTS,
            EXACT_GRADIENTS,
        ),
        whose="reader",
        meant=lambda S, G: (
            mean(F(G * i + G * j, S) ** 2 for i in SIGNS for j in SIGNS) == F(G**2, S)
        ),
    ),
    Accusation(
        "sample_variance",
        dict(
            statement="For n independent draws of variance c the estimate (1/n) sum (x_i - mean)^2 "
            "has the expectation c."
        ),
        {},
        lambda: state("sample_variance", (n - 1) * c / n, "==", c),
        "statement",
        "The estimate with 1/n has the expectation (n - 1) c/n.",
        dict(c=1),  # two draws of 1 or -1
        lambda c: (
            mean(mean((p - F(i + j, 2)) ** 2 for p in (i, j)) for i in SIGNS for j in SIGNS) == c
        ),
    ),
    Accusation(
        "pythagoras_sign",
        dict(
            statement="(1/N) sum |grad f_i|^2 = |grad F|^2 - (1/N) sum |grad f_i - grad F|^2, "
            "F = (1/N) sum f_i.",
            proof="Expand the square about grad F; the cross term vanishes and both squares add.",
        ),
        {"equal_weights": "statement"},
        lambda: state("pythagoras_sign", r.mean_square, "==", r.sq_grad - r.G_t_sq, EQUAL_WEIGHTS),
        "misprint",
        "The proof adds both squares; the display has a minus.",
        dict(g_1=1, g_2=3),
        lambda g_1, g_2: (
            mean((g_1**2, g_2**2))
            == mean((g_1, g_2)) ** 2 - mean((g - mean((g_1, g_2))) ** 2 for g in (g_1, g_2))
        ),
        intended=lambda: state(
            "pythagoras_sign.meant", r.mean_square, "==", r.sq_grad + r.G_t_sq, EQUAL_WEIGHTS
        ),
        meant=lambda g_1, g_2: (
            mean((g_1**2, g_2**2))
            == mean((g_1, g_2)) ** 2 + mean((g - mean((g_1, g_2))) ** 2 for g in (g_1, g_2))
        ),
    ),
    Accusation(
        "noise_total",
        dict(
            statement="E|g_S - grad F|^2 <= sigma^2/S for S = N, F = (1/N) sum f_i.",
            assumption="Assumption 3: E|g_i - grad f_i|^2 <= sigma^2, clients independent.",
        ),
        {
            "coordinate_noise": "nowhere",
            "independent_noise": "text",
            "equal_weights": "statement",
            "S = N": "statement",
        },
        lambda: state(
            "noise_total",
            r.cohort_error,
            "<=",
            r.sigma_j**2 / r.S,
            *(INDEPENDENT, EQUAL_WEIGHTS, Eq(r.S, r.N)),
            unstated=(r.COORDINATE_NOISE,),
        ),
        "reading",
        "Assumption 3 bounds the variance of the whole gradient, not that of each coordinate.",
        dict(d=2, sigma_j=1, S=1),
        lambda d, sigma_j, S: (
            mean((sigma_j * i) ** 2 + (sigma_j * j) ** 2 for i in SIGNS for j in SIGNS)
            <= F(sigma_j**2, S)
        ),
        intended=lambda: state(
            "noise_total.meant",
            r.cohort_error,
            "<=",
            r.sigma**2 / r.S,
            NOISE,
            INDEPENDENT,
            EQUAL_WEIGHTS,
            Eq(r.S, r.N),
        ),
        whose="reader",
        meant=lambda d, sigma_j, S: (
            mean((sigma_j * i) ** 2 + (sigma_j * j) ** 2 for i in SIGNS for j in SIGNS)
            <= F(d * sigma_j**2, S)
        ),
    ),
    Accusation(
        "cohort_exact_source",
        dict(
            statement="For uniform cohorts and F = (1/N) sum f_i: E|g_S - grad F|^2 = rho_s G_t^2/S, "
            "by [4], theorem 2.2.",
            source="[4] Theorem 2.2 is about numbers y_1, ..., y_N that are observed without error.",
            assumption="Assumption 1: clients' gradients are unbiased, with variance sigma^2.",
        ),
        {
            "uniform_cohort": "statement",
            "equal_weights": "statement",
            "noise": "text",
            "exact_gradients": "source",
        },
        lambda: state(
            "cohort_exact_source",
            r.cohort_error,
            "==",
            r.rho_s * r.G_t_sq / r.S,
            *(UNIFORM_COHORT, EQUAL_WEIGHTS, NOISE),
            unstated=(EXACT_GRADIENTS,),
        ),
        "hypothesis",
        "The identity needs exact gradients; the source observes without error, the paper does not.",
        dict(sigma=1),  # N = S = 1
        lambda sigma: mean((sigma * e) ** 2 for e in SIGNS) == 0,
        needs=lambda sigma: sigma == 0,
    ),
    Accusation(
        "fastest_clients",
        dict(
            statement="For exact gradients and F = (1/N) sum f_i: E|g_S - grad F|^2 <= rho_s G^2/S "
            "under assumption 2.",
            assumption="Assumption 2: (1/N) sum |grad f_i - grad F|^2 <= G^2.",
            listing="2: wait for the S fastest clients",
        ),
        {"dissimilar": "text", "exact_gradients": "statement", "equal_weights": "statement"},
        lambda: state(
            "fastest_clients",
            r.cohort_error,
            "<=",
            r.rho_s * r.G**2 / r.S,
            *(DISSIMILAR, EXACT_GRADIENTS, EQUAL_WEIGHTS),
        ),
        "statement",
        "The listing takes the fastest clients, and nothing makes these a uniform cohort.",
        dict(g_1=1, g_2=1, g_3=-2, S=2),  # clients 1 and 2 are the fastest
        lambda g_1, g_2, g_3, S: (
            F(g_1 + g_2, S) ** 2 <= F(3 - S, 2) * F(g_1**2 + g_2**2 + g_3**2, 3) / S
        ),
    ),
    Accusation(
        "any_weights",
        dict(
            statement="For F = sum p_i f_i with any probabilities p_i, exact gradients and all "
            "clients working, g_S = grad F.",
            listing="5: g_S = (1/S) sum of the received gradients",
        ),
        {"S = N": "statement", "exact_gradients": "statement", "equal_weights": "nowhere"},
        lambda: state(
            "any_weights",
            r.cohort_error,
            "<=",
            0,
            *(Eq(r.S, r.N), EXACT_GRADIENTS),
            unstated=(EQUAL_WEIGHTS,),
        ),
        "statement",
        "The listing takes the plain mean, which is grad F for equal p_i only; the text has any p_i.",
        dict(p_1=F(3, 4), g_1=1, g_2=-1),
        lambda p_1, g_1, g_2: (F(g_1 + g_2, 2) - (p_1 * g_1 + (1 - p_1) * g_2)) ** 2 <= 0,
    ),
)
