"""The slack of every line of six proofs in one picture: lines from left to right in the order of
the proof, drawn instances from top to bottom. The shade is the needed share of what a line allows;
red marks a line that fails.

The share is free of what both sides carry, as in the figures of one proof.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fedtheory.figures import _caption, _slack, _style
from fedtheory.figures._record import Figure

PROOFS = {
    "fsl.theorem1": "FSL, theorem 1",
    "mixed.stepB1_convex": "mixed FL, theorem B.1, convex",
    "mixed.stepB2_convex": "mixed FL, theorem B.2, convex",
    "mixed.theoremB3_convex_mean": "mixed FL, theorem B.3, convex",
    "flex.theorem3_1_printed": "flex, theorem 3.1 as printed",
    "lamb.step_A1": "FED-LAMB, theorem 1, up to $A_1$",
}
INSTANCES = dict(smoke=2, quick=30, paper=100)


def key(id: str, name: str) -> str:
    return f"{id.replace('.', '_')}_{name}"


def compute_arrays(scale: str, progress: Callable[..., Any]) -> dict[str, np.ndarray]:
    data, total = {}, len(PROOFS) * INSTANCES[scale]
    for n, id in enumerate(PROOFS):
        before = n * INSTANCES[scale]
        found = _slack.slack_arrays(
            id, scale, lambda done, _: progress(before + done, total), INSTANCES[scale]
        )
        data |= {key(id, name): found[name] for name in ("line", "ratios", "fails")}
    return data


def measured_lines(
    data: Mapping[str, np.ndarray], id: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (names, ratios, fails) of the lines that were measured at some instance, in the
    proof's order."""
    names, ratios, fails = (data[key(id, name)] for name in ("line", "ratios", "fails"))
    kept = np.isfinite(ratios).any(axis=1) | fails.any(axis=1)
    return names[kept], ratios[kept], fails[kept]


def draw_figure(figure: Any, data: Mapping[str, np.ndarray]) -> None:
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, Normalize, to_rgb

    shades = LinearSegmentedColormap.from_list(
        "share", ["white", _style.algorithm_look("fsl").colour]
    )
    axes = figure.subplots(len(PROOFS), 1)
    for ax, (id, title) in zip(axes, PROOFS.items()):
        _, ratios, fails = measured_lines(data, id)
        shown = shades(np.clip(np.nan_to_num(ratios), 0, 1))[..., :3]
        shown[np.isnan(ratios)] = to_rgb(_style.PALE)
        shown[fails] = to_rgb(_style.DIFFER)
        ax.imshow(shown.transpose(1, 0, 2), aspect="auto", interpolation="nearest")
        wrong = int(fails.any(axis=1).sum())
        ax.set(yticks=[], xlim=(-0.5, len(ratios) - 0.5))
        ax.set_title(
            f"{title}: {len(ratios)} lines" + (f", {wrong} violated" if wrong else ""),
            color=_style.DIFFER if wrong else _style.INK,
        )
        marked = np.flatnonzero(fails.any(axis=1))
        ax.set_xticks(marked, ["×"] * len(marked), color=_style.DIFFER)
        ax.tick_params(length=0)
        ax.spines[:].set(visible=True, color=_style.RULE)
    axes[-1].set_xlabel("lines of the proof")
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), shades), ax=axes, aspect=40, pad=0.01)
    bar.set_label("share of what a line allows that is needed")
    bar.outline.set_linewidth(0.4)


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    count = data[key("fsl.theorem1", "ratios")].shape[1]
    return (
        f"Each strip is a proof, each column a line of it, each row one of {count} instances drawn inside the hypotheses. "
        "Shade: the share of what the line allows beyond what both sides carry that is needed, dark where it is "
        "tight; red, with a × below: the line fails there; grey: it says nothing at that instance."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    told = []
    for id, title in PROOFS.items():
        names, ratios, fails = measured_lines(data, id)
        kept = np.where(fails, np.nan, ratios)
        middle = np.nanmedian(kept[np.isfinite(kept).any(axis=1)])
        wrong = names[fails.any(axis=1)].tolist()
        broken = (
            f", {len(wrong)} violated ({_caption.join_words(wrong, 4)})"
            if wrong
            else ", none violated"
        )
        told.append(
            f"{title}: {_caption.number_text(middle)} of what is allowed is needed in the median{broken}"
        )
    return ". ".join(told) + "."


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    found = [["proof", "line", "median share", "largest", "fails"]]
    for id in PROOFS:
        for name, ratios, fails in zip(*measured_lines(data, id)):
            kept = ratios[np.isfinite(ratios) & ~fails]
            numbers = [f"{np.median(kept):.4g}", f"{kept.max():.4g}"] if len(kept) else ["", ""]
            told = f"{fails.sum()} of {len(fails)}" if fails.any() else ""
            found.append([id, name.item(), *numbers, told])
    return found


FIGURE = Figure(
    cites="all papers, proofs",
    title="The slack of every line of six proofs",
    shows=tuple(PROOFS),
    compute=compute_arrays,
    minutes=0.5,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=4.6,
)
