"""FSL, tables II and III: a network's layers with output shapes and parameter counts, computed
values beside the paper's."""

import numpy as np

from fedtheory import discover
from fedtheory.figures import _structure, _table
from fedtheory.figures._record import Arrays, Figure, Table
from fedtheory.figures._structure import cell_verdict

HEADER, BLANK = ["Layer", "Shape", "Parameters"], _table.Cell("", "")


def layer_lines(data: Arrays) -> list[list]:
    """Return the rows [layer, Cell of its shape, Cell of its parameters] in the paper's order, then
    the row of the sum."""
    cells = _structure.by_cell(data)
    names = dict.fromkeys(cell.partition(", ")[0] for cell in cells)
    ours, paper = data["total"]
    total = _table.Cell(
        f"{ours:,}", f"{paper:,}", cell_verdict(True, ours == paper), str(data["claim"])
    )
    return [
        *(
            [
                name.rpartition(" ")[0],
                cells[f"{name}, shape"],
                cells.get(f"{name}, parameters", BLANK),
            ]
            for name in names
        ),
        ["All parameters", BLANK, total],
    ]


def network_arrays(name: str) -> Arrays:
    """Return a claim's cells, and the total number of parameters as (computed, the paper's)."""
    cells = [pair for cell, *pair in discover.claim(name).cells() if cell.endswith("parameters")]
    return {
        **_structure.cell_arrays(name),
        "total": np.array([sum(c for _, c in cells), sum(p for p, _ in cells)]),
    }


def write_caption(data: Arrays) -> str:
    """Return the text on what is plotted."""
    return (
        f"Output shapes and parameter counts as they follow from each layer, beside the printed ones: {_table.MARKED}. "
        f"All parameters: {data['total'][0]:,}. Exact counts, nothing random."
    )


def network_figure(claim: str, number: str, data: str) -> Figure:
    """Return the figure of a claim about the network for some data."""
    return Figure(
        cites=f"FSL, table {number}",
        title=f"The network for {data}: sizes as they follow from its layers",
        compute=lambda scale, progress: network_arrays(claim),
        printed=Table(HEADER, layer_lines),
        findings=lambda data: {claim: _structure.judge_structure(data)},
        caption=write_caption,
        height=2.1,
    )
