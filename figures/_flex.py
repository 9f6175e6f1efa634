"""What flex's experiments on SYNTHETIC share (section 5): the settings, test data, seeds, and cells of its tables.

Section 5 names neither E, nor the share of data held out, nor sizes where all devices have the same. Chosen are figure
1's E, a fifth of all data, and the mean of the Pareto sizes of section 5.1; one seed fixes data, sizes and traces.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from fedtheory import discover
from fedtheory.claims.flex import findings
from fedtheory.problems.synthetic import synthetic, synthetic_data
from fedtheory.running import threads
from figures import _findings

E, ETA_0 = 5, 1.0
SAMPLES = 200    # training samples of each device, where all have the same: sqrt(20 * 2000)
SCHEMES = {"A": "flex_a", "B": "flex_b", "C": "flex_c"}


def task(alpha, clients, seed, **options):
    """SYNTHETIC(alpha, alpha) of a seed: the problem, and the arrays its clients hold out."""
    return (synthetic(alpha, alpha, clients, seed=seed, **options),
            synthetic_data(alpha, alpha, clients, seed=seed, **options))


def held_out(arrays, clients):
    """Test data of some clients together, as (n, features + 1) rows and (n,) labels."""
    X = np.concatenate([arrays.X_test[k] for k in clients])
    return np.column_stack([X, np.ones(len(X))]), np.concatenate([arrays.y_test[k] for k in clients])


def scores(path, X):
    """(points, n, classes) of points (points, d)."""
    return X @ path.reshape(len(path), X.shape[1], -1)


def accuracy(path, test):
    """(points,) percentages of the test samples that a point gives their class."""
    X, y = test
    return 100 * (scores(path, X).argmax(axis=2) == y).mean(axis=1)


def loss(path, test):
    """(points,) mean cross-entropies on the test samples, without the ridge."""
    X, y = test
    z = scores(path, X)
    z -= z.max(axis=2, keepdims=True)
    return (np.log(np.exp(z).sum(axis=2)) - z[:, np.arange(len(y)), y]).mean(axis=1)


def over(jobs, work, progress):
    """[work(*job), ...]: each runs on one thread, as many at a time as there are cores."""
    pool, found = ThreadPoolExecutor(threads()), []
    try:
        for result in pool.map(lambda job: work(*job), jobs):
            found.append(result)
            progress(len(found), len(jobs))
    finally:
        pool.shutdown(cancel_futures=True)
    return found


def first(hits, horizon):
    """How many rounds until a hit, counted from 1; `horizon` if there is none within so many."""
    hits = np.asarray(hits)[:horizon]
    return int(np.argmax(hits)) + 1 if hits.any() else horizon


def judged(cells, *names, level=_findings.LEVEL):
    """id -> (verdict, sentence) of the named claims."""
    return {f"flex.{name}": _findings.judge(discover.claim(f"flex.{name}"), cells, level) for name in names}


def cells_judged(cells, level=_findings.LEVEL):
    """The same of every printed cell that was measured: {(quantity, which): values over seeds}."""
    names = [name for name, _, _, quantity, which, _ in findings.CELLS if (quantity, which) in cells]
    return judged({(*key, ""): values for key, values in cells.items()}, *names, level=level)


def kindest(readings):
    """Of {reading: {id: (verdict, sentence)}}, each claim's best outcome, the earlier reading's where they tie."""
    rank = (_findings.REPRODUCED, _findings.INCONCLUSIVE, _findings.NOT_REPRODUCED)
    best = {}
    for reading, outcomes in readings.items():
        for claim, (verdict, sentence) in outcomes.items():
            if claim not in best or rank.index(verdict) < rank.index(best[claim][0]):
                best[claim] = verdict, f"{sentence}; {reading}"
    return best


def beside(values, printed):
    """A table's cell: ours over seeds, the paper's number, and whether they agree within error bars."""
    return values, str(printed).replace("-", "−"), _findings.compare(values, "~", str(printed)).verdict


def agreement(outcomes):
    """`12 of 32 cells agree, 8 are open` of the outcomes of cells."""
    verdicts = [verdict for verdict, _ in outcomes.values()]
    agree, open_ = verdicts.count(_findings.REPRODUCED), verdicts.count(_findings.INCONCLUSIVE)
    return f"{agree} of {len(verdicts)} cells agree" + (f", {open_} are open" if open_ else "")
