"""The command `fedtheory data`: the data sets, the sets that can be loaded, and the missing files
of every other set.

A set is described without being loaded: its state is read from the names, sizes and digests of the
files in a folder. Nothing is downloaded.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedtheory.experiments.data import _sets


def describe_sets(name: str | None = None, folder: str | None = None) -> tuple[dict[str, Any], str]:
    """Return (records, text) of all data sets, or of the set called `name`.

    `folder` is the folder of `--data`, or None for the folder that the environment names. For a
    single set the text lists the files of each possible layout with sizes and digests.
    """
    place = _sets.folder_of(folder)
    chosen = list(_sets.shipped_sets().values()) if name is None else [_sets.find_set(name)]
    rows = {record.name: _describe_set(record, place) for record in chosen}
    lines = [_set_line(row) for row in rows.values()]
    if name is not None:
        return rows[name], "\n".join(lines + _set_lines(chosen[0], rows[name]))
    where = (
        f"files are looked for in {place}" if place else f"{_sets.FOLDER} or --data names a folder"
    )
    return rows, "\n".join([*lines, where])


def _describe_set(record: _sets.Set, place: Path | None) -> dict[str, Any]:
    """Return the plain data of one set: meaning, state, source, size, terms, and files by
    layout."""
    there, state = _sets.set_state(record, place)
    return dict(
        name=record.name,
        meaning=record.meaning,
        there=there,
        state=state,
        published=record.published,
        megabytes=record.megabytes,
        terms=record.terms,
        layouts=[
            {file.names[0]: dict(bytes=file.bytes, digest=file.digest) for file in layout.values()}
            for layout in record.layouts
        ],
    )


def _set_line(row: Mapping[str, Any]) -> str:
    """Return the line of a set in the list: name, state, meaning and megabytes."""
    weight = f", {row['megabytes']:g} MB" if row["megabytes"] else ""
    return (
        f"{row['name']:15s}{row['state'] if row['there'] else 'absent'}: {row['meaning']}{weight}"
    )


def _set_lines(record: _sets.Set, row: Mapping[str, Any]) -> list[str]:
    """Return further lines on one set: how to load it, or which files to provide and their
    source."""
    if not record.layouts:
        return [f"    ft.data.load({record.name!r})"]
    lines = [f"    {row['state']}", f"    published at {row['published']} ({row['terms']})"]
    for n, layout in enumerate(record.layouts):
        lines.append("    its files, packed (.gz) or not:" if not n else "    or:")
        for file in layout.values():
            size = "" if file.bytes is None else f", {file.bytes:,} bytes"
            lines.append(
                f"        {file.names[0]}{size}{'' if not file.digest else ', ' + file.digest}"
            )
    return lines
