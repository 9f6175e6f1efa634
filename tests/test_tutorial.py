"""docs/tutorial.ipynb: its cells are run one after another, as a notebook does, and what they print
is what stands there. `python -m tests.test_tutorial` writes the outputs anew."""

import ast
import contextlib
import doctest
import io
import json
from pathlib import Path

import matplotlib
import pytest
from matplotlib.axes import Axes

NOTEBOOK = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"


def read():
    return json.loads(NOTEBOOK.read_text())


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(source, names):
    """(what a cell prints, the value of its last line or None)."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, str(NOTEBOOK), "exec"), names)  # noqa: S102 (our own notebook)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)  # noqa: S307
    return printed.getvalue(), value


def outputs(printed, value):
    """The outputs of a cell, as notebooks keep them: text, and a table where there is one."""
    found = []
    lines = lambda text: text.splitlines(keepends=True)
    if printed:
        found.append(dict(output_type="stream", name="stdout", text=lines(printed)))
    if value is not None and not isinstance(value, Axes):
        data = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = lines(value._repr_html_())
        found.append(
            dict(output_type="execute_result", data=data, metadata={}, execution_count=None)
        )
    return found


def plain(found):
    """What of outputs is compared: the text."""
    return ["".join(each.get("text") or each["data"]["text/plain"]) for each in found]


@pytest.mark.slow
def test_cells_print_what_stands_there():
    matplotlib.use("Agg")
    names, same = {}, doctest.OutputChecker()
    for cell in code(read()):
        there, found = plain(cell["outputs"]), plain(outputs(*run("".join(cell["source"]), names)))
        assert len(there) == len(found), cell["source"]
        for text, now in zip(there, found):
            assert same.check_output(text, now, doctest.ELLIPSIS), f"{now}\ninstead of\n{text}"


def test_it_is_a_notebook_of_small_cells():
    notebook = read()
    assert notebook["nbformat"] == 4 and len(code(notebook)) >= 8
    assert all(len(cell["source"]) <= 25 for cell in code(notebook))
    assert NOTEBOOK.stat().st_size < 60_000
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])


def write():
    """Write the outputs anew."""
    matplotlib.use("Agg")
    notebook, names = read(), {}
    for cell in code(notebook):
        cell["outputs"] = outputs(*run("".join(cell["source"]), names))
    NOTEBOOK.write_text(json.dumps(notebook, indent=1) + "\n")


if __name__ == "__main__":
    write()
