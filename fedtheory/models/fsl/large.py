"""One round of FSL with many clients and many steps, on quadratics in one dimension, by closed
forms of two moments.

Enumeration is limited to a few clients and steps; here N, S, K and K_0 may be thousands. Two kinds
of clients have the same curvature and differ in tilt, so that G is exact. Noise may have any law
with the given variance, because only moments enter.
"""

from fractions import Fraction

from fedtheory.arithmetic.operations import root
from fedtheory.models import Setting, beside, losses, names
from fedtheory.schema import entries, integer, row
from fedtheory.symbols.fsl import TABLE

MEASURED = (
    "tilde_F_t",
    "tilde_F_next",
    "sq_tilde_grad",
    "sq_grad",
    "sq_server_grad",
    "grad_inner",
    "sq_xi",
)
COUNTS = (1, 1, 1, 2, 3, 10, 30, 100)  # few large counts, because exact powers grow with the count


def draw_shapes(random, relaxed):
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


def list_coordinates(shape):
    found = dict(scale="positive", bend="unit", x="real", tilt_0="real", tilt_1="real")
    if shape["kind_1"] < shape["N"]:
        found["tilt_2"] = "real"
    if shape["own"]:
        found["bend_0"] = "unit"
    found.update(
        {
            name: "positive"
            for name, kind in (("sigma", "noise"), ("sigma_0", "noise_0"))
            if shape[kind]
        }
    )
    return found


def build_instance(shape, point):
    scale = point["scale"]
    bend = lambda u: scale * u if shape["convex"] else scale * (2 * u - 1)
    slope = bend(point["bend"])
    found = dict(
        {name: shape[name] for name in ("N", "S", "K", "K_0", "kind_1")},
        x=point["x"],
        slope=slope,
        slope_0=bend(point["bend_0"]) if shape["own"] else slope,
        tilts=[
            scale * point[f"tilt_{i}"] if f"tilt_{i}" in point else Fraction(0) for i in range(3)
        ],
        sigma=point.get("sigma", Fraction(0)),
        sigma_0=point.get("sigma_0", Fraction(0)),
    )
    if shape["shared"]:
        found["shared"] = 1
    if shape["still"]:  # gradients of server and clients are 0 at the start of the round
        g, x = slope * point["x"] + mean_tilt(found), point["x"]
        found["tilts"] = [-found["slope_0"] * x, *(tilt - g for tilt in found["tilts"][1:])]
    return found


def derive_constants(instance):
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


def share(instance):
    """Return the share of the clients that are of the first kind."""
    return Fraction(instance["kind_1"], instance["N"])


def mean_tilt(instance):
    first = share(instance)
    return (
        instance["tilts"][1]
        if first == 1
        else first * instance["tilts"][1] + (1 - first) * instance["tilts"][2]
    )


def geometric(r, n):
    """Return (r^n, 1 + r + ... + r^(n-1)), computed by doubling."""
    power, total, bits = Fraction(1), Fraction(0), bin(n)[2:]
    for bit in bits:
        power, total = power * power, total + power * total
        if bit == "1":
            power, total = power * r, total * r + 1
    return power, total


def measure_symbols(instance, values, wanted):
    N, S, K, K_0, gamma = (
        instance["N"],
        instance["S"],
        instance["K"],
        instance["K_0"],
        values["gamma"],
    )
    a, a_0, x, c_0, c = (
        instance["slope"],
        instance["slope_0"],
        instance["x"],
        instance["tilts"][0],
        mean_tilt(instance),
    )
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
        # y_K - x = -eta (sum_k r^k) g_i, and noise eta sum_k r^k n_k
        _, pull = geometric(1 - eta * a, K)
        _, squares = geometric((1 - eta * a) * (1 - eta * a), K)
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
        keeps, pull_0 = geometric(1 - step_0 * a_0, K_0)
        _, squares_0 = geometric((1 - step_0 * a_0) * (1 - step_0 * a_0), K_0)
        end = mean_bar - step_0 * pull_0 * (a_0 * mean_bar + c_0)
        squares_0 = pull_0 * pull_0 if shared else squares_0
        spread = (
            keeps * keeps * spread_bar
            + step_0 * step_0 * squares_0 * instance["sigma_0"] * instance["sigma_0"]
        )
        found["tilde_F_next"] = lambda: F(end) + (a + gamma * a_0) / (1 + gamma) * spread / 2
    return {name: found[name]() for name in wanted}


def conditions_held(instance):
    sound = (
        1 <= instance["S"] <= instance["N"]
        and 1 <= instance["kind_1"] <= instance["N"]
        and min(instance["K"], instance["K_0"]) >= 1
        and min(instance["sigma"], instance["sigma_0"]) >= 0
    )
    if not sound:
        return frozenset()
    own = instance["slope"] != instance["slope_0"]
    bent = instance["slope"] < 0 or instance["slope_0"] < 0
    one_draw = instance.get("shared") and (
        instance["sigma"] > 0
        and instance["K"] * instance["S"] > 1
        or instance["sigma_0"] > 0
        and instance["K_0"] > 1
    )
    return ENSURES - {
        name
        for name, broken in (
            ("server_dissimilar", own),
            ("convex", bent),
            ("independent_noise", one_draw),
        )
        if broken
    }


ENSURES = frozenset(
    {
        "smooth",
        "lipschitz",
        "dissimilar",
        "server_dissimilar",
        "noise",
        "independent_noise",
        "equal_weights",
        "uniform_cohort",
        "server",
        "convex",
    }
)
SETTING = Setting(
    name="fsl_large",
    says="one round of FSL with many clients and steps, on quadratics in one dimension",
    measures=names(TABLE, *MEASURED),
    algorithms=("fsl",),
    by=beside("fsl", "moments in closed form, for thousands of clients and steps"),
    gives=("N", "S", "K", "K_0"),
    loose=dict(L=1, G=1, xi_bar=1, sigma=1, sigma_0=1, mu=-1),
    takes=("eta_l", "eta_g", "eta_0", "gamma"),
    shapes=draw_shapes,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    ensures=ENSURES,
    holds=conditions_held,
    kind="exact",
    schema=entries(
        dict(
            N=integer(),
            S=integer(1, "N"),
            K=integer(),
            K_0=integer(),
            kind_1=integer(1, "N"),
            x="number",
            slope="number",
            slope_0="number",
            tilts=row("number", "number", "number"),
            sigma="nonnegative",
            sigma_0="nonnegative",
        ),
        dict(shared=integer(1, 1)),
    ),
)
