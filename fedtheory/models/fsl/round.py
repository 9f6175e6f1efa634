"""One round of FSL on losses known exactly, by enumeration of cohorts and noise (appendix A of the
long paper)."""

from collections.abc import Collection, Sequence, Set
from fractions import Fraction
from itertools import product
from math import comb
from random import Random
from typing import Any

from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import root, vector
from fedtheory.arithmetic.work import Counted
from fedtheory.models import Model, fields, kernels, losses, names
from fedtheory.models.families import (
    build_family,
    draw_family,
    flatten_losses,
    outcomes,
    shift_noise,
    sound_noise,
    two_point,
    upper_curvature,
    variance,
)
from fedtheory.models.fields import Field, Fields, coordinate, count, family, name_true, read_vector
from fedtheory.models.fsl import ENSURES, ROUNDS
from fedtheory.models.fsl.quantities import ROUND, Instance, quantities
from fedtheory.schema import length_plus, list_of
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Assignment, Number, Shape

MOST = 600  # most outcomes of a round that an enumeration may have
# Conditions that an instance may break, one at a time, where a claim does not assume them: L is
# only the constant of the text's one-sided smoothness; F has weights; the cohort is always the
# same; all steps have the same draw of noise; noise has a mean.
BREAKABLE = ("lipschitz", "equal_weights", "uniform_cohort", "independent_noise", "noise")


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw a shape with at most MOST outcomes.

    Small N, K and K_0 are likely, but 10 steps occur, so that drift shows. With a probability of
    0.4, one relaxed condition of BREAKABLE is broken, and the shape is changed so that breaking
    makes a difference. Some shapes start where all gradients vanish: first-order terms of a bound
    are 0 there, and a single source of error remains.
    """
    while True:
        N, noisy = random.choice([1, 1, 2, 2, 2, 3, 4]), random.random() < 0.5
        shape = dict(
            N=N,
            S=random.randint(1, N),
            K=random.choice([1, 1, 2, 2, 3, 5, 10]),
            K_0=random.choice([1, 1, 2, 3, 5, 10]),
            noise=random.choice(["none", "even", "skewed"]) if noisy else "none",
            noise_0=random.choice(["none", "even", "skewed"]) if noisy else "none",
            **draw_family(random, random.random() < 0.6, "dissimilar" not in relaxed),
        )
        broken = random.choice(sorted(relaxed & set(BREAKABLE)) or ["none"])
        shape["breaks"] = broken if random.random() < 0.4 else "none"
        if shape["breaks"] == "lipschitz":  # a convex loss has one L on both sides
            shape.update(convex=False, noise="none", noise_0="none")
        elif shape["breaks"] == "independent_noise":
            shape["noise"] = random.choice(["even", "skewed"])
        elif shape["breaks"] == "uniform_cohort":  # with several clients, some clients never work
            shape["N"] = max(2, N)
            shape["S"] = min(shape["S"], shape["N"] - 1)
        shape["start"] = "still" if shape["breaks"] == "none" and random.random() < 0.3 else "any"
        if shape["start"] == "still":
            # without soft corners, so that gradients are exactly 0
            shape.update(one_error(random, N, shape["K"]), soft=0)
        if ways(shape) <= MOST:
            return shape


def one_error(random: Random, N: Number, K: Number) -> dict[str, int | str]:
    """Draw parts of a shape in which exactly one source of error keeps the round from the gradient
    step: drift, cohorts or noise."""
    only = random.choice(["drift", "cohort", "noise", "noise_0"])
    found = dict(
        noise="even" if only == "noise" else "none", noise_0="even" if only == "noise_0" else "none"
    )
    if only in ("drift", "cohort"):
        found["N"] = max(2, N)
    if only == "drift":
        found.update(K=max(2, K), alike=0)
    return dict(found, S=1 if only == "cohort" else found.get("N", N))


def ways(shape: Shape) -> int:
    """Return the number of outcomes of a round."""
    each = 2 if shape["noise"] != "none" else 1
    server = 2 if shape["noise_0"] != "none" else 1
    shared = (
        shape.get("breaks") == "independent_noise"
    )  # one draw for all steps of all clients, one for the server's
    draws, server_draws = (1, 1) if shared else (shape["K"] * shape["S"], shape["K_0"])
    return comb(shape["N"], shape["S"]) * each**draws * server**server_draws


def build_losses(shape: Shape, point: Any, size: int) -> Any:
    """Build the losses [f_0, f_1, ..., f_N]; for a still start, the gradients of f_0 and F at x
    are 0."""
    server, *clients = build_family(shape, point, size)
    if shape.get("start") == "still":  # every first-order term of a bound is 0 at such a start
        x = read_vector(point, "x", shape["d"])
        flatten_losses([server], x)
        flatten_losses(clients, x)
    return [server, *clients]


def build_weights(shape: Shape, point: Any, built: Any) -> Any:
    """Return the clients' weights in F: positive shares, divided by their sum."""
    shares = [Fraction(1), *(point[f"share_{i}"] for i in range(1, shape["N"]))]
    return [share / sum(shares) for share in shares]


def build_noise(shape: Shape, point: Any, built: Any) -> Any:
    """Return two-point noise of the clients' gradients, with a mean where the shape breaks zero
    mean."""
    noise = two_point(point.get("sigma"), shape["noise"], shape["d"])
    return shift_noise(noise, point["bias"], shape["d"]) if "bias" in point else noise


def breaks(*laws: Any) -> Any:
    """Return the test of whether a shape breaks one of some laws."""
    return lambda shape: shape.get("breaks") in laws


def break_field(*laws: Any) -> Any:
    """Return the field that names the law that an instance breaks, if it breaks one of these."""
    return fields.word("breaks", *laws, when=breaks(*laws))


FIELDS = Fields(
    *(count(name, most=most) for name, most in dict(N=None, S="N", K=None, K_0=None).items()),
    family(
        "losses",
        list_of(list_of(losses.SOFTENED, "d"), length_plus("N", 1)),
        lambda shape: shape["N"] + 1,
        build_losses,
    ),
    fields.vector("x"),
    fields.noise("noise", "sigma")._replace(build=build_noise),
    fields.noise("noise_0", "sigma_0"),
    Field(
        "weights",
        list_of("nonnegative", "N", total=None),
        build_weights,
        lambda shape: {f"share_{i}": "positive" for i in range(1, shape["N"])},
        breaks("equal_weights"),
    ),
    coordinate("bias", "real", breaks("noise")),
    break_field("lipschitz", "uniform_cohort", "independent_noise"),
)


def derive_constants(instance: Any) -> dict[str, Any]:
    """Return N, S, K, K_0, L, mu, G, xi_bar, sigma and sigma_0 of an instance.

    L is the Lipschitz constant of all gradients, or only the largest curvature where smoothness is
    one-sided. G and xi_bar are infinite where the differences of gradients are not bounded.
    """
    server, *clients = instance["losses"]
    one_sided = instance.get("breaks") == "lipschitz"
    weights = instance.get("weights") or [Fraction(1, len(clients))] * len(clients)
    return dict(
        {name: Fraction(instance[name]) for name in ("N", "S", "K", "K_0")},
        L=upper_curvature([server, *clients])
        if one_sided
        else losses.smoothness_of(server, *clients),
        mu=losses.convexity_of(server, *clients),
        G=upper_root(losses.sup_square(clients, lambda gs: gradient_spread(gs, weights))),
        xi_bar=upper_root(losses.sup_square([server, *clients], lambda gs: gap(gs, weights))),
        sigma=root(variance(instance["noise"])),
        sigma_0=root(variance(instance["noise_0"])),
    )


def mean(gs: Sequence[Number | Counted], weights: Sequence[Number]) -> Number | Counted:
    """Return the weighted sum of some numbers."""
    return sum(p * g for p, g in zip(weights, gs))


def gradient_spread(gs: Sequence[Number | Counted], weights: Sequence[Number]) -> Number | Counted:
    """Return (1/N) sum (g_i - F')^2."""
    return sum((g - mean(gs, weights)) * (g - mean(gs, weights)) for g in gs) / len(gs)


def gap(gs: Sequence[Number | Counted], weights: Sequence[Number]) -> Number | Counted:
    """Return (g_0 - F')^2."""
    return (gs[0] - mean(gs[1:], weights)) * (gs[0] - mean(gs[1:], weights))


def upper_root(square: Number | Counted) -> Number | Counted:
    """Return the root of a square; infinity stays."""
    return square if isinstance(square, float) else root(square)


def case(instance: Any, values: Assignment) -> Instance:
    """Return the record of an instance for `fsl.quantities`, with cohorts that never change if so
    broken."""
    f, d = instance["losses"], len(instance["x"])
    client, server = outcomes(instance["noise"], d), outcomes(instance["noise_0"], d)
    return Instance(
        lambda i, y: losses.loss_value(f[i], y),
        lambda i, y: losses.loss_gradient(f[i], y),
        lambda i: client if i else server,
        instance["N"],
        instance["S"],
        instance["K"],
        instance["K_0"],
        values["eta_l"],
        values["eta_g"],
        values["eta_0"],
        values["gamma"],
        values["L"],
        values["sigma"],
        instance.get("weights"),
        [(Fraction(1), tuple(range(1, instance["S"] + 1)))]
        if instance.get("breaks") == "uniform_cohort"
        else None,
    )


def measure_symbols(instance: Any, values: Assignment, wanted: Collection[str]) -> dict[str, Any]:
    """Return the wanted quantities of the round that starts at x.

    Where all steps share one draw of noise, quantities are averaged over the draws; a largest value
    over steps has no meaning then, and is infinite.
    """
    if "L_tilde" in wanted:
        rest = [name for name in wanted if name != "L_tilde"]
        own = own_smoothness(instance, values["gamma"])
        return {**(measure_symbols(instance, values, rest) if rest else {}), "L_tilde": own}
    x = vector(instance["x"])
    if instance.get("breaks") != "independent_noise":
        return quantities(case(instance, values), x, wanted)
    d, found = (
        len(x),
        dict.fromkeys(wanted, Fraction(0)),
    )  # expectations over draws that all steps share
    for (p, n), (p_0, n_0) in product(
        outcomes(instance["noise"], d), outcomes(instance["noise_0"], d)
    ):
        fixed = case(instance, values)._replace(noise=lambda i: [(Fraction(1), n if i else n_0)])
        each = quantities(fixed, x, wanted)
        found = {name: found[name] + p * p_0 * each[name] for name in wanted}
    largest = {"excess_29", "excess_step_29"} & set(wanted)
    # a largest value over outcomes is not an expectation
    return dict(found, **dict.fromkeys(largest, INF))


def own_smoothness(instance: Any, gamma: Fraction | Counted) -> Fraction | Counted:
    """Return the least Lipschitz constant of the modified loss's gradient, or an upper bound of
    this constant where corners are soft. Where smoothness is one-sided, the modified loss's largest
    curvature is returned."""
    N = len(instance["losses"]) - 1
    clients = instance.get("weights") or [Fraction(1, N)] * N
    weights = [gamma / (1 + gamma), *(p / (1 + gamma) for p in clients)]
    hard, soft = [], Fraction(0)
    for w, loss in zip(weights, instance["losses"]):
        hard.append(
            [
                losses.make_curve(
                    w * f["slope"], bends=[(w * delta, at) for delta, at in f["bends"]]
                )
                for f in loss
            ]
        )
        # the second derivative of a soft corner is at most height rate^2 / 4
        corners = [sum(abs(h) * r * r / 4 for h, r, _ in f.get("soft", ())) for f in loss]
        soft = soft + w * (corners[0] if len(corners) == 1 else losses.maximum(*corners))
    if instance.get("breaks") == "lipschitz":
        return losses.maximum(Fraction(0), losses.joint_curvature(*hard)) + soft
    return losses.joint_smoothness(*hard) + soft


def differs(instance: Any) -> bool:
    """Tell whether the condition that an instance is said to break makes a difference in this
    instance."""
    f, several = instance["losses"], instance["K"] * instance["S"] > 1
    return dict(
        lipschitz=lambda: upper_curvature(f) < losses.smoothness_of(*f),
        uniform_cohort=lambda: instance["S"] < instance["N"],
        independent_noise=lambda: (
            several and instance["noise"] != [] or instance["K_0"] > 1 and instance["noise_0"] != []
        ),
    ).get(instance.get("breaks"), lambda: False)()


def list_conditions(instance: Any) -> Any:
    """Return the conditions that an instance meets. The bounds on dissimilarity hold only where G,
    or xi_bar, is finite."""
    d, weights = len(instance["x"]), instance.get("weights")
    noises, found = [instance["noise"], instance["noise_0"]], derive_constants(instance)
    broken = name_true(
        dissimilar=isinstance(found["G"], float),
        server_dissimilar=isinstance(found["xi_bar"], float),
        noise=not all(sound_noise(noise, d) for noise in noises),
        equal_weights=weights is not None and any(p != weights[0] for p in weights),
        convex=losses.convexity_of(*instance["losses"]) < 0,
    )
    return ENSURES - broken - ({instance.get("breaks")} if differs(instance) else set())


conditions_held = FIELDS.guard(list_conditions)
MODEL = Model(
    name="fsl_round",
    says="one round of FSL from a known point",
    measures=ROUND.measures | names(TABLE, "L_tilde"),
    by=kernels("fsl"),
    shapes=draw_shapes,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    holds=conditions_held,
    **ROUNDS,
    **FIELDS.record(),
)
