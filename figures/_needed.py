"""Code that the tables of printed and meant statements share. Each table lists every statement of a
paper that has lines, its verdict as printed and as meant, the hypotheses that save it where the two
differ, and how much of each constant is needed for the statement to be true.

Nothing is written by hand: verdicts are those of `check`, ranges those of `sharpen`. The arrays
hold the budgets of both in seconds of one core for each claim, and the seed, so that each row can
be asked again.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import discover
from fedtheory.figures import _caption, _parts, _style
from fedtheory.figures._record import Figure
from fedtheory.verdicts import pipeline, sharpening
from fedtheory.verdicts.status import ORDER

if TYPE_CHECKING:
    from matplotlib.axes._axes import Axes

    from fedtheory.language.claim import Claim

SEED = 0
BUDGET = dict(smoke=1.0, quick=1.0, paper=10.0)  # seconds of a core for the verdict of each claim
SHARPENED = dict(smoke=0.2, quick=0.5, paper=10.0)  # and for its constants
RANGES = ("constant", "says", "most", "value", "refuted", "proved")  # of constants, in a row
INEQUALITIES = {"<", "<=", ">", ">="}


def needed_figure(
    paper: str, few: Sequence[str], compute: Callable[..., Any], minutes: float
) -> Figure:
    """Build the Figure of a paper's table; `compute` is defined in the figure's own file, whose
    name identifies the saved arrays."""
    return Figure(
        cites=f"{paper}, all statements with lines",
        title="Printed, meant, and what the truth needs",
        shows=few,
        compute=compute,
        draw=draw_figure,
        rows=table_rows,
        caption=write_caption,
        says=describe_violations,
        width="page",
        minutes=minutes,
        height=3.4,
    )


def needed_arrays(
    papers: Sequence[str], few: Sequence[str], scale: str, progress: Callable[..., Any]
) -> dict[str, np.ndarray]:
    """Compute the table of a paper and its other versions; at smoke scale only for the claims in
    `few`."""
    claims = [c for c in discover.claims() if c.paper in papers and c.lines]
    asked = [c for c in claims if c.id in few or scale != "smoke"]
    found = []
    for done, claim in enumerate(asked):
        progress(done, len(asked))
        found.append(_parts.compute_part(needed_row, claim.id, BUDGET[scale], SHARPENED[scale]))
    column = lambda name: np.array([each[name].item() for each in found])
    joined = lambda name: np.concatenate([each[name] for each in found])
    return dict(
        claim=np.array([c.id for c in asked]),
        place=np.array([c.cites.partition(", ")[2] or c.cites for c in asked]),
        **{name: column(name) for name in ("printed", "meant", "saved")},
        of=np.repeat(np.arange(len(found)), [len(each["constant"]) for each in found]),
        **{name: joined(name) for name in RANGES},
        budget=np.array([BUDGET[scale], SHARPENED[scale]]),
        seed=np.array(SEED),
        claims=np.array(len(claims)),
    )


def needed_row(id: str, budget: float, sharpened: float) -> dict[str, np.ndarray | str]:
    """Return a claim's verdicts as printed and as meant, and what is known of each of its
    constants."""
    claim, number = discover.claim(id), lambda value: np.nan if value is None else float(value)
    verdict = pipeline.decide_readings(claim, budget, SEED)
    violated = verdict.status in ("violated", "vacuous")  # whose constants are not enough
    parts = [] if violated else known_constants(claim, sharpened)
    return dict(
        printed=verdict.printed.status,
        meant=verdict.status,
        saved="; ".join(map(plain_hypothesis, verdict.saved_by)),
        constant=np.array([part.name for part in parts], dtype=str),
        says=np.array([part.says for part in parts], dtype=str),
        most=np.array([part.most for part in parts], dtype=bool),
        value=np.array([number(part.printed) for part in parts]),
        refuted=np.array([number(part.refuted) for part in parts]),
        proved=np.array([number(part.proved) for part in parts]),
    )


def known_constants(claim: "Claim", budget: float) -> list[sharpening.Sharpened]:
    """Find what is known of each numeric constant in a claim's inequalities; [] for a claim without
    inequalities."""
    if not any(sign in INEQUALITIES for _, sign, _ in claim.lines):
        return []
    constants = lambda part: part.kind == "constant"
    return sharpening.sharpen(claim, budget, SEED, only=constants).parts


def plain_hypothesis(hypothesis: str) -> str:
    """Return a hypothesis without the remark `not stated`, since the column lists only hypotheses
    that are not stated."""
    return re.sub(r",? not stated(?=\]$)", "", hypothesis)


HEADER = ["claim", "where", "as printed", "as meant", "constant", "needed", "saved by"]


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    """Return a table row for each claim, with a further row for each constant beyond the first. The
    last row has the budgets."""
    found = []
    for n, claim in enumerate(data["claim"].tolist()):
        place, printed, meant, saved = (
            data[name][n].item() for name in ("place", "printed", "meant", "saved")
        )
        (first, *others) = [
            [data["constant"][at].item(), data["says"][at].item()]
            for at in np.flatnonzero(data["of"] == n)
        ] or [["", ""]]
        found.append([claim, place, printed, meant, *first, saved])
        found += [["", "", "", "", *each, ""] for each in others]
    check, sharpen = (f"{seconds:g} s" for seconds in data["budget"])
    of = f"{len(data['claim'])} of {data['claims']} claims"
    budgets = [of, "budgets", check, check, f"seed {data['seed']}", f"{sharpen} a claim", ""]
    return [HEADER, *found, budgets]


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    """Draw on the left how many claims have each verdict as printed and as meant, on the right how
    much of each constant is needed."""
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.35))
    _draw_matrix(left, data)
    _draw_shares(right, data)
    check, sharpen = data["budget"]
    figure.supxlabel(
        f"{len(data['claim'])} of {data['claims']} claims with lines; budgets of {check:g} s for "
        f"each verdict and {sharpen:g} s for the constants of each claim, seed {data['seed']}",
        fontsize=_style.SMALL,
        color=_style.OPEN,
    )


def _draw_matrix(ax: "Axes", data: Mapping[str, np.ndarray]) -> None:
    words = list(reversed(ORDER))
    for x, printed in enumerate(words):
        for y, meant in enumerate(words):
            count = int(np.sum((data["printed"] == printed) & (data["meant"] == meant)))
            ax.text(
                x,
                y,
                count or "·",
                ha="center",
                va="center",
                fontsize=_style.NORMAL if count else _style.SMALL,
                color=_style.STATUS[printed] if count else _style.RULE,
                weight="bold" if printed != meant and count else "normal",
            )
    ax.set(
        xlim=(-0.5, 4.5),
        ylim=(4.5, -0.5),
        xticks=range(5),
        yticks=range(5),
        xticklabels=words,
        yticklabels=words,
        xlabel="as printed",
        ylabel="as meant",
        title="claims",
    )
    ax.tick_params(length=0)
    ax.tick_params(axis="x", rotation=30)


def _draw_shares(ax: "Axes", data: Mapping[str, np.ndarray]) -> None:
    """Draw, for each constant that has to be large, the share of the constant that is refuted and,
    where algebra shows one, the share with which the line is proved; sorted by the refuted share.
    """
    raising = ~data["most"] & (np.isfinite(data["refuted"]) | np.isfinite(data["proved"]))
    low, high = (data[name][raising] / data["value"][raising] for name in ("refuted", "proved"))
    order = np.argsort(-np.nan_to_num(low), kind="stable")
    low, high, y = low[order], high[order], np.arange(raising.sum())
    ends = np.nan_to_num(low), np.where(np.isnan(high), np.fmax(1.0, low), high)
    ax.hlines(y, *ends, color=_style.RULE, linewidth=0.7)
    ax.plot(low, y, "o", color=_style.DIFFER, markersize=2.4, label="too small: refuted")
    ax.plot(high, y, "|", color=_style.AGREE, markersize=4.5, label="enough: proved")
    ax.axvline(1, color=_style.INK, linewidth=0.6, linestyle="--")
    ax.set(
        xlim=(-0.03, 1.05 * max(1.0, *ends[1]) if len(y) else 1.05),
        ylim=(max(1, len(y)) - 0.5, -0.5),
        yticks=[],
        xlabel="share of the printed constant",
        title=f"what is needed of {len(y)} of {len(raising)} constants",
    )
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, handlelength=1.0)


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    """Return the text on what is plotted, with the budgets."""
    check, sharpen = data["budget"]
    return (
        f"{len(data['claim'])} of {data['claims']} statements with lines. Left: how many are what, as printed and as "
        "meant. Right: of each constant that has to be large the share that is refuted (red dot: too small) and, "
        "where algebra says it, the share that is enough (blue tick). Budgets: "
        f"{check:g} s of a core for each verdict, {sharpen:g} s for the constants of a claim, seed {data['seed']}."
    )


def describe_violations(data: Mapping[str, np.ndarray]) -> str:
    """Return the text on how many statements are violated as printed and as meant, and which are
    saved by hypotheses that only the proofs use."""
    printed, meant = data["printed"] == "violated", data["meant"] == "violated"
    saved = data["claim"][printed & ~meant].tolist()
    return (
        f"Violated as printed: {printed.sum()}; as meant: {meant.sum()}. "
        f"Saved by what their proofs use and the text does not say: {_caption.join_words(saved, 8)}."
    )
