"""The commands: each function takes parsed arguments and returns (data, text), or (data, text,
whether the property that was asked about holds).

The function of a command has the command's name, and the parser's field names are its arguments.
Every function imports its dependencies when it is called. Rendering and refusal of bad input are
the business of the modules called.
"""

import argparse
import importlib
import sys
import textwrap
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fedtheory import plugins, terminal
from fedtheory.errors import refuse


def list(arguments: Any) -> tuple[dict[str, str | dict[str, Any]], str]:
    """List papers, claims, algorithms, problems, metrics or figures; only claims take a prefix."""
    if arguments.prefix and arguments.what != "claims":
        refuse("list", "takes a prefix for claims only", f"{arguments.what} {arguments.prefix}")
    rows, told, further = LISTS[arguments.what](arguments.prefix)
    # the further text is only for people, not for programs that read the list
    further = textwrap.fill(further, terminal.terminal_width(88), break_on_hyphens=False)
    rest = f"\n\n{further}" if sys.stdout.isatty() else ""
    return rows, terminal.print_table(told) + rest


def _list_algorithms(_: object) -> tuple[Any, Sequence[tuple[str, str]], str]:
    """Return (records, lines, further commands) of all methods with their hyper-parameters."""
    from fedtheory import discover
    from fedtheory.algorithm import describe_field

    found = sorted(discover.algorithms().items())
    rows = {
        name: dict(
            cites=a.cites,
            meaning=a.meaning,
            hyper={field: describe_field(spec) for field, spec in a.hyper.items()},
        )
        for name, a in found
    }
    told = []
    for name, row in rows.items():
        told.append((name, f"{row['cites']}: {row['meaning']}"))
        told += [(f"    {field}", spec) for field, spec in row["hyper"].items()]
    return rows, told, "run one: fedtheory run SPEC.toml; its claims: fedtheory list claims PAPER"


def _list_problems(_: object) -> tuple[dict[str, str], Sequence[tuple[str, str]], str]:
    """Return (records, lines, further commands) of the makers of problems, by their docstrings."""
    from fedtheory import discover

    makers = discover.problem_makers().items()
    rows = {name: " ".join((maker.__doc__ or "").split()) for name, maker in makers}
    told = [(name, doc.split(". ")[0]) for name, doc in rows.items()]
    return rows, told, "in Python: ft.problems.NAME(...); your own: fedtheory new problem"


def _list_papers(_: object) -> tuple[dict[str, dict[str, Any]], Sequence[tuple[str, str]], str]:
    """Return (records, lines, further commands) of the papers, with the number of claims of
    each."""
    from fedtheory import discover

    papers = discover.papers().items()
    rows = {
        name: dict(paper._asdict(), claims=sum(c.paper == name for c in discover.claims()))
        for name, paper in papers
    }
    told = [(name, f"{paper}: {rows[name]['claims']} claims") for name, paper in papers]
    return rows, told, "further: fedtheory explain PAPER, fedtheory list claims PAPER"


def _list_metrics(_: object) -> tuple[dict[str, dict[str, str]], Sequence[tuple[str, str]], str]:
    """Return (records, lines, further commands) of the metrics that a run can record."""
    from fedtheory import metrics

    rows = {name: dict(latex=m.latex, meaning=m.meaning) for name, m in metrics.ALL.items()}
    told = [(name, row["meaning"]) for name, row in rows.items()]
    return rows, told, "of a run: r.metrics[NAME], r.plot(NAME)"


def _list_figures(_: object) -> Any:
    """Return (records, lines, further commands) of the figures, which are in a package above this
    one."""
    figures = importlib.import_module("fedtheory.figures").figures()  # a package above this one
    rows = {name: dict(cites=f.cites, title=f.title) for name, f in figures.items()}
    told = [(name, f"{row['cites']}: {row['title']}") for name, row in rows.items()]
    return rows, told, "draw one: fedtheory figures ID --scale smoke"


def _list_claims(prefix: str) -> tuple[dict[str, dict[str, str]], Sequence[tuple[str, str]], str]:
    """Return (records, lines, further commands) of the claims whose id begins with a prefix."""
    from fedtheory.app.explain import list_claims

    rows = list_claims(prefix)
    told = [(name, f"{row['kind']:11s}{row['meaning']}") for name, row in rows.items()]
    return rows, told, "further: fedtheory explain ID, fedtheory check ID"


LISTS = dict(
    papers=_list_papers,
    claims=_list_claims,
    algorithms=_list_algorithms,
    problems=_list_problems,
    metrics=_list_metrics,
    figures=_list_figures,
)


def _write_output(arguments: argparse.Namespace) -> Path | None:
    """Return the path of `--out`, None without the option."""
    return Path(arguments.out) if arguments.out else None


def explain(arguments: argparse.Namespace) -> tuple[Any, str]:
    """Explain a paper by its name, a claim by its id, or every claim of a Python file."""
    from fedtheory import discover

    if arguments.id in discover.papers():
        from fedtheory.app.explain import of_paper

        return of_paper(arguments.id, terminal.reading_width())
    from fedtheory.app.check_command import find_claims
    from fedtheory.app.explain import describe_claim, explain

    claims, width = [claim for _, claim in find_claims([arguments.id])], terminal.reading_width()
    data = [describe_claim(claim) for claim in claims]
    return (
        data if len(data) != 1 else data[0],
        "\n\n".join(explain(claim, width, bold=terminal.wants_bold()) for claim in claims),
    )


def bound(arguments: argparse.Namespace) -> tuple[dict[str, float | str], str]:
    """Evaluate the right side of a claim's line at NAME=NUMBER values; refuse a repeated name."""
    from fedtheory.app.explain import bound_text, evaluate_bound, parse_assignment

    pairs = [parse_assignment(text) for text in arguments.values]
    twice = [name for n, (name, _) in enumerate(pairs) if name in dict(pairs[:n])]
    if twice:
        refuse("bound", "takes each name once", twice[0])
    found = evaluate_bound(
        arguments.id, dict(pairs), strict=not arguments.loose, line=arguments.line
    )
    return found, bound_text(found)


def _announce_compilation() -> None:
    """Tell the user what takes so long while kernels are compiled."""
    terminal.say("compiling kernels; the next process finds them in its cache")


def run(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Carry out a run file, with a line of progress and a note where kernels have to be
    compiled."""
    from fedtheory import jit
    from fedtheory.app import run_file

    if _announce_compilation not in jit.announce:
        jit.announce.append(_announce_compilation)
    report = terminal.Line().progress("rounds")
    return run_file.run_file(Path(arguments.spec), _write_output(arguments), report)


def check(arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Check claims by id or file; the property is whether every verdict is the expected one."""
    from fedtheory.app import check_command

    return check_command.check_claims(
        arguments.claims,
        arguments.budget,
        arguments.seed,
        arguments.executor,
        _write_output(arguments),
        arguments.expect,
        terminal.say,
        [Path(name) for name in arguments.witnesses],
        arguments.seeds,
    )


def replay(arguments: argparse.Namespace) -> tuple[dict[str, Any], str, bool]:
    """Replay a document; with `--rocq`, a document that replays is also put to a second kernel."""
    from fedtheory.app import check_command

    data, text, held = check_command.replay_file(Path(arguments.file), arguments.latex)
    if arguments.rocq and held:
        from fedtheory.app.rocq_command import ask_rocq

        data["second_kernel"], lines = ask_rocq(Path(arguments.file))
        text, held = "\n".join([text, *lines]), data["second_kernel"]["accepted"] is not False
    return data, text, held


def diff(arguments: argparse.Namespace) -> tuple[str | dict[str, Any], ...]:
    """Compare two ledgers, or two answers of `sharpen --json`."""
    from fedtheory.app import ledger_diff

    return ledger_diff.diff_ledgers(arguments.old, arguments.new)


def export(arguments: argparse.Namespace) -> tuple[str | dict[str, Any], ...]:
    """Write a document as a file for a proof assistant."""
    from fedtheory.app import rocq_command

    return rocq_command.export_document(
        Path(arguments.file), arguments.to, _write_output(arguments)
    )


def mutate(arguments: argparse.Namespace) -> tuple[str | dict[str, Any], ...]:
    """Test the mutants of each claim, on the executor if one is named."""
    from fedtheory.app import check_command

    executor = None if arguments.executor == "serial" else arguments.executor
    return check_command.mutate_claims(
        arguments.claims, arguments.budget, arguments.seed, None, executor, arguments.seeds
    )


def sharpen(arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Report the value that each claim needs of each of its numbers."""
    from fedtheory.app import check_command

    return check_command.sharpen_claims(arguments.claims, arguments.budget, arguments.seed)


def minimise(arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Report which hypotheses each claim needs."""
    from fedtheory.app import check_command

    return check_command.minimise_claims(arguments.claims, arguments.budget, arguments.seed)


def audit(arguments: argparse.Namespace) -> tuple[Any, ...]:
    """Evaluate the lines of each claim's proof at one instance."""
    from fedtheory.app import check_command

    return check_command.audit_claims(
        arguments.claims, arguments.budget, arguments.seed, arguments.at
    )


def worst(arguments: argparse.Namespace) -> tuple[str | dict[str, Any], ...]:
    """Compute the exact worst case of a method over functions of any dimension, with a proof."""
    from fedtheory.app.worst import find_worst

    return find_worst(
        arguments.method,
        arguments.values,
        arguments.rounds,
        arguments.L,
        arguments.mu,
        arguments.measure,
        arguments.over,
        _write_output(arguments),
    )


def new(arguments: argparse.Namespace) -> tuple[dict[str, Any], str]:
    """Write a starting file for a user's own record."""
    from fedtheory.app import scaffold

    return scaffold.write_new(arguments.kind, arguments.file)


def contracts(arguments: argparse.Namespace) -> Any:
    """Check that records in files satisfy the contracts of their kind."""
    from fedtheory.app import contracts as kept

    return kept.check_contracts([Path(name) for name in arguments.contracted])


def conform(arguments: argparse.Namespace) -> tuple[dict[str, Any], str, bool]:
    """Test an adapter of another library against the methods here; the property is agreement."""
    from fedtheory.conformance.adapters import of_file

    found = of_file(plugins.load_file(arguments.adapter).module, arguments.adapter)
    return found.data(), str(found), found.good


def data(arguments: argparse.Namespace) -> tuple[str | dict[str, Any], ...]:
    """Describe the data sets, and the files that are missing."""
    from fedtheory.app.data_command import describe_sets

    return describe_sets(arguments.set, arguments.data)


def experiments(arguments: argparse.Namespace) -> tuple[str | dict[str, Any], ...]:
    """Describe the papers' experiments, and carry out runs if asked."""
    from fedtheory.app.experiments_command import describe_experiments

    return describe_experiments(
        arguments.experiment, arguments.scale, arguments.data, arguments.run, arguments.only
    )


def warmup(arguments: argparse.Namespace) -> Any:
    """Compile every kernel on small examples, so that no later command waits for compilation.

    Every problem is run once with FedAvg and every method once on one problem, because kernels of
    problems and of methods are compiled separately.
    """
    import fedtheory as ft
    from fedtheory import discover
    from fedtheory.algorithm import example_hyper
    from fedtheory.runs import engine, shared_gradients

    begun = time.perf_counter()
    problems, algorithms = dict(discover.examples()), discover.algorithms()
    # Kernels are compiled separately, so every problem once and every algorithm once is enough.
    pairs = [("fedavg", name) for name in problems]
    pairs += [(name, "quadratics.diagonal") for name in algorithms]
    line = terminal.Line()
    report = line.progress("warmup")
    for done, (name, on) in enumerate(pairs, 1):
        ft.run(problems[on], name, rounds=1, **example_hyper(algorithms[name]))
        report(done, len(pairs))
    # kernels that only long runs of few trials use
    for problem in (problem for problem in problems.values() if problem.kernels.compiled):
        engine.kernel("advance_together", problem.real)
        shared_gradients.desk_roles(problem.real)
        for name in ("pieces", "piece"):
            problem.kernels.role(name, problem.data, problem.real)
    line.clear()
    seconds = time.perf_counter() - begun
    return (
        dict(algorithms=len(algorithms), problems=len(problems), seconds=seconds),
        f"{len(algorithms)} algorithms and {len(problems)} problems are ready ({seconds:.1f} s)",
    )


def completion(arguments: argparse.Namespace) -> tuple[dict[str, str], str]:
    """Return the completion script of a shell."""
    from fedtheory.app import completion as shells

    text = shells.completion_script(arguments.shell)
    return dict(shell=arguments.shell, script=text), text
