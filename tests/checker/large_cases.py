"""Statements whose constants leave slack, and false statements that only many clients, many steps
or long runs refute: a checker must look beyond small instances.

Each true statement is proved in a few lines here. Each false statement has an instance at which it
fails, worked out by hand and checked exactly by the tests; a search must find such an instance
without it.
"""

from fractions import Fraction as Q
from typing import NamedTuple

from sympy import Eq, Rational, exp, sqrt

from fedtheory import discover
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import (
    BOUNDED_BELOW,
    CONVEX,
    DISSIMILAR,
    EXACT_GRADIENTS,
    SMOOTH,
    STRONGLY_CONVEX,
)
from fedtheory.search.exact_instances import ExactInstance, answer_at
from fedtheory.symbols import fsl, mixed
from fedtheory.symbols.run import (
    QUADRATIC,
    G,
    K,
    L,
    N,
    S,
    T,
    cohort_error,
    eta,
    eta_g,
    eta_l,
    gap_0,
    gap_mean,
    gap_of_mean,
    gap_T,
    mean_sq_grad,
    mu,
    rho_s,
    sigma,
    sq_distance_0,
    sq_distance_T,
    sq_grad_T,
    u,
    zeta,
)
from tests.checker.known_statements import ALL_CLIENTS, SAMPLED, house

STRONG = (SMOOTH, STRONGLY_CONVEX, mu > 0)


class Failing(NamedTuple):
    """A false statement, the statement from which it was made, and an instance at which it fails."""

    claim: Claim
    base: Claim
    case: ExactInstance


TRUE: dict[str, Claim] = {}
FAILING: dict[str, Failing] = {}


def record_true(name, *parts, **more):
    TRUE[name] = house(name, *parts, **more)


def make_run(slopes=(1,), members=(1,), at_star=0, x_0=0, noise=0, S=None, K=1, T=1000, **numbers):
    """Build a run in one coordinate. The gradients at the minimiser are at_star for the last kind
    of clients, the opposite in total for the first kind, and 0 for the kinds in between."""
    rest = [[Q(0)] for _ in members[1:-1]] + ([[Q(at_star)]] if len(members) > 1 else [])
    instance = dict(
        S=sum(members) if S is None else S,
        K=K,
        T=T,
        lipschitz=1,
        members=list(members),
        slopes=[[Q(a)] for a in slopes],
        at_star=rest,
        x_0=[Q(x_0)],
        sigma=Q(noise),
    )
    method = "fedsgd" if "eta" in numbers else "fedavg"
    return ExactInstance(f"run_large_{method}", instance, {n: Q(v) for n, v in numbers.items()}, {})


def make_cohort(members, grads, S, noise=0):
    instance = dict(members=list(members), grads=list(map(Q, grads)), S=S, sigma=Q(noise))
    return ExactInstance("run_large_cohort", instance, {}, {})


def record_false(name, case, base=None, **bounds):
    """Record false variants of a statement, given {label: right-hand side}."""
    base = TRUE[name] if base is None else base
    for label, bound in bounds.items():
        claim = base.replace(name=f"house.{name}.{label}", bound=bound)
        FAILING[f"{name}.{label}"] = Failing(claim, base, case)


# Federated averaging in rounds. Let x+ = x - eta K g with g the mean of the estimates at y_ik, and
# e = eta K L <= 1/16. It holds that f_i(x) - f_i(x*) <= <grad f_i(y), x - x*> + L/2 |x - y|^2. The mean
# gradient is within L |y - x| of grad F(x), whose square is at most 2 L gap. Therefore
#     E|x+ - x*|^2 <= |x - x*|^2 - 2 eta K gap + eta K L D + (eta K)^2 (8 L gap + 4 L^2 D)
#                     + 2 eta^2 K sigma^2/N,
# where D is the mean of E|y_ik - x|^2. Steps on a convex loss do not bring points apart, and its gradients
# shrink along them: D <= 2 eta^2 ((K-1)(2K-1)/6 (4 L gap + 2 zeta^2) + (K-1)/2 sigma^2). The remaining
# coefficient of gap is at most -eta K, and the sum over rounds telescopes.
start = sq_distance_0 / (eta_l * K * T)
drift = Rational(5, 6) * L * eta_l**2 * (K - 1) * (2 * K - 1) * zeta**2
jitter = Rational(5, 4) * L * eta_l**2 * (K - 1) * sigma**2
noise = 2 * eta_l * sigma**2 / N
record_true(
    "fedavg_rounds",
    "derived above",
    gap_mean,
    "<=",
    start + drift + jitter + noise,
    ALL_CLIENTS,
    Eq(eta_g, 1),
    eta_l * K * L <= Rational(1, 16),
    SMOOTH,
    CONVEX,
    *SAMPLED,
    by="fedavg",
)
# For curvatures 1 and 0 under opposite pulls, rounds end at a distance near eta K/2, with a loss of
# (eta K)^2/16.
HALVES = dict(slopes=(1, 0), members=(500, 500), at_star=-1)
record_false(
    "fedavg_rounds",
    make_run(**HALVES, K=1000, eta_l="1/16000", eta_g=1),
    drift_as_noise=start + jitter + 2 * eta_l * (sigma**2 + zeta**2) / N,
    drift_linear=start + Rational(5, 6) * L * eta_l**2 * (K - 1) * zeta**2 + jitter + noise,
    drift_over_N=start + drift / N + jitter + noise,
    drift_over_T=start + drift / T + jitter + noise,
    drift_third_order=start + drift * eta_l * L + jitter + noise,
)
# Noise at curvature 1 leaves x with a variance of eta sigma^2/(N (2 - eta)).
record_false(
    "fedavg_rounds",
    make_run(members=(1000,), noise=1, eta_l="1/16", eta_g=1),
    noise_over_NN=start + drift + jitter + noise / N,
    noise_over_N_root_N=start + drift + jitter + noise / sqrt(N),
    noise_over_NT=start + drift + jitter + noise / T,
    noise_second_order=start + drift + jitter + noise * eta_l * L,
)
record_false(
    "fedavg_rounds",
    make_run(noise=1, K=100, eta_l="1/10000", eta_g=1),
    noise_over_NK=start + drift + jitter + noise / K,
)
# eta K = 1/16 at curvature 1 from x = 1: the sum of all losses is 1/2 / (1 - (15/16)^2) > 4.
record_false(
    "fedavg_rounds",
    make_run(members=(1000,), x_0=1, K=1000, eta_l="1/16000", eta_g=1),
    start_over_TT=start / T + drift + jitter + noise,
    start_over_KK=start / K + drift + jitter + noise,
    start_over_N=start / N + drift + jitter + noise,
    start_over_S=start / S + drift + jitter + noise,
    start_exponential=start * T * exp(-T / 20) + drift + jitter + noise,
    start_power=start / sqrt(T) + drift + jitter + noise,
    start_over_root_K=start / sqrt(K) + drift + jitter + noise,
)

# Khaled, Mishchenko and Richtarik 2020, theorem 4, with the drift 16 eta^2 L (K - 1)^2 zeta^2, at
# the mean of the rounds' points. The bound is false without the drift term, and with a smaller one.
FOUR = (Eq(eta_g, 1), eta_l * L <= Rational(1, 4), 8 * eta_l * L * (K - 1) <= 1)
khaled = 4 * sq_distance_0 / (eta_l * K * T) + 20 * eta_l * zeta**2 / N
drifting = 16 * eta_l**2 * L * (K - 1) ** 2 * zeta**2
BASE = house(
    "khaled_4",
    "Khaled, Mishchenko and Richtarik 2020, theorem 4",
    gap_of_mean,
    "<=",
    khaled + drifting,
    ALL_CLIENTS,
    *FOUR,
    SMOOTH,
    CONVEX,
    EXACT_GRADIENTS,
    by="fedavg",
)
record_false(
    "khaled_4",
    make_run((1, "1/1000"), (50, 50), 1, K=51, T=60, eta_l="1/400", eta_g=1),
    BASE,
    no_drift=khaled,
)
record_false(
    "khaled_4",
    make_run(**HALVES, K=1000, eta_l="1/8000", eta_g=1),
    BASE,
    drift_linear=khaled + 16 * eta_l**2 * L * (K - 1) * zeta**2,
    drift_over_N=khaled + drifting / N,
    drift_over_T=khaled + drifting / T,
)

# SGD on cohorts. E|g_S|^2 <= 2 L gap + (sigma^2 + rho_s (4 L gap + 2 zeta^2))/S, and eta L <= 1/6.
sgd_start = sq_distance_0 / (eta * T)
record_true(
    "sgd_cohorts",
    "derived above",
    gap_mean,
    "<=",
    sgd_start + eta * (sigma**2 + 2 * rho_s * zeta**2) / S,
    eta * L <= Rational(1, 6),
    SMOOTH,
    CONVEX,
    *SAMPLED,
    by="fedsgd",
)
ONE_OF_MANY = dict(slopes=(1, 1), members=(500, 500), at_star=1, eta="1/6")
record_false(
    "sgd_cohorts",
    make_run(members=(1000,), noise=1, S=100, eta="1/6"),
    noise_over_SS=sgd_start + eta * (sigma**2 / S + 2 * rho_s * zeta**2) / S,
    noise_over_N=sgd_start + eta * (sigma**2 / N + 2 * rho_s * zeta**2 / S),
    noise_over_S_root_S=sgd_start + eta * (sigma**2 / sqrt(S) + 2 * rho_s * zeta**2) / S,
    noise_over_ST=sgd_start + eta * (sigma**2 / T + 2 * rho_s * zeta**2) / S,
    noise_over_SN=sgd_start + eta * (sigma**2 / N + 2 * rho_s * zeta**2) / S,
)
record_false(
    "sgd_cohorts",
    make_run(**ONE_OF_MANY, S=100),
    spread_over_SS=sgd_start + eta * (sigma**2 + 2 * rho_s * zeta**2 / S) / S,
    spread_over_N=sgd_start + eta * (sigma**2 / S + 2 * rho_s * zeta**2 / N),
    spread_over_ST=sgd_start + eta * (sigma**2 + 2 * rho_s * zeta**2 / T) / S,
    spread_over_S_root_S=sgd_start + eta * (sigma**2 + 2 * rho_s * zeta**2 / sqrt(S)) / S,
)
record_false(
    "sgd_cohorts",
    make_run(**ONE_OF_MANY, S=990),
    spread_rho_squared=sgd_start + eta * (sigma**2 + 2 * rho_s**2 * zeta**2) / S,
)
record_false(
    "sgd_cohorts",
    make_run(x_0=1, S=1, members=(1000,), eta="1/6"),
    start_over_TT=sgd_start / T + eta * (sigma**2 + 2 * rho_s * zeta**2) / S,
    start_over_N=sgd_start / N + eta * (sigma**2 + 2 * rho_s * zeta**2) / S,
    start_power=sgd_start / sqrt(T) + eta * (sigma**2 + 2 * rho_s * zeta**2) / S,
    start_exponential=sgd_start * T * exp(-T / 20) + eta * (sigma**2 + 2 * rho_s * zeta**2) / S,
)

# The same with mu > 0 and eta L <= 1/3, where no term in gap remains: |x - x*|^2 shrinks by 1 - eta
# mu, and the noise adds up to eta/(mu S) times itself; the factor 20 leaves room.
floor = lambda noise: (1 - eta * mu) ** T * sq_distance_0 + 20 * eta * noise / (mu * S)
record_true(
    "sgd_cohorts_strong",
    "derived above",
    sq_distance_T,
    "<=",
    floor(sigma**2 + 2 * rho_s * zeta**2),
    eta * L <= Rational(1, 3),
    *STRONG,
    *SAMPLED,
    by="fedsgd",
)
record_false(
    "sgd_cohorts_strong",
    make_run(members=(1000,), noise=1, S=100, eta="1/3"),
    noise_over_SS=floor(sigma**2 / S + 2 * rho_s * zeta**2),
    noise_over_SN=floor(sigma**2 / N + 2 * rho_s * zeta**2),
    noise_over_ST=floor(sigma**2 / T + 2 * rho_s * zeta**2),
)
record_false(
    "sgd_cohorts_strong",
    make_run(**{**ONE_OF_MANY, "eta": "1/3"}, S=100),
    spread_over_SS=floor(sigma**2 + 2 * rho_s * zeta**2 / S),
    spread_over_SN=floor(sigma**2 + 2 * rho_s * zeta**2 / N),
    spread_over_ST=floor(sigma**2 + 2 * rho_s * zeta**2 / T),
)
record_false(
    "sgd_cohorts_strong",
    make_run(**{**ONE_OF_MANY, "eta": "1/3"}, S=995),
    spread_rho_squared=floor(sigma**2 + 2 * rho_s**2 * zeta**2),
)
record_false(
    "sgd_cohorts_strong",
    make_run(x_0=1, T=30, eta="1/3"),
    rate=100 * (1 - eta * mu) ** (3 * T) * sq_distance_0
    + 20 * eta * (sigma**2 + 2 * rho_s * zeta**2) / (mu * S),
    rate_again=10**6 * (1 - eta * mu) ** (4 * T) * sq_distance_0
    + 20 * eta * (sigma**2 + 2 * rho_s * zeta**2) / (mu * S),
)

# Gradient descent: the bound L R^2/(4 T + 2) is that of Drori and Teboulle. At curvature L/(2 T)
# from 1 the loss after T steps is L (1 - 1/(2 T))^(2 T)/(4 T), which is above L/(11.5 T).
DESCENT = (Eq(eta * L, 1), SMOOTH, CONVEX, EXACT_GRADIENTS, ALL_CLIENTS)
record_true(
    "gd_long",
    "Drori and Teboulle 2014, theorem 3.1, with room",
    gap_T,
    "<=",
    4 * L * sq_distance_0 / T,
    *DESCENT,
    by="fedsgd",
)
# the mean curvature is 1/1000 = L/(2 T)
TWO_SLOPES = dict(slopes=(1, 0), members=(1, 999), at_star=0, x_0=1, T=500, eta=1)
record_false(
    "gd_long",
    make_run(**TWO_SLOPES),
    square=4 * L * sq_distance_0 / T**2,
    power=L * sq_distance_0 / (T * sqrt(T)),
    exponential=L * sq_distance_0 * exp(-T / 50),
    roots=L * sq_distance_0 * exp(-sqrt(T)),
    over_TN=4 * L * sq_distance_0 / (T * N),
    over_TS=4 * L * sq_distance_0 / (T * S),
)

record_true(
    "gd_long_mean",
    "the same for the mean of the losses: R^2/(2 eta T), with room",
    gap_mean,
    "<=",
    4 * L * sq_distance_0 / T,
    *DESCENT,
    by="fedsgd",
)
record_false(
    "gd_long_mean",
    make_run(members=(1000,), x_0=1, eta=1, slopes=("1/2",), L=1),
    power=4 * L * sq_distance_0 / (T * sqrt(T)),
    square=4 * L * sq_distance_0 / T**2,
    exponential=L * sq_distance_0 * exp(-T / 50),
    over_TN=4 * L * sq_distance_0 / (T * N),
)
record_true(
    "gd_long_gradient",
    "the gradient shrinks, and eta sum |grad|^2/2 <= gap_(T/2) <= L R^2/(2 T + 2): with room",
    sq_grad_T,
    "<=",
    8 * L**2 * sq_distance_0 / T**2,
    *DESCENT,
    by="fedsgd",
)
record_false(
    "gd_long_gradient",
    make_run(members=(1000,), x_0=1, eta=1, slopes=("1/1000",), L=1),
    cube=8 * L**2 * sq_distance_0 / T**3,
    over_TTN=8 * L**2 * sq_distance_0 / (T**2 * N),
    over_TTS=8 * L**2 * sq_distance_0 / (T**2 * S),
    exponential=L**2 * sq_distance_0 * exp(-T / 30),
)

# Federated averaging with equal clients makes K T such steps.
ALIKE = (Eq(G, 0), Eq(eta_g, 1), Eq(eta_l * L, 1), SMOOTH, CONVEX, DISSIMILAR, EXACT_GRADIENTS)
record_true(
    "fedavg_alike_long",
    "Drori and Teboulle 2014, theorem 3.1, with room, for K T steps",
    gap_T,
    "<=",
    4 * L * sq_distance_0 / (K * T),
    *ALIKE,
    by="fedavg",
)


def two_axes(K, T):
    """Build a run of 1000 clients in two coordinates: slope 1, on which nothing happens, and slope
    1/(2 K T)."""
    instance = dict(
        S=1000,
        K=K,
        T=T,
        lipschitz=1,
        members=[1000],
        slopes=[[Q(1), Q(1, 2 * K * T)]],
        at_star=[],
        x_0=[Q(0), Q(1)],
        sigma=Q(0),
    )
    return ExactInstance("run_large_fedavg", instance, dict(eta_l=Q(1), eta_g=Q(1)), {})


record_false(
    "fedavg_alike_long",
    two_axes(100, 100),
    over_KKT=4 * L * sq_distance_0 / (K**2 * T),
    over_KTT=4 * L * sq_distance_0 / (K * T**2),
    over_KTN=4 * L * sq_distance_0 / (K * T * N),
    over_KTS=4 * L * sq_distance_0 / (K * T * S),
    power=4 * L * sq_distance_0 / (K * T * sqrt(K * T)),
    exponential=L * sq_distance_0 * exp(-K * T / 50),
)

# Gradients: f(x+) <= f(x) - eta/2 |grad f(x)|^2 where eta L <= 1; the bounds below are at least
# twice that, to leave room.
record_true(
    "sgd_gradients",
    "Ghadimi and Lan 2013, with room",
    mean_sq_grad,
    "<=",
    20 * gap_0 / (eta * T) + 20 * L * eta * sigma**2 / N,
    eta * L <= 1,
    SMOOTH,
    BOUNDED_BELOW,
    *SAMPLED,
    ALL_CLIENTS,
    by="fedsgd",
)
record_false(
    "sgd_gradients",
    make_run(x_0=1, T=1000, members=(1000,), eta="1/2"),
    start_over_TT=20 * gap_0 / (eta * T**2) + 20 * L * eta * sigma**2 / N,
    start_power=20 * gap_0 / (eta * T * sqrt(T)) + 20 * L * eta * sigma**2 / N,
    start_over_TN=20 * gap_0 / (eta * T * N) + 20 * L * eta * sigma**2 / N,
    start_over_TS=20 * gap_0 / (eta * T * S) + 20 * L * eta * sigma**2 / N,
    start_exponential=20 * gap_0 / eta * exp(-T / 50) + 20 * L * eta * sigma**2 / N,
)
record_false(
    "sgd_gradients",
    make_run(noise=1, members=(1000,), eta="1/2"),
    noise_over_NN=20 * gap_0 / (eta * T) + 20 * L * eta * sigma**2 / N**2,
    noise_over_NT=20 * gap_0 / (eta * T) + 20 * L * eta * sigma**2 / (N * T),
)
record_false(
    "sgd_gradients",
    make_run(noise=1, members=(1000,), eta="1/100"),
    noise_second_order=20 * gap_0 / (eta * T) + 20 * (L * eta) ** 2 * sigma**2 / N,
)

# Cohorts, by theorem 2.2 of Cochran
record_true(
    "cohort_room",
    "Cochran 1977, theorem 2.2, with room",
    cohort_error,
    "<=",
    20 * (sigma**2 + rho_s * G**2) / S,
    DISSIMILAR,
    *SAMPLED,
)
record_false(
    "cohort_room",
    make_cohort((500, 500), (0, 2), 500, 1),
    over_SS=20 * (sigma**2 + rho_s * G**2) / S**2,
    over_SN=20 * (sigma**2 + rho_s * G**2) / (S * N),
)
record_false(
    "cohort_room",
    make_cohort((1000,), (0,), 500, 1),
    only_noise_over_SS=20 * (sigma**2 / S + rho_s * G**2) / S,
    noise_over_SN=20 * (sigma**2 / N + rho_s * G**2) / S,
    noise_over_S_root_S=20 * (sigma**2 / sqrt(S) + rho_s * G**2) / S,
)
record_false(
    "cohort_room",
    make_cohort((500, 500), (0, 2), 30),
    only_spread_over_SS=20 * (sigma**2 + rho_s * G**2 / S) / S,
    spread_over_N=20 * (sigma**2 / S + rho_s * G**2 / N),
    spread_over_SN=20 * (sigma**2 + rho_s * G**2 / N) / S,
)
record_false(
    "cohort_room",
    make_cohort((500, 500), (0, 2), 990),
    rho_squared=20 * (sigma**2 + rho_s**2 * G**2) / S,
    fraction_left=20 * (sigma**2 + rho_s * G**2 * (N - S) / N) / S,
)

# One local step, as in house check 1, with room
shrinking = (1 - u * mu) ** T * sq_distance_0
record_true(
    "one_step_room",
    "house check 1, with room",
    sq_distance_T,
    "<=",
    shrinking + 20 * u * sigma**2 / (N * mu),
    Eq(K, 1),
    ALL_CLIENTS,
    u * L <= 1,
    *STRONG,
    *SAMPLED,
    by="fedavg",
)
record_false(
    "one_step_room",
    make_run(members=(1000,), noise=1, eta_l="1/2", eta_g=1),
    over_NN=shrinking + 20 * u * sigma**2 / (N**2 * mu),
    over_NT=shrinking + 20 * u * sigma**2 / (N * T * mu),
    over_NS=shrinking + 20 * u * sigma**2 / (N * S * mu),
)

# The bias of a round on quadratics (known_statements, fedavg_bias): clients with curvatures 1 and 0
# under opposite pulls differ by half of eta^2 K (K - 1)/2.
bias = eta_l**2 * L * zeta / 2
record_true(
    "bias_room",
    "derived in known_statements, with room",
    sqrt(sq_distance_T),
    "<=",
    sqrt(sq_distance_0) + 10 * bias * K * (K - 1),
    Eq(T, 1),
    Eq(eta_g, 1),
    eta_l * L <= 1,
    SMOOTH,
    CONVEX,
    QUADRATIC,
    EXACT_GRADIENTS,
    ALL_CLIENTS,
    by="fedavg",
)
record_false(
    "bias_room",
    make_run(**HALVES, K=1000, T=1, eta_l="1/1000", eta_g=1),
    linear=sqrt(sq_distance_0) + 10 * bias * (K - 1),
    over_N=sqrt(sq_distance_0) + 10 * bias * K * (K - 1) / N,
)

# Recorded claims whose noise term is divided by one factor too many

D9 = discover.claim("mixed.lemmaD9")
m = mixed
path = 4 * m.eta_tilde**2 * m.beta**2 * m.drift
room = lambda client, central: 40 * m.eta_tilde**2 * (client + central)


def mixed_round(slopes=(1, 0), x=0, S=1000, K=1000, sigma=0, sigma_c=0, eta="1/1000000"):
    """Build a round of 1-way gradient transfer from x; both losses have their minimum at 0."""
    curves = [[dict(slope=Q(a), tilt=Q(0), bends=[], soft=[])] for a in slopes]
    instance = dict(
        losses=curves, smooth="each", x=[Q(x)], N=S, S=S, K=K, sigma=Q(sigma), sigma_c=Q(sigma_c)
    )
    return ExactInstance("mixed_large", instance, dict(eta=Q(eta), eta_s=Q(1)), {})


client = 2 * m.sigma**2 / (m.K * m.S)
record_false(
    "lemmaD9",
    mixed_round(sigma_c=1),
    D9,
    central_over_K=path + room(client, m.sigma_c**2 / m.K) + 2 * m.eta_tilde**2 * m.sq_grad,
    central_over_S=path + room(client, m.sigma_c**2 / m.S) + 2 * m.eta_tilde**2 * m.sq_grad,
)
record_false(
    "lemmaD9",
    mixed_round(sigma=1),
    D9,
    client_over_SS=path + room(client / m.S, m.sigma_c**2) + 2 * m.eta_tilde**2 * m.sq_grad,
    client_over_KK=path + room(client / m.K, m.sigma_c**2) + 2 * m.eta_tilde**2 * m.sq_grad,
)
record_false(
    "lemmaD9",
    mixed_round(x=1),
    D9,
    gradient_over_K=path + room(client, m.sigma_c**2) + 40 * m.eta_tilde**2 * m.sq_grad / m.K,
    gradient_over_S=path + room(client, m.sigma_c**2) + 40 * m.eta_tilde**2 * m.sq_grad / m.S,
)
# The three parts of a client's drift for small eta: K^2 eta^2 |grad f|^2/3, K^2 eta^2 sigma_c^2/3
# and K eta^2 sigma^2/2.
D11 = discover.claim("mixed.lemmaD11_separated").replace("house.lemmaD11", also=())
away = 16 * m.K**2 * m.eta**2 * m.beta * m.gap
jumps, common = 2 * m.K * m.eta**2 * m.sigma**2, 4 * m.K**2 * m.eta**2 * m.sigma_c**2
record_false(
    "lemmaD11",
    mixed_round(sigma=1),
    D11,
    client_constant=away + 20 * m.eta**2 * m.sigma**2 + common,
    client_over_S=away + jumps / m.S + common,
)
record_false(
    "lemmaD11",
    mixed_round(sigma_c=1),
    D11,
    central_linear=away + jumps + common / m.K,
    central_over_S=away + jumps + common / m.S,
)
record_false(
    "lemmaD11",
    mixed_round((1, 1), x=1),
    D11,
    gap_linear=away / m.K + jumps + common,
    gap_over_S=away / m.S + jumps + common,
)

# FSL, (28): u = K_0 eta_0 = K eta_l eta_g, with a large eta_g, so that u^2 L G_2 is the term that
# meets the noise
STEP28 = discover.claim("fsl.step28")
whole = STEP28.expand(STEP28.bound)


def fsl_round(sigma=0, tilts=(0, 0), S=1000, gamma=0, sigma_0=0, K_0=1, eta_0="1/1000"):
    """Build a round of FSL with curvatures of 1, from a point where all gradients add up to 0."""
    instance = dict(N=1000, S=S, K=100, K_0=K_0, kind_1=500, x=Q(0), slope=Q(1), slope_0=Q(1))
    instance.update(tilts=[Q(0), *map(Q, tilts)], sigma=Q(sigma), sigma_0=Q(sigma_0))
    return ExactInstance(
        "fsl_large", instance, dict(eta_0=Q(eta_0), eta_g=Q(10**6), gamma=Q(gamma)), {}
    )


record_false(
    "step28",
    fsl_round(sigma=1, S=100),
    STEP28,
    noise_over_SS=whole.subs(fsl.sigma, fsl.sigma / sqrt(fsl.S)),
    noise_over_SN=whole.subs(fsl.sigma, fsl.sigma / sqrt(fsl.N)),
    noise_over_KKS=whole.subs(fsl.sigma, fsl.sigma / sqrt(fsl.K)),
)
record_false(
    "step28",
    fsl_round(tilts=(1, -1), S=100),
    STEP28,
    spread_over_SS=whole.subs(fsl.G, fsl.G / sqrt(fsl.S)),
    spread_over_SN=whole.subs(fsl.G, fsl.G / sqrt(fsl.N)),
)
record_false(
    "step28",
    fsl_round(tilts=(1, -1), S=990),
    STEP28,
    spread_rho_squared=whole.subs(fsl.G, fsl.G * sqrt((fsl.N - fsl.S) / fsl.N)),
)
record_false(
    "step28",
    fsl_round(gamma="1/10", sigma_0=1, K_0=100, eta_0="1/100000"),
    STEP28,
    server_noise_over_KK=whole.subs(fsl.sigma_0, fsl.sigma_0 / sqrt(fsl.K_0)),
)

FALSE = {name: each.claim for name, each in FAILING.items()}
BASES = {name: each.base for name, each in FAILING.items()}


def certainly_fails(name):
    """Tell whether a false statement certainly fails at the instance given with it, inside its
    hypotheses."""
    found = answer_at(FAILING[name].claim, FAILING[name].case)
    return found.certainly_fails and not any(found.failing())
