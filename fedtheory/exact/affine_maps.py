"""The affine map of a round: the mean map over cohorts, work and noise, and every deviation from
the mean map.

Let z be the state and omega the cohort with its work. A round maps z to
z' = M_omega (z, 1) + noise. Where clients' parts add up,
z' = base + sum_{i in cohort} G_{i, s_i} (z, 1) + noise_i, and the moments of participation give

    Cov z' = M C M' + sum_a w_a [E_a C E_a' + (E_a m + e_a)(E_a m + e_a)'] + Q

with M the mean map and m and C the mean and covariance of z. There is one a for each client and
one for each number of steps of a client. The deviation of a client from the clients' mean has
weight `spread`, the covariance of the cohort's indicators. The deviation of a client's work from
the client's own mean has weight `square` times the probability of this work. Every term is a
square, so that nothing cancels. There is one exception: where an entry belongs to one client alone,
as memories do, subtracting the clients' mean from each client would fill the entries with nonzero
numbers. The mean is then subtracted once, as a square of negative weight.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory.typing import Number

if TYPE_CHECKING:
    pass

ROUNDING = 4e-16  # differences below this, relative to the numbers subtracted, count as 0
THIN = 4  # a deviation with fewer than 1 in THIN entries nonzero is stored as a Sparse


class Sparse(NamedTuple):
    """The nonzero entries of a (D, M, columns) array, each stored once. An entry is stored if it is
    nonzero in any of the D coordinates."""

    index: np.ndarray  # (e,) row * columns + column
    value: np.ndarray  # (D, e)


def sparse_columns(
    value: np.ndarray,
    scale: np.ndarray,
    columns: np.ndarray,
    of: int,
    rows: np.ndarray | None = None,
) -> Sparse:
    """Return as a Sparse the entries of `value` (D, M, .), some columns of an array of `of` columns
    (and only some rows with `rows`), that exceed rounding. `scale` is the array that `value` was
    computed from; displacements, the constant and noise are compared separately, because each has
    its own unit."""
    D, M, _ = value.shape
    size = np.abs(value)
    kind = np.sign(columns - M)
    for k in (-1, 0, 1):
        part = kind == k
        if part.any():
            size[:, :, part] *= size[:, :, part] > ROUNDING * scale[:, :, part].max(
                axis=2, keepdims=True
            )
    row, column = np.nonzero(size.any(axis=0))
    index = (row if rows is None else rows[row]) * of + columns[column]
    index, first = np.unique(index, return_index=True)
    return Sparse(index, value[:, row[first], column[first]])


def combine_sparse(terms: Sequence[tuple[float, Sparse]]) -> Sparse:
    """Return the sum of weight * Sparse over `terms`, without entries that cancel."""
    if len(terms) == 1:
        ((w, s),) = terms
        return Sparse(s.index, w * s.value)
    index = np.concatenate([s.index for _, s in terms])
    order = np.argsort(index, kind="stable")  # a stable sort merges runs that are already sorted
    value = np.concatenate([w * s.value for w, s in terms], axis=1)[:, order]
    first = np.flatnonzero(np.diff(index[order], prepend=-1))
    size = np.add.reduceat(np.abs(value), first, axis=1)
    value = np.add.reduceat(value, first, axis=1)
    kept = (np.abs(value) > ROUNDING * size).any(axis=0)
    return Sparse(index[order][first][kept], value[:, kept])


def compress_deviations(weights: np.ndarray, stack: np.ndarray) -> np.ndarray:
    """Reduce weighted deviations (n, D, r, c) to fewer deviations of weight 1 with the same sum of
    squares, by a QR decomposition for each coordinate."""
    n, D, r, c = stack.shape
    scaled = np.sqrt(weights)[:, None, None] * stack.reshape(n, D, r * c)
    if n > r * c:
        scaled = np.linalg.qr(scaled.transpose(1, 0, 2), mode="r").transpose(1, 0, 2)
    return scaled.reshape(-1, D, r, c)


def add_to(dense: np.ndarray, weight: float, s: Sparse) -> None:
    """Add weight times a Sparse to a dense array (D, M, columns), in place."""
    dense.reshape(len(dense), -1)[:, s.index] += weight * s.value


class Part(NamedTuple):
    """The round's map conditional on one value of the variable that couples the clients, such as a
    count."""

    chance: float
    mean: np.ndarray  # (D, M, columns)
    deviations: list[Any]  # (weight, Sparse)
    Q: np.ndarray  # (D, M, M) covariance that clients' noise adds


def centre_items(items: Sequence[Sparse]) -> list[Sparse]:
    """Return the items minus a common centre, followed by the mean of these differences.

    The centre is the mean where all items have an entry, so that nothing is left to subtract; where
    most have it, the median, so that an entry shared by all but one client stays sparse.
    """
    N, D = len(items), len(items[0].value)
    count = np.zeros(max(s.index.max(initial=0) for s in items) + 1, dtype=np.int32)
    for s in items:
        count[s.index] += 1
    most = (N + 1) // 2
    common, near = np.flatnonzero(count >= most), [count[s.index] >= most for s in items]
    values = np.zeros((N, D, len(common)))
    for n, s in enumerate(items):
        values[n][:, np.searchsorted(common, s.index[near[n]])] = s.value[:, near[n]]
    centre, some = values.mean(axis=0), count[common] < N
    centre[:, some] = np.median(values[:, :, some], axis=0)
    items = [subtract_centre(s, near, Sparse(common, centre)) for s, near in zip(items, near)]
    alone = [count[s.index] < min(2, most) for s in items]  # entries of a single client need no sum
    left = combine_sparse(
        [(1.0 / N, Sparse(s.index[~a], s.value[:, ~a])) for s, a in zip(items, alone)]
    )
    parts = [(s.index[a], 1.0 / N * s.value[:, a]) for s, a in zip(items, alone)]
    index, value = zip(left, *parts)
    return [*items, Sparse(np.concatenate(index), np.concatenate(value, axis=1))]


def subtract_centre(s: Sparse, near: np.ndarray, centre: Sparse) -> Sparse:
    """Return the Sparse `s` minus a centre. `near` marks the entries of s that the centre has, too;
    s may lack some entries of the centre."""
    if near.sum() < len(centre.index):
        return combine_sparse([(1.0, s), (-1.0, centre)])
    value, size = s.value.copy(), np.abs(s.value)
    value[:, near] -= centre.value
    size[:, near] += np.abs(centre.value)
    kept = (np.abs(value) > ROUNDING * size).any(axis=0)
    return Sparse(s.index[kept], value[:, kept])


class Map(NamedTuple):
    """The map of a round for mean and covariance, with D coordinates (1 if they mix) of M states
    each.

    m' = linear m + constant and C' = linear C linear' + Q + the sum over deviations of the module's
    first paragraph. Deviation n has r rows and c columns, size[n] = (r, c), and at[n] gives where
    the deviation starts: in `rows` and `e`, in `columns`, in `E`. All are flat arrays, because
    compiled loops take them.
    """

    linear: np.ndarray  # (D, M, M)
    constant: np.ndarray  # (D, M)
    Q: np.ndarray  # (D, M, M)
    weight: np.ndarray  # (a,)
    size: np.ndarray  # (a, 2)
    at: np.ndarray  # (a, 3)
    rows: np.ndarray  # (sum r,)
    columns: np.ndarray  # (sum c,)
    E: np.ndarray  # (D, sum r c)
    e: np.ndarray  # (D, sum r)
    # deviations that are mostly zero: (weight, Sparse of M + 1 columns, the constant last)
    thin: list[Any]

    def blocks(self) -> Iterator[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
        """Yield (weight, rows, columns, E (D, r, c), e (D, r)) for the deviations that are stored
        as dense blocks, not as Sparse."""
        for w, (r, c), (a, b, f) in zip(self.weight, self.size, self.at):
            E = self.E[:, f : f + r * c].reshape(-1, r, c)
            yield w, self.rows[a : a + r], self.columns[b : b + c], E, self.e[:, a : a + r]


def map_of(
    linear: np.ndarray, constant: np.ndarray, Q: Number, blocks: Any, thin: Sequence[Any] = ()
) -> Map:
    """Build a Map from `blocks` in the form that `Map.blocks` yields."""
    blocks = list(blocks)
    D, integers = len(linear), np.zeros(0, dtype=np.int64)
    size = np.array([block[3].shape[1:] for block in blocks], dtype=np.int64).reshape(-1, 2)
    ends = np.cumsum([(r, c, r * c) for r, c in size], axis=0, dtype=np.int64).reshape(-1, 3)
    join = lambda parts, empty: np.concatenate(parts, axis=-1) if blocks else empty
    return Map(
        np.ascontiguousarray(linear),
        np.ascontiguousarray(constant),
        Q,
        np.array([b[0] for b in blocks]),
        size,
        np.vstack([np.zeros((1, 3), dtype=np.int64), ends])[:-1].copy(),
        join([b[1] for b in blocks], integers),
        join([b[2] for b in blocks], integers),
        join([b[3].reshape(D, -1) for b in blocks], np.zeros((D, 0))),
        join([b[4] for b in blocks], np.zeros((D, 0))),
        list(thin),
    )


def fill_map(map: Map) -> Map:
    """Return a map in which the sparse deviations are stored as dense blocks, too."""
    if not map.thin:
        return map
    blocks, (D, M) = list(map.blocks()), map.constant.shape
    for w, s in map.thin:
        i, j = np.divmod(s.index, M + 1)
        (rows, i), (columns, j) = index_present(i, M), index_present(j, M + 1)
        E = np.zeros((D, len(rows), len(columns)))
        E[:, i, j] = s.value
        level = E[:, :, columns == M].sum(axis=2)
        blocks.append((w, rows, columns[columns < M], E[:, :, columns < M], level))
    return map_of(map.linear, map.constant, map.Q, blocks)


def index_present(index: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers in `index`, all below `count`, in increasing order, and the
    position of each entry of `index` among these."""
    there = np.zeros(count, dtype=bool)
    there[index] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[index]


def assemble_map(parts: Iterator[Any] | Sequence[Part], prober: Any) -> Map:
    """Build the Map of a round from the Parts of a model, one for each value of the coupling
    variable.

    The mean map is the mean of the parts' maps, and the difference of each part's map from it is
    one more deviation (law of total covariance). Columns beyond the constant belong to the server's
    noise: their squares go to Q. Deviations that are mostly zero stay Sparse where the state is
    large.
    """
    parts = list(parts)
    D, M = prober.D, prober.M
    alone = len(parts) == 1
    mean = parts[0].mean if alone else sum(part.chance * part.mean for part in parts)
    deviations = [(part.chance * w, s) for part in parts for w, s in part.deviations]
    if not alone:
        every = np.arange(prober.columns)
        deviations += [
            (
                part.chance,
                sparse_columns(
                    part.mean - mean, np.abs(part.mean) + np.abs(mean), every, prober.columns
                ),
            )
            for part in parts
        ]
    variance, noise = prober.variance[0], mean[:, :, M + 1 :]
    Q = parts[0].Q if alone else sum(part.chance * part.Q for part in parts)
    if noise.size:
        Q += variance * (noise @ noise.transpose(0, 2, 1))
    blocks, thin = [], []
    for w, s in deviations:
        i, j = np.divmod(s.index, prober.columns)
        (rows, i), inner, level, outer = index_present(i, M), j < M, j == M, j > M
        columns, there = index_present(j[inner], M)
        if (
            prober.e > 1
            and prober.own.size
            and not outer.any()
            and THIN * len(i) < len(rows) * len(columns)
        ):
            thin.append((w, Sparse(rows[i] * (M + 1) + j, s.value)))
            continue
        E, e = np.zeros((D, len(rows), len(columns))), np.zeros((D, len(rows)))
        E[:, i[inner], there] = s.value[:, inner]
        e[:, i[level]] = s.value[:, level]
        fixed = np.zeros(
            (D, len(rows), prober.columns - M)
        )  # terms without a state as factor are the same in every round
        fixed[:, i[outer], j[outer] - M - 1] = np.sqrt(variance) * s.value[:, outer]
        if len(columns):
            blocks.append((w, rows, columns, E, e))
        else:
            fixed[:, :, -1] = e
        if fixed.any():
            Q[:, rows[:, None], rows] += w * (fixed @ fixed.transpose(0, 2, 1))
    return map_of(mean[:, :, :M], mean[:, :, M], Q, merge_blocks(blocks), thin)


def merge_blocks(
    blocks: Sequence[tuple[float | np.ndarray, ...]],
) -> Iterator[tuple[float, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Yield fewer blocks where many blocks share the same rows and columns, by merging each such
    group."""
    groups = {}
    for block in blocks:
        groups.setdefault((block[0] > 0, block[1].tobytes(), block[2].tobytes()), []).append(block)
    for group in groups.values():
        _, rows, columns, E, e = group[0]
        if group[0][0] < 0 or len(group) <= e.shape[1] * (len(columns) + 1):
            yield from group
            continue
        stack = np.stack([np.concatenate([E, e[:, :, None]], axis=2) for *_, E, e in group])
        for both in compress_deviations(np.array([w for w, *_ in group]), stack):
            yield 1.0, rows, columns, both[:, :, :-1], both[:, :, -1]
