"""A figure's files, drawn from its saved arrays: PDF, SVG, PNG, the rows as CSV, TeX and text, and the findings.

The same arrays give the same bytes: no dates, fixed identifiers, sorted keys.
"""

import csv
import io
import json
from pathlib import Path

from fedtheory.errors import refuse
from figures import _findings, _style
from figures._store import write

METADATA = {"pdf": {"CreationDate": None, "ModDate": None, "Creator": "fedtheory", "Producer": None},
            "svg": {"Date": None, "Creator": "fedtheory"}, "png": {"Software": None}}


def export(name, record, data, scale, out):
    """Write every file of a figure; returns how many findings have which verdict."""
    for suffix, content in pictures(record, data).items():
        write(out / f"{name}.{suffix}", content)
    if record.rows:
        for suffix, content in tables(record, record.rows(data)).items():
            write(out / f"{name}.{suffix}", content.encode())
    found = record.findings(data) if record.findings else {}
    for claim, finding in found.items():
        if len(finding) != 2 or finding[0] not in _findings.VERDICTS:
            refuse(f"{name}: the verdict of {claim}", f"must be one of {', '.join(_findings.VERDICTS)}", finding)
    merge(out / "findings.json", name, scale, found)
    return {verdict: sum(finding[0] == verdict for finding in found.values()) for verdict in _findings.VERDICTS}


def pictures(record, data):
    """suffix -> bytes."""
    import matplotlib
    from matplotlib.figure import Figure
    found = {}
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_style.RC)
        figure = Figure(figsize=record.size, layout="constrained")
        record.draw(figure, data)
        for suffix, metadata in METADATA.items():
            stream = io.BytesIO()
            figure.savefig(stream, format=suffix, metadata=metadata)
            found[suffix] = stream.getvalue()
    return found


def tables(record, rows):
    """suffix -> text: the rows for a spreadsheet, for LaTeX and for reading."""
    rows = [[str(cell) for cell in row] for row in rows]
    if len({len(row) for row in rows}) != 1:
        refuse(f"{record.cites}: rows", "must be equally long", sorted({len(row) for row in rows}))
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows([[_harmless(cell) for cell in row] for row in rows])
    wide = [max(map(len, column)) for column in zip(*rows)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, wide)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in wide))
    body = [" & ".join(map(_tex, row)) + r" \\" for row in rows]
    tex = [rf"% {record.cites}: {record.title}", rf"\begin{{tabular}}{{l{'r' * (len(wide) - 1)}}}", r"\hline", body[0],
           r"\hline", *body[1:], r"\hline", r"\end{tabular}"]
    return {"csv": stream.getvalue(), "txt": "\n".join(lines) + "\n", "tex": "\n".join(tex) + "\n"}


def _harmless(cell):
    """A spreadsheet takes text that starts with = + - @ for a formula; numbers may."""
    if cell[:1] in tuple("=+-@\t\r"):
        try:
            float(cell)
        except ValueError:
            return "'" + cell
    return cell


TEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
       "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "×": r"$\times$", "≤": r"$\le$",
       "≥": r"$\ge$", "<": "$<$", ">": "$>$", "✓": r"$\surd$", "✗": r"$\times$", "−": "$-$", "≈": r"$\approx$",
       "–": "--", "√": r"$\surd$", "∞": r"$\infty$"}


def _tex(cell):
    """Text as LaTeX prints it; what stands between dollars is mathematics already."""
    parts = cell.split("$")
    if len(parts) % 2 == 0:    # a dollar on its own
        return "".join(TEX.get(c, r"\$" if c == "$" else c) for c in cell)
    return "$".join(part if n % 2 else "".join(TEX.get(c, c) for c in part) for n, part in enumerate(parts))


def merge(file, name, scale, found):
    """Put a figure's findings into the file of all; those of other figures stay."""
    others = []
    if Path(file).is_file():
        try:
            others = [entry for entry in json.loads(Path(file).read_text()) if entry["figure"] != name]
        except (ValueError, TypeError, KeyError):
            others = []    # not ours, or cut short: the figures write it again
    entries = others + [dict(claim=claim, figure=name, scale=scale, verdict=verdict, sentence=sentence)
                        for claim, (verdict, sentence) in found.items()]
    entries.sort(key=lambda entry: (entry["figure"], entry["claim"]))
    write(file, (json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode())
