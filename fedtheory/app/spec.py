"""A run described in a TOML file: problem, run, hyper-parameters, and a bound to set it against.

    [problem]                     [run]                   [hyper]           [bound]
    kind = "quadratic"            algorithm = "fsl"       eta_l = 0.01      claim = "fsl.theorem2"
    d = 20 ...                    rounds = 200 ...        gamma = 1.0 ...

`kind` is a name of `fedtheory list problems`, its other keys that function's arguments; [run] takes
the arguments of `ft.run`. Prints a table, and writes the figure and its data under `out`.
"""

import inspect
import json
import tomllib
from pathlib import Path

import numpy as np

import fedtheory as ft
from fedtheory import discover, jit, metrics
from fedtheory.errors import InvalidInput, NotExact, refuse
from fedtheory.problem import vanishing

RUN_KEYS = ("algorithm", "rounds", "trials", "seed", "x_0", "S", "metrics", "pretrained", "out")
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


# ---------------------------------------------------------------- the two sides of a bound


def infimum(problem, gamma):
    """inf of (F + gamma f_0) / (1 + gamma), from its gradients: exact where they are affine."""
    if not problem.affine:
        raise InvalidInput(
            f"the infimum of the modified loss is known for quadratics only; {problem.name} is none"
        )
    grad = lambda x: (problem.grad(x) + gamma * problem.client_grad(0, x)) / (1 + gamma)
    x = vanishing(grad, problem.d)
    return (problem.loss(x) + gamma * problem.client_loss(0, x)) / (1 + gamma)


def _measured(entry, curves, problem, hyper):
    """A measured symbol for T = 1, 2, ..: from mean curves of its metric, one value a round."""
    how = entry.measure
    if how.metric not in curves:
        raise InvalidInput(f"{entry.name} is read off {how.metric}, which a run does not record")
    curve = curves[how.metric]
    T = np.arange(1, len(curve))
    if how.minus == "inf":
        curve = curve - infimum(problem, hyper.gamma)
    if how.at == "0":
        return np.full(len(T), curve[0])
    if how.at == "min":  # over t = 0 .. T - 1
        return np.minimum.accumulate(curve)[:-1]
    if how.at == "mean":
        return np.cumsum(curve)[:-1] / T
    if how.at == "T":
        return curve[1:]
    raise InvalidInput(f"{entry.name} speaks of one round; a run has many")


def sides(claim, problem, hyper, S, curves):
    """(left, right) of a claim's first line for T = 1 .. rounds, on mean curves of a run."""
    rounds = len(next(iter(curves.values()))) - 1
    numbers = {name: float(c) for name, c in problem.constants.items()}
    numbers.update(hyper._asdict(), S=S, N=problem.N)
    known = {name: value for name, value in numbers.items() if name in claim.table}
    for name in claim.parameters:
        if name != "T" and name not in known:
            raise InvalidInput(
                f"{claim.id} needs {name}, {claim.symbols[name].meaning}; this run has none"
            )
    values = {name: known[name] for name in claim.parameters if name != "T"}
    broken = claim.admits({**values, "T": rounds})
    if broken:
        raise InvalidInput(
            f"{claim.title} assumes {broken[0]}; this run breaks it at "
            + ", ".join(f"{name}={value:g}" for name, value in values.items())
        )
    values["T"] = np.arange(1.0, rounds + 1)
    values.update(
        {name: _measured(entry, curves, problem, hyper) for name, entry in claim.quantities.items()}
    )
    arrays = {
        name: np.broadcast_to(np.asarray(v, dtype=float), (rounds,)) for name, v in values.items()
    }
    return np.broadcast_to(claim.fast_left(arrays), (rounds,)), np.broadcast_to(
        claim.fast(arrays), (rounds,)
    )


# ---------------------------------------------------------------- the whole job


def run_file(path, out=None, progress=None):
    """Carry out a file; returns (data for --json, text)."""
    spec = read(path)
    problem = make_problem(spec["problem"])
    settings, hyper = dict(spec["run"]), spec.get("hyper", {})
    out = Path(out or settings.pop("out", "out"))
    settings.pop("out", None)
    name, rounds = settings.pop("algorithm"), settings.pop("rounds")
    claim = None
    wanted = tuple(settings.pop("metrics", metrics.DEFAULT))
    if "bound" in spec:
        claim = discover.claim(spec["bound"]["claim"])
        wanted = tuple(
            dict.fromkeys([*wanted, *(e.measure.metric for e in claim.quantities.values())])
        )
    result = ft.run(
        problem, name, rounds=rounds, metrics=wanted, progress=progress, **settings, **hyper
    )
    means = {metric: curve.mean(axis=0) for metric, curve in result.metrics.items()}
    if claim is not None and not result.hyper.constant:
        refuse(
            "[hyper]",
            f"must be constant over rounds where {claim.title} is set against the run",
            hyper,
        )
    exact = None
    if "pretrained" not in settings:  # whose own draws make the start random
        try:
            exact = ft.expected(
                problem, name, rounds=rounds, S=settings.get("S"), x_0=settings.get("x_0"), **hyper
            ).metrics
        except NotExact:
            pass
    data = dict(rounds=np.arange(rounds + 1), **means)
    lines = [
        f"{name} on {problem.name} (N={problem.N}, d={problem.d}): {rounds} rounds, {result.trials} trials, "
        f"{result.seconds:.2f} s"
    ]
    if claim is None:
        lines += _table(["round", *wanted], [data["rounds"], *(means[m] for m in wanted)], 0)
    else:
        left, right = sides(claim, problem, result.hyper[0], result.settings.S, means)
        data.update(T=np.arange(1, rounds + 1), left=left, right=right)
        columns = [data["T"], left, right]
        heads = ["T", "left side, sampled", "right side, the bound"]
        if exact is not None and set(
            claim_metrics := [e.measure.metric for e in claim.quantities.values()]
        ) <= set(exact):
            data["left_exact"] = sides(
                claim,
                problem,
                result.hyper[0],
                result.settings.S,
                {m: np.asarray(exact[m]) for m in claim_metrics},
            )[0]
            columns.insert(2, data["left_exact"])
            heads.insert(2, "left side, exact")
        judged = data.get("left_exact", left)
        lines += [f"{claim.title}: {claim}", *_table(heads, columns, 1)]
        above = np.flatnonzero(~(judged <= right))  # NaN counts as above
        lines.append(
            f"on this run the bound is exceeded first at T = {above[0] + 1}"
            if len(above)
            else f"on this run the left side stays below the bound at every T; at T = {rounds} it is "
            f"{judged[-1] / right[-1]:.2g} of it"
        )
        lines += [
            f"{constant} holds within {problem.constants[constant].radius:g} of the minimiser, and "
            f"{(~inside).sum()} of {result.trials} trials left that ball"
            for constant, inside in result.inside.items()
            if constant in claim.parameters
        ]
    out.mkdir(parents=True, exist_ok=True)
    np.savez(out / "run.npz", **data)
    _plot(out, data, claim, wanted, name)
    (out / "run.json").write_text(
        json.dumps(
            dict(spec=spec, seconds=result.seconds, machine=jit.manifest()), indent=2, default=str
        )
    )
    lines.append(
        f"wrote {', '.join(str(out / f) for f in ('run.pdf', 'run.png', 'run.npz', 'run.json'))}"
    )
    return {key: np.asarray(value).tolist() for key, value in data.items()}, "\n".join(lines)


def _table(heads, columns, first):
    """Rows at T = 1, 2, 5, 10, 20, ... and the last."""
    last = int(columns[0][-1])
    marks = {m * 10**p for p in range(9) for m in (1, 2, 5)} | {first, last}
    rows = [n for n, T in enumerate(columns[0]) if T in marks]
    widths = [max(len(head), 12) for head in heads]
    yield "  ".join(head.rjust(width) for head, width in zip(heads, widths))
    for row in rows:
        cells = [f"{int(columns[0][row])}", *(f"{column[row]:.6g}" for column in columns[1:])]
        yield "  ".join(cell.rjust(width) for cell, width in zip(cells, widths))


def _plot(out, data, claim, wanted, name):
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "fedtheory"
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    if claim is None:
        for metric in wanted:
            axis.plot(data["rounds"], data[metric], label=f"${metrics.ALL[metric].latex}$")
        axis.set_xlabel("round $t$")
    else:
        axis.plot(
            data["T"], data["right"], color="black", linestyle="--", label=f"bound: {claim.cites}"
        )
        axis.plot(data["T"], data["left"], color="#0072B2", label=f"{name}, sampled")
        if "left_exact" in data:
            axis.plot(
                data["T"],
                data["left_exact"],
                color="#D55E00",
                linestyle=":",
                label=f"{name}, exact expectation",
            )
        axis.set_xlabel("rounds $T$")
        axis.set_ylabel(f"${claim.latex(claim.measures)}$")
        axis.set_xscale("log")
    axis.set_yscale("log")
    axis.legend(frameon=False)
    figure.savefig(out / "run.pdf", metadata={"CreationDate": None, "ModDate": None})
    figure.savefig(out / "run.png", dpi=160, metadata={"Software": None})
    plt.close(figure)
