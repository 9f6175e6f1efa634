"""A claim about one round, checked on many small quadratic instances at once: what a search looks at first.

Each instance has its own Hessians, minimisers, start, noise and hyper-parameters. Its left side is exact up to a
stated rounding error: moments of the round by `lanes`, with the steps that the algorithm's own kernels take. The
right side carries its error too. Where both errors do not decide, the verdict is "close": for exact arithmetic.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import sympy

from fedtheory import conditions, discover, enclosure
from fedtheory.checks import lanes
from fedtheory.checks.scheme import Reader
from fedtheory.enclosure import arrays
from fedtheory.errors import InvalidInput, NotExact, refuse
from fedtheory.machine import run_blocks
from fedtheory.running import threads

HOLDS, VIOLATED, CLOSE, OUTSIDE = range(4)
WORDS = ("holds", "violated", "close", "outside")
BLOCK = 2048    # instances at a time
FLOOR = 1e-100    # below it numbers may have lost digits on their way
# What these instances meet by their make: any noise of these moments, cohorts uniform over subsets of S clients.
MET = (conditions.SMOOTH, conditions.LIPSCHITZ, conditions.DISSIMILAR, conditions.SERVER_DISSIMILAR, conditions.NOISE,
       conditions.INDEPENDENT, conditions.EQUAL_WEIGHTS, conditions.UNIFORM_COHORT, conditions.SERVER)
LOSSES = ("loss", "server_loss", "tilde_loss")
# Constants that assumptions speak of, as they are at x
AT_X = dict(G="sq_dissimilarity", xi_bar="sq_xi")


class Verdicts(NamedTuple):
    """For each instance: a verdict (a place in WORDS), both sides, and how far the gap between them may be off.

    Losses count from their value at x if the claim says nothing of their level.
    """

    verdict: np.ndarray
    left: np.ndarray
    right: np.ndarray
    margin: np.ndarray

    def where(self, word):
        """The instances with this verdict."""
        if word not in WORDS:
            refuse("word", f"must be one of {', '.join(WORDS)}", word)
        return np.flatnonzero(self.verdict == WORDS.index(word))


def check(claim, A, b, x, *, S=None, sigma=0.0, sigma_0=0.0, algorithm=None, line=0, workers=None, **given):
    """Verdicts on J instances: f_i(x) = (x - b_i)' A_i (x - b_i) / 2 with equal weights, row 0 is the server.

    A: (J, N + 1, d) diagonals or (J, N + 1, d, d); b: (J, N + 1, d); x: (J, d), where the round starts. S, sigma,
    sigma_0, the algorithm's hyper-parameters and the claim's constants are numbers or (J,). Constants that are not
    given are the least that hold: L for all points, G and xi_bar at x, where they are global if Hessians are
    shared; a given L is taken at its word. Assumptions between numbers count as met up to 1e-12, as in `mask`.
    """
    if not 0 <= line < len(claim.lines) or claim.lines[line][1] not in ("<=", ">="):
        raise InvalidInput(f"line must be that of an inequality <= or >= of {claim.id}; got {line}")
    algorithm = discover.algorithm(algorithm or claim.algorithm)
    A, b, x = _instances(A, b, x)
    J, N = len(x), b.shape[1] - 1
    numbers = _columns(dict(S=N if S is None else S, sigma=sigma, sigma_0=sigma_0,
                            **{name: given.pop(name) for name in [*given] if name not in algorithm.hyper}), J)
    S = numbers["S"].astype(np.int64)
    if (S != numbers["S"]).any() or S.min() < 1 or S.max() > N:
        refuse("S", f"must be an integer from 1 to N = {N}", numbers["S"][(S != numbers["S"]) | (S < 1) | (S > N)][0])
    for name, value in given.items():
        if np.shape(value) not in ((), (J,)):
            refuse(name, f"must be a number or {J} of them", np.shape(value))
    hyper = algorithm.resolve(given, J)
    if algorithm.check is not None:
        for j in range(J):
            algorithm.check(hyper[j], N, int(S[j]))
    reader = Reader(algorithm, hyper, N, S)
    question = _Question(claim, line, algorithm, hyper, {**numbers, "N": np.full(J, float(N))})
    found = Verdicts(np.empty(J, dtype=np.int8), *np.empty((3, J)))
    noise = np.concatenate([numbers["sigma_0"][:, None], np.repeat(numbers["sigma"][:, None], N, axis=1)], axis=1)

    def block(worker, low, high):
        part = slice(low, high)
        values = _follow(A[part], b[part], x[part], noise[part], question.gamma[part], S[part], reader(part))
        for whole, piece in zip(found, question.answer(part, values, A[part])):
            whole[part] = piece

    workers = threads() if workers is None else workers
    if workers == 1 or J <= BLOCK:
        for low in range(0, J, BLOCK):
            block(0, low, min(low + BLOCK, J))
    else:
        with ThreadPoolExecutor(workers) as pool:
            run_blocks(pool, workers, J, BLOCK, block)
    return found


def _instances(A, b, x):
    A, b, x = (np.ascontiguousarray(part, dtype=np.float64) for part in (A, b, x))
    if b.ndim != 3 or b.shape[0] < 1 or b.shape[1] < 2 or b.shape[2] < 1:
        refuse("b", "must have shape (J, N + 1, d)", b.shape)
    J, rows, d = b.shape
    if A.shape not in ((J, rows, d), (J, rows, d, d)):
        refuse("A", f"must have shape ({J}, {rows}, {d}) or ({J}, {rows}, {d}, {d})", A.shape)
    if x.shape != (J, d):
        refuse("x", f"must have shape ({J}, {d})", x.shape)
    for name, part in (("A", A), ("b", b), ("x", x)):
        if not np.isfinite(part).all():
            refuse(name, "must be finite", part[~np.isfinite(part)][0])
    if A.ndim == 4 and (A != A.swapaxes(2, 3)).any():
        refuse("A", "must be symmetric", abs(A - A.swapaxes(2, 3)).max())
    return A, b, x


def _columns(numbers, J):
    """Each as (J,) floats that are finite and not negative."""
    columns = {}
    for name, value in numbers.items():
        try:
            columns[name] = np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), (J,)))
        except (TypeError, ValueError):
            refuse(name, f"must be a number or {J} of them", value)
        if not (np.isfinite(columns[name]) & (columns[name] >= 0)).all():
            refuse(name, "must be finite and >= 0", value)
    return columns


def _follow(A, b, x, sigma, gamma, S, scheme):
    """What `lanes` finds of these instances: name -> (value, error). Coordinates of diagonals are instances of one
    dimension each, which add up."""
    (J, rows, d), repeat = b.shape, 1
    if A.ndim == 3:
        turn = lambda part: np.ascontiguousarray(part.swapaxes(1, 2))
        A, b, x, repeat = turn(A).reshape(J * d, rows, 1, 1), turn(b).reshape(J * d, rows, 1), x.reshape(J * d, 1), d
        sigma = np.repeat(sigma, d, axis=0)
    out = np.zeros((2 * lanes.COUNT, J))
    lanes.follow(A, b, x, sigma, float(d), gamma, *scheme, S, repeat, 0, J * repeat, out)
    return {name: (out[n], out[lanes.COUNT + n]) for n, name in enumerate(lanes.VALUES)}


@lru_cache(maxsize=256)
def _level_free(gap, losses):
    """Whether a constant added to all losses leaves the gap between both sides."""
    return sympy.expand(sum((sympy.diff(gap, symbol) for symbol in losses), sympy.Integer(0))) == 0


class _Question:
    """A line of a claim with the numbers that are known before anything is computed."""

    def __init__(self, claim, line, algorithm, hyper, numbers):
        for assumption in claim.assumptions:
            if assumption.condition is not None and assumption.condition not in MET:
                raise NotExact(f"{claim.title} assumes {assumption.condition.says}, which is not known of instances "
                               "given as arrays")
        self.claim, J = claim, len(numbers["N"])
        left, self.sign, right = claim.lines[line]
        self.left, self.right = claim.expand(left), claim.expand(right)
        self.known = dict(numbers)
        for name, column in zip(hyper.Hyper._fields, hyper.columns):
            self.known[name] = np.array(np.broadcast_to(np.asarray(column, dtype=np.float64), (J,)))
        self.gamma = self.known.get("gamma", np.zeros(J))
        unknown = sorted(set(numbers) - set(claim.table) - {"N", "S", "sigma", "sigma_0"})
        if unknown:
            refuse("check", f"takes hyper-parameters of {algorithm.name} and constants of {claim.id}", unknown[0])
        self.computed = [name for name in claim.parameters if name not in self.known]
        for name in self.computed:
            if name != "L" and name not in AT_X:
                raise InvalidInput(f"{claim.title} needs {name}, {claim.symbols[name].meaning}; none was given")
        self.measures = {name: entry.measure for name, entry in claim.quantities.items()}
        for name, m in self.measures.items():
            now = m[1:] == ("t", "", "") and m.metric in (*LOSSES, *lanes.VALUES[:8])
            if not now and not (m[1:] == ("t+1", "E_t", "") and m.metric in LOSSES):
                raise NotExact(f"{claim.title} measures {name}, {claim.symbols[name].meaning}, which is not among what "
                               "is followed many at once")
        levels = tuple(claim.symbols[name].symbol for name, m in self.measures.items() if m.metric in LOSSES)
        self.relative = _level_free(self.right - self.left, levels)

    def answer(self, part, values, A):
        """verdict, left, right, margin of a block."""
        pairs = {name: (column[part], 0.0) for name, column in self.known.items()}
        for name in self.computed:
            pairs[name] = _curvature(A) if name == "L" else _root(*values[AT_X[name]])
        for name, m in self.measures.items():
            pairs[name] = self._measured(m, values, self.gamma[part])
        claim = self.claim
        good = np.array(np.broadcast_to(claim.mask({name: value for name, (value, _) in pairs.items()}),
                                        len(self.gamma[part])))
        for name, entry in claim.parameters.items():
            value = pairs[name][0]
            good &= value > 0 if entry.domain == "positive" else value >= 0
            if name in AT_X and name in self.known:
                square, error = values[AT_X[name]]
                good &= value**2 * (1 + arrays.TOLERANCE) >= square - error
        left, right, margin = self._sides(pairs, len(good))
        gap = right - left if self.sign == "<=" else left - right
        verdict = np.where(gap > margin, HOLDS, np.where(gap < -margin, VIOLATED, CLOSE))
        return np.where(good, verdict, OUTSIDE), left, right, margin

    def _measured(self, m, values, gamma):
        if m.metric == "tilde_loss":
            (F, e), (f_0, e_0) = (self._loss(name, m.at, values) for name in ("loss", "server_loss"))
            return ((F + gamma * f_0) / (1 + gamma),
                    (e + gamma * e_0) / (1 + gamma) + 4 * arrays.EPS * (abs(F) + gamma * abs(f_0)))
        return self._loss(m.metric, m.at, values) if m.metric in LOSSES else values[m.metric]

    def _loss(self, name, at, values):
        (now, error), (change, more) = values[name], values[name + "_change"]
        if self.relative:
            return (change, more) if at == "t+1" else (np.zeros_like(now), np.zeros_like(now))
        return (now + change, error + more + arrays.EPS * abs(now + change)) if at == "t+1" else (now, error)

    def _sides(self, pairs, size):
        """Both sides and the error of their gap; infinite where numbers left the range in which bounds are valid."""
        try:
            with np.errstate(all="ignore", under="raise", over="raise"):
                (left, e), (right, more) = (enclosure.execute(enclosure.program(side), arrays.Arrays(), pairs)
                                            for side in (self.left, self.right))
                whole = lambda a: np.array(np.broadcast_to(a, (size,)))
                margin = e + more + 2 * arrays.EPS * (abs(left) + abs(right)) + FLOOR
                return whole(left), whole(right), whole(np.where(np.isnan(margin), np.inf, margin))
        except FloatingPointError:
            if size == 1:
                return np.full(1, np.nan), np.full(1, np.nan), np.full(1, np.inf)
            halves = [self._sides({name: (value[cut], error if np.ndim(error) == 0 else error[cut])
                                   for name, (value, error) in pairs.items()}, cut.stop - cut.start)
                      for cut in (slice(0, size // 2), slice(size // 2, size))]
            return [np.concatenate(both) for both in zip(*halves)]


def _root(square, error):
    """The root of a number that is not negative: off by at most error / root, and by at most sqrt(error)."""
    root = np.sqrt(np.maximum(square, 0.0))
    with np.errstate(all="ignore"):
        return root, np.fmin(error / root, np.sqrt(error)) + arrays.EPS * root


def _curvature(A):
    """The largest |eigenvalue| of all Hessians, and its error."""
    if A.ndim == 3:
        return abs(A).max(axis=(1, 2)), 0.0
    L = abs(np.linalg.eigvalsh(A)).max(axis=(1, 2))
    return L, 10 * A.shape[2] * arrays.EPS * L
