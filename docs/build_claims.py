"""One page per claim, built from its record when the docs are built; nothing here is committed
twice.

`python docs/build_claims.py FOLDER [PACKAGE]` writes the pages alone. Where a package lies in out/verify,
or is named, each page bears the verdict that the package has on the claim, if it is of the same statement.
"""

import re
import sys
from pathlib import Path

from fedtheory import discover
from fedtheory.app import ledger, package
from fedtheory.app.explain import KINDS, describe_claim
from fedtheory.errors import InvalidInput

PACKAGE = Path(__file__).resolve().parents[1] / "out" / "verify"
HEADINGS = {
    "exact": "Explicit statements",
    "order": "Orders of growth",
    "step": "Lines of proofs",
    "structure": "Structure",
    "finding": "Findings of experiments",
}
SPECIAL = r"[\\`*_{}\[\]<>#|$~^]"  # to Markdown


def titled(paper):
    """A paper's title; a table of somebody's own has none."""
    record = discover.papers().get(paper)
    return escaped(record.title) if record else paper


def escaped(text):
    """Plain text as Markdown that shows it as it is."""
    return re.sub(f"({SPECIAL})", r"\\\1", " ".join(str(text).split()))


def display(latex):
    return f"$$\n{latex}\n$$\n"


def formulas(claim):
    """LaTeX of everything a claim's page shows: [(what, latex)]."""
    found = [("statement", line.latex) for line in claim.lines]
    found += [
        ("regime", rf"{claim.latex(t.symbol)} = \Theta\left({claim.latex(t.shape)}\right)")
        for t in claim.regime
    ]
    found += [
        ("definition", f"{claim.latex(symbol)} = {claim.latex(value)}")
        for symbol, value in claim.definitions.items()
        if "\\frac" not in claim.latex(symbol)
    ]
    found += [
        ("assumption", claim.latex(a.relation)) for a in claim.assumptions if a.relation is not None
    ]
    return found + [("symbol", entry.latex) for entry in claim.symbols.values()]


def found(folder):
    """(what a package's ledger says of each claim by id, the budget and seed of its campaign); nothing
    where there is no ledger that can be read."""
    try:
        book = package.open_ledger((Path(folder) / "ledger.json").read_bytes())
    except (OSError, InvalidInput):
        return {}, ""
    return (
        {entry["id"]: entry for entry in book["claims"]},
        f"a budget of {book['budget']:g} s and seed {book['seed']}",
    )


def verdict(claim, entry, how):
    """The lines of a claim's verdict; none where the entry is of another statement."""
    mine = ledger.claim_statement(claim)
    if any(entry.get(name) != mine[name] for name in ("latex", "statement", "assumptions")):
        return []
    told, printed = entry["verdict"], entry["verdict"]["printed"]
    if entry["finding"]:
        said = entry["finding"]
        head = f"**{escaped(said['verdict'])}** by its figure `{said['figure']}`: {escaped(said['sentence'])}"
    else:
        head = f"**{escaped(told['status'])}** ({escaped(told['kind'])}). {escaped(told['why'])}"
    ratio = told["tightness"]
    out = ["## Verdict", "", head, ""]
    if ratio is not None:
        out += [
            f"Largest ratio of left to right that was found: {escaped(package.ratio_text(ratio))}.",
            "",
        ]
    if printed is not None and printed["status"] != told["status"]:
        out += [f"As printed: **{escaped(printed['status'])}**. {escaped(printed['why'])}", ""]
    return [*out, f"Found with {escaped(how)}; again by `{entry['command']}`.", ""]


def page(claim, entry=None, how=""):
    """The page of a claim, in MyST Markdown, with what a ledger's entry says of it."""
    about, shown = describe_claim(claim), formulas(claim)
    of = lambda what: [latex for kind, latex in shown if kind == what]
    # Orphans: a tree of navigation with every claim in it would make the build ten times slower.
    out = [
        "---",
        "orphan: true",
        "---",
        "",
        f"# {escaped(claim.id)}",
        "",
        f"[{titled(claim.paper)}](of_{claim.paper}.md)",
        "",
        f"**{escaped(claim.where)}**, {KINDS[claim.kind]}.",
        "",
        escaped(about["meaning"]),
        "",
        "## Statement",
        "",
    ]
    out += [display(latex) for latex in of("statement")] or [escaped(claim.says), ""]
    if of("regime"):
        out += ["for steps of the order", "", *map(display, of("regime"))]
    if of("definition"):
        out += ["with", "", *map(display, of("definition"))]
    out += verdict(claim, entry, how) if entry else []
    for title, some in (
        ("Assumptions", [a for a in claim.assumptions if a.stated]),
        (
            "Used by the proof, not stated in the text",
            [a for a in claim.assumptions if not a.stated],
        ),
    ):
        if some:
            out += [f"## {title}", ""]
            for a in some:
                text = (
                    escaped(a.holds.says)
                    if a.condition
                    else rf"$\displaystyle {claim.latex(a.relation)}$"
                )
                place = f" {escaped(f'[{a.where}]')}" if a.where else ""
                out.append(f"- {text}{place}" + (f": {escaped(a.note)}" if a.note else ""))
            out.append("")
    if about["comparisons"]:
        out += ["## Compared", "", *(f"- {escaped(text)}" for text in about["comparisons"]), ""]
    if about["cells"]:
        out += ["## Printed and computed", "", "| | printed | computed |", "| --- | --- | --- |"]
        out += [
            f"| {escaped(name)} | {escaped(printed)} | {escaped('' if computed is None else computed)} |"
            for name, (printed, computed) in about["cells"].items()
        ] + [""]
    if about["symbols"]:
        out += [
            "## Symbols",
            "",
            "| symbol | in code | meaning | range | unit |",
            "| --- | --- | --- | --- | --- |",
        ]
        # a cell ends at a bar
        bars = lambda latex: latex.replace(r"\|", r"\Vert ").replace("|", r"\vert ")
        out += [
            f"| ${bars(row['latex'])}$ | `{name}` | {escaped(row['meaning'])} | {escaped(row['domain'])} | "
            f"{escaped(row['unit'])} |"
            for name, row in about["symbols"].items()
        ]
        out += ["", "Units: x of a point, f of a loss.", ""]
    if about["note"]:
        out += ["## Note", "", escaped(about["note"]), ""]
    more = (
        [f"With its constants: [{escaped(about['explicit'])}]({about['explicit']}.md)"]
        if about["explicit"]
        else []
    )
    more += [
        f"Method `{name}`" + (f": {escaped(text)}" if text else "")
        for name, text in about["algorithms"].items()
    ]
    more += [f"Figure or table `{about['figure']}`"] if about["figure"] else []
    if more:
        out += ["## See", "", *(f"- {text}" for text in more), ""]
    return "\n".join(out)


def index(paper, claims):
    """A paper's page: its claims by kind, with what each means."""
    out = [
        f"# {titled(paper)}",
        "",
        *([escaped(str(discover.papers()[paper])), ""] if paper in discover.papers() else []),
    ]
    for kind, heading in HEADINGS.items():
        some = [c for c in claims if c.kind == kind]
        if some:
            out += [f"## {heading}", ""]
            out += [
                f"- [{escaped(c.id)}]({c.id}.md): {escaped(c.meaning or c.says)}" for c in some
            ] + [""]
    return "\n".join(out)


def keep(folder, pages):
    """Write name -> text or bytes into a folder of pages; those that are no more are taken away."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.suffix in (".md", ".svg") and path.name not in pages:
            path.unlink()
    for name, content in pages.items():
        path, content = folder / name, content.encode() if isinstance(content, str) else content
        if not path.exists() or path.read_bytes() != content:  # unchanged pages are not built again
            path.write_bytes(content)
    return sorted(pages)


def contents(heading, text, names):
    """A page that leads to others."""
    return "\n".join(
        [f"# {heading}", "", text, "", "```{toctree}", ":maxdepth: 1", "", *names, "```", ""]
    )


def write(folder, made=PACKAGE):
    """Every page, and the indices; with the verdicts of a package where there is one."""
    papers, (entries, how) = {}, found(made)
    for claim in discover.claims():
        papers.setdefault(claim.paper, []).append(claim)
    pages = {
        f"{claim.id}.md": page(claim, entries.get(claim.id), how)
        for claims in papers.values()
        for claim in claims
    }
    pages.update({f"of_{paper}.md": index(paper, claims) for paper, claims in papers.items()})
    pages["index.md"] = contents(
        "Claims",
        "Every numbered statement, proof line and finding of five papers: one "
        "record each, from which its page was made.",
        [f"of_{paper}" for paper in papers],
    )
    return keep(folder, pages)


if __name__ == "__main__":
    print(f"{len(write(*sys.argv[1:3]))} pages")
