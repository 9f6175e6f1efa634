"""What theory figures share: a bound over T, the exact expectation, sampled runs with their band,
the worst case found.

80 % of the runs lie in the band; where a least expectation is bounded, they are averaged in the
round that attains it. The worst case is the statement's, over all problems and step sizes, not the
plotted problem's: it is drawn as the share of the bound that a search found some instance of T
rounds to reach, above the bound where that is violated.
"""

import numpy as np

from fedtheory import discover
from fedtheory.errors import refuse
from fedtheory.figures import _style
from fedtheory.runs import showing
from fedtheory.settings import fitting
from fedtheory.verdicts import checking


def rounds_of(shape):
    """Rounds of a setting's shape, under the name that it has there; FED-LAMB's T are local
    steps."""
    return int(next(shape[name] for name in ("rounds", "R", "T", "tau") if name in shape))


def of_rounds(setting, rounds, /, tries=2000, **more):
    """The setting, of its instances only those of so many rounds, and with what else their shapes
    must have."""

    def shapes(random, relaxed):
        for _ in range(tries):
            shape = setting.shapes(random, relaxed)
            if rounds_of(shape) == rounds and more.items() <= shape.items():
                return shape
        refuse("rounds", f"must be those of some instance of {setting.says}", rounds)

    return setting._replace(shapes=shapes)


def worst(claim, Ts, seconds, seed=0, line=0, **more):
    """Largest ratio of left to right that a search of so many seconds finds among instances of T
    rounds, for each T; nan if none."""
    found, settings = [], fitting(claim)
    for T in Ts:
        verdicts = [
            checking.hunted(claim, line, of_rounds(each, T, **more), seconds / len(settings), seed)
            for each in settings
        ]
        found.append(
            max((float(v.tightness) for v in verdicts if v.tightness is not None), default=np.nan)
        )
    return np.array(found)


def of_runs(values):
    """Mean of runs' values (trials, ...), and the band's ends."""
    return [*showing.mean_and_band(values)]


def key(panel, name):
    """The name of a panel's array. A panel is a claim's id, with more behind an @ where a claim has
    several."""
    return f"{panel.replace('.', '_').replace('@', '_')}_{name}"


def panel(id, T, bound, measured, worst_T, worst_ratio, worst_bound):
    """A panel's arrays by name; measured: (exact, mean, low, high) for each T, nan where there is
    no closed form."""
    claim = discover.claim(id.partition("@")[0])
    measured = np.array(measured, float).T
    return {
        key(id, name): np.asarray(value)
        for name, value in dict(
            T=T,
            bound=bound,
            exact=measured[0],
            mean=measured[1],
            low=measured[2],
            high=measured[3],
            worst_T=worst_T,
            worst_ratio=worst_ratio,
            worst_bound=worst_bound,
            cites=claim.cites,
        ).items()
    }


def draw_panel(ax, data, id, method, title=None):
    """One statement: runs in the look of their method, bound, exact expectation, worst case; both
    axes in powers."""
    of = lambda name: data[key(id, name)]
    _style.band(ax, of("T"), of("mean"), of("low"), of("high"), method, label="runs")
    ax.plot(of("T"), of("bound"), label="bound", **_style.BOUND)
    ax.plot(
        of("T"),
        of("exact"),
        label="exact" if np.isfinite(of("exact")).any() else "_",
        **_style.EXACT,
    )
    ax.plot(of("worst_T"), of("worst_ratio") * of("worst_bound"), label="_", **_style.WORST)
    ax.set(xscale="log", yscale="log", title=title or str(of("cites")).partition(", ")[2])


def draw_trivial(ax, level):
    """What holds without any training."""
    ax.axhline(level, color=_style.OPEN, linewidth=0.7, linestyle=":")


def say_trivial(ax, level, text, high=True):
    """The trivial level by name, at its right end."""
    ax.annotate(
        text,
        (1, level),
        xycoords=("axes fraction", "data"),
        xytext=(-1, 2 if high else -2),
        textcoords="offset points",
        ha="right",
        va="bottom" if high else "top",
        fontsize=_style.SMALL,
        color=_style.OPEN,
    )


def say_worst(ax, across, high, text="worst case found\nfor any problem,\nas share of bound"):
    """What a star is, to the left of its text; the place in fractions of the axes."""
    ax.plot(across, high, transform=ax.transAxes, label="_", **_style.WORST)
    ax.annotate(
        text,
        (across, high),
        xycoords="axes fraction",
        xytext=(4, _style.SMALL / 2),
        textcoords="offset points",
        va="top",
        fontsize=_style.SMALL,
        color=_style.DIFFER,
        linespacing=1.05,
    )


def draw_panels(figure, data, ids, method, left, trivial=None, xlabel="$T$", titles=None):
    """Small multiples with common axes; lines are named in the last, the worst case in the
    first."""
    axes = figure.subplots(1, len(ids), sharex=True, sharey=True, squeeze=False)[0]
    for ax, id in zip(axes, ids):
        draw_panel(ax, data, id, method, (titles or {}).get(id))
        if trivial is not None:
            draw_trivial(ax, trivial[0])
        ax.set_xlabel(xlabel)
    axes[0].set_ylabel(left)
    return axes


def rows_of(data, ids, left):
    """The plotted numbers as a table."""
    found = [
        [
            "statement",
            "T",
            "bound",
            f"{left}, exact",
            "runs, mean",
            "80 % from",
            "to",
            "worst case, share",
        ]
    ]
    shown = lambda value: f"{value:.5g}" if np.isfinite(value) else ""
    for id in ids:
        of = lambda name: data[key(id, name)]
        shares = dict(zip(of("worst_T").tolist(), of("worst_ratio")))
        for n, T in enumerate(of("T").tolist()):
            found.append(
                [
                    id,
                    f"{T}",
                    *(shown(of(name)[n]) for name in ("bound", "exact", "mean", "low", "high")),
                    f"{shares[T]:.4g}" if T in shares else "",
                ]
            )
    return found
