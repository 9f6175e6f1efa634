"""Code that the figures of proof graphs share: a proof's lines in layers, the status and the slack
of each line, and the steps from line to line."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates.check_proof import Refused
from fedtheory.figures import _caption, _style
from fedtheory.proofs.textbook import facts
from fedtheory.verdicts import pipeline, proof_graph
from fedtheory.verdicts.case import Case
from fedtheory.verdicts.decision import decide_line
from fedtheory.verdicts.replaying import RECORDED
from fedtheory.verdicts.status import HOLDS, VIOLATED
from fedtheory.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from fedtheory.language.claim import Claim
    from fedtheory.verdicts.verdict import Verdict

BUDGET = dict(smoke=0.02, quick=1.0, paper=10.0)  # seconds of a core, for each claim
LONGEST = 46  # letters of a place: what fits beside the marks
BROKEN = Path(__file__).with_name("_broken.json")  # claim -> documents of its violated lines
COLOURS = dict(_style.STATUS, textbook=_style.RULE)
WORDS = dict(
    proved="proved",
    holds="holds by search",
    violated="violated",
    vacuous="says nothing",
    undecided="undecided",
    textbook="textbook fact",
)


def graph_arrays(
    ids: Sequence[str], scale: str, progress: Callable[..., Any]
) -> dict[str, np.ndarray]:
    """Compute the joint graph of several claims: nodes with place, status, layer and ratio, and
    edges."""
    nodes, edges, verdicts = {}, [], {}

    def own(claim: "Claim", led: bool) -> list[str]:
        if claim.id not in verdicts:
            verdicts[claim.id] = known_verdict(claim, scale, led)
            progress(len(verdicts), len(verdicts) + 1)
        return verdicts[claim.id] and proof_graph.line_statuses(verdicts[claim.id], claim)

    graph_of = {id: proof_graph.build_graph(discover.claim(id), own, verdicts) for id in ids}
    for found in graph_of.values():
        nodes.update({n: node for n, node in found.nodes.items() if n not in nodes})
    for node in nodes.values():
        if node.edge:
            edges += [(one, node.name, node.edge.status) for one in node.edge.premises]
    names = list(nodes)
    depth = graph_layers(names, edges)
    at = {name: n for n, name in enumerate(names)}
    status = ["textbook" if facts.is_textbook_name(name) else nodes[name].status for name in names]
    return dict(
        name=np.array(names),
        place=np.array(line_places(nodes)),
        status=np.array(status),
        layer=np.array([depth[name] for name in names]),
        ratio=np.array([largest_share(nodes[name]) for name in names]),
        start=np.array([at[one] for one, _, _ in edges], dtype=int),
        end=np.array([at[other] for _, other, _ in edges], dtype=int),
        step=np.array([how for *_, how in edges]),
        says=np.array([str(found) for found in graph_of.values()]),
    )


def known_verdict(claim: "Claim", scale: str, led: bool) -> "Verdict | None":
    """Return a claim's own verdict: from the saved document for a known violation, otherwise by
    search, and also by algebra for a line to which no proved step leads. An order claim takes
    longer than all other lines together and is skipped in a smoke test (None)."""
    if broken := violated_places(claim):
        share = BUDGET[scale] / len(claim.lines)
        each = lambda n: FAILS if n in broken else decide_line(Case.of(claim, share, 0, line=n))
        lines = [each(n) for n in range(len(claim.lines))]
        return Verdict(claim.id, VIOLATED, "", lines=lines)
    if claim.kind == "order" and scale == "smoke":
        return None
    return pipeline.as_meant(claim, BUDGET[scale], 0, proofs=not led)


@cache
def known_violations() -> dict[str, list[dict[str, Any]]]:
    """Return {claim: documents of its violated lines} from the saved file; {} where the file is
    missing."""
    return json.loads(BROKEN.read_text()) if BROKEN.is_file() else {}


FAILS = Verdict("", VIOLATED, "")


def violated_places(claim: "Claim") -> set[int]:
    """Return the numbers of the lines that saved documents, when replayed, show to be violated in
    the claim as recorded."""
    found = set()
    for document in known_violations().get(claim.id, ()):
        try:
            shown = ft.replay(document)
        except Refused:
            continue
        if shown["status"] == "violated" and shown["about"] == RECORDED:
            found.add(document["line"])
    return found


def graph_layers(names: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> dict[str, int]:
    """Return {node: length of the longest path from the node to a claim}."""
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for one, other, _ in edges:
            depth[one] = max(depth[one], depth[other] + 1)
    return depth


def largest_share(node: proof_graph.Node) -> float:
    """Return the largest share of its bound that a line was found to need; NaN where no search was
    made."""
    return np.nan if node.needs is None else node.needs


def line_places(nodes: Mapping[str, proof_graph.Node]) -> list[str]:
    """Return a short place for each line; lines of several claims at one place are told apart by
    the parts of their ids that differ."""
    short = [shorten_place(node.place) for node in nodes.values()]
    claims = [name.rpartition("/")[0] for name in nodes]
    found = []
    for where, claim in zip(short, claims):
        alike = [other for other, there in zip(claims, short) if there == where]
        words = [set(other.split("_")) for other in alike]
        own = [w for w in claim.split("_") if not all(w in other for other in words)]
        found.append(f"{where} ({' '.join(own)})" if own else where)
    return found


WORDY = (
    ("proof of ", ""),
    (", line ", " l."),
    ("appendix ", ""),
    (", by the steps of SCAFFOLD's D.2", ", constants"),
    (", with the constants of SCAFFOLD's E", ", constants"),
    (", of the mean over rounds", ", mean"),
    (", with the constants of", ", constants of"),
)


def shorten_place(place: str) -> str:
    """Shorten a place to the text beside its mark, without cutting off the line number."""
    for long, short in WORDY:
        place = place.replace(long, short)
    where, mark, line = place.partition(" l.")
    where = where if len(where) <= LONGEST else where[: LONGEST - 2] + "..."
    return typeset_place(where) + mark + line


LETTERS = (
    ("eta~", r"$\tilde\eta$"),
    ("eta_s", r"$\eta_s$"),
    ("beta", r"$\beta$"),
    ("mu", r"$\mu$"),
    ("<=", r"$\leq$"),
    (">=", r"$\geq$"),
)


def typeset_place(where: str) -> str:
    """Return a place with its formulas as LaTeX mathematics."""
    for plain, letter in LETTERS:
        where = re.sub(rf"(?<!\w){re.escape(plain)}(?!\w)", lambda _: letter, where)
    where = re.sub(r"\^(\d)", r"$^\1$", where)
    return re.sub(r"\b([A-Z]_\d)\b", r"$\1$", where)


LIGHT, HEAVY = 0.4, 1.5  # widths of a step to a line whose bound is not needed, and to a tight one
BEYOND = 1.25  # where what fails is drawn, however far above 1 it is
STEPS = dict(
    proved=dict(color=_style.INK, linewidth=0.6),
    undecided=dict(color=_style.OPEN, linewidth=0.6, linestyle=(0, (3, 2))),
    refused=dict(color=_style.DIFFER, linewidth=0.8, linestyle=(0, (1, 1.2))),
)
MARKERS = dict(proved="o", holds="o", violated="X", vacuous="s", undecided="D", textbook="|")


def draw_figure(figure: "Figure", data: Mapping[str, np.ndarray]) -> None:
    """Draw the steps on the left, with an arc from each premise to its consequence whose weight is
    the share needed of the consequence's bound, and with the slack as a number. Draw the same share
    line by line on the right."""
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(2.6, 1))
    shown = [n for n, name in enumerate(data["name"]) if name != f"{facts.PREFIX}definition"]
    row = {n: y for y, n in enumerate(shown)}
    bend, words = np.linspace(0, np.pi, 40), dict(fontsize=_style.SMALL, annotation_clip=False)
    for start, end, step in zip(data["start"], data["end"], data["step"].tolist()):
        if start in row and end in row:
            middle, half = (row[start] + row[end]) / 2, (row[start] - row[end]) / 2
            wide = abs(half) ** 0.6 / len(shown) ** 0.6
            x, y = -wide * np.sin(bend), middle - half * np.cos(bend)
            left.plot(x, y, **step_look(step, data["ratio"][end]), zorder=1)
    for n in shown:
        status = data["status"][n].item()
        look = dict(color=COLOURS[status], marker=MARKERS[status], linestyle="", markersize=4.5)
        hollow = dict(markerfacecolor="white") if status == HOLDS else {}
        left.plot(0, row[n], **look, **hollow, zorder=2)
        left.annotate(
            data["place"][n].item(),
            (0, row[n]),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=_style.SMALL,
            color=_style.DIFFER if status == "violated" else _style.INK,
        )
        if not np.isnan(data["ratio"][n]):
            right.plot(min(data["ratio"][n], BEYOND), row[n], **look, **hollow)
        if n in data["end"] and data["ratio"][n] <= 1:
            left.annotate(
                f"{1 - data['ratio'][n]:.2f}", (0.75, row[n]), ha="right", va="center", **words
            )
    left.set(xlim=(-0.75, 0.75), ylim=(len(shown) - 0.4, -0.6), title="what follows from what")
    left.set_title("slack of the step", loc="right")
    right.axvline(1, color=_style.INK, linewidth=0.6, linestyle="--")
    right.set(
        xlim=(-0.03, 1.33),
        xlabel="largest share of the bound needed",
        title="how tight each line is",
    )
    right.set_xticks([0, 0.5, 1, BEYOND], ["0", "0.5", "1", "fails"])
    right.grid(axis="y", color=_style.PALE, linewidth=0.5)
    right.set_axisbelow(True)
    left.set_xticks([])
    left.set_yticks([])
    left.spines[["left", "bottom"]].set_visible(False)
    right.tick_params(axis="y", length=0, labelleft=False)
    _draw_legend(figure, data, {data["status"][n].item() for n in shown})


def step_look(step: str, needs: float) -> dict[str, float | str]:
    """Return the look of a step: heavy where much of the bound of its conclusion is needed, light
    where the bound has slack."""
    look = STEPS[step]
    return look if not needs <= 1 else dict(look, linewidth=LIGHT + (HEAVY - LIGHT) * needs)


def _draw_legend(figure: "Figure", data: Mapping[str, np.ndarray], present: Any) -> None:
    """Draw the legend of the marks that occur and of the kinds of steps."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [],
            [],
            color=COLOURS[status],
            marker=MARKERS[status],
            linestyle="",
            markersize=4.5,
            label=words,
            **(dict(markerfacecolor="white") if status == HOLDS else {}),
        )
        for status, words in WORDS.items()
        if status in present
    ]
    words = dict(
        proved="a proved step, heavy if tight",
        undecided="not shown to follow",
        refused="a premise assumes more",
    )
    handles += [
        Line2D([], [], label=words[step], **look)
        for step, look in STEPS.items()
        if step in data["step"].tolist()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4)


def table_rows(data: Mapping[str, np.ndarray]) -> list[list[str]]:
    """Return a table row for each line: its status, and the premises that it is stated to follow
    from."""
    names, found = data["name"].tolist(), []
    for n, name in enumerate(names):
        into = [k for k, end in enumerate(data["end"].tolist()) if end == n]
        said = data["step"][into[0]].item() if into else ""
        ratio = data["ratio"][n].item()
        found.append(
            [
                name,
                data["status"][n].item(),
                said,
                ", ".join(names[data["start"][k]] for k in into),
                "" if np.isnan(ratio) else f"{ratio:.4g}",
                f"{1 - ratio:.4g}" if into and ratio <= 1 else "",
            ]
        )
    return [["line", "what it is", "step", "from", "largest ratio", "slack"], *found]


def write_caption(data: Mapping[str, np.ndarray]) -> str:
    """Return the text on what is plotted."""
    return (
        "Left: each line of the proof with an arc from each of its premises; the number is the slack of the step, "
        "1 less the largest share of the bound that a search found to be needed. Right: that share, line by line; "
        "red crosses are lines that a document shows to be violated."
    )


def describe_result(data: Mapping[str, np.ndarray]) -> str:
    """Return the text on how many lines have each status, and which lines are violated."""
    status, step = data["status"].tolist(), data["step"].tolist()
    counts = [f"{status.count(s)} {words}" for s, words in WORDS.items() if s in status]
    steps = [f"{step.count(s)} {s}" for s in STEPS if s in step]
    wrong = [place for place, s in zip(data["place"].tolist(), status) if s == "violated"]
    return (
        f"Of {len(status)} lines: {', '.join(counts)}; premises of steps: {', '.join(steps) or 'none'}. "
        + (f"Violated: {_caption.join_words(wrong, 12)}." if wrong else "None is violated.")
    )
