"""What slack figures share: a proof's chain at drawn instances: where a bound's slack enters, and
each line's ratio."""

import re

import numpy as np

import fedtheory as ft
from fedtheory import discover
from figures import _style

INSTANCES = dict(smoke=3, quick=20, paper=100)


def arrays(id, scale, progress):
    """Ratios of every line (lines, instances), and the waterfall of the first instance with slack
    at every stage."""
    audits = []
    for seed in range(INSTANCES[scale]):
        audits.append(ft.audit(id, at="drawn", seed=seed))
        progress(seed + 1, INSTANCES[scale])
    names = [(row["claim"], row["line"]) for row in audits[0].rows]
    ratios = np.full((len(names), len(audits)), np.nan)
    for n, audit in enumerate(audits):
        for row in audit.rows:
            if (
                row["ratio"] is not None
                and row["sign"] == "<="
                and (row["claim"], row["line"]) in names
            ):
                ratios[names.index((row["claim"], row["line"])), n] = row["ratio"]
    fall = max((audit.waterfall() for audit in audits), key=len)
    return dict(
        line=np.array([label(*name) for name in names]),
        ratios=ratios,
        stage=np.array([label(row["claim"], row["line"]) for row in fall]),
        adds=np.array([float(row["adds"]) for row in fall]),
        fails=np.array(sum(audit.fails is not None for audit in audits)),
        measures=np.array(discover.claim(id).latex(discover.claim(id).lines[-1][0])),
    )


def label(id, line):
    """A line as the paper numbers it."""
    claim = discover.claim(id)
    cites = re.sub(r"^(FSL|mixed FL), ", "", claim.cites).replace("proof of ", "")
    cites = re.sub(r", eta.*~.*$", ", step size", cites)
    cites = re.sub(r", by its.*$", ", amended", re.sub(r", as its proof.*$", ", as proved", cites))
    return cites + (f", line {line}" if len(claim.lines) > 1 else "")


def draw(figure, data):
    """On the left how the slack adds up, on the right how tight each line is."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.5))
    shares = data["adds"] / data["adds"].sum()
    ends = np.cumsum(shares)
    for n, (share, end) in enumerate(zip(shares, ends)):
        left.barh(n, share, left=end - share, color=_style.look("fsl").colour, height=0.6)
        if n + 1 < len(ends):
            left.plot([end, end], [n - 0.3, n + 1.3], color=_style.INK, linewidth=0.6)
        wide, late = share > 0.5, end > 0.6  # its number stands inside, or before, or after it
        left.annotate(
            percent(share),
            (end - share / 2 if wide else end - share if late else end, n),
            xytext=(0 if wide else -3 if late else 3, 0),
            textcoords="offset points",
            va="center",
            ha="center" if wide else "right" if late else "left",
            fontsize=_style.SMALL,
            color="white" if wide else _style.INK,
        )
    left.set(
        yticks=range(len(ends)),
        yticklabels=data["stage"].tolist(),
        ylim=(len(ends) - 0.4, -0.6),
        xlim=(0, 1.02),
        xlabel="share of the bound's slack",
        title="where slack enters",
    )
    shown = np.isfinite(data["ratios"]).any(axis=1)
    ratios, names = data["ratios"][shown], data["line"][shown].tolist()
    for n, row in enumerate(ratios):
        right.plot(
            row,
            np.full(len(row), n),
            linestyle="",
            marker="o",
            markersize=2.5,
            alpha=0.5,
            color=_style.look("fsl").colour,
        )
        right.plot(np.nanmedian(row), n, marker="|", markersize=7, color=_style.INK)
    right.set(
        yticks=range(len(names)),
        yticklabels=names,
        ylim=(len(names) - 0.4, -0.6),
        xlim=(-0.02, 1.03),
        xlabel="left side over right side, one dot per instance",
        title="how tight each line is",
    )
    right.grid(axis="y", color=_style.PALE, linewidth=0.6)
    right.set_axisbelow(True)
    for ax in (left, right):
        ax.tick_params(axis="y", length=0)


def percent(share):
    return f"{100 * share:.3g} %" if share == 0 or share >= 1e-4 else "< 0.01 %"


def rows(data):
    median = [
        f"{np.nanmedian(row):.4g}" if np.isfinite(row).any() else "" for row in data["ratios"]
    ]
    added = dict(zip(data["stage"].tolist(), data["adds"] / data["adds"].sum()))
    return [
        ["line", "ratio, median", "share of slack"],
        *(
            [name, middle, f"{added[name]:.4g}" if name in added else ""]
            for name, middle in zip(data["line"].tolist(), median)
        ),
    ]
