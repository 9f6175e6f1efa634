"""The command line: `fedtheory COMMAND ...`; each command answers in text or, with --json, one JSON
document.

Exit 0: the answer was obtained. 1: a check that was asked to hold did not. 2: bad input, one line.
"""

import argparse
import importlib
import json
import math
import os
import shutil
import sys
import time
from pathlib import Path

from fedtheory import brought, spreading
from fedtheory.errors import FedtheoryError, Interrupted, InvalidInput, refuse


def _progress(stream=sys.stderr):
    """A line that is rewritten at most five times a second, on a terminal only."""
    last = [0.0]

    def show(done, total, seconds):
        now = time.perf_counter()
        if stream.isatty() and (now - last[0] > 0.2 or done == total) and seconds > 0.5:
            last[0] = now
            left = seconds * (total - done) / max(done, 1)
            stream.write(
                f"\r{done}/{total} rounds, {seconds:.1f} s, {left:.0f} s left\033[K"
                + "\n" * (done == total)
            )
            stream.flush()

    return show


def _finite(value):
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# ---------------------------------------------------------------- commands


def list_(arguments):
    if arguments.what == "claims":
        return _claims(arguments.prefix)
    if arguments.prefix:
        refuse("list", "takes a prefix for claims only", f"{arguments.what} {arguments.prefix}")
    from fedtheory import discover, metrics
    from fedtheory.algorithm import describe

    if arguments.what == "algorithms":
        rows = {
            name: dict(
                cites=a.cites,
                meaning=a.meaning,
                hyper={field: describe(spec) for field, spec in a.hyper.items()},
            )
            for name, a in sorted(discover.algorithms().items())
        }
        text = "\n".join(
            f"{name:20s}{row['cites']}: {row['meaning']}\n"
            + "\n".join(f"    {field:17s}{spec}" for field, spec in row["hyper"].items())
            for name, row in rows.items()
        )
    elif arguments.what == "problems":
        rows = {
            name: " ".join((maker.__doc__ or "").split())
            for name, maker in discover.problem_makers().items()
        }
        text = "\n".join(f"{name:26s}{doc.split('. ')[0]}" for name, doc in rows.items())
    elif arguments.what == "papers":
        rows = {
            name: dict(paper._asdict(), claims=sum(c.paper == name for c in discover.claims()))
            for name, paper in discover.papers().items()
        }
        text = "\n".join(
            f"{name:8s}{paper}: {rows[name]['claims']} claims"
            for name, paper in discover.papers().items()
        )
    elif arguments.what == "metrics":
        rows = {name: dict(latex=m.latex, meaning=m.meaning) for name, m in metrics.ALL.items()}
        text = "\n".join(f"{name:22s}{row['meaning']}" for name, row in rows.items())
    elif arguments.what == "figures":
        rows = {name: dict(cites=f.cites, title=f.title) for name, f in _figures().items()}
        text = "\n".join(f"{name:22s}{row['cites']}: {row['title']}" for name, row in rows.items())
    return rows, text


def _figures():
    """id -> Figure: the room above this one is found by name when asked for."""
    return importlib.import_module("fedtheory.figures").figures()


def _claims(prefix):
    from fedtheory.app.explain import listed

    rows = listed(prefix)
    wide = 2 + max(map(len, rows))
    lines = [f"{name:{wide}s}{row['kind']:11s}{row['meaning']}" for name, row in rows.items()]
    return rows, "\n".join(line[: _width(500)] for line in lines)


def _width(otherwise):
    """Columns to fill: the terminal's, or a number of them where output goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else otherwise


def explain(arguments):
    from fedtheory import discover

    if arguments.id in discover.papers():
        from fedtheory.app.explain import of_paper

        return of_paper(arguments.id, min(100, max(60, _width(88))))
    from fedtheory.app.explain import described, explain
    from fedtheory.app.judging import asked

    claims, width = [claim for _, claim in asked([arguments.id])], min(100, max(60, _width(88)))
    data = [described(claim) for claim in claims]
    return (
        data if len(data) != 1 else data[0],
        "\n\n".join(explain(claim, width, bold=sys.stdout.isatty()) for claim in claims),
    )


def bound(arguments):
    from fedtheory.app.explain import bound, bound_text, parsed

    pairs = [parsed(text) for text in arguments.values]
    twice = [name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n])]
    if twice:
        refuse("bound", "takes each name once", twice[0])
    found = bound(arguments.id, dict(pairs), strict=not arguments.loose, line=arguments.line)
    return found, bound_text(found)


def run(arguments):
    from fedtheory import jit
    from fedtheory.app import spec

    jit.announce.append(
        lambda: print(
            "compiling kernels; the next process finds them in its cache",
            file=sys.stderr,
            flush=True,
        )
    )
    return spec.run_file(
        Path(arguments.spec), Path(arguments.out) if arguments.out else None, _progress()
    )


def check(arguments):
    from fedtheory.app import judging

    return judging.check(
        arguments.claims,
        arguments.budget,
        arguments.seed,
        arguments.executor,
        Path(arguments.out) if arguments.out else None,
        arguments.expect,
        lambda line: print(line, file=sys.stderr, flush=True),
        [Path(name) for name in arguments.witnesses],
        arguments.seeds,
    )


def replay(arguments):
    from fedtheory.app import judging

    data, text, held = judging.replay(Path(arguments.file), arguments.latex)
    if arguments.rocq and held:
        from fedtheory.app.second_kernel import asked

        data["second_kernel"], lines = asked(Path(arguments.file))
        text, held = "\n".join([text, *lines]), data["second_kernel"]["accepted"] is not False
    return data, text, held


def export(arguments):
    from fedtheory.app import second_kernel

    out = Path(arguments.out) if arguments.out else None
    return second_kernel.export(Path(arguments.file), arguments.to, out)


def mutate(arguments):
    from fedtheory.app import judging

    return judging.mutate(arguments.claims, arguments.budget, arguments.seed)


def sharpen(arguments):
    from fedtheory.app import judging

    return judging.sharpen(arguments.claims, arguments.budget, arguments.seed)


def worst(arguments):
    from fedtheory.app.worst import worst

    return worst(
        arguments.method,
        arguments.values,
        arguments.rounds,
        arguments.L,
        arguments.mu,
        arguments.measure,
        arguments.over,
        Path(arguments.out) if arguments.out else None,
    )


def new(arguments):
    from fedtheory.app import starting

    return starting.new(arguments.kind, arguments.file)


def contracts(arguments):
    from fedtheory.app import contracts as kept

    return kept.contracts([Path(name) for name in arguments.contracted])


def conform(arguments):
    from fedtheory.conformance.adapters import of_file

    found = of_file(brought.load(arguments.adapter).module, arguments.adapter)
    return found.data(), str(found), found.good


def data(arguments):
    from fedtheory.app.datasets import told

    return told(arguments.set, arguments.data)


def warmup(arguments):
    """Compile every kernel on the small examples, so that no later command waits."""
    import fedtheory as ft
    from fedtheory import discover
    from fedtheory.algorithm import example_hyper

    begun = time.perf_counter()
    problems, algorithms = dict(discover.examples()), discover.algorithms()
    # Kernels are compiled apart, so every problem once and every algorithm once is enough.
    pairs = [("fedavg", name) for name in problems]
    pairs += [(name, "quadratics.diagonal") for name in algorithms]
    for done, (name, on) in enumerate(pairs, 1):
        ft.run(problems[on], name, rounds=1, **example_hyper(algorithms[name]))
        print(
            f"{done}/{len(pairs)} {name} on {on}: {time.perf_counter() - begun:.1f} s",
            file=sys.stderr,
            flush=True,
        )
    seconds = time.perf_counter() - begun
    return (
        dict(algorithms=len(algorithms), problems=len(problems), seconds=seconds),
        f"{len(algorithms)} algorithms and {len(problems)} problems are ready ({seconds:.1f} s)",
    )


def _version():
    from fedtheory import __version__

    return __version__


def _parser():
    parser = argparse.ArgumentParser(prog="fedtheory", description=__doc__.splitlines()[0])
    parser.add_argument("--version", action="version", version=f"fedtheory {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, function, help, **arguments):
        command = commands.add_parser(name, help=help, description=help)
        for argument, options in arguments.items():
            command.add_argument(
                *([argument] if "flag" not in options else [f"--{argument}"]),
                **{key: value for key, value in options.items() if key != "flag"},
            )
        command.add_argument(
            "--json", action="store_true", help="one JSON document on standard output"
        )
        command.add_argument(
            "--with",
            dest="files",
            action="append",
            default=[],
            metavar="FILE.py",
            help="a file of your own methods, claims, problems, settings or figures; may be repeated",
        )
        command.set_defaults(function=function)

    for commands_of in (_about, _deciding, _working):
        commands_of(add)
    for name, help in ABOVE.items():
        commands.add_parser(name, help=help, add_help=False)
    return parser


# Rooms above this one, which have parsers of their own and are found by name.
ABOVE = dict(
    figures="make figures and tables",
    verify="check every claim and make the package that a reviewer opens",
)


def _about(add):
    """Commands that say what there is, and what it says at numbers."""
    add(
        "list",
        list_,
        "what there is",
        what=dict(
            nargs="?",
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
        explain,
        "a claim in plain words: what it means, says and assumes; or a paper and what it claims",
        id=dict(metavar="ID|PAPER|FILE.py"),
    )
    add(
        "bound",
        bound,
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
        run,
        "run what a TOML file asks for: print it, plot it, keep the data",
        spec=dict(metavar="SPEC.toml"),
        out=dict(flag=True, metavar="DIR", help="where figures and data go"),
    )


def _deciding(add):
    """Commands that find out what is true."""
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
    add(
        "check",
        check,
        "is a claim true, how tight is it, where does it break",
        claims=dict(
            nargs="+", metavar="ID|FILE.py", help="ids, or Python files that define CLAIM or CLAIMS"
        ),
        budget=budget(10),
        seed=seed,
        executor=dict(
            flag=True, default="serial", metavar="SPEC", help=f"who works: {spreading.SPECS}"
        ),
        seeds=dict(
            flag=True,
            type=int,
            default=1,
            metavar="N",
            help="so many searches of each line, from --seed on, each with the whole budget",
        ),
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
        replay,
        "derive a verdict anew from its document alone",
        file=dict(metavar="FILE"),
        latex=dict(flag=True, action="store_true", help="tell it in LaTeX, as for a mail"),
        rocq=dict(flag=True, action="store_true", help="ask coqc too, where it is at hand"),
    )
    add(
        "export",
        export,
        "write what a document shows for another checker",
        file=dict(metavar="FILE"),
        to=dict(flag=True, default="rocq", choices=["rocq"], help="the proof assistant (rocq)"),
        out=dict(flag=True, metavar="FILE.v", help="where it goes; printed otherwise"),
    )
    add(
        "mutate",
        mutate,
        "which wrong relatives of a claim are refuted, and which survive",
        claims=dict(nargs="+", metavar="ID|FILE.py"),
        budget=budget(60),
        seed=seed,
    )
    add(
        "sharpen",
        sharpen,
        "how much of each constant, term, exponent and ceiling a claim needs",
        claims=dict(nargs="+", metavar="ID|FILE.py"),
        budget=budget(60),
        seed=seed,
    )


def _working(add):
    """Commands that compute worst cases, and kernels."""
    add(
        "worst",
        worst,
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
        new,
        "write a starting file that runs: a claim, method, problem, setting or figure of your own",
        kind=dict(choices=["claim", "method", "problem", "setting", "figure"], metavar="KIND"),
        file=dict(nargs="?", metavar="FILE.py", help="my_KIND.py if not given"),
    )
    add(
        "contracts",
        contracts,
        "run the contract tests on what a file of your own defines",
        contracted=dict(nargs="+", metavar="FILE.py"),
    )
    add(
        "conform",
        conform,
        "whether your code is the method that a theorem is about; exit 1 where it is not",
        adapter=dict(metavar="ADAPTER.py", help="defines METHOD, start, round and state"),
    )
    add(
        "data",
        data,
        "sets of data: which are there, what is missing, where it is published, what it weighs",
        set=dict(nargs="?", metavar="NAME", help="one of them; all if not given"),
        data=dict(flag=True, metavar="DIR", help="where files are; FEDTHEORY_DATA if not given"),
    )
    add("warmup", warmup, "compile every kernel now")


def main(argv=None):
    argv = sys.argv[1:] if argv is None else argv
    if argv and argv[0] in ABOVE:
        above = importlib.import_module(f"fedtheory.{argv[0]}.__main__")
        return above.main(argv[1:], f"fedtheory {argv[0]}")
    parser = _parser()
    arguments, rest = parser.parse_known_args(argv)
    if rest and hasattr(arguments, "values") and not any(text.startswith("-") for text in rest):
        arguments.values += rest  # values may stand behind options
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        named = getattr(arguments, "claims", None) or [getattr(arguments, "id", "")]
        own = [name for name in named if name.endswith(".py") and os.path.isfile(name)]
        with brought.beside(arguments.files, own):
            data, text, *held = arguments.function(arguments)
    except KeyboardInterrupt as stopped:
        print(
            f"fedtheory: {stopped if isinstance(stopped, Interrupted) else 'interrupted'}",
            file=sys.stderr,
        )
        return 130
    except (InvalidInput, FedtheoryError) as error:
        print(f"fedtheory: {error}", file=sys.stderr)
        return 2
    try:
        print(
            json.dumps(_finite(data), allow_nan=False, indent=2) if arguments.json else text,
            flush=True,
        )
    except BrokenPipeError:  # whoever reads has seen enough, as `head` has
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
