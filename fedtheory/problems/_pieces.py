"""Cuts of a gradient from samples that workers share: first between samples, each of which has its own
scores, then between features, each of which has its own sums over the samples. No sum is cut."""

import numpy as np

from fedtheory.jit import jit

LEAST = 2**16  # products of a piece: fewer are done before another worker has come
FEWEST, MOST = 4, 8  # pieces of a phase: below that much work nobody shares
AT_ONCE = 8  # samples, or features, that go through registers together
WIDE = 64  # features, of which fewer would be read from too many rows


@jit
def cut_pieces(samples, features, columns, phase):
    """How many samples, or features, there are to a phase, and how many of them a piece takes, of scores
    in so many columns."""
    most = min(MOST, samples * features * columns // LEAST)
    count, least = (samples, AT_ONCE) if phase == 0 else (features, WIDE)
    taken = max((count + most - 1) // most, least)
    return count, (taken + AT_ONCE - 1) // AT_ONCE * AT_ONCE


@jit
def number(samples, features, columns, phase):
    """Pieces of a phase."""
    if phase > 1 or samples * features * columns < FEWEST * LEAST:
        return 0
    count, taken = cut_pieces(samples, features, columns, phase)
    return (count + taken - 1) // taken


@jit
def piece(samples, features, columns, phase, n):
    """Samples, or features, low .. high - 1 are the n-th piece of a phase."""
    count, taken = cut_pieces(samples, features, columns, phase)
    return n * taken, min((n + 1) * taken, count)


@jit
def count_samples(data, i, count):
    """All samples of a client are meant where none are counted."""
    return count if count > 0 else data.starts[i + 1] - data.starts[i]


@jit
def some(rows, low, high):
    """Those of the rows; all are meant where none are named."""
    return rows[low:high] if rows.size > 0 else np.arange(low, high)


def room(sizes, batches, features, columns, width):
    """Numbers that a gradient's scores need, of so many a sample; none where clients are small."""
    most = int(max(np.max(sizes), np.max(batches)))  # who draws with replacement may draw more
    return (most + AT_ONCE) * width if number(most, features, columns, 0) else 0
