"""Arrival or departure of a device: how far the minimiser moves (flex, theorem 3.2), and the
arriving device's extra update (corollary 4.0.2), on separable quadratics."""

from collections.abc import Collection, Sequence, Set
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

from fedtheory import schema
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import maximum, minimum, positive_part, root, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.path_recorder import RecordedOutcome, Track, is_watched, record_if_watched
from fedtheory.models import Model, names
from fedtheory.models.families import POINT
from fedtheory.models.fields import Field, Fields, name_true, name_vector, read_vector, word
from fedtheory.models.flex import quadratics
from fedtheory.schema import integer, length_plus, list_of
from fedtheory.symbols.flex import TABLE
from fedtheory.typing import Assignment, Instance, Number, Shape

if TYPE_CHECKING:
    import numpy as np


CONVEX = frozenset({"devices_smooth", "devices_strongly_convex"})
SIZES = (1, 1, 1, 2, 3, 10, 100)


def sizes(random: Random, N: int) -> str:
    """Draw numbers of data points for N devices, as one text of numbers separated by spaces."""
    return " ".join(str(random.choice(SIZES)) for _ in range(N))


def sizes_field() -> Any:
    """Return the field of the numbers of data points, in which the last device's is the last."""
    build = lambda shape, point, built: [int(size) for size in shape["sizes"].split()]
    return Field("n", list_of(integer(), length_plus("others", 1)), build)


def weights(n: Sequence[int]) -> list[Fraction]:
    return [Fraction(size, sum(n)) for size in n]


# The move of the minimiser (theorem 3.2): the last device arrives or departs


def shift_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    N = random.choice([2, 2, 3])
    return dict(d=random.choice([1, 1, 2]), N=N, sizes=sizes(random, N))


def table_field(name: str, kind: Any) -> Any:
    """Return the field of a number for each device and coordinate."""
    rows = lambda shape: range(shape["N"])

    def coordinates(shape: Shape) -> Any:
        each = [name_vector(f"{name}_{k}", shape["d"], kind) for k in rows(shape)]
        return {name: kind for row in each for name in row}

    return Field(
        name,
        list_of(list_of("number" if kind == "real" else kind, "d"), length_plus("others", 1)),
        lambda s, point, built: [read_vector(point, f"{name}_{k}", s["d"]) for k in rows(s)],
        coordinates,
    )


def shift_fields(event: str) -> Any:
    return Fields(
        Field("event", schema.word(event), lambda shape, point, built: event),
        sizes_field(),
        table_field("a", "positive"),
        table_field("b", "real"),
        order="b a",
    )


def along(instance: Instance, j: int, members: range) -> dict[str, list[Number | Counted]]:
    """Return the devices `members` in coordinate j, with the weights of the objective that these
    devices form."""
    return dict(
        a=[instance["a"][k][j] for k in members],
        b=[instance["b"][k][j] for k in members],
        p=weights([instance["n"][k] for k in members]),
    )


def optima(instance: Instance) -> "list[np.ndarray]":
    """Return the minimisers of the objectives without and with the last device."""
    N, d = len(instance["n"]), len(instance["a"][0])
    return [
        vector([quadratics.minimiser(along(instance, j, range(members))) for j in range(d)])
        for members in (N - 1, N)
    ]


def shift_constants(instance: Instance) -> dict[str, Any]:
    n, arrives = instance["n"], instance["event"] == "arrival"
    a, b = vector(instance["a"][-1]), vector(instance["b"][-1])
    without, _ = optima(instance)
    Gamma = (a * (without - b)).dot(without - b) / 2
    curvatures = [a for row in instance["a"] for a in row]
    # Each event has its own excess, at the optimum without the device. The excess of the other
    # event is not given.
    return dict(
        n=Fraction(sum(n[:-1] if arrives else n)),
        n_l=Fraction(n[-1]),
        L=maximum(*curvatures),
        mu=minimum(*curvatures),
        Gamma_l=Gamma if arrives else INF,
        tilde_Gamma_l=INF if arrives else Gamma,
    )


def shift_measure(
    instance: Instance, values: Assignment, wanted: Collection[str]
) -> dict[str, Number]:
    """Return the distance of the minimisers, and gradients and excesses at each other's
    minimiser."""
    without, all_of_them = optima(instance)
    a, b = vector(instance["a"][-1]), vector(instance["b"][-1])
    # F_l at the optimum of the objective with F_l, minus its minimum: not the excess of theorem 3.2
    inside = (a * (all_of_them - b)).dot(all_of_them - b) / 2
    slope = a * (without - b)
    # The objective of all devices, where the others' is least: added up over devices
    p = weights(instance["n"])
    steep = sum(
        share * vector(a) * (without - vector(b))
        for share, a, b in zip(p, instance["a"], instance["b"])
    )
    found = dict(
        shift=length(without - all_of_them),
        Gamma_l_new=inside,
        Gamma_l_old=inside,
        grad_l_old=length(slope),
        grad_l_new=length(slope),
        grad_new_old=length(steep),
        grad_old_new=length(steep),
    )
    return {name: found[name] for name in wanted}


def shift_holds(instance: Instance) -> frozenset[str]:
    """Return the conditions of convex quadratics, which every instance meets."""
    return CONVEX


def shift(event: str) -> Model:
    """Return the model of an event, "arrival" or "departure"."""
    fields = shift_fields(event)
    holds = fields.guard(shift_holds)
    return Model(
        name=f"flex_{event}",
        says=f"the {event} of a device, on separable quadratics",
        measures=names(
            TABLE,
            "shift",
            *(
                ("Gamma_l_new", "grad_l_old", "grad_new_old")
                if event == "arrival"
                else ("Gamma_l_old", "grad_l_new", "grad_old_new")
            ),
        ),
        gives=("n", "n_l", "Gamma_l", "tilde_Gamma_l"),
        loose=dict(L=1, mu=-1),
        shapes=shift_shapes,
        constants=quadratics.check_instance(shift_constants, holds),
        measure=shift_measure,
        table=TABLE,
        ensures=CONVEX,
        holds=holds,
        kind="exact",
        **fields.record(),
    )


# The extra update (corollary 4.0.2): F for all old devices together, and F_l for the arriving
# device, which has the share p_l

REBOOT = ("dist_old", "dist_new", "dist_reboot", "inner_l", "gap_new", "grad_norm_old")


def reboot_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw the dimension, and whether W bounds both losses or only the old one."""
    return dict(
        d=random.choice([1, 2, 2]), bounds="both" if "bounded_by_W_l" not in relaxed else "old"
    )


def pair_field(name: str, form: Any, kind: Any) -> Any:
    """Return the field of a number for each coordinate, of the old devices and of the new one."""
    return Field(
        name,
        list_of(form, 2),
        lambda s, point, built: [read_vector(point, f"{name}_{w}", s["d"]) for w in ("old", "l")],
        lambda s: {f"{name}_{w}_{j}": kind for w in ("old", "l") for j in range(s["d"])},
    )


def list_away(shape: Shape) -> Any:
    """Return the coordinates of w - w*: w differs from w*, where grad F vanishes, and lies to its
    right, since mirrored losses are losses too."""
    return {f"away_{j}": "real" if j else "positive" for j in range(shape["d"])}


REBOOT_FIELDS = Fields(
    word("bounds", "both", "old"),
    pair_field("a", list_of("positive", "d"), "positive"),
    pair_field("b", POINT, "real"),
    Field(
        "p_l",
        "share",
        lambda shape, point, built: point["odds"] / (1 + point["odds"]),
        lambda shape: {"odds": "positive"},
    ),
    Field(
        "w",
        POINT,
        lambda s, point, built: [b + point[f"away_{j}"] for j, b in enumerate(built["b"][0])],
        list_away,
    ),
)


def reboot_points(instance: Instance) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
    """Return w, w* and w~* of corollary 4.0.2 for an instance."""
    (a, a_l), (b, b_l) = ([vector(row) for row in instance[name]] for name in "ab")
    p_l = instance["p_l"]
    pull, pull_l = (1 - p_l) * a, p_l * a_l
    new = vector([(m * x + m_l * x_l) / (m + m_l) for m, m_l, x, x_l in zip(pull, pull_l, b, b_l)])
    return vector(instance["w"]), b, new


def reboot_constants(instance: Instance) -> dict[str, Any]:
    """Return L, mu, p_l, Gamma_l, the distance of w to w*, and W.

    W bounds curvatures and gradients on the box of w, w* and w~*.
    """
    points, curvatures = reboot_points(instance), [a for row in instance["a"] for a in row]
    w, old, new = points
    known = instance["a"] if instance["bounds"] == "both" else instance["a"][:1]
    # W holds on the box of w, w* and w~*: no strongly convex loss has a W for all points
    squares = [
        sum(
            maximum(*(a * a * (x[j] - b[j]) * (x[j] - b[j]) for x in points))
            for j, a in enumerate(row)
        )
        for row, b in zip(known, instance["b"])
    ]
    a_l, b_l = vector(instance["a"][1]), vector(instance["b"][1])
    return dict(
        L=maximum(*curvatures),
        mu=minimum(*curvatures),
        p_l=instance["p_l"],
        Gamma_l=(a_l * (old - b_l)).dot(old - b_l) / 2,
        W=maximum(*(a for row in known for a in row), *map(root, squares)),
        dist_old=length(w - old),
    )


def length(v: "np.ndarray") -> Number:
    """Return ||v||."""
    return root(v.dot(v))


def reboot_measure(instance: Instance, values: Assignment, wanted: Sequence[str]) -> dict[str, Any]:
    """Return distances to the new minimiser before and after the best extra step along grad
    F_l(w)."""
    w, old, new = reboot_points(instance)
    (a, a_l), (_, b_l), p_l = (
        [vector(row) for row in instance["a"]],
        [vector(row) for row in instance["b"]],
        instance["p_l"],
    )
    g, away = a_l * (w - b_l), w - new
    inner = g.dot(away)
    best = lambda: ratio(positive_part(inner), g.dot(g))  # the best delta; 0 where no delta helps
    if "dist_reboot" in wanted and is_watched():
        record_if_watched(lambda: extra_update(w, w - best() * g, g))
    named = dict(
        dist_old=lambda: length(w - old),
        grad_norm_old=lambda: length(a * (w - old)),
        dist_new=lambda: length(away),
        inner_l=lambda: inner,
        dist_reboot=lambda: length(away - best() * g),
        gap_new=lambda: (((1 - p_l) * a + p_l * a_l) * (old - new)).dot(old - new) / 2,
    )
    return {name: named[name]() for name in wanted}


def extra_update(w: "np.ndarray", after: "np.ndarray", g: "np.ndarray") -> RecordedOutcome:
    """Build the record of the arriving device's update from w to `after` with gradient g, for code
    that follows a run."""
    track = Track(2, (w, after), (g,))
    return RecordedOutcome("extra update", 0, quadratics.ONE, 1, (track,), w, after, w, after)


def ratio(part: Number, whole: Number) -> Number:
    """Return part / whole, or 0 where both are 0."""
    return part / where(whole > 0, whole, quadratics.ONE)


@REBOOT_FIELDS.guard
def reboot_holds(instance: Instance) -> frozenset[str]:
    """Return the convexity of both losses, and which bounds by W the instance has."""
    moves = any(x != b for x, b in zip(instance["w"], instance["b"][0]))  # ||grad F(w)|| > 0
    return CONVEX | name_true(bounded_by_W=moves, bounded_by_W_l=instance["bounds"] == "both")


MODELS = [
    shift("arrival"),
    shift("departure"),
    Model(
        name="flex_reboot",
        says="an arriving device's extra update, on separable quadratics, with gradients and "
        "curvatures bounded by W on a box around w, w* and w~*",
        measures=names(TABLE, *REBOOT),
        algorithms=("flex_c",),
        gives=("p_l", "Gamma_l"),
        loose=dict(L=1, mu=-1, W=1),
        shapes=reboot_shapes,
        constants=quadratics.check_instance(reboot_constants, reboot_holds),
        measure=reboot_measure,
        table=TABLE,
        early=frozenset({"dist_old"}),
        ensures=CONVEX | {"bounded_by_W", "bounded_by_W_l"},
        holds=reboot_holds,
        kind="exact",
        **REBOOT_FIELDS.record(),
    ),
]
