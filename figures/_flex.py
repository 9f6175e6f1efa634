"""What flex's experiments on SYNTHETIC share (section 5): the settings, test data, seeds, and cells
of its tables.

Section 5 names neither E, nor the share of data held out, nor sizes where all devices have the
same. Chosen are figure 1's E, a fifth of all data, and the mean of the Pareto sizes of section 5.1;
one seed fixes data, sizes and traces.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fedtheory import discover
from fedtheory.claims.flex import findings
from fedtheory.figures import _findings
from fedtheory.figures._table import Cell
from fedtheory.problems.synthetic import synthetic, synthetic_data
from fedtheory.runs.running import thread_count

E, ETA_0 = 5, 1.0
SAMPLES = 200  # training samples of each device, where all have the same: sqrt(20 * 2000)
SCHEMES = {"A": "flex_a", "B": "flex_b", "C": "flex_c"}


def synthetic_task(alpha, clients, seed, **options):
    """SYNTHETIC(alpha, alpha) of a seed: the problem, and the arrays its clients hold out."""
    return (
        synthetic(alpha, alpha, clients, seed=seed, **options),
        synthetic_data(alpha, alpha, clients, seed=seed, **options),
    )


def held_out(arrays, clients):
    """Test data of some clients together, as (n, features + 1) rows and (n,) labels."""
    X = np.concatenate([arrays.X_test[k] for k in clients])
    return np.column_stack([X, np.ones(len(X))]), np.concatenate(
        [arrays.y_test[k] for k in clients]
    )


def class_scores(path, X):
    """(points, n, classes) of points (points, d)."""
    return X @ path.reshape(len(path), X.shape[1], -1)


def accuracy_at(path, test):
    """(points,) percentages of the test samples that a point gives their class."""
    X, y = test
    return 100 * (class_scores(path, X).argmax(axis=2) == y).mean(axis=1)


def loss_at(path, test):
    """(points,) mean cross-entropies on the test samples, without the ridge."""
    X, y = test
    z = class_scores(path, X)
    z -= z.max(axis=2, keepdims=True)
    return (np.log(np.exp(z).sum(axis=2)) - z[:, np.arange(len(y)), y]).mean(axis=1)


def run_jobs(jobs, work, progress):
    """[work(*job), ...]: each runs on one thread, as many at a time as there are cores."""
    pool, found = ThreadPoolExecutor(thread_count()), []
    try:
        for result in pool.map(lambda job: work(*job), jobs):
            found.append(result)
            progress(len(found), len(jobs))
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def rounds_to_hit(hits, horizon):
    """How many rounds until a hit, counted from 1; inf, which is censored, if there is none within
    the horizon."""
    hits = np.asarray(hits)[:horizon]
    return float(np.argmax(hits) + 1) if hits.any() else np.inf


def quartiles(values):
    """(least quarter, median, greatest quarter) over seeds, as observed: censored ones are the last
    of all."""
    ordered = np.sort(values, axis=0)
    return [ordered[int(np.ceil(share * len(ordered))) - 1] for share in (0.25, 0.5, 0.75)]


def rounds_of(values, horizon):
    """`median [quartiles]` of rounds as a table prints it."""
    low, middle, high = (
        f">{horizon}" if np.isposinf(value) else f"{value:.3g}" for value in quartiles(values)
    )
    return f"{middle} [{low}, {high}]".replace("-", "−")


def describe_censored(values):
    """`3 of 40 runs` that have no hit within the horizon."""
    return f"{int(np.isinf(values).sum())} of {np.size(values)} runs"


PRINTED = {
    (quantity, which): (f"flex.{name}", value)
    for name, _, _, quantity, which, value in findings.CELLS
}


def judge_cells(cells, *names):
    """id -> (verdict, sentence) of the named claims."""
    return {
        f"flex.{name}": _findings.judge_claim(discover.claim(f"flex.{name}"), cells)
        for name in names
    }


def cells_judged(cells):
    """The same of every printed cell that was measured, {(quantity, which): values over seeds};
    they share a level."""
    of = {PRINTED[key][0]: {(*key, ""): values} for key, values in cells.items()}
    return {
        id: _findings.judge_claim(discover.claim(id), cell, family=len(of))
        for id, cell in of.items()
    }


def unrun_cells(figure, cells):
    """The same of every printed cell that a figure is to judge and a scale leaves out."""
    left = (id for key, (id, _) in PRINTED.items() if key not in cells)
    return {
        id: _findings.not_judged("the cell is not run")
        for id in left
        if discover.claim(id).figure == figure
    }


def make_cell(key, shown, outcomes):
    """A table's Cell of (quantity, which): ours as it is shown, the paper's number, and what
    `outcomes` say of them."""
    id, value = PRINTED[key]
    return Cell(shown, str(value).replace("-", "−"), outcomes[id][0], id)


def describe_agreement(outcomes):
    """`12 of 32 cells agree, 8 do not, 12 have no power` of the outcomes of cells."""
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
