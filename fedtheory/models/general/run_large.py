"""Whole runs of gradient steps and of federated averaging with thousands of clients, steps and
rounds, on separable quadratics, at the cost of a few clients.

Clients come in kinds, and all clients of a kind are equal. The effect of a cohort's mean move on
the mean and variance of a coordinate has a closed form (`exact.recursions`), and rounds are
composed by doubling. Noise may have any law with the given variance, because only moments enter.
Coordinates are relative to the point where the mean gradient is 0.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np

from fedtheory import discover
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, maximum, minimum, root, where
from fedtheory.arithmetic.work import Counted
from fedtheory.exact import recursions
from fedtheory.models import Model, beside, distances, names
from fedtheory.models.families import POINT, scale_curvature
from fedtheory.models.fields import (
    ZERO,
    Field,
    Fields,
    coordinate,
    count,
    deviation,
    name_true,
    name_vector,
)
from fedtheory.models.general import run as whole
from fedtheory.models.general.runs import TIMES, within_range
from fedtheory.models.kinds import COHORT, Kinds, draw_count, draw_kinds, is_shared, members_field
from fedtheory.schema import integer, length_plus, list_of
from fedtheory.symbols.run import TABLE
from fedtheory.typing import Assignment, Instance, Number, Point, Shape

RUN = ("loss", "sq_grad_norm", "sq_distance", "loss_of_mean")
MEASURED = [name for name in whole.MEASURED if TABLE[name].measure.metric in RUN]
ONE = Fraction(1)
# most rounds that are computed one by one, where the least value over rounds is measured
FOLLOWED = 200


def draw_shapes(random: Random, relaxed: Set[str], method: str = "fedavg") -> dict[str, int | str]:
    """Draw a shape. Sizes are texts, so that a shape with large sizes does not count as large;
    often all sizes are large, because some bounds fail nowhere else."""
    least = 30 if random.random() < 0.4 else 1
    N, K, T = (draw_count(random, least) for _ in range(3))
    kinds = draw_kinds(random, N)
    alike = kinds["kinds"] == 1
    convex = not {"convex", "strongly_convex"} <= relaxed or random.random() < 0.7
    return dict(
        N=str(N),
        S=str(
            N if random.random() < 0.5 else random.choice([1, max(1, N // 2), random.randint(1, N)])
        ),
        K=str(1 if method == "fedsgd" else K),
        T=str(T),
        **kinds,
        d=random.choice([1, 1, 1, 2]),
        convex=int(convex),
        lipschitz=int("lipschitz" not in relaxed or convex or random.random() < 0.5),
        shared=int("same_curvature" not in relaxed or alike or random.random() < 0.3),
        equal=int(alike or random.random() < 0.2),
        start=random.choice(["still", "any", "any"]),
        noise=int("exact_gradients" in relaxed and random.random() < 0.5),
    )


def own_slopes(shape: Shape) -> Any:
    """Return the kinds that have slopes of their own: one where all have the same."""
    return range(1 if shape["shared"] else shape["kinds"])


def build_slopes(shape: Shape, point: Point, built: Any) -> Any:
    """Return the curvatures of each kind by coordinate; all kinds have the first's where they are
    shared."""
    bend, axes = scale_curvature(shape, point), range(shape["d"])
    own = [[bend(point[f"slope_{k}_{j}"]) for j in axes] for k in own_slopes(shape)]
    return own * shape["kinds"] if shape["shared"] else own


def list_slopes(shape: Shape) -> Any:
    """Return the coordinates of the curvatures, of one kind where they are shared."""
    return {f"slope_{k}_{j}": "unit" for k in own_slopes(shape) for j in range(shape["d"])}


def build_at_star(shape: Shape, point: Point, built: Any) -> Any:
    """Return the gradients at 0 of all kinds but the first, whose gradient balances the others."""
    scale, axes = point["scale"], range(shape["d"])
    return [
        [scale * point[f"at_star_{k}_{j}"] if not shape["equal"] else ZERO for j in axes]
        for k in range(1, shape["kinds"])
    ]


def list_at_star(shape: Shape) -> Any:
    """Return the coordinates of the gradients at 0, none where all are 0."""
    kinds = () if shape["equal"] else range(1, shape["kinds"])
    return {f"at_star_{k}_{j}": "real" for k in kinds for j in range(shape["d"])}


def list_start(shape: Shape) -> Any:
    """Return the coordinates of the start, none where the run starts at 0."""
    return name_vector("x", shape["d"]) if shape["start"] == "any" else {}


def fields_of(method: str) -> Any:
    """Return the fields of an instance of a method's runs."""
    return Fields(
        count("S")._replace(schema=COHORT),
        count("K", most=1 if method == "fedsgd" else None),
        count("T"),
        Field("lipschitz", integer(0, 1), lambda shape, point, built: shape["lipschitz"]),
        members_field(),
        coordinate("scale", "positive"),
        Field("slopes", list_of(POINT, "kinds"), build_slopes, list_slopes),
        Field("at_star", list_of(POINT, length_plus("kinds", -1)), build_at_star, list_at_star),
        Field(
            "x_0",
            POINT,
            lambda shape, point, built: [point.get(f"x_{j}", ZERO) for j in range(shape["d"])],
            list_start,
        ),
        deviation("sigma", "noise"),
    )


class Clients(Kinds):
    """The clients of an instance, grouped by kind."""

    def __init__(self, instance: Instance) -> None:
        super().__init__(instance["members"])
        self.slopes, self.x_0 = instance["slopes"], instance["x_0"]
        self.d = len(self.x_0)
        rest = [  # the first kind's gradient at 0, so that all gradients at 0 add up to 0
            -sum((n * g[j] for n, g in zip(self.members[1:], instance["at_star"])), ZERO)
            / self.members[0]
            for j in range(self.d)
        ]
        self.at_star = [rest, *instance["at_star"]]
        self.low = minimum(*(a for row in self.slopes for a in row))
        self.most = maximum(*(a for row in self.slopes for a in row))
        self.high = maximum(*(abs(a) for row in self.slopes for a in row))

    def mean_slope(self, j: int) -> Any:
        """Return the curvature of F along coordinate j."""
        return self.mean([row[j] for row in self.slopes])

    @property
    def spread(self) -> Number | Counted:
        """Return the mean square of the clients' gradients at 0."""
        return sum(w * g * g for w, row in zip(self.share, self.at_star) for g in row)

    @property
    def shared(self) -> bool:
        """Tell whether all kinds have the same curvature in each coordinate."""
        return all(map(is_shared, zip(*self.slopes)))

    @property
    def exact(self) -> bool:
        """Tell whether the curvatures are exact numbers, not a batch of floats."""
        return not any(isinstance(a, Many) for row in self.slopes for a in row)

    def apart(self, j: int) -> Any:
        """Return 1 where F has one minimiser along coordinate j, and 0 where F does not depend on
        this coordinate."""
        slope = self.mean_slope(j)
        size = sum(w * abs(row[j]) for w, row in zip(self.share, self.slopes))
        return where(distances.same_to(slope, size), ZERO, ONE)

    def bounded(self, value: Any) -> Any:
        """Return a value that is defined only if F has a minimum, which then lies at 0; otherwise
        INF, or NaN in a batch."""
        lowest = minimum(*(self.mean_slope(j) for j in range(self.d)))
        if isinstance(lowest, Many):
            return where(lowest >= 0, value, Many(np.asarray(np.nan)))
        return value if lowest >= 0 else INF


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants of a run; G is zeta where curvatures are shared, and infinite
    otherwise.

    R and gap_0 refer to the minimisers of F, which contain 0; both are infinite without a minimum.
    """
    clients = Clients(instance)
    squares = [x * x for x in clients.x_0]
    start = clients.bounded(sum(clients.apart(j) * x for j, x in enumerate(squares)))
    return dict(
        {name: Fraction(instance[name]) for name in ("S", "K", "T")},
        N=Fraction(clients.N),
        mu=clients.low,
        L=clients.high if instance["lipschitz"] else clients.most,
        G=root(clients.spread) if clients.shared else INF,
        zeta=root(clients.spread),
        d=Fraction(clients.d),
        sigma=instance["sigma"],
        sigma_j=instance["sigma"],  # along the first coordinate
        R=start if isinstance(start, float) else root(start),
        sq_distance_0=start,
        gap_0=clients.bounded(sum(clients.mean_slope(j) * x / 2 for j, x in enumerate(squares))),
    )


ALWAYS = frozenset(
    "smooth noise coordinate_noise independent_noise equal_weights uniform_cohort quadratic".split()
)


def conditions_met(instance: Instance) -> frozenset[str]:
    """Return the conditions that an instance meets."""
    clients = Clients(instance)
    return ALWAYS | name_true(
        lipschitz=instance["lipschitz"] or clients.low >= -clients.most,
        convex=clients.low >= 0,
        strongly_convex=clients.low > 0,
        dissimilar=clients.shared,
        bounded_below=not isinstance(clients.bounded(ZERO), float),
        exact_gradients=instance["sigma"] == 0,
        same_curvature=clients.shared,
    )


def rounds_of(
    clients: Any, instance: Instance, values: Assignment, method: str
) -> list[recursions.Step]:
    """Return the Step of a round for each coordinate. Noise is along the first coordinate."""
    hyper = discover.algorithm(method).hyper
    eta_l = "eta" if method == "fedsgd" else "eta_l"
    eta = within_range(hyper[eta_l], values[eta_l])
    scale = ONE if method == "fedsgd" else within_range(hyper["eta_g"], values["eta_g"])
    found = []
    for j in range(clients.d):
        slopes, tilts = ([row[j] for row in rows] for rows in (clients.slopes, clients.at_star))
        walked = {id(a): recursions.quadratic_steps(a, eta, instance["K"]) for a in slopes}
        walks = [walked[id(a)] for a in slopes]
        variance = ZERO if j else instance["sigma"] * instance["sigma"]
        found.append(
            recursions.cohort_step(
                clients.members, slopes, tilts, variance, instance["S"], walks, scale
            ).known()
        )
    return found


class Run:
    """Expected values of the points of an instance's run."""

    def __init__(self, instance: Instance, values: Assignment, method: str) -> None:
        self.clients, self.T = Clients(instance), instance["T"]
        self.rounds = rounds_of(self.clients, instance, values, method)
        slopes = [self.clients.mean_slope(j) for j in range(self.clients.d)]
        self.weights = dict(
            loss=[a / 2 for a in slopes],
            sq_grad_norm=[a * a for a in slopes],
            sq_distance=[self.clients.apart(j) for j in range(self.clients.d)],
        )

    def total(self, metric: str, squares: Iterator[Any]) -> Number | Counted:
        """Return the sum over coordinates of expected squares, with the weights of a metric."""
        return sum(w * square for w, square in zip(self.weights[metric], squares))

    def after(self, t: int) -> Iterator[Number | Counted]:
        """Yield E x_t^2 of each coordinate."""
        for step, x in zip(self.rounds, self.clients.x_0):
            m, v = recursions.repeat_step(step, t).of(x, ZERO)
            yield m * m + v

    def sum_rounds(self, of: Callable[..., Any], **wanted: bool) -> Iterator[Number]:
        """Yield the value of a function of the sums over T rounds, coordinate by coordinate."""
        for step, x in zip(self.rounds, self.clients.x_0):
            yield of(recursions.sum_rounds(step, self.T, **wanted), x)

    def least(self, metric: str, times: range) -> Number | Counted:
        """Return the least expected value of a metric over rounds, for at most FOLLOWED rounds."""
        if len(times) > FOLLOWED and self.clients.exact:
            raise Undefined(f"the least of more than {FOLLOWED} rounds")
        if len(times) > FOLLOWED:
            return Many(np.asarray(np.nan))
        ways = [
            recursions.follow_points(step, x, ZERO, times[-1])
            for step, x in zip(self.rounds, self.clients.x_0)
        ]
        return minimum(*(self.total(metric, (m * m + v for m, v in each)) for each in zip(*ways)))

    def of(self, measure: Any) -> Number | Counted:
        """Return the value of the quantity that a Measure describes."""
        if measure.metric == "loss_of_mean":
            square = lambda sums, x: (sums.keep * x + sums.shift) ** 2 + sums.spread.at(x, ZERO)
            squares = self.sum_rounds(square, squares=False)
            return self.total("loss", squares) / (self.T * self.T)
        if measure.at == "mean":
            squares = self.sum_rounds(lambda sums, x: sums.squares.at(x, ZERO), spread=False)
            return self.total(measure.metric, squares) / self.T
        times = TIMES[measure.at](self.T)
        if len(times) > 1:
            return self.least(measure.metric, times)
        return self.total(measure.metric, self.after(times[0]))


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str], method: str
) -> dict[str, Any]:
    run, found = Run(instance, values, method), {}
    for name in wanted:
        asked = TABLE[name].measure
        value = run.of(asked)
        if asked.minus or asked.metric == "sq_distance":
            value = run.clients.bounded(value)
            if isinstance(value, float):
                raise Undefined("an infimum that is not there")
        found[name] = value
    return found


def make_model(method: str, says: str, takes: Any) -> Any:
    fields = fields_of(method)
    return Model(
        name=f"run_large_{method}",
        says=f"{says} by many clients, on separable quadratics",
        measures=names(TABLE, *MEASURED),
        algorithms=(method,),
        by=beside(method, "moments over kinds of clients, for thousands of clients and rounds"),
        gives=("N", "S", "K", "T", "d"),
        loose=dict(L=1, G=1, zeta=1, sigma=1, sigma_j=1, R=1, mu=-1),
        takes=takes,
        shapes=partial(draw_shapes, method=method),
        constants=derive_constants,
        measure=partial(measure_symbols, method=method),
        table=TABLE,
        early=frozenset({"sq_distance_0", "gap_0"}),
        ensures=whole.ENSURES,
        holds=fields.guard(conditions_met),
        kind="exact",
        **fields.record(),
    )


MODELS = (
    make_model("fedsgd", "gradient steps, one a round,", ("eta",)),
    make_model("fedavg", "federated averaging", ("eta_l", "eta_g")),
)
