"""What an algorithm does to points in a round, as numbers read off its own kernels.

For methods like FedAvg and FSL, which keep nothing but x, a round is local steps v' = alpha v + beta g, the mean of
the cohort's ends times `total`, and server steps w' = w + b g, where v and w are relative to x. The kernels are
given points whose coordinates stand for these vectors, and answer with the coefficients; further coordinates, and
a second look at another size, sign, client and cohort, tell whether that is all they do.
"""

import warnings
from functools import cache
from typing import NamedTuple

import numpy as np
from numba.core.errors import NumbaExperimentalFeatureWarning

from fedtheory import jit
from fedtheory.algorithm import ROLES, NoLocal
from fedtheory.checks.probe import _Entry
from fedtheory.errors import NotExact

# Coordinates of a probe: y alone, g alone, all points at x, and a mixture of the three.
X, Y, G = 3.0, 5.0, -7.0
TOLERANCE = 1e-12
LAYERS = np.array([0, 4], dtype=np.int64)
AGAIN = 16    # one in so many instances gets the second look
FAULTS = ("", "treats clients, cohorts or sizes of points differently",
          "moves x, clients' starts or their ends other than by steps",
          "takes local steps that are not affine in y and g alone", "does not add the mean of its cohort's changes",
          "takes server steps that are not w + b g")


class Scheme(NamedTuple):
    """A round's coefficients, a row for each instance; shorter rounds are filled up with steps that do nothing."""

    alpha: np.ndarray     # (J, K)
    beta: np.ndarray      # (J, K)
    server: np.ndarray    # (J, K_0)
    total: np.ndarray     # (J,)
    K: np.ndarray         # (J,) steps of a client
    K_0: np.ndarray       # (J,) steps of the server


@jit.jit
def put(out, of_y, of_g, of_x, mixed, size):
    out[0], out[1], out[2], out[3] = size * of_y, size * of_g, size * of_x, size * mixed


@jit.jit
def same(a, b):
    good = True
    for r in range(4):
        good = good and a[r] == b[r]
    return good


def probe(begin, local_start, local_step, local_end, aggregate, server_step, end, state, local, locals_, hyper, x, y,
          ends, g, N, S, K, K_0, shares, alpha, beta, server, total, faults):
    """Fill in the coefficients of each instance; `faults` says which of FAULTS was found."""
    cohort, work, start = np.zeros(N, dtype=np.int64), np.zeros(N, dtype=np.int64), np.zeros(4)
    for j in range(S.size):
        h = hyper[j]
        for look in range(2 if j % AGAIN == 0 else 1):
            size, i = (1.0, 1) if look == 0 else (-1048576.0, N)
            for s in range(S[j]):
                cohort[s], work[s] = s + 1 if look == 0 else N - s, K[j]
            put(start, 0.0, 0.0, 1.0, X, size)
            put(x, 0.0, 0.0, 1.0, X, size)
            put(g, 0.0, 1.0, 0.0, G, size)
            put(y, 0.0, 1.0, 0.0, 0.0, size)
            begin(state, 0, g, h)
            local_start(state, i, y, g, local, h)
            if not (same(x, start) and same(y, start)):
                faults[j] = max(faults[j], 2)
            for k in range(K[j]):
                put(y, 1.0, 0.0, 1.0, Y, size)
                local_step(state, i, k, y, g, local, h)
                a, b = y[0] / size, y[1] / size
                near = TOLERANCE * (10.0 + 2.0 * abs(a) + 7.0 * abs(b))
                if not (abs(y[2] / size - 1.0) <= near and abs(y[3] / size - X - a * (Y - X) - b * G) <= near):
                    faults[j] = max(faults[j], 3)
                if look == 0:
                    alpha[j, k], beta[j, k] = a, b
                elif not (abs(alpha[j, k] - a) <= near and abs(beta[j, k] - b) <= TOLERANCE * abs(b)):
                    faults[j] = max(faults[j], 1)
            put(y, 0.0, 0.0, 1.0, X, size)
            local_end(state, i, K[j], y, local, h)
            if not (same(x, start) and same(y, start)):
                faults[j] = max(faults[j], 2)
            for s in range(S[j]):
                put(ends[s], 1.0, 1.0 if s == 0 else 0.0, 1.0, X + s, size)
            aggregate(state, cohort[:S[j]], work[:S[j]], shares, ends[:S[j]], locals_, h)
            a, near = x[0] / size, TOLERANCE * (10.0 + S[j] * abs(x[0] / size))
            if not (abs(x[1] / size * S[j] - a) <= TOLERANCE * abs(a) and abs(x[2] / size - 1.0) <= near
                    and abs(x[3] / size - X - a * (S[j] - 1) / 2) <= near):
                faults[j] = max(faults[j], 4)
            if look == 0:
                total[j] = a
            elif not abs(total[j] - a) <= TOLERANCE * abs(a):
                faults[j] = max(faults[j], 1)
            for k in range(K_0[j]):
                put(x, 1.0, 0.0, 1.0, Y, size)
                server_step(state, k, g, h)
                b = x[1] / size
                near = TOLERANCE * (10.0 + 7.0 * abs(b))
                if not (abs(x[0] / size - 1.0) <= near and abs(x[2] / size - 1.0) <= near
                        and abs(x[3] / size - Y - b * G) <= near):
                    faults[j] = max(faults[j], 5)
                if look == 0:
                    server[j, k] = b
                elif not abs(server[j, k] - b) <= TOLERANCE * abs(b):
                    faults[j] = max(faults[j], 1)
            put(x, 0.0, 0.0, 1.0, X, size)
            end(state, h)
            if not same(x, start):
                faults[j] = max(faults[j], 2)


_V, _M, _I, _A, _I8 = jit.VECTOR, jit.MATRIX, jit.INTEGERS, jit.ADDRESS, jit.types.int64


@cache
def _compiled(*roles):
    compiled = jit.compile(probe)
    with warnings.catch_warnings():    # function types are old and stable, if still called experimental
        warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
        compiled.compile(jit.types.void(*map(jit.types.FunctionType, roles), _A, _A, _A, _I, _V, _V, _M, _V, _I8, _I,
                                        _I, _I, _V, _M, _M, _M, _V, _I))
    return next(iter(compiled.overloads.values())).entry_point


class Reader:
    """Reads the Scheme of some instances: `hyper` is a Schedule with a row for each instance, as S has."""

    def __init__(self, algorithm, hyper, N, S):
        self.algorithm, self.hyper, self.N, self.S, h = algorithm, hyper, N, S, hyper[0]
        state = algorithm.init(np.zeros(4), N, LAYERS, h)
        for broken, what in ((algorithm.asks(algorithm.server_grad, h) or algorithm.asks(algorithm.client_grad, h),
                              "asks for gradients when the round begins"),
                             (state._fields != ("x",), "keeps more than x"),
                             (algorithm.local, "gives its clients memory"),
                             (algorithm.transform, "changes what its clients train on")):
            if broken:
                raise NotExact(f"{algorithm.name} {what}; its rounds are followed one by one, by ft.expected or "
                               "OneRound")
        self.packed = algorithm.compiled and not jit.DISABLED
        if self.packed:
            kernels = algorithm.kernels(*self._tuples(h, 1), h)
            self.run = _compiled(*(next(iter(kernel.overloads.values())).signature for kernel in kernels))
            self.kernels = [_Entry(kernel) for kernel in kernels]    # addresses in hand: see probe.py
        else:
            self.kernels, self.run = [jit.python(getattr(algorithm, role)) for role in ROLES], probe

    def _tuples(self, h, S):
        return [self.algorithm.init(np.zeros(4), self.N, LAYERS, h), NoLocal(np.zeros(1)), NoLocal(np.zeros((S, 1)))]

    def _number(self, which, part):
        """Steps of a client, or of the server, in each instance."""
        J = part.stop - part.start
        if which is None or isinstance(which, int):
            return np.full(J, which or 0)
        column = self.hyper.columns[self.hyper.Hyper._fields.index(which)]
        return np.array(column[part]) if np.ndim(column) else np.full(J, column)

    def _words(self, part):
        """Hyper-parameters of each instance, as `jit.pack` would lay them out."""
        words = np.empty((part.stop - part.start, len(self.hyper.columns)), dtype=np.int64)
        for n, column in enumerate(self.hyper.columns):
            column = column[part] if np.ndim(column) else np.asarray(column)
            words[:, n] = column if column.dtype.kind in "iu" else column.astype(np.float64).view(np.int64)
        return words

    def __call__(self, part):
        S = self.S[part]
        J, N = len(S), self.N
        K, K_0 = (self._number(which, part) for which in (self.algorithm.steps, self.algorithm.server_steps))
        found = Scheme(np.ones((J, K.max())), np.zeros((J, K.max())), np.zeros((J, K_0.max())), np.zeros(J), K, K_0)
        y, g, ends, faults = np.zeros(4), np.zeros(4), np.zeros((S.max(), 4)), np.zeros(J, dtype=np.int64)
        kept = self._tuples(self.hyper[part.start], S.max())
        if self.packed:
            hyper, words = self._words(part), [jit.pack(part) for part in kept]
            rows, handles = hyper.ctypes.data + np.arange(J) * hyper.strides[0], [w.ctypes.data for w in words]
        else:
            rows, handles = self.hyper[part], kept
        shares = np.array([0.0] + [1.0 / N] * N)
        self.run(*self.kernels, *handles, rows, kept[0].x, y, ends, g, N, S, K, K_0, shares, *found[:4], faults)
        if faults.any():
            raise NotExact(f"{self.algorithm.name} {FAULTS[faults.max()]}; its rounds are not followed many at once")
        return found
