"""Command line of the campaign: `python -m verify` checks every claim and writes the reviewer's
package; `--replay DIR` derives a package anew.

`--replay` judges without trust in the package whatever needs no search. It searches again for a
sample of claims, which differs each time, and prints what it left unverified. `--all` rederives
everything that can be derived.

Exit 0: the package is made, or the replay agrees with it. 1: a claim could not be checked, or a
difference was found. 2: bad input. 130: Ctrl-C; verdicts decided so far are stored.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fedtheory import plugins, terminal
from fedtheory.app.argument_parser import Parser
from fedtheory.errors import FedtheoryError, explain_system, refuse
from fedtheory.parallel import executors
from fedtheory.verify import build_package, campaign

REPLAY = ("--all", "--sample", "--sample-seed")


def build_parser(prog: str = "python -m verify") -> Parser:
    """Build the argument parser of the campaign."""
    found = Parser(prog=prog, description="Check every claim, and write the reviewer's package.")
    found.add_argument(
        "prefixes", nargs="*", metavar="PREFIX", help="check only claims whose ids begin with this"
    )
    found.add_argument(
        "--smoke", action="store_true", help="check every claim briefly, within a minute"
    )
    found.add_argument("--budget", metavar="S", help="work for each claim, in seconds of one core")
    found.add_argument("--seed", default="0", metavar="N", help="the seed of every search (0)")
    found.add_argument(
        "--out", default="out/verify", metavar="DIR", help="the folder of the package (out/verify)"
    )
    found.add_argument(
        "--figures",
        action="store_true",
        help="draw all figures at smoke scale first; with --replay: compute their arrays again",
    )
    found.add_argument(
        "--rocq",
        action="store_true",
        help="let coqc check each certificate too (minutes to hours); with --replay: once more",
    )
    found.add_argument("--open", action="store_true", help="open the page in a browser at the end")
    found.add_argument(
        "--replay", metavar="DIR", help="derive the package in DIR again, and name what differs"
    )
    found.add_argument(
        "--all",
        action="store_true",
        help="with --replay: repeat every search, and compute all figures' arrays",
    )
    found.add_argument(
        "--sample",
        metavar="N",
        help="with --replay: the number of searches to repeat, instead of two minutes of searches",
    )
    found.add_argument(
        "--sample-seed",
        metavar="N",
        help="with --replay: the seed of the sample (a new one each time)",
    )
    found.add_argument("--json", action="store_true", help="one JSON document on standard output")
    found.add_argument(
        "--with",
        dest="files",
        action="append",
        default=[],
        metavar="FILE.py",
        help="a file of your own; without a PREFIX only the claims of the file are checked",
    )
    executors.add_options(found)
    found.add_argument(
        "--shard",
        metavar="I/N",
        help="check only the I-th of N parts of the claims; a part gives no package",
    )
    found.add_argument(
        "--merge",
        nargs="+",
        default=[],
        metavar="DIR",
        help="write the package from the shards in these folders",
    )
    found.add_argument(
        "--zip", metavar="FILE.zip", help="write the package into one file too, for an archive"
    )
    return found


def _parse_number(name: str, text: str, kind: type, good: Callable[..., Any], rule: str) -> float:
    try:
        value = kind(text)
    except ValueError:
        value = None
    return value if value is not None and good(value) else refuse(name, rule, text)


def _claims_of_files(files: Mapping[str, bytes]) -> Any:
    """Return the ids of the claims that the given Python files define; () where no file is given."""
    found = [
        claim.id
        for file in plugins.register(files)
        for _, claim in plugins.list_records("CLAIM", file)
    ]
    if files and not found:
        refuse("--with", "must define a CLAIM where no PREFIX says what to check", ", ".join(files))
    return tuple(found)


def _parse_shard(arguments: argparse.Namespace) -> Any:
    """Return (number, total) of the option --shard, or None where the option is not given."""
    if arguments.shard is None:
        return None
    if arguments.merge or arguments.figures or arguments.rocq or arguments.open:
        refuse(
            "--shard", "makes no package: no --merge, --figures, --rocq, --open", arguments.shard
        )
    which, _, of = arguments.shard.partition("/")
    good = which.isdecimal() and of.isdecimal() and 1 <= int(which) <= int(of) <= 10**6
    return (
        (int(which), int(of))
        if good
        else refuse("--shard", "must be I/N, 1/N to N/N", arguments.shard)
    )


def main(argv: Sequence[str] | None = None, prog: str = "python -m verify") -> int:
    return terminal.run_to_end("verify", lambda: _run_request(argv, prog))


def _run_request(argv: Sequence[str], prog: str) -> int:
    try:
        arguments = build_parser(prog).parse_args(argv)
        with plugins.registered(arguments.files):
            return _exit_status(arguments)
    except KeyboardInterrupt as stopped:
        said = stopped if isinstance(stopped, campaign.Stopped) else "interrupted"
        terminal.say(f"verify: {said}")
        return 130
    except campaign.Broken as error:
        terminal.say(f"verify: {error}")
        return 1
    except FedtheoryError as error:
        terminal.say(f"verify: {error}")
        return 2
    except OSError as error:
        terminal.say(f"verify: {explain_system(error)}")
        return 2


def _exit_status(arguments: argparse.Namespace) -> int:
    """Carry out the command that the arguments ask for, and return its exit status."""
    executor = executors.chosen_executor(arguments, campaign.EXECUTOR)
    if arguments.replay is not None:
        if (
            arguments.prefixes
            or arguments.smoke
            or arguments.budget
            or arguments.open
            or arguments.shard
            or arguments.merge
        ):
            refuse(
                "--replay",
                f"takes no other options than --figures, --rocq, --workers, --executor, {', '.join(REPLAY)}, --json",
                arguments.replay,
            )
        sample, drawn = (
            text
            and _parse_number(name, text, int, lambda n: 0 <= n < 2**63, "must be an integer >= 0")
            for name, text in (
                ("--sample", arguments.sample),
                ("--sample-seed", arguments.sample_seed),
            )
        )
        from fedtheory.verify import rederive_package

        return rederive_package.replay(
            Path(arguments.replay),
            arguments.all,
            executor,
            sample,
            drawn,
            arguments.figures,
            arguments.json,
            rocq=arguments.rocq,
        )
    for name in REPLAY:
        if getattr(arguments, name[2:].replace("-", "_")) not in (None, False):
            refuse(name, "goes with --replay", "no --replay")
    if arguments.smoke and arguments.budget:
        refuse("--smoke", "has a budget of its own", f"--budget {arguments.budget}")
    budget = (
        _parse_number(
            "--budget",
            arguments.budget,
            float,
            lambda b: 0 < b < 1e6,
            "must be a positive number of seconds",
        )
        if arguments.budget
        else campaign.SMOKE
        if arguments.smoke
        else campaign.FULL
    )
    seed = _parse_number(
        "--seed", arguments.seed, int, lambda n: 0 <= n < 2**63, "must be an integer >= 0"
    )
    prefixes = tuple(arguments.prefixes) or _claims_of_files(arguments.files)
    asked = build_package.CampaignSettings(
        budget,
        seed,
        prefixes,
        executor,
        arguments.figures,
        arguments.rocq,
        _parse_shard(arguments),
        tuple(map(Path, arguments.merge)),
        arguments.json,
        Path(arguments.zip) if arguments.zip else None,
    )
    status = build_package.make(Path(arguments.out), asked)
    if arguments.open:
        terminal.say(build_package.open_page(Path(arguments.out) / "index.html"))
    return status


if __name__ == "__main__":
    sys.exit(main())
