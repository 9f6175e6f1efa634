"""The result of a run."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.algorithm import Algorithm, Schedule
from fedtheory.display import Shown, number_text

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

    from fedtheory.problem import Problem


@dataclass(repr=False)
class Run(Shown):
    """The result of a run. `metrics[name]` has shape (trials, rounds + 1).

    Column t of a metric belongs to x_t, so that column 0 is the start. `x` is None unless the run
    was made with keep="x". `resume=` of `ft.run` takes a Run and continues it.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [0.0], [0.0]])
    >>> r = ft.run(problem, "fedsgd", rounds=2, x_0=[4.0], eta=0.5, keep="x")
    >>> r.x[0, :, 0]
    array([4., 2., 1.])
    """

    problem: "Problem"
    algorithm: Algorithm
    hyper: Schedule  # hyper-parameters: a tuple for each round
    rounds: int  # number of finished rounds
    trials: int
    metrics: dict[str, Any]
    final: np.ndarray  # (trials, d), x after the last round
    x: np.ndarray | None = None  # (trials, rounds + 1, d) with keep="x"
    diverged: np.ndarray | None = None  # (trials,) the round at which a trial diverged, or -1
    # {constant that holds on a ball: (trials,) whether the run stayed in the ball}
    inside: dict[str, Any] | None = None
    seconds: float = 0.0
    settings: Any = None  # the plan: everything that decides the result except x_0
    _state: Any = None
    _record: Any = None
    start: np.ndarray | None = None  # (trials, d), the points from which the trials started

    def heading(self) -> str:
        return f"Run of {self.algorithm.name} on {self.problem.name}"

    def facts(self) -> dict[str, Any]:
        last = {
            f"{name} at the end": number_text(curve[:, self.measured[-1]].mean())
            for name, curve in self.metrics.items()
        }
        lost = 0 if self.diverged is None else int((np.asarray(self.diverged) >= 0).sum())
        told = dict(rounds=self.rounds, trials=self.trials, **last)
        return told | ({"diverged": f"{lost} trials"} if lost else {})

    @property
    def measured(self) -> Any:
        """Return the rounds at which metrics were recorded; the records of all other rounds are
        NaN."""
        return np.arange(0, self.rounds + 1, self.settings.every if self.settings else 1)

    def plot(self, *metrics: str, ax: "Axes | None" = None) -> "Axes":
        """Plot metrics (all recorded ones by default) over rounds into `ax`, or into a new figure:
        means, and the band of 80 % of the trials. Return the axes.

        >>> import fedtheory as ft
        >>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
        >>> r = ft.run(problem, "fedavg", rounds=5, eta_l=0.1)
        >>> r.plot("loss").get_xlabel()
        'round $t$'
        """
        from fedtheory.runs import plots

        return plots.plot_run(self, metrics, ax)

    def to_dataframe(self) -> dict[str, np.ndarray]:
        """Return a pandas DataFrame with a row for each trial and round, and a column for each
        metric."""
        from fedtheory.runs import plots

        return plots.run_frame(self)
