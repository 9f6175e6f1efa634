"""The required second moments only, where coordinates decouple: the covariance entries that the
server point's variance depends on, the entries that these depend on, and so on.

The map of a round says which entries depend on which. A method with memory has N memories, whose
covariances with one another are often not needed: rows that read all memories read the memories'
weighted sum. Where the server stores this sum, as SCAFFOLD's c = sum_i p_i c_i does, such rows can
read the stored sum instead. A few times N entries are then left of N^2. The entries form a linear
program, whose nonzero coefficients are listed once and applied in every round to LANES coordinates
at a time.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.exact.affine_maps import ROUNDING, Map
from fedtheory.exact.moments import shared_out
from fedtheory.exact.row_products import Rows, row_products
from fedtheory.jit import jit
from fedtheory.problems._vector import load, multiply_add, store, zero
from fedtheory.typing import Number

LANES = 16  # coordinates at a time: two vectors, so that two sums run in parallel
WORTH = 0.5  # share of a covariance's entries above which all entries are computed
SAME = 1e3 * ROUNDING  # numbers this near, relative to the terms they are computed from, are equal


class Block(NamedTuple):
    """A deviation restricted to some rows, with the columns that these rows depend on."""

    weight: float
    rows: np.ndarray  # (r,)
    columns: np.ndarray  # (c,)
    E: np.ndarray  # (D, r, c)
    e: np.ndarray  # (D, r)

    def whole(self, M: int) -> "Block":
        """Return the same deviation with all M columns."""
        E = np.zeros((*self.e.shape, M))
        E[:, :, self.columns] = self.E
        return self._replace(columns=np.arange(M), E=E)

    def drop_zero_columns(self) -> "Block":
        """Return the same deviation with only the columns that are not zero."""
        some = np.flatnonzero(self.E.any(axis=(0, 1)))
        return self._replace(columns=self.columns[some], E=self.E[:, :, some])


class Program(NamedTuple):
    """The update of the required covariance entries in one round, by groups of coordinates. Pair n
    of states is stored at position n."""

    mean_to: np.ndarray  # m[to] += mean m[of]
    mean_of: np.ndarray
    mean: np.ndarray  # (groups, . LANES)
    constant: np.ndarray  # (groups, M LANES)
    part_to: np.ndarray  # v[to] += part m[of], for all deviations stacked
    part_of: np.ndarray
    part: np.ndarray
    level: np.ndarray  # constants of the rows of all deviations
    pair_to: np.ndarray  # C[to] += pair C[of]
    pair_of: np.ndarray
    pair: np.ndarray
    square_to: np.ndarray  # C[to] += square v[one] v[other]
    square_one: np.ndarray
    square_other: np.ndarray
    square: np.ndarray
    Q: np.ndarray  # noise covariance of the pairs


def blocks_of(map: Map) -> Iterator[Any]:
    """Return an iterator over the deviations of a map, as Blocks."""
    return (Block(*each) for each in map.blocks())


def is_small(value: float | np.ndarray, scale: float | np.ndarray) -> np.bool:
    """Tell whether numbers are 0 up to rounding, relative to the largest number of `scale`."""
    return np.all(np.abs(value) <= SAME * np.max(scale, initial=0.0))


@jit
def _scan_along(A, k):
    """Compute the largest entry of |A k| and of |A| |k| in one pass; NaN where an entry is NaN."""
    found, scale = 0.0, 0.0
    for a in range(A.shape[0]):
        for i in range(A.shape[1]):
            along, size = 0.0, 0.0
            for j in range(k.size):
                along += A[a, i, j] * k[j]
                size += abs(A[a, i, j] * k[j])
            if along != along:
                return along, size
            found, scale = max(found, abs(along)), max(scale, size)
    return found, scale


@jit
def _add_across(A, k, found, scale):
    for a in range(A.shape[0]):
        for i in range(k.size):
            factor = k[i]
            if factor != 0.0:
                for j in range(A.shape[2]):
                    found[a, j] += factor * A[a, i, j]
                    scale[a, j] += abs(factor * A[a, i, j])


def scan_across(A: np.ndarray, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute k A and |k| |A| for matrices A (D, r, c) in one pass, (D, c) each."""
    found, scale = np.zeros((2, len(A), A.shape[2]))
    _add_across(A, k, found, scale)
    return found, scale


def moves_nowhere(A: np.ndarray, k: np.ndarray, beside: Callable[..., Any]) -> np.bool:
    """Tell whether the mean map leaves k'z = 0 unchanged. `beside` subtracts from a row its
    multiple of k."""
    found, scale = scan_across(A, k)
    return is_small(beside(found), scale)


def keeps_zero(
    map: Map, blocks: Sequence[Block], m: np.ndarray, C: np.ndarray, k: np.ndarray
) -> Any:
    """Tell whether k'z = 0 now and after every round, for every outcome of the draws."""
    size, at = np.abs(k), np.argmax(np.abs(k))
    # the row minus its multiple of k
    beside = lambda found: found - found[:, at : at + 1] / k[at] * k
    return (
        is_small(m @ k, np.abs(m) @ size)
        and is_small(*_scan_along(C, k))
        and is_small(*_scan_along(map.Q, k))
        and is_small(map.constant @ k, np.abs(map.constant) @ size)
        and moves_nowhere(map.linear, k, beside)
        and deviates_nowhere(blocks, k, beside)
    )


def deviates_nowhere(blocks: Sequence[Block], k: np.ndarray, beside: Callable[..., Any]) -> bool:
    """Tell whether the deviations leave k'z = 0 unchanged: every deviation does, or those that do
    not are equal with weights that sum to 0, as for a centre whose mean is subtracted once
    (affine_maps.py)."""
    common, balance = None, 0.0
    for b in blocks:
        (along, size), level = scan_across(b.E, k[b.rows]), b.e @ k[b.rows]
        scale = max(size.max(initial=0.0), np.max(np.abs(b.e) @ np.abs(k[b.rows])))
        if is_small(along, scale) and is_small(level, scale):
            continue
        whole = np.zeros((len(level), len(k)))
        whole[:, b.columns] = along
        found = np.column_stack([beside(whole), level])
        if not is_small(found, scale):
            common = found if common is None else common
            if not is_small(found - common, scale):
                return False
            balance += b.weight
    return abs(balance) <= SAME * max((abs(b.weight) for b in blocks), default=0.0)


def use_shared_sum(E: Number, shared: int, own: Number, p: np.ndarray) -> None:
    """Replace in E (D, r, M) the sum of p_i times memory i by the stored shared sum of memories, in
    rows that read this sum."""
    many = np.flatnonzero(2 * E.any(axis=0)[:, own].sum(axis=1) >= len(own))
    given = E[:, many[:, None], own]  # in all other rows the median is 0
    factor = np.median(given / p, axis=2)
    left = given - factor[:, :, None] * p
    left[np.abs(left) <= SAME * np.abs(given).max(axis=2, keepdims=True)] = 0.0
    E[:, many[:, None], own] = left
    E[:, many, shared] += factor


def simplify_reads(
    map: Map, m: np.ndarray, C: np.ndarray, memories: np.ndarray, shared: np.ndarray, p: np.ndarray
) -> tuple[np.ndarray, list[Block]]:
    """Return the mean map and the deviations with sums of memories replaced by the state that
    stores the sum, where there is such a state."""
    linear, blocks = map.linear, list(blocks_of(map))
    alive = p > 0
    for own in memories:
        for s in shared:
            k = np.zeros(m.shape[1])
            k[own], k[s] = -p, 1.0
            if alive.all() and keeps_zero(map, blocks, m, C, k):
                linear = linear.copy() if linear is map.linear else linear
                use_shared_sum(linear, s, own, p)
                for n, b in enumerate(blocks):
                    # otherwise no row reads at least half of the memories
                    if 2 * np.isin(own, b.columns).sum() >= len(own):
                        b = b.whole(len(k))
                        use_shared_sum(b.E, s, own, p)
                        blocks[n] = b.drop_zero_columns()
    return linear, blocks


def required_entries(linear: np.ndarray, blocks: Sequence[Block], first: int) -> np.ndarray:
    """Return the mask (M, M) of the covariance entries that determine the variance of one state
    over all rounds."""
    # float32, because products of floats use BLAS
    which = lambda E: (E != 0).any(axis=0).astype(np.float32)
    reads, parts = which(linear), [(b.rows, b.columns, which(b.E)) for b in blocks]
    wanted = np.zeros(reads.shape, dtype=np.float32)
    wanted[first, first] = 1.0
    while True:
        more = wanted + reads.T @ wanted @ reads
        for rows, columns, E in parts:
            more[columns[:, None], columns] += E.T @ wanted[rows[:, None], rows] @ E
        more = np.sign(more)
        if np.array_equal(more, wanted):
            return wanted > 0
        wanted = more


def program_of(
    map: Map, linear: np.ndarray, blocks: Sequence[Block], wanted: np.ndarray
) -> tuple[Program, np.ndarray]:
    """Build the Program that updates the wanted covariance entries in a round; return the Program
    and the pairs of states, (pairs, 2)."""
    D, M = map.constant.shape
    upper = np.triu(wanted)
    pairs = np.argwhere(upper)
    place = np.full((M, M), -1)
    place[pairs[:, 0], pairs[:, 1]] = place[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
    mean, deviating = Rows(D), Rows(D)
    mean.add(linear, np.arange(M))
    squares = [np.zeros((0, 4))]
    for b in blocks:
        begin = deviating.add(b.E, b.columns)
        i, j = np.nonzero(upper[b.rows[:, None], b.rows])
        to, weight = place[b.rows[i], b.rows[j]], np.full(len(i), b.weight)
        squares.append(np.column_stack([to, begin + i, begin + j, weight]))
    squares = np.concatenate(squares)
    whole, one = squares[:, :3].astype(np.int64), np.ones(len(pairs))
    gained = (
        row_products(mean, place, np.arange(len(pairs)), *pairs.T, one),
        row_products(deviating, place, *whole.T, squares[:, 3]),
    )
    e = np.concatenate([b.e for b in blocks], axis=1) if blocks else np.zeros((D, 0))
    to, of, value = (np.concatenate(parts) for parts in zip(*gained))
    return Program(
        *spread_values(*mean.entries()),
        group_coordinates(map.constant.T),
        *spread_values(*deviating.entries()),
        group_coordinates(e.T),
        *spread_values(to, of, value),
        *(column.copy() for column in whole.T),
        squares[:, 3].copy(),
        group_coordinates(map.Q[:, pairs[:, 0], pairs[:, 1]].T),
    ), pairs


def spread_values(
    to: np.ndarray, of: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same entries sorted by `to`, with values arranged by groups of coordinates."""
    order = np.argsort(to, kind="stable")
    return to[order], of[order], group_coordinates(value[order])


def group_coordinates(a: np.ndarray) -> np.ndarray:
    """Rearrange (n, D) so that the coordinates of a group are contiguous: (groups, n LANES)."""
    n, D = a.shape
    groups = -(-D // LANES)
    whole = np.zeros((n, groups * LANES))
    whole[:, :D] = a
    return whole.reshape(n, groups, LANES).transpose(1, 0, 2).reshape(groups, n * LANES)


@jit
def _add_products(to, of, weight, given, out):
    """Add the weighted entries `of` to the entries `to`. `to` is sorted, so that successive
    additions to one entry stay in registers."""
    n, eight = 0, zero(8)
    while n < to.size:
        place, at = to[n], LANES * to[n]
        one, two = load(out, at, eight), load(out, at + 8, eight)
        while n < to.size and to[n] == place:
            w, v = LANES * n, LANES * of[n]
            one = multiply_add(one, load(weight, w, eight), load(given, v, eight))
            two = multiply_add(two, load(weight, w + 8, eight), load(given, v + 8, eight))
            n += 1
        store(out, at, one)
        store(out, at + 8, two)


@jit
def _add_squares(program, v, out):
    eight = zero(8)
    for n in range(program.square.size):
        for half in range(0, LANES, 8):
            at = LANES * program.square_to[n] + half
            one = load(v, LANES * program.square_one[n] + half, eight)
            other = load(v, LANES * program.square_other[n] + half, eight)
            both = multiply_add(eight, one, other)
            store(out, at, multiply_add(load(out, at, eight), program.square[n], both))


@jit
def _follow_pairs(program, first, pair, m, C, low, high, means, variances):
    """Propagate groups low .. high - 1 of coordinates through all rounds. m and C hold the moments
    group by group and are updated; means and variances (groups, rounds LANES) are those of state
    `first`, whose variance is entry `pair`."""
    v, point = np.empty(program.level.shape[1]), np.empty(m.shape[1])
    square, rounds = np.empty(C.shape[1]), means.shape[1] // LANES
    for g in range(low, high):
        now, entries = m[g], C[g]
        for t in range(rounds):
            v[:], square[:], point[:] = program.level[g], program.Q[g], program.constant[g]
            _add_products(program.part_to, program.part_of, program.part[g], now, v)
            _add_products(program.pair_to, program.pair_of, program.pair[g], entries, square)
            _add_squares(program, v, square)
            _add_products(program.mean_to, program.mean_of, program.mean[g], now, point)
            now[:], entries[:] = point, square
            for lane in range(LANES):
                means[g, LANES * t + lane] = now[LANES * first + lane]
                variances[g, LANES * t + lane] = entries[LANES * pair + lane]


def follow_pairs(
    map: Map,
    rounds: Number,
    m: np.ndarray,
    C: np.ndarray,
    first: int,
    memories: np.ndarray,
    shared: np.ndarray,
    p: np.ndarray,
) -> np.ndarray | None:
    """Return the means and variances (rounds, D) of state `first`; None where too many covariance
    entries are required."""
    linear, blocks = simplify_reads(map, m, C, memories, shared, p)
    wanted = required_entries(linear, blocks, first)
    if np.count_nonzero(wanted) > WORTH * wanted.size:
        return None
    program, pairs = program_of(map, linear, blocks, wanted)
    mean, square = group_coordinates(m.T), group_coordinates(C[:, pairs[:, 0], pairs[:, 1]].T)
    found = np.empty((2, len(mean), rounds * LANES))
    pair = int(np.flatnonzero((pairs == first).all(axis=1))[0])
    part = lambda low, high: _follow_pairs(program, first, pair, mean, square, low, high, *found)
    work = rounds * len(m) * (len(program.pair_to) + len(program.part_to))
    shared_out(len(mean), work, part, pieces=1)
    found = found.reshape(2, len(mean), rounds, LANES).transpose(0, 2, 1, 3)
    return found.reshape(2, rounds, -1)[:, :, : len(m)]
