"""The parts of the page besides text: pictures with captions and alternative texts, rows of papers,
graphs of proofs.

A page is one file without references to other files: pictures are deflated and stored in it, and
its own script inflates them. All text from a ledger is escaped, because a ledger may come from
anybody.
"""

import base64
import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from html import escape
from typing import Any, NamedTuple

from markupsafe import Markup

from fedtheory.app import ledger
from fedtheory.errors import InvalidInput

EXPERIMENTS = ("finding",)  # kinds of claims about experiments; all others are mathematics
FINDINGS = ("reproduced", "not reproduced", "no power", "inconclusive", "not judged")
LARGEST = 2**24  # bytes of one picture


# ---------------------------------------------------------------- pictures


class Picture(NamedTuple):
    """A figure as the page shows the figure."""

    content: bytes  # SVG
    title: str  # the alternative text, and the head of the caption
    caption: str = ""  # the figure's text, in Markdown with mathematics between dollars

    @property
    def packed(self) -> str:
        """Return the SVG, deflated and in base64. A script of the page inflates the SVG when a
        reader looks at the figure."""
        return base64.b64encode(zlib.compress(self.content, 9)).decode()


def figure_pictures(files: Mapping[str, bytes]) -> dict[str, Picture]:
    """Return {name: Picture} of the figures among a package's files.

    Titles come from figures/figures.json; a figure that the index lacks is titled by its name.
    """
    try:
        rows = ledger.parse_json(files.get("figures/figures.json", b"[]"), "figures.json")
        titles = {str(row["figure"]): f"{row['cites']}: {row['title']}" for row in rows}
    except (InvalidInput, KeyError, TypeError):
        titles = {}
    found = {}
    for name, content in sorted(files.items()):
        if name.startswith("figures/") and name.endswith(".svg") and name.count("/") == 1:
            figure = name[len("figures/") : -len(".svg")]
            caption = files.get(f"figures/{figure}.md", b"").decode(errors="replace")
            found[figure] = Picture(content, titles.get(figure, figure), caption)
    return found


SMALL = 2**19  # a page of at most this many bytes is left as it is
PART = re.compile(r"<!--\[-->(.*?)<!--\]-->", re.DOTALL)


def pack_page(page: str) -> str:
    """Return a page; in a large page, the parts that stay hidden until a reader opens a claim are
    deflated and stored in one place. The page's script inflates the parts, so that a browser reads
    a tenth of the bytes."""
    if len(page) <= SMALL:
        return PART.sub(r"\1", page)
    parts = PART.findall(page)
    count = iter(range(len(parts)))
    page = PART.sub(lambda _: f'<span data-part="{next(count)}"></span>', page)
    content = zlib.compress(json.dumps(parts, ensure_ascii=False).encode(), 9)
    blob = f'<div id="parts" hidden data-packed="{base64.b64encode(content).decode()}"></div>\n'
    return page.replace("<script>", f"{blob}<script>", 1)


PACKED = re.compile(rb'data-packed="([A-Za-z0-9+/=]*)"')


def unpack_page(page: bytes) -> bytes:
    """Return a page with its deflated parts inflated again, so that pages from machines with
    different deflate implementations compare equal."""

    def spread(match: re.Match) -> bytes:
        try:
            opened = zlib.decompressobj()
            content = opened.decompress(base64.b64decode(match[1]), LARGEST)
            return match[0] if not opened.eof or opened.unused_data else content
        except (ValueError, zlib.error):
            return match[0]

    return PACKED.sub(spread, page)


# ---------------------------------------------------------------- words


def breakable_id(name: str) -> Markup:
    """Return an id as HTML that may break between its words, but not inside a word."""
    return Markup(re.sub(r"([._])", r"\1<wbr>", escape(name)))


def render_caption(text: str, typeset: Callable[..., Any]) -> Markup:
    """Return a Markdown caption as HTML. Bold, escapes and mathematics are supported."""
    parts = []
    for n, part in enumerate(text.strip().split("$")):
        if n % 2:
            parts.append(str(typeset(part)))
            continue
        plain = escape(part)
        plain = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", plain)
        parts.append(re.sub(r"\\([\\`*_\[\]|])|\\(&[lg]t;)", r"\1\2", plain))
    return Markup("".join(parts).replace("\n\n", "<br>"))


# ---------------------------------------------------------------- tables


def entry_section(entry: Mapping[str, str | list[str]]) -> str:
    """Return "experiments" for a finding, "mathematics" for every other kind of claim."""
    return "experiments" if entry["kind"] in EXPERIMENTS else "mathematics"


def overview_rows(book: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Return for each paper (id, facts of the paper or None, {status: number} of its mathematical
    claims, {verdict: number} of its findings, number of findings that no figure has judged)."""
    found = []
    for name in dict.fromkeys(entry["paper"] for entry in book["claims"]):
        mine = [entry for entry in book["claims"] if entry["paper"] == name]
        statuses = Counter(
            e["verdict"]["status"] for e in mine if entry_section(e) == "mathematics"
        )
        findings = [e["finding"] for e in mine if entry_section(e) == "experiments"]
        said = Counter(f["verdict"] for f in findings if f)
        found.append((name, book["papers"].get(name), statuses, said, findings.count(None)))
    return found


# ---------------------------------------------------------------- graphs of proofs

WIDE, HIGH, GAP, LINE = 190, 30, 34, 12


def proof_picture(proof: Mapping[str, Any]) -> Markup | None:
    """Draw the graph of a proof as a small SVG, each line above the lines from which it follows.
    Return None where the proof has too many lines to read.

    A premise stands one level below the lowest line that follows from it; cycles end at the number of lines. A proof of more than 24 lines is not drawn.
    """
    edges = [e for e in proof["edges"] if e["premises"]]
    names = list(dict.fromkeys(n for e in edges for n in (e["line"], *e["premises"])))
    if not edges or len(names) > 24:
        return None
    depth = dict.fromkeys(names, 0)
    for _ in names:
        for e in edges:
            for premise in e["premises"]:
                depth[premise] = max(depth[premise], min(depth[e["line"]] + 1, len(names)))
    levels = [[n for n in names if depth[n] == level] for level in sorted({*depth.values()})]
    wide = max(map(len, levels)) * (WIDE + LINE) + LINE
    place = {
        name: (wide * (2 * n + 1) / (2 * len(level)), GAP + row * (HIGH + GAP))
        for row, level in enumerate(levels)
        for n, name in enumerate(level)
    }
    status = {e["line"]: e["status"] for e in edges}
    parts = []
    for e in edges:
        for premise in e["premises"]:
            (x, y), (u, v) = place[e["line"]], place[premise]
            parts.append(f'<path d="M{u:.0f} {v - HIGH / 2:.0f}L{x:.0f} {y + HIGH / 2:.0f}"/>')
    for name, (x, y) in place.items():
        shown = name if len(name) <= 28 else f"{name[:12]}…{name[-14:]}"
        kind = "textbook" if name.startswith("textbook.") else status.get(name, "given")
        parts.append(
            f'<g class="{escape(kind)}"><rect x="{x - WIDE / 2:.0f}" y="{y - HIGH / 2:.0f}" width="{WIDE}" '
            f'height="{HIGH}" rx="5"/><text x="{x:.0f}" y="{y + 4:.0f}">{escape(shown)}</text></g>'
        )
    tall = GAP + len(levels) * (HIGH + GAP) - GAP / 2
    says = f"Graph of the proof: {len(names)} lines, {len(edges)} steps; each line stands above those from which it follows."
    return Markup(
        f'<svg class="graph" role="img" aria-label="{escape(says)}" viewBox="0 0 {wide:.0f} {tall:.0f}" '
        f'style="max-width:{wide:.0f}px">{"".join(parts)}</svg>'
    )
