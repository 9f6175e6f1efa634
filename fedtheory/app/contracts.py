"""Contract tests: the rules that every problem, method, claim, model and figure must meet.

`fedtheory contracts FILE.py` runs the contracts on the records that a user's file defines. This
library's tests run them on every record that is discovered. A contract compares a record with
something independent of it: gradients with finite differences, compiled with interpreted runs,
floats with fractions. No contract says whether a method is good or a claim true.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

import fedtheory as ft
from fedtheory import discover, plugins
from fedtheory.algorithm import example_hyper
from fedtheory.errors import FedtheoryError, NotExact, describe, refuse
from fedtheory.problem import BEHIND, Problem
from fedtheory.rng import NO_DRAW

if TYPE_CHECKING:
    from fedtheory.models import Model


def sample_points(problem: Problem, count: int = 4) -> Any:
    """Draw points around the minimiser or, if the minimiser is unknown, around the start."""
    generator = np.random.default_rng(7)
    center = (
        problem.minimizer()
        if problem.minimize
        else problem.start
        if problem.start is not None
        else 0.0
    )
    return [center + generator.standard_normal(problem.d) for _ in range(count)]


def client_range(problem: Problem) -> Any:
    """Return the indices of the losses: 1, ..., N, and 0 where the problem has a server's loss."""
    return range(0 if problem.has_server else 1, problem.N + 1)


def directional_slope(
    f: Callable[..., Any], x: np.ndarray, direction: np.ndarray, h: float = 1e-5
) -> Any:
    """Compute a directional derivative by central differences with one step of Richardson
    extrapolation."""
    central = lambda h: (f(x + h * direction) - f(x - h * direction)) / (2 * h)
    return (4 * central(h) - central(2 * h)) / 3


def gradient_gap(problem: Problem, i: int, x: np.ndarray) -> Any:
    """Return the relative difference between a client's gradient and a finite-difference derivative
    of its loss, along one random direction."""
    direction = np.random.default_rng(3).standard_normal(problem.d)
    direction /= np.linalg.norm(direction)
    told = problem.client_grad(i, x) @ direction
    seen = directional_slope(lambda z: problem.client_loss(i, z), x, direction)
    return abs(told - seen) / (1 + abs(told))


def put_together(
    problem: Problem, i: int, x: np.ndarray, rows: np.ndarray, backwards: bool = False
) -> Any:
    """Compute a gradient from its pieces, with the pieces of each phase in order or, if
    `backwards`, in reverse order. Return None where the gradient is not split into pieces."""
    kernels, data = problem.kernels, problem.data
    room, out = np.full(problem.room, np.nan), np.full(problem.d, np.nan, problem.real)
    x, phase = np.concatenate([problem._point(x), np.zeros(BEHIND, problem.real)]), 0
    while count := kernels.pieces(data, i, rows.size, phase):
        for n in range(count)[:: -1 if backwards else 1]:
            kernels.piece(data, i, rows, x, room, out, phase, n)
        phase += 1
    return out if phase else None


def broken_pieces(problem: Problem) -> Any:
    """Return (number of gradients that are split into pieces, the set of clients whose gradient
    from pieces differs from the whole gradient)."""
    x, seen, broken = sample_points(problem, 1)[0], 0, set()
    for i in client_range(problem):
        whole = np.empty(problem.d, problem.real)
        for count in {0, int(problem.batch_size[i])}:
            rows = np.arange(count)[::-1] % max(1, problem.sizes[i])
            if count:
                problem.kernels.batch(problem.data, i, rows, NO_DRAW, problem._point(x), whole)
            else:
                problem.kernels.grad(problem.data, i, problem._point(x), whole)
            for backwards in (False, True):
                found = put_together(problem, i, x, rows, backwards)
                seen += found is not None
                if found is not None and not np.array_equal(found, whole):
                    broken.add(i)
    return seen, broken


def broken_constants(problem: Problem, slack: float = 1e-9) -> Any:
    """Return the names of the global constants that some sampled point, or pair of points,
    contradicts.

    Checked are L, mu, G, xi_bar, and G_star with B, where they are claimed for all points. A
    constant that no sampled point contradicts may still be wrong.
    """
    value = {n: c.value for n, c in problem.constants.items() if c.scope == "global"}
    found = set()
    xs = sample_points(problem, 6)
    for i in client_range(problem):
        for x, y in zip(xs, xs[1:]):
            gap, move = problem.client_grad(i, x) - problem.client_grad(i, y), x - y
            if "L" in value and np.linalg.norm(gap) > value["L"] * np.linalg.norm(move) * (
                1 + slack
            ):
                found.add("L")
            if "mu" in value and gap @ move < value["mu"] * (move @ move) * (1 - slack) - slack:
                found.add("mu")
    for x in xs:
        g = problem.grad(x)
        each = np.array([problem.client_grad(i, x) for i in range(1, problem.N + 1)])
        if (
            "G" in value
            and np.mean(np.sum((each - g) ** 2, axis=1)) > value["G"] ** 2 * (1 + slack) + slack
        ):
            found.add("G")
        if "xi_bar" in value and problem.has_server:
            if (
                np.sum((problem.client_grad(0, x) - g) ** 2)
                > value["xi_bar"] ** 2 * (1 + slack) + slack
            ):
                found.add("xi_bar")
        if {"G_star", "B"} <= set(value):
            if (
                np.mean(np.sum(each**2, axis=1))
                > (value["G_star"] ** 2 + value["B"] ** 2 * (g @ g)) * (1 + slack) + slack
            ):
                found.add("B")
    return found


def example_settings(algorithm: Any, problem: Any) -> Any:
    """Return arguments of a short run of a method on a problem: 2 rounds, 2 trials, S below N if
    allowed."""
    hyper = example_hyper(algorithm)
    for which in (algorithm.steps, algorithm.server_steps):
        if isinstance(which, str):
            hyper[which] = 2
    S = problem.N if algorithm.everyone else max(1, problem.N - 1)
    return dict(
        rounds=2, trials=2, seed=4, S=S, keep="x", metrics=("loss", "sq_grad_norm"), **hyper
    )


# ---------------------------------------------------------------- a user's file


def check_contracts(paths: Sequence[Path]) -> Any:
    """Return (data, text, whether all contracts are met) for the records that the files define.

    A row has the record's name, the rule in words, whether it is met, and why not. A file without
    any record is refused.
    """
    rows = []
    with plugins.registered(paths) as files:
        for file in files:
            found = list(_contracts_of(file))
            if not found:
                refuse("contracts", "takes a file that defines something to test", file.path)
            rows += [
                dict(name=name, says=says, **_try_contract(test)) for name, says, test in found
            ]
    text = "\n".join(
        f"{'ok      ' if row['met'] else 'not met '}{row['name']}: {row['says']}"
        + (f" ({row['why']})" if row["why"] else "")
        for row in rows
    )
    return rows, text, all(row["met"] for row in rows)


def _try_contract(test: Any) -> Any:
    """Return whether a test ends without an exception, with its answer or the exception in
    words."""
    try:
        told = test()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a method that ends the program has failed, too
        return dict(met=False, why=describe(error))
    return dict(met=True, why=told or "")


def _contracts_of(file: Any) -> Any:
    """Yield (name, rule, test) for every record that a file defines. The test raises where the rule
    does not hold."""
    for _, method in plugins.list_records("ALGORITHM", file):
        yield from _of_method(discover.adopt_method(method))
    examples = getattr(file.module, "examples", dict)
    examples = examples() if callable(examples) else examples
    if not isinstance(examples, dict):
        refuse(f"{file.path}: examples", "must give a dict of names and problems", examples)
    for label, problem in examples.items():
        if not isinstance(problem, Problem):
            refuse(f"{file.path}: examples", "must give problems", problem)
        yield from _of_problem(label, problem)
    for _, claim in plugins.list_records("CLAIM", file):
        yield from _of_claim(claim)
    from fedtheory.models.registry import list_user_models

    for _, model in list_user_models(file):
        yield from _of_model(model)
    for _, figure in plugins.list_records("FIGURE", file):
        yield from _of_figure(figure)


def _nearly_equal(a: Any, b: Any, tolerance: Any) -> Any:
    """Raise ValueError unless two arrays differ by at most `tolerance` in every entry."""
    gap = np.max(np.abs(np.asarray(a, dtype=float) - np.asarray(b, dtype=float)), initial=0.0)
    if not gap <= tolerance:
        raise ValueError(f"the two sides differ by {gap:.3g}")


def _of_method(method: Any) -> Any:
    """Yield the contracts of a method: guarded numbers, finite runs, equal bits, exact kernels."""
    examples = dict(discover.examples())
    problem, one = examples["quadratics.own"], examples["quadratics.one"]
    run = lambda on=problem, **more: ft.run(on, method, **{**example_settings(method, on), **more})

    def described() -> Any:
        if not (method.cites and method.name.isidentifier()):
            raise ValueError("a method needs a name that is an identifier, and a citation")
        for name, field in method.hyper.items():
            if not 3 < len(field.meaning):
                raise ValueError(f"{name} needs a meaning")
            try:
                run(**{name: "no such word" if field.choices else float("nan")})
            except ft.errors.InvalidInput:
                continue
            raise ValueError(f"{name} is accepted where it is not a number")

    def finite() -> Any:
        if not np.isfinite(run(on=one).x).all():
            raise ValueError("one client in one dimension leaves the finite numbers")

    def compiled() -> Any:
        if not method.compiled:
            return "its kernels are not compiled: runs are slow and right"
        _nearly_equal(run(compiled=True).x, run(compiled=False).x, 1e-11)

    yield method.name, "its hyper-parameters are described and guarded", described
    yield method.name, "one client in one dimension runs", finite
    yield method.name, "compiled and interpreted runs agree", compiled
    spread = lambda: _nearly_equal(run(workers=1, chunk=2).x, run(workers=2, chunk=1).x, 0)
    yield method.name, "bits do not depend on workers or chunks", spread
    yield (
        method.name,
        "its kernels are read on exact numbers as they run",
        lambda: _agree_exactly(method),
    )


def _agree_exactly(method: Any) -> Any:
    """Compare two rounds on quadratics of one variable, run by the engine in floats and by the
    kernels on fractions."""
    from fractions import Fraction

    from fedtheory.models.general import method_probe, run_methods

    # slope and gradient at 0; the server's pair is first
    curves = [(1, 0), (Fraction(1, 2), 1), (1, -1)]
    given = example_settings(method, dict(discover.examples())["quadratics.one"])
    hyper = {name: given[name] for name in method.hyper if name in given}
    A = [[[float(a)]] for a, _ in curves]
    b = [[float(-c / a)] for a, c in curves]
    problem = ft.problems.quadratic_from_arrays(A, b)
    r = ft.run(problem, method, rounds=2, x_0=[1.0], S=2, keep="x", **hyper)
    star = float(problem.minimizer()[0])
    own = method_probe.letters(method)
    curve = lambda a, c: dict(slope=Fraction(a), tilt=Fraction(c), bends=[], soft=[])
    at_star = Fraction(curves[1][0]) * Fraction(star).limit_denominator(1000) + curves[1][1]
    instance = dict(
        N=2,
        S=2,
        T=2,
        convex=1,
        lipschitz=1,
        losses=[dict(curves=[curve(a, 0)]) for a, _ in curves[1:]],
        at_star=[[at_star]],
        x_0=[1 - Fraction(star).limit_denominator(1000)],
        origin=[Fraction(star).limit_denominator(1000)],
        noise=[],
    )
    for letter, field in method_probe.integers(method):
        name = next(name for name in own if own[name] == letter)
        instance[letter] = int(hyper.get(name, field.default))
    if method.server:
        a, c = curves[0]
        shift = Fraction(star).limit_denominator(1000)
        instance["server"] = [curve(a, c + a * shift)]
    values = {
        own[name]: Fraction(value) for name, value in hyper.items() if own[name] not in instance
    }
    try:
        found = run_methods.model_of(method).measure(instance, values, ["sq_distance_T"])
    except NotExact as why:
        return f"they cannot be: {why}; claims about it are not searched"
    from fedtheory.arithmetic.operations import ends_of

    told = float(sum(ends_of(found["sq_distance_T"])) / 2)
    _nearly_equal(told, (r.x[0, 2, 0] - star) ** 2, 1e-9 * (1 + told))


def _of_problem(label: str, problem: Any) -> Any:
    """Yield the contracts of a problem: gradients, objective, constants, minimiser, and a run."""

    def gradients() -> Any:
        gaps = (
            gradient_gap(problem, i, x)
            for x in sample_points(problem, 2)
            for i in client_range(problem)
        )
        worst = max(gaps)
        if not worst < 1e-6:
            raise ValueError(f"one gradient is wrong by {worst:.2g} of its size")

    def whole() -> Any:
        p = problem.weights
        for x in sample_points(problem, 2):
            total = sum(p[i] * problem.client_loss(i, x) for i in range(1, problem.N + 1))
            _nearly_equal(problem.loss(x), total, 1e-11 * (1 + abs(total)))

    def constants() -> Any:
        broken = broken_constants(problem)
        if broken:
            raise ValueError(f"{', '.join(sorted(broken))} fail at random points")

    def shared() -> Any:
        seen, broken = broken_pieces(problem)
        if broken:
            raise ValueError(f"they differ for clients {', '.join(map(str, sorted(broken)))}")
        return "" if seen else "no gradient is large enough"

    def stationary() -> Any:
        if problem.minimize is None:
            return "no minimiser is known"
        scale = max(1.0, *(np.linalg.norm(problem.grad(x)) for x in sample_points(problem)))
        _nearly_equal(problem.grad(problem.minimizer()), 0 * problem.minimizer(), 1e-9 * scale)

    def runs() -> Any:
        ft.run(problem, "fedavg", rounds=1, eta_l=0.01)

    yield label, "gradients are those of the losses, by differences", gradients
    yield label, "the objective is the weighted sum", whole
    yield label, "constants hold at points that are drawn", constants
    if problem.room:
        yield label, "gradients that workers share are whole, to the bit", shared
    yield label, "the minimiser is stationary", stationary
    yield label, "a method runs on it", runs


def _of_claim(claim: Any) -> Any:
    """Yield the contracts of a claim: a fitting model, a decision, and a weakened bound that
    fails."""
    from fedtheory.models import fitting
    from fedtheory.verdicts.model_search import explain_unfit

    def fits() -> Any:
        found = fitting(claim)
        if claim.lines and not found:
            raise ValueError(explain_unfit(claim))
        return ", ".join(setting.says for setting in found)

    def decided() -> Any:
        return ft.check(claim, budget=0.2).status

    def biting() -> Any:
        if claim.weakened is None:
            return "it has none"
        wrong = ft.check(claim.replace(bound=claim.weakened, name=f"{claim.id}!weakened"), budget=2)
        if wrong.status != "violated":
            raise ValueError(f"with the weakened bound the claim is {wrong.status}")

    yield claim.id, "it can be explained", lambda: ft.explain(claim) and ""
    yield claim.id, "something that can happen is measured as it asks", fits
    yield claim.id, "a short search ends", decided
    yield claim.id, "its weakened bound is refuted", biting


def _of_model(setting: "Model") -> Any:
    """Yield the contracts of a model: floats agree with fractions, and instances fit the schema."""
    takes = lambda: setting.takes

    def alike() -> Any:
        """Check that a batch of floats gives the same numbers as exact arithmetic."""
        from fedtheory.arithmetic.operations import Many, ends_of
        from fedtheory.search.rational_points import round_to_bits

        random, names, compared = Random(0), sorted(_measured_symbols(setting)), 0
        for _ in range(8):
            shape = setting.shapes(random, frozenset())
            kinds = {**setting.coordinates(shape), **dict.fromkeys(takes(), "positive")}
            draw = lambda kind: round_to_bits(
                random.random() if kind != "real" else random.gauss(0, 1), 12
            )
            point = {name: draw(kind) for name, kind in kinds.items()}
            batch = {name: Many(np.array([float(n)] * 2)) for name, n in point.items()}
            told = []
            for numbers in (point, batch):
                instance = setting.build(
                    shape, {name: numbers[name] for name in setting.coordinates(shape)}
                )
                known = setting.constants(instance)
                values = {**known, **{name: numbers[name] for name in takes()}}
                told.append({**known, **setting.measure(instance, values, names)})
            for name, value in told[0].items():
                if isinstance(value, float):
                    continue
                many = told[1][name]
                other = float(np.ravel(many.at)[0]) if isinstance(many, Many) else float(many)
                exact = float(sum(ends_of(value)) / 2)
                _nearly_equal(other, exact, 1e-9 * (1 + abs(exact)))
                compared += 1
        return f"{compared} numbers"

    def fitting() -> Any:
        """Check that the instances that the model draws match its schema."""
        from fedtheory.models.instances import draw_instance, fault_of

        seen = [draw_instance(setting, Random(f"contract/{n}")) for n in range(100)]
        seen = [instance for instance in seen if instance is not None]
        for instance in seen:
            if why := fault_of(setting, instance):
                raise ValueError(f"{why}: {str(instance)[:120]}")
        return f"{len(seen)} instances" + ", by what others have in common" * (
            setting.schema is None
        )

    yield setting.name, "a batch of floats gives the numbers that fractions give", alike
    yield setting.name, "instances that it draws are what its schema says", fitting


def _measured_symbols(setting: Any) -> Any:
    """Return the names of the table's symbols that a model measures."""
    return [name for name, entry in setting.table.items() if entry.measure in setting.measures]


def _of_figure(figure: Any) -> Any:
    """Yield the contract of a figure: data computed at the smallest scale can be drawn."""

    def drawn() -> Any:
        from matplotlib.figure import Figure

        data = figure.compute("smoke", lambda done, total: None)
        if not isinstance(data, dict) or not data:
            raise FedtheoryError("compute must return a dict of arrays")
        figure.draw(Figure(figsize=(3.3, 2.4)), {n: np.asarray(a) for n, a in data.items()})
        return ", ".join(data)

    yield figure.title, "what it computes can be drawn", drawn
