"""Rounding error bounds: how far a run or an expectation in floats may be from the exact run or
expectation that a theorem is about."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.problem import Constant
from fedtheory.problems._quadratic import Dense, Diagonal
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.runs.planning import Plan

UNIT = 2.0**-53  # the unit roundoff of float64
ROOM = 1e-9  # relative rounding error assumed for methods without a bound
FINE = 1e-13  # likewise, relative to the size of a point
SLACK = 4  # units of roundoff for each number of a sum
FAR = 4.0  # assumed ratio of a run's farthest point to its ends, where only the ends are known
TAIL = 13  # standard deviations that noise exceeds with a probability below 1e-37
# Methods whose clients and server do only gradient steps and weighted means of their points.
STEPPING = (
    "fedsgd",
    "fedavg",
    "data_sharing",
    "server_sgd",
    "fsl",
    "fsl_parallel",
    "dsl",
    "flex_a",
    "flex_b",
    "flex_c",
)
VARIATES = ("scaffold",)  # methods whose clients' steps also use gradients of earlier rounds
SQUARES = (  # squared norms of gradients or of differences of gradients
    "sq_grad_norm",
    "sq_server_grad_norm",
    "sq_tilde_grad_norm",
    "sq_mixed_grad_norm",
    "sq_xi",
    "sq_dissimilarity",
)


class Walk(NamedTuple):
    """The effect of steps from a point on distances from that point: factors along the directions,
    where Hessians are constant; else the larger of both in absolute value is a factor of all
    distances."""

    low: float
    high: float
    calls: int  # number of gradients in sequence
    step: float  # size of a step

    @property
    def most(self) -> float:
        """Return the largest factor by which the steps change a distance."""
        return max(abs(self.low), abs(self.high))


class Round(NamedTuple):
    """The effect of a round on errors, and the numbers that limit the errors that the round itself
    adds."""

    rho: float
    step: float  # the longest step
    length: float  # sum of the lengths of all steps, with multiplicity
    calls: int
    gain: float  # the largest sum of weights of points


class Rounding:
    """Bounds on how far a run in floats may be from the run with the same draws in exact numbers,
    and how far an expectation computed in floats may be from the exact one.

    The error of a point obeys e_{t+1} <= rho_t e_t + c_t, where rho_t depends on the method. A
    gradient step of size s on losses with curvatures in [mu, L] multiplies distances by at most
    max(|1 - s mu|, |1 - s L|). This factor is at most 1 for convex losses and s <= 2/L, and it is 1
    + s L where nothing is known of mu. A weighted mean of points has the weighted mean of their
    factors. Control variates carry errors of earlier gradients into later rounds. The term c_t
    bounds the rounding of the round's own operations, at points as far out as the points of round
    t. The error of a covariance's trace obeys the same inequality, with rho_t^2.

    Where no bound is known, `why` says why, and all errors are infinite.
    """

    def __init__(self, plan: "Plan") -> None:
        self.plan, problem = plan, plan.problem
        L = problem.constants.get("L")
        self.L = math.inf if L is None else float(L)
        self.mu = float(problem.constants.get("mu", -self.L))
        # If n convex losses have a mean of curvature L, a single loss may have curvature n L.
        drawn = problem.noise == "minibatch"
        self.stiff = self.L * (float(problem.sizes.max()) if drawn else 1.0)
        self.symmetric = problem.affine and not drawn
        self._rounds = {}
        self.why = self._why_unknown(L, drawn)
        if not self.why:
            self._measure_problem()

    def _why_unknown(self, L: Constant | None, drawn: bool) -> str:
        """Return why no bound on rounding is known for the plan, "" where one is: the method must
        do gradient steps and means alone, and the gradients must have a global L (with minibatches,
        convex losses too)."""
        algorithm, name = self.plan.algorithm, self.plan.algorithm.name
        unknown = "how rounding grows is not known"
        if name not in STEPPING + VARIATES or algorithm != discover.algorithm(name):
            return f"{unknown} of {name}, which does more than gradient steps and means"
        if L is None or L.scope != "global" or not math.isfinite(self.L) or drawn and self.mu < 0:
            return f"{unknown} on {self.plan.problem.name}, of whose gradients no global L is known"
        return ""

    def _measure_problem(self) -> None:
        """Measure how large the problem's own numbers are: data, gradients at 0, terms of sums."""
        problem, data = self.plan.problem, self.plan.problem.data
        counted = 0 if problem.sizes is None else int(problem.sizes.max(initial=0))
        alone = isinstance(data, Diagonal)  # no sum over coordinates occurs
        self.terms = 0.0 if alone else problem.d**1.5 if isinstance(data, Dense) else problem.d
        self.terms += counted + problem.N + 8
        if isinstance(data, (Diagonal, Dense)):
            self.centre = float(np.linalg.norm(data.b, axis=1).max())
            self.slope = self.L * self.centre
        else:
            arrays = [a for a in data if isinstance(a, np.ndarray) and a.dtype.kind == "f"]
            self.centre = max((float(np.abs(a).max(initial=0.0)) for a in arrays), default=0.0)
            clients = range(0 if problem.has_server else 1, problem.N + 1)
            at_zero = [problem.client_grad(i, np.zeros(problem.d)) for i in clients]
            self.slope = max(float(np.linalg.norm(grad)) for grad in at_zero)
        own = problem.noise not in ("none", "minibatch") and np.size(problem.sigma)
        self.noise = TAIL * float(np.max(problem.sigma)) if own else 0.0
        self.unit = SLACK * UNIT * self.terms
        self.star, self.off = self._minimiser()

    def _minimiser(self) -> tuple[Any, ...]:
        """Return (norm of the minimiser in floats, how far this minimiser may be from the exact
        one)."""
        problem, data = self.plan.problem, self.plan.problem.data
        if problem.minimize is None:
            return 0.0, math.inf
        x, least = problem.minimizer(), self.mu
        if isinstance(data, (Diagonal, Dense)):
            H = np.abs(data.H if data.H.ndim == 1 else np.linalg.eigvalsh(data.H))
            least = float(H[H > self.unit * self.L].min(initial=math.inf))
        size = float(np.linalg.norm(x))
        left = float(np.linalg.norm(problem.grad(x))) + self._gradient_error(size)
        return size, 0.0 if left == 0 else left / least if least > 0 else math.inf

    def _gradient_error(self, size: float | np.ndarray) -> float | np.ndarray:
        """Return how far a gradient in floats may be off, at points of norms up to `size`."""
        return self.unit * (self.L * (size + self.centre) + self.slope)

    # ---------------------------------------------------------------- one round

    def _walk_effect(self, step: float, calls: int, fewer: bool = False) -> Walk:
        """Return the effect of `calls` steps one after the other; with `fewer`, of any number of
        steps up to `calls`."""
        ends = (1 - step * self.mu, 1 - step * self.stiff)
        kept = {0, 1, calls - 1, calls} if fewer and calls else {calls}
        factors = [_power_of_walk(end, count) for count in kept for end in ends]
        if min(ends) < 0 < max(ends) and any(count and count % 2 == 0 for count in kept):
            factors.append(0.0)
        if not self.symmetric:
            most = max(map(abs, ends))
            factors = [_power_of_walk(most, count) for count in kept]
        return Walk(min(factors), max(factors), calls, step)

    def _interpolation_factor(self, share: float, walk: Walk) -> float:
        """Return the factor by which the map x -> x + share (y - x) changes distances, where y is
        the end of a walk from x."""
        if self.symmetric:
            return max(abs(1 - share * (1 - walk.low)), abs(1 - share * (1 - walk.high)))
        if walk.calls == 1:
            return self._walk_effect(share * walk.step, 1).most
        return abs(1 - share) + share * walk.most

    def _weight_sums(self, h: Any) -> tuple[float, float]:
        """Return (least, largest) sum of the weights of a cohort's points."""
        plan, p, law = self.plan, self.plan.problem.weights[1:], self.plan.participation
        name, word = plan.algorithm.name, getattr(h, "weighting", 0)
        if name in ("fsl", "fsl_parallel") or word == 1:
            return 1.0, 1.0
        if word == 2:
            return 0.0 if (p == 0).any() else 1.0, 1.0
        still = not (law.arrivals or law.departures) and plan.algorithm.transform is None
        if still and not (law.work is not None and name.startswith("flex")):
            if plan.S == plan.problem.N and law.cohort != "with" or bool((p == p[0]).all()):
                return 1.0, 1.0
            return plan.problem.N * float(p.min()), plan.problem.N * float(p.max())
        return 0.0, float(plan.problem.N * getattr(h, "E", 1))

    def round(self, t: int) -> Round:
        """Return the effect of round t on errors."""
        h = self.plan.hyper[0 if self.plan.hyper.constant else t]
        if h not in self._rounds:
            self._rounds[h] = self._round(h)
        return self._rounds[h]

    def _round(self, h: Any) -> Round:
        """Return the Round of a method that takes client steps, a weighted mean and server steps,
        at hyper-parameters h.

        In a sequential round, rho is the factor of x -> x + share (y - x), largest over the
        possible sums of weights, times the factor of the server's walk; where client and server
        work side by side (fsl_parallel), both factors enter one weighted sum. Control variates add
        the errors of earlier gradients.
        """
        algorithm = self.plan.algorithm
        of_client, gain = getattr(h, "eta_l", getattr(h, "eta", 0.0)), getattr(h, "eta_g", 1.0)
        of_server, gamma = getattr(h, "eta_0", 0.0), getattr(h, "gamma", 1.0)
        count = algorithm.number(algorithm.steps, h)
        clients = self._walk_effect(of_client, count, self.plan.participation.work is not None)
        beside = algorithm.name == "fsl_parallel"
        server = self._walk_effect(
            of_server * (1.0 if beside else gamma), algorithm.number(algorithm.server_steps, h)
        )
        shares = [gain * weight if count else 0.0 for weight in self._weight_sums(h)]
        most = max(shares)
        if beside:
            one, two = gain / (1 + gamma), gamma / (1 + gamma)
            rho, most = abs(1 - one - two) + one * clients.most + two * server.most, one + two
        else:
            rho = max(self._interpolation_factor(share, clients) for share in shares) * server.most
        if algorithm.name in VARIATES:  # errors of all earlier points enter through their gradients
            grown = max(1.0, clients.most)
            late = 2 * of_client * self.stiff * count * grown
            rho = max(1.0, grown + late, rho + most * late)
        return Round(
            rho,
            max(clients.step, server.step),
            (1 + most) * (clients.step * clients.calls + server.step * server.calls),
            clients.calls + server.calls + 1,
            most,
        )

    def _local_error(self, round: Round, size: float, noise: float) -> float:
        """Return the rounding error of a round from a point of norm `size`, with gradient noise up
        to the norm `noise`.

        `reach` bounds the norm of every point on the way and `off` the size of the numbers of one
        operation; a round adds at most calls * off units of roundoff, times the gain of the mean.
        """
        step, length = round.step, round.length
        moved = size + length * self.slope
        if (
            self.symmetric and self.mu >= 0 and step * self.L <= 2
        ):  # a gradient step never increases the distance from a minimiser
            moved = min(moved, size + 2 * self.centre)
        grown = _power_of_walk(max(1.0, self._walk_effect(step, 1).most), round.calls - 1)
        reach = grown * (moved + length * noise)
        off = reach + step * (self.L * (reach + self.centre) + self.slope + noise)
        if self.plan.algorithm.name in VARIATES and step > 0:
            # a variate is a difference of points divided by a step size
            off *= 1 + 1 / (step * self.L)
        return self.unit * max(1.0, round.gain) * round.calls * off

    # ---------------------------------------------------------------- along a run

    def errors(self, sizes: np.ndarray, drawn: bool = True) -> np.ndarray:
        """Return how far the points x_0 .. x_T may be off, `drawn` or expected, where `sizes`
        bounds their norms."""
        found, at = np.full(len(sizes), math.inf), 0.0
        if self.why:
            return found
        for t, size in enumerate(sizes):
            found[t] = at + self.unit * size
            if t + 1 < len(sizes) and at < math.inf:
                round = self.round(t)
                at = round.rho * at + self._local_error(round, size, self.noise * drawn)
        return found

    def covariance_error(self, traces: np.ndarray) -> np.ndarray:
        """Return how far the traces of the covariances of x_0 .. x_T may be off, where `traces`
        bounds these traces."""
        found, at = np.full(len(traces), math.inf), 0.0
        if self.why:
            return found
        for t, trace in enumerate(traces):
            found[t] = at + self.unit * trace
            if t + 1 < len(traces) and at < math.inf:
                round = self.round(t)
                at = round.rho**2 * at + self.unit * round.calls * (trace + traces[t + 1])
        return found

    def margins(
        self, metric: str, sizes: Number, traces: np.ndarray | None = None, lowest: Any = None
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Return (root, flat) over x_0 .. x_T: how far rounding may move the root of the measured
        quantity, and the quantity itself.

        `sizes` are norms of the points, `traces` are traces of the covariances if the curve is an
        expectation, and `lowest` holds the ends of an enclosure of the infimum that is subtracted
        from a loss. Return None for a metric without a known bound.
        """
        sizes = np.asarray(sizes, float)
        if self.why:
            return None
        flat = np.zeros(len(sizes))
        if metric == "sq_distance":
            unit, own = 1.0, self.off + self.unit * (sizes + self.star)
        elif metric.endswith("loss"):
            unit, own = math.sqrt(self.L), 0.0
            flat = flat + (0.0 if lowest is None else lowest.high - lowest.low)
            if self.mu < 0:  # the terms of the loss may cancel
                flat = flat + self.unit * self.L * (sizes + self.centre) ** 2
        elif metric in SQUARES:
            unit, own = 2 * self.L, 2 * self._gradient_error(sizes)
        else:
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            if traces is not None:
                flat = flat + unit**2 * self.covariance_error(traces)
            return unit * self.errors(sizes, traces is None) + own, flat

    def ends(
        self,
        values: np.ndarray,
        root: float | np.ndarray,
        flat: float | np.ndarray,
        infimum: float = 0.0,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (low, high): ends for the exact value of a nonnegative measured quantity q, where
        the floats are `values`: (sqrt(q) -+ root)^2 -+ flat, and the rounding of the value itself.
        """
        unit = UNIT if self.why else self.unit
        with np.errstate(over="ignore", invalid="ignore"):
            size = np.sqrt(np.maximum(values, 0.0))
            near = np.where(size == math.inf, size, np.maximum(size - root, 0.0)) ** 2
            off = flat + unit * (np.abs(values) + abs(infimum))
            low = np.where(near == math.inf, near, np.maximum(near - off, 0.0))
            return np.where(np.isnan(values), values, low), (size + root) ** 2 + off


def _power_of_walk(base: float, count: int) -> float:
    """Return base^count, infinite where floats overflow."""
    try:
        return float(base) ** count
    except OverflowError:
        return math.inf
