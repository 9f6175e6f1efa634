"""Counter-based random numbers: a draw is determined by (seed, trial, round, client, step) alone.

Philox4x32-10 (Salmon et al. 2011) turns a counter into 128 random bits. `stream` hashes (seed,
trial, round) into a key; `client`, `step` and a purpose then select the draw. Common random
numbers, resuming, and any number of threads therefore need no further mechanism. Normals follow Box
and Muller, with this module's own logarithm and sine. Only + - * / sqrt are used, so the bits are
the same on every machine, and the loops vectorise.
"""

import hashlib
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from fedtheory import arguments
from fedtheory.jit import DISABLED, jit
from fedtheory.typing import Number

# The purpose of a draw; draws for different purposes never share bits.
NOISE, BATCH, COHORT, WORK = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)
MASK = np.uint64(4)  # masks of dropout
NO_DRAW = np.uint64(0)  # the key of a gradient that draws nothing besides its rows
# Step numbers outside a client's K steps: a gradient at the round's start, and server pre-training.
START = np.int64(2**31 - 1)
# The step number of a metric's draws at a round's start, so that measuring a run does not change
# it.
LOOK = np.int64(2**31)
PRETRAIN = np.int64(2**32 - 1)  # the round number of pre-training

_M0, _M1 = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_W0, _W1 = np.uint64(0x9E3779B9), np.uint64(0xBB67AE85)
_LOW, _32, _12 = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(12)


@jit(inline="always")
def philox(c0, c1, c2, c3, k0, k1):
    """Return the four words of Philox4x32-10, 32-bit words held in uint64."""
    for _ in range(10):
        p0 = c0 * _M0
        p1 = c2 * _M1
        c0 = (p1 >> _32) ^ c1 ^ k0
        c2 = (p0 >> _32) ^ c3 ^ k1
        c1 = p1 & _LOW
        c3 = p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@jit
def stream_key(seed, trial, round):
    """Return the key of one round of one trial."""
    seed = np.uint64(seed)
    c0, c1, _, _ = philox(
        np.uint64(trial) & _LOW,
        np.uint64(round) & _LOW,
        np.uint64(trial) >> _32,
        np.uint64(round) >> _32,
        seed & _LOW,
        seed >> _32,
    )
    return (c0 << _32) | c1


@jit(inline="always")
def _unit_interval(high, low):
    """Return 52 random bits as the midpoint of their cell in (0, 1): never 0, never 1."""
    return (np.float64(np.int64(((high << _32) | low) >> _12)) + 0.5) * (1.0 / 4503599627370496.0)


@jit
def uniform(key, client, step, purpose, index):
    """Return one uniform draw from (0, 1)."""
    key = np.uint64(key)
    a, b, _, _ = philox(
        np.uint64(index), np.uint64(client), np.uint64(step), purpose, key & _LOW, key >> _32
    )
    return _unit_interval(a, b)


@jit
def _uniform_halves(key, client, step, low, high):
    key = np.uint64(key)
    c1, c2, k0, k1 = np.uint64(client), np.uint64(step), key & _LOW, key >> _32
    for i in range(low.size):
        a, b, c, e = philox(np.uint64(i), c1, c2, NOISE, k0, k1)
        low[i] = _unit_interval(a, b)
        high[i] = _unit_interval(c, e)


if DISABLED:

    def to_bits(x: Any) -> tuple[Any, ...] | int:
        return int(np.float64(x).view(np.int64))

    def from_bits(n: Any) -> tuple[Any, ...] | float:
        return float(np.int64(n).view(np.float64))
else:

    @intrinsic
    def to_bits(typing_context: Any, x: Any) -> tuple[Any, Callable[..., Any]]:
        return types.int64(types.float64), lambda c, b, s, a: b.bitcast(a[0], ir.IntType(64))

    @intrinsic
    def from_bits(typing_context: Any, n: Any) -> tuple[Any, Callable[..., Any]]:
        return types.float64(types.int64), lambda c, b, s, a: b.bitcast(a[0], ir.DoubleType())


@jit(inline="always")
def log(x):
    """Return the natural logarithm of a positive normal number, within 1 ulp (fdlibm's series)."""
    bits = to_bits(x) + (0x3FF0000000000000 - 0x3FE6A09E00000000)
    k = np.float64((bits >> 52) - 1023)
    f = from_bits((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E00000000) - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (
        3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01)
    )
    odd = z * (
        6.666666666666735130e-01
        + w
        * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860510658591e-01))
    )
    half = 0.5 * f * f
    return (
        s * (half + even + odd)
        + k * 1.90821492927058770002e-10
        - half
        + f
        + k * 6.93147180369123816490e-01
    )


@jit
def _box_muller(low, high):
    """Transform independent uniforms to independent standard normals, in place."""
    for i in range(low.size):
        radius = np.sqrt(-2.0 * log(low[i]))
        turns = 4.0 * high[i]
        quarter = np.floor(turns + 0.5)
        y = (turns - quarter) * 1.5707963267948966
        z = y * y
        sine = y + y * z * (
            -1.66666666666666324348e-01
            + z
            * (
                8.33333333332248946124e-03
                + z
                * (
                    -1.98412698298579493134e-04
                    + z
                    * (
                        2.75573137070700676789e-06
                        + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)
                    )
                )
            )
        )
        cosine = (
            1.0
            - 0.5 * z
            + z
            * z
            * (
                4.16666666666666019037e-02
                + z
                * (
                    -1.38888888888741095749e-03
                    + z
                    * (
                        2.48015872894767294178e-05
                        + z
                        * (
                            -2.75573143513906633035e-07
                            + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)
                        )
                    )
                )
            )
        )
        n = np.int64(quarter) & 3
        odd = n & 1
        across = sine if odd == 1 else cosine
        along = cosine if odd == 1 else sine
        low[i] = radius * (across * (1.0 - 2.0 * np.float64(((n + 1) >> 1) & 1)))
        high[i] = radius * (along * (1.0 - 2.0 * np.float64((n >> 1) & 1)))


@jit
def standard_normals(key, client, step, out):
    """Fill `out` with independent standard normals."""
    key = np.uint64(key)
    half = out.size // 2
    low, high = out[:half], out[half : 2 * half]
    _uniform_halves(key, client, step, low, high)
    _box_muller(low, high)
    if out.size % 2 == 1:
        a, b, c, e = philox(
            np.uint64(half), np.uint64(client), np.uint64(step), NOISE, key & _LOW, key >> _32
        )
        pair = np.empty(2)
        pair[0] = _unit_interval(a, b)
        pair[1] = _unit_interval(c, e)
        _box_muller(pair[:1], pair[1:])
        out[out.size - 1] = pair[0]


@jit
def fair_signs(key, client, step, out):
    """Fill `out` with independent fair signs, 32 from each random word. Words are stored at the
    front of `out` so that their generation vectorises; the last word is expanded first, because its
    signs overwrite no word that is still needed."""
    key = np.uint64(key)
    c1, c2, k0, k1 = np.uint64(client), np.uint64(step), key & _LOW, key >> _32
    words = (out.size + 31) // 32
    for i in range(words):
        word, _, _, _ = philox(np.uint64(i), c1, c2, NOISE, k0, k1)
        out[i] = np.float64(np.int64(word))
    for i in range(words - 1, -1, -1):
        word = np.int64(out[i])
        if 32 * i + 32 <= out.size:
            for j in range(32):
                out[32 * i + j] = 1.0 - 2.0 * np.float64((word >> j) & 1)
        else:
            for j in range(out.size - 32 * i):
                out[32 * i + j] = 1.0 - 2.0 * np.float64((word >> j) & 1)


@jit
def gradient_key(key, client, step):
    """Return the key for all draws of one gradient other than its rows: the masks of dropout."""
    key = np.uint64(key)
    a, b, _, _ = philox(
        np.uint64(0), np.uint64(client), np.uint64(step), MASK, key & _LOW, key >> _32
    )
    return (a << _32) | b


@jit
def fill_masked(key, place, p, otherwise, out):
    """Fill `out` independently with 0 (probability p, to 2^-32) or `otherwise`."""
    key = np.uint64(key)
    k0, k1, layer = key & _LOW, key >> _32, np.uint64(place)
    edge = np.uint64(p * 4294967296.0)
    high, low = out.dtype.type(otherwise), out.dtype.type(0)
    whole = out.size - out.size % 4
    for j in range(0, whole, 4):
        a, b, c, e = philox(np.uint64(j // 4), layer, MASK, MASK, k0, k1)
        out[j] = low if a < edge else high
        out[j + 1] = low if b < edge else high
        out[j + 2] = low if c < edge else high
        out[j + 3] = low if e < edge else high
    if whole < out.size:
        a, b, c, e = philox(np.uint64(whole // 4), layer, MASK, MASK, k0, k1)
        words = (a, b, c, e)
        for j in range(whole, out.size):
            out[j] = low if words[j - whole] < edge else high


@jit
def uniform_below(key, client, step, purpose, index, bound):
    """Return a uniform integer of {0, ..., bound - 1}; the bias is below bound / 2**52."""
    return min(np.int64(uniform(key, client, step, purpose, index) * bound), bound - 1)


@jit
def uniform_indices(key, client, step, purpose, size, shrinks, out):
    """Fill `out` with independent uniform integers, as `below` draws them: of {0, ..., size - 1},
    or, where the set shrinks, of {i, ..., size - 1} at place i."""
    key = np.uint64(key)
    c1, c2, k0, k1 = np.uint64(client), np.uint64(step), key & _LOW, key >> _32
    for i in range(out.size):
        a, b, _, _ = philox(np.uint64(i), c1, c2, purpose, k0, k1)
        first = i * shrinks
        out[i] = first + min(np.int64(_unit_interval(a, b) * (size - first)), size - first - 1)


@jit
def draw_subset(key, client, step, purpose, deck, out):
    """Draw out.size distinct elements of the array `deck` into `out`, uniformly and in uniform
    order; `deck` is unchanged afterwards."""
    uniform_indices(key, client, step, purpose, deck.size, 1, out)
    for j in range(out.size):  # Fisher-Yates shuffle, stopped early
        other = out[j]
        deck[j], deck[other] = deck[other], deck[j]
    for j in range(out.size - 1, -1, -1):  # undo, so that the next draw does not depend on this one
        other = out[j]
        out[j] = deck[j]
        deck[j], deck[other] = deck[other], deck[j]


def host_generator(seed: Number, name: str) -> np.random.Generator:
    """Return a NumPy generator for building problems, with one independent stream per (seed, name)."""
    digest = hashlib.sha256(f"{arguments.check_seed(seed)}/{name}".encode()).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest[:16], "little")))
