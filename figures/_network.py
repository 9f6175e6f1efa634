"""FSL, tables II and III: a network's layers with output shapes and parameter counts, computed
values beside the paper's."""

import numpy as np

from fedtheory import discover
from fedtheory.figures import _structure, _table
from fedtheory.figures._structure import cell_verdict

HEADER, BLANK = ["Layer", "Shape", "Parameters"], _table.Cell("", "")


def layer_lines(data):
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


def draw_figure(figure, data):
    _table.ours_beside_paper(figure, HEADER, layer_lines(data))


def table_rows(data):
    return _table.table_rows(HEADER, layer_lines(data))


def compute_arrays(name):
    """Compute a claim's cells, and the total number of parameters as (computed, the paper's)."""
    cells = [pair for cell, *pair in discover.claim(name).cells() if cell.endswith("parameters")]
    return {
        **_structure.cell_arrays(name),
        "total": np.array([sum(c for _, c in cells), sum(p for p, _ in cells)]),
    }


def write_caption(data):
    """Return the text on what is plotted."""
    return (
        f"Output shapes and parameter counts as they follow from each layer, beside the printed ones: {_table.MARKED}. "
        f"All parameters: {data['total'][0]:,}. Exact counts, nothing random."
    )
