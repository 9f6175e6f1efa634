"""The command line `fedtheory COMMAND ...`; each command answers in text or, with --json, with one
JSON document.

Exit 0: the answer was obtained. 1: a check that the user asked for did not hold. 2: the input is
bad, and one line says why. 3: a proved claim is refuted, which is a mistake of this package; one
line says so.

All imports of a command's dependencies happen when the command runs, so that `fedtheory --help` is
quick. Every error of a user's making ends in one line on stderr, never in a traceback.
"""

import importlib
import json
import math
import os
import sys
from collections.abc import Sequence
from typing import Any

from fedtheory import plugins, terminal
from fedtheory.app import argument_parser
from fedtheory.errors import (
    Contradiction,
    FedtheoryError,
    Interrupted,
    InvalidInput,
    explain_system,
    one_line,
)


def _replace_nonfinite(value: Any) -> Any:
    """Return a value with NaN and infinities replaced by None, because JSON has neither."""
    if isinstance(value, dict):
        return {key: _replace_nonfinite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_nonfinite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line with `argv` (sys.argv by default), and return the exit code."""
    return terminal.run_to_end("fedtheory", lambda: _run_command(argv))


def _run_command(argv: Sequence[str] | None) -> int:
    """Parse arguments, run one command and print its answer; return 0, 1, 2, 3, or 130 if
    interrupted.

    The files of `--with` and claim files among the arguments are registered while the command runs,
    so that their records are found by name. The property that a command returns as a third value
    decides between 0 and 1.
    """
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in argument_parser.ABOVE:
        above = importlib.import_module(f"fedtheory.{argv[0]}.__main__")
        return above.main(argv[1:], f"fedtheory {argv[0]}")
    parser = argument_parser.build_parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest and hasattr(arguments, "values") and not any(text.startswith("-") for text in rest):
        arguments.values += rest  # values may follow options
    elif rest:
        argument_parser.command_parsers(parser)[arguments.command].stray(rest)
    try:
        named = getattr(arguments, "claims", None) or [getattr(arguments, "id", "")]
        own = [name for name in named if name.endswith(".py") and os.path.isfile(name)]
        with plugins.registered(arguments.files, own):
            # a late import: the commands load their dependencies only when a command runs
            work = importlib.import_module("fedtheory.app.commands")
            data, text, *held = getattr(work, arguments.command)(arguments)
    except KeyboardInterrupt as stopped:
        terminal.say(f"fedtheory: {stopped if isinstance(stopped, Interrupted) else 'interrupted'}")
        return 130
    except Contradiction as error:
        terminal.say(f"fedtheory: {error}")
        return 3
    except (InvalidInput, FedtheoryError) as error:
        terminal.say(f"fedtheory: {one_line(str(error))}")
        return 2
    except OSError as error:
        terminal.say(f"fedtheory: {explain_system(error)}")
        return 2
    except MemoryError:
        terminal.say("fedtheory: this takes more memory than this machine gives")
        return 2
    print(
        json.dumps(_replace_nonfinite(data), allow_nan=False, indent=2) if arguments.json else text
    )
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
