"""Only those second moments that are asked for, where coordinates part: the entries of a covariance
that the server point's variance reads, that those read in turn, and so on.

The map of a round says which read which. A method with memory has N memories whose covariances with
one another nobody may have to know: the rows that read all of them read their weighted sum, and where
the server keeps that sum, as SCAFFOLD's c = sum_i p_i c_i is, they can read what it keeps. From N^2
entries a few N are left.
"""

from typing import NamedTuple

import numpy as np

from fedtheory.exact.maps import ROUNDING
from fedtheory.exact.moments import shared_out
from fedtheory.jit import jit

WORTH = 0.5  # of a covariance's entries: where more are asked for, all are followed
SAME = 1e3 * ROUNDING  # next to what they are computed from, numbers this near are equal


class Block(NamedTuple):
    """A deviation whose rows stand in all columns of the state."""

    weight: float
    rows: np.ndarray  # (r,)
    columns: np.ndarray  # those that are not zero when it is made
    E: np.ndarray  # (D, r, M)
    e: np.ndarray  # (D, r)


class Program(NamedTuple):
    """A round of what is asked for, coordinates last. Pair n of states is followed as number n."""

    mean_to: np.ndarray  # m[to] += mean m[of]
    mean_of: np.ndarray
    mean: np.ndarray  # (., D)
    constant: np.ndarray  # (M, D)
    part_to: np.ndarray  # v[to] += part m[of], of all deviations one below the other
    part_of: np.ndarray
    part: np.ndarray  # (., D)
    level: np.ndarray  # (rows of all deviations, D)
    pair_to: np.ndarray  # C[to] += pair C[of]
    pair_of: np.ndarray
    pair: np.ndarray  # (., D)
    square_to: np.ndarray  # C[to] += square v[one] v[other]
    square_one: np.ndarray
    square_other: np.ndarray
    square: np.ndarray
    Q: np.ndarray  # (pairs, D)


def blocks_of(map):
    """The deviations of a map."""
    D, M = map.constant.shape
    for w, (r, c), (a, b, f) in zip(map.weight, map.size, map.at):
        E = np.zeros((D, r, M))
        E[:, :, map.columns[b : b + c]] = map.E[:, f : f + r * c].reshape(D, r, c)
        yield Block(w, map.rows[a : a + r], map.columns[b : b + c], E, map.e[:, a : a + r])


def small(value, scale):
    return np.all(np.abs(value) <= SAME * np.max(scale, initial=0.0))


def keeps(map, blocks, m, C, k):
    """Whether k'z = 0 now and, whatever is drawn, after every round."""
    size, at = np.abs(k), np.argmax(np.abs(k))
    beside = lambda found: found - found[:, at : at + 1] / k[at] * k  # what k'z = 0 leaves of it
    return (
        small(m @ k, np.abs(m) @ size)
        and small(C @ k, np.abs(C) @ size)
        and small(map.Q @ k, np.abs(map.Q) @ size)
        and small(map.constant @ k, np.abs(map.constant) @ size)
        and small(beside(k @ map.linear), size @ np.abs(map.linear))
        and deviates_nowhere(blocks, k, beside)
    )


def deviates_nowhere(blocks, k, beside):
    """Whether deviations leave k'z alone: each does, or does what all others do, as deviations from
    a centre do whose mean is subtracted once (maps.py)."""
    common, balance = None, 0.0
    for b in blocks:
        found = np.column_stack([beside(k[b.rows] @ b.E), b.e @ k[b.rows]])
        size = np.abs(k[b.rows])
        scale = max(np.max(size @ np.abs(b.E)), np.max(np.abs(b.e) @ size))
        if not small(found, scale):
            common = found if common is None else common
            if not small(found - common, scale):
                return False
            balance += b.weight
    return abs(balance) <= SAME * max((abs(b.weight) for b in blocks), default=0.0)


def reading(E, shared, own, p):
    """E (D, r, M), whose rows read p_i times memory i, read the shared sum of memories instead."""
    many = np.flatnonzero(2 * (E[:, :, own] != 0).any(axis=0).sum(axis=1) >= len(own))
    given = E[:, many[:, None], own]  # the others' median is 0
    factor = np.median(given / p, axis=2)
    left = given - factor[:, :, None] * p
    left[np.abs(left) <= SAME * np.abs(given).max(axis=2, keepdims=True)] = 0.0
    E = E.copy()
    E[:, many[:, None], own] = left
    E[:, many, shared] += factor
    return E


def simpler(map, m, C, memories, shared, p):
    """The mean map and the deviations, in which rows read a sum of memories where it is kept."""
    linear, blocks = map.linear, list(blocks_of(map))
    alive = p > 0
    for own in memories:
        for s in shared:
            k = np.zeros(m.shape[1])
            k[own], k[s] = -p, 1.0
            if alive.all() and keeps(map, blocks, m, C, k):
                linear = reading(linear, s, own, p)
                for n, b in enumerate(blocks):
                    if 2 * np.isin(own, b.columns).sum() >= len(own):  # else no row reads many
                        blocks[n] = b._replace(E=reading(b.E, s, own, p))
    return linear, blocks


def asked(linear, blocks, first):
    """Which entries of a covariance decide the variance of one state, round after round: (M, M)."""
    which = lambda E: (E != 0).any(axis=0).astype(np.float32)  # products of floats are fast ones
    reads, parts = which(linear), [(b.rows, which(b.E)) for b in blocks]
    wanted = np.zeros(reads.shape, dtype=np.float32)
    wanted[first, first] = 1.0
    while True:
        more = wanted + reads.T @ wanted @ reads
        for rows, E in parts:
            some = np.flatnonzero(E.any(axis=0))
            near = E[:, some]
            more[some[:, None], some] += near.T @ wanted[rows[:, None], rows] @ near
        more = np.sign(more)
        if np.array_equal(more, wanted):
            return wanted > 0
        wanted = more


def program_of(map, linear, blocks, wanted):
    """The round of the entries that are wanted; and their states, (pairs, 2)."""
    pairs = np.argwhere(np.triu(wanted))
    place = {(i, j): n for n, (i, j) in enumerate(pairs.tolist())}
    found: dict = {}

    def entries_of(E):
        """For each row, the columns that it reads and how much of them, (D,) each."""
        rows = np.moveaxis(E, 0, 2)
        return [
            [(k, row[k].copy()) for k in np.flatnonzero(row.any(axis=1)).tolist()] for row in rows
        ]

    def add(to, weight, one, other):
        for k, left in one:
            for l, right in other:
                key = to, place[(k, l) if k <= l else (l, k)]
                value = weight * left * right
                found[key] = found[key] + value if key in found else value

    mean = entries_of(linear)
    for n, (i, j) in enumerate(pairs.tolist()):
        add(n, 1.0, mean[i], mean[j])
    squares, base = [], 0
    for b in blocks:
        each, rows = entries_of(b.E), b.rows.tolist()
        for i, r in enumerate(rows):
            for j, s in enumerate(rows):
                if (r, s) in place:
                    add(place[r, s], b.weight, each[i], each[j])
                    squares.append((place[r, s], base + i, base + j, b.weight))
        base += len(b.rows)
    E = np.concatenate([b.E for b in blocks], axis=1) if blocks else np.zeros((len(linear), 0, 1))
    e = np.concatenate([b.e for b in blocks], axis=1) if blocks else np.zeros((len(linear), 0))
    entries = lambda a: (*np.nonzero(a.any(axis=0)), a[:, a.any(axis=0)].T.copy())
    to, of = np.array(list(found), dtype=np.int64).reshape(-1, 2).T
    squares = np.array(squares).reshape(-1, 4)
    whole = squares[:, :3].astype(np.int64)
    return Program(
        *entries(linear),
        map.constant.T.copy(),
        *entries(E),
        e.T.copy(),
        to.copy(),
        of.copy(),
        np.array([*found.values()]).reshape(len(to), len(linear)),
        *(column.copy() for column in whole.T),
        squares[:, 3].copy(),
        map.Q[:, pairs[:, 0], pairs[:, 1]].T.copy(),
    ), pairs


@jit
def _add_products(to, of, weight, given, out, low, high):
    for n in range(to.size):  # numbers without a sign, so that machine code takes many at a time
        i, j, m = np.uint64(to[n]), np.uint64(of[n]), np.uint64(n)
        for a in range(np.uint64(low), np.uint64(high)):
            out[i, a] += weight[m, a] * given[j, a]


@jit
def _add_squares(program, v, out, low, high):
    for n in range(program.square.size):
        to, weight = np.uint64(program.square_to[n]), program.square[n]
        one, other = np.uint64(program.square_one[n]), np.uint64(program.square_other[n])
        for a in range(np.uint64(low), np.uint64(high)):
            out[to, a] += weight * v[one, a] * v[other, a]


@jit
def _copied(given, out, low, high):
    for n in range(given.shape[0]):
        for a in range(low, high):
            out[n, a] = given[n, a]


@jit
def _follow_pairs(program, first, pair, m, C, spare, low, high, means, variances):
    """Coordinates low .. high - 1 through rounds; `spare` are rooms as large as m, C and level."""
    point, square, v = spare
    for t in range(means.shape[0]):
        _copied(program.level, v, low, high)
        _add_products(program.part_to, program.part_of, program.part, m, v, low, high)
        _copied(program.Q, square, low, high)
        _add_products(program.pair_to, program.pair_of, program.pair, C, square, low, high)
        _add_squares(program, v, square, low, high)
        _copied(program.constant, point, low, high)
        _add_products(program.mean_to, program.mean_of, program.mean, m, point, low, high)
        _copied(point, m, low, high)
        _copied(square, C, low, high)
        for a in range(low, high):
            means[t, a] = m[first, a]
            variances[t, a] = C[pair, a]


def followed(map, rounds, m, C, first, memories, shared, p):
    """The means and variances (rounds, D) of state `first`; None where too much is asked for."""
    linear, blocks = simpler(map, m, C, memories, shared, p)
    wanted = asked(linear, blocks, first)
    if np.count_nonzero(wanted) > WORTH * wanted.size:
        return None
    program, pairs = program_of(map, linear, blocks, wanted)
    mean, square = m.T.copy(), C[:, pairs[:, 0], pairs[:, 1]].T.copy()
    spare = tuple(np.empty_like(a) for a in (mean, square, program.level))
    means, variances = np.empty((2, rounds, len(m)))
    pair = int(np.flatnonzero((pairs == first).all(axis=1))[0])
    part = lambda low, high: _follow_pairs(
        program, first, pair, mean, square, spare, low, high, means, variances
    )
    work = rounds * len(m) * (len(program.pair_to) + len(program.part_to))
    shared_out(len(m), work, part, pieces=1)  # loops over coordinates are the inner ones here
    return means, variances
