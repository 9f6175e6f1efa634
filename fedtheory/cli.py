"""The command line: `fedtheory COMMAND ...`; each command answers in text or, with --json, one JSON document.

Exit 0: the answer was obtained. 1: a check that was asked to hold did not. 2: bad input, one line.
"""

import argparse
import json
import math
import sys
import time
from pathlib import Path

from fedtheory.errors import FedtheoryError, Interrupted, InvalidInput


def _progress(stream=sys.stderr):
    """A line that is rewritten at most five times a second, on a terminal only."""
    last = [0.0]

    def show(done, total, seconds):
        now = time.perf_counter()
        if stream.isatty() and (now - last[0] > 0.2 or done == total) and seconds > 0.5:
            last[0] = now
            left = seconds * (total - done) / max(done, 1)
            stream.write(f"\r{done}/{total} rounds, {seconds:.1f} s, {left:.0f} s left\033[K" + "\n" * (done == total))
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
    from fedtheory import discover, metrics
    from fedtheory.algorithm import describe
    if arguments.what == "algorithms":
        rows = {name: dict(cites=a.cites, meaning=a.meaning,
                           hyper={field: describe(spec) for field, spec in a.hyper.items()})
                for name, a in sorted(discover.algorithms().items())}
        text = "\n".join(f"{name:20s}{row['cites']}: {row['meaning']}\n"
                         + "\n".join(f"    {field:14s}{spec}" for field, spec in row["hyper"].items())
                         for name, row in rows.items())
    elif arguments.what == "problems":
        rows = {name: " ".join((maker.__doc__ or "").split()) for name, maker in discover.problem_makers().items()}
        text = "\n".join(f"{name:26s}{doc.split('. ')[0]}" for name, doc in rows.items())
    elif arguments.what == "metrics":
        rows = {name: dict(latex=m.latex, meaning=m.meaning) for name, m in metrics.ALL.items()}
        text = "\n".join(f"{name:22s}{row['meaning']}" for name, row in rows.items())
    return rows, text


def run(arguments):
    from fedtheory import spec
    return spec.run_file(Path(arguments.spec), Path(arguments.out) if arguments.out else None, _progress())


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
        print(f"{done}/{len(pairs)} {name} on {on}: {time.perf_counter() - begun:.1f} s", file=sys.stderr, flush=True)
    seconds = time.perf_counter() - begun
    return (dict(algorithms=len(algorithms), problems=len(problems), seconds=seconds),
            f"{len(algorithms)} algorithms and {len(problems)} problems are ready ({seconds:.1f} s)")


def _parser():
    parser = argparse.ArgumentParser(prog="fedtheory", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, function, help, **arguments):
        command = commands.add_parser(name, help=help, description=help)
        for argument, options in arguments.items():
            command.add_argument(*([argument] if "flag" not in options else [f"--{argument}"]),
                                 **{key: value for key, value in options.items() if key != "flag"})
        command.add_argument("--json", action="store_true", help="one JSON document on standard output")
        command.set_defaults(function=function)

    add("list", list_, "what there is", what=dict(nargs="?", default="algorithms",
                                                  choices=["algorithms", "problems", "metrics"]))
    add("run", run, "run what a TOML file asks for: print it, plot it, keep the data",
        spec=dict(metavar="SPEC.toml"), out=dict(flag=True, metavar="DIR", help="where figures and data go"))
    add("warmup", warmup, "compile every kernel now")
    return parser


def main(argv=None):
    arguments = _parser().parse_args(argv)
    try:
        data, text = arguments.function(arguments)
    except Interrupted as stopped:
        print(f"fedtheory: {stopped}", file=sys.stderr)
        return 130
    except (InvalidInput, FedtheoryError) as error:
        print(f"fedtheory: {error}", file=sys.stderr)
        return 2
    print(json.dumps(_finite(data), allow_nan=False, indent=2) if arguments.json else text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
