"""Code that the slack figures share: a proof's chain at drawn instances, with the stages at which a
bound gains slack, the ratio of each line, and the lines that fail."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INSTANCES = dict(smoke=3, quick=20, paper=100)


LONGEST = 30  # letters of a line's place
BEYOND = 1.25  # where an instance is drawn at which a line fails, however far above 1 it is


def slack_arrays(
    id: str,
    scale: str,
    progress: Callable[..., Any],
    instances: Sequence[dict[str, str]] | None = None,
) -> dict[str, np.ndarray]:
    """Compute the ratio and the failure of every line at every drawn instance, and, for every stage
    that bounds the same quantity as the claim, its share of the claim's slack; NaN where a value
    does not exist."""
    audits = []
    count = instances or INSTANCES[scale]
    for seed in range(count):
        audits.append(ft.audit(id, at="drawn", seed=seed))
        progress(seed + 1, count)
    names = list(dict.fromkeys((row["claim"], row["line"]) for a in audits for row in a.rows))
    ratios = np.full((len(names), len(audits)), np.nan)
    fails, shares = np.zeros(ratios.shape, bool), np.full(ratios.shape, np.nan)
    for n, audit in enumerate(audits):
        for row in audit.rows:
            at = names.index((row["claim"], row["line"])), n
            fails[at] = row["status"] == "fails"
            if row["ratio"] is not None and row["sign"] == "<=":
                ratios[at] = row["ratio"]
        if (whole := audit.rows[-1]["slack"]) and not fails[-1, n]:
            for row in audit.waterfall():
                shares[names.index((row["claim"], row["line"])), n] = row["adds"] / whole
    return dict(
        line=np.array([line_label(*name) for name in names]),
        ratios=ratios,
        fails=fails,
        shares=shares,
        measures=np.array(discover.claim(id).latex(discover.claim(id).lines[-1][0])),
    )


def line_label(id: str, line: int) -> str:
    """Return the label of a line as the paper numbers it."""
    claim = discover.claim(id)
    cites = re.sub(r"^(FSL|mixed FL), ", "", claim.cites).replace("proof of ", "")
    cites = re.sub(r", eta.*~.*$", ", step size", cites)
    cites = re.sub(r", by its.*$", ", amended", re.sub(r", as its proof.*$", ", as proved", cites))
    cites = cites if len(cites) <= LONGEST else cites[: LONGEST - 1].rstrip(", ") + "…"
    return cites + (f", line {line}" if len(claim.lines) > 1 else "")


def draw_figure(figure: "Figure", data: Mapping[str, np.ndarray]) -> None:
    """Draw on the left the part of the slack that each stage adds, over instances; on the right how
    tight each line is, and where it fails."""
    left, right = figure.subplots(1, 2, width_ratios=(0.5, 1.5))
    colour, staged = _style.algorithm_look("fsl").colour, np.isfinite(data["shares"]).any(axis=1)
    shown = np.isfinite(data["ratios"]).any(axis=1) | data["fails"].any(axis=1)
    pitch = max(shown.sum(), staged.sum())
    for n, row in enumerate(data["shares"][staged]):
        low, middle, high, most = np.nanquantile(row, (0.25, 0.5, 0.75, 1))
        left.plot([low, high], [n, n], color=colour, linewidth=5, solid_capstyle="butt", alpha=0.5)
        left.plot(middle, n, marker="|", markersize=9, color=_style.INK, linestyle="")
        left.plot(most, n, marker="o", markersize=3, color=colour, markerfacecolor="white")
    left.set(
        yticks=range(staged.sum()),
        yticklabels=data["line"][staged].tolist(),
        ylim=(pitch - 0.4, -0.6),  # rows as high as on the right
        xlim=(-0.03, 1.03),
        xlabel="share of the slack",
        title="where slack enters",
    )
    names = data["line"][shown].tolist()
    for n, (row, fails) in enumerate(zip(data["ratios"][shown], data["fails"][shown])):
        kept = row[~fails & np.isfinite(row)]
        right.plot(kept, np.full(len(kept), n), "o", markersize=2.5, alpha=0.5, color=colour)
        if fails.any():
            failed = dict(marker="X", markersize=5, color=_style.DIFFER, linestyle="")
            right.plot(BEYOND, n, **failed)
            told = f"{fails.sum()} of {len(fails)}"
            right.annotate(
                told, (BEYOND + 0.05, n), va="center", fontsize=_style.SMALL, color=_style.DIFFER
            )
        if len(kept):
            right.plot(np.median(kept), n, marker="|", markersize=7, color=_style.INK)
    right.set(
        yticks=range(len(names)),
        yticklabels=names,
        ylim=(len(names) - 0.4, -0.6),
        xlim=(-0.02, BEYOND + 0.3 if data["fails"].any() else 1.03),
        xlabel="share of the right side needed, by instance",
        title=slack_title(data),
    )
    if data["fails"].any():
        right.axvline(1, color=_style.INK, linewidth=0.6, linestyle="--")
        right.set_xticks([0, 0.25, 0.5, 0.75, 1, BEYOND], ["0", "", "0.5", "", "1", "fails"])
        for text, fails in zip(right.get_yticklabels(), data["fails"][shown].any(axis=1)):
            text.set_color(_style.DIFFER if fails else _style.INK)
    right.grid(axis="y", color=_style.PALE, linewidth=0.6)
    right.set_axisbelow(True)
    for ax in (left, right):
        ax.tick_params(axis="y", length=0)


def slack_title(data: Mapping[str, np.ndarray]) -> str:
    """Return the title of the right panel: how tight each line is, and how many lines fail."""
    false = int(data["fails"].any(axis=1).sum())
    lines = f"{false} line{'s' if false > 1 else ''} fail{'' if false > 1 else 's'}"
    return f"how tight each line is: {lines}" if false else "how tight each line is"


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    """Return a table row for each line: its ratio at the median instance, where the line fails, and
    its part of the slack."""
    number = lambda value: "" if np.isnan(value) else f"{value:.4g}"
    middle = lambda row: np.nanmedian(row) if np.isfinite(row).any() else np.nan
    largest = lambda row: np.nanmax(row) if np.isfinite(row).any() else np.nan
    return [
        ["line", "ratio, median", "fails", "share of slack, median", "largest share"],
        *(
            [
                name,
                number(middle(ratios[~fails])),
                f"{fails.sum()} of {len(fails)}" if fails.any() else "",
                number(middle(shares)),
                number(largest(shares)),
            ]
            for name, ratios, fails, shares in zip(
                data["line"].tolist(), data["ratios"], data["fails"], data["shares"]
            )
        ),
    ]


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    """Return the text on what is plotted and on the instances that were drawn."""
    return (
        f"{data['ratios'].shape[1]} instances drawn inside the hypotheses, by their seeds. Left: of the slack of the "
        "claim itself, right less left, the share that each line adds which bounds the same quantity: quartiles "
        "(bar), median (tick) and the largest (ring). Right: of what a line allows beyond what both sides carry, the "
        "share that is needed, so that losses and distances on both sides count as nothing; a dot for each "
        "instance, a tick at the median; a red cross where the line fails at that many instances."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    """Return the text on where most slack enters, and which lines fail."""
    middle = np.array([np.nanmedian(r) if np.isfinite(r).any() else -1 for r in data["shares"]])
    first = int(np.argmax(middle))
    low, high = np.nanquantile(data["shares"][first], (0.25, 0.75))
    fails = data["fails"].sum(axis=1)
    count = data["fails"].shape[1]
    wrong = [f"{data['line'][n]} (at {fails[n]} of {count})" for n in np.flatnonzero(fails)]
    return (
        f"Most slack enters at {data['line'][first]}: {_caption.number_text(middle[first])} of all in the median, "
        f"quartiles {_caption.number_text(low)} and {_caption.number_text(high)}. "
        + (f"Lines that fail: {_caption.join_words(wrong)}." if wrong else "No line fails.")
    )
