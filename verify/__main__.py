"""`python -m verify`: check every claim and make the reviewer's package; `--replay DIR` derives a package anew.

Exit 0: the package is made, or is what it says. 1: a claim could not be checked, or something differs. 2: bad input.
130: Ctrl-C; what was decided is kept.
"""

import argparse
import sys
from pathlib import Path

from fedtheory.errors import FedtheoryError, refuse
from verify import campaign, replaying, reviewing


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise SystemExit(_said(f"{message}; see python -m verify --help"))


def _said(message):
    print(f"verify: {message}", file=sys.stderr)
    return 2


def _parser():
    parser = Parser(prog="python -m verify", description="Check every claim; make the package a reviewer opens.")
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX", help="only claims whose ids begin so")
    parser.add_argument("--smoke", action="store_true", help="every claim shallowly, within a minute")
    parser.add_argument("--budget", metavar="S", help="seconds of one core for each claim, instead")
    parser.add_argument("--seed", default="0", metavar="N", help="0 if not given")
    parser.add_argument("--out", default="out/verify", metavar="DIR", help="where the package goes: out/verify")
    parser.add_argument("--figures", action="store_true", help="make all figures at smoke scale first")
    parser.add_argument("--open", action="store_true", help="show the page in a browser when it is made")
    parser.add_argument("--replay", metavar="DIR", help="derive the package in DIR anew and name what differs")
    parser.add_argument("--all", action="store_true", help="with --replay: every verdict, not a sample")
    parser.add_argument("--workers", default=str(campaign.WORKERS), metavar="N",
                        help="processes, 2 if not given; 0: in this one")
    return parser


def _number(name, text, kind, good, rule):
    try:
        value = kind(text)
    except ValueError:
        value = None
    return value if value is not None and good(value) else refuse(name, rule, text)


def main(argv=None):
    try:
        arguments = _parser().parse_args(argv)
        workers = _number("--workers", arguments.workers, int, lambda n: 0 <= n <= 256, "must be from 0 to 256")
        if arguments.replay is not None:
            if arguments.prefixes or arguments.smoke or arguments.budget or arguments.figures or arguments.open:
                refuse("--replay", "takes no other option than --all and --workers", arguments.replay)
            return replaying.replay(Path(arguments.replay), arguments.all, workers)
        if arguments.all:
            refuse("--all", "goes with --replay", "no --replay")
        if arguments.smoke and arguments.budget:
            refuse("--smoke", "has a budget of its own", f"--budget {arguments.budget}")
        budget = _number("--budget", arguments.budget, float, lambda b: 0 < b < 1e6,
                         "must be a positive number of seconds") if arguments.budget else \
            campaign.SMOKE if arguments.smoke else campaign.FULL
        seed = _number("--seed", arguments.seed, int, lambda n: 0 <= n < 2**63, "must be an integer >= 0")
        status = reviewing.make(Path(arguments.out), budget, seed, tuple(arguments.prefixes), workers,
                                arguments.figures)
        if arguments.open:
            print(reviewing.shown(Path(arguments.out) / "index.html"), file=sys.stderr)
        return status
    except KeyboardInterrupt as stopped:
        print(f"verify: {stopped if isinstance(stopped, campaign.Stopped) else 'interrupted'}", file=sys.stderr)
        return 130
    except campaign.Broken as error:
        print(f"verify: {error}", file=sys.stderr)
        return 1
    except (FedtheoryError, OSError) as error:
        return _said(error)


if __name__ == "__main__":
    sys.exit(main())
