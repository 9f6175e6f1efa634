"""Whole runs of mixed FL's three methods (theorems B.1 to B.3): by their points where nothing is
random, by moments for noisy quadratics, by enumeration for a few noisy rounds on other losses."""

from collections.abc import Callable, Sequence, Set
from fractions import Fraction
from functools import cache, partial
from math import comb
from random import Random
from typing import Any, NamedTuple

from fedtheory.arithmetic.operations import Many, minimum, root, shorten_ends, vector
from fedtheory.arithmetic.work import Counted
from fedtheory.models import Model, fields, kernels, losses, names
from fedtheory.models.families import POINT, UNITS, draw_broken, outcomes, sound_noise, variance
from fedtheory.models.fields import ZERO, Field, count, name_vector, read_vector
from fedtheory.models.kinds import draw_count
from fedtheory.models.mixed import pair
from fedtheory.models.mixed.moments import READ, STEPS, Case, point_moments, run_paths
from fedtheory.models.quantities import square_norm
from fedtheory.schema import list_of, row
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

MOST = 256  # most outcomes of a run that are enumerated
MEASURED = "gap_mean gap_weighted gap_decreasing mean_gap mean_sq_grad best_sq_grad".split()
# quantities of a run's first round
FIRST = ("f_t", "f_next", "gap", "sq_grad", "sq_dist", "sq_dist_next")
# power of `first_far`: a first transferred gradient ranges over more decades than other numbers
FAR = 4
MANY = dict(parallel_training=(10, 30, 100), one_way_gt=(10, 30, 100), two_way_gt=(90, 170))
RUN = frozenset(
    "homogeneous clients_spread noise sgd equal_steps independent_noise uniform_cohort "
    "equal_weights".split()
)


def draw_shapes(method: str, random: Random, relaxed: Set[str]) -> dict[str, Any]:
    """Draw a shape whose run needs moments alone or has at most MOST paths.

    Noisy quadratics may have many clients, steps and rounds. Clients that differ, first gradients
    that are arbitrary, and broken laws are drawn only where the claim does not exclude them, and
    then the rest of the shape is kept simple, so that the broken hypothesis has an effect.
    """
    strong = "strongly_convex" not in relaxed
    while True:
        noisy = random.random() < 0.7
        noise, noise_c = (
            random.choice(["none", "even", "skewed"] if noisy else ["none"]) for _ in range(2)
        )
        S = random.choice([1, 2, 3, 10]) if noise != "none" else random.choice([1, 2])
        shape = dict(
            pair.draw_pair(
                random,
                relaxed,
                alike="dissimilar" not in relaxed and random.random() < 0.7,
                noisy=noisy,
            ),
            noise=noise,
            noise_c=noise_c,
            S=S,
            N=S + random.choice([0, 1]),
            K=random.choice([1, 1, 2, 3, 5]),
            T=random.choice([1, 1, 2, 3, 5, 10]),
            method=method,
        )
        if "homogeneous" in relaxed and random.random() < 0.7:
            shape.update(unlike=1, N=max(2, shape["N"]))
            if shape["pieces"] > 1 and random.random() < 0.7:
                # All clients work, in many copies of each kind, so that nothing is random. Only the
                # effect of clients' drift is left, from a start at which nothing else moves.
                shape.update(noise="none", noise_c="none", S=shape["N"])
                shape.update(copies=str(10 ** random.choice([0, 3, 6, 9])))
                if method != "one_way_gt" and random.random() < 0.7:
                    shape.update(start="still")
        if method == "two_way_gt":
            shape["first"] = (
                "gradients"
                if "gradients_first" not in relaxed
                else random.choice(["gradients", "none", "any"])
            )
        thrown = shape.get("first") == "any" and random.random() < 0.6
        # the first step goes arbitrarily far, and everything else is as simple as possible
        if thrown:
            shape.update(pieces=1, d=1, soft=0, start="right", noise="none", noise_c="none")
        often = 0.3 if method == "two_way_gt" else 0.6
        if random.random() < (1.0 if strong or thrown else often):
            # Theorems B.1 and B.3 need 6 and 81 rounds where mu > 0, the latter with mu near beta.
            # The noise floor and the distance reached by the first transferred gradients also show
            # only after many rounds. T is a text, so that long runs do not count as large shapes.
            shape.update(T=str(random.choice(MANY[method])), K=random.choice([1, 1, 2]))
            if "copies" in shape:
                shape.update(K=2)
            if (
                not is_quadratic(shape)
                and (noisy or method == "two_way_gt" or "unlike" in shape)
                and "copies" not in shape
                or strong
                and method == "two_way_gt"
                and shape["own"] != "tilt"
            ):
                continue
        if is_quadratic(shape) and random.random() < 0.4:
            shape.update(K=str(draw_count(random, 1, 300)))
            if shape["noise"] != "none" and "unlike" not in shape:
                shape.update(S=str(S := draw_count(random, 1)), N=str(S + random.choice([0, 1])))
        if "copies" not in shape and (broken := draw_broken(random, relaxed & pair.BREAKABLE)):
            shape["breaks"] = broken
            if broken == "uniform_cohort":  # with several clients, some clients never work
                text = type(shape["S"])
                shape["N"] = text(max(2, int(shape["N"])))
                shape["S"] = text(min(int(shape["S"]), int(shape["N"]) - 1))
            else:
                shape["noise"] = random.choice(["even", "skewed"])
        if affords_moments(shape):
            return shape


def affords_moments(shape: Shape) -> bool:
    """Tell whether a run of this shape needs moments alone or has few paths."""
    return is_quadratic(shape) or count_ways(shape) <= MOST


def is_quadratic(shape: Shape) -> bool:
    """Tell whether both losses are quadratics in one dimension, so that moments suffice."""
    return shape["pieces"] == 1 and shape["d"] == 1


def count_ways(shape: Shape) -> int:
    """Return the number of paths that an enumeration of a run has."""
    central = 1 if shape["method"] == "one_way_gt" else shape["K"]
    if shape.get("breaks") == "independent_noise":
        return 4 ** int(shape["T"])
    drawn = shape["K"] * shape["S"] * (shape["noise"] != "none") + central * (
        shape["noise_c"] != "none"
    )
    cohorts = comb(int(shape["N"]), int(shape["S"])) if "unlike" in shape else 1
    return (cohorts * 2**drawn) ** int(shape["T"])


def build_apart(shape: Shape, point: Point, built: Any) -> Any:
    """Return the differences between clients' gradients and grad f_f, which add up to 0."""
    d, N = shape["d"], int(shape["N"])
    far = 128 if "copies" in shape else 1  # so that short steps cross a knot
    rows = [[far * point[f"apart_{i}_{j}"] for j in range(d)] for i in range(N - 1)]
    return [*rows, [-sum(column) for column in zip(*rows)]]


def list_apart(shape: Shape) -> Any:
    """Return the coordinates of the clients' gradient differences, of all clients but the last."""
    return {f"apart_{i}_{j}": "real" for i in range(int(shape["N"]) - 1) for j in range(shape["d"])}


def build_first(shape: Shape, point: Point, built: Any) -> Any:
    """Return the gradients of f_f and f_c that are transferred first."""
    x = vector(built["x"])
    if shape["first"] == "gradients":
        return [list(losses.loss_gradient(loss, x)) for loss in built["losses"]]
    if shape["first"] == "none":
        return [[ZERO] * shape["d"] for _ in "fc"]
    given = lambda w: read_vector(point, f"first_{w}", shape["d"])
    return [[point["first_far"] ** FAR * g for g in given(w)] for w in "fc"]


def list_first(shape: Shape) -> Any:
    """Return the coordinates of the gradients that are transferred first, where these are
    arbitrary."""
    if shape["first"] != "any":
        return {}
    found = {name: "real" for w in "fc" for name in name_vector(f"first_{w}", shape["d"])}
    return found | {"first_far": "positive"}


B = Field(
    "B",
    "factor",
    lambda shape, point, built: 1 + point["more_B"],
    lambda shape: {"more_B": "nonnegative"},
)
OWN = dict(
    parallel_training=(B,),
    one_way_gt=(),
    two_way_gt=(Field("first", row(POINT, POINT), build_first, list_first),),
)
FIELDS = {
    method: pair.PAIR.replace(
        count("N"),
        count("S", most="N"),
        count("K"),
        count("T"),
        fields.noise("noise", "sigma"),
        fields.noise("noise_c", "sigma_c"),
        pair.BREAKS,
        Field(
            "copies",
            "whole",
            lambda shape, point, built: Fraction(int(shape["copies"])),
            when=lambda shape: "copies" in shape,
        ),
        Field(
            "apart", list_of(POINT, "N"), build_apart, list_apart, lambda shape: "unlike" in shape
        ),
        *own,
    )
    for method, own in OWN.items()
}


def derive_constants(method: str, instance: Instance) -> dict[str, Any]:
    x, star = vector(instance["x"]), pair.find_minimizer(instance)
    found = dict(
        {name: Fraction(instance[name]) for name in ("K", "T")},
        # `copies` clients of each kind, all at work: their mean is the mean over one client of each
        # kind
        **{name: Fraction(instance[name] * instance.get("copies", 1)) for name in ("N", "S")},
        **pair.pair_constants(instance),
        sigma=root(variance(instance["noise"])),
        sigma_c=root(variance(instance["noise_c"])),
        sigma_f=root(mean_square(instance.get("apart", ()))),
        D_sq=square_norm(x - star),
        F=pair.height_above(instance, x),
    )
    if method == "parallel_training":
        found.update(pair.bounded_dissimilarity(instance))
    if method == "two_way_gt":
        found["lag"] = sum(
            2 * square_norm(vector(first) - losses.loss_gradient(loss, star))
            for first, loss in zip(instance["first"], instance["losses"])
        )
    return found


def mean_square(vectors: Sequence[list[Many | Counted]]) -> Number | Counted:
    """Return the mean squared norm of the differences between clients' gradients and grad f_f; 0
    where there are none."""
    return sum((square_norm(vector(v)) for v in vectors), Fraction(0)) / max(1, len(vectors))


def measure_symbols(
    method: str, instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    f_f, f_c = instance["losses"]
    case = Case(
        method,
        lambda y: losses.loss_gradient(f_f, y),
        lambda y: losses.loss_gradient(f_c, y),
        *(instance[name] for name in ("S", "K")),
        instance["T"] if set(wanted) - set(FIRST) else 1,
        *(values[name] for name in STEPS[method]),
        apart=tuple(map(tuple, instance.get("apart", ()))),
        one=instance.get("breaks") == "independent_noise",
        always=instance.get("breaks") == "uniform_cohort",
    )
    runs = (
        by_moments
        if all(not curve["bends"] for loss in instance["losses"] for curve in loss)
        and len(instance["x"]) == 1
        else by_paths
    )

    @cache
    def of(which: str) -> "RunMoments":
        return runs(case, instance, WEIGHTS[which](values, case))

    mean = lambda numbers: sum(numbers) / len(numbers)
    found = dict(
        best_sq_grad=lambda: minimum(*of("even").squares),
        mean_sq_grad=lambda: mean(of("even").squares),
        mean_gap=lambda: mean(of("even").values) - pair.infimum_of_pair(instance),
        gap_mean=lambda: of("even").at_mean - pair.infimum_of_pair(instance),
        gap_weighted=lambda: of("growing").at_mean - pair.infimum_of_pair(instance),
        gap_decreasing=lambda: of("falling").at_mean - pair.infimum_of_pair(instance),
        f_t=lambda: of("even").values[0],
        f_next=lambda: of("even").values[1],
        gap=lambda: pair.height_above(instance, vector(instance["x"])),
        sq_grad=lambda: of("even").squares[0],
        sq_dist=lambda: of("even").distances[0],
        sq_dist_next=lambda: of("even").distances[1],
    )
    return {name: found[name]() for name in wanted if name in found}


def contraction_powers(values: Assignment, case: Case) -> list[Number | Any]:
    """Return (1 - c)^T, ..., 1, where c is the contraction of a round."""
    ratio, found = 1 - values["mu"] * case.contraction, [Fraction(1)]
    for _ in range(case.T):
        found.insert(0, shorten_ends(found[0] * ratio))
    return found


WEIGHTS = dict(  # weights of the points x^(0), ..., x^(T) in their mean
    even=lambda values, case: [Fraction(1)] * (case.T + 1),
    growing=contraction_powers,  # (1 - c)^(-t), all times (1 - c)^T
    falling=lambda values, case: contraction_powers(values, case)[::-1],
)


class RunMoments(NamedTuple):
    """The expected values of a run."""

    squares: list[Any]  # E||grad f(x^(t))||^2 for t = 0, ..., T
    values: list[Any]  # E f(x^(t))
    at_mean: Any  # E f(weighted mean of the points)
    distances: list[Any]  # E||x^(t) - x*||^2


def start_state(
    instance: Instance, wrap: Callable[..., Any] = vector
) -> tuple[Number | Counted, ...]:
    x, first = wrap(instance["x"]), instance.get("first")
    return (x, wrap(first[1]), wrap(first[0])) if first else (x,)


def by_paths(case: Case, instance: Instance, weights: Sequence[Fraction]) -> RunMoments:
    """Return the record Ran by enumeration of all paths of a run."""
    f, grad = pair.mix_pair(instance["losses"])
    d, full, star = len(instance["x"]), sum(weights), pair.find_minimizer(instance)
    every = run_paths(
        case,
        start_state(instance),
        outcomes(instance["noise"], d),
        outcomes(instance["noise_c"], d),
    )
    expected = lambda value: [
        sum(p * value(points[t]) for p, points in every) for t in range(case.T + 1)
    ]
    at_mean = sum(p * f(sum(w * x for w, x in zip(weights, points)) / full) for p, points in every)
    far = expected(lambda x: square_norm(x - star))
    return RunMoments(expected(lambda x: square_norm(grad(x))), expected(f), at_mean, far)


def by_moments(case: Case, instance: Instance, weights: Sequence[Number | Any]) -> RunMoments:
    """Return the record Ran by moments, where both losses are quadratics in one dimension."""
    curves = [loss[0] for loss in instance["losses"]]
    bends, tilts = [curve["slope"] for curve in curves], [curve["tilt"] for curve in curves]
    points, (mean, spread) = point_moments(
        case,
        start_state(instance, lambda v: v[0]),
        bends,
        tilts,
        [variance(instance[kind]) for kind in ("noise", "noise_c")],
        weights,
    )
    bend, tilt = sum(bends), sum(tilts)
    squares = [(bend * m + tilt) * (bend * m + tilt) + bend * bend * v for m, v in points]
    value = lambda m, v: bend * (m * m + v) / 2 + tilt * m
    star = pair.find_minimizer(instance)[0]
    far = [(m - star) * (m - star) + v for m, v in points]
    return RunMoments(squares, [value(*point) for point in points], value(mean, spread), far)


def conditions_held(method: str, instance: Instance) -> frozenset[str]:
    """Return the conditions that an instance of a method's runs meets, none where the data are no
    instance.

    Clients that stand for many copies are admitted only where all clients work and nothing is
    random.
    """
    d, copies = len(instance["x"]), instance.get("copies", 1)
    apart = instance.get("apart", ())
    sound = (
        all(sound_noise(instance[kind], d) for kind in ("noise", "noise_c"))
        and all(sum(column) == 0 for column in zip(*apart))
        and (
            copies == 1
            or "breaks" not in instance
            and instance["S"] == instance["N"]
            and not instance["noise"]
        )
    )
    if not sound:
        return frozenset()
    held = pair.pair_holds(instance)
    if method == "parallel_training" and pair.has_dissimilarity(instance):
        held |= {"dissimilar"}
    if method == "two_way_gt" and all(
        list(losses.loss_gradient(loss, vector(instance["x"]))) == list(first)
        for loss, first in zip(instance["losses"], instance["first"])
    ):
        held |= {"gradients_first"}
    alike = all(o == 0 for own in apart for o in own)
    several = ("noise",) if instance["K"] * instance["S"] > 1 else ()
    if instance["K"] > 1 and method != "one_way_gt":
        several += ("noise_c",)
    met = (RUN if alike else RUN - {"homogeneous"}) - pair.broken_by(instance, several)
    return held | met


def make_model(method: str, says: str, more: Any, early: Any = (), first: Number = ()) -> Any:
    """Return the model of runs of a method; `more` are conditions beside those of all three
    methods."""
    early, loose = {"D_sq", "F", *early}, dict(beta=1, beta_sum=1, sigma=1, sigma_c=1, sigma_f=1)
    return Model(
        name=f"mixed_run_{method}",
        says=f"a run of {says}",
        measures=names(TABLE, *MEASURED, *first, *early),
        algorithms=(method,),
        by=f"{kernels(method)}, and what is tested to be the same after more than {READ} steps",
        gives=("N", "S", "K", "T"),
        loose=dict(loose, mu=-1, **({"G": 1, "B": 1} if "dissimilar" in more else {})),
        takes=STEPS[method],
        shapes=partial(draw_shapes, method),
        affords=affords_moments,
        coordinates_in=UNITS,
        constants=partial(derive_constants, method),
        measure=partial(measure_symbols, method),
        table=TABLE,
        early=frozenset(early),
        ensures=pair.FACTS | RUN | more,
        holds=FIELDS[method].guard(partial(conditions_held, method)),
        **FIELDS[method].record(),
    )


MODELS = (
    make_model("parallel_training", "parallel training", {"dissimilar"}, first=FIRST),
    make_model("one_way_gt", "1-way gradient transfer", set()),
    make_model("two_way_gt", "2-way gradient transfer", {"gradients_first"}, ("lag",)),
)
