"""Mixed FL (003): vectors of lemma D.2, and one round of 1-way gradient transfer (algorithm 2,
appendix D.2).

Clients are alike: f_i = f_f. A client starts from x and takes K steps x_i <- x_i - eta (g_i(x_i) +
g_c(x)), with one central estimate g_c for all; the server takes x + eta_s times the mean of the
cohort's changes.
"""

from fractions import Fraction
from itertools import product

from tests.second_opinion import losses
from tests.second_opinion.opinion import Claim, World, require
from tests.second_opinion.reals import dot, minus, most, plus, real, root, sq, times

DOMAINS = dict(
    a="positive",
    eta="positive",
    eta_s="positive",
    K="count",
    S="count",
    N="count",
    beta="positive",
    mu="nonnegative",
    sigma="nonnegative",
    sigma_c="nonnegative",
)


# Vectors


def vector_facts(instance):
    v = instance["vectors"]
    require(len(v) >= 1 and len({len(row) for row in v}) == 1 and len(v[0]) >= 1, "no vectors")
    return {"tau": real(len(v))}


def vector_measure(instance, values, wanted):
    v = instance["vectors"]
    one, other, r = v[0], v[-1], root(values["a"])
    named = dict(
        sq_i=lambda: sq(one),
        sq_j=lambda: sq(other),
        sq_pair=lambda: sq(plus(one, other)),
        sq_cross=lambda: (
            values["a"] * sq(one) + 2 * dot(one, other) + sq(other) / real(values["a"])
        ),
        sq_sum=lambda: sq(plus(*v)),
        sum_sq=lambda: sum(map(sq, v)),
    )
    if "sq_cross" in wanted:  # ||sqrt(a) v_i + v_j / sqrt(a)||^2 as printed, and as multiplied out
        plain = sq(plus(times(r, one), times(1 / r, other)))
        require(
            (plain - named["sq_cross"]()).low <= 0 <= (plain - named["sq_cross"]()).high,
            "two squares",
        )
    return {name: named[name]() for name in wanted}


# One round


class Round:
    def __init__(self, instance, values):
        self.x, self.d = instance["x"], len(instance["x"])
        self.f, self.c = losses.read(instance["losses"], self.d)
        self.N, self.S, self.K = (instance[name] for name in "NSK")
        self.noise = losses.outcomes(instance["noise"], self.d)
        self.noise_c = losses.outcomes(instance["noise_c"], self.d)
        self.eta, self.eta_s = values["eta"], values["eta_s"]

    def client(self, g_c):
        """[(probability, points x_0 .. x_K)] of a client."""
        found = [(Fraction(1), [self.x])]
        for _ in range(self.K):
            found = [
                (
                    p * q,
                    [
                        *points,
                        minus(
                            points[-1],
                            times(self.eta, plus(losses.grad(self.f, points[-1]), n, g_c)),
                        ),
                    ],
                )
                for p, points in found
                for q, n in self.noise
            ]
        return found

    def central(self):
        g = losses.grad(self.c, self.x)
        return [(p, plus(g, n)) for p, n in self.noise_c]

    def of_client(self, value):
        """E of a value of a client's points."""
        return sum(
            (p * q * value(points) for p, g_c in self.central() for q, points in self.client(g_c)),
            Fraction(0),
        )

    def of_server(self, value):
        """E of a value of the next server point."""
        total = Fraction(0)
        for p, g_c in self.central():
            ends = [(q, points[-1]) for q, points in self.client(g_c)]
            for outcome in product(ends, repeat=self.S):
                chance = p
                for q, _ in outcome:
                    chance *= q
                move = times(
                    self.eta_s / real(self.S), plus(*(minus(end, self.x) for _, end in outcome))
                )
                total += chance * value(plus(self.x, move))
        return total


def read(instance):
    d = len(instance["x"])
    require(
        len(instance["losses"]) == 2 and d >= 1 and instance["smooth"] in ("each", "sum"),
        "no losses",
    )
    counts = [instance[name] for name in "NSK"]
    require(
        all(type(k) is int and 1 <= k <= 50 for k in counts) and instance["S"] <= instance["N"],
        "no counts",
    )
    for kind in ("noise", "noise_c"):
        losses.outcomes(instance[kind], d)
    return losses.read(instance["losses"], d)


def facts(instance):
    pair = read(instance)
    beta = losses.smoothness(pair)
    if instance["smooth"] == "sum":
        beta = max(
            beta, losses.smoothness([[losses.combined((1, 1), curves) for curves in zip(*pair)]])
        )
    found = dict(
        {name: instance[name] for name in "NSK"},
        beta=beta,
        mu=max(losses.convexity(pair), Fraction(0)),
        sigma=losses.deviation(instance["noise"]),
        sigma_c=losses.deviation(instance["noise_c"]),
    )
    return {name: real(value) for name, value in found.items()}


def holds(instance):
    pair = read(instance)
    mu = losses.convexity(pair)
    truths = dict(
        smooth=True,
        smooth_sum=instance["smooth"] == "sum",
        convex=mu >= 0,
        strongly_convex=mu > 0,
        bounded_below=losses.infimum((1, 1), pair) is not None,
    )
    return {name for name, truth in truths.items() if truth} | {
        "homogeneous",
        "noise",
        "sgd",
        "equal_steps",
        "independent_noise",
        "uniform_cohort",
        "equal_weights",
    }


def measure(instance, values, wanted):
    r = Round(instance, values)
    g_f, g_c = losses.grad(r.f, r.x), losses.grad(r.c, r.x)
    f = lambda y: losses.value(r.f, y) + losses.value(r.c, y)
    least = losses.infimum((1, 1), (r.f, r.c))
    named = dict(
        sq_grad=lambda: sq(plus(g_f, g_c)),
        sq_grad_f=lambda: sq(g_f),
        sq_grad_c=lambda: sq(g_c),
        sq_augmented=lambda: sum(p * sq(plus(g_f, g)) for p, g in r.central()),
        drift=lambda: r.of_client(lambda points: sum(sq(minus(y, r.x)) for y in points[:-1])) / r.K,
        ends=lambda: r.of_client(lambda points: sum(sq(minus(y, r.x)) for y in points[1:])) / r.K,
        furthest=lambda: most(
            *(r.of_client(lambda points, k=k: sq(minus(points[k], r.x))) for k in range(r.K + 1))
        ),
        mean_change=lambda: (
            r.of_client(
                lambda points: sum(sq(minus(losses.grad(r.f, y), g_f)) for y in points[:-1])
            )
            / r.K
        ),
        f_t=lambda: f(r.x),
        f_next=lambda: r.of_server(f),
        gap=lambda: f(r.x) - least[0],
        sq_move=lambda: r.of_server(lambda y: sq(minus(y, r.x))),
        sq_dist=lambda: sq(minus(r.x, least[1])),
        sq_dist_next=lambda: r.of_server(lambda y: sq(minus(y, least[1]))),
    )
    return {name: named[name]() for name in wanted}


def d11(v):
    """12 K^2 eta^2 beta (f(x) - f*) + 3 K^2 eta^2 (sigma^2 / K + sigma_c^2)."""
    noise = v.sigma**2 / v.K + v.sigma_c**2
    return 12 * v.K**2 * v.eta**2 * v.beta * v.gap + 3 * v.K**2 * v.eta**2 * noise


CLAIMS = {
    "mixed.stepD2": Claim(
        (
            (
                lambda v: v.sq_pair,
                "==",
                lambda v: (1 + v.a) * v.sq_i + (1 + 1 / v.a) * v.sq_j - v.sq_cross,
            ),
        ),
        {name: name for name in ("sq_pair", "sq_i", "sq_j", "sq_cross")},
        worlds=("mixed_vectors",),
    ),
    # Lemma D.11 as it is printed: nothing bounds eta.
    "mixed.lemmaD11!printed": Claim(
        ((lambda v: v.drift, "<=", d11), (lambda v: v.ends, "<=", d11)),
        {name: name for name in ("gap", "drift", "ends")},
        (),
        frozenset(
            {
                "smooth",
                "homogeneous",
                "noise",
                "equal_weights",
                "sgd",
                "equal_steps",
                "convex",
                "bounded_below",
            }
        ),
        ("mixed_round",),
    ),
    "mixed.stepD11_separate": Claim(
        (
            (
                lambda v: 4 * v.K**2 * v.eta**2 * v.sq_augmented + 2 * v.K * v.eta**2 * v.sigma**2,
                "<=",
                lambda v: (
                    4 * v.K**2 * v.eta**2 * v.sq_grad
                    + 2 * v.K**2 * v.eta**2 * (v.sigma**2 / v.K + v.sigma_c**2)
                ),
            ),
        ),
        {name: name for name in ("sq_grad", "sq_augmented")},
        (),
        frozenset({"noise", "homogeneous"}),
        ("mixed_round",),
    ),
}
WORLDS = {
    "mixed_vectors": World(vector_facts, lambda instance: (), vector_measure, free=("a",)),
    "mixed_round": World(
        facts, holds, measure, dict(beta=1, sigma=1, sigma_c=1, mu=-1), ("eta", "eta_s")
    ),
}
