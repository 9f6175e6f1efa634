"""Flexible participation (001): aggregation (2), theorem 3.1's constants, and what departs
(sections 3, 4.1, 4.3)."""

from fractions import Fraction

from tests.second_opinion.opinion import Claim, World, require
from tests.second_opinion.reals import least, most, real, root

DOMAINS = dict(
    E="count",
    T="count",
    tau_0="nonnegative",
    V_0="nonnegative",
    V_1="nonnegative",
    D_0="nonnegative",
    gamma_0="positive",
    gamma_1="positive",
    Gamma_l="nonnegative",
    C_order="positive",
    eta="positive",
)
UNSTATED = frozenset(
    {
        "devices_smooth",
        "devices_strongly_convex",
        "devices_noise",
        "second_moment",
        "static_law",
        "independent_noise",
        "work_independent",
        "stays",
    }
)


def scheme_c(p, s, E):
    """p_tau^k = E p^k / s_tau^k, or 0 (section 4.1)."""
    return [share * Fraction(E, steps) if steps else Fraction(0) for share, steps in zip(p, s)]


# One round, (1) and (2), with given noise


def round_facts(instance):
    s, E, d = instance["s"], instance["E"], len(instance["x"])
    N = len(s)
    require(
        instance["scheme"] == "C" and E >= 1 and all(type(k) is int and 0 <= k <= E for k in s),
        "no round",
    )
    require(len(instance["p"]) == len(instance["a"]) == len(instance["tilt"]) == N >= 1, "no round")
    require(all(p > 0 for p in instance["p"]) and sum(instance["p"]) == 1, "no weights")
    require(all(len(row) == d and min(row) > 0 for row in instance["a"]), "no losses")
    require(
        all(
            len(rows) == k + 1 and all(len(row) == d for row in rows)
            for rows, k in zip(instance["tilt"], s)
        ),
        "no noise",
    )
    return {}


def round_measure(instance, values, wanted):
    """Both lines of (2), the second with i = 0, ..., s_tau^k as printed."""
    x, eta, d = instance["x"], values["eta"], range(len(instance["x"]))
    one, two, extra = list(x), list(x), [Fraction(0)] * len(x)
    for k, (c, steps) in enumerate(
        zip(scheme_c(instance["p"], instance["s"], instance["E"]), instance["s"])
    ):
        w, gradients = list(x), []
        for i in range(steps + 1):
            gradients.append([instance["a"][k][j] * w[j] + instance["tilt"][k][i][j] for j in d])
            if i < steps:
                w = [w[j] - eta * gradients[i][j] for j in d]
        one = [one[j] + c * (w[j] - x[j]) for j in d]
        two = [two[j] - eta * c * sum(g[j] for g in gradients) for j in d]
        extra = [extra[j] + eta * c * gradients[steps][j] for j in d]
    return dict(
        sq_gap_printed=sum((one[j] - two[j]) ** 2 for j in d), sq_extra=sum(e**2 for e in extra)
    )


# Departures: losses a (w - b)^2 / 2 in one dimension, noise +-r


class Devices:
    def __init__(self, a, b, r, p):
        self.a, self.b, self.r, self.p = a, b, r, [share / sum(p) for share in p]
        self.bend = sum(x * y for x, y in zip(self.p, a))
        self.best = sum(x * y * z for x, y, z in zip(self.p, a, b)) / self.bend

    def without_last(self):
        return Devices(self.a[:-1], self.b[:-1], self.r[:-1], self.p[:-1])


def read(instance):
    given, law, E = instance["devices"], instance["law"], instance["E"]
    N = len(given["a"])
    require(N >= 2 and all(len(given[name]) == N for name in ("b", "r", "p")), "no devices")
    require(
        min(given["a"]) > 0
        and min(given["r"]) >= 0
        and min(given["p"]) > 0
        and sum(given["p"]) == 1,
        "no devices",
    )
    require(
        type(E) is int and E >= 1 and sum(q for q, _ in law) == 1 and all(q >= 0 for q, _ in law),
        "no law",
    )
    require(
        all(len(s) == N and all(type(k) is int and 0 <= k <= E for k in s) for _, s in law),
        "no law",
    )
    require(
        all(type(instance[name]) is int for name in ("T", "tau_0"))
        and 0 < instance["tau_0"] < instance["T"],
        "no departure",
    )
    require(len(instance["span"]) == 2, "gradients are not bounded")
    return Devices(*(given[name] for name in "abrp")), [(q, s) for q, s in law if q > 0]


def moments(devices, law, E, a_all, G, sq_start):
    """gamma, D, V and E[sum p s] of theorem 3.1 at the least theta, L and mu those of all
    devices."""
    mu, L = min(a_all), max(a_all)
    coefficients = [(q, scheme_c(devices.p, s, E), s) for q, s in law]
    mean = lambda f: sum(q * f(c, s) for q, c, s in coefficients)
    work = lambda c, s: sum(x * y for x, y in zip(c, s))
    excess = [a * (devices.best - b) ** 2 / 2 for a, b in zip(devices.a, devices.b)]  # Gamma_k
    ps = mean(work)
    require(ps > 0, "nothing is ever done")
    theta = max(x / p for _, c, _ in coefficients for x, p in zip(c, devices.p))
    gamma = max(32 * E * (1 + theta) * L / (mu * ps), 4 * E**2 * theta / ps)
    ps_excess = mean(lambda c, s: sum(x * y * z for x, y, z in zip(c, s, excess)))
    over = mean(lambda c, s: max(sum(c) - 2, 0) * work(c, s))
    B = (
        2 * (2 + theta) * L * ps_excess
        + G * G * (2 + mu / (2 * (1 + theta) * L)) * E * (E - 1) * (ps + theta * over)
        + G * G * 2 * E * mean(lambda c, s: sum(x * x / p * y for x, y, p in zip(c, s, devices.p)))
        + mean(lambda c, s: sum(x * x * y * r * r for x, y, r in zip(c, s, devices.r)))
    )
    V = most(sq_start * gamma**2, B * (16 * E / (mu * ps)) ** 2 / E)
    return dict(
        gamma=gamma,
        D=64 * E * ps_excess / (mu * ps),
        V=V,
        eta=lambda t: 16 * E / (mu * ps) / (t * E + gamma),
    )


class State:
    """Mean, mean square and reach of w; `inside` tells whether all points at which gradients were
    taken stayed."""

    def __init__(self, x, span):
        self.mean, self.square, self.low, self.high, self.span = x, x * x, x, x, span
        self.inside = span[0] <= x <= span[1]

    def about(self, x):
        return self.square - 2 * x * self.mean + x * x

    def round(self, devices, weights, law, E, eta):
        """(1), (2) with coefficients of these weights."""
        mean, square, low, high = Fraction(0), Fraction(0), [], []
        for q, s in law:
            slope, shift, variance, reach = Fraction(1), Fraction(0), Fraction(0), Fraction(0)
            for a, b, r, c, steps in zip(
                devices.a, devices.b, devices.r, scheme_c(weights, s, E), s
            ):
                keep = 1 - eta * a
                one, other = self.low, self.high
                for i in range(steps):
                    if i:  # a gradient is taken at the ends' hull; at i = 0 at the server's points
                        self.inside &= (
                            self.span[0] <= min(one, other) and max(one, other) <= self.span[1]
                        )
                    ends = b + keep * (one - b), b + keep * (other - b)
                    one, other = min(ends) - eta * r, max(ends) + eta * r
                slope, shift = slope - c * (1 - keep**steps), shift + c * (1 - keep**steps) * b
                variance += (c * eta * r) ** 2 * sum(
                    (keep ** (2 * j) for j in range(steps)), Fraction(0)
                )
                reach += c * eta * r * sum((abs(keep) ** j for j in range(steps)), Fraction(0))
            mean += q * (slope * self.mean + shift)
            square += q * (
                slope**2 * self.square + 2 * slope * shift * self.mean + shift**2 + variance
            )
            ends = slope * self.low + shift, slope * self.high + shift
            low.append(min(ends) - reach), high.append(max(ends) + reach)
        self.mean, self.square, self.low, self.high = mean, square, min(low), max(high)
        self.inside &= self.span[0] <= self.low and self.high <= self.span[1]


def second_moment(devices, span):
    """G: E||g||^2 <= G^2 between the ends of the span."""
    return root(
        max(
            a**2 * (end - b) ** 2 + r**2
            for a, b, r in zip(devices.a, devices.b, devices.r)
            for end in span
        )
    )


def departure(instance):
    devices, law = read(instance)
    E, span, x = instance["E"], instance["span"], instance["x"]
    G = second_moment(devices, span)
    kept = moments(devices, law, E, devices.a, G, real((x - devices.best) ** 2))
    state = State(x, span)
    for t in range(instance["tau_0"]):
        state.round(devices, devices.p, law, E, kept["eta"](t))
    rest, rest_law = devices.without_last(), [(q, s[:-1]) for q, s in law]
    start = (root(state.about(devices.best)) + abs(devices.best - rest.best)) ** 2
    gone = moments(rest, rest_law, E, devices.a, G, start)
    # D with the departed device's work gone, its weight kept
    still = [
        sum(q * c for q, c in zip((q for q, _ in law), column))
        for column in zip(
            *([x * y for x, y in zip(scheme_c(devices.p, s, E), s)][:-1] for _, s in law)
        )
    ]
    excess = [a * (devices.best - b) ** 2 / 2 for a, b in zip(devices.a, devices.b)]
    after = 64 * E * sum(x * y for x, y in zip(still, excess)) / (min(devices.a) * sum(still))
    return devices, law, rest, rest_law, kept, gone, state, min(kept["D"], after), G


def departed_facts(instance):
    devices, _, _, _, kept, gone, _, D, G = departure(instance)
    return dict(
        E=real(instance["E"]),
        tau_0=real(instance["tau_0"]),
        T=real(instance["T"]),
        V_0=kept["V"],
        gamma_0=real(kept["gamma"]),
        D_0=real(D),
        V_1=gone["V"],
        gamma_1=real(gone["gamma"]),
        L=real(max(devices.a)),
        mu=real(min(devices.a)),
        G=G,
    )


def departed_measure(instance, values, wanted):
    found = {}
    for name in wanted:
        devices, _, rest, law, kept, gone, state, _, _ = departure(instance)
        tau_0, E = instance["tau_0"], instance["E"]
        objective, weights = (
            (devices, devices.p[:-1]) if name == "loss_included" else (rest, rest.p)
        )
        for t in range(tau_0, instance["T"]):
            state.round(
                rest,
                weights,
                law,
                E,
                kept["eta"](t) if name == "loss_included" else gone["eta"](t - tau_0),
            )
        require(state.inside, "a point leaves the set in which gradients are bounded")
        found[name] = objective.bend * state.about(objective.best) / 2
    return found


# The remaining time of (8), in closed form


def delay(v):
    least_f_0 = least(v["V_0"] / (v["tau_0"] * v["E"] + v["gamma_0"]), v["D_0"] / v["E"])
    return most(0, (v["V_1"] / least_f_0 - v["gamma_1"]) / v["E"])


WORLDS = {
    "flex_round_c": World(round_facts, lambda instance: (), round_measure, free=("eta",)),
    "flex_departed": World(
        departed_facts, lambda instance: UNSTATED, departed_measure, dict(L=1, mu=-1, G=1)
    ),
    "flex_delay": World(
        lambda instance: {},
        lambda instance: UNSTATED,
        lambda i, v, wanted: dict(delay=delay(v)),
        free=("V_0", "gamma_0", "D_0", "tau_0"),
    ),
}
CLAIMS = {
    "flex.eq2_printed": Claim(
        (
            (lambda v: v.sq_gap_printed, "==", lambda v: 0),
            (lambda v: v.sq_gap_printed, "==", lambda v: v.sq_extra),
        ),
        dict(sq_gap_printed="sq_gap_printed", sq_extra="sq_extra"),
        worlds=("flex_round_c",),
    ),
    "flex.corollary4_0_3_loss": Claim(
        ((lambda v: v.loss_excluded, "<=", lambda v: v.loss_included),),
        dict(loss_excluded="loss_excluded", loss_included="loss_included"),
        (
            (
                lambda v: least(v.V_0 / (v.tau_0 * v.E + v.gamma_0), v.D_0 / v.E),
                ">=",
                lambda v: v.V_1 / ((v.T - v.tau_0) * v.E + v.gamma_1),
            ),
            (lambda v: v.tau_0, "<=", lambda v: v["T"]),
        ),
        UNSTATED,
        ("flex_departed",),
    ),
    "flex.eq9": Claim(
        ((lambda v: v.delay, "<=", lambda v: v.C_order * root(v.Gamma_l) * root(v.tau_0)),),
        dict(delay="delay"),
        (
            (lambda v: v.gamma_1, "==", lambda v: v.gamma_0),
            (lambda v: v.V_1, "==", lambda v: v.V_0 / (v.tau_0 * v.E + v.gamma_0) + v.Gamma_l),
            (lambda v: v.D_0, ">", lambda v: 0),
        ),
        UNSTATED,
        ("flex_delay",),
        dict(
            gamma_1=lambda v: v["gamma_0"],
            V_1=lambda v: v["V_0"] / (v["tau_0"] * v["E"] + v["gamma_0"]) + v["Gamma_l"],
        ),
    ),
}
