"""What theory figures share: a bound over T, the exact expectation, sampled runs with their band, the worst case found.

Runs are averaged in the round at which the expectation is least; 80 % of them lie in the band there. The worst case is
the statement's, over all problems and step sizes, not the plotted problem's: it is drawn as the share of the bound that
a search found some instance of T rounds to reach.
"""

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.checks import checking
from fedtheory.checks.settings import fitting
from figures import _style

BAND = .1, .9


def rounds_of(shape):
    """Rounds of a setting's shape, under the name that it has there."""
    return int(next(shape[name] for name in ("rounds", "T", "tau") if name in shape))


def of_rounds(setting, T, tries=2000):
    """The setting, of its instances only those of T rounds."""
    def shapes(random, relaxed):
        for _ in range(tries):
            shape = setting.shapes(random, relaxed)
            if rounds_of(shape) == T:
                break
        return shape
    return setting._replace(shapes=shapes)


def worst(claim, Ts, seconds, seed=0):
    """Largest ratio of left to right that a search finds among instances of T rounds, for each T; nan if none."""
    found = []
    for T in Ts:
        verdicts = [checking.hunted(claim, 0, of_rounds(setting, T), seconds, seed) for setting in fitting(claim)]
        found.append(max((float(v.tightness) for v in verdicts if v.tightness is not None), default=np.nan))
    return np.array(found)


def least(problem, algorithm, metric, T, trials, x_0, S, last=1, seed=0, **hyper):
    """min over t <= T - last of E[metric]: exact, and of runs (mean, band) in the round where it is attained."""
    names = dict(rounds=T, x_0=x_0, S=S, **hyper)
    exact = ft.expected(problem, algorithm, **names).metrics[metric][:T + 1 - last]
    runs = ft.run(problem, algorithm, trials=trials, seed=seed, metrics=(metric,), **names).metrics[metric]
    at = int(np.argmin(exact))
    return [exact[at], runs[:, at].mean(), *np.quantile(runs[:, at], BAND)]


def key(id, name):
    """The name of a panel's array."""
    return f"{id.replace('.', '_')}_{name}"


def panel(id, T, bound, measured, worst_T, worst_ratio, worst_bound):
    """A panel's arrays by name."""
    claim = discover.claim(id)
    measured = np.array(measured, float).T
    return {key(id, name): np.asarray(value) for name, value in dict(
        T=T, bound=bound, exact=measured[0], mean=measured[1], low=measured[2], high=measured[3], worst_T=worst_T,
        worst_ratio=worst_ratio, worst_bound=worst_bound, cites=claim.cites).items()}


def draw_panels(figure, data, ids, method, left, trivial=None, xlabel="$T$", titles=None):
    """Small multiples with common axes; lines are named in the last, the worst case in the first."""
    axes = figure.subplots(1, len(ids), sharex=True, sharey=True, squeeze=False)[0]
    for n, (ax, id) in enumerate(zip(axes, ids)):
        of = lambda name: data[key(id, name)]
        _style.band(ax, of("T"), of("mean"), of("low"), of("high"), method, label="runs")
        ax.plot(of("T"), of("bound"), label="bound", **_style.BOUND)
        ax.plot(of("T"), of("exact"), label="exact", **_style.EXACT)
        ax.plot(of("worst_T"), of("worst_ratio") * of("worst_bound"), label="_", **_style.WORST)
        if trivial is not None:
            ax.axhline(trivial[0], color=_style.OPEN, linewidth=.7, linestyle=":")
        ax.set(xscale="log", yscale="log", title=(titles or {}).get(id, str(of("cites")).partition(", ")[2]),
               xlabel=xlabel)
    axes[0].set_ylabel(left)
    return axes


def rows_of(data, ids, left):
    """The plotted numbers as a table."""
    found = [["statement", "T", "bound", f"{left}, exact", "runs, mean", "80 % from", "to", "worst case, share"]]
    for id in ids:
        of = lambda name: data[key(id, name)]
        shares = dict(zip(of("worst_T").tolist(), of("worst_ratio")))
        for n, T in enumerate(of("T").tolist()):
            found.append([id, f"{T}", *(f"{of(name)[n]:.5g}" for name in ("bound", "exact", "mean", "low", "high")),
                          f"{shares[T]:.4g}" if T in shares else ""])
    return found
