"""An algorithm: kernels that receive gradients, the memory they share, and the numbers a user sets.

One round, as the engine runs it (only `local_step` and `aggregate` are required):

    begin(state, t, g, h)                      g: the server's gradient at x, if `server_grad`
    for each client i of the cohort, y = its point:
        local_start(state, i, y, g, local, h)  g: the client's gradient at x, if `client_grad`
        local_step(state, i, k, y, g, local, h)     for k = 0 .. s - 1, g at y
        local_end(state, i, s, y, local, h)
    aggregate(state, cohort, work, p, y, local, h)  y[s] is where client cohort[s] ended after work[s] steps
    server_step(state, k, g, h)                for k = 0 .. K_0 - 1, g at w (at x, if the state has no w)
    end(state, h)

`State` is a named tuple of arrays with a field `x`; kernels write into it in place. `Local` is what
a client holds during a round; in `aggregate` its fields carry the cohort as leading axis. p_1 ..
p_N are the round's weights. p_0, the server's place, is 1 in a round whose weights differ from
those of the round before, else 0. A state that clients keep between rounds is a field of N + 1
rows. Where that state starts at zero for all clients, a client's row is allocated when the client
first takes part.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, jit
from fedtheory.display import Shown
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.parallel import pickling
from fedtheory.typing import Kernel, Number


class Field(NamedTuple):
    """One hyper-parameter: its meaning, its default and the values that it may take."""

    meaning: str
    default: Any = None  # None: the user must give a value
    integer: bool = False
    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False  # the value must exceed low
    open_high: bool = False
    choices: tuple[Any, ...] = ()  # words; the position of a word is stored
    fixed: bool = False  # one value for the whole run; a schedule is refused

    def rule(self) -> str:
        """Return the rule that values of the hyper-parameter obey, as words for an error: "must be
        > 0"."""
        if self.choices:
            return "must be one of " + ", ".join(self.choices)
        sides = []
        if np.isfinite(self.low):
            sides.append(f"{'>' if self.open_low else '>='} {self.low:g}")
        if np.isfinite(self.high):
            sides.append(f"{'<' if self.open_high else '<='} {self.high:g}")
        return f"must be {'an integer' if self.integer else 'a finite number'} " + " and ".join(
            sides
        )

    def check(self, name: str, value: Any) -> Any:
        """Return a value in the form that kernels take; raise InvalidInput where it breaks the
        rule.

        A word becomes its position among `choices`. A sequence is a schedule with one value per
        round, refused where the hyper-parameter is fixed for the whole run.
        """
        if self.choices:
            if not isinstance(value, str) or value not in self.choices:
                refuse(name, self.rule(), value)
            return self.choices.index(value)
        values = arguments.check_array(name, value, self.rule())
        bad = (
            ~np.isfinite(values)
            | (values < self.low)
            | (values > self.high)
            | (self.open_low & (values == self.low))
            | (self.open_high & (values == self.high))
            | (self.integer & (values != np.floor(values)))
        )
        if values.ndim > (not self.fixed) or np.any(bad):
            refuse(name, self.rule(), value)
        if np.any(np.abs(values) > (arguments.MOST if self.integer else arguments.LARGEST)):
            refuse(
                name,
                f"must be at most {arguments.MOST if self.integer else arguments.LARGEST}",
                value,
            )
        if self.integer:
            values = values.astype(np.int64)
        return values if values.ndim else values.item()


class Schedule(Sequence):
    """The hyper-parameters of each round, as tuples; a hyper-parameter that is constant over rounds
    is stored once."""

    def __init__(self, Hyper: type, columns: Sequence[float | np.ndarray], rounds: int) -> None:
        self.Hyper, self.columns, self.rounds = Hyper, columns, rounds
        self.constant = not any(np.ndim(column) for column in columns)

    def __len__(self) -> int:
        return self.rounds

    def __getitem__(self, t: Any) -> Any:
        if isinstance(t, slice):
            return [self[n] for n in range(*t.indices(self.rounds))]
        if not -self.rounds <= t < self.rounds:
            raise IndexError(t)
        return self.Hyper(
            *(column[t].item() if np.ndim(column) else column for column in self.columns)
        )

    def begins_like(self, other: "Schedule", rounds: int) -> bool:
        """Tell whether two schedules agree on the first `rounds` rounds."""
        pick = lambda column: column[:rounds] if np.ndim(column) else column
        return all(np.all(pick(a) == pick(b)) for a, b in zip(self.columns, other.columns))


def positive(meaning: str, default: float | None = None) -> Any:
    """Return the field of a real hyper-parameter above 0; without a default, users must give it."""
    return Field(meaning, default, low=0, open_low=True)


def nonnegative(meaning: str, default: float | None = None) -> Any:
    """Return the field of a real hyper-parameter of at least 0; without a default, users must give
    it."""
    return Field(meaning, default, low=0)


def fraction(meaning: str, default: float | None = None) -> Any:
    """Return the field of a real hyper-parameter in [0, 1), such as a decay rate."""
    return Field(meaning, default, low=0, high=1, open_high=True)


def count(meaning: str, default: int | None = None, low: int = 1) -> Any:
    """Return the field of an integer hyper-parameter of at least `low`, such as a number of steps."""
    return Field(meaning, default, integer=True, low=low)


def choice(meaning: str, *words: str) -> Any:
    """Return the field of a hyper-parameter that is one of some words, the first by default.
    Kernels see the position of the word."""
    return Field(meaning, words[0], choices=words)


class NoLocal(NamedTuple):
    """The local memory of methods whose clients store nothing but their point."""

    nothing: np.ndarray


@jit.jit
def begin_plain(state, t, g, h):
    """Do nothing at the start of a round."""


@jit.jit
def start_at_x(state, i, y, g, local, h):
    """Start a client's local steps at the server's point, y = x."""
    for j in range(y.size):  # not y[:] = x: Numba's broadcasting costs a second of compilation
        y[j] = state.x[j]


@jit.jit
def end_local_plain(state, i, s, y, local, h):
    """Do nothing after a client's local steps."""


@jit.jit
def no_server_step(state, k, g, h):
    """Do nothing at the server."""


@jit.jit
def end_plain(state, h):
    """Do nothing at the end of a round."""


def _role_signatures(
    state: Any, local: Any, locals_: Any, hyper: Any, real: str
) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return {kernel: (type of its result, types of its arguments)} for the seven kernels of a
    method."""
    t, i8, (point, points) = jit.types, jit.types.int64, jit.point_types(real)
    return dict(
        begin=(t.void, (state, i8, point, hyper)),
        local_start=(t.void, (state, i8, point, point, local, hyper)),
        local_step=(t.void, (state, i8, i8, point, point, local, hyper)),
        local_end=(t.void, (state, i8, i8, point, local, hyper)),
        aggregate=(t.void, (state, jit.INTEGERS, jit.INTEGERS, jit.VECTOR, points, locals_, hyper)),
        server_step=(t.void, (state, i8, point, hyper)),
        end=(t.void, (state, hyper)),
    )


ROLES = ("begin", "local_start", "local_step", "local_end", "aggregate", "server_step", "end")


@dataclass(frozen=True, eq=False, repr=False)
class Algorithm(Shown):
    """A method: seven kernels, the memory they share, and what a run must provide.

    Only `init`, `local_step` and `aggregate` are required; the module's docstring gives the order
    in which a round calls the kernels. `Hyper` is a NamedTuple class whose defaults are Fields: the
    hyper-parameters in the paper's letters. `cites` names the paper and its listing. Kernels are
    compiled with `fedtheory.jit.jit`, or are plain Python functions, which run in the interpreter.

    docs/adding.md shows a method in one file; `fedtheory new algorithm` writes one to begin with.
    """

    name: str
    cites: str
    Hyper: type  # a NamedTuple class; each field's default is a Field
    init: Kernel  # (x_0, N, layers, h) -> State of new arrays
    local_step: Kernel
    aggregate: Kernel
    begin: Kernel = begin_plain
    local_start: Kernel = start_at_x
    local_end: Kernel = end_local_plain
    server_step: Kernel = no_server_step
    end: Kernel = end_plain
    local: Callable[..., Any] | None = None  # (d, layers, h) -> Local of new arrays
    steps: str | int = "K"  # the field that holds the number of local steps; a number if fixed
    server_steps: str | None = None  # the same for the server; None: the server takes no steps
    server_grad: bool = False  # evaluate the server's gradient at x when the round begins
    # evaluate each working client's gradient at x before its steps; or a rule of h
    client_grad: bool | Callable = False
    server: bool = False  # the problem must have a server loss
    memory: bool = False  # clients keep state between rounds
    everyone: bool = False  # all clients take part in every round: S must be N
    transform: Callable[..., Any] | None = (
        None  # (problem, h) -> the problem on which the clients train
    )
    check: Callable[..., Any] | None = None  # (h, N, S) -> None, or the reason of a refusal
    meaning: str = ""

    def heading(self) -> str:
        return f"Algorithm {self.name}"

    def facts(self) -> dict[str, str]:
        fields = [f"{name}: {describe_field(field)}" for name, field in self.hyper.items()]
        return {"cites": self.cites, "meaning": self.meaning, "hyper-parameters": "\n".join(fields)}

    @property
    def hyper(self) -> dict[str, Field]:
        """Return the mapping name -> Field (meaning, default and rule) of every hyper-parameter."""
        return dict(self.Hyper._field_defaults)  # type: ignore[attr-defined]

    def resolve(self, given: Mapping[str, Any], rounds: Number) -> Schedule:
        """Return the Schedule of hyper-parameters for a number of rounds.

        Raises InvalidInput for an unknown name, a required hyper-parameter without a value, a value
        out of range, or a schedule with fewer values than rounds.
        """
        fields = self.hyper
        for name in given:
            if name not in fields:
                raise InvalidInput(
                    f"{self.name} ({self.cites}) has no hyper-parameter {name}; it has "
                    + ", ".join(fields)
                )
        columns = []
        for name, field in fields.items():
            value = given.get(name, field.default)
            if value is None:
                raise InvalidInput(
                    f"{self.name} ({self.cites}) needs {name}, {field.meaning}; none was given"
                )
            value = field.check(name, value)
            if np.ndim(value) and len(value) < rounds:
                refuse(
                    name,
                    f"as a schedule must have a value for each of {rounds} rounds",
                    np.shape(value),
                )
            columns.append(value)
        return Schedule(self.Hyper, columns, rounds)

    def number(self, which: int | str | None, h: Any) -> int:
        """Return the number of local steps (`which` = self.steps) or of server steps in a round."""
        return which if isinstance(which, int) else 0 if which is None else getattr(h, which)

    def asks(self, which: bool | Callable[..., Any], h: Any) -> bool:
        """Tell whether a round begins with gradients at x (`which` = self.client_grad or
        self.server_grad)."""
        return bool(which(h) if callable(which) else which)

    def kernels(
        self, state: Any, local: Any, locals_: Any, hyper: Any, real: str = "float64"
    ) -> list[Callable[..., Any]]:
        """Return the seven kernels behind the engine's signatures, for these tuples and this kind
        of reals."""
        types = map(jit.typeof, (state, local, locals_, hyper))
        roles = _role_signatures(*types, real=real)
        return [jit.erase(getattr(self, role), *roles[role]) for role in ROLES]

    @property
    def compiled(self) -> bool:
        """Return whether all seven kernels can be compiled to machine code."""
        return all(jit.compiled(getattr(self, role)) for role in ROLES)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by name where a module holds the algorithm, so that unpickling gives the same
        object there; otherwise pickle by fields."""
        place = pickling.name_of_module(self, self.Hyper.__module__)
        if place:
            return pickling.find_attribute, place
        parts = {f.name: getattr(self, f.name) for f in fields(self)}
        return _rebuild_algorithm, (
            {name: parts.pop(name) for name in parts.keys() - set(ROLES)},
            {name: pickling.pickle_kernel(kernel) for name, kernel in parts.items()},
        )


def _rebuild_algorithm(
    parts: Mapping[str, Any], kernels: Mapping[str, Callable[..., Any]]
) -> Algorithm:
    return Algorithm(
        **parts, **{name: pickling.unpickle_kernel(kernel) for name, kernel in kernels.items()}
    )


def describe_field(field: Field) -> str:
    """Return a hyper-parameter's meaning, default and rule as one text, for `fedtheory list
    algorithms`."""
    default = "required" if field.default is None else f"default {show(field.default)}"
    return f"{field.meaning} ({default}; {field.rule()})"


def example_hyper(algorithm: Any) -> dict[str, float]:
    """Return small values of every required hyper-parameter, for contract tests and warm-up."""
    return {
        name: 2 if field.integer else 0.05
        for name, field in algorithm.hyper.items()
        if field.default is None
    }
