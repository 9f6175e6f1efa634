"""The command `fedtheory new KIND`: a starting file for a user's own record, which runs unchanged.

The kinds are a claim, a method, a problem, a model, a figure and an adapter. The texts are files in
`starts`, in which NAME stands for the new module's name; tests run each of them.
"""

import keyword
import os
from pathlib import Path

from fedtheory.errors import refuse
from fedtheory.store.files import write_file

STARTS = Path(__file__).with_name("starts")
KINDS = ("claim", "method", "problem", "model", "figure", "adapter")
OLDER = {"setting": "model"}  # a kind's older name


def template_text(kind: str, name: str) -> str:
    """Return the text of the starting file of a kind, for a file called NAME.py."""
    kind = OLDER.get(kind, kind)
    if kind not in KINDS:
        refuse("new", f"must be one of {', '.join(KINDS)}", kind)
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        refuse("FILE.py", "must have a name that is an identifier, such as my_method.py", name)
    return (STARTS / f"{kind}.txt").read_text().replace("NAME", name)


def write_new(kind: str, file: str | None = None) -> tuple[dict[str, str | list[str]], str]:
    """Write a starting file and return (data, text). Refuse to overwrite an existing file.

    The data have the file and the commands that the file's docstring lists, with the file's path
    put in.
    """
    path = Path(file or f"my_{kind}.py")
    if path.suffix != ".py":
        refuse("FILE.py", "must end in .py", str(path))
    content = template_text(kind, path.stem)
    if os.path.lexists(path):
        refuse("FILE.py", "must not exist yet", str(path))
    write_file(path, content.encode())
    commands = [
        line.strip().replace(path.name, str(path))
        for line in content.split('"""')[1].splitlines()
        if line.startswith("    ")
    ]
    said = "\n".join(f"  {line}" for line in commands)
    return dict(file=str(path), commands=commands), f"{path} is written, and runs as it is:\n{said}"
