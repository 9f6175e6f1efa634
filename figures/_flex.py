"""Code that the figures of flex's SYNTHETIC experiments (section 5) share: settings, test data,
seeds, and cells of the tables.

Section 5 names neither E, nor the share of data held out, nor sizes where all devices have the
same. Chosen are figure 1's E, a fifth of all data, and the mean of the Pareto sizes of section 5.1;
one seed fixes data, sizes and traces.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from fedtheory import discover
from fedtheory.claims.flex import findings
from fedtheory.figures import _findings
from fedtheory.figures._findings import Outcome
from fedtheory.figures._record import Progress
from fedtheory.figures._table import Cell
from fedtheory.problem import Problem
from fedtheory.problems.synthetic import synthetic, synthetic_data
from fedtheory.runs.running import thread_count

E, ETA_0 = 5, 1.0
SAMPLES = 200  # training samples of each device, where all have the same: sqrt(20 * 2000)
Printed = tuple[str, str]  # (quantity, which) of a printed cell
SCHEMES = {"A": "flex_a", "B": "flex_b", "C": "flex_c"}


def synthetic_task(alpha: float, clients: int, seed: int, **options: Any) -> tuple[Problem, Any]:
    """Return the problem SYNTHETIC(alpha, alpha) of a seed, and the arrays with the clients'
    held-out data."""
    return (
        synthetic(alpha, alpha, clients, seed=seed, **options),
        synthetic_data(alpha, alpha, clients, seed=seed, **options),
    )


def held_out(arrays: Any, clients: Iterable[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the test data of the given clients together: rows (n, features + 1), whose last column
    is 1, and labels (n,)."""
    X = np.concatenate([arrays.X_test[k] for k in clients])
    return np.column_stack([X, np.ones(len(X))]), np.concatenate(
        [arrays.y_test[k] for k in clients]
    )


def class_scores(path: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Compute the class scores (points, n, classes) of models (points, d) on samples X."""
    return X @ path.reshape(len(path), X.shape[1], -1)


def accuracy_at(path: np.ndarray, test: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Compute the test accuracy in percent of each model, shape (points,)."""
    X, y = test
    return 100 * (class_scores(path, X).argmax(axis=2) == y).mean(axis=1)


def loss_at(path: np.ndarray, test: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Compute the mean cross-entropy on the test samples of each model, shape (points,), without
    the ridge term."""
    X, y = test
    z = class_scores(path, X)
    z -= z.max(axis=2, keepdims=True)
    return (np.log(np.exp(z).sum(axis=2)) - z[:, np.arange(len(y)), y]).mean(axis=1)


def run_jobs(jobs: Sequence[tuple], work: Callable, progress: Progress) -> list:
    """Return [work(*job), ...]; each job runs on one thread, with as many threads at a time as
    there are cores."""
    pool, found = ThreadPoolExecutor(thread_count()), []
    try:
        for result in pool.map(lambda job: work(*job), jobs):
            found.append(result)
            progress(len(found), len(jobs))
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def rounds_to_hit(hits: np.ndarray, horizon: int) -> float:
    """Return the number of rounds until the first hit, counted from 1; inf (censored) if there is
    no hit within the horizon."""
    hits = np.asarray(hits)[:horizon]
    return float(np.argmax(hits) + 1) if hits.any() else np.inf


def quartiles(values: np.ndarray) -> list:
    """Return the lower quartile, the median and the upper quartile over seeds, each an observed
    value; censored values (inf) sort last."""
    ordered = np.sort(values, axis=0)
    return [ordered[int(np.ceil(share * len(ordered))) - 1] for share in (0.25, 0.5, 0.75)]


def rounds_of(values: np.ndarray, horizon: int) -> str:
    """Return numbers of rounds as a table prints them, `median [quartiles]`; values beyond the
    horizon read `>horizon`."""
    low, middle, high = (
        f">{horizon}" if np.isposinf(value) else f"{value:.3g}" for value in quartiles(values)
    )
    return f"{middle} [{low}, {high}]".replace("-", "−")


def describe_censored(values: np.ndarray) -> str:
    """Return `3 of 40 runs`: how many of all runs have no hit within the horizon."""
    return f"{int(np.isinf(values).sum())} of {np.size(values)} runs"


PRINTED = {
    (quantity, which): (f"flex.{name}", value)
    for name, _, _, quantity, which, value in findings.CELLS
}


def judge_cells(cells: dict, *names: str) -> dict[str, Outcome]:
    """Return {id: (verdict, sentence)} of the named flex claims, judged from the cells."""
    return {
        f"flex.{name}": _findings.judge_claim(discover.claim(f"flex.{name}"), cells)
        for name in names
    }


def judge_printed(cells: Mapping[Printed, np.ndarray]) -> dict[str, Outcome]:
    """Return {id: (verdict, sentence)} of every printed cell that was measured, given {(quantity,
    which): values over seeds}; all cells share one level."""
    of = {PRINTED[key][0]: {(*key, ""): values} for key, values in cells.items()}
    return {
        id: _findings.judge_claim(discover.claim(id), cell, family=len(of))
        for id, cell in of.items()
    }


def unrun_cells(figure: str, cells: Mapping[Printed, np.ndarray]) -> dict[str, Outcome]:
    """Return {id: (`not judged`, sentence)} of every printed cell that a figure is to judge and
    that is not run at this scale."""
    left = (id for key, (id, _) in PRINTED.items() if key not in cells)
    return {
        id: _findings.not_judged("the cell is not run")
        for id in left
        if discover.claim(id).figure == figure
    }


def make_cell(key: Printed, shown: str, outcomes: Mapping[str, tuple[str, str]]) -> Cell:
    """Build the table Cell of (quantity, which): the measured value as shown, the paper's number,
    and the verdict in `outcomes`."""
    id, value = PRINTED[key]
    return Cell(shown, str(value).replace("-", "−"), outcomes[id][0], id)


def describe_agreement(outcomes: Mapping[str, Outcome]) -> str:
    """Return `12 of 32 cells agree, 8 do not, 12 have no power` for the outcomes of cells."""
    verdicts = [verdict for verdict, _ in outcomes.values()]
    words = {
        _findings.NOT_REPRODUCED: "do not",
        _findings.NO_POWER: "have no power",
        _findings.INCONCLUSIVE: "are open",
        _findings.NOT_JUDGED: "are not judged",
    }
    return ", ".join(
        [
            f"{verdicts.count(_findings.REPRODUCED)} of {len(verdicts)} cells agree",
            *(f"{verdicts.count(v)} {text}" for v, text in words.items() if v in verdicts),
        ]
    )
