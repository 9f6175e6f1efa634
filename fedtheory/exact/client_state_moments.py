"""Moments of a state with one memory per client where coordinates mix, computed by blocks.

Let s be the shared states (server point and variates) and o_i the states that client i keeps. On
average a round maps s' = A s + sum_i B_i o_i and o_i' = G_i s + D_i o_i: no client reads the states
that another client keeps. In the basis in which D_i is diagonal (for a quadratic, the eigenbasis of
its Hessian), the covariance of two clients' memories is multiplied entry by entry and gains
products with shared states. No product with matrices as large as the whole state is needed. Each
deviation concerns one client, except for a mean that is subtracted once (affine_maps.py); this mean
has the same form as the round's mean map.

With n = N k memories, a round costs O(n^2) numbers for the memories' covariance (fewer as a series,
cross_client_covariance.py) and O(n) times the number of shared states for the rest. A map of any
other form is left to moments.py.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from fedtheory.exact.affine_maps import ROUNDING, Map
from fedtheory.exact.cross_client_covariance import Form, choose_form, parallel_product
from fedtheory.exact.moments import factor_narrow, shared_out
from fedtheory.exact.single_client_noise import Single, single_deviations
from fedtheory.typing import Number

FROM = 200  # number of memory states from which blocks are used
FEW = 4  # most maps in which many clients take part; with more maps, blocks are not used
SAME = 1e3 * ROUNDING  # entries below this, relative to the largest, count as 0
# entries of a deviation below this, relative to the largest in the row, count as 0
DUST = 16 * ROUNDING


class Wide(NamedTuple):
    """The mean map, or a deviation in which many clients take part."""

    weight: float
    ss: np.ndarray  # (s, s) from shared states to shared states
    so: np.ndarray  # (s, n) from memories, client after client, to shared states
    os: np.ndarray  # (n, s) from shared states to memories
    own: np.ndarray  # (n,) from each memory to itself
    e_s: np.ndarray
    e_o: np.ndarray

    def level(self, m: np.ndarray) -> np.ndarray:
        """Return the map of the mean m (s + n,), the constant included: E m + e."""
        s, o = m[: len(self.e_s)], m[len(self.e_s) :]
        return np.concatenate(
            [self.ss @ s + self.so @ o + self.e_s, self.os @ s + self.own * o + self.e_o]
        )


def rotate_rows(U: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return U_i' X_i for each client i, stacked row block by row block."""
    return (U.transpose(0, 2, 1) @ X.reshape(*U.shape[:2], -1)).reshape(X.shape)


def rotate_both(U: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return the matrix with blocks U_i' X_ij U_j."""
    return rotate_rows(U, rotate_rows(U, X).T).T


def rotated_diagonals(U: np.ndarray, X: np.ndarray, size: float) -> Number:
    """Return the diagonal of U_i' X_i U_i for each client, X (N, k, k); None if any off-diagonal
    entry exceeds rounding. `size` is the largest magnitude that X was computed from."""
    seen = U.transpose(0, 2, 1) @ X @ U
    diagonal = np.einsum("ikk->ik", seen)
    rest = seen - diagonal[:, :, None] * np.eye(seen.shape[1])
    none = max(SAME * np.abs(X).max(initial=0.0), DUST * size)
    return diagonal if np.all(np.abs(rest) <= none) else None


class Arrow(NamedTuple):
    """An arrow matrix: entries between memories of different clients are zero."""

    ss: np.ndarray  # (s, s)
    so: np.ndarray  # (s, n)
    os: np.ndarray  # (n, s)
    oo: np.ndarray  # (N, k, k)


def as_arrow(A: np.ndarray, shared: np.ndarray, own: np.ndarray) -> Arrow | None:
    """Return A (M, M) as an arrow matrix; None if A has another form."""
    flat, (low, high) = own.ravel(), (own.min(), own.max() + 1)
    joined = np.array_equal(flat, np.arange(low, high))
    inside = A[low:high, low:high] if joined else A[flat[:, None], flat]
    oo = A[own[:, :, None], own[:, None]]
    if np.count_nonzero(inside) > np.count_nonzero(oo):
        return None
    beside = A[low:high, shared] if joined else A[flat[:, None], shared]
    return Arrow(A[shared[:, None], shared], A[shared][:, flat], beside, oo)


def arrow_of(
    rows: Number, columns: Number, value: Number, s: int, shape: tuple[int, int]
) -> Arrow | None:
    """Build an arrow matrix from entries, with clients' memories of `shape` (N, k) after the s
    shared states; None if the entries do not form an arrow."""
    N, k = shape
    inner, mine = rows >= s, columns >= s
    (i, a), (j, b) = np.divmod(rows - s, k), np.divmod(columns - s, k)
    both = inner & mine
    if np.any(i[both] != j[both]):
        return None
    found = Arrow(np.zeros((s, s)), np.zeros((s, N * k)), np.zeros((N * k, s)), np.zeros((N, k, k)))
    found.oo[i[both], a[both], b[both]] = value[both]
    for part, where, down, across in (
        (found.ss, ~inner & ~mine, 0, 0),
        (found.so, ~inner & mine, 0, s),
        (found.os, inner & ~mine, s, 0),
    ):
        part[rows[where] - down, columns[where] - across] = value[where]
    return found


def widen_map(
    weight: Number, parts: Any, e: np.ndarray, U: np.ndarray, size: float = 0.0
) -> Wide | None:
    """Return a map of the whole state, given as an arrow matrix, in the bases U of the memories;
    None if `parts` is None, or if a client's memories mix in that client's basis. `size` is the
    largest magnitude of the maps that this map was computed from."""
    own = None if parts is None else rotated_diagonals(U, parts.oo, size)
    if own is None:
        return None
    s, so, os = len(parts.ss), rotate_rows(U, parts.so.T).T, rotate_rows(U, parts.os)
    return Wide(weight, parts.ss, so, os, own.ravel(), e[:s], rotate_rows(U, e[s:, None])[:, 0])


def resting_states(map: Map, m: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Return the mask of the states that are 0 and stay 0 in every round."""
    zero = (m == 0) & (map.constant[0] == 0)
    zero[map.rows] = False
    for _, s in map.thin:
        zero[s.index // (len(m) + 1)] = False
    index = np.flatnonzero(zero)
    zero[index] &= ~(C[index].any(axis=1) | map.Q[0][index].any(axis=1))
    while True:
        index = np.flatnonzero(zero)
        moved = map.linear[0][index][:, ~zero].any(axis=1)
        if not moved.any():
            return zero
        zero[index[moved]] = False


class Memories:
    """The mean and covariance of shared states and of client memories, propagated through rounds."""

    def __init__(
        self,
        order: np.ndarray,
        U: np.ndarray,
        wides: Sequence[Any],
        single: Sequence[Single],
        Q: tuple[Any, ...],
        m: np.ndarray,
        C: tuple[Any, ...],
        rounds: int,
        last: bool,
    ) -> None:
        """Store the round's map and the current moments. `single` holds the deviations of one
        client each; Q and C are triples: shared states (s, s), shared states with memories (s, n),
        memories (noise (N, k, k), covariance (n, n) or None)."""
        self.order, self.s, self.U = order, len(Q[0]), U
        self.wides, self.single, self.m = wides, single, m
        self.Q_ss, self.Q_so, Q_o = Q
        self.C_ss, self.C_so, C_oo = C
        every = lambda parts: np.concatenate(parts)[:, None]
        left, read = factor_narrow(every([w.so for w in wides]))
        self.reads = left.reshape(len(wides), self.s, -1)  # so = reads read
        left, given = factor_narrow(every([w.os.T for w in wides]))
        self.gives = left.reshape(len(wides), self.s, -1)  # os' = gives given
        weight, own = np.array([w.weight for w in wides]), np.stack([w.own for w in wides])
        self.form = Form(weight, own, read[:, 0], given[:, 0], Q_o)
        e = np.stack([w.e_o for w in wides])
        self.memories = choose_form(self.form, C_oo, rounds, last, self.gives, m[self.s :], e)

    def round(self) -> None:
        """Advance the state's moments by one round: C_ss, C_so and the memories' covariance from
        the mean map and the wide deviations, plus what each client's own deviations add to its
        block. Clients are distributed among the cores, each client computed independently."""
        s, m, form, memories = self.s, self.m, self.form, self.memories
        C_ss, C_so, given = self.C_ss, self.C_so, self.form.given
        levels = np.array([w.level(m) for w in self.wides])
        told = parallel_product(form.read, C_so.T)  # (r, s)
        P_s = [w.ss @ C_ss + r @ told for w, r in zip(self.wides, self.reads)]
        P_o = np.empty((len(self.wides), *C_so.shape))
        parts = list(zip(form.weight, self.gives, P_s))
        middle = 0.5 * sum(w * g.T @ C_ss @ g for w, g, _ in parts)
        beside = sum(w * P @ g for w, g, P in parts)
        p, C_so_next = np.empty((C_so.shape[1], len(given))), self.Q_so.copy()
        gained, inner = [None] * len(self.single), form.Q.copy()

        def columns(low: int, high: int) -> None:
            for i in range(low, high):
                here = form.client(i)
                heard = memories.heard(i)
                p[here] = given[:, here].T @ middle.T
                C_so_next[:, here] += beside @ given[:, here]
                for n, (w, g, _) in enumerate(parts):
                    weighted = w * form.own[n, here]
                    P_o[n, :, here] = self.wides[n].ss @ C_so[:, here] + self.reads[n] @ heard
                    C_so_next[:, here] += P_o[n, :, here] * weighted
                    p[here] += (C_so[:, here] * weighted).T @ g

        def gains(low: int, high: int) -> None:
            for n in range(low, high):
                i = self.single[n].client
                here = form.client(i)
                both = np.block([[C_ss, C_so[:, here]], [C_so[:, here].T, memories.block(i)]])
                gained[n] = self.single[n].gain(np.concatenate([m[:s], m[s:][here]]), both)

        many = len(self.U)  # clients take equally long, so no core waits long for the last client
        shared_out(many, C_so.size * len(given), columns, pieces=many)
        shared_out(len(self.single), C_so.size * len(given), gains, pieces=many)
        C_ss_next = self.Q_ss.copy()
        for n, (w, r) in enumerate(zip(self.wides, self.reads)):
            C_ss_next += w.weight * (
                P_s[n] @ w.ss.T + parallel_product(form.read, P_o[n].T).T @ r.T
            )
            if n:  # n = 0 is the mean map, which is not a deviation
                C_ss_next += w.weight * np.outer(levels[n, :s], levels[n, :s])
                C_so_next += w.weight * np.outer(levels[n, :s], levels[n, s:])
        for i, gain in zip((each.client for each in self.single), gained):
            C_ss_next += gain[:s, :s]
            C_so_next[:, form.client(i)] += gain[:s, s:]
            inner[i] += gain[s:, s:]
        memories.round(p, m[:s], levels[1:, s:], inner)
        self.C_ss, self.C_so, self.m = 0.5 * (C_ss_next + C_ss_next.T), C_so_next, levels[0]

    def write_moments(self, m: np.ndarray, C: Number) -> None:
        """Write the mean into m and the covariance into C (M, M), in the coordinates in which the
        state was given."""
        back = self.U.transpose(0, 2, 1)
        s, shared, own = self.s, self.order[: self.s, None], self.order[self.s :, None]
        m[self.order] = np.concatenate([self.m[:s], rotate_rows(back, self.m[s:, None])[:, 0]])
        C_os = rotate_rows(back, self.C_so.T)
        C[shared, shared.T], C[own, own.T] = self.C_ss, rotate_both(back, self.memories.C)
        C[own, shared.T], C[shared, own.T] = C_os, C_os.T


def split_deviations(map: Map, place: Number) -> Iterator[tuple[float | np.ndarray, ...]]:
    """Yield (weight, rows, columns, values, rows of levels, levels) for each deviation of a map of
    one coordinate, entry by entry, with states numbered by `place`. Entries at rounding level
    relative to the largest entry that any deviation or the mean map has in the same row are left
    out."""
    M, every = len(place), []
    for w, rows, columns, (E,), (e,) in map.blocks():
        (i, j), (level,) = np.nonzero(E), np.nonzero(e)
        every.append((w, rows[i], columns[j], E[i, j], rows[level], e[level]))
    for w, s in map.thin:
        rows, columns = np.divmod(s.index, M + 1)
        inner, value = columns < M, s.value[0]
        at = rows[inner], columns[inner], value[inner]
        every.append((w, *at, rows[~inner], value[~inner]))
    A = map.linear[0]
    size, largest = np.maximum(A.max(axis=1), -A.min(axis=1)), np.abs(map.constant[0])
    for _, rows, _, E, at, e in every:
        np.maximum.at(size, rows, np.abs(E))
        np.maximum.at(largest, at, np.abs(e))
    for w, rows, columns, E, at, e in every:
        kept = (np.abs(E) > DUST * size[rows]) & (place[columns] >= 0)
        level = np.abs(e) > DUST * largest[at]
        at = place[rows[kept]], place[columns[kept]], E[kept], place[at[level]], e[level]
        yield w, *at


def memories_of(
    map: Map, m: np.ndarray, C: Number, own: Number, rounds: int = 1, last: bool = False
) -> Memories | None:
    """Build the Memories of a state in which `own` (N, k) are the states of each client, from the
    moments m (M,) and C (M, M). Return None where a round does not have this form (a memory reads
    another client's, or mixes in its basis), or where little would be gained: fewer than FROM
    memories, more than FEW wide maps."""
    if own.size < FROM:
        return None
    live = ~resting_states(map, m, C)
    if not live[own].all():
        return None
    live[own] = False
    shared = np.flatnonzero(live)
    order, s = np.concatenate([shared, own.ravel()]), len(shared)
    A, Q = as_arrow(map.linear[0], shared, own), as_arrow(map.Q[0], shared, own)
    if A is None or Q is None:
        return None
    U = np.linalg.eigh(0.5 * (A.oo + A.oo.transpose(0, 2, 1)))[1]
    wides, single = [widen_map(1.0, A, map.constant[0][order], U)], []
    place = np.full(len(m), -1)
    place[order] = np.arange(len(order))
    for found in split_deviations(map, place):
        w, rows, columns, E, at, e = found
        met = np.zeros(s + own.size, dtype=bool)
        met[rows] = met[columns] = met[at] = True
        clients = np.flatnonzero(met[s:].reshape(own.shape).any(axis=1))
        if len(clients) < 2:
            single.append((int(clients.min(initial=len(own))) % len(own), *found))
            continue
        level = np.zeros(len(order))
        level[at] = e
        parts = arrow_of(rows, columns, E, s, own.shape)
        wides.append(widen_map(w, parts, level, U, np.abs(A.oo).max()))
        if wides[-1] is None or len(wides) > FEW:
            return None
    if wides[0] is None:
        return None
    Q = Q.ss, rotate_rows(U, Q.os).T, U.transpose(0, 2, 1) @ Q.oo @ U
    if C.any():
        C = C[order[:, None], order]
        C = C[:s, :s], rotate_rows(U, C[s:, :s]).T, rotate_both(U, C[s:, s:])
    else:
        C = np.zeros((s, s)), np.zeros((s, own.size)), None
    m = np.concatenate([m[shared], rotate_rows(U, m[own.reshape(-1, 1)])[:, 0]])
    return Memories(order, U, wides, single_deviations(single, s, U), Q, m, C, rounds, last)


def follow_memories(
    map: Map,
    rounds: int,
    m: np.ndarray,
    C: np.ndarray,
    first: int,
    count: int,
    own: np.ndarray,
    last: bool,
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return what `moments.follow` returns, or None where the round does not have this form. m and
    C are updated unless this is the `last` stretch of rounds."""
    found = memories_of(map, m[0], C[0], own, rounds, last) if len(m) == 1 else None
    if found is None:
        return None
    place = np.zeros(m.shape[1], dtype=np.int64)
    place[found.order] = np.arange(len(found.order))
    server = place[first : first + count]
    means, covariances = np.empty((rounds, 1, count)), np.empty((rounds, 1, count, count))
    for t in range(rounds):
        found.round()
        means[t, 0], covariances[t, 0] = found.m[server], found.C_ss[server[:, None], server]
    if not last:
        found.write_moments(m[0], C[0])
    return means, covariances
