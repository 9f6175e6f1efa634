"""One round of 1-way gradient transfer by enumeration: every quantity that appendix D names, as a
function of the round's traces, and the quantities of its lemmas on a point and on one function.

The traces come from the kernels of `fedtheory.algorithms.one_way_gt`, which users run. The
functions accept vectors of any number type of `fedtheory.arithmetic`; with Fractions, all values
are exact. Noise has finite support, so expectations are sums over draws, for tiny instances only.
Clients are homogeneous, so that a single cohort represents all cohorts.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fedtheory.algorithms import one_way_gt
from fedtheory.arithmetic.operations import difference_of_sums, maximum
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.traces import Losses, Rounds, Trace, expect_over, uniform_cohorts
from fedtheory.models.quantities import Quantities, square_norm
from fedtheory.symbols.mixed import TABLE
from fedtheory.typing import Number

ZERO, ONE = Fraction(0), Fraction(1)


class Instance(NamedTuple):
    """An instance of 1-way gradient transfer: losses f_f and f_c, their noise as [(probability,
    vector), ...], hyper-parameters, constants and a minimiser."""

    loss_f: Callable[..., Any]
    loss_c: Callable[..., Any]
    grad_f: Callable[..., Any]
    grad_c: Callable[..., Any]
    noise_f: Sequence[Any] = ()
    noise_c: Sequence[Any] = ()
    x_star: np.ndarray | None = None
    N: int = 1
    S: int = 1
    K: int = 1
    eta: Any = None
    eta_s: Any = None
    beta: Any = None
    mu: Any = None
    sigma: Any = None
    sigma_c: Any = None
    one: bool = False  # whether all steps of all clients have the same noise

    def rounds(self, d: int) -> Rounds:
        """Return the rounds of fedtheory.algorithms.one_way_gt on the instance's losses in
        dimension d, with SGD steps."""
        seen = Losses(
            lambda i, y: self.grad_f(y) if i else self.grad_c(y),
            lambda i, k: self.noise_f if i else self.noise_c,
            (ZERO, *[Fraction(1, self.S)] * self.S),
            d,
            alike=True,
        )
        return Rounds(one_way_gt.ALGORITHM, seen, dict(eta=self.eta, eta_s=self.eta_s, K=self.K))


def add_gradients(g: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Return g + h, with 0 where only rounding is left after the two cancel."""
    return np.array([difference_of_sums([a, b], []) for a, b in zip(g, h)], dtype=object)


class Round:
    """The round that starts at a global model x: losses there, and traces."""

    def __init__(self, case: Instance, x: np.ndarray) -> None:
        self.case, self.x = case, x
        self.g_f, self.g_c = case.grad_f(x), case.grad_c(x)
        self.g = self.g_f + self.g_c
        self.central = [(p, self.g_c + n) for p, n in case.noise_c]
        self.rounds = case.rounds(len(x))
        self.start = self.rounds.start(x)
        self.step, self.noise = case.K * case.eta_s * case.eta, case.sigma * case.sigma
        self.growth = Fraction(case.K + 1, case.K)

    def f(self, y: np.ndarray) -> Fraction:
        """Return f(y) = f_f(y) + f_c(y)."""
        return self.case.loss_f(y) + self.case.loss_c(y)

    def _of(self, S: int) -> list[tuple[Fraction, Trace]]:
        """Return the traces of a round with a cohort of S clients, with one draw of noise if that
        is broken."""
        law = uniform_cohorts(S, S, self.case.K)
        if not self.case.one:
            return self.rounds.of(self.start, law)
        return [
            (p * q, trace)
            for p, n in self.case.noise_f
            for q, trace in self.case._replace(noise_f=[(ONE, n)])
            .rounds(len(self.x))
            .of(self.start, law)
        ]

    @cached_property
    def traces(self) -> list[tuple[Fraction, Trace]]:
        """Return [(probability, Trace)] over all draws of the round."""
        return self._of(self.case.S)

    @cached_property
    def single(self) -> list[tuple[Fraction, Trace]]:
        """Return the traces of one client; all clients are alike."""
        return self.traces if self.case.S == 1 else self._of(1)

    def E(self, value: Callable[..., Any]) -> Number | Counted:
        """Return the expectation of a function of the round's trace."""
        return expect_over(self.traces, value)

    def E_single(self, value: Callable[..., Any]) -> Fraction | Counted:
        """Return the expectation of `value(walk)` over a client's walks."""
        return expect_over(self.single, lambda o: value(o.clients[0]))

    def taken(self, o: Trace) -> np.ndarray:
        """Return the mean gradient estimate of a cohort in a trace."""
        return sum(g for walk in o.clients for g in walk.estimates) / (self.case.K * self.case.S)

    def exact(self, o: Trace) -> np.ndarray:
        """Return the mean exact gradient at a cohort's points in a trace."""
        return sum(g for walk in o.clients for g in walk.gradients) / (self.case.K * self.case.S)

    @cached_property
    def at(self) -> list[Fraction | Counted]:
        """Return the mean squared distances from x of a client's points, one for each step from 0
        to K."""
        return [
            self.E_single(lambda o, k=k: square_norm(o.points[k] - self.x))
            for k in range(self.case.K + 1)
        ]

    @cached_property
    def expected(self) -> Number:
        """Return the expected mean exact gradient at a cohort's points."""
        return self.E(self.exact)

    @cached_property
    def along(self) -> Number:
        """Return the expected move of the model in the round."""
        return self.E(lambda o: o.after.x - self.x)

    @cached_property
    def sq_augmented(self) -> Number | Counted:
        """Return E ||grad f_f(x) + noisy grad f_c(x)||^2, the square of an augmented gradient."""
        return expect_over(self.central, lambda c: square_norm(self.g_f + c))

    def excess(self, growth: Number, *more: Number | Counted) -> Number | Counted:
        """Return the largest excess, over steps k, of the mean squared distance at k over `growth`
        times that at k - 1 plus `more`."""
        at, steps = self.at, range(1, self.case.K + 1)
        return maximum(*(difference_of_sums([at[k]], [growth * at[k - 1], *more]) for k in steps))

    def excess_D11(self) -> Number | Counted:
        """Return the excess over the recursion of lemma D.11, with the growth (K + 1) / K of a step."""
        K, eta = self.case.K, self.case.eta
        return self.excess(self.growth, 2 * K * eta**2 * self.sq_augmented, eta**2 * self.noise)

    def excess_D13(self) -> Number:
        """Return the excess over the recursion of D.13, which has beta, grad f and sigma_c."""
        K, eta, beta, sigma_c = (getattr(self.case, n) for n in ("K", "eta", "beta", "sigma_c"))
        return self.excess(
            self.growth + 2 * K * eta**2 * beta**2,
            4 * K * eta**2 * square_norm(self.g),
            4 * K * eta**2 * sigma_c * sigma_c,
            eta**2 * self.noise,
        )


ROUND = Quantities(
    TABLE,
    f_t=lambda r: r.f(r.x),
    gap=lambda r: r.f(r.x) - r.f(r.case.x_star),
    gap_f=lambda r: r.case.loss_f(r.x) - r.case.loss_f(r.case.x_star),
    gap_c=lambda r: r.case.loss_c(r.x) - r.case.loss_c(r.case.x_star),
    sq_grad=lambda r: square_norm(r.g),
    sq_grad_f=lambda r: square_norm(r.g_f),
    sq_grad_c=lambda r: square_norm(r.g_c),
    sq_dist=lambda r: square_norm(r.x - r.case.x_star),
    sq_augmented=lambda r: r.sq_augmented,
    drift=lambda r: sum(r.at[: r.case.K]) / r.case.K,
    ends=lambda r: sum(r.at[1:]) / r.case.K,
    furthest=lambda r: maximum(*r.at),
    mean_change=lambda r: (
        r.E_single(lambda o: sum(square_norm(g - r.g_f) for g in o.gradients)) / r.case.K
    ),
    excess_D11=lambda r: r.excess_D11(),
    excess_D13=lambda r: r.excess_D13(),
    f_next=lambda r: r.E(lambda o: r.f(o.after.x)),
    sq_dist_next=lambda r: r.E(lambda o: square_norm(o.after.x - r.case.x_star)),
    sq_move=lambda r: r.E(lambda o: square_norm(o.after.x - r.x)),
    term_A=lambda r: 2 * r.step**2 * r.E(lambda o: square_norm(r.taken(o) - r.g_f)),
    term_B=lambda r: 2 * r.step**2 * r.sq_augmented,
    term_C=lambda r: 2 * r.along.dot(r.x - r.case.x_star),
    term_C1=lambda r: 2 * r.step * r.g_c.dot(r.case.x_star - r.x),
    term_C2=lambda r: 2 * r.step * r.expected.dot(r.case.x_star - r.x),
    change_mean=lambda r: r.E(lambda o: square_norm(r.exact(o) - r.g_f)),
    sq_mean_error=lambda r: square_norm(r.expected - r.g_f),
    inner_move=lambda r: r.g.dot(r.along),
)


def round_quantities(
    case: Instance, x: np.ndarray, wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return {symbol name: value} for the round that starts at the global model x, for the symbols
    `wanted`, or for all symbols."""
    return ROUND(Round(case, x), wanted)


class Pair:
    """The losses f_f and f_c at x and at x* (propositions D.5 and D.6)."""

    def __init__(self, case: Instance, x: np.ndarray) -> None:
        self.x, self.star, self.beta = x, case.x_star, case.beta
        self.parts = [(case.loss_f, case.grad_f), (case.loss_c, case.grad_c)]
        self.change = [add_gradients(grad(x), -grad(self.star)) for _, grad in self.parts]

    def excess_D5(self) -> Number | Counted:
        x, star = self.x, self.star
        return maximum(
            *(
                difference_of_sums(
                    [square_norm(moved) / (2 * self.beta), loss(star), grad(star).dot(x - star)],
                    [loss(x)],
                )
                for moved, (loss, grad) in zip(self.change, self.parts)
            )
        )


POINT = Quantities(
    TABLE,
    gap=lambda p: sum(loss(p.x) - loss(p.star) for loss, _ in p.parts),
    sq_grad=lambda p: square_norm(sum(grad(p.x) for _, grad in p.parts)),
    mean_sq_change=lambda p: square_norm(p.change[0]),
    sq_change_f=lambda p: square_norm(p.change[0]),
    sq_change_c=lambda p: square_norm(p.change[1]),
    excess_D5=lambda p: p.excess_D5(),
)


def at_point(case: Instance, x: np.ndarray, wanted: Sequence[str] | None = None) -> dict[str, Any]:
    """Return {symbol name: value} of the quantities of propositions D.5 and D.6 at x."""
    return POINT(Pair(case, x), wanted)


class Function(NamedTuple):
    """A function at three points (lemmas D.7 and D.8)."""

    loss: Callable[..., Any]
    grad: Callable[..., Any]
    x: Number
    y: Number
    z: Number
    eta: Number

    @property
    def change(self) -> np.ndarray:
        return add_gradients(self.grad(self.x), -self.grad(self.y))


FUNCTION = Quantities(
    TABLE,
    inner_zy=lambda h: h.grad(h.x).dot(h.z - h.y),
    inner_zx=lambda h: h.grad(h.x).dot(h.z - h.x),
    inner_xy=lambda h: h.grad(h.x).dot(h.x - h.y),
    h_x=lambda h: h.loss(h.x),
    h_y=lambda h: h.loss(h.y),
    h_z=lambda h: h.loss(h.z),
    sq_yz=lambda h: square_norm(h.y - h.z),
    sq_zx=lambda h: square_norm(h.z - h.x),
    sq_xy=lambda h: square_norm(h.x - h.y),
    sq_map=lambda h: square_norm(h.x - h.y - h.eta * h.change),
    inner_change=lambda h: h.change.dot(h.x - h.y),
)


def of_function(
    loss: Callable[..., Any],
    grad: Callable[..., Any],
    x: np.ndarray,
    y: np.ndarray,
    z: np.ndarray,
    eta: Number | Counted,
    wanted: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return {symbol name: value} of the quantities of lemmas D.7 and D.8."""
    return FUNCTION(Function(loss, grad, x, y, z, eta), wanted)
