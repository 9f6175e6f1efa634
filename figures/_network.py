"""FSL, tables II and III: a network's layers, their output shapes and parameter counts, ours beside the paper's."""

from figures import _structure, _table

BLANK = ("", "", "")


def layers(data):
    """[layer, (ours, paper, verdict) of its shape, the same of its parameters], in the paper's order."""
    cells = _structure.by_cell(data)
    names = dict.fromkeys(cell.partition(", ")[0] for cell in cells)
    return [[name.rpartition(" ")[0], cells[f"{name}, shape"], cells.get(f"{name}, parameters", BLANK)]
            for name in names]


def draw(figure, data):
    ours, paper = data["total"]
    _table.ours_beside_paper(
        figure, ["Layer", "Shape,", "Parameters,"],
        [*layers(data), ["All parameters", BLANK, (f"{ours:,}", f"{paper:,}", _structure.verdict(True, ours == paper))]])


def rows(data):
    text, _ = _table.table_rows(["Layer", "Shape,", "Parameters,"], layers(data))
    return text


def compute(name):
    """A claim's cells, and all parameters together: (ours, the paper's)."""
    import numpy as np
    from fedtheory import discover
    cells = [pair for cell, *pair in discover.claim(name).cells() if cell.endswith("parameters")]
    return {**_structure.arrays(name), "total": np.array([sum(c for _, c in cells), sum(p for p, _ in cells)])}
