"""The parsers of the command line: commands, their arguments, and the messages for arguments that
are not valid."""

import argparse
import difflib
import sys

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
    meant."""

    def error(self, message):
        message = message.replace("the following arguments are required:", "it needs")
        first, last = self.prog.split()[0], self.prog.split()[-1]
        whose = last if last in ABOVE else first
        self.exit(2, f"{whose}: {printable(message)}; see {self.prog} --help\n")

    def _print_message(self, message, file=None):
        """Write a message, and let an error of the operating system reach the caller instead of
        ignoring the error."""
        (file or sys.stderr).write(message or "")

    def parse_args(self, args=None, namespace=None):
        found, rest = self.parse_known_args(args, namespace)
        return self.stray(rest) if rest else found

    def _get_value(self, action, text):
        try:
            return super()._get_value(action, text)
        except argparse.ArgumentError:
            if action.type not in NUMBERS:
                raise
            name = (action.option_strings or [action.metavar or action.dest])[0]
            rule = f"{name} must be {NUMBERS[action.type]}; got {text!r}"
            raise argparse.ArgumentError(None, rule) from None

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            name = action.metavar or action.dest
            choices = list(map(str, action.choices))
            meant = suggest_word(value, choices) or f"it must be one of {', '.join(choices)}"
            raise argparse.ArgumentError(None, f"{name} cannot be {value!r}: {meant}")

    def stray(self, rest):
        """Report arguments that the command does not take."""
        options = [name for name in self._option_string_actions if name.startswith("--")]
        first = next((text for text in rest if text.startswith("-")), rest[0])
        meant = suggest_word(first.partition("=")[0], options) if first.startswith("-") else ""
        self.error(f"takes no {first!r}" + f": {meant}" * bool(meant))


def suggest_word(word, words):
    """Return a question that suggests the closest of `words` ("did you mean ...?"), or "" if no
    word is similar."""
    found = difflib.get_close_matches(str(word), words, n=1, cutoff=0.6)
    return f"did you mean {found[0]}?" if found else ""


def build_parser():
    """Build the parser of `fedtheory`."""
    whole = Parser(
        prog="fedtheory",
        description=SAYS,
        epilog=BEGIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=f"fedtheory {__version__}")
    commands = whole.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, help, **arguments):
        command = commands.add_parser(name, help=help, description=help)
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


def add_common(command):
    """Add the options that every command takes."""
    command.add_argument("--json", action="store_true", help="one JSON document on standard output")
    command.add_argument(
        "--with",
        dest="files",
        action="append",
        default=[],
        metavar="FILE.py",
        help="a file of your own methods, claims, problems, settings or figures; may be repeated",
    )


def command_parsers(whole):
    """Return a dict from the name of each command to its parser."""
    return next(a.choices for a in whole._actions if isinstance(a, argparse._SubParsersAction))


# Packages above this one, which have parsers of their own and are found by name.
ABOVE = dict(
    figures="make figures and tables",
    verify="check every claim and make the package that a reviewer opens",
)


def _add_about(add):
    """Add the commands that list records, explain claims, evaluate bounds at numbers and carry out
    run files."""
    add(
        "list",
        "what there is",
        what=dict(
            nargs="?",
            metavar="WHAT",
            help="papers, claims, algorithms (if not given), problems, metrics or figures",
            default="algorithms",
            choices=["papers", "claims", "algorithms", "problems", "metrics", "figures"],
        ),
        prefix=dict(
            nargs="?",
            default="",
            metavar="PREFIX",
            help="claims only: a paper, or how their ids begin",
        ),
    )
    add(
        "explain",
        "a claim in plain words: what it means, says and assumes; or a paper and what it claims",
        id=dict(metavar="ID|PAPER|FILE.py"),
    )
    add(
        "bound",
        "a claim's right-hand side at numbers, rounded to the safe side",
        id=dict(metavar="ID"),
        values=dict(nargs="*", metavar="NAME=NUMBER"),
        line=dict(
            flag=True, type=int, default=0, metavar="N", help="which line of the statement, from 0"
        ),
        loose=dict(flag=True, action="store_true", help="also where an assumption does not hold"),
    )
    add(
        "run",
        "run what a TOML file asks for: print it, plot it, keep the data",
        spec=dict(metavar="SPEC.toml"),
        out=dict(flag=True, metavar="DIR", help="where figures and data go"),
    )


def _add_deciding(add):
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
        help="a verdict depends on it and the budget alone",
    )
    executor = dict(
        flag=True, default="serial", metavar="SPEC", help=f"who works: {executors.SPECS}"
    )
    seeds = lambda says: dict(flag=True, type=int, default=1, metavar="N", help=says)
    add(
        "check",
        "is a claim true, how tight is it, where does it break",
        claims=dict(
            nargs="+", metavar="ID|FILE.py", help="ids, or Python files that define CLAIM or CLAIMS"
        ),
        budget=budget(10),
        seed=seed,
        executor=executor,
        seeds=seeds("so many searches of each line, from --seed on, each with the whole budget"),
        out=dict(flag=True, metavar="DIR", help="where verdicts and certificates go"),
        expect=dict(flag=True, metavar="STATUS", help="exit 1 unless every verdict is this"),
        witnesses=dict(
            flag=True,
            nargs="+",
            default=[],
            metavar="FILE",
            help="documents of counterexamples, or kept verdicts: their instances are tried first",
        ),
    )
    add(
        "replay",
        "derive a verdict anew from its document alone",
        file=dict(metavar="FILE"),
        latex=dict(flag=True, action="store_true", help="tell it in LaTeX, as for a mail"),
        rocq=dict(flag=True, action="store_true", help="ask coqc too, where it is at hand"),
    )
    add(
        "diff",
        "what changed between two ledgers, or two answers of sharpen --json, claim by claim",
        old=dict(metavar="OLD", help="a ledger.json, or the folder of a package"),
        new=dict(metavar="NEW"),
    )
    add(
        "export",
        "write what a document shows for another checker",
        file=dict(metavar="FILE"),
        to=dict(flag=True, default="rocq", choices=["rocq"], help="the proof assistant (rocq)"),
        out=dict(flag=True, metavar="FILE.v", help="where it goes; printed otherwise"),
    )
    add(
        "mutate",
        "which wrong relatives of a claim are refuted, and which survive",
        claims=dict(nargs="+", metavar="ID|FILE.py"),
        budget=budget(60),
        seed=seed,
        executor=executor,
        seeds=seeds(
            "look at all of them so many times, from --seed on, with the whole budget each"
        ),
    )
    add(
        "sharpen",
        "how much of each constant, term, exponent and ceiling a claim needs",
        claims=dict(nargs="+", metavar="ID|FILE.py"),
        budget=budget(60),
        seed=seed,
    )


def _add_working(add):
    """Add the commands that compute worst cases, start and test a user's own files, and compile
    kernels."""
    add(
        "worst",
        "the exact worst case of a method over a class of functions, with its proof (extra pep)",
        method=dict(
            metavar="METHOD",
            help="a method of `list algorithms`, gradient_descent, momentum or nesterov",
        ),
        values=dict(nargs="*", metavar="NAME=NUMBER", help="N and hyper-parameters"),
        rounds=dict(flag=True, type=int, default=1, metavar="R"),
        L=dict(flag=True, default="1", metavar="NUMBER", help="smoothness of every function (1)"),
        mu=dict(
            flag=True, default="0", metavar="NUMBER", help="their strong convexity, or below 0 (0)"
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
            help="the last round, or the least over all",
        ),
        out=dict(flag=True, metavar="FILE", help="where its certificate goes"),
    )
    add(
        "new",
        "write a starting file that runs: a claim, method, problem, setting, figure or adapter of your own",
        kind=dict(
            choices=["claim", "method", "problem", "setting", "figure", "adapter"], metavar="KIND"
        ),
        file=dict(nargs="?", metavar="FILE.py", help="my_KIND.py if not given"),
    )
    add(
        "contracts",
        "run the contract tests on what a file of your own defines",
        contracted=dict(nargs="+", metavar="FILE.py"),
    )
    add(
        "conform",
        "whether your code is the method that a theorem is about; exit 1 where it is not",
        adapter=dict(metavar="ADAPTER.py", help="defines METHOD, start, round and state"),
    )
    add(
        "data",
        "sets of data: which are there, what is missing, where it is published, what it weighs",
        set=dict(nargs="?", metavar="NAME", help="one of them; all if not given"),
        data=dict(flag=True, metavar="DIR", help="where files are; FEDTHEORY_DATA if not given"),
    )
    add(
        "experiments",
        "the papers' experiments: what is printed, what was chosen, what they cost here; their runs",
        experiment=dict(nargs="?", metavar="NAME", help="one of them; all if not given"),
        scale=dict(flag=True, default="quick", choices=["smoke", "quick", "paper"], help="(quick)"),
        data=dict(flag=True, metavar="DIR", help="where files are; FEDTHEORY_DATA if not given"),
        run=dict(
            flag=True,
            action="store_true",
            help="carry out what is not kept, of all if none is named; goes on if killed",
        ),
        only=dict(
            flag=True,
            nargs="+",
            default=(),
            metavar="WORD",
            help="runs that have all these words, as FSL 500 gamma=1 seed=0; how they ended",
        ),
    )
    add("warmup", "compile every kernel now")
    add(
        "completion",
        "what a shell needs to complete commands, options and names: source it",
        shell=dict(choices=["bash", "zsh", "fish"], metavar="SHELL"),
    )
