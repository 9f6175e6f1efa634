"""Bad calls of commands and functions, `python -m tests.checker.bad_calls`: thousands of calls, and
a list of the calls that are not answered by one clear sentence.

Each call is a valid call of which an argument or two are spoiled: another type, no number, a huge
value, an empty value, control characters. A function must answer by a value or by an exception of
`fedtheory.errors` whose message is one line. A command must answer by exit 0, 1 or 2, and with 2 by
one line on standard error.

Exit 0: all calls were answered. 1: some calls were not; they are printed.
"""

import argparse
import contextlib
import inspect
import io
import os
import random
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np

import fedtheory as ft
from fedtheory.app import cli
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import FedtheoryError, show
from fedtheory.experiments.data import partition

SECONDS = 60  # processor time after which a call counts as hanging
HELPERS = "fedtheory.errors", "fedtheory.jit"  # modules whose functions other modules import
SMALL = dict(budget=0.1)


class Late(BaseException):
    """Raised where a call takes longer than any of these calls should."""


class Awkward:
    """An object on which every operation fails."""

    def __repr__(self):
        raise RuntimeError("no text")

    __eq__ = __hash__ = None  # type: ignore[assignment]


def values():
    """Return awkward argument values: some that no function accepts, and some that a few functions
    accept; made anew for each call."""
    nan = float("nan")
    numbers = [0, -1, 1.5, nan, float("inf"), -float("inf"), 1e308, 10**400, 2**63, -(2**40), 1j]
    texts = ["", "x", "fsl.theorem1", "a\0b", "\x1b[31m", "é" * 300, "../..", "/dev/null", b"x"]
    arrays = [np.array([nan]), np.zeros((2, 2)), np.array("a"), np.array(None), np.zeros(0)]
    nested = [[], [[]], {}, {"a": 1}, (1, 2), {1}, range(3), [None], ["a", 1], [[1], [1, 2]]]
    others = [None, True, object(), Awkward(), print, Path("/"), Fraction(1, 3), iter([])]
    return [*numbers, *texts, *arrays, *nested, *others, np.float64(nan), np.int64(-5)]


def functions(folder):
    """Return [(name, function, good arguments)]; a required argument without a good value here
    always gets a bad value."""
    problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
    table = Path(folder) / "own.csv"
    table.write_text("1,2\n3,4\n")
    r = ft.run(problem, "fedavg", rounds=2, K=1, eta_l=0.1)
    known = dict(
        run=dict(problem=problem, algorithm="fedavg", rounds=1, K=1, eta_l=0.1),
        pretrain=dict(problem=problem, steps=1, eta=0.1),
        expected=dict(problem=problem, algorithm="fedavg", rounds=1, K=1, eta_l=0.1),
        check=dict(claim="fsl.h_lower", **SMALL),
        mutate=dict(claim="fsl.h_lower", **SMALL),
        sharpen=dict(claim="fsl.h_lower", **SMALL),
        audit=dict(claim="fsl.h_lower", **SMALL),
        minimise=dict(claim="fsl.h_lower", **SMALL),
        compare=dict(claim="fsl.theorem2", problem=problem, rounds=2, trials=1),
        check_on=dict(claim="fsl.theorem2", problem=problem, rounds=2, trials=4),
        explain=dict(claim="fsl.theorem1"),
        algorithm=dict(name="fedavg"),
        claim=dict(name="fsl.theorem1"),
        load=dict(name="handwriting", writers=2, each=1, classes=2),
        read=dict(path=table),
        quadratic=dict(d=2, clients=3, L=1.0, mu=0.5),
    )
    found = []
    rooms = (ft.problems, ft.data, partition, ft.participation, ft.networks, ft.layers)
    for room in (ft, *rooms):
        for name in getattr(room, "__all__", None) or vars(room):
            each = getattr(room, name, None)
            own = inspect.isfunction(each) and each.__module__.startswith("fedtheory.")
            if own and not name.startswith("_") and each.__module__ not in HELPERS:
                found.append((f"{room.__name__}.{name}", each, known.get(name, {})))
    claim = ft.claim("fsl.theorem1")
    bound = ("loss", "grad", "client_loss", "client_grad", "reweighted", "relaxed")
    for owner, names in (
        (problem, bound),
        (claim, ("evaluate", "replace", "without")),
        (r, ("plot",)),
    ):
        kind = type(owner).__name__
        found += [(f"{kind}.{name}", getattr(owner, name), {}) for name in names]
    return found


def spoil_arguments(draw, function, good):
    """Draw the arguments of a call: good arguments, one or two of them replaced by bad values."""
    takes = inspect.signature(function).parameters.values()
    plain = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    named = [each for each in takes if each.kind not in plain]
    given = dict(good)
    for each in named:
        if each.default is each.empty and each.name not in given:
            given[each.name] = draw.choice(values())
    if named:
        for each in draw.sample(named, min(len(named), draw.choice((1, 1, 2)))):
            given[each.name] = draw.choice(values())
    if isinstance(given.get("budget"), (int, float)) and given["budget"] > 10:
        given["budget"] = 0.1  # a large budget would make a long call, not a bad one
    positional = [
        given.pop(each.name)
        for each in named
        if each.kind == each.POSITIONAL_ONLY and each.name in given
    ]
    return positional, given


# ---------------------------------------------------------------- commands

COMMANDS = [
    "list claims fsl",
    "explain fsl.theorem1",
    "bound fsl.theorem2 L=1 T=3 --line 0",
    "run spec.toml --out out",
    "check fsl.h_lower --budget 0.1 --seed 1 --out verdicts --expect proved",
    "check fsl.h_lower fsl.lemma4 --budget 0.1 --executor threads:2 --seeds 2",
    "check claims.py --budget 0.1 --witnesses document.json",
    "replay document.json --latex",
    "diff document.json document.json",
    "export document.json --to rocq --out a.v",
    "mutate fsl.h_lower --budget 0.1 --executor serial",
    "sharpen fsl.h_lower --budget 0.1 --seed 0",
    "minimise fsl.h_lower --budget 0.1 --seed 0",
    "audit fsl.h_lower --at drawn --budget 0.1 --seed 0",
    "worst gradient_descent eta=1 --rounds 1 --L 1 --mu 0 --measure loss --over last",
    "new claim mine.py",
    "contracts none.py",
    "conform none.py --json",
    "data digits --data .",
    "experiments fsl --scale smoke --only FSL",
    "completion bash",
    "list algorithms --with claims.py --json",
    "verify --shard 0/0 --budget 0.1 --out there --seed 0 --executor serial",
    "verify --replay . --sample 1 --sample-seed 1",
    "figures none --scale smoke --out there --data .",
]
WORDS = [
    *("", " ", "x", "-1", "0", "nan", "inf", "1e400", "9" * 5000, "é" * 300, "\x1b[31mred", "a\nb"),
    *(
        "--",
        "-",
        "--json",
        "--with",
        "--out",
        "--budget",
        "=",
        "L=",
        "=1",
        "L=nan",
        "L=1/0",
        "..",
        "/",
    ),
    *("fsl.", "fsl.theorem1", "spec.toml", "claims.py", "document.json", "/dev/null", "/proc/x"),
    *("none.py", ".", "folder", "threads:0", "processes:x", "proved", "bytes.bin", "\udcff"),
]
FILES = {
    "claims.py": "CLAIMS = 5\n",
    "none.py": "import sys\nsys.exit(0)\n",
    "document.json": '{"format": "fedtheory-proof", "claim": ["x"], "nodes": 1e400}',
    "bytes.bin": bytes(range(256)),
}
LINES = [
    *('kind = "quadratic"', "kind = []", "d = 2", "d = -1", 'd = "2"', "clients = 3", "L = 1.0"),
    *(
        "L = nan",
        "mu = 0.5",
        "mu = [1]",
        f"seed = {'9' * 5000}",
        "G = 1979-05-27",
        "[run]",
        "[hyper]",
    ),
    *('algorithm = "fedavg"', "algorithm = 5", "rounds = 2", "rounds = -1", "rounds = {}", "S = 0"),
    *("metrics = []", 'metrics = ["loss"]', 'out = "a"', "out = 3", "x_0 = [1]", "trials = 1e9"),
    *(
        "eta_l = 0.1",
        "K = 1",
        "K = [1, 2]",
        "problem = 1",
        '[bound]\nclaim = "fsl.theorem2"',
        "= 1",
    ),
    *("[bound]\nclaim = {}", "[problem]", "a.b.c = 1", "pretrained = {steps = 1, eta = nan}", "[["),
]


def run_file(draw):
    """Draw the text of a run file with spoiled lines."""
    lines = ["[problem]", 'kind = "quadratic"', "d = 2", "clients = 3", "L = 1.0", "mu = 0.5"]
    lines += ["[run]", 'algorithm = "fedavg"', "rounds = 2", "[hyper]", "eta_l = 0.1"]
    for _ in range(draw.choice((1, 1, 2, 3))):
        place = draw.randrange(len(lines))
        lines[place : place + draw.choice((0, 1))] = [draw.choice(LINES)]
    return "\n".join(lines)


def command(draw):
    """Draw the words of a command, of which one or two are spoiled."""
    words = draw.choice(COMMANDS).split()
    if words[0] == "run" and draw.random() < 0.7:
        return words
    for _ in range(draw.choice((1, 1, 2))):
        place = draw.randrange(1, len(words) + 1)
        words[place : place + draw.choice((0, 1, 1))] = [draw.choice(WORDS)]
    return words


# ---------------------------------------------------------------- running the calls


def ask(call):
    """Make a call, and return what is wrong with its answer; "" where nothing is wrong."""
    out, err = io.StringIO(), io.StringIO()
    before = signal.signal(signal.SIGPROF, _late)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            wrong = call(err)
    except (FedtheoryError, Refused) as error:
        wrong = "" if _one_line(str(error)) else f"{len(str(error).splitlines())} lines: {error!r}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "fedtheory" in f.filename), frames[-1])
        wrong = f"{type(error).__name__} at {Path(place.filename).name}:{place.lineno}: "
        wrong += " ".join(str(error).split())[:120]
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return wrong


def _late(*_):
    raise Late


def _one_line(text):
    return len(text.splitlines()) == 1 and text.isprintable()


def of_function(draw, known):
    name, function, good = draw.choice(known)
    positional, given = spoil_arguments(draw, function, good)

    def call(err):
        found = function(*positional, **given)
        if inspect.isgenerator(found):
            next(found, None)
        return ""

    told = ", ".join([*map(show, positional), *(f"{n}={show(v, 40)}" for n, v in given.items())])
    return f"{name}({told})", call


def of_command(draw):
    words = command(draw)
    for name, content in FILES.items():
        Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    text = run_file(draw)
    Path("spec.toml").write_text(text)
    Path("folder").mkdir(exist_ok=True)

    def call(err):
        try:
            status = cli.main(words)
        except SystemExit as stopped:
            status = stopped.code or 0
        said = [line for line in err.getvalue().splitlines() if "compiling kernels" not in line]
        good = status in (0, 1) or status == 2 and len(said) == 1 and said[0].isprintable()
        return "" if good else f"exit {status}, {len(said)} lines: {' / '.join(said)[:200]}"

    return f"fedtheory {show(words, 300)}" + f" with {show(text, 400)}" * (words[0] == "run"), call


def campaign(count, seed, say=print):
    """Make `count` bad calls, and return how many were answered badly, by what is wrong."""
    draw, here, wrong = random.Random(seed), os.getcwd(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            known = functions(folder)
            for _ in range(count):
                told, call = of_command(draw) if draw.random() < 0.4 else of_function(draw, known)
                found = ask(call)
                if found:
                    wrong[found] += 1
                    say(f"{told}\n    {found}")
        finally:
            os.chdir(here)
    return wrong


def main(argv=None):
    parser = argparse.ArgumentParser(description="Bad calls, and those that are not answered.")
    parser.add_argument("--count", type=int, default=1000, metavar="N", help="calls (1000)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="what draws them (0)")
    arguments = parser.parse_args(argv)
    wrong = campaign(arguments.count, arguments.seed)
    print(f"{sum(wrong.values())} of {arguments.count} calls not answered, in {len(wrong)} ways")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
