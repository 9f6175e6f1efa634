"""Exact expectations of a run, without sampling: moments of affine methods, enumeration for small
runs.

Where gradients and updates are affine and noise is additive, the mean and covariance of the state
obey a linear recursion, which depends on the law of the noise only through its variance. The
coefficients are obtained by probing the algorithm's own kernels (round_probe.py). Otherwise, where
all random choices together have few outcomes, every outcome is run (enumeration.py). Where neither
is possible, NotExact says why.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import arguments, metrics
from fedtheory.algorithm import Algorithm
from fedtheory.display import Shown
from fedtheory.errors import NotExact, refuse
from fedtheory.exact.enumeration import BUDGET, Paths
from fedtheory.exact.moment_recursion import (
    FollowedMoments,
    batch_for,
    constant_stretches,
    round_objective,
    round_of,
)
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.runs.planning import Plan, plan_of, start_of
from fedtheory.typing import Hyper, Number, Points

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes


FOLLOWED = (
    "loss",
    "server_loss",
    "sq_grad_norm",
    "sq_server_grad_norm",
    "grad_inner",
    "sq_xi",
    "sq_distance",
    "sq_dissimilarity",
)  # basic metrics that are quadratic in x
BLENDS = (
    "sq_tilde_grad_norm",
    "sq_mixed_grad_norm",
)  # squares of sums of gradients, not computed as differences of squares


@dataclass(repr=False)
class Expected(Shown):
    """The exact moments of a run: `metrics[name]` has shape (rounds + 1,), `mean` is E x_t.

    A metric is computed when it is first read, and reading raises NotExact where the moments of x
    do not determine the metric. `covariance` is None unless `ft.expected` was called with it.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5, sigma=0.1)
    >>> ft.expected(problem, "fedavg", rounds=5, eta_l=0.1)
    <Expected run of fedavg on quadratic: rounds 5, how moments>
    """

    problem: Problem
    algorithm: Algorithm
    hyper: list[Any]
    rounds: int
    how: str  # "moments" or "enumeration"
    metrics: Mapping[str, Any]
    mean: np.ndarray  # (rounds + 1, d), E x_t
    covariance: np.ndarray | None = None  # (rounds + 1, d, d) of x_t, on request
    paths: np.ndarray | None = None  # (rounds + 1,) numbers of distinct states, for enumeration

    def heading(self) -> str:
        return f"Expected run of {self.algorithm.name} on {self.problem.name}"

    def facts(self) -> dict[str, str]:
        return dict(rounds=self.rounds, how=self.how)

    def plot(self, *metrics: str, ax: "Axes | None" = None) -> Any:
        """Plot metrics ("loss" by default) over rounds into `ax`, or into a new figure, and return
        the axes.

        Raises InvalidInput for a name that is no metric of this expectation, and NotExact for a
        metric without an exact form.

        >>> import fedtheory as ft
        >>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5, sigma=0.1)
        >>> ft.expected(problem, "fedavg", rounds=5, eta_l=0.1).plot("loss").get_xlabel()
        'round $t$'
        """
        from fedtheory.runs import plots

        return plots.plot_curves(self.columns(metrics), ax)

    def to_dataframe(self, *metrics: str) -> Any:
        """Return a pandas DataFrame with a row for each round and a column for each metric ("loss"
        by default)."""
        from fedtheory.runs import plots

        return plots.to_frame(dict(round=np.arange(self.rounds + 1), **self.columns(metrics)))

    def columns(self, names: Sequence[str]) -> Any:
        """Return the curve of each named metric as a dictionary; without names, that of "loss"."""
        names = arguments.check_words("metrics", names or ("loss",), self.metrics)
        return {name: self.metrics[name] for name in names}


class Metrics(Mapping):
    """Metrics by name, computed when first read."""

    def __init__(
        self,
        column: Callable[..., Any],
        names: Sequence[str],
        gamma: float,
        direct: Sequence[str] = (),
        lacking: Any = None,
    ) -> None:
        """Store how metrics are computed. `column` gives the basic metrics and the metrics in
        `direct`; all further metrics are derived from the basic ones, and `lacking` states why
        there is no minimiser, where there is none."""
        self._column, self._names, self._gamma, self._known = column, tuple(names), gamma, {}
        self._direct, self._lacking = direct, lacking

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._known:
            metric = (
                metrics.ALL[name]
                if name in metrics.ALL
                else refuse("metric", f"must be among {', '.join(metrics.ALL)}", name)
            )
            if name == "sq_distance" and self._lacking:
                raise NotExact(f"sq_distance needs the minimiser: {self._lacking}")
            if name not in self._names:
                raise NotExact(
                    f"{name} has no exact value here: the problem lacks this quantity, or the moments of x do not "
                    f"determine it; exact are {', '.join(self._names)}"
                )
            if name in self._direct:
                return self._basic(name)
            basic = {need: self._basic(need) for need in metric.needs}
            self._known[name] = (
                basic[name] if metric.derive is None else metric.derive(basic, self._gamma)
            )
        return self._known[name]

    def _basic(self, name: str) -> np.ndarray:
        """Return a basic metric over the rounds, computed once."""
        if name not in self._known:
            self._known[name] = self._column(name)
        return self._known[name]

    def __reduce__(self) -> tuple[Any, ...]:
        every = {
            name: self[name] for name in self._names
        }  # an unpickled copy cannot compute metrics on demand
        known = (None, self._names, self._gamma, (), self._lacking)
        return Metrics, known, {"_known": every}

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[Any]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def expected(
    problem: Problem,
    algorithm: str | Algorithm,
    *,
    rounds: int,
    x_0: Points | None = None,
    S: int | None = None,
    participation: Participation | None = None,
    covariance: bool = False,
    how: str | None = None,
    budget: float = BUDGET,
    **hyper: Hyper,
) -> Expected:
    """Compute the exact expectations of what `ft.run` samples: metrics, E x_t and, on request, the
    covariance of x_t.

    Problem, algorithm, `rounds`, `x_0`, `S`, `participation` and hyper-parameters are as for
    `ft.run`. There are two ways, and `how` requires one of them:

    - "moments", the default where it applies: the mean and the covariance of the state obey a
      linear recursion where gradients and updates are affine and noise is additive;
    - "enumeration": every outcome of all random choices is run; `budget` limits the work, in rounds
      of single paths.

    Raises NotExact, with the reasons, where neither way applies, and InvalidInput as `ft.run` does.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [0.0]], sigma=1.0)
    >>> e = ft.expected(problem, "fedsgd", rounds=1, x_0=[2.0], eta=0.5)    # x_1 = 2 - (2 + n) / 2
    >>> float(e.mean[1, 0]), float(e.metrics["sq_distance"][1])             # 1, and 1 + E n^2 / 4
    (1.0, 1.25)
    """
    if how not in (None, "moments", "enumeration"):
        refuse("how", "must be 'moments' or 'enumeration'", how)
    plan = plan_of(
        problem,
        algorithm,
        rounds=rounds,
        trials=1,
        seed=0,
        S=S,
        participation=participation,
        keep="metrics",
        names=None,
        given=hyper,
    )
    if x_0 is not None and arguments.check_array("x_0", x_0).shape != (problem.d,):
        refuse("x_0", f"must be finite of shape ({problem.d},)", np.shape(x_0))
    budget, covariance = (
        arguments.check_integer("budget", budget, 1),
        arguments.check_flag("covariance", covariance),
    )
    x_0 = start_of(problem, x_0, 1)[0]
    reasons = []
    for way, follow in (("moments", _by_moments), ("enumeration", _by_enumeration)):
        if how in (None, way):
            try:
                return follow(plan, x_0, covariance, budget)
            except NotExact as error:
                reasons.append(f"by {way}: {error}")
    raise NotExact(
        f"{plan.algorithm.name} on {problem.name} has no exact expectation here; "
        + "; ".join(reasons)
    )


def _missing_minimiser(problem: Problem) -> Any:
    """Return why a problem has no minimiser, in words; None where a minimiser is known."""
    return None if problem.minimize else f"{problem.name} {problem.no_minimiser}"


def _metric_names(plan: Plan, basic: Any) -> list[str]:
    """Return the names of the metrics that the named basic metrics determine on a plan's problem."""
    basic = set(basic)
    if not plan.problem.has_server:
        basic -= {name for name in basic if metrics.GROUP[name] & metrics.SERVER}
    if plan.problem.minimize is None:
        basic -= {"sq_distance"}
    return [name for name, metric in metrics.ALL.items() if basic.issuperset(metric.needs)]


# ---------------------------------------------------------------- enumeration


def _by_enumeration(plan: Any, x_0: np.ndarray, covariance: bool, budget: int) -> Expected:
    """Return the Expected of a plan by running every outcome of its random choices."""
    wanted = metrics.OBJECTIVE | metrics.SLOPE | metrics.DISSIMILARITY | metrics.DRIFT
    wanted |= metrics.SERVER * plan.problem.has_server | metrics.DISTANCE * (
        plan.problem.minimize is not None
    )
    batch = batch_for(plan, plan.problem, x_0, 0, 4096, wanted)
    paths = Paths(batch, budget)
    record, count, means, covariances = [], [], [], []

    def keep(row: Number) -> None:
        record.append(row), count.append(len(paths.chance)), means.append(paths.mean)
        if covariance:
            covariances.append(paths.covariance)

    keep(batch.machine.measure(1)[0])
    for first, end in constant_stretches(plan):
        if first:
            batch.objective_is(round_objective(plan, plan.problem, first), plan.hyper[first])
        for t in range(first, end):
            keep(paths.round(round_of(plan, batch, t)))
    record = np.array(record)
    found = Metrics(
        lambda name: record[:, metrics.COLUMN[name]],
        _metric_names(plan, metrics.BASIC),
        getattr(plan.hyper[0], "gamma", 1.0),
        lacking=_missing_minimiser(plan.problem),
    )
    return Expected(
        plan.problem,
        plan.algorithm,
        plan.hyper,
        plan.rounds,
        "enumeration",
        found,
        np.array(means),
        np.array(covariances) if covariance else None,
        np.array(count),
    )


# ---------------------------------------------------------------- moments


def _by_moments(plan: Any, x_0: np.ndarray, covariance: bool, budget: int) -> Expected:
    """Return the Expected of a plan by the linear recursion of mean and covariance.

    Coordinates are first followed apart, which costs less; where the method mixes coordinates that
    gradients do not mix, all moments are followed together.
    """
    for apart in (True, False):  # an algorithm may mix coordinates that gradients do not mix
        followed = FollowedMoments(plan, x_0, covariance, apart)
        try:
            for first, end in constant_stretches(plan):
                followed.carry(first, end)
            break
        except NotExact:
            if not apart or followed.coupled and followed.turn is None:
                raise
    series, objectives = followed.series(), followed.objectives()
    gamma = getattr(plan.hyper[0], "gamma", 1.0)
    found = Metrics(
        lambda name: series.column(name, objectives, gamma),
        _metric_names(plan, FOLLOWED),
        gamma,
        BLENDS,
        _missing_minimiser(plan.problem),
    )
    return Expected(
        plan.problem,
        plan.algorithm,
        plan.hyper,
        plan.rounds,
        "moments",
        found,
        followed.mean(series),
        followed.covariance(series) if covariance else None,
    )
