"""Run commands that test the checker at length: `python -m tests.checker [NAME [OPTION ...]]`.

    python -m tests.checker --list
    python -m tests.checker                       # every command in turn, for hours
    python -m tests.checker soundness --help

Exit 0: every command found nothing wrong. 1: some command found something; its name is printed.
2: bad input.
"""

import ast
import subprocess
import sys
from pathlib import Path

DOCUMENTS = Path(__file__).resolve().parents[1] / "second_opinion"  # certificates that ship
# Commands, from the quickest, with the arguments of a full run.
COMMANDS: dict[str, tuple[str, ...]] = {
    "compared_bounds": (),
    "bad_calls": (),
    "file_accidents": (),
    "kill_and_resume": (),
    "power": (),
    "rocq_kernel": tuple(str(DOCUMENTS / name) for name in ("proofs.json", "certificates.json")),
    "soundness": (),
}


def describe_command(name: str) -> str:
    """Return the first sentence of a command's docstring."""
    source = Path(__file__).with_name(f"{name}.py").read_text()
    first = (ast.get_docstring(ast.parse(source)) or "").partition("\n\n")[0]
    return " ".join(first.split())


def run_command(name: str, arguments: tuple[str, ...]) -> int:
    """Run one command as a process of its own, and return its exit status."""
    return subprocess.run([sys.executable, "-m", f"tests.checker.{name}", *arguments]).returncode


def main(arguments: list[str]) -> int:
    """Run the commands that the arguments name, and return the exit status."""
    if arguments == ["--list"]:
        print(*(f"{name}: {describe_command(name)}" for name in COMMANDS), sep="\n")
        return 0
    if arguments and arguments[0] not in COMMANDS:
        print(f"NAME must be one of {', '.join(COMMANDS)}; got {arguments[0]}", file=sys.stderr)
        return 2
    if arguments:
        return run_command(arguments[0], tuple(arguments[1:]))
    ended = {name: run_command(name, options) for name, options in COMMANDS.items()}
    wrong = [f"{name} (exit {status})" for name, status in ended.items() if status]
    print(
        f"{len(ended) - len(wrong)} of {len(ended)} commands found nothing wrong", *wrong, sep="\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
