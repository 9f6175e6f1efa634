"""One round of FSL with many clients and many steps, on quadratics in one dimension, by closed
forms of two moments.

Enumeration is limited to a few clients and steps; here N, S, K and K_0 may be thousands. Two kinds
of clients have the same curvature and differ in tilt, so that G is exact. Noise may have any law
with the given variance, because only moments enter. Measured are the values and squared gradients
of the modified loss before and after the round, the inner product of grad F and grad f_0, and the
server's deviation xi. Other losses and other dimensions never occur here.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import root
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.recursions import geometric_sums, leave_exact
from fedtheory.models import Model, beside, losses, names
from fedtheory.models.families import scale_curvature
from fedtheory.models.fields import Field, Fields, coordinate, count, deviation, name_true, number
from fedtheory.models.fsl import ENSURES, ROUNDS
from fedtheory.schema import integer, row
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Assignment, Instance, Number, Shape

MEASURED = "tilde_F_t tilde_F_next sq_tilde_grad sq_grad sq_server_grad grad_inner sq_xi".split()
COUNTS = (1, 1, 1, 2, 3, 10, 30, 100)  # few large counts, because exact powers grow with the count


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int]:
    """Draw N up to 1000, S from 1 to N, and K and K_0 among COUNTS.

    Noise may be shared by all steps, and the server may have a curvature of its own, only where the
    claim does not assume the opposite.
    """
    N = random.choice([1, 2, 2, 3, 10, 100, 1000])
    S = random.choice([1, N, max(1, N - 1), random.randint(1, N)])
    return dict(
        N=N,
        S=S,
        kind_1=random.choice([N, (N + 1) // 2, max(1, N - 1)]),
        K=random.choice(COUNTS),
        K_0=random.choice(COUNTS),
        convex=int(random.random() < 0.7),
        noise=int(random.random() < 0.5),
        noise_0=int(random.random() < 0.5),
        shared=int("independent_noise" in relaxed and random.random() < 0.5),
        own=int("server_dissimilar" in relaxed and random.random() < 0.5),
        still=int(random.random() < 0.3),
    )


def build_slope(shape: Shape, point: Any, built: Any) -> Any:
    """Return the common curvature of the clients' losses."""
    return scale_curvature(shape, point)(point["bend"])


def build_server_slope(shape: Shape, point: Any, built: Any) -> Any:
    """Return the curvature of the server's loss: its own, or the clients' curvature."""
    return scale_curvature(shape, point)(point["bend_0"]) if shape["own"] else built["slope"]


def build_tilts(shape: Shape, point: Any, built: Any) -> Any:
    """Return the tilts of the server and of both kinds of clients. For a round that starts where it
    is to stand still, the gradients of server and clients are 0 there."""
    names = (f"tilt_{i}" for i in range(3))
    tilts = [point["scale"] * point[n] if n in point else Fraction(0) for n in names]
    if not shape["still"]:
        return tilts
    x, known = point["x"], dict(built, tilts=tilts)
    g = known["slope"] * x + mean_tilt(known)
    return [-known["slope_0"] * x, *(tilt - g for tilt in tilts[1:])]


def list_tilts(shape: Shape) -> Any:
    """Return the coordinates of the tilts: of the server, and of each kind of clients."""
    kinds = 2 if shape["kind_1"] < shape["N"] else 1
    return dict.fromkeys([f"tilt_{i}" for i in range(kinds + 1)], "real")


FIELDS = Fields(
    *(count(name, most=most) for name, most in dict(N=None, S="N", K=None, K_0=None).items()),
    count("kind_1", most="N"),
    coordinate("scale", "positive"),
    coordinate("bend", "unit"),
    number("x"),
    Field("slope", "number", build_slope),
    Field(
        "slope_0", "number", build_server_slope, lambda s: {"bend_0": "unit"} if s["own"] else {}
    ),
    Field("tilts", row("number", "number", "number"), build_tilts, list_tilts),
    deviation("sigma", "noise"),
    deviation("sigma_0", "noise_0"),
    Field("shared", integer(1, 1), lambda shape, point, built: 1, when=lambda s: s["shared"]),
    order="scale bend x tilts",
)


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return N, S, K, K_0, and the exact L, mu, G, xi_bar, sigma and sigma_0.

    With the share s of the first kind and a gap t of the tilts, G is sqrt(s (1 - s)) |t|.
    """
    f = {
        name: [losses.make_curve(slope, tilt)]
        for name, slope, tilt in (
            ("server", instance["slope_0"], instance["tilts"][0]),
            ("client", instance["slope"], Fraction(0)),
        )
    }
    first, gap = share(instance), instance["tilts"][1] - instance["tilts"][2]
    spread = Fraction(0) if first == 1 else root(first * (1 - first)) * abs(gap)
    mean = [losses.make_curve(instance["slope"], mean_tilt(instance))]
    mismatch = losses.mismatch(f["server"], [mean])
    return dict(
        {name: Fraction(instance[name]) for name in ("N", "S", "K", "K_0")},
        G=spread,
        L=losses.smoothness_of(f["server"], f["client"]),
        mu=losses.convexity_of(f["server"], f["client"]),
        xi_bar=mismatch if isinstance(mismatch, float) else root(mismatch),
        sigma=instance["sigma"],
        sigma_0=instance["sigma_0"],
    )


def share(instance: Instance) -> Fraction:
    """Return the share of the clients that are of the first kind."""
    return Fraction(instance["kind_1"], instance["N"])


def mean_tilt(instance: Instance) -> Number | Counted:
    """Return the mean tilt of the clients' losses."""
    first = share(instance)
    return (
        instance["tilts"][1]
        if first == 1
        else first * instance["tilts"][1] + (1 - first) * instance["tilts"][2]
    )


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return values and gradients at x, and the expected modified loss after the round.

    A client ends at x - eta_l (sum_k r^k) grad f_i(x) plus noise, r = 1 - eta_l a; the cohort's
    mean has the variance of a draw without replacement, and the server's K_0 steps map both moments
    affinely.
    """
    N, S, K, K_0 = (instance[name] for name in ("N", "S", "K", "K_0"))
    a, a_0, x = (instance[name] for name in ("slope", "slope_0", "x"))
    c_0, c, gamma = instance["tilts"][0], mean_tilt(instance), values["gamma"]
    eta, eta_g, step_0 = values["eta_l"], values["eta_g"], gamma * values["eta_0"]
    first = share(instance)
    gap = Fraction(0) if first == 1 else instance["tilts"][1] - instance["tilts"][2]
    g, g_0 = a * x + c, a_0 * x + c_0
    grad = (g + gamma * g_0) / (1 + gamma)
    F = lambda y: (a * y * y / 2 + c * y + gamma * (a_0 * y * y / 2 + c_0 * y)) / (1 + gamma)
    found = dict(
        tilde_F_t=lambda: F(x),
        sq_grad=lambda: g * g,
        sq_server_grad=lambda: g_0 * g_0,
        sq_tilde_grad=lambda: grad * grad,
        grad_inner=lambda: g * g_0,
        sq_xi=lambda: (g - g_0) * (g - g_0),
    )
    if "tilde_F_next" in wanted:
        sums = lambda ratio, n: geometric_sums(ratio, n, leave_exact)
        # y_K - x = -eta (sum_k r^k) g_i, and noise eta sum_k r^k n_k
        _, pull = sums(1 - eta * a, K)
        _, squares = sums((1 - eta * a) * (1 - eta * a), K)
        left_over = (
            Fraction(N - S, N - 1) if N > 1 else Fraction(0)
        )  # factor of the variance for draws without replacement
        between = left_over * first * (1 - first) * gap * gap * pull * pull
        scale = eta_g * eta
        mean_bar = x - scale * pull * g
        shared = instance.get(
            "shared"
        )  # one draw for all steps of all clients, one draw for all steps of the server
        drawn = squares if not shared else S * pull * pull
        spread_bar = scale * scale * (between + drawn * instance["sigma"] * instance["sigma"]) / S
        keeps, pull_0 = sums(1 - step_0 * a_0, K_0)
        _, squares_0 = sums((1 - step_0 * a_0) * (1 - step_0 * a_0), K_0)
        end = mean_bar - step_0 * pull_0 * (a_0 * mean_bar + c_0)
        squares_0 = pull_0 * pull_0 if shared else squares_0
        spread = (
            keeps * keeps * spread_bar
            + step_0 * step_0 * squares_0 * instance["sigma_0"] * instance["sigma_0"]
        )
        found["tilde_F_next"] = lambda: F(end) + (a + gamma * a_0) / (1 + gamma) * spread / 2
    return {name: found[name]() for name in wanted}


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    """Return the conditions that the two curvatures and the draws of noise meet."""
    one_draw = instance.get("shared") and (
        instance["sigma"] > 0
        and instance["K"] * instance["S"] > 1
        or instance["sigma_0"] > 0
        and instance["K_0"] > 1
    )
    return ENSURES - name_true(
        server_dissimilar=instance["slope"] != instance["slope_0"],
        convex=instance["slope"] < 0 or instance["slope_0"] < 0,
        independent_noise=one_draw,
    )


MODEL = Model(
    name="fsl_large",
    says="one round of FSL with many clients and steps, on quadratics in one dimension",
    measures=names(TABLE, *MEASURED),
    by=beside("fsl", "moments in closed form, for thousands of clients and steps"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    holds=conditions_held,
    kind="exact",
    **ROUNDS,
    **FIELDS.record(),
)
