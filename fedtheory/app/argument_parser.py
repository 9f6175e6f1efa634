"""The parsers of the command line: commands, their arguments, and the messages for arguments that
are not valid.

Building the parsers imports no part of the library that decides or runs anything, because each
`--help` and each completion builds them.
"""

import argparse
import difflib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fedtheory import __version__
from fedtheory.errors import printable
from fedtheory.parallel import executors

SAYS = "Put the theory of federated optimisation to the test."
BEGIN = """begin with:
  fedtheory check lamb.lemma1     a false claim, and why
  fedtheory list papers           what there is to check
  fedtheory explain fsl.theorem1  a claim in plain words
  fedtheory new claim             a claim of your own"""

NUMBERS = {int: "an integer", float: "a number"}


class Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line and suggests the word that was probably
    meant.

    The exit code of a mistake is 2. Messages go to stderr and name the command whose help says
    more.
    """

    def error(self, message: str) -> None:
        message = message.replace("the following arguments are required:", "it needs")
        first, last = self.prog.split()[0], self.prog.split()[-1]
        whose = last if last in ABOVE else first
        self.exit(2, f"{whose}: {printable(message)}; see {self.prog} --help\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a message, and let an error of the operating system reach the caller instead of
        ignoring the error."""
        (file or sys.stderr).write(message or "")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:
        found, rest = self.parse_known_args(args, namespace)
        return self.stray(rest) if rest else found

    def _get_value(self, action: Any, text: str) -> float | str:
        try:
            return super()._get_value(action, text)
        except argparse.ArgumentError:
            if action.type not in NUMBERS:
                raise
            name = (action.option_strings or [action.metavar or action.dest])[0]
            rule = f"{name} must be {NUMBERS[action.type]}; got {text!r}"
            raise argparse.ArgumentError(None, rule) from None

    def _check_value(self, action: argparse.Action, value: float | str) -> None:
        if action.choices is not None and value not in action.choices:
            name = action.metavar or action.dest
            choices = list(map(str, action.choices))
            meant = suggest_word(value, choices) or f"it must be one of {', '.join(choices)}"
            raise argparse.ArgumentError(None, f"{name} cannot be {value!r}: {meant}")

    def stray(self, rest: Sequence[str]) -> None:
        """Report arguments that the command does not take."""
        options = [name for name in self._option_string_actions if name.startswith("--")]
        first = next((text for text in rest if text.startswith("-")), rest[0])
        meant = suggest_word(first.partition("=")[0], options) if first.startswith("-") else ""
        self.error(f"takes no {first!r}" + f": {meant}" * bool(meant))


def suggest_word(word: Any, words: Sequence[str]) -> str:
    """Return a question that suggests the closest of `words` ("did you mean ...?"), or "" if no
    word is similar."""
    found = difflib.get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"did you mean {found[0]}?" if found else ""


def build_parser() -> Parser:
    """Build the parser of `fedtheory`."""
    whole = Parser(
        prog="fedtheory",
        description=SAYS,
        epilog=BEGIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"fedtheory {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, help: str, **arguments: Mapping[str, Any]) -> None:
        command = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        for argument, options in arguments.items():
            command.add_argument(
                *([argument] if "flag" not in options else [f"--{argument}"]),
                **{key: value for key, value in options.items() if key != "flag"},
            )
        add_common(command)

    for commands_of in (_add_about, _add_deciding, _add_working):
        commands_of(add)
    for name, help in ABOVE.items():
        commands.add_parser(name, help=help, add_help=False)
    return whole


def add_common(command: Parser) -> None:
    """Add the options that every command takes."""
    command.add_argument("--json", action="store_true", help="one JSON document on standard output")
    command.add_argument(
        "--with",
        dest="files",
        action="append",
        default=[],
        metavar="FILE.py",
        help="a Python file that defines methods, claims, problems, models or figures; may be repeated",
    )


def command_parsers(whole: Parser) -> dict[str, Parser]:
    """Return a dict from the name of each command to its parser."""
    return next(a.choices for a in whole._actions if isinstance(a, argparse._SubParsersAction))


# Packages above this one, which have parsers of their own and are found by name.
ABOVE = dict(
    figures="draw figures and tables", verify="check every claim and write the reviewer's package"
)


def _add_about(add: Callable[..., Any]) -> None:
    """Add the commands that list records, explain claims, evaluate bounds at numbers and carry out
    run files."""
    add(
        "list",
        "list the papers, claims, algorithms, problems, metrics or figures",
        what=dict(
            nargs="?",
            metavar="WHAT",
            help="papers, claims, algorithms (the default), problems, metrics or figures",
            default="algorithms",
            choices=["papers", "claims", "algorithms", "problems", "metrics", "figures"],
        ),
        prefix=dict(
            nargs="?",
            default="",
            metavar="PREFIX",
            help="for claims: a paper, or the first letters of the ids",
        ),
    )
    add(
        "explain",
        "explain a claim in plain words: meaning, statement, hypotheses; or a paper and its claims",
        id=dict(metavar="ID|PAPER|FILE.py", help="an id, a paper, or a file that defines CLAIM"),
    )
    add(
        "bound",
        "evaluate a claim's right-hand side at numbers, rounded to the safe side",
        id=dict(metavar="ID", help="the id of a claim, see `list claims`"),
        values=dict(nargs="*", metavar="NAME=NUMBER", help="numbers for the symbols: gamma=3/4"),
        line=dict(
            flag=True,
            type=int,
            default=0,
            metavar="N",
            help="the line of the statement, counted from 0",
        ),
        loose=dict(flag=True, action="store_true", help="evaluate even where an assumption fails"),
    )
    add(
        "run",
        "carry out the run that a TOML file describes; print, plot and store the result",
        spec=dict(metavar="SPEC.toml", help="a run file, such as docs/first_run.toml"),
        out=dict(flag=True, metavar="DIR", help="the folder for figures and data"),
    )


def _add_deciding(add: Callable[..., Any]) -> None:
    """Add the commands that decide claims."""
    budget = lambda seconds: dict(
        flag=True,
        type=float,
        default=seconds,
        metavar="SECONDS",
        help=f"work for each claim, in seconds of one core ({seconds:g})",
    )
    seed = dict(
        flag=True,
        type=int,
        default=0,
        metavar="N",
        help="the seed; a verdict depends on seed and budget alone (0)",
    )
    executor = dict(
        flag=True,
        default="serial",
        metavar="SPEC",
        help=f"where the work is done: {executors.SPECS} (serial)",
    )
    claims = dict(nargs="+", metavar="ID|FILE.py", help="ids, or files that define claims")
    seeds = lambda says: dict(flag=True, type=int, default=1, metavar="N", help=says)
    add(
        "check",
        "decide whether a claim is true, how tight it is and where it fails",
        claims=dict(
            nargs="+", metavar="ID|FILE.py", help="ids, or Python files that define CLAIM or CLAIMS"
        ),
        budget=budget(10),
        seed=seed,
        executor=executor,
        seeds=seeds(
            "the number of searches of each line, from --seed on, each with the whole budget (1)"
        ),
        out=dict(flag=True, metavar="DIR", help="the folder for verdicts and certificates"),
        expect=dict(
            flag=True, metavar="STATUS", help="exit with 1 unless every verdict has this status"
        ),
        witnesses=dict(
            flag=True,
            nargs="+",
            default=[],
            metavar="FILE",
            help="documents of counterexamples or of verdicts, whose instances are tried first",
        ),
    )
    add(
        "replay",
        "derive a verdict anew from its document alone",
        file=dict(metavar="FILE", help="the JSON document of a verdict"),
        latex=dict(
            flag=True,
            action="store_true",
            help="print the counterexample in LaTeX, as in a letter to the author",
        ),
        rocq=dict(
            flag=True,
            action="store_true",
            help="let Rocq's coqc check the document too, if it is installed",
        ),
    )
    add(
        "diff",
        "compare two ledgers, or two outputs of sharpen --json, claim by claim",
        old=dict(metavar="OLD", help="a ledger.json, or the folder of a package"),
        new=dict(metavar="NEW", help="the same, of a later date"),
    )
    add(
        "export",
        "write a document for another proof checker",
        file=dict(metavar="FILE", help="the JSON document of a verdict"),
        to=dict(flag=True, default="rocq", choices=["rocq"], help="the proof assistant (rocq)"),
        out=dict(
            flag=True, metavar="FILE.v", help="the file to write; without it the text is printed"
        ),
    )
    add(
        "mutate",
        "change a claim in one place at a time, and say which changed claims are refuted",
        claims=claims,
        budget=budget(60),
        seed=seed,
        executor=executor,
        seeds=seeds(
            "the number of passes over all changes, from --seed on, each with the whole budget (1)"
        ),
    )
    add(
        "sharpen",
        "find how much of each constant, term, exponent and upper limit a claim needs",
        claims=claims,
        budget=budget(60),
        seed=seed,
    )
    add(
        "minimise",
        "drop the hypotheses of a claim one at a time, and say which of them the claim needs",
        claims=claims,
        budget=budget(60),
        seed=seed,
    )
    add(
        "audit",
        "evaluate the lines of a claim's proof at one instance: which fails, and which loses most",
        claims=claims,
        at=dict(
            flag=True,
            default="worst",
            choices=["worst", "drawn"],
            help="the worst instance that a search finds, or a random one (worst)",
        ),
        budget=budget(5),
        seed=seed,
    )


def _add_working(add: Callable[..., Any]) -> None:
    """Add the commands that compute worst cases, start and test a user's own files, and compile
    kernels."""
    add(
        "worst",
        "compute the exact worst case of a method over a class of functions, with a proof (extra pep)",
        method=dict(
            metavar="METHOD",
            help="a method of `list algorithms`, gradient_descent, momentum or nesterov",
        ),
        values=dict(nargs="*", metavar="NAME=NUMBER", help="N and hyper-parameters"),
        rounds=dict(flag=True, type=int, default=1, metavar="R", help="number of rounds (1)"),
        L=dict(flag=True, default="1", metavar="NUMBER", help="smoothness of every function (1)"),
        mu=dict(
            flag=True,
            default="0",
            metavar="NUMBER",
            help="strong convexity of every function; may be below 0 (0)",
        ),
        measure=dict(
            flag=True,
            default="loss",
            metavar="NAME",
            help="loss, sq_grad_norm or sq_distance (loss)",
        ),
        over=dict(
            flag=True,
            default="last",
            choices=["last", "least"],
            help="measure in the last round, or the least over all rounds (last)",
        ),
        out=dict(flag=True, metavar="FILE", help="the file for the certificate"),
    )
    add(
        "new",
        "write a starting file of your own: a claim, method, problem, model, figure or adapter",
        kind=dict(
            choices=["claim", "method", "problem", "model", "setting", "figure", "adapter"],
            metavar="KIND",
            help="claim, method, problem, model (or setting, its older name), figure or adapter",
        ),
        file=dict(nargs="?", metavar="FILE.py", help="the file to write (my_KIND.py)"),
    )
    add(
        "contracts",
        "run the contract tests on the records that a file defines",
        contracted=dict(nargs="+", metavar="FILE.py", help="files of your own records"),
    )
    add(
        "conform",
        "test whether your code is the method of a theorem; exit with 1 if it is not",
        adapter=dict(
            metavar="ADAPTER.py", help="a file that defines METHOD, start, round and state"
        ),
    )
    add(
        "data",
        "list the data sets: which are complete, what is missing, where it is published, its size",
        set=dict(nargs="?", metavar="NAME", help="one of them (all)"),
        data=dict(flag=True, metavar="DIR", help="the folder of the files (FEDTHEORY_DATA)"),
    )
    add(
        "experiments",
        "list the papers' experiments: printed settings, chosen settings, cost here; or run them",
        experiment=dict(nargs="?", metavar="NAME", help="one of them (all)"),
        scale=dict(
            flag=True,
            default="quick",
            choices=["smoke", "quick", "paper"],
            help="the size of the runs (quick)",
        ),
        data=dict(flag=True, metavar="DIR", help="the folder of the files (FEDTHEORY_DATA)"),
        run=dict(
            flag=True,
            action="store_true",
            help="carry out the runs that are not stored yet; an interrupted command continues",
        ),
        only=dict(
            flag=True,
            nargs="+",
            default=(),
            metavar="WORD",
            help="show the ends of the runs with all these words, such as FSL 500 gamma=1 seed=0",
        ),
    )
    add("warmup", "compile every kernel now, so that later commands do not wait")
    add(
        "completion",
        "print a shell's rules that complete commands, options and names, to be sourced",
        shell=dict(choices=["bash", "zsh", "fish"], metavar="SHELL", help="bash, zsh or fish"),
    )
