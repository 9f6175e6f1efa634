"""The covariance between the memories of two clients, stored entry by entry or as a short series.

Let o_ia be the memory of client i along the client's a-th eigenvector. In a round, the covariance
of o_ia and o_jb is multiplied by F(ia, jb) = sum_n w_n own_n[ia] own_n[jb], and gains p_ia . g_jb +
g_ia . p_jb and sum_n w_n v_n[ia] v_n[jb]. The coefficients g, with which memories read shared
states, are the same in all rounds. Hence the covariance is Z_ia,jb + Z_jb,ia with Z_ia,jb =
z_ia(jb) . g_jb, where each round multiplies z_ia(jb) by F(ia, jb) and adds p_ia. Where clients do
the same work, each own_n is a linear function of one number x of [-1, 1]. Then z_ia is a polynomial
in the x of jb, stored as a Chebyshev series with few terms above rounding (about seven where steps
are small). No term of the series is stored for a pair of clients.

`Whole` and `Series` have the same three methods: `block` (what a client's own deviations read),
`heard` (what shared states read) and `round`. A series starts from a covariance of zero and is
never expanded to all pairs, so it serves only the last stretch of rounds.
"""

from typing import NamedTuple

import numpy as np

from fedtheory.exact.affine_maps import ROUNDING
from fedtheory.exact.moments import shared_out
from fedtheory.jit import jit

SQUARE = 16  # side of a square of entries that is transposed at once
# relative to the factor of a covariance, a point this near to a line is on the line
STRAIGHT = 16 * ROUNDING
NONE = 2.0**-54  # terms below this, relative to the first term, are dropped
MOST = 64  # most terms of a series at the start
PRODUCTS = 3  # products (r x g) by n that one term costs in a round
UNIT = 100  # columns of a product that a core computes at a time


class Form(NamedTuple):
    """The part of a round's map on the memories (n = N k memories, client after client) in which
    many clients take part: the mean map and the deviations."""

    weight: np.ndarray  # (w,)
    own: np.ndarray  # (w, n) from each memory to itself
    read: np.ndarray  # (r, n) rows in which shared states read memories
    given: np.ndarray  # (g, n) rows in which memories read shared states
    Q: np.ndarray  # (N, k, k) covariance that clients' noise adds

    def client(self, i: int) -> slice:
        """Return the slice of client i's memories."""
        k = self.Q.shape[1]
        return slice(i * k, (i + 1) * k)


@jit
def _scale_and_add(C, at, strip, weighted, own, Q):
    """Update the rows of C that belong to one client (first row `at`), from the diagonal on: scale
    each entry by the factors `own` of its row and its column, weighted, and add the strip (k, .).
    Add Q to the client's own block and keep that block symmetric; mirror the strip into the
    columns."""
    k, count = strip.shape
    for a in range(k):
        for n in range(len(own)):
            factor = weighted[n, at + a]
            for b in range(count):
                strip[a, b] += factor * own[n, at + b] * C[at + a, at + b]
    for a in range(k):
        for b in range(a + 1):
            value = Q[a, b] + 0.5 * (strip[a, b] + strip[b, a])
            strip[a, b], strip[b, a] = value, value
    for low in range(0, count, SQUARE):  # transposed squares fit into the first-level cache
        for top in range(0, k, SQUARE):
            for b in range(low, min(low + SQUARE, count)):
                for a in range(top, min(top + SQUARE, k)):
                    C[at + b, at + a] = strip[a, b]
    for a in range(k):
        for b in range(k, count):
            C[at + a, at + b] = strip[a, b]


class Whole:
    """The covariance of the memories stored in full, C (n, n)."""

    def __init__(self, form: Form, C: np.ndarray) -> None:
        self.form, self.C = form, C

    def block(self, i: int) -> np.ndarray:
        """Return the covariance of client i's memories."""
        here = self.form.client(i)
        return self.C[here, here]

    def heard(self, i: int) -> np.ndarray:
        """Return the covariance of `read` o with client i's memories o_i, where o are all memories
        and `read` the rows that shared states read."""
        return self.form.read @ self.C[:, self.form.client(i)]

    def round(self, p: np.ndarray, level: np.ndarray, v: np.ndarray, gained: np.ndarray) -> None:
        """Advance the covariance by one round. p is (n, g); v (w - 1, n) is the mean of each
        deviation; gained (N, k, k) is what each client's memories gain independently of other
        clients."""
        form = self.form
        left = np.concatenate([form.given.T, p, v.T], axis=1)
        right = np.concatenate([p.T, form.given, form.weight[1:, None] * v])
        weighted = form.weight[:, None] * form.own

        def strips(low: int, high: int) -> None:
            for i in range(low, high):
                here = form.client(i)
                strip = left[here] @ right[:, here.start :]
                _scale_and_add(self.C, here.start, strip, weighted, form.own, gained[i])

        shared_out(len(form.Q), self.C.size, strips, pieces=len(form.Q))


class Line(NamedTuple):
    """A line through the clients' factors: own_n = middle_n + slope_n x for all n."""

    x: np.ndarray  # (n,) within [-1, 1]
    middle: np.ndarray  # (w,)
    slope: np.ndarray  # (w,)


def line_of(weight: np.ndarray, own: np.ndarray) -> Line | None:
    """Return the line that all points own (w, n) lie on, or None if there is none."""
    low, high = own[:, own[0].argmin()], own[:, own[0].argmax()]
    middle, slope = 0.5 * (low + high), 0.5 * (high - low)
    x = np.clip((own[0] - middle[0]) / (slope[0] or 1.0), -1.0, 1.0)
    off = np.abs(middle[:, None] + slope[:, None] * x - own).max(axis=1)
    size = np.abs(weight) * np.abs(own).max(axis=1)
    straight = size @ off <= STRAIGHT * (size @ np.abs(own).max(axis=1))
    return Line(x, middle, slope) if straight else None


def chebyshev_polynomials(x: np.ndarray, count: int) -> np.ndarray:
    """Return the first `count` Chebyshev polynomials of the first kind at x, as (count, n)."""
    found = [np.ones_like(x), x]
    while len(found) < count:
        found.append(2.0 * x * found[-1] - found[-2])
    return np.stack(found[:count])


def times_line(
    middle: float | np.ndarray, slope: float | np.ndarray, series: np.ndarray
) -> np.ndarray:
    """Return the Chebyshev series of (middle + slope x) times a series (terms, .), truncated to the
    same number of terms."""
    raised, lowered = np.zeros_like(series), np.zeros_like(series)
    raised[1:], lowered[:-1] = 0.5 * series[:-1], 0.5 * series[1:]
    raised[1:2] *= 2.0
    return middle * series + slope * (raised + lowered)


def count_terms(form: Form, line: Line, rounds: int) -> int:
    """Return the number of Chebyshev terms above rounding after `rounds` rounds that each add the
    same amount, at most MOST, as found at the two ends of the line."""
    ends = np.unique([line.x.argmin(), line.x.argmax()])
    weighted = form.weight[:, None] * form.own[:, ends]
    middle, slope = line.middle @ weighted, line.slope @ weighted
    series, found = np.zeros((MOST, len(ends))), 1
    for _ in range(min(rounds, 1000)):
        series = times_line(middle, slope, series)
        series[0] += 1.0
        above = np.abs(series) > NONE * np.abs(series[0])
        found = max(found, 1 + int(np.flatnonzero(above.any(axis=1)).max(initial=0)))
    return min(found, MOST)


@jit
def _advance_series(z, count, middle, slope, p, v, series):
    """Update a client's series z (k, ., m), of which `count` terms exceed rounding: multiply by the
    lines middle + slope x (k,), add p (k, g) to the first term and v (w, k) times series (w, ., m).
    Return the largest entries of the first term and of the term after the last."""
    k, m = z.shape[0], z.shape[2]
    before, here = np.empty(m), np.empty(m)
    size = np.zeros((2, m))
    for a in range(k):
        z[a, count] = 0.0
        before[:] = 0.0
        for q in range(count + 1):
            here[:] = z[a, q]
            up, down = slope[a] * (1.0 if q == 1 else 0.5), 0.5 * slope[a]
            for c in range(m):
                z[a, q, c] = middle[a] * here[c] + up * before[c]
            if q + 1 < count:
                for c in range(m):
                    z[a, q, c] += down * z[a, q + 1, c]
            for n in range(len(v)):
                for c in range(m):
                    z[a, q, c] += v[n, a] * series[n, q, c]
            before[:] = here
        for c in range(p.shape[1]):
            z[a, 0, c] += p[a, c]
        for c in range(m):
            size[0, c] = max(size[0, c], abs(z[a, 0, c]))
            size[1, c] = max(size[1, c], abs(z[a, count, c]))
    return size


class Series:
    """The covariance of the memories as Chebyshev series Z, with each client's own block stored
    separately: `blocks` are these blocks, `alone` the part that a client gains independently of
    other clients."""

    def __init__(
        self, form: Form, line: Line, rooms: int, gives: np.ndarray, m: np.ndarray, e: np.ndarray
    ) -> None:
        """Start from memories that are deterministic, with mean m (n,). gives (w, s, g) and e (w,
        n) are what a round adds to the memories: combinations of the rows of `given`, with
        coefficients gives times the shared states, and the constants e."""
        N, k, _ = form.Q.shape
        self.form, self.line, self.gives = form, line, gives
        self.blocks, self.alone = np.zeros((2, N, k, k))
        self.static = np.concatenate([form.given, m[None], e]) if len(e) > 1 else form.given
        self.count, self.mean = 1, np.zeros((MOST + 1, len(self.static)))
        self.mean[0, len(form.given) : len(form.given) + 1] = 1.0
        weighted = form.weight[:, None] * form.own
        self.middle, self.slope = line.middle @ weighted, line.slope @ weighted
        self.z = np.zeros((len(m), 0, len(self.static)))
        self._room(rooms)
        # the product of `read` with z
        self.told = np.zeros((len(form.read), self.count * len(self.static)))

    def _room(self, count: int) -> None:
        """Allocate storage for `count` terms and one more, and recompute what depends on the number
        of terms: the Chebyshev polynomials P at each x, and `hears`, the products of `read`,
        weighted by each polynomial, with the static vectors."""
        n, old, m = self.z.shape
        z = np.empty((n, count + 1, m))
        z[:, :old] = self.z
        z[:, old:] = 0.0
        more = max(0, count + 1 - len(self.mean))
        self.mean = np.concatenate([self.mean, np.zeros((more, m))])
        self.z, self.P = z, chebyshev_polynomials(self.line.x, count + 1)
        self.hears = np.concatenate([(self.form.read * P) @ self.static.T for P in self.P], axis=1)

    def _flat(self, rows: slice) -> np.ndarray:
        """Return the series of the chosen memories as (., terms m), restricted to the terms that
        exceed rounding."""
        z = self.z[rows]
        return z.reshape(len(z), -1)[:, : self.count * z.shape[2]]

    def block(self, i: int) -> np.ndarray:
        """Return the covariance of client i's memories, (k, k)."""
        return self.blocks[i]

    def heard(self, i: int) -> np.ndarray:
        """Return the covariance of `read` o with client i's memories, as `Whole.heard` does: from
        both halves Z and Z' of the covariance, and the part that the client gains alone."""
        here, width = self.form.client(i), self.told.shape[1]
        static = self.P[: self.count, None, here] * self.static[:, here]
        return (
            self.hears[:, :width] @ self._flat(here).T
            + self.told @ static.reshape(width, -1)
            + self.form.read[:, here] @ self.alone[i]
        )

    def round(self, p: np.ndarray, level: np.ndarray, v: np.ndarray, gained: np.ndarray) -> None:
        """Advance by one round as `Whole.round` does. level (s,) is the mean of the shared states."""
        form, line, g = self.form, self.line, len(self.form.given)
        series = []
        for n in range(len(form.weight)):
            series.append(times_line(line.middle[n], line.slope[n], self.mean))
            series[-1][0, :g] += level @ self.gives[n]
            series[-1][0, g + 1 + n : g + 2 + n] += 1.0
        self.mean, series = series[0], np.array(series[1:]).reshape(-1, *self.mean.shape)
        half = 0.5 * form.weight[1:, None] * v
        sizes = np.empty((len(form.Q), 2, self.z.shape[2]))

        def clients(low: int, high: int) -> None:
            for i in range(low, high):
                here = form.client(i)
                own = (form.weight[:, None] * form.own[:, here]).T @ form.own[:, here]
                both = p[here] @ form.given[:, here] + half[:, here].T @ v[:, here]
                self.blocks[i] = own * self.blocks[i] + both + both.T + gained[i]
                self.alone[i] = own * self.alone[i] + gained[i]
                sizes[i] = _advance_series(
                    self.z[here],
                    self.count,
                    self.middle[here],
                    self.slope[here],
                    p[here],
                    half[:, here],
                    series,
                )

        shared_out(len(form.Q), self.z.size, clients, pieces=len(form.Q))
        first, last = (sizes.max(axis=0) * np.abs(self.static).max(axis=1)).max(axis=1)
        if last > NONE * first:
            self.count += 1
            if self.count == self.z.shape[1]:
                self._room(self.count + 3)
        self.told = parallel_product(form.read, self._flat(slice(None)))


def parallel_product(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the product A B, computed in parallel. The columns of B are split the same way for any
    number of cores."""
    out = np.empty((len(A), B.shape[1]))
    ends = [*range(0, B.shape[1], UNIT), B.shape[1]]

    def part(low: int, high: int) -> None:
        for a, b in zip(ends[low:high], ends[low + 1 :]):
            out[:, a:b] = A @ B[:, a:b]

    shared_out(len(ends) - 1, B.size, part, pieces=len(ends))
    return out


def choose_form(
    form: Form,
    C: np.ndarray | None,
    rounds: int,
    last: bool,
    gives: np.ndarray,
    m: np.ndarray,
    e: np.ndarray,
) -> Series | Whole:
    """Choose the cheaper of Whole and Series for `rounds` rounds; Series only if these rounds are
    the `last`, so that the memories' moments are not needed afterwards. C (n, n) is the memories'
    covariance before the rounds, None for zero."""
    line = None if C is not None or not last else line_of(form.weight, form.own)
    if line is not None:
        rooms, (r, n), g = count_terms(form, line, rounds), form.read.shape, len(form.given)
        if rooms < MOST and PRODUCTS * rooms * r * g < (r + g) * n:
            return Series(form, line, rooms, gives, m, e)
    return Whole(form, np.zeros((form.own.shape[1],) * 2) if C is None else C)
