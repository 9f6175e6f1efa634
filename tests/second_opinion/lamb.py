"""FED-LAMB (004): algorithm 1 as its proof reads it, lemmas 1 and 2, theorem 1 and the displays of
appendix A.2.

The proof keeps m from step to step and from round to round, corrects no bias, adds no epsilon,
divides by the root of the v-hat of the round's start, and counts iterations t = 1, 2, ..., T of
them to a round. Where m = 0 a layer rests.
"""

from fractions import Fraction
from itertools import product

from tests.second_opinion import losses
from tests.second_opinion.opinion import Claim, World, require
from tests.second_opinion.reals import dot, least, minus, most, plus, real, root, sq, times

DOMAINS = dict(
    alpha="positive",
    alpha_r="positive",
    beta_1="nonnegative",
    beta_2="nonnegative",
    lambda_="nonnegative",
    T="count",
    R="count",
    tau="count",
    n="count",
    h="count",
    p="count",
    v_0="positive",
    L_l="positive",
    L_bar="positive",
    M="positive",
    sigma="nonnegative",
    phi_m="positive",
    phi_M="positive",
    cst="nonnegative",
    a="positive",
)


class Method:
    def __init__(self, instance, values):
        self.d, self.n, self.T = len(instance["x"]), instance["n"], instance["T"]
        self.f = losses.read(instance["losses"], self.d)
        self.layers = [range(*layer) for layer in instance["layers"]]
        self.x, self.noise = instance["x"], losses.outcomes(instance["noise"], self.d)
        self.alpha, self.phi = instance["alpha"], instance["phi"]
        self.beta_1, self.beta_2, self.v_0 = (values[name] for name in ("beta_1", "beta_2", "v_0"))
        for beta in (self.beta_1, self.beta_2):
            require(real(beta).low >= 0 and real(beta).high < 1, "a decay outside [0, 1)")
        require(real(self.v_0).low > 0, "v_0 is not positive")

    def scale(self, norm):
        """phi(a) = min(max(a, phi_m), phi_M)."""
        return least(most(norm, self.phi[0]), self.phi[1])

    def mean_grad(self, x):
        return times(Fraction(1, self.n), plus(*(losses.grad(f, x) for f in self.f)))

    def mean_loss(self, x):
        return sum((losses.value(f, x) for f in self.f), Fraction(0)) / self.n

    def iterations(self, draws):
        """Lines 3 to 17, for one outcome of the noise: what each iteration had and made."""
        n, none = self.n, [Fraction(0)] * self.d
        theta, m, v_hat = [self.x] * n, [none] * n, [self.v_0] * self.d
        v, found, before = [v_hat] * n, [], None
        for t in range(len(draws) // n):
            exact = [losses.grad(f, x) for f, x in zip(self.f, theta)]
            g = [plus(e, draws[t * n + i]) for i, e in enumerate(exact)]
            m = [
                [self.beta_1 * a + (1 - self.beta_1) * b for a, b in zip(m[i], g[i])]
                for i in range(n)
            ]
            v = [
                [self.beta_2 * a + (1 - self.beta_2) * b * b for a, b in zip(v[i], g[i])]
                for i in range(n)
            ]
            factor = [
                self.factors(theta[i], m[i], v_hat) for i in range(n)
            ]  # phi / ||p||, layer by layer
            step = [[f * a / root(b) for f, a, b in zip(factor[i], m[i], v_hat)] for i in range(n)]
            moved = [minus(theta[i], times(self.alpha, step[i])) for i in range(n)]
            row = dict(
                theta=theta,
                v_hat=v_hat,
                exact=exact,
                g=g,
                factor=factor,
                moved=moved,
                m=m,
                before=before,
            )
            found.append(row)
            before, theta = row, moved
            if (t + 1) % self.T == 0:
                theta = [self.average(moved)] * n
                v_hat = [
                    most(a, sum((row[j] for row in v), Fraction(0)) / n)
                    for j, a in enumerate(v_hat)
                ]
                v = [v_hat] * n
        return found

    def factors(self, theta, m, v_hat):
        found = [Fraction(0)] * self.d
        for layer in self.layers:
            square = sum((m[j] * m[j] / real(v_hat[j]) for j in layer), real(0))
            if square.low == square.high == 0:
                continue
            require(square.low > 0, "a direction that may be zero")
            phi = self.scale(root(sq([theta[j] for j in layer])))
            for j in layer:
                found[j] = phi / root(square)
        return found

    def average(self, each):
        return times(Fraction(1, self.n), plus(*each))

    def lag(self, row):
        """(8) less the mean model: beta_1 / (1 - beta_1) times the last move of the mean."""
        if row is None:
            return [Fraction(0)] * self.d
        move = minus(self.average(row["moved"]), self.average(row["theta"]))
        return times(self.beta_1 / real(1 - self.beta_1), move)

    def expect(self, steps, of):
        total = {}
        for way in product(self.noise, repeat=self.n * steps):
            chance = Fraction(1)
            for q, _ in way:
                chance *= q
            for name, value in of(self.iterations([v for _, v in way])).items():
                total[name] = total.get(name, Fraction(0)) + chance * value
        return total

    def fourth(self, u, v_hat):
        """||u / v^(1/4)||^2"""
        return sum((a * a / root(v) for a, v in zip(u, v_hat)), Fraction(0))

    def of_iteration(self, row, wanted):
        n, v_hat, bar = self.n, row["v_hat"], self.average(row["theta"])
        point = plus(bar, self.lag(row["before"]))  # (8)
        normal = [
            [f * b for f, b in zip(row["factor"][i], row["g"][i])] for i in range(n)
        ]  # g-bar_{t,i}
        mean_normal, at_point = self.average(normal), self.mean_grad(point)
        by = lambda u: self.fourth(u, v_hat)
        inner = dot(at_point, [a / root(v) for a, v in zip(mean_normal, v_hat)])
        own = lambda x: [losses.grad(f, x) for f in self.f]
        total = lambda parts: sum(parts, Fraction(0))
        after = self.average(row["moved"])
        over = lambda u: total(a * a / v for a, v in zip(u, v_hat))
        named = dict(
            inner_g=lambda: inner,
            A_1=lambda: -self.alpha * inner,
            sq_grad_vartheta=lambda: by(at_point),
            sq_g_bar=lambda: by(mean_normal),
            sq_error=lambda: by(minus(at_point, mean_normal)),
            error_momentum=lambda: (
                2 * total(by(minus(a, b)) for a, b in zip(own(point), own(bar))) / n
            ),
            error_17=lambda: 2 * total(by(minus(a, b)) for a, b in zip(own(bar), normal)) / n,
            B_1=lambda: total(by(minus(a, b)) for a, b in zip(own(bar), row["exact"])),
            B_2=lambda: total(by(minus(a, b)) for a, b in zip(row["exact"], normal)),
            sum_sq_grad=lambda: total(map(sq, row["exact"])),
            sq_lag=lambda: sq(minus(point, bar)),
            sum_gap=lambda: total(sq(minus(bar, x)) for x in row["theta"]),
            grad_by_root_v=lambda: by(self.mean_grad(bar)),
            avg_grad_by_root_v=lambda: by(self.average(row["exact"])),
            gap_sq=lambda: most(*(sq(minus(after, x)) for x in row["moved"])),
            avg_grad_by_v=lambda: over(
                self.average([losses.grad(f, x) for f, x in zip(self.f, row["moved"])])
            ),
            grad_by_v=lambda: over(self.mean_grad(after)),
        )
        return {name: named[name]() for name in wanted}


def sound(instance):
    d, counts = len(instance["x"]), [instance[name] for name in ("n", "T", "R") if name in instance]
    require(all(type(k) is int and 1 <= k <= 12 for k in counts) and d >= 1, "no counts")
    require(len(instance["losses"]) == instance["n"], "no losses")
    require(
        [j for layer in instance["layers"] for j in range(*layer)] == list(range(d))
        and all(a < b for a, b in instance["layers"]),
        "no layers",
    )
    require(
        instance["alpha"] > 0
        and len(instance["phi"]) == 2
        and 0 < instance["phi"][0] <= instance["phi"][1],
        "no scale",
    )
    return losses.read(instance["losses"], d), losses.outcomes(instance["noise"], d)


def facts(instance):
    f, noise = sound(instance)
    d = len(instance["x"])
    for curve in (curve for loss in f for curve in loss):
        require(curve.seconds()[0] == curve.seconds()[-1] == 0, "gradients are not bounded")
    # H2: between knots a slope is linear, outside constant, and coordinates move apart from each
    # other
    M_sq = max(
        sum(
            max((curve.slope(y) + error[j]) ** 2 for y in curve.knots() or [Fraction(0)])
            for j, curve in enumerate(loss)
        )
        for loss in f
        for _, error in noise
    )
    sigma_sq = max(sum(q * v[j] * v[j] for q, v in noise) for j in range(d))
    L = losses.smoothness(f)
    found = dict(
        n=instance["n"],
        T=instance["T"],
        h=len(instance["layers"]),
        p=d,
        alpha=instance["alpha"],
        alpha_r=instance["alpha"],
        L_l=L,
        L_bar=L,
        M=root(M_sq),
        sigma=root(sigma_sq),
        phi_m=instance["phi"][0],
        phi_M=instance["phi"][1],
    )
    if "R" in instance:
        found.update(R=instance["R"], tau=instance["R"] * instance["T"])
    return {name: real(value) for name, value in found.items()}


def holds(instance):
    f, _ = sound(instance)
    bounded = losses.infimum([Fraction(1, instance["n"])] * instance["n"], f) is not None
    return {
        "equal_weights",
        "layer_smooth",
        "bounded_gradient",
        "coordinate_variance",
        "bounded_scale",
        "everyone",
        "plain_moments",
        "layers_apart",
        "independent_noise",
        *(["bounded_below"] if bounded else []),
    }


def round_measure(instance, values, wanted):
    t = instance["t"]
    require(type(t) is int and 0 <= t <= 12, "no iteration")
    method = Method(instance, values)
    return method.expect(t + 1, lambda rows: method.of_iteration(rows[t], wanted))


def run_measure(instance, values, wanted):
    """Theorem 1: theta-bar_r after r rounds; in the appendix theta-bar_t after t iterations."""
    method, R, T = Method(instance, values), instance["R"], instance["T"]

    def of(rows):
        after = [(method.average(row["moved"]), then["v_hat"]) for row, then in zip(rows, rows[1:])]
        size = lambda t: method.fourth(method.mean_grad(after[t - 1][0]), after[t - 1][1])
        named = dict(
            mean_sq=lambda: sum((size(r * T) for r in range(1, R + 1)), Fraction(0)) / R,
            mean_sq_t=lambda: sum((size(t) for t in range(1, R * T + 1)), Fraction(0)) / (R * T),
            f_excess=lambda: method.mean_loss(after[T - 1][0]),
            f_excess_t=lambda: method.mean_loss(after[0][0]),
        )
        return {name: named[name]() for name in wanted}

    found = method.expect(R * T + 1, of)  # one more, whose start knows v-hat after the last
    lowest = losses.infimum([Fraction(1, method.n)] * method.n, method.f)
    require(lowest is not None, "no minimum")
    return {
        name: value - lowest[0] if name.startswith("f_excess") else value
        for name, value in found.items()
    }


# Statements


def bracket(v):
    """The square bracket of (4)."""
    return (
        drift(v)
        + v.M**2 / root(v.v_0)
        + v.phi_M**2 * root(v.M**2 + v.p * v.sigma**2)
        + v.phi_M * v.h * v.sigma**2 / root(v.n)
    )


def drift(v):
    return (
        v.alpha**2
        * v.L_l
        / root(v.v_0)
        * v.M**2
        * (v["T"] - 1) ** 2
        * v.phi_M**2
        * (1 - v.beta_2)
        * v.p
    )


def momentum(v):
    return (
        2 * v.alpha**2 * v.L_l * v.p * v.phi_M**2 / root(v.v_0) * v.beta_1**2 / (1 - v.beta_1) ** 2
    )


def start(v, alpha, rounds, excess):
    return root(v.M**2 * v.p / v.n) * excess / (v.h * alpha * rounds)


def noise(v, rounds):
    return v.phi_M * v.sigma**2 / (rounds * v.n) * root((1 - v.beta_2) / (v.M**2 * v.p))


def rest(v):
    """The last display's terms beside (4)."""
    return (
        v.alpha
        * v.beta_1
        / (1 - v.beta_1)
        * root((1 - v.beta_2) * v.p)
        * v.h
        * v.M**2
        / root(v.v_0)
        + v.L_bar * v.alpha**2 * v.M**2 * v.phi_M**2 * (1 - v.beta_2) * v.p / (v["T"] * v.v_0)
        + v.L_bar
        * v.beta_1**2
        * v.h
        * (1 - v.beta_2)
        * v.M**2
        * v.phi_M**2
        * v.n
        / (2 * (1 - v.beta_1) ** 2 * v.v_0)
        + v.alpha * momentum(v)
    )


zero, one = (lambda v: 0), (lambda v: 1)
NO_DECAY, NO_MOMENTUM = (lambda v: v.lambda_, "==", zero), (lambda v: v.beta_1, "==", zero)
FIRST, SECOND = (lambda v: v.beta_1, "<", one), (lambda v: v.beta_2, "<", one)
LAYERS, SMALL = (lambda v: v.h, "<=", lambda v: v.p), (lambda v: v.M, "<=", one)
SCALES, SMOOTH = (
    (lambda v: v.phi_m, "<=", lambda v: v.phi_M),
    (lambda v: v.L_l, "<=", lambda v: v.L_bar),
)
ONE_STEP = (lambda v: v["T"], "==", one)
RATE = (lambda v: v.alpha, "==", lambda v: v.a / root(v.h * v.R))
AT_0 = dict(lambda_=zero)
NO_M = dict(lambda_=zero, beta_1=zero)

SHARED = {"equal_weights", "bounded_scale", "everyone", "plain_moments"}
H1, H2, H3, APART, FRESH = (
    "layer_smooth",
    "bounded_gradient",
    "coordinate_variance",
    "layers_apart",
    "independent_noise",
)
EVERY = frozenset(SHARED | {H1, H2, H3, APART, FRESH, "bounded_below"})


def claim(lines, assumes, conditions, solved=AT_0, world="lamb_round", reads=()):
    return Claim(
        lines, {name: name for name in reads}, assumes, frozenset(conditions), (world,), solved
    )


CLAIMS = {
    "lamb.lemma1": claim(
        (
            (
                lambda v: v.gap_sq,
                "<=",
                lambda v: v.alpha_r**2 * v.M**2 * v.phi_M**2 * (1 - v.beta_2) * v.p / v.v_0,
            ),
        ),
        (ONE_STEP, NO_DECAY, SECOND),
        SHARED | {H2},
        reads=("gap_sq",),
    ),
    "lamb.lemma2": claim(
        (
            (
                lambda v: v.avg_grad_by_v,
                ">=",
                lambda v: (
                    v.grad_by_v / 2
                    - v.L_bar * v.alpha**2 * v.M**2 * v.phi_M**2 * (1 - v.beta_2) * v.p / v.v_0
                ),
            ),
        ),
        (ONE_STEP, NO_DECAY, SECOND),
        SHARED | {H1, H2, APART},
        reads=("avg_grad_by_v", "grad_by_v"),
    ),
    "lamb.step16": claim(
        tuple(
            (
                lambda v: v.inner_g,
                sign,
                lambda v: (v.sq_grad_vartheta + v.sq_g_bar) / 2 - v.sq_error,
            )
            for sign in ("==", ">=")
        ),
        (NO_DECAY,),
        {"equal_weights"},
        reads=("inner_g", "sq_grad_vartheta", "sq_g_bar", "sq_error"),
    ),
    "lamb.step_momentum": claim(
        (
            (lambda v: v.error_momentum, "<=", momentum),
            (lambda v: v.error_momentum, "<=", lambda v: 2 * v.L_l / root(v.v_0) * v.sq_lag),
            (lambda v: 2 * v.L_l / root(v.v_0) * v.sq_lag, "<=", momentum),
        ),
        (NO_DECAY, FIRST),
        SHARED | {H1, APART},
        reads=("error_momentum", "sq_lag"),
    ),
    "lamb.step_B1": claim(
        (
            (lambda v: v.B_1, "<=", lambda v: v.n * drift(v)),
            (lambda v: v.B_1, "<=", lambda v: v.L_l / root(v.v_0) * v.sum_gap),
            (lambda v: v.L_l / root(v.v_0) * v.sum_gap, "<=", lambda v: v.n * drift(v)),
        ),
        (NO_DECAY, SECOND),
        SHARED | {H1, H2, APART},
        reads=("B_1", "sum_gap"),
    ),
    "lamb.step_B2": claim(
        (
            (
                lambda v: v.B_2,
                "<=",
                lambda v: (
                    v.n * (v.M**2 / root(v.v_0) + v.phi_M**2 * root(v.M**2 + v.p * v.sigma**2))
                    - 2 * v.phi_m * root((1 - v.beta_2) / (v.M**2 * v.p)) * v.sum_sq_grad
                    + v.phi_M * v.h * v.sigma**2 / root(v.n)
                ),
            ),
        ),
        (NO_DECAY, NO_MOMENTUM, FIRST, SECOND, LAYERS, SCALES),
        SHARED | {H2, H3, APART},
        NO_M,
        reads=("B_2", "sum_sq_grad"),
    ),
    "lamb.step_17_becomes": claim(
        ((lambda v: v.error_17, "<=", lambda v: 4 * bracket(v)),),
        (NO_DECAY, NO_MOMENTUM, FIRST, SECOND, LAYERS),
        SHARED | {H1, H2, H3, APART},
        NO_M,
        reads=("error_17",),
    ),
    "lamb.step_inner": claim(
        (
            (
                lambda v: -v.alpha * v.inner_g,
                "<=",
                lambda v: (
                    -v.alpha / 2 * v.sq_grad_vartheta
                    - v.alpha / 2 * v.sq_g_bar
                    + v.alpha * momentum(v)
                    + 4 * bracket(v)
                ),
            ),
        ),
        (NO_DECAY, NO_MOMENTUM, FIRST, SECOND, LAYERS),
        SHARED | {H1, H2, H3, APART},
        NO_M,
        reads=("inner_g", "sq_grad_vartheta", "sq_g_bar"),
    ),
    "lamb.step_g_bar": claim(
        (
            (
                lambda v: v.sq_g_bar,
                ">=",
                lambda v: v.phi_m**2 * (1 - v.beta_2) * v.avg_grad_by_root_v,
            ),
        ),
        (NO_DECAY, SECOND),
        SHARED | {H2, APART, FRESH},
        reads=("sq_g_bar", "avg_grad_by_root_v"),
    ),
    "lamb.step_average": claim(
        ((lambda v: v.avg_grad_by_root_v, ">=", lambda v: v.grad_by_root_v / 2 - drift(v)),),
        (NO_DECAY, SECOND),
        SHARED | {H1, H2, APART},
        reads=("avg_grad_by_root_v", "grad_by_root_v"),
    ),
    "lamb.step_A1": claim(
        (
            (
                lambda v: v.A_1,
                "<=",
                lambda v: (
                    -(v.phi_m**2) * (1 - v.beta_2) / 2 * v.grad_by_root_v
                    + v.phi_m**2 * (1 - v.beta_2) * drift(v)
                    + v.alpha * momentum(v)
                    + 4 * v.alpha * bracket(v)
                ),
            ),
        ),
        (NO_DECAY, NO_MOMENTUM, FIRST, SECOND, LAYERS, SCALES),
        SHARED | {H1, H2, H3, APART, FRESH},
        NO_M,
        reads=("A_1", "grad_by_root_v"),
    ),
    "lamb.step_final": claim(
        (
            (
                lambda v: v.mean_sq_t,
                "<=",
                lambda v: (
                    start(v, v.alpha, v.tau, v.f_excess_t)
                    + noise(v, v.tau)
                    + 4 * v.alpha * bracket(v)
                    + rest(v)
                ),
            ),
        ),
        (NO_DECAY, SMALL, NO_MOMENTUM, FIRST, SECOND, LAYERS, SMOOTH),
        EVERY,
        NO_M,
        "lamb_run",
        ("mean_sq_t", "f_excess_t"),
    ),
    "lamb.theorem1_explicit": claim(
        (
            (
                lambda v: v.mean_sq,
                "<=",
                lambda v: (
                    start(v, v.alpha, v.R, v.f_excess)
                    + noise(v, v.R)
                    + 4 * v.alpha * bracket(v)
                    + rest(v)
                ),
            ),
        ),
        (NO_DECAY, NO_MOMENTUM, SMALL, FIRST, SECOND, LAYERS, SMOOTH),
        EVERY,
        NO_M,
        "lamb_run",
        ("mean_sq", "f_excess"),
    ),
    "lamb.corollary1_explicit": claim(
        (
            (
                lambda v: v.mean_sq,
                "<=",
                lambda v: (
                    root(v.M**2 * v.p / v.n) * v.f_excess / (v.a * root(v.h * v.R))
                    + noise(v, v.R)
                    + 4 * v.alpha * bracket(v)
                    + rest(v)
                ),
            ),
        ),
        (NO_DECAY, RATE, NO_MOMENTUM, SMALL, FIRST, SECOND, LAYERS, SMOOTH),
        EVERY,
        dict(NO_M, a=lambda v: v["alpha"] * root(v["h"] * v["R"])),
        "lamb_run",
        ("mean_sq", "f_excess"),
    ),
}
WORLDS = {
    "lamb_round": World(
        facts,
        holds,
        round_measure,
        dict(L_l=1, L_bar=1, M=1, sigma=1, phi_M=1, phi_m=-1),
        ("beta_1", "beta_2", "v_0"),
    ),
    "lamb_run": World(
        facts,
        holds,
        run_measure,
        dict(L_l=1, L_bar=1, M=1, sigma=1, phi_M=1, phi_m=-1),
        ("beta_1", "beta_2", "v_0"),
    ),
}
