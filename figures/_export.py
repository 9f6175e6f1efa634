"""The files of a figure, made from its saved arrays: PDF, SVG and PNG pictures, the rows as CSV,
TeX and text, and the findings.

The same arrays give the same bytes: no dates, fixed identifiers, sorted keys.
"""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedtheory import discover
from fedtheory.certificates import alone
from fedtheory.errors import refuse
from fedtheory.figures import _caption, _findings, _slim, _style
from fedtheory.store import outputs, source_hash
from fedtheory.store.files import file_lock as locked

METADATA = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": "fedtheory", "Producer": None},
    "svg": {"Date": None, "Creator": "fedtheory"},
    "png": {"Software": None},
}
STRICT = dict(ensure_ascii=False, allow_nan=False)  # of JSON


class DrawnFigure(NamedTuple):
    """The files and findings that are made from a figure's arrays."""

    key: str  # a hash of all that defines it
    files: dict[str, Any]  # name -> bytes, or hash of what is there already
    findings: dict[str, Any]  # claim -> [verdict, sentence]


def export_figure(
    name: str, record: Any, data: Mapping[str, np.ndarray], scale: str, out: Path
) -> dict[str, list[str]]:
    """Write every file of a figure that is missing or differs, and return the figure's findings."""
    made = find_drawn(name, data, scale, out) or draw_files(name, record, data, scale)
    keep_drawn(name, record, made, scale, out)
    return made.findings


def find_drawn(name: str, data: Mapping[str, np.ndarray], scale: str, out: Path) -> Any:
    """Return the files that were drawn earlier from the same arrays, if no file has changed since;
    None otherwise."""
    last = _read_json(_stamp_path(name, out), {})
    if last.get("key") != _digest_of_figure(name, data, scale):
        return None
    same = all(_file_hash(out / file) == content for file, content in last["files"].items())
    return DrawnFigure(**last) if same else None


def draw_files(name: str, record: Any, data: Mapping[str, np.ndarray], scale: str) -> DrawnFigure:
    """Draw pictures and tables and judge findings in memory, without writing a file, so that a
    worker process can do the drawing."""
    judged = _judge_findings(name, record, data)
    found = draw_pictures(record, data, judged)
    texts = table_files(record, record.rows(data)) if record.rows else {}
    texts |= _caption.caption_files(name, record, data, judged)
    found |= {suffix: text.encode() for suffix, text in texts.items()}
    files = {f"{name}.{suffix}": content for suffix, content in found.items()}
    return DrawnFigure(_digest_of_figure(name, data, scale), files, judged)


def keep_drawn(name: str, record: Any, made: DrawnFigure, scale: str, out: Path) -> list[Any]:
    """Write the files of a figure, and merge its findings and claims into the two files of all
    figures. Return sentences on where files that no command of this package wrote were moved to."""
    files = {file: content for file, content in made.files.items() if isinstance(content, bytes)}
    hashes = dict(made.files) | {
        file: outputs.content_digest(content) for file, content in files.items()
    }
    stamp = json.dumps(made._replace(files=hashes)._asdict(), indent=1, **STRICT) + "\n"
    files[_stamp_path(name, out).relative_to(out).as_posix()] = stamp.encode()
    found = [(claim, name, scale, *said) for claim, said in made.findings.items()]
    claims = sorted({*record.shows, *made.findings})
    row = (name, record.title, record.cites, scale, claims)
    folder = outputs.Folder(out)
    with locked(out / outputs.LOG):  # two commands may be at work on one folder
        files["findings.json"] = merge_entries(out / "findings.json", ENTRY, name, found)
        files["figures.json"] = merge_entries(out / "figures.json", INDEX, name, [row])
        return folder.write_over(files)


def _stamp_path(name: str, out: Path) -> Path:
    return out / "data" / f"{name}.drawn.json"


def _judge_findings(name: str, record: Any, data: Mapping[str, np.ndarray]) -> dict[str, list[str]]:
    found = {
        claim: list(finding)
        for claim, finding in (record.findings(data) if record.findings else {}).items()
    }
    for claim, finding in found.items():
        if len(finding) != 2 or finding[0] not in _findings.VERDICTS:
            refuse(
                f"{name}: the verdict of {claim}",
                f"must be one of {', '.join(_findings.VERDICTS)}",
                finding,
            )
    if record.findings and (missing := sorted(_sentences_by_figure().get(name, set()) - {*found})):
        refuse(f"{name}: findings", "must judge every sentence that names the figure", missing)
    return found


@cache
def _sentences_by_figure() -> dict[str, set[str]]:
    """Return {figure: ids of the finding claims that the figure is to judge}."""
    named = {}
    for claim in discover.claims():
        if claim.kind == "finding":
            named.setdefault(claim.figure, set()).add(claim.id)
    return named


def _digest_of_figure(name: str, data: Mapping[str, np.ndarray], scale: str) -> str:
    """Return a hash of everything that defines a figure's files: its arrays, the code that draws,
    and the Matplotlib version."""
    import matplotlib

    total = hashlib.sha256(f"{name}\0{scale}\0{matplotlib.__version__}".encode())
    for label, array in sorted(data.items()):
        total.update(
            f"\0{label}{array.dtype}{array.shape}\0".encode()
            + np.ascontiguousarray(array).tobytes()
        )
    total.update(
        source_hash.digest_of_reach(
            [f"fedtheory.figures.{name}", "fedtheory.figures._export"]
        ).encode()
    )
    return total.hexdigest()


def _file_hash(file: Path) -> Any:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else None


def _read_json(
    file: Path, otherwise: Mapping[str, Any] | Sequence[Any]
) -> dict[str, Any] | list[dict[str, str]]:
    """Return the content of a JSON file of this package; return `otherwise` where the file is
    absent, truncated or of another type."""
    try:
        found = json.loads(Path(file).read_text())
    except (OSError, ValueError):
        return otherwise
    return found if isinstance(found, type(otherwise)) else otherwise


def draw_pictures(
    record: Any,
    data: Mapping[str, np.ndarray],
    judged: Mapping[str, list[str]] | Sequence[Any] = (),
) -> dict[str, bytes]:
    """Return {suffix: bytes} of a figure's pictures; refuse a picture that hides points or whose
    marks contradict the findings."""
    import matplotlib
    from matplotlib.figure import Figure

    from fedtheory.figures import _columns

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_style.RC)
        figure = Figure(figsize=record.size, layout="constrained")
        record.draw(figure, data)
        found = _picture_files(record, figure, judged, METADATA)
        if record.stacks:
            narrow = _picture_files(record, _columns.draw_column(record, data), judged, ("pdf",))
            found["column.pdf"] = narrow["pdf"]
    return found


def _picture_files(
    record: Any,
    figure: Any,
    judged: Mapping[str, list[str]] | Sequence[Any],
    suffixes: Mapping[str, dict[str, Any]] | Sequence[str],
) -> dict[str, bytes]:
    """Return {suffix: bytes} of a drawn figure, after a check that the picture hides nothing."""
    from fedtheory.figures import _looks

    found = {}
    figure.draw_without_rendering()
    if wrong := _looks.find_faults(figure, dict(judged)):
        refuse(
            f"{record.cites}: the picture", "must show all that it plots, as it was judged", wrong
        )
    figure.set_layout_engine("none")  # files of one layout
    for suffix in suffixes:
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, metadata=METADATA[suffix])
        found[suffix] = stream.getvalue()
    if "svg" in found:
        found["svg"] = _slim.slim_svg(found["svg"])
    return found


def table_files(record: Any, rows: Sequence[list[str]]) -> dict[str, str]:
    """Return {suffix: text} of the rows as CSV, as LaTeX and as plain text; refuse rows of unequal
    length."""
    rows = [[str(cell) for cell in row] for row in rows]
    if len({len(row) for row in rows}) != 1:
        refuse(f"{record.cites}: rows", "must be equally long", sorted({len(row) for row in rows}))
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(
        [[alone.cell(cell) for cell in row] for row in rows]
    )
    wide = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, wide)).rstrip() for row in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in wide))
    body = [" & ".join(map(_caption.tex_of, row)) + r" \\" for row in rows]
    tex = [
        rf"% {record.cites}: {record.title}",
        rf"\begin{{tabular}}{{l{'r' * (len(wide) - 1)}}}",
        r"\hline",
        body[0],
        r"\hline",
        *body[1:],
        r"\hline",
        r"\end{tabular}",
    ]
    return {"csv": stream.getvalue(), "txt": "\n".join(lines) + "\n", "tex": "\n".join(tex) + "\n"}


ENTRY = ("claim", "figure", "scale", "verdict", "sentence")
INDEX = ("figure", "title", "cites", "scale", "claims")


def read_entries(file: Path, fields: Sequence[str] = ENTRY) -> list[dict[str, str]]:
    """Return the valid entries of a file that all figures share; ignore anything else in the file."""
    return [e for e in _read_json(file, []) if isinstance(e, dict) and set(e) == set(fields)]


def merge_entries(
    file: Path, fields: Sequence[str], name: str, rows: Sequence[tuple[str | list[str], ...]]
) -> bytes:
    """Return the content of a file that all figures share, with this figure's entries replaced by
    the given rows and the other figures' entries unchanged."""
    others = [entry for entry in read_entries(file, fields) if entry["figure"] != name]
    all_ = others + [dict(zip(fields, row)) for row in rows]
    all_.sort(key=lambda entry: (entry["figure"], str(entry.get("claim"))))
    return (json.dumps(all_, indent=1, **STRICT) + "\n").encode()
