"""A run described in a TOML file: problem, run, hyper-parameters, and a bound to set it against.

    [problem]                     [run]                   [hyper]           [bound]
    kind = "quadratic"            algorithm = "fsl"       eta_l = 0.01      claim = "fsl.theorem2"
    d = 20 ...                    rounds = 200 ...        gamma = 1.0 ...

`kind` is a name of `fedtheory list problems`, its other keys that function's arguments; [run] takes
the arguments of `ft.run`. Prints a table, and writes the figure and its data under `out`.
"""

import inspect
import io
import json
import tomllib
from pathlib import Path

import numpy as np

import fedtheory as ft
from fedtheory import discover, jit, metrics, outputs
from fedtheory.comparing.case import method
from fedtheory.comparing.comparing import compare
from fedtheory.errors import InvalidInput, refuse
from fedtheory.runs import showing

RUN_KEYS = ("algorithm", "rounds", "trials", "seed", "x_0", "S", "metrics", "pretrained", "out")
PICTURES = dict(
    pdf=dict(metadata={"CreationDate": None, "ModDate": None}),
    png=dict(dpi=160, metadata={"Software": None}),
)
FILES = (*(f"run.{suffix}" for suffix in PICTURES), "run.npz", "run.json")
SECTIONS = ("problem", "run", "hyper", "bound")


def read(path):
    """The sections of a file, their keys checked."""
    try:
        with open(path, "rb") as file:
            spec = tomllib.load(file)
    except OSError as error:
        refuse("SPEC.toml", f"must be a file that can be read ({error.strerror})", str(path))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}") from None
    for name in spec:
        if name not in SECTIONS or not isinstance(spec[name], dict):
            refuse(f"{path}", f"takes the sections {', '.join(SECTIONS)}", name)
    for name in ("problem", "run"):
        if name not in spec:
            raise InvalidInput(f"{path} needs a section [{name}]")
    for key in spec["run"]:
        if key not in RUN_KEYS:
            refuse(f"{path} [run]", f"takes {', '.join(RUN_KEYS)}", key)
    for key in ("algorithm", "rounds"):
        if key not in spec["run"]:
            raise InvalidInput(f"{path} [run] needs {key}")
    for key in spec.get("bound", {}):
        if key != "claim":
            refuse(f"{path} [bound]", "takes claim", key)
    return spec


def make_problem(section):
    """A problem from [problem]: `kind` names the maker, the other keys are its arguments."""
    section = dict(section)
    kind = section.pop("kind", None)
    makers = discover.problem_makers()
    if kind not in makers:
        refuse("[problem] kind", f"must be one of {', '.join(makers)}", kind)
    takes = inspect.signature(makers[kind]).parameters
    for key in section:
        if key not in takes:
            refuse(f"[problem] of kind {kind}", f"takes {', '.join(takes)}", key)
    for key, parameter in takes.items():
        if parameter.default is parameter.empty and key not in section:
            raise InvalidInput(f"[problem] of kind {kind} needs {key}")
    return makers[kind](**section)


# ---------------------------------------------------------------- the whole job


def run_file(path, out=None, progress=None):
    """Carry out a file; returns (data for --json, text)."""
    spec = read(path)
    problem = make_problem(spec["problem"])
    settings, hyper = dict(spec["run"]), spec.get("hyper", {})
    named = settings.pop("out", "out")
    folder = outputs.Folder(inside(named, f"{path} [run] out") if out is None else out)
    folder.check(FILES)
    name, rounds = settings.pop("algorithm"), settings.pop("rounds")
    wanted = tuple(settings.pop("metrics", metrics.DEFAULT))
    claim = discover.claim(spec["bound"]["claim"]) if "bound" in spec else None
    if claim is None:
        result = ft.run(
            problem, name, rounds=rounds, metrics=wanted, progress=progress, **settings, **hyper
        )
        means = {metric: curve.mean(axis=0) for metric, curve in result.metrics.items()}
        data = dict(rounds=np.arange(rounds + 1), **means)
        columns = [data["rounds"], *(means[metric] for metric in wanted)]
        places = showing.marks(data["rounds"])
        lines = [_headline(result), *showing.table(["round", *wanted], columns, places)]
        drawn = lambda ax: result.plot(*wanted, ax=ax)
    else:
        found = against(claim, problem, name, rounds, wanted, progress, settings, hyper)
        result = found.runs[-1]
        means = {metric: curve.mean(axis=0) for metric, curve in result.metrics.items()}
        data = dict(rounds=np.arange(result.rounds + 1), **means, **found.columns())
        lines = [_headline(result), str(found)]
        drawn = found.plot
    about = dict(spec=spec, seconds=result.seconds, machine=jit.manifest())
    files = {
        **pictures(drawn),
        "run.npz": _archive(data),
        "run.json": json.dumps(about, indent=2, default=str).encode(),
    }
    folder.write(files)
    lines.append(f"wrote {', '.join(str(folder.path / name) for name in files)}")
    return {key: np.asarray(value).tolist() for key, value in data.items()}, "\n".join(lines)


def against(claim, problem, name, rounds, wanted, progress, settings, hyper):
    """The Comparison of a claim with the run that a file describes."""
    if name != (of := method(claim).name):
        refuse("[run] algorithm", f"must be {of}, of which {claim.title} speaks", name)
    settings = {"trials": 1, "seed": 0, "x_0": None, **settings}
    pretrained = settings.pop("pretrained", None)
    if pretrained is not None:
        shared = {key: settings[key] for key in ("seed", "trials")}
        settings["x_0"] = ft.pretrain(problem, settings["x_0"], **shared, **pretrained)
    return compare(
        claim, problem, rounds=rounds, metrics=wanted, progress=progress, **settings, **hyper
    )


def _headline(result):
    problem = result.problem
    return (
        f"{result.algorithm.name} on {problem.name} (N={problem.N}, d={problem.d}): "
        f"{result.rounds} rounds, {result.trials} trials, {result.seconds:.2f} s"
    )


def inside(named, whose):
    """The folder that a run file names: below the one in which the command runs, whoever wrote the
    file."""
    rule = "must be a folder below the one in which this runs; --out may be any"
    here = Path.cwd().resolve()
    try:
        place = (here / named).resolve()
    except (TypeError, ValueError, OSError, RuntimeError):
        refuse(whose, rule, named)
    return Path(named) if here in place.parents else refuse(whose, rule, named)


def _archive(arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def pictures(drawn):
    """{name: bytes} of a plot, which a function draws into axes."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "fedtheory"
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    drawn(axis)
    found = {}
    for suffix, more in PICTURES.items():
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix, **more)
        found[f"run.{suffix}"] = stream.getvalue()
    plt.close(figure)
    return found
