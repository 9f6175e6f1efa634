"""The mean and covariance of the state, propagated through rounds by the rounds' maps, and the
metrics of a quadratic that follow from these moments."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from fedtheory.exact.affine_maps import ROUNDING, Map, fill_map
from fedtheory.jit import jit
from fedtheory.problem import Problem
from fedtheory.runs.machine import run_blocks
from fedtheory.runs.running import thread_count


@jit
def _add_squares(weight, size, at, rows, columns, E, e, m, C, v, part, out):
    """Add to out the sum over n of weight_n (E_n C E_n' + (E_n m + e_n)(E_n m + e_n)'), each term
    on its own rows and columns."""
    for n in range(weight.size):
        r, c = size[n]
        a, b, f = at[n]
        for i in range(r):
            v[i] = e[a + i]
            for k in range(c):
                part[i, k] = 0.0
            for l in range(c):
                entry = E[f + i * c + l]
                if entry != 0.0:  # maps of methods with memory are mostly zero
                    v[i] += entry * m[columns[b + l]]
                    for k in range(c):
                        part[i, k] += entry * C[columns[b + l], columns[b + k]]
        for j in range(r):
            for i in range(r):
                out[rows[a + j], rows[a + i]] += weight[n] * v[i] * v[j]
            for k in range(c):
                entry = weight[n] * E[f + j * c + k]
                if entry != 0.0:
                    for i in range(r):
                        out[rows[a + j], rows[a + i]] += entry * part[i, k]


@jit
def _multiply_sparse(A, B, out):
    """Compute out = A B, skipping zero entries of A."""
    out[:] = 0.0
    for i in range(A.shape[0]):
        for k in range(A.shape[1]):
            a = A[i, k]
            if a != 0.0:
                for j in range(B.shape[1]):
                    out[i, j] += a * B[k, j]


SPREAD = 1e6  # coordinates times entries above which the cores share the work
LARGE = 24  # number of states from which BLAS is used, if coordinates mix


@jit
def _follow_coordinates(
    linear,
    constant,
    Q,
    weight,
    size,
    at,
    rows,
    columns,
    E,
    e,
    r,
    c,
    low,
    high,
    m,
    C,
    first,
    means,
    covariances,
):
    """Propagate coordinates low .. high - 1 through rounds of one map, and store the moments of the
    server point's rows, from `first` on."""
    M, count = m.shape[1], means.shape[2]
    v, part, point = np.empty(r), np.empty((r, c)), np.empty(M)
    half, back, square = np.empty((M, M)), np.empty((M, M)), np.empty((M, M))
    for a in range(low, high):
        A, m_a, C_a, E_a, e_a = linear[a], m[a], C[a], E[a], e[a]
        for t in range(means.shape[0]):
            _multiply_sparse(A, C_a, half)
            back[:] = half.T
            _multiply_sparse(A, back, square)  # A (A C)' = A C A'
            _add_squares(weight, size, at, rows, columns, E_a, e_a, m_a, C_a, v, part, square)
            for i in range(M):
                point[i] = constant[a, i]
                for k in range(M):
                    point[i] += A[i, k] * m_a[k]
            m_a[:] = point
            for i in range(M):
                for j in range(M):
                    C_a[i, j] = Q[a, i, j] + 0.5 * (square[i, j] + square[j, i])
            means[t, a] = m_a[first : first + count]
            covariances[t, a] = C_a[first : first + count, first : first + count]


def shared_out(D: int, work: int, part: Callable[..., Any], pieces: int = 4) -> None:
    """Call part(low, high) over all D coordinates, on several cores where there is much work. Each
    core takes about `pieces` ranges."""
    if D > 1 and work > SPREAD:
        count = thread_count()
        with ThreadPoolExecutor(count) as pool:
            size = -(-D // (pieces * count))
            run_blocks(pool, count, D, size, lambda worker, low, high: part(low, high))
    else:
        part(0, D)


def follow_rounds(
    map: Map, rounds: int, m: np.ndarray, C: np.ndarray, first: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Update m (D, M) and C (D, M, M) in place through `rounds` rounds of one map; return the means
    (rounds, D, count) and covariances (rounds, D, count, count) of the server point, states `first`
    .. first + count - 1."""
    D, M = m.shape
    if D == 1 and M >= LARGE:
        return follow_large(map, rounds, m, C, first, count)
    means, covariances = np.empty((rounds, D, count)), np.empty((rounds, D, count, count))
    map = fill_map(map)
    r, c = map.size.max(axis=0, initial=1)
    part = lambda low, high: _follow_coordinates(
        *map[:-1], r, c, low, high, m, C, first, means, covariances
    )
    shared_out(D, rounds * D * (M**2 + len(map.rows)), part)
    return means, covariances


class Stack(NamedTuple):
    """Deviations that share rows and columns, stored as few large matrices: deviation n is E_n =
    left B_n, where the columns of `left` span the directions of all deviations."""

    rows: np.ndarray  # (r,)
    columns: np.ndarray  # (c,)
    weight: np.ndarray  # (n,)
    left: np.ndarray  # (r, k)
    B: np.ndarray  # (k, n, c)
    b: np.ndarray  # (k, n)

    def add(self, m: np.ndarray, C: np.ndarray, out: np.ndarray) -> None:
        """Add to out the sum over n of weight_n (E_n C E_n' + (E_n m + e_n)(E_n m + e_n)')."""
        out[self.rows[:, None], self.rows] += self.gain(
            m[self.columns], C[self.columns[:, None], self.columns]
        )

    def gain(self, m: np.ndarray, C: np.ndarray) -> np.ndarray:
        """Return the sum that `add` adds, (r, r), from the mean and covariance of the columns."""
        return self.left @ second_moments(self.weight, self.B, self.b, m, C) @ self.left.T


def second_moments(
    weight: np.ndarray, B: np.ndarray, b: np.ndarray, m: np.ndarray, C: np.ndarray
) -> np.ndarray:
    """Return the sum over n of weight_n (B_n C B_n' + (B_n m + b_n)(B_n m + b_n)'), with B (k, n,
    c) and b (k, n)."""
    k, n, c = B.shape
    half, weighted = B.reshape(k * n, c) @ C, B * weight[:, None]
    square = half.reshape(k, n * c) @ weighted.reshape(k, n * c).T
    v = B @ m + b
    square += (weight * v) @ v.T
    return square


def stack_deviations(map: Map) -> Iterator[Stack]:
    """Yield the deviations of a map of one coordinate as Stacks."""
    groups: dict = {}
    for w, rows, columns, (E,), (e,) in fill_map(map).blocks():
        whole = np.column_stack([E, e])
        key = rows.tobytes(), columns.tobytes()
        groups.setdefault(key, (rows, columns, [], []))
        groups[key][2].append(w), groups[key][3].append(whole)
    for rows, columns, weights, every in groups.values():
        left, B = factor_narrow(np.stack(every, axis=1))
        yield Stack(rows, columns, np.array(weights), left, B[:, :, :-1].copy(), B[:, :, -1].copy())


def factor_narrow(E: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Factor E (r, n, c) as left (r, k) times (k, n, c) with the smallest k that leaves only
    rounding. The rank k is small where clients have few answers and many rows read these answers.
    """
    r, n, c = E.shape
    scale = np.abs(E).max(axis=(1, 2))
    flat = E.reshape(r, n * c) / np.where(scale > 0, scale, 1.0)[:, None]
    turn, size, _ = np.linalg.svd(np.linalg.qr(flat.T, mode="r").T)
    k = int(np.sum(size > r * ROUNDING * size[0]))
    if k == r:
        return np.eye(r), E
    left = turn[:, :k]
    return scale[:, None] * left, (left.T @ flat).reshape(k, n, c)


def follow_large(
    map: Map, rounds: int, m: np.ndarray, C: np.ndarray, first: int, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Do what `follow_rounds` does for one coordinate of many states, by matrix products."""
    A, constant, Q, server = map.linear[0], map.constant[0], map.Q[0], slice(first, first + count)
    means, covariances = np.empty((rounds, 1, count)), np.empty((rounds, 1, count, count))
    every = list(stack_deviations(map))
    for t in range(rounds):
        square = A @ C[0] @ A.T
        for stack in every:
            stack.add(m[0], C[0], square)
        m[0], C[0] = A @ m[0] + constant, Q + 0.5 * (square + square.T)
        means[t, 0], covariances[t, 0] = m[0, server], C[0, server, server]
    return means, covariances


# ---------------------------------------------------------------- metrics


def hessian_of(grad: Callable[..., Any], x: np.ndarray, coupled: bool) -> np.ndarray:
    """Return the matrix of an affine gradient, (d, d); or its diagonal (d,) where coordinates do
    not mix."""
    far = 2.0**24 * (1.0 + np.abs(x).max())
    level = grad(x)
    if not coupled:
        return (grad(x + far) - level) / far
    H = np.stack([(grad(x + far * e) - level) / far for e in np.eye(x.size)])
    return 0.5 * (H + H.T)


class Series:
    """The mean and covariance of x_0 .. x_T in the basis in which the moments were followed, and
    the metrics that these moments determine."""

    def __init__(self, means: np.ndarray, covariances: np.ndarray, coupled: bool) -> None:
        """Store the moments. Covariances are (T + 1, d, d) if `coupled`, else their diagonals (T +
        1, d)."""
        self.means, self.covariances, self.coupled = means, covariances, coupled
        self._hessians = {}

    def _hessian(self, problem: Problem, i: int | None) -> np.ndarray:
        """Return the Hessian of F for i = None, else of f_i."""
        if (problem, i) not in self._hessians:
            grad = problem.grad if i is None else lambda x: problem.client_grad(i, x)
            self._hessians[problem, i] = hessian_of(grad, np.zeros(problem.d), self.coupled)
        return self._hessians[problem, i]

    def _trace_product(self, A: np.ndarray, B: np.ndarray, covariances: np.ndarray) -> np.ndarray:
        """Return tr(A' Cov B) for symmetric matrices A and B, or for their diagonals."""
        if self.coupled:
            return np.einsum("ij,tij->t", A @ B, covariances)
        return covariances @ (A * B)

    def column(
        self, name: str, segments: Sequence[tuple[Problem, int, int]], gamma: float = 1.0
    ) -> np.ndarray:
        """Return a basic metric over the rounds; `segments` are (problem, first, last), one for
        each stretch with one objective."""
        out = np.full(len(self.means), np.nan)
        for problem, first, last in segments:
            out[first:last] = self._column(
                name, problem, self.means[first:last], self.covariances[first:last], gamma
            )
        return out

    def _column(
        self, name: str, problem: Problem, means: np.ndarray, covariances: np.ndarray, gamma: float
    ) -> np.ndarray | float:
        """Return a basic metric over one stretch from means (t, d) and covariances: E q(x) = q(E x)
        + the trace of the metric's matrix with Cov x, as every metric here is quadratic in x."""
        H = lambda i=None: self._hessian(problem, i)
        each = lambda value: np.array([value(x) for x in means])
        one = np.eye(problem.d) if self.coupled else np.ones(problem.d)
        F, f_0 = problem.grad, lambda x: problem.client_grad(0, x)
        trace = lambda A, B: self._trace_product(A, B, covariances)
        if name == "loss":
            return each(problem.loss) + 0.5 * trace(H(), one)
        if name == "server_loss":
            return each(lambda x: problem.client_loss(0, x)) + 0.5 * trace(H(0), one)
        if name == "sq_grad_norm":
            return each(lambda x: F(x) @ F(x)) + trace(H(), H())
        if name == "sq_server_grad_norm":
            return each(lambda x: f_0(x) @ f_0(x)) + trace(H(0), H(0))
        if name == "grad_inner":
            return each(lambda x: F(x) @ f_0(x)) + trace(H(), H(0))
        if name == "sq_xi":
            return each(lambda x: np.sum((f_0(x) - F(x)) ** 2)) + trace(H(0) - H(), H(0) - H())
        if name in ("sq_tilde_grad_norm", "sq_mixed_grad_norm"):
            a, b = (
                (1 / (1 + gamma), gamma / (1 + gamma))
                if name == "sq_tilde_grad_norm"
                else (1.0, 1.0)
            )
            blend = a * H() + b * H(0)
            return each(lambda x: np.sum((a * F(x) + b * f_0(x)) ** 2)) + trace(blend, blend)
        if name == "sq_distance":
            gaps = means - problem.minimizer()
            return np.sum(gaps**2, axis=1) + trace(one, one)
        if name == "sq_dissimilarity":
            total = 0.0
            for i in range(1, problem.N + 1):
                gap = H(i) - H()
                total = (
                    total
                    + each(lambda x: np.sum((problem.client_grad(i, x) - F(x)) ** 2))
                    + trace(gap, gap)
                )
            return total / problem.N
        raise KeyError(name)
