"""Re-derivation of a package's figures: the files from the arrays and, if requested, the arrays by
computing them again."""

import io
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory import figures
from fedtheory.app import ledger, package
from fedtheory.errors import FedtheoryError
from fedtheory.figures import _export, _store
from fedtheory.store import outputs

MOST = 2**27  # bytes of one figure's arrays
INDICES = ("figures.json", "findings.json")


def draw_again(
    drawn: Mapping[str, bytes], differ: Callable[..., Any], compute: bool = False
) -> tuple[dict[str, bytes], list[str], list[str]]:
    """Draw the figures of a package again from their arrays. Return ({name: bytes} of the new
    files, figures that were drawn, figures that are absent); `drawn` is {name: bytes} of the
    package, and `differ` is called with each difference."""
    with tempfile.TemporaryDirectory(prefix="fedtheory-figures-") as folder:
        out, made, failed = Path(folder), [], []
        for name, scale in _known_index(drawn, differ):
            (made if _make_figure(name, scale, drawn, out, differ, compute) else failed).append(
                name
            )
        mine = {
            name: content
            for name, content in package.folder_contents(out)[0].items()
            if Path(name).name != outputs.LOG
        }
    for name in sorted({*mine, *drawn}):
        if name not in drawn:
            differ(f"figures/{name}: it is missing")
        elif name not in mine and not any(_belongs_to(name, figure) for figure in failed):
            differ(f"figures/{name}: no figure here makes it")
        elif mine.get(name, drawn[name]) != drawn[name]:
            differ(f"figures/{name}: it is not what its arrays give")
    return mine, made, [name for name in figures.figure_ids() if name not in made]


def _belongs_to(file: str, figure: str) -> bool:
    """Tell whether a file belongs to a figure, or is an index of all figures."""
    return file in INDICES or file.removeprefix("data/").startswith((f"{figure}.", f"{figure}-"))


def _known_index(drawn: Mapping[str, bytes], differ: Callable[..., Any]) -> list[tuple[str, str]]:
    """Return (figure, scale) of the entries in the package's index whose figures are known here."""
    if "figures.json" not in drawn:
        return []
    try:
        rows = [
            (row["figure"], row["scale"])
            for row in ledger.parse_json(drawn["figures.json"], "figures.json")
        ]
        good = [
            (name, scale)
            for name, scale in rows
            if name in figures.figure_ids() and scale in figures.SCALES
        ]
    except (FedtheoryError, KeyError, TypeError) as error:
        differ(f"figures/figures.json: it is no index of figures, {error}")
        return []
    if len(good) < len(rows) or len({name for name, _ in good}) < len(good):
        differ("figures/figures.json: it names figures that are not here, or one twice")
    return list(dict(good).items())


def _make_figure(
    name: str,
    scale: str,
    drawn: Mapping[str, bytes],
    out: Path,
    differ: Callable[..., Any],
    compute: bool,
) -> bool:
    """Write all files of a figure, and return whether the figure's arrays were in the package."""
    file = _store.arrays_path("data", name, scale).as_posix()
    if file not in drawn:
        others = [other for other in drawn if other.startswith(f"data/{name}-{scale}-")]
        differ(
            *[f"figures/{other}: other sources than those here computed it" for other in others]
            or [f"figures/{file}: it is missing"]
        )
        return False
    try:
        record, data = figures.figure(name), _store.load_arrays(io.BytesIO(drawn[file]), file, MOST)
        _store.save_arrays(out / file, data)
        _export.export_figure(name, record, data, scale, out)
        if compute and not _same_arrays(
            data, _store.check_arrays(name, record.compute(scale, lambda done, total: None))
        ):
            differ(f"figures/{file}: its arrays are not those that are computed here")
    except Exception as error:  # any error that foreign arrays cause
        differ(f"figures/{file}: nothing can be drawn from it, {type(error).__name__}: {error}")
        return False
    return True


def _same_arrays(one: Any, other: Any) -> Any:
    return one.keys() == other.keys() and all(
        one[label].dtype == other[label].dtype
        and one[label].shape == other[label].shape
        and np.ascontiguousarray(one[label]).tobytes()
        == np.ascontiguousarray(other[label]).tobytes()
        for label in one
    )
