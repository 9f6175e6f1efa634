"""Pieces of a sample-based gradient that workers share: first ranges of samples, each with scores
of its own, then ranges of features, each with sums of its own over the samples. No sum is split
between pieces."""

import numpy as np

from fedtheory.jit import jit

LEAST = 2**16  # products of a piece: fewer are done before another worker has come
FEWEST, MOST = 4, 8  # pieces of a phase: below that much work nobody shares
AT_ONCE = 8  # samples, or features, that go through registers together
WIDE = 64  # features, of which fewer would be read from too many rows


@jit
def cut_pieces(samples, features, columns, phase):
    """Return (count, size): how many samples (phase 0) or features (phase 1) a phase has, and how
    many of them a piece takes, for scores in so many columns."""
    most = min(MOST, samples * features * columns // LEAST)
    count, least = (samples, AT_ONCE) if phase == 0 else (features, WIDE)
    taken = max((count + most - 1) // most, least)
    return count, (taken + AT_ONCE - 1) // AT_ONCE * AT_ONCE


@jit
def number(samples, features, columns, phase):
    """Return the number of pieces of a phase; 0 where the work is too small to share, or where the
    phase is above 1."""
    if phase > 1 or samples * features * columns < FEWEST * LEAST:
        return 0
    count, taken = cut_pieces(samples, features, columns, phase)
    return (count + taken - 1) // taken


@jit
def piece(samples, features, columns, phase, n):
    """Return (low, high): the n-th piece of a phase covers samples, or features, low .. high - 1."""
    count, taken = cut_pieces(samples, features, columns, phase)
    return n * taken, min((n + 1) * taken, count)


@jit
def count_samples(data, i, count):
    """Return `count`, or the number of all samples of client i where `count` is 0."""
    return count if count > 0 else data.starts[i + 1] - data.starts[i]


@jit
def some(rows, low, high):
    """Return rows[low:high], or low .. high - 1 where `rows` is empty, which stands for all rows."""
    return rows[low:high] if rows.size > 0 else np.arange(low, high)


def room(sizes: np.ndarray, batches: np.ndarray, features: int, columns: int, width: int) -> int:
    """Return how many numbers to allocate for a gradient's scores, `width` for each sample; 0 where
    clients are too small to share work."""
    most = int(max(np.max(sizes), np.max(batches)))  # who draws with replacement may draw more
    return (most + AT_ONCE) * width if number(most, features, columns, 0) else 0
