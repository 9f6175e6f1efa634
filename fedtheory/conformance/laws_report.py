"""A report on which laws of a method a user's code obeys, each law by itself: `laws`."""

import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.algorithm import Algorithm
from fedtheory.conformance.conform import FUNCTIONS, choose_hyper, rounds_of
from fedtheory.conformance.instances import (
    GradientRecorder,
    Instance,
    Q,
    describe_instance,
    rows_of,
    to_floats,
)
from fedtheory.conformance.laws import (
    FIXED,
    INVARIANT,
    LAWS,
    LONG,
    METAMORPHIC,
    SCENE,
    Code,
    Law,
    Obeyed,
    Unseen,
)
from fedtheory.conformance.work import WORK
from fedtheory.discover import algorithm
from fedtheory.errors import Diverged, refuse
from fedtheory.problems.quadratics import quadratic_from_arrays
from fedtheory.runs.running import run

STILL = 1e-9  # the largest change of a method at rest


def _wrap_line(line: str) -> list[str]:
    """Return a line wrapped to the width of a terminal."""
    return textwrap.wrap(line, 100, initial_indent="  ", subsequent_indent="    ")


class LawResult(NamedTuple):
    """The result of testing a law: `outcome` is obeyed, broken, or not asked, where the method
    itself breaks the law or the code does not show the needed quantities."""

    name: str
    kind: str
    outcome: str
    says: str  # where the law is broken, or what was observed
    shows: str


class Laws(NamedTuple):
    method: str
    found: tuple[Any, ...]
    scene: str  # the clients of most laws, in small fractions

    @property
    def broken(self) -> tuple[LawResult, ...]:
        """Return the laws of the method with the outcome "broken"."""
        return tuple(law for law in self.found if law.outcome == "broken")

    def __str__(self) -> str:
        lines: list[str] = []
        for kind in (FIXED, INVARIANT, METAMORPHIC):
            good = [law for law in self.found if law.kind == kind and law.outcome == "obeyed"]
            names = [law.name + f" ({law.says})" * bool(law.says) for law in good]
            lines += _wrap_line(f"{kind}: {', '.join(names)}") if names else []
        lines += _wrap_line(self.scene) if self.broken else []
        for law in self.broken:
            lines += [*_wrap_line(f"broken: {law.name}: {law.says}"), f"    {law.shows}"]
        others = [law.name for law in self.found if law.outcome == "not asked"]
        if others:
            lines += _wrap_line(
                f"not laws of {self.method}, or not to be seen: {', '.join(others)}"
            )
        return "\n".join([f"{self.method}: laws that the code obeys", *lines])


def laws(
    method: Any,
    start: Callable[..., Any],
    round: Callable[..., Any],
    state: Callable[..., Any],
    hyper: Mapping[str, Any] | None = None,
    weighted: bool = True,
) -> Laws:
    """Return which laws of a method the code obeys. `start`, `round` and `state` are as for
    `conform`, but the gradients may come from anywhere (`task.a` and `task.b` are the losses'
    curvatures and minimisers).

    >>> from fedtheory.conformance import laws
    >>> def walk(s, cohort, work, gradient):      # FedAvg that forgets the clients' weights
    ...     ends = []
    ...     for i, steps in zip(cohort, work):
    ...         y = s["x"].copy()
    ...         for k in range(steps):
    ...             y -= 0.25 * s["a"][i] * (y - s["b"][i])
    ...         ends.append(y)
    ...     return dict(s, x=sum(ends) / len(ends))
    >>> found = laws("fedavg", lambda task: dict(x=task.x_0, a=task.a, b=task.b), walk, lambda s: s,
    ...              dict(weighting="samples"))
    >>> [law.name for law in found.broken]
    ['rests', 'K = 1 is a gradient step', 'copies share a weight']
    """
    method = algorithm(method)
    for name, function in zip(FUNCTIONS, (start, round, state)):
        if not callable(function):
            refuse(name, "must be a function", function)
    weighted, given = arguments.check_flag("weighted", weighted), choose_hyper(method, hyper or {})
    own = of_kernels(method, given, weighted)
    code = of_adapter(method, given, own, (start, round, state))
    scene = describe_instance(own.scene(), given)
    asked = (*LAWS, *WORK) if method.everyone else LAWS
    return Laws(method.name, tuple(_ask_law(law, code, own) for law in asked), scene)


def _ask_law(law: Law, code: Code, own: Code) -> LawResult:
    """Return the Found of a single law. The law is tested on the method's own kernels first: a law
    that they break is no law of the method, and the outcome is "not asked"."""
    try:
        says, outcome = law.ask(own, own), "not asked"
        if says is None or isinstance(says, Obeyed):
            says = law.ask(code, own)
            outcome = "obeyed" if says is None or isinstance(says, Obeyed) else "broken"
    except Unseen:
        says, outcome = None, "not asked"
    return LawResult(law.name, law.kind, outcome, str(says or ""), law.shows)


def single_step(method: Any, hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hyper-parameters with one local step."""
    return hyper | ({method.steps: 1} if isinstance(method.steps, str) else {})


def of_kernels(method: Any, hyper: Mapping[str, Any], weighted: bool = True) -> Code:
    """Return the method's own kernels as Code: paths of states in exact fractions.

    A memory is a field f of the State for which the State also has f_i, as c and c_i of SCAFFOLD.
    The point of rest comes from LONG rounds of the engine in floats, because fractions grow with
    every round; Unseen is raised where the last round still moves x by more than STILL.
    """
    names = type(rounds_of(method, hyper, SCENE, lambda: 0).start(list(SCENE.x_0)))._fields
    memories = tuple((name, f"{name}_i") for name in names if f"{name}_i" in names)
    names = {"x", *(name for pair in memories for name in pair)}

    def kept(state: Any) -> dict[str, np.ndarray]:  # row 0 of the clients' memories is not used
        return {
            name: rows[1:] if name.endswith("_i") else rows
            for name, rows in state._asdict().items()
        }

    def path(instance: Instance, one_step: bool) -> Iterator[dict[str, np.ndarray]]:
        now = 0
        rounds = rounds_of(
            method, single_step(method, hyper) if one_step else hyper, instance, lambda: now
        )
        state = rounds.start(list(instance.x_0))
        yield _record_fields(kept(state), names, instance)
        for now, cohort in enumerate(instance.cohorts):
            rounds.at(now)
            law = [(Q(1), cohort, tuple(instance.steps(now, rounds.steps)))]
            ((_, state),) = rounds.after(state, law)
            yield _record_fields(kept(state), names, instance)

    def rest(instance: Instance) -> np.ndarray:
        a, b = to_floats(instance.a), np.array([to_floats(point) for point in instance.b])
        problem = quadratic_from_arrays(
            a[:, None] * np.ones(2), b, weights=to_floats(instance.weights)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Diverged)
            known = run(
                problem,
                method,
                rounds=LONG,
                x_0=to_floats(instance.x_0),
                keep="x",
                metrics=(),
                compiled=False,
                **hyper,
            )
        *_, before, last = known.x[0]
        if not np.max(np.abs(last - before)) <= STILL:
            raise Unseen
        return last

    return Code(path, rest, method.everyone, memories, weighted)


def of_adapter(
    method: Algorithm | str,
    hyper: Mapping[str, Any],
    own: Code,
    functions: tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]],
) -> Code:
    """Return a user's three functions as Code, with the memories and weights of the method's `own`
    Code. Errors of the user's functions are not caught."""
    start, round, state = functions
    names = {"x", *(name for pair in own.memories for name in pair)}

    def path(instance: Instance, one_step: bool) -> Iterator[dict[str, np.ndarray]]:
        h = single_step(method, hyper) if one_step else hyper
        steps = rounds_of(method, h, instance, lambda: 0).steps
        gradients = GradientRecorder(instance)
        now = start(instance.task(h))
        yield _record_fields(state(now), names, instance)
        for t, cohort in enumerate(instance.cohorts):
            gradients.at(t)
            now = round(now, list(cohort), list(instance.steps(t, steps)), gradients)
            yield _record_fields(state(now), names, instance)

    def rest(instance: Instance) -> np.ndarray:
        long = instance._replace(cohorts=instance.cohorts[:1] * LONG)
        with np.errstate(all="ignore"):  # code may well diverge here
            *_, last = path(long, False)
        return last["x"]

    return own._replace(path=path, rest=rest)


def _record_fields(
    state: Mapping[str, np.ndarray], names: Set[str], instance: Instance
) -> dict[str, np.ndarray]:
    """Return copies of the fields that laws use, in floats: x of shape (d,), the server's memories,
    and the clients' memories of shape (N, d). The row of a client that the code has not met stays
    zero."""
    if not isinstance(state, dict) or "x" not in state:
        refuse("state", "must return a dict with x", state)
    found = {}
    for name in names & set(state):
        value = state[name]
        if name.endswith("_i"):
            found[name] = np.zeros((instance.N, len(instance.x_0)))
            for i, row in rows_of(name, value, instance.N):
                found[name][i - 1] = _as_floats(row)
        else:
            found[name] = _as_floats(value)
    return found


def _as_floats(numbers: np.ndarray) -> np.ndarray:
    flat = np.ravel(numbers)
    return to_floats(flat) if flat.dtype == object else np.array(flat, dtype=float)
