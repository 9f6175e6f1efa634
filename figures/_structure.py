"""Cells of a structure claim (printed, computed, whether the two agree), as arrays and as a
finding."""

from collections.abc import Mapping, Sequence

import numpy as np

from fedtheory import discover
from fedtheory.figures import _findings
from fedtheory.figures._table import Cell
from fedtheory.typing import Exact


def cell_text(value: Exact | Sequence[int]) -> str:
    """Return a cell's value as a table prints it."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, tuple):
        return f"{value[0]:,}" if len(value) == 1 else f"({', '.join(map(str, value))})"
    return f"{value:,}" if isinstance(value, int) else str(value)


def cell_arrays(name: str) -> dict[str, np.ndarray]:
    """Return the arrays that `compute` saves for a claim's cells."""
    cells = discover.claim(name).cells()
    return {
        "claim": np.array(name),
        "cell": np.array([cell for cell, _, _ in cells]),
        "printed": np.array([cell_text(printed) for _, printed, _ in cells]),
        "ours": np.array([cell_text(computed) for _, _, computed in cells]),
        "known": np.array([computed is not None for _, _, computed in cells]),
        "agree": np.array([printed == computed for _, printed, computed in cells]),
    }


def by_cell(data: Mapping[str, np.ndarray]) -> dict[str, Cell]:
    """Return {cell: Cell} from the saved arrays."""
    return {
        str(cell): Cell(str(ours), str(printed), cell_verdict(known, agree), str(data["claim"]))
        for cell, ours, printed, known, agree in zip(
            data["cell"], data["ours"], data["printed"], data["known"], data["agree"]
        )
    }


def cell_verdict(known: bool, agree: bool) -> str:
    return (
        (_findings.REPRODUCED if agree else _findings.NOT_REPRODUCED)
        if known
        else _findings.INCONCLUSIVE
    )


def judge_structure(data: Mapping[str, np.ndarray]) -> _findings.Outcome:
    """Return (verdict, sentence) over all cells."""
    columns = zip(*(data[name] for name in ("cell", "ours", "printed", "known", "agree")))
    return _findings.judge_exactly(
        {
            f"{cell} (paper {printed}, computed {ours})": bool(agree) if known else None
            for cell, ours, printed, known, agree in columns
        },
        "printed cells",
    )
