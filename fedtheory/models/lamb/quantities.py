"""FED-LAMB as the proof reads it: every quantity that lemmas 1 and 2 and appendix A.2 name, from
its definition.

The proof keeps m from step to step, corrects no bias, divides by sqrt(v) with the v at the start of
the round, adds no epsilon, and counts T iterations t in a round. The computation treats one outcome
of the noise at a time, in any number type of `fedtheory.arithmetic`. Where p = 0 there is no
direction, and the layer does not move. The kernels of fed_lamb use epsilon both for the first v_hat
and for the term added to its root, so that no value of epsilon gives this reading.
`tests/exact/test_definitions.py` compares the kernels with it all the same.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory.arithmetic.operations import Many, maximum, minimum, root, vector, where
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.path_recorder import RecordedOutcome, Track, record_if_watched
from fedtheory.models.quantities import Quantities, square_norm
from fedtheory.symbols.lamb import TABLE
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np

ZERO, ONE = Fraction(0), Fraction(1)


class Instance(NamedTuple):
    """An instance of FED-LAMB: n losses, layers (start, stop) of smoothness L, and the method's
    numbers."""

    loss: Callable[..., Any]  # (i, x) -> number, i = 0..n-1
    grad: Callable[..., Any]  # (i, x) -> vector
    layers: tuple[Any, ...]
    L: tuple[Any, ...]
    phi: Callable[..., Any]  # a function of a layer's norm
    n: int
    T: int
    alpha: Number
    beta_1: Number
    beta_2: Number
    v_0: Number
    M: Number = ONE
    phi_M: Number = ONE
    idle: int = 0  # the last `idle` of the n clients do not take part
    reset: bool = False  # whether m is set to 0 at the start of each round
    epsilon: Number = ZERO  # the number added to the root of v

    @property
    def at_work(self) -> range:
        return range(self.n - self.idle)


class Iteration(NamedTuple):
    """An iteration of FED-LAMB; its lists have an entry for each client."""

    theta: list[Any]  # the start of the iteration, for each client that takes part
    lag: Number  # the vector from the mean model to the point (8)
    v_hat: Number  # v-hat at the start of the round
    exact: list[Any]  # exact gradients
    g: list[Any]  # gradient estimates
    past: list[Any]  # m before the step
    before: list[Any]  # the `stretch` of the previous step
    phi: list[Any]  # phi for each coordinate
    stretch: list[Any]  # phi / (||p|| sqrt(v)) for each coordinate: a step is alpha stretch m
    moved: list[Any]  # the end of the iteration
    next_lag: Number


def mean_of(each: Sequence[Number]) -> Number:
    """Return the mean of vectors or numbers, one for each client at work."""
    return sum(each[1:], each[0]) / len(each)


def _layer_stretch(
    case: Instance, theta: "np.ndarray", m: "np.ndarray", v: "np.ndarray"
) -> "tuple[np.ndarray, np.ndarray]":
    """Return phi and phi / (||p|| sqrt(v)), with p = m / sqrt(v), layer by layer; 0 where p = 0.
    Where an epsilon is added to a root, `v` is the square of the enlarged root."""
    phis, stretch = vector([ZERO] * len(theta)), vector([ZERO] * len(theta))
    for start, stop in case.layers:
        layer = range(start, stop)
        phi = case.phi(root(sum(theta[j] * theta[j] for j in layer)))
        for j in layer:
            # (||p|| sqrt(v_j))^2 is exactly m_j^2 in a layer of one coordinate, so no root of v_j
            # is needed
            square = sum((m[k] * m[k] * v[j] / v[k] for k in layer if k != j), m[j] * m[j])
            moves = square > 0
            phis[j], stretch[j] = phi, where(moves, phi / root(where(moves, square, ONE)), ZERO)
    return phis, stretch


def _add_epsilon(v: "np.ndarray", epsilon: Number) -> "np.ndarray":
    """Return (sqrt(v) + epsilon)^2."""
    if not isinstance(epsilon, Many) and epsilon == 0:
        return v
    return vector([(root(x) + epsilon) * (root(x) + epsilon) for x in v])


def _root_ratio(over: "np.ndarray", v: "np.ndarray") -> "np.ndarray":
    """Return sqrt(over) / sqrt(v)."""
    return vector([root(a / b) for a, b in zip(over, v)])


def follow_path(
    case: Instance, x_0: "np.ndarray", noise: Callable[..., Any], steps: int
) -> "tuple[list[Iteration], tuple[list[np.ndarray], np.ndarray, np.ndarray]]":
    """Return the iterations from x_0, and the final (models, lag, v-hat). noise(t, i) is client i's
    error in iteration t."""
    clients, none = case.at_work, vector([ZERO] * len(x_0))
    theta, lag, v_hat = [x_0 for _ in clients], none, vector([case.v_0] * len(x_0))
    m = before = [none for _ in clients]
    v = [v_hat for _ in clients]
    found = []
    for t in range(steps):
        exact = [case.grad(i, theta[i]) for i in clients]
        g = [exact[i] + noise(t, i) for i in clients]
        past, m = m, [case.beta_1 * m[i] + (1 - case.beta_1) * g[i] for i in clients]
        v = [case.beta_2 * v[i] + (1 - case.beta_2) * (g[i] * g[i]) for i in clients]
        over = _add_epsilon(v_hat, case.epsilon)
        phi, taken = zip(*(_layer_stretch(case, theta[i], m[i], over) for i in clients))
        moved = [theta[i] - case.alpha * (taken[i] * m[i]) for i in clients]
        # the paper's quantities divide by sqrt(v), even where steps divide by an enlarged root
        stretch = (
            [each * _root_ratio(over, v_hat) for each in taken] if over is not v_hat else taken
        )
        next_lag = case.beta_1 / (1 - case.beta_1) * (mean_of(moved) - mean_of(theta))
        found.append(
            Iteration(theta, lag, v_hat, exact, g, past, before, phi, stretch, moved, next_lag)
        )
        record_if_watched(
            lambda t=t, theta=theta, exact=exact, g=g, moved=moved: _record_iteration(
                t, theta, exact, g, moved
            )
        )
        theta, lag, before = moved, next_lag, stretch
        if (t + 1) % case.T == 0:  # the last iteration of a round
            theta, v_hat = (
                [mean_of(moved) for _ in clients],
                vector([maximum(a, b) for a, b in zip(v_hat, mean_of(v))]),
            )
            v = [v_hat for _ in clients]
            m = [none for _ in clients] if case.reset else m
    return found, (theta, lag, v_hat)


def _record_iteration(
    t: int,
    theta: "Sequence[np.ndarray]",
    exact: "Sequence[np.ndarray]",
    g: "Sequence[np.ndarray]",
    moved: "Sequence[np.ndarray]",
) -> RecordedOutcome:
    """Build the record of an iteration, for code that follows a run."""
    tracks = (Track(i, ends, (g[i - 1],)) for i, ends in enumerate(zip(theta, moved), 1))
    surely = all(a is b or a == b for one, other in zip(exact, g) for a, b in zip(one, other))
    ways = (
        (ONE, 1) if surely else (None, None)
    )  # unknown with noise, whose outcomes are drawn elsewhere
    return RecordedOutcome(
        "iteration", t, *ways, tuple(tracks), mean_of(theta), mean_of(moved), theta, moved
    )


def full_loss(case: Instance, x: "np.ndarray") -> Number | Counted:
    """Return f(x), the mean of all n clients' losses."""
    return sum(case.loss(i, x) for i in range(case.n)) / case.n


def full_grad(case: Instance, x: "np.ndarray") -> "np.ndarray":
    """Return grad f(x), the mean of all n clients' gradients."""
    return mean_of([case.grad(i, x) for i in range(case.n)])


def by_root(u: "np.ndarray", v_hat: "np.ndarray") -> Any:
    """Return ||u / v^(1/4)||^2."""
    return sum(part * part / root(v) for part, v in zip(u, v_hat))


class IterationValues:
    """An iteration with the values that several of its quantities share."""

    def __init__(self, case: Instance, it: Iteration) -> None:
        self.case, self.it, self.clients = case, it, case.at_work
        self.bar, self.ahead = mean_of(it.theta), mean_of(it.moved)
        self.point, self.after = self.bar + it.lag, self.ahead + it.next_lag  # (8)
        self.sizes = [
            (stop - start, L)
            for (start, stop), L in zip(case.layers, case.L)
            for _ in range(start, stop)
        ]

    def full(self, x: "np.ndarray") -> "np.ndarray":
        """Return grad f(x)."""
        return full_grad(self.case, x)

    def by(self, u: "np.ndarray") -> Any:
        """Return ||u / v-hat^(1/4)||^2."""
        return by_root(u, self.it.v_hat)

    def over_v(self, u: "np.ndarray") -> Many | Counted:
        """Return ||u / v-hat^(1/2)||^2."""
        return sum(part * part / v for part, v in zip(u, self.it.v_hat))

    def each(self, value: Callable[..., Any]) -> list[Number | Counted]:
        """Return value(i) for the clients i at work."""
        return [value(i) for i in self.clients]

    @cached_property
    def move(self) -> "np.ndarray":
        """Return the move of the point (8) in the iteration."""
        return self.after - self.point

    @cached_property
    def at_point(self) -> "np.ndarray":
        """Return grad f at the point (8)."""
        return self.full(self.point)

    @cached_property
    def at_bar(self) -> list[Any]:
        """Return the gradient of each client's loss at the mean model."""
        return self.each(lambda i: self.case.grad(i, self.bar))

    # (11), (14), (15); the first sum of (11) as printed, without line 13's minus sign

    @cached_property
    def by_momentum(self) -> "np.ndarray":
        """Return alpha beta_1 / (1 - beta_1) times the mean of (stretch - former stretch) m,
        before the step."""
        it, case = self.it, self.case
        moved = self.each(lambda i: (it.stretch[i] - it.before[i]) * it.past[i])
        return case.alpha * (case.beta_1 / (1 - case.beta_1)) * mean_of(moved)

    @cached_property
    def mean_stretched(self) -> "np.ndarray":
        """Return the mean over clients of stretch times the noisy gradient."""
        return mean_of(self.each(lambda i: self.it.stretch[i] * self.it.g[i]))

    @cached_property
    def by_gradient(self) -> "np.ndarray":
        """Return alpha times the mean stretched gradient."""
        return self.case.alpha * self.mean_stretched

    @cached_property
    def scale(self) -> list[Any]:
        """Return phi / ||p|| for each client, by coordinate."""
        root_v = vector([root(v) for v in self.it.v_hat])
        return self.each(lambda i: self.it.stretch[i] * root_v)

    @cached_property
    def g_bar_i(self) -> list[Any]:
        """Return each client's noisy gradient, scaled by phi / ||p|| by coordinate."""
        return self.each(lambda i: self.scale[i] * self.it.g[i])

    @cached_property
    def g_bar(self) -> "np.ndarray":
        """Return the mean of the scaled gradients of the clients."""
        return mean_of(self.g_bar_i)

    @cached_property
    def products(self) -> list[Any]:
        """Return, by coordinate, each client's exact times its noisy gradient."""
        return self.each(lambda i: self.it.exact[i] * self.it.g[i])

    def kept(self) -> Number | Counted:
        """Return the sum of sqrt((1 - beta_2) / p_l) phi / M times the products, over clients and
        coordinates.

        Here p_l is the number of coordinates of the layer.
        """
        case, it = self.case, self.it
        return sum(
            root((1 - case.beta_2) / width) / case.M * it.phi[i][j] * self.products[i][j]
            for i in self.clients
            for j, (width, _) in enumerate(self.sizes)
        )

    def wrong(self) -> Number:
        """Return the sum of the scaled products that are negative, where noise turns a
        coordinate's sign."""
        return sum(
            s * minimum(z, ZERO)
            for i in self.clients
            for s, z in zip(self.scale[i], self.products[i])
        )

    def excess_sign(self) -> "np.ndarray":
        """Return an excess by coordinate for the step of the proof on coordinates whose signs
        differ. Only products that are not positive count, in terms with the exact coordinate."""
        return vector(
            [
                -(s * z + self.case.phi_M * e) * where(z > 0, ZERO, ONE)
                for i in self.clients
                for s, z, e in zip(self.scale[i], self.products[i], self.it.exact[i])
            ]
        )


ITERATION = Quantities(
    TABLE,
    loss_now=lambda s: full_loss(s.case, s.point),
    loss_next=lambda s: full_loss(s.case, s.after),
    inner_move=lambda s: s.at_point.dot(s.move),
    sq_move_L=lambda s: sum(L * z * z for (_, L), z in zip(s.sizes, s.move)) / 2,
    sq_gap_11=lambda s: square_norm(s.move + s.by_momentum + s.by_gradient),
    sq_gap_11_typed=lambda s: square_norm(s.move - s.by_momentum - s.by_gradient),
    sq_move_12=lambda s: sum(s.case.L) * square_norm(s.move) / 2,
    sq_momentum_11=lambda s: square_norm(s.by_momentum),
    momentum_14=lambda s: s.at_point.dot(s.by_momentum),
    A_1=lambda s: -s.at_point.dot(s.by_gradient),
    inner_g=lambda s: s.at_point.dot(s.mean_stretched),
    sq_grad_vartheta=lambda s: s.by(s.at_point),
    sq_g_bar=lambda s: s.by(s.g_bar),
    sq_error=lambda s: s.by(s.at_point - s.g_bar),
    error_momentum=lambda s: (
        2 * mean_of(s.each(lambda i: s.by(s.case.grad(i, s.point) - s.at_bar[i])))
    ),
    error_17=lambda s: 2 * mean_of(s.each(lambda i: s.by(s.at_bar[i] - s.g_bar_i[i]))),
    B_1=lambda s: sum(s.each(lambda i: s.by(s.at_bar[i] - s.it.exact[i]))),
    B_2=lambda s: sum(s.each(lambda i: s.by(s.it.exact[i] - s.g_bar_i[i]))),
    sum_gap=lambda s: sum(s.each(lambda i: square_norm(s.bar - s.it.theta[i]))),
    sq_lag=lambda s: square_norm(s.it.lag),
    sum_inner=lambda s: sum(s.each(lambda i: s.it.exact[i].dot(s.it.stretch[i] * s.it.g[i]))),
    sum_sq_grad=lambda s: sum(s.each(lambda i: square_norm(s.it.exact[i]))),
    sum_kept=lambda s: s.kept(),
    sum_wrong=lambda s: s.wrong(),
    excess_sign=lambda s: s.excess_sign(),
    grad_by_root_v=lambda s: s.by(s.full(s.bar)),
    avg_grad_by_root_v=lambda s: s.by(mean_of(s.it.exact)),
    gap_sq=lambda s: maximum(ZERO, *s.each(lambda i: square_norm(s.ahead - s.it.moved[i]))),
    avg_grad_by_v=lambda s: s.over_v(mean_of(s.each(lambda i: s.case.grad(i, s.it.moved[i])))),
    grad_by_v=lambda s: s.over_v(s.full(s.ahead)),
)


def noise_row(it: Iteration) -> Number | Counted:
    """Return the noise term of the last display, without the factor sigma_i^2."""
    return sum(square_norm(stretch) for stretch in it.stretch)


def iteration_quantities(
    case: Instance, it: Iteration, wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return {symbol name: value} in an iteration, for the symbols `wanted`, or for all symbols.
    excess_sign is a vector over coordinates."""
    return ITERATION(IterationValues(case, it), wanted)


def iterate_quantities(
    case: Instance,
    x_0: "np.ndarray",
    noise: Callable[..., Any],
    steps: int,
    wanted: Sequence[str] | None = None,
) -> list[dict[str, Number]]:
    """Return the quantities of each iteration."""
    return [
        iteration_quantities(case, it, wanted) for it in follow_path(case, x_0, noise, steps)[0]
    ]


def expect_quantities(
    case: Instance,
    x_0: "np.ndarray",
    outcomes: Sequence[tuple[Number | Counted, Callable[..., Any]]],
    t: int,
    wanted: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the quantities of iteration t in expectation over [(probability, noise), ...].
    excess_sign is the largest of the expectations over coordinates."""
    total = {}
    for probability, noise in outcomes:
        for name, value in iteration_quantities(
            case, follow_path(case, x_0, noise, t + 1)[0][t], wanted
        ).items():
            total[name] = total.get(name, ZERO) + probability * value
    if "excess_sign" in total:
        total["excess_sign"] = maximum(total["excess_sign"][0], *total["excess_sign"])
    return total
