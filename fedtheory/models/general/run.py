"""Whole runs of gradient descent, SGD, federated averaging and SCAFFOLD on losses known exactly.

Cohorts and noise are enumerated by the methods' own kernels, for few clients and rounds; a long run
of one client without noise has a single path and up to 100 rounds. Measured are the loss, the
squared gradient and the squared distance to the nearest minimiser, at the end, as the mean or the
least over rounds, and at the mean of the points. An instance may break one law of chance on which a
claim is silent.
"""

from collections.abc import Sequence, Set
from functools import partial
from math import comb
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory.language.conditions import unsaid_laws
from fedtheory.models import Model, kernels, losses, names
from fedtheory.models.families import (
    NOISE,
    POINT,
    draw_broken,
    name_knots,
    read_knots,
    scale_curvature,
    shift_noise,
    two_point,
)
from fedtheory.models.fields import Field, Fields, coordinate, count, flag, name_vector, read_vector
from fedtheory.models.general import _laws, _long
from fedtheory.models.general.runs import MOST, conditions_met, derive_constants, measure_entries
from fedtheory.models.general.ways import ways_of
from fedtheory.schema import entries, integer, length_among, length_plus, list_of
from fedtheory.symbols.run import TABLE
from fedtheory.typing import Assignment, Instance, Point, Shape

if TYPE_CHECKING:
    import numpy as np

RUN = ("loss", "sq_grad_norm", "sq_distance", "loss_of_mean", "least_sq_grad_norm")
MEASURED = [
    name
    for name, entry in TABLE.items()
    if entry.measure is not None and entry.measure.metric in RUN and entry.measure.at != "t"
]
ASKED = ("growing_noise", "coordinate_noise", "sampled_by_weight")  # drawn only where assumed
ENSURES = frozenset(
    "smooth lipschitz convex strongly_convex dissimilar bounded_below noise independent_noise "
    "exact_gradients equal_weights uniform_cohort quadratic same_curvature".split()
) | set(ASKED)


def draw_shapes(random: Random, relaxed: Set[str], method: str = "fedavg") -> dict[str, Any]:
    """Draw a shape with at most MOST outcomes of its run.

    Convex losses, equal curvatures, quadratics and exact gradients are always drawn where a claim
    assumes them, and with some probability otherwise. Conditions in ASKED are drawn only where they
    are assumed.
    """
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


def breakable(relaxed: Set[str], ensures: Set[str] = ENSURES) -> frozenset[str]:
    """Return the laws of chance on which a claim is silent and which instances may break."""
    return unsaid_laws(ensures - relaxed) & ensures


def _some_never_work(random: Random, shape: Shape) -> dict[str, int]:
    """Return the changes of a shape whose cohort is always the same, with fewer members than
    clients."""
    # at least 2 clients, mostly 3, because two clients are equally far from their mean
    N = max(random.choice([2, 3, 3]), shape["N"])
    # equal=0, so that the choice of the cohort makes a difference
    return dict(N=N, S=min(shape["S"], N - 1), equal=0)


def _several_draws(random: Random, shape: Shape) -> dict[str, int]:
    """Return the changes of a shape with more clients at work, whose noise may have a mean."""
    N = max(random.choice([1, 2, 2]), shape["N"])
    return dict(N=N, S=max(shape["S"], random.choice([1, N])))


def _one_draw(random: Random, shape: Shape) -> dict[str, int | str]:
    """Return the changes of a shape in which all steps have one draw of noise, or by turns its
    opposite."""
    found = _several_draws(random, shape)
    if found["S"] == shape.get("T", 1) == shape.get("K", 1) == 1 and random.random() < 0.8:
        found.update(N=2, S=2)
    found["noise"] = random.choice(["even", "even", "skewed"])
    return {**found, "turns": int(random.random() < 0.3)}


def _several_weights(random: Random, shape: Shape) -> dict[str, int]:
    """Return the changes of a shape whose clients differ and have unequal weights in F."""
    N = max(random.choice([2, 2, 3]), shape["N"])
    return dict(N=N, S=N if shape["S"] == shape["N"] else shape["S"], equal=0)


# {law: the change of a shape whose instances break the law}
BROKEN = dict(
    uniform_cohort=_some_never_work,
    independent_noise=_one_draw,
    equal_weights=_several_weights,
    noise=_several_draws,
)


def ways(shape: Shape, draws: int) -> int:
    """Return the number of outcomes of a run with `draws` draws of a gradient in a round."""
    if shape.get("breaks") == "independent_noise":
        return 2 * cohorts(shape) ** int(shape["T"])
    return (cohorts(shape) * each(shape) ** draws) ** int(shape["T"])


def longer(
    random: Random, relaxed: Set[str], method: str = "fedavg"
) -> dict[str, int | str] | None:
    """Return the shape of a long run, or None where there is none."""
    shape = _long.shapes(random, relaxed, method, ASKED)
    if shape is not None and method == "scaffold":
        shape["option"] = random.choice([1, 2])
    return shape


def cohorts(shape: Shape) -> int:
    """Return the number of cohorts of a round."""
    N, S = shape["N"], shape["S"]
    if shape.get("breaks") == "uniform_cohort":
        return 1
    return comb(N + S - 1, S) if "sampled_by_weight" in shape else comb(N, S)


def each(shape: Shape) -> int:
    """Return the number of outcomes of one draw of a gradient."""
    return (1 if shape["noise"] == "none" else 2) * (2 if "growing_noise" in shape else 1)


def list_losses(shape: Shape) -> Any:
    """Return the coordinates of the clients' curvatures, knots and rotations."""
    found = {}
    for i in range(1 if shape["shared"] else shape["N"]):
        for j in range(shape["d"]):
            found.update({f"slope_{i}_{j}_{k}": "unit" for k in range(shape["pieces"])})
            found.update(_long.coordinates() if "saw" in shape else name_knots(shape, f"{i}_{j}"))
        if shape["turned"]:
            found[f"turn_{i}"] = "real"
    return found


def build_losses(shape: Shape, point: Point, built: Any) -> Any:
    """Build the losses without tilts, one for all clients where curvatures are shared."""
    bend, found = scale_curvature(shape, point), []
    for i in range(1 if shape["shared"] else shape["N"]):
        curves = [build_curve(shape, point, bend, i, j) for j in range(shape["d"])]
        turn = dict(turn=point[f"turn_{i}"]) if shape["turned"] else {}
        found.append(dict(curves=curves, **turn))
    return found


def build_curve(shape: Shape, point: Point, bend: Any, i: int, j: int) -> Any:
    """Return coordinate j of the loss of client i."""
    if "saw" in shape:
        return losses.curve_from_pieces(_long.slopes(shape, point), _long.knots(shape, point))
    slopes = [bend(point[f"slope_{i}_{j}_{k}"]) for k in range(shape["pieces"])]
    return losses.curve_from_pieces(slopes, read_knots(shape, point, f"{i}_{j}"))


def build_at_star(shape: Shape, point: Point, built: Any) -> Any:
    """Return the gradients at the minimiser of all clients but the last, [] where all are 0."""
    rows = range(0 if shape["equal"] else shape["N"] - 1)
    return [[point["scale"] * point[f"at_star_{i}_{j}"] for j in range(shape["d"])] for i in rows]


def list_at_star(shape: Shape) -> Any:
    """Return the coordinates of the gradients at the minimiser, of all clients but the last."""
    rows = range(0 if shape["equal"] else shape["N"] - 1)
    return {f"at_star_{i}_{j}": "real" for i in rows for j in range(shape["d"])}


def build_start(shape: Shape, point: Point, built: Any) -> Any:
    """Return x_0; on a saw, the run starts at the last tooth."""
    return (
        [_long.knots(shape, point)[-1]] if "saw" in shape else read_vector(point, "x", shape["d"])
    )


def build_noise(shape: Shape, point: Point, built: Any) -> Any:
    """Return two-point noise, along one coordinate or all, with a mean where the shape has a
    bias."""
    d = shape["d"]
    noise = two_point(point.get("sigma"), shape["noise"], d, "coordinate_noise" in shape)
    return shift_noise(noise, point["bias"], d) if "bias" in point else noise


def build_weights(shape: Shape, point: Point, built: Any) -> Any:
    """Return the clients' weights in F: positive, with sum 1."""
    weights = [point[f"weight_{i}"] for i in range(shape["N"])]
    return [weight / sum(weights) for weight in weights]


def breaks(law: Any) -> Any:
    """Return the test of whether a shape breaks a law."""
    return lambda shape: shape.get("breaks") == law


def noise_field() -> Any:
    """Return the field of the noise of a gradient; a shape without noise has no coordinate of its
    size."""
    return Field(
        "noise", NOISE, build_noise, lambda s: {} if s["noise"] == "none" else {"sigma": "positive"}
    )


def weights_field(when: Any) -> Any:
    """Return the field of the clients' weights in F."""
    names = lambda shape: {f"weight_{i}": "positive" for i in range(shape["N"])}
    return Field("p", list_of("positive", "N", total=None), build_weights, names, when)


def law_fields() -> Any:
    """Return the fields that name the law which an instance breaks."""
    said = lambda name: (lambda shape, point, built: shape[name], lambda shape: {})
    return [
        Field(name, form, *said(name), lambda shape, name=name: shape.get(name))
        for name, form in _laws.SCHEMA.items()
    ]


BIAS = coordinate("bias", "real", breaks("noise"))
FIELDS = Fields(
    count("N"),
    count("S", most="N"),
    count("T"),
    count("K"),
    flag("convex"),
    flag("lipschitz"),
    Field(
        "losses",
        list_of(entries(dict(curves=losses.LOSS), dict(turn="number")), length_among(1, "N")),
        build_losses,
        list_losses,
    ),
    Field(
        "at_star",
        list_of(POINT, length_among(0, length_plus("N", -1))),
        build_at_star,
        list_at_star,
    ),
    Field(
        "x_0",
        POINT,
        build_start,
        lambda shape: {} if "saw" in shape else name_vector("x", shape["d"]),
    ),
    noise_field(),
    *law_fields(),
    Field(
        "growth",
        "nonnegative",
        lambda shape, point, built: point["growth"],
        lambda shape: {"growth": "positive"},
        lambda shape: "growing_noise" in shape,
    ),
    weights_field(lambda shape: "sampled_by_weight" in shape or breaks("equal_weights")(shape)),
    coordinate("scale", "positive"),
    BIAS,
    order="scale",
)


LOOSE = dict(L=1, G=1, zeta=1, sigma=1, sigma_j=1, growth=1, R=1, mu=-1)


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str], method: str
) -> dict[str, Any]:
    """Return the wanted symbols of the neutral table, measured on a run of the method."""
    return measure_entries(instance, values, {name: TABLE[name].measure for name in wanted}, method)


def make_model(
    method: str,
    says: str,
    takes: Any,
    fields: Sequence[Any],
    gives: "np.ndarray" = ("N", "S", "K", "T", "d"),
) -> Any:
    """Return the model of runs of a method; `takes` are its real hyper-parameters, `gives` its
    counts."""
    return Model(
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
        constants=derive_constants,
        measure=partial(measure_symbols, method=method),
        table=TABLE,
        early=frozenset({"sq_distance_0", "gap_0"}),
        ensures=ENSURES,
        holds=conditions_met,
        ways=partial(ways_of, method=method),
        **fields.record(),
    )


OPTION = Field("option", integer(1, 2), lambda shape, point, built: shape["option"])
MODELS = (
    make_model(
        "fedsgd", "gradient steps, one a round", ("eta",), FIELDS.replace(count("K", most=1))
    ),
    make_model("fedavg", "federated averaging", ("eta_l", "eta_g"), FIELDS),
    make_model(
        "scaffold",
        "SCAFFOLD",
        ("eta_l", "eta_g"),
        FIELDS.replace(OPTION, after="lipschitz"),
        ("N", "S", "K", "T", "d", "option"),
    ),
)
