"""All paths of a run, in the form that users' functions receive."""

from collections.abc import Mapping
from typing import Any

from fedtheory import discover
from fedtheory.arithmetic.operations import vector
from fedtheory.exact.traces import Trace
from fedtheory.language.user_quantities import Round
from fedtheory.models.general._laws import draws
from fedtheory.models.general._sight import origin
from fedtheory.models.general.clients import Clients
from fedtheory.models.general.runs import ONE, law_of, rounds_of
from fedtheory.typing import Assignment, Instance


def ways_of(
    instance: dict[str, Any],
    values: Assignment,
    method: str,
    letters: Mapping[str, str] | None = None,
) -> Any:
    """Return [(probability, points x_0, ..., x_T, a Round for each round)]. In contrast to
    `outcomes_of`, the points are in the method's coordinates, and each Round records what happened
    within the round."""
    clients, method = Clients(instance), discover.algorithm(method)
    return [
        (chance * p, path, done)
        for chance, drawn in draws(instance)
        for p, path, done in _ways_of(clients, drawn, values, method, letters)
    ]


def _ways_of(
    clients: Any, instance: Instance, values: Assignment, method: str, letters: Mapping[str, str]
) -> Any:
    rounds = rounds_of(clients, instance, values, method, letters)
    away, x_0 = origin(instance, clients.d), vector(instance["x_0"])
    law = law_of(clients, instance, rounds.steps)
    start = rounds.start(x_0 if away is None else x_0 + away)
    found = [(ONE, (start.x.copy(),), (), start)]
    for t in range(instance["T"]):
        rounds.at(t)
        found = [
            (p * q, (*path, trace.after.x.copy()), (*done, _as_user_trace(trace)), trace.after)
            for p, path, done, state in found
            for q, trace in rounds.of(state, law)
        ]
    for _, path, done, _ in found:
        for x in (*path, *(y for each in done for points in each.points for y in points)):
            x.flags.writeable = False
    return [(p, path, done) for p, path, done, _ in found]


def _as_user_trace(trace: Trace) -> Any:
    """Return a trace in the form that users' functions receive."""
    points = tuple(tuple(y.copy() for y in walk.points) for walk in trace.clients)
    return Round(trace.cohort, points)
