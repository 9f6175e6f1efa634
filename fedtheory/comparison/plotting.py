"""The function `ft.plot`: a run, a bound and the exact expectation on one axis, in the style of all
figures here."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fedtheory import arguments
from fedtheory.comparison.compare import compare
from fedtheory.comparison.result import Comparison
from fedtheory.errors import refuse
from fedtheory.exact.expected import Expected
from fedtheory.language.claim import Claim
from fedtheory.metrics import ALL
from fedtheory.runs import plots
from fedtheory.runs.running import Run

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes


def plot(
    run: Run | Comparison,
    bound: Claim | str | Callable[[int], float] | Sequence[float] | np.ndarray | None = None,
    expected: Expected | None = None,
    *,
    metric: str | None = None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a run's mean with the band of 80 % of its trials, a bound and the exact expectation;
    return the axes: `ax`, or those of a new figure.

    - `run` is a Run, or a Comparison, which holds all three curves.
    - `bound` is a claim's id or record, whose left side is then drawn; or a number for each round
      from 0 on; or a function of the round.
    - `expected` is the result of `ft.expected` for the same number of rounds.
    - `metric` names the metric of the run that is drawn; the default is the run's first metric.

    Raises InvalidInput where a bound or an expectation has another number of rounds than the run.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=2, clients=4, L=1.0, mu=0.5, sigma=0.2)
    >>> of = dict(rounds=20, x_0=[1.0, 1.0], eta_l=0.1, K=2)
    >>> run, expected = ft.run(problem, "fedavg", trials=8, **of), ft.expected(problem, "fedavg", **of)
    >>> ax = ft.plot(run, lambda t: 3.0 * 0.95**t, expected, metric="sq_distance")
    >>> [line.get_label() for line in ax.get_lines()]
    ['fedavg, sampled', 'bound', 'fedavg, exact expectation']
    """
    if isinstance(run, Comparison):
        return run.plot(ax)
    if not isinstance(run, Run):
        refuse("run", "must be the result of ft.run or ft.compare", run)
    if isinstance(bound, str | Claim):
        return compare(bound, run.problem, run=run).plot(ax)
    (name,) = arguments.check_words("metric", (metric or next(iter(run.metrics), ""),), run.metrics)
    t = np.arange(run.rounds + 1)
    right = None if bound is None else _bound_numbers(bound, t)
    exact = None if expected is None else _expected_column(expected, name, t)
    ax, method = plots.axes_for(ax), run.algorithm.name
    band = plots.mean_and_band(run.metrics[name])
    plots.draw_band(ax, t, *band, f"{method}, sampled", plots.PRACTICE)
    if right is not None:
        ax.plot(t, right, color="black", linestyle="--", label="bound")
    if exact is not None:
        look = dict(color=plots.EXPECTED, linestyle=":")
        ax.plot(t, exact, label=f"{method}, exact expectation", **look)
    ax.set(xlabel="round $t$", ylabel=f"${ALL[name].latex}$")
    plots.set_log_axis(ax)
    ax.legend(frameon=False)
    return ax


def _bound_numbers(
    bound: Callable[[int], float] | Sequence[float] | np.ndarray, t: np.ndarray
) -> np.ndarray:
    """Return a bound as a number for each round."""
    rule = f"must be a claim, a function of the round, or {len(t)} numbers, for rounds 0 to {t[-1]}"
    numbers = [bound(int(each)) for each in t] if callable(bound) else bound
    try:
        found = np.asarray(numbers, float)
    except (TypeError, ValueError):
        refuse("bound", rule, bound)
    if found.shape != t.shape:
        refuse("bound", rule, bound)
    return found


def _expected_column(expected: Expected, name: str, t: np.ndarray) -> np.ndarray:
    """Return the exact expectation of a metric, one value for each round."""
    if not isinstance(expected, Expected) or expected.rounds != t[-1]:
        refuse("expected", f"must be the result of ft.expected for {t[-1]} rounds", expected)
    return expected.metrics[name]
