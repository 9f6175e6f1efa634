"""Whole runs of gradient descent, SGD, federated averaging and SCAFFOLD on losses known exactly."""

from functools import partial
from math import comb

from fedtheory.language.conditions import unsaid
from fedtheory.models import Setting, kernels, losses, names
from fedtheory.models.families import draw_broken, shift_noise, two_point
from fedtheory.models.general import _long
from fedtheory.models.general.runs import (
    MOST,
    SCHEMA,
    conditions_met,
    derive_constants,
    measure_entries,
)
from fedtheory.models.general.ways import ways_of
from fedtheory.schema import integer, join_schemas
from fedtheory.symbols.run import TABLE

RUN = ("loss", "sq_grad_norm", "sq_distance", "loss_of_mean", "least_sq_grad_norm")
MEASURED = [
    name
    for name, entry in TABLE.items()
    if entry.measure is not None and entry.measure.metric in RUN and entry.measure.at != "t"
]
ENSURES = frozenset(
    {
        "smooth",
        "lipschitz",
        "convex",
        "strongly_convex",
        "dissimilar",
        "bounded_below",
        "noise",
        "independent_noise",
        "exact_gradients",
        "equal_weights",
        "uniform_cohort",
        "quadratic",
        "same_curvature",
        # drawn only where a claim assumes the condition
        *(ASKED := ("growing_noise", "coordinate_noise", "sampled_by_weight")),
    }
)


def draw_shapes(random, relaxed, method="fedavg"):
    while True:
        convex = int(
            "convex" not in relaxed or "strongly_convex" not in relaxed or random.random() < 0.5
        )
        N = random.choice([1, 1, 1, 2, 2, 2, 3, 4])
        d = random.choice([1, 1, 1, 2])
        shape = dict(
            N=N,
            S=N if random.random() < 0.5 else random.randint(1, N),
            d=d,
            convex=convex,
            T=random.choice([1, 1, 2, 2, 3, 4, 5]),
            K=1 if method == "fedsgd" else random.choice([1, 1, 2, 2, 3, 5]),
            pieces=1
            if "quadratic" not in relaxed
            else random.choice([1, 1, 2, 2, 3] if convex else [1, 2, 3, 3, 4]),
            lipschitz=int("lipschitz" not in relaxed or convex or random.random() < 0.5),
            shared=int("same_curvature" not in relaxed or N == 1 or random.random() < 0.4),
            equal=int(N == 1 or random.random() < 0.2),
            noise="none"
            if "exact_gradients" not in relaxed
            else random.choice(["none", "even", "skewed"]),
        )
        shape.update({name: 1 for name in ASKED if name not in relaxed})
        if broken := draw_broken(random, breakable(relaxed)):
            shape.update(BROKEN[broken](random, shape), breaks=broken)
        shape["turned"] = int(d == 2 and convex and not shape["shared"] and random.random() < 0.6)
        if method == "scaffold":
            shape["option"] = random.choice([1, 2])
        if ways(shape, shape["S"] * (shape["K"] + (shape.get("option") == 1))) <= MOST:
            return shape


def breakable(relaxed, ensures=ENSURES):
    """Return the laws of chance on which a claim is silent and which instances may break."""
    return unsaid(ensures - relaxed) & ensures


def _some_never_work(random, shape):
    # at least 2 clients, mostly 3, because two clients are equally far from their mean
    N = max(random.choice([2, 3, 3]), shape["N"])
    # equal=0, so that the choice of the cohort makes a difference
    return dict(N=N, S=min(shape["S"], N - 1), equal=0)


def _several_draws(random, shape):
    N = max(random.choice([1, 2, 2]), shape["N"])
    return dict(N=N, S=max(shape["S"], random.choice([1, N])))


def _one_draw(random, shape):
    found = _several_draws(random, shape)
    if found["S"] == shape.get("T", 1) == shape.get("K", 1) == 1 and random.random() < 0.8:
        found.update(N=2, S=2)
    found["noise"] = random.choice(["even", "even", "skewed"])
    return {**found, "turns": int(random.random() < 0.3)}


def _several_weights(random, shape):
    N = max(random.choice([2, 2, 3]), shape["N"])
    return dict(N=N, S=N if shape["S"] == shape["N"] else shape["S"], equal=0)


# {law: the change of a shape whose instances break the law}
BROKEN = dict(
    uniform_cohort=_some_never_work,
    independent_noise=_one_draw,
    equal_weights=_several_weights,
    noise=_several_draws,
)


def ways(shape, draws):
    """Return the number of outcomes of a run with `draws` draws of a gradient in a round."""
    if shape.get("breaks") == "independent_noise":
        return 2 * cohorts(shape) ** int(shape["T"])
    return (cohorts(shape) * each(shape) ** draws) ** int(shape["T"])


def longer(random, relaxed, method="fedavg"):
    """Return the shape of a long run, or None where there is none."""
    shape = _long.shapes(random, relaxed, method, ASKED)
    if shape is not None and method == "scaffold":
        shape["option"] = random.choice([1, 2])
    return shape


def cohorts(shape):
    """Return the number of cohorts of a round."""
    N, S = shape["N"], shape["S"]
    if shape.get("breaks") == "uniform_cohort":
        return 1
    return comb(N + S - 1, S) if "sampled_by_weight" in shape else comb(N, S)


def each(shape):
    """Return the number of outcomes of one draw of a gradient."""
    return (1 if shape["noise"] == "none" else 2) * (2 if "growing_noise" in shape else 1)


def list_coordinates(shape):
    found = {"scale": "positive"}
    for i in range(1 if shape["shared"] else shape["N"]):
        for j in range(shape["d"]):
            found.update({f"slope_{i}_{j}_{k}": "unit" for k in range(shape["pieces"])})
            if "saw" in shape:
                found.update(_long.coordinates())
            elif shape["pieces"] > 1:
                found[f"knot_{i}_{j}"] = "real"
                found.update({f"gap_{i}_{j}_{k}": "positive" for k in range(2, shape["pieces"])})
        if shape["turned"]:
            found[f"turn_{i}"] = "real"
    if not shape["equal"]:
        found.update(
            {f"at_star_{i}_{j}": "real" for i in range(shape["N"] - 1) for j in range(shape["d"])}
        )
    if "saw" not in shape:
        found.update({f"x_{j}": "real" for j in range(shape["d"])})
    if shape["noise"] != "none":
        found["sigma"] = "positive"
    if "growing_noise" in shape:
        found["growth"] = "positive"
    if "sampled_by_weight" in shape or shape.get("breaks") == "equal_weights":
        found.update({f"weight_{i}": "positive" for i in range(shape["N"])})
    return found | ({"bias": "real"} if shape.get("breaks") == "noise" else {})


def build_instance(shape, point):
    bend = (
        (lambda u: point["scale"] * u)
        if shape["convex"]
        else (lambda u: point["scale"] * (2 * u - 1))
    )
    found = []
    for i in range(1 if shape["shared"] else shape["N"]):
        curves = [curve(shape, point, bend, i, j) for j in range(shape["d"])]
        found.append(
            dict(curves=curves, **(dict(turn=point[f"turn_{i}"]) if shape["turned"] else {}))
        )
    d = shape["d"]
    at_star = (
        []
        if shape["equal"]
        else [
            [point["scale"] * point[f"at_star_{i}_{j}"] for j in range(d)]
            for i in range(shape["N"] - 1)
        ]
    )
    counts = {
        name: shape[name]
        for name in ("N", "S", "T", "K", "convex", "lipschitz", "option")
        if name in shape
    }
    noise = two_point(point.get("sigma"), shape["noise"], d, "coordinate_noise" in shape)
    start = {"x_0": _long.knots(shape, point)[-1]} if "saw" in shape else point
    return dict(
        {**counts, "T": int(shape["T"])},
        losses=found,
        at_star=at_star,
        x_0=[start[f"x_{j}"] for j in range(d)],
        noise=shift_noise(noise, point["bias"], d) if "bias" in point else noise,
        **asked_for(shape, point),
    )


def curve(shape, point, bend, i, j):
    """Return coordinate j of the loss of client i."""
    if "saw" in shape:
        return losses.curve_from_pieces(_long.slopes(shape, point), _long.knots(shape, point))
    slopes = [bend(point[f"slope_{i}_{j}_{k}"]) for k in range(shape["pieces"])]
    at = [point[f"knot_{i}_{j}"]] if shape["pieces"] > 1 else []
    for k in range(2, shape["pieces"]):
        at.append(at[-1] + point[f"gap_{i}_{j}_{k}"])
    return losses.curve_from_pieces(slopes, at)


def asked_for(shape, point):
    """Return the parts of an instance that only some claims need (growth of the noise, weights),
    and the law that the instance breaks."""
    found = {name: shape[name] for name in ("breaks", "turns") if shape.get(name)}
    if "growing_noise" in shape:
        found["growth"] = point["growth"]
    if "weight_0" in point:
        weights = [point[f"weight_{i}"] for i in range(shape["N"])]
        found["p"] = [weight / sum(weights) for weight in weights]
    return found


LOOSE = dict(L=1, G=1, zeta=1, sigma=1, sigma_j=1, growth=1, R=1, mu=-1)


def measure_symbols(instance, values, wanted, method):
    return measure_entries(instance, values, {name: TABLE[name].measure for name in wanted}, method)


def setting(method, says, takes, gives=("N", "S", "K", "T", "d")):
    return Setting(
        name=f"run_{method}",
        says=says,
        measures=names(TABLE, *MEASURED),
        algorithms=(method,),
        by=kernels(method),
        gives=gives,
        loose=LOOSE,
        takes=takes,
        shapes=partial(draw_shapes, method=method),
        longer=partial(longer, method=method),
        coordinates=list_coordinates,
        build=build_instance,
        constants=derive_constants,
        measure=partial(measure_symbols, method=method),
        table=TABLE,
        early=frozenset({"sq_distance_0", "gap_0"}),
        ensures=ENSURES,
        holds=conditions_met,
        ways=partial(ways_of, method=method),
        schema=join_schemas(SCHEMA, COUNTS[method]),
    )


# {method: schema entries of an instance in addition to the entries of all runs}; only SCAFFOLD has
# an option
COUNTS = dict(
    fedsgd=dict(K=integer(1, 1)),
    fedavg=dict(K=integer()),
    scaffold=dict(K=integer(), option=integer(1, 2)),
)


SETTINGS = (
    setting("fedsgd", "gradient steps, one a round", ("eta",)),
    setting("fedavg", "federated averaging", ("eta_l", "eta_g")),
    setting("scaffold", "SCAFFOLD", ("eta_l", "eta_g"), ("N", "S", "K", "T", "d", "option")),
)
