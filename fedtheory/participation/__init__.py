"""The participation of clients in rounds, and how much each client works: cohorts, incomplete work,
arrivals and departures.

A client's work s is a number of local steps, drawn anew each round from its own distribution,
independently of everything else; s = 0 is inactivity (flex, section 3.1). `ft.run` and
`ft.expected` take a Participation.

>>> import fedtheory as ft
>>> problem = ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5)
>>> half = ft.participation.Participation(work=ft.participation.distribution([0.5, 0.0, 0.5]))
>>> r = ft.run(problem, "fedavg", rounds=4, K=2, eta_l=0.1, participation=half)
>>> r.metrics["loss"].shape
(1, 5)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import refuse, show
from fedtheory.jit import jit
from fedtheory.typing import Number

if TYPE_CHECKING:
    from fedtheory.language.symbol import Table

FULL, WITHOUT, WITH = range(3)
COHORTS = {"full": FULL, "without": WITHOUT, "with": WITH}


@dataclass(frozen=True)
class Work:
    """The distributions of the clients' numbers s of local steps; `steps`, `uniform`,
    `distribution` and `traces.traces` build one.

    `pmf(N, E)` gives the probabilities of s = 0 .. E: E + 1 numbers for all clients, or an (N, E +
    1) table with one row for each client, or a pair: rows for kinds of clients, and the (N,) index
    of each client's row.
    """

    name: str
    pmf: Any

    def table(self, N: int, E: int) -> np.ndarray:
        """Return the probabilities of s as an (N, E + 1) table, one row for each client."""
        rows, kinds = self.kinds(N, E)
        return np.broadcast_to(rows[kinds], (N, E + 1))

    def kinds(self, N: int, E: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the checked rows of probabilities, and the (N,) index of each client's row, or an
        array of one index if all clients share a row.

        Raises InvalidInput where a row is no distribution.
        """
        found = self.pmf(N, E)
        pmf, kinds = found if isinstance(found, tuple) else (found, None)
        pmf = np.atleast_2d(np.asarray(pmf, dtype=np.float64))
        if kinds is None:
            pmf = np.broadcast_to(pmf, (len(pmf) if len(pmf) == 1 else N, E + 1))
            kinds = np.arange(len(pmf))
        if (
            not np.all(np.isfinite(pmf))
            or np.any(pmf < 0)
            or np.any(abs(pmf.sum(axis=1) - 1) > 1e-9)
        ):
            refuse(
                "work",
                f"must give each client probabilities of 0..{E} steps that sum to 1",
                pmf.sum(axis=1),
            )
        return pmf / pmf.sum(axis=1, keepdims=True), kinds

    def ladder(self, N: int, E: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows' cumulative probabilities, set to exactly 1 from the last possible s on
        despite rounding, and the index of each client's row."""
        pmf, kinds = self.kinds(N, E)
        found = np.cumsum(pmf[:, ::-1], axis=1)[:, ::-1] - pmf > 0
        return np.where(found, np.cumsum(pmf, axis=1), 1.0), kinds


def _is_integer(value: int | float) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class _Steps(NamedTuple):
    """The probabilities of fixed numbers of steps."""

    s: Any

    def __call__(self, N: int, E: int) -> tuple[np.ndarray, np.ndarray]:
        counts = arguments.check_array("steps", self.s, f"must be integers 0..{E}")
        if counts.shape not in ((), (N,)):
            refuse("steps", f"must be one integer, or {N} of them", self.s)
        if np.any(counts != np.floor(counts)) or np.any((counts < 0) | (counts > E)):
            refuse("steps", f"must be integers 0..{E}", self.s)
        return np.eye(E + 1), np.atleast_1d(counts.astype(int))


class _Uniform(NamedTuple):
    """The probabilities of a uniform number of steps."""

    low: int
    high: int

    def __call__(self, N: int, E: int) -> np.ndarray:
        low, top = arguments.check_integer("uniform: low", self.low), E
        if self.high is not None:
            top = arguments.check_integer("uniform: high", self.high)
        if not low <= top <= E:
            refuse("uniform", f"needs 0 <= low <= high <= {E}", (self.low, self.high))
        s = np.arange(E + 1)
        return ((s >= low) & (s <= top)) / (top - low + 1)


class _Table(NamedTuple):
    """The probabilities that a user gives."""

    table: "Table"

    def __call__(self, N: int, E: int) -> np.ndarray:
        given = arguments.check_array("distribution", self.table)
        if given.shape not in ((E + 1,), (N, E + 1)):
            refuse("distribution", f"must have shape ({E + 1},) or ({N}, {E + 1})", given.shape)
        return given


def _as_lists(value: Any) -> int | str | Sequence[float | list[float]]:
    """Return an array as nested lists, which compare by their contents, and any other value as it
    is."""
    return value.tolist() if isinstance(value, np.ndarray) else value


def steps(s: Any) -> Work:
    """Return the Work in which every client does s steps, or client i does s[i - 1] steps.

    >>> steps([0, 2]).table(2, 3)
    array([[1., 0., 0., 0.],
           [0., 0., 1., 0.]])
    """
    s = _as_lists(s)
    return Work(f"steps {show(s)}", _Steps(s))


def uniform(low: Any = 0, high: Number = None) -> Work:
    """Return the Work in which s is uniform on {low, ..., high}; `high` None stands for all steps.

    >>> uniform(1).table(1, 2)
    array([[0. , 0.5, 0.5]])
    """
    return Work(f"uniform {show(low)}..{show(high)}", _Uniform(low, high))


def distribution(table: Any) -> Work:
    """Return the Work of any distribution: E + 1 probabilities, or N rows of E + 1 probabilities."""
    return Work("distribution", _Table(_as_lists(table)))


class Arrival(NamedTuple):
    """The arrival of a client at `round`; the objective shifts to include the client. Fast reboot
    (flex, section 4.2) scales the client's coefficient by 1 + boost / (1 + t - round)^2."""

    client: int
    round: int
    boost: float = 0.0


class Departure(NamedTuple):
    """The departure of a client at `round`. Where the client is excluded, the objective shifts;
    where the client stays included, only its updates stop."""

    client: int
    round: int
    exclude: bool = True


@dataclass(frozen=True)
class Participation:
    """Who takes part in a round, and how much each client works.

    `cohort` says how S clients are drawn in each round: "without" replacement, as in the papers;
    "with", where a client that is drawn twice works once and counts twice; or "full", all N. `work`
    is the distribution of the numbers of local steps. `arrivals` and `departures` shift the
    objective, whose weights then count the clients that are present.
    """

    # replacement (the papers'), "with" (drawn twice: works once, counts twice), or "full"
    cohort: str = "without"
    work: Work | None = None  # None: every client does all steps
    arrivals: tuple[Any, ...] = ()
    departures: tuple[Any, ...] = ()

    def check(self, N: int, S: float) -> None:
        """Refuse, with InvalidInput, a participation that does not fit N clients and cohorts of S.

        Each client may arrive once and depart once, after its arrival, and every round must leave
        the objective a client.
        """
        arguments.check_word("cohort", self.cohort, COHORTS)
        if self.work is not None and not isinstance(self.work, Work):
            refuse("work", "must be a Work (fedtheory.participation), or None", self.work)
        for name, kind in (("arrivals", Arrival), ("departures", Departure)):
            if not isinstance(getattr(self, name), (tuple, list)) or not all(
                isinstance(event, kind) for event in getattr(self, name)
            ):
                refuse(name, f"must be a tuple of {kind.__name__}", getattr(self, name))
        if not _is_integer(S) or S < 1 or (S > N and self.cohort != "with"):
            refuse("S", f"must be an integer 1..{N}, the number of clients", S)
        if self.cohort == "full" and S != N:
            refuse("S", f"must be {N} in a full cohort", S)
        seen = set()
        for event in (*self.arrivals, *self.departures):
            kind = type(event).__name__
            if not _is_integer(event.client) or not 1 <= event.client <= N:
                refuse(kind, f"needs a client 1..{N}", event.client)
            if not _is_integer(event.round) or event.round < 0:
                refuse(kind, "needs an integer round >= 0", event.round)
            arguments.check_real(f"{kind}: boost", getattr(event, "boost", 0.0))
            if (kind, event.client) in seen:
                refuse(kind, "may name a client once", event.client)
            seen.add((kind, event.client))
        for gone in self.departures:
            for come in self.arrivals:
                if come.client == gone.client and gone.round <= come.round:
                    refuse(
                        "Departure",
                        f"of client {gone.client} must come after its arrival at {come.round}",
                        gone.round,
                    )
        for t in self.shifts:
            if not self.members(t, N).any():
                refuse(
                    "arrivals and departures", f"must leave the objective a client in round {t}", N
                )

    @property
    def shifts(self) -> list[int]:
        """Return the rounds at which a client arrives or departs, with the first round."""
        return sorted({0} | {event.round for event in (*self.arrivals, *self.departures)})

    @property
    def restarts(self) -> list[int]:
        """Return the rounds at which the objective shifts: arrivals, and departures that exclude
        the client."""
        return sorted(
            {
                event.round
                for event in (*self.arrivals, *self.departures)
                if getattr(event, "exclude", True)
            }
        )

    def active(self, t: int, N: int) -> np.ndarray:
        """Return an (N + 1,) mask of the clients 0..N that may work in round t; the entry of the
        server, 0, is False."""
        here = np.ones(N + 1, dtype=bool)
        here[0] = False
        for event in self.arrivals:
            here[event.client] &= t >= event.round
        for event in self.departures:
            here[event.client] &= t < event.round
        return here

    def members(self, t: int, N: int) -> np.ndarray:
        """Return an (N + 1,) mask of the clients that the objective of round t includes."""
        there = np.ones(N + 1, dtype=bool)
        there[0] = False
        for event in self.arrivals:
            there[event.client] &= t >= event.round
        for event in self.departures:
            there[event.client] &= t < event.round or not event.exclude
        return there

    def shares(self, p: np.ndarray, first: int, rounds: int) -> np.ndarray:
        """Return the aggregation coefficients of some rounds, one row of N + 1 for each round: the
        objective's weights p, with those of arriving clients boosted (flex, section 4.2).

        Where fewer rows are returned, the last row holds for all later rounds. Column 0, the
        server's, is 1 in a round whose coefficients differ from those of the round before.
        """
        boosts = [event for event in self.arrivals if event.boost]
        shifted = first > 0 and first in self.restarts
        rows = rounds if boosts else min(rounds, 1 + shifted)
        if rows == 1 and not boosts and not shifted:
            return p[None]
        shares, t = np.tile(p, (rows, 1)), np.arange(first, first + rows)
        shares[0, 0] = shifted
        for event in boosts:
            age = t - event.round
            shares[:, event.client] *= np.where(
                age >= 0, 1 + event.boost / (1.0 + np.maximum(age, 0)) ** 2, 1.0
            )
            shares[(age >= 0) & (t > 0), 0] = 1.0
        return shares

    def draw(
        self, seed: int, trials: np.ndarray, first: int, rounds: int, S: int, E: np.ndarray, N: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw the cohorts and the work of `rounds` rounds from `first` on, and return two (trials,
        rounds, S) arrays: indices of clients, and their numbers of steps.

        E (rounds,) is the number of steps of full work, and `trials` lists the trials' numbers. A
        draw depends on (seed, trial, round, client) alone.
        """
        cohort = np.empty((len(trials), rounds, S), dtype=np.int64)
        work = np.empty_like(cohort)
        E = np.ascontiguousarray(E, dtype=np.int64)
        edges = [first, *(t for t in self.shifts if first < t < first + rounds)]
        here = np.ones((1, 1), dtype=bool)  # of all clients, where nobody comes or goes
        if self.arrivals or self.departures:
            here = np.stack([self.active(t, N) for t in edges])
        tops, which = (
            (E[:0], np.zeros_like(E)) if self.work is None else np.unique(E, return_inverse=True)
        )
        # one for each number of steps asked, whatever the chunk holds
        nothing = np.ones((1, 1)), np.zeros(1, dtype=np.int64)
        found = [self.work.ladder(N, top) if top > 0 else nothing for top in tops] or [nothing]
        ladders = np.ones(
            (len(found), max(len(rows) for rows, _ in found), tops.max(initial=0) + 1)
        )
        for ladder, (rows, _) in zip(ladders, found):
            ladder[: len(rows), : rows.shape[1]] = rows
        whole = max(len(kinds) for _, kinds in found)
        kinds = np.array([np.broadcast_to(each, whole) for _, each in found], dtype=np.int64)
        _draw_rounds(
            np.uint64(seed),
            np.asarray(trials, dtype=np.int64),
            first,
            COHORTS[self.cohort],
            N,
            here,
            np.searchsorted(edges, np.arange(first, first + rounds), side="right") - 1,
            self.work is not None,
            ladders,
            kinds,
            which,
            E,
            cohort,
            work,
        )
        return cohort, work


@jit
def _table_index(keys, key):
    """Return the index of a key in a hash table with open addressing, or the index where the key
    would be inserted."""
    mask = keys.size - 1
    at = (key * 0x9E3779B1) & mask
    while keys[at] >= 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@jit
def _draw_without_replacement(key, N, keys, values, out):
    """Draw `rng.draw_subset` of the clients 1 .. N into `out` without storing a permutation of N
    clients: the hash table stores only the places whose client has changed, so that a draw's cost
    grows with the cohort alone. `keys` and `values` have space for at least twice the cohort, a
    power of two."""
    keys[:] = -1
    for j in range(out.size):
        other = j + rng.uniform_below(key, 0, 0, rng.COHORT, j, N - j)
        mine, at = _table_index(keys, j), _table_index(keys, other)
        here = values[mine] if keys[mine] == j else j + 1
        out[j] = values[at] if keys[at] == other else other + 1
        keys[at], values[at] = other, here


@jit
def _draw_rounds(
    seed, trials, first, mode, N, here, segment, partial, ladders, kinds, which, E, cohort, work
):
    """Draw cohorts and work into `cohort` and `work`. here[segment[r], i] says whether client i is
    active in round r, and kinds[which[r], i - 1] which row of ladders[which[r]] has the client's
    cumulative probabilities of s = 0, 1, ..; an array with one column holds for all clients."""
    S = cohort.shape[2]
    room = 2
    while room < 2 * S:
        room *= 2
    keys, values = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    for a in range(trials.size):
        for r in range(cohort.shape[1]):
            key = rng.stream_key(seed, trials[a], first + r)
            if mode == FULL:
                for s in range(S):
                    cohort[a, r, s] = s + 1
            elif mode == WITHOUT:
                _draw_without_replacement(key, N, keys, values, cohort[a, r])
            else:
                for s in range(S):
                    cohort[a, r, s] = 1 + rng.uniform_below(key, 0, 0, rng.COHORT, s, N)
            for s in range(S):
                i = cohort[a, r, s]
                if not here[segment[r], min(i, here.shape[1] - 1)] or E[r] == 0:
                    work[a, r, s] = 0
                elif not partial:
                    work[a, r, s] = E[r]
                else:
                    u = rng.uniform(key, i, 0, rng.WORK, 0)
                    steps, kind = 0, kinds[which[r], min(i, kinds.shape[1]) - 1]
                    while u >= ladders[which[r], kind, steps]:
                        steps += 1
                    work[a, r, s] = steps


def staircase(
    eta_0: float, rounds: int, shifts: Sequence[Any] = (), offset: float = 1.0
) -> np.ndarray:
    """Return the learning rates eta_0 / tau of flex, one for each round, restarted where the
    objective shifts.

    In round t the rate is eta_0 / (t - t_0 + offset), where t_0 is the last of `shifts` so far, 0
    at first (`Participation.restarts` lists them). offset = 1 is section 5.1, whose rounds count
    from 1, and corollary 3.2.1's restart; theorem 3.1's rate is eta_0 = 16 / (mu E[sum_k p^k_tau
    s^k_tau]) with offset gamma / E.

    >>> staircase(1.0, 4, shifts=[2])
    array([1. , 0.5, 1. , 0.5])
    """
    eta_0, offset = (
        arguments.check_real("eta_0", eta_0),
        arguments.check_real("offset", offset, open_low=True),
    )
    rounds = arguments.check_integer("rounds", rounds)
    t = np.arange(rounds)
    begun = np.zeros(rounds)
    for shift in sorted(shifts):
        begun[t >= shift] = shift
    return eta_0 / (t - begun + offset)
