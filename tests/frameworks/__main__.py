"""Tests of released frameworks, `python -m tests.frameworks [NAME ...]`: each runs in an
environment of its own with pinned versions, and is compared with the methods that its algorithms
are named after.

Environments are made once, below `--at`. Their packages come from pip's configured sources, and the
environments with PyTorch take some gigabytes. Exit 0: the comparisons were run. 2: bad input, or an
environment that cannot be made.
"""

import argparse
import ast
import configparser
import os
import subprocess
import sys
import venv
from pathlib import Path

from fedtheory.errors import FedtheoryError, InvalidInput, refuse
from fedtheory.store import outputs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def find_frameworks():
    """Return {framework: PINS}, read from the source files without importing the framework."""
    found = {}
    for path in sorted(HERE.glob("[a-z]*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PINS":
                found[path.stem] = ast.literal_eval(node.value)
    return found


def own_requirements():
    """Return the requirements of this library itself."""
    setup = configparser.ConfigParser()
    if not setup.read(ROOT / "setup.cfg"):
        raise InvalidInput("frameworks are asked in a clone, whose setup.cfg says what it needs")
    return setup["options"]["install_requires"].split()


def make_environment(name, pins, at):
    """Return the Python interpreter of a framework's environment; the environment is made where it
    does not exist with these pins."""
    home = Path(at).resolve() / name
    python, made = home / "bin" / "python", home / "pins.txt"
    wanted = "\n".join([*pins, *own_requirements()])
    if made.is_file() and made.read_text() == wanted:
        return python
    folder, sign = outputs.Folder(home.parent, "--at"), f"{name}.environment"
    made_here = (home.parent / sign).is_file() and not folder.foreign(sign)
    if os.path.lexists(home) and (home.is_symlink() or not made_here):
        refuse("--at", "must be a folder in which no other thing has a framework's name", str(home))
    folder.write({sign: b"The folder of this name is emptied and filled by tests.frameworks.\n"})
    print(f"{name}: making {home} with {', '.join(pins)}", file=sys.stderr, flush=True)
    venv.create(home, clear=True, with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*command, *pins, *own_requirements()])
    if done.returncode:
        raise InvalidInput(
            f"the environment of {name} cannot be made: pip ends with {done.returncode}"
        )
    made.write_text(wanted)
    return python


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="tests.frameworks", description=__doc__.partition("\n\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="of those that are listed without")
    parser.add_argument(
        "--at", default="out/frameworks", metavar="DIR", help="where environments go"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document for each framework")
    given = parser.parse_args(argv)
    known = find_frameworks()
    try:
        for name in given.names:
            if name not in known:
                refuse("NAME", f"must be one of {', '.join(known)}", name)
        for name in given.names:
            python = make_environment(name, known[name], given.at)
            command = [python, "-m", "tests.frameworks.run_cases", name]
            paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            told = subprocess.run(
                command + ["--json"] * given.json,
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(paths),
                    "PYTHONWARNINGS": "ignore",
                },
            )
            if told.returncode:
                raise InvalidInput(f"{name} cannot be asked: it ends with {told.returncode}")
    except FedtheoryError as error:
        print(f"tests.frameworks: {error}", file=sys.stderr)
        return 2
    for name, pins in known.items() if not given.names else ():
        print(f"{name}: {', '.join(pins)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
