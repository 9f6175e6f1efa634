"""`python -m figures [ID ...]`: compute the arrays that are not yet saved, then draw, tabulate and
judge from the saved arrays.

Exit 0: all were made. 1: one of them failed; the others were made. 2: bad input. 130: Ctrl-C.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from fedtheory import figures, plugins, terminal
from fedtheory.app.argument_parser import Parser
from fedtheory.errors import FedtheoryError, explain_system, refuse
from fedtheory.experiments.data._sets import FOLDER
from fedtheory.figures import _judged, _making
from fedtheory.parallel import executors
from fedtheory.store import outputs


def build_parser(prog: str = "python -m figures") -> Parser:
    """Build the command-line parser of `figures`."""
    found = Parser(prog=prog, description="Draw figures and tables.")
    found.add_argument("ids", nargs="*", metavar="ID", help="the figures or tables (all)")
    found.add_argument(
        "--scale",
        default="quick",
        metavar="|".join(figures.SCALES),
        help="the size of the computation (quick)",
    )
    found.add_argument(
        "--data",
        metavar="DIR",
        help="a folder with the arrays of an earlier run, or with data sets; nothing is written to it",
    )
    found.add_argument(
        "--out", default="figures-out", metavar="DIR", help="the folder of all output (figures-out)"
    )
    executors.add_options(found)
    found.add_argument(
        "--with",
        dest="files",
        action="append",
        default=[],
        metavar="FILE.py",
        help="a file of your own that defines FIGURE; the figure has the file's name",
    )
    found.add_argument(
        "--findings",
        action="store_true",
        help="draw nothing: list the finding of the figures in --out on every sentence, and the sentences without one",
    )
    found.add_argument("--json", action="store_true", help="one JSON document on standard output")
    return found


def main(argv: Sequence[str] | None = None, prog: str = "python -m figures") -> int:
    return terminal.run_to_end("figures", lambda: _requested_figures(argv, prog))


def _requested_figures(argv: Sequence[str], prog: str) -> int:
    arguments = build_parser(prog).parse_args(argv)
    try:
        with plugins.registered(arguments.files):
            return _make_figures(arguments)
    except KeyboardInterrupt:
        terminal.say("figures: interrupted; what was finished is kept")
        return 130
    except FedtheoryError as error:
        terminal.say(f"figures: {error}")
        return 2
    except OSError as error:
        terminal.say(f"figures: {explain_system(error)}")
        return 2


def _make_figures(arguments: argparse.Namespace) -> int:
    """Make the figures that the arguments name and return the exit status; where user files are
    given and no ID, make only the figures of these files."""
    for name in arguments.ids:
        figures.check_id(name)
    if arguments.scale not in figures.SCALES:
        refuse("--scale", f"must be one of {', '.join(figures.SCALES)}", arguments.scale)
    executor = executors.chosen_executor(arguments, _making.EXECUTOR)
    if arguments.data and not Path(arguments.data).is_dir():
        refuse("--data", "must be a folder", arguments.data)
    out = Path(arguments.out)
    if out.exists() and not out.is_dir():
        refuse("--out", "must be a folder", arguments.out)
    if arguments.findings:
        rows = _judged.findings_table(out)
        listed = [row._asdict() for row in rows]
        print(
            json.dumps(listed, indent=2)
            if arguments.json
            else "\n".join(_judged.describe_table(rows))
        )
        return 0
    if arguments.data:
        os.environ.setdefault(FOLDER, arguments.data)  # processes of this command see it too
    folders = [Path(arguments.data), Path(arguments.data) / "data"] if arguments.data else []
    given = {str(Path(name).resolve()) for name in arguments.files}
    own = [name for name, (file, _) in figures.user_figures().items() if file.path in given]
    ids = list(dict.fromkeys(arguments.ids)) or own or figures.figure_ids()
    _writable(outputs.Folder(out), ids)
    failed = _making.make_all(ids, arguments.scale, out, folders, executor=executor)
    made = [name for name in ids if name not in failed]
    told = dict(made=made, failed=failed, scale=arguments.scale, out=str(out))
    text = f"{len(made)} of {len(ids)} figures are in {out}"
    print(json.dumps(told, indent=2) if arguments.json else text)
    return 1 if failed else 0


def _writable(folder: outputs.Folder, ids: Sequence[str]) -> None:
    """Refuse an output folder that cannot be written to, or that holds files with the names of the
    figures to be made although no figures were ever made there."""
    files = [f"{re.escape(name)}\\.[\\w.]+" for name in ids] + [r"(findings|figures)\.json"]
    there = [name for pattern in files for name in folder.matching(pattern)]
    folder.check([] if folder.entries() else there)


if __name__ == "__main__":
    sys.exit(main())
