"""A run described in a TOML file: problem, run, hyper-parameters, and a bound to compare the run
with.

    [problem]                     [run]                   [hyper]           [bound]
    kind = "quadratic"            algorithm = "fsl"       eta_l = 0.01      claim = "fsl.theorem2"
    d = 20 ...                    rounds = 200 ...        gamma = 1.0 ...

`kind` is a name of `fedtheory list problems`; the other keys of [problem] are that function's
arguments. [run] takes the arguments of `ft.run`. The command prints a table, and writes the figure
and its data under `out`.

A run file is data: no text of it is evaluated, and the folder that it names has to lie below the
current one. All mistakes in its keys and values are reported before anything is computed.
"""

import inspect
import io
import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import arguments, discover, jit, metrics
from fedtheory.comparison.case import claim_method
from fedtheory.comparison.compare import compare
from fedtheory.errors import InvalidInput, describe, refuse
from fedtheory.problem import Problem
from fedtheory.runs import plots
from fedtheory.runs.result import Run
from fedtheory.store import outputs
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

PICTURES = dict(
    pdf=dict(metadata={"CreationDate": None, "ModDate": None}),
    png=dict(dpi=160, metadata={"Software": None}),
)
FILES = (*(f"run.{suffix}" for suffix in PICTURES), "run.npz", "run.json")
BYTES = 2**24  # limit of a run file; longer data belong in a file of data
SECTIONS = ("problem", "run", "hyper", "bound")
NEEDED: dict = dict(problem=("kind",), run=("algorithm", "rounds"), bound=("claim",))
SAYS = "must be TOML of numbers, texts, lists and tables"


def _check_metrics(name: str, value: int | Sequence[str]) -> Any:
    """Return the names of the metrics that a run records: at least one, each once."""
    if not value or len(set(found := arguments.check_words(name, value, metrics.ALL))) < len(found):
        refuse(name, "must name one metric or more, each once", value)
    return found


def _check_pretraining(name: str, value: Any) -> Any:
    """Return a table of `steps` (an integer) and `eta` (a step size), and refuse any other
    value."""
    if not isinstance(value, dict) or set(value) != {"steps", "eta"}:
        refuse(name, "must be a table of steps and eta", value)
    (
        arguments.check_integer(f"{name} steps", value["steps"]),
        arguments.check_real(f"{name} eta", value["eta"]),
    )
    return value


def _check_numbers(name: str, value: Any) -> Any:
    """Return a list of numbers unchanged, and refuse any other value."""
    arguments.check_array(name, value, "must be a list of numbers")
    return value


# key of [run] -> (name, value) -> the converted value, or a refusal
RUN: dict = dict(
    algorithm=lambda name, value: arguments.check_word(name, value, tuple(discover.algorithms())),
    rounds=arguments.check_integer,
    trials=lambda name, value: arguments.check_integer(name, value, 1),
    seed=lambda name, value: arguments.check_seed(value, name, 64),
    x_0=_check_numbers,
    S=lambda name, value: arguments.check_integer(name, value, 1),
    metrics=_check_metrics,
    pretrained=_check_pretraining,
    out=arguments.check_folder,
)
TAKES: dict = dict(run=RUN, bound=NEEDED["bound"])  # [problem] takes the arguments of its kind


def read_run_file(path: Path) -> dict[str, Any]:
    """Return the sections of a run file. All keys are checked here, and all values that no problem
    or method checks, so that mistakes are reported before anything is computed.

    Raises InvalidInput for an unknown section or key, a missing key, a value of the wrong kind, and
    a file that is no TOML or is larger than BYTES.
    """
    spec = _parse_toml(path)
    for name, section in spec.items():
        if name not in SECTIONS or not isinstance(section, dict):
            refuse(f"{path}", f"takes the sections {', '.join(SECTIONS)}", name)
    for name, keys in NEEDED.items():
        if name not in spec and name != "bound":
            raise InvalidInput(f"{path} needs a section [{name}]")
        for key in spec.get(name, ()):
            _take_field(path, name, key, TAKES.get(name, (key,)))
        for key in keys:
            if name in spec and key not in spec[name]:
                raise InvalidInput(f"{path} [{name}] needs {key}")
    for key, value in spec["run"].items():
        spec["run"][key] = RUN[key](f"[run] {key}", value)
    claim = discover.claim(spec["bound"]["claim"]) if "bound" in spec else None
    takes = accepted_hypers(spec["run"]["algorithm"], claim)
    for key in spec.get("hyper", ()):
        _take_field(path, "hyper", key, takes)
    return spec


def _parse_toml(path: Path) -> dict[str, dict[str, Any] | list[Any]]:
    """Return the tables of a TOML file with plain values only; refuse a file that is too large or
    deep."""
    try:
        with open(path, "rb") as file:
            content = file.read(BYTES + 1)
        if len(content) > BYTES:
            refuse("SPEC.toml", f"must be a file of at most {BYTES} bytes", str(path))
        spec = tomllib.loads(content.decode())
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        if isinstance(error, OSError):
            refuse("SPEC.toml", f"must be a file that can be read ({error.strerror})", str(path))
        raise InvalidInput(f"{path} is not TOML: {describe(error)}") from None
    except RecursionError:
        raise InvalidInput(
            f"{path} {SAYS}; got lists or tables that are nested too deeply"
        ) from None
    return {name: _check_plain(f"{path} {name}", value) for name, value in spec.items()}


def _check_plain(name: str, value: Any, depth: Number = 0) -> Any:
    """Return a value made of numbers, texts, lists and tables of at most 8 levels, and refuse any
    other value."""
    if isinstance(value, (bool, int, float, str)) and depth <= 8:
        return value
    if isinstance(value, list) and depth <= 8:
        return [_check_plain(name, each, depth + 1) for each in value]
    if isinstance(value, dict) and depth <= 8:
        return {key: _check_plain(name, each, depth + 1) for key, each in value.items()}
    return refuse(name, SAYS + ", of at most 8 levels", value)


def _take_field(
    path: Path, section: str, key: str, keys: Mapping[str, Callable[..., Any]] | Sequence[str]
) -> None:
    """Refuse a key that its section does not take; the message lists the keys that the section
    takes."""
    if key not in keys:
        refuse(f"{path} [{section}]", f"takes {', '.join(keys)}", key)


def accepted_hypers(algorithm: str, claim: "Claim | None") -> list[str]:
    """Return the names that [hyper] accepts: the method's hyper-parameters and, with a claim, the
    claim's symbols, without the names that [run] sets."""
    letters = () if claim is None else (*claim.parameters, *claim.quantities)
    taken = [*inspect.signature(ft.run).parameters, *inspect.signature(compare).parameters]
    both = dict.fromkeys((*discover.algorithm(algorithm).hyper, *letters))
    return [name for name in both if name not in taken]


def make_problem(section: dict[str, Any]) -> Problem:
    """Build the problem of [problem]: `kind` names the maker, and the other keys are its arguments.

    The makers are those of `fedtheory.problems` and of users' files. Missing and unknown arguments
    are refused by name, before the maker is called.
    """
    section, makers = dict(section), discover.problem_makers()
    kind = arguments.check_word("[problem] kind", section.pop("kind", None), tuple(makers))
    takes = inspect.signature(makers[kind]).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    takes = {each.name: each for each in takes if each.kind in named}
    for key in section:
        if key not in takes:
            refuse(f"[problem] of kind {kind}", f"takes {', '.join(takes)}", key)
    for key, parameter in takes.items():
        if parameter.default is parameter.empty and key not in section:
            raise InvalidInput(f"[problem] of kind {kind} needs {key}")
    made = makers[kind](**section)
    if not isinstance(made, Problem):
        refuse(f"[problem] of kind {kind}", "must make a Problem", made)
    return made


# ---------------------------------------------------------------- the command


def run_file(
    path: Path, out: Path | None = None, progress: Any = None
) -> tuple[dict[str, list[float]], str]:
    """Carry out a run file, and return (data for --json, text).

    Without [bound], means over trials of each metric are tabulated and drawn; with [bound], both
    sides of the claim's lines. The folder `out` gets run.pdf, run.png, run.npz (the arrays) and
    run.json (the file's content, the seconds and the float settings of the machine).
    """
    spec = read_run_file(path)
    settings, hyper = dict(spec["run"]), spec.get("hyper", {})
    named = settings.pop("out", "out")
    place = (
        inside_folder(named, f"{path} [run] out")
        if out is None
        else arguments.check_folder("--out", out)
    )
    folder = outputs.Folder(place)
    folder.check(FILES)
    problem = make_problem(spec["problem"])
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
        places = plots.round_marks(data["rounds"])
        lines = [_run_headline(result), *plots.table_lines(["round", *wanted], columns, places)]
        drawn = lambda ax: result.plot(*wanted, ax=ax)
    else:
        found = compare_run(claim, problem, name, rounds, wanted, progress, settings, hyper)
        result = found.runs[-1]
        means = {metric: curve.mean(axis=0) for metric, curve in result.metrics.items()}
        data = dict(rounds=np.arange(result.rounds + 1), **means, **found.columns())
        lines = [_run_headline(result), str(found)]
        drawn = found.plot
    about = dict(spec=spec, seconds=result.seconds, machine=jit.float_settings())
    files = {
        **plot_files(drawn),
        "run.npz": _archive_arrays(data),
        "run.json": json.dumps(about, indent=2, default=str).encode(),
    }
    folder.write(files)
    lines.append(f"wrote {', '.join(str(folder.path / name) for name in files)}")
    return {key: np.asarray(value).tolist() for key, value in data.items()}, "\n".join(lines)


def compare_run(
    claim: Any,
    problem: Any,
    name: str,
    rounds: Number,
    wanted: Sequence[Any],
    progress: Callable[..., Any] | None,
    settings: Any,
    hyper: Mapping[str, Any],
) -> Any:
    """Return the Comparison of a claim with the run that a file describes.

    The method of the file has to be the claim's method. A start by `pretrained` is computed first,
    with the seed and trials of the run.
    """
    if name != (of := claim_method(claim).name):
        refuse("[run] algorithm", f"must be {of}, of which {claim.title} speaks", name)
    settings = {"trials": 1, "seed": 0, "x_0": None, **settings}
    pretrained = settings.pop("pretrained", None)
    if pretrained is not None:
        shared = {key: settings[key] for key in ("seed", "trials")}
        settings["x_0"] = ft.pretrain(problem, settings["x_0"], **shared, **pretrained)
    return compare(
        claim, problem, rounds=rounds, metrics=wanted, progress=progress, **settings, **hyper
    )


def _run_headline(result: Run) -> str:
    """Return the first line of an answer: method, problem with N and d, rounds, trials and
    seconds."""
    problem = result.problem
    return (
        f"{result.algorithm.name} on {problem.name} (N={problem.N}, d={problem.d}): "
        f"{result.rounds} rounds, {result.trials} trials, {result.seconds:.2f} s"
    )


def inside_folder(named: Path, whose: str) -> Any:
    """Return the folder that a run file names. Refuse a folder outside the current directory,
    whoever wrote the file."""
    rule = "must be a folder below the one in which this runs (--out may be any)"
    here = Path.cwd().resolve()
    try:
        place = (here / named).resolve()
    except (TypeError, ValueError, OSError, RuntimeError):
        refuse(whose, rule, named)
    inner = here in (place, *place.parents)
    return Path(named) if inner else refuse(whose, rule, str(named))


def _archive_arrays(arrays: Mapping[str, Any]) -> bytes:
    """Return the bytes of an .npz archive of arrays {name: array}."""
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def plot_files(drawn: Callable[..., Any]) -> dict[str, bytes]:
    """Return {name: bytes} of a plot that the function `drawn` draws into axes.

    Dates and random ids are left out of the files, so that equal plots have equal bytes.
    """
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
