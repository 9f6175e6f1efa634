"""Sparse rows of maps and products of two rows: which pairs of states a covariance entry depends
on, with which coefficients."""

import numpy as np

from fedtheory.typing import Number


class Rows:
    """Rows of several maps, stacked, in sparse form: the columns that each row reads, and their
    coefficients."""

    def __init__(self, D: int) -> None:
        none = np.zeros(0, dtype=np.int64)
        self.to, self.of, self.value, self.count = [none], [none], [np.zeros((0, D))], 0

    def add(self, E: np.ndarray, columns: Number) -> int:
        """Append the rows of E (D, r, c), and return the number of the first appended row."""
        row, column = np.nonzero(E.any(axis=0))
        self.to.append(self.count + row), self.of.append(columns[column])
        self.value.append(E[:, row, column].T)
        self.count += E.shape[1]
        return self.count - E.shape[1]

    def entries(self) -> tuple[np.ndarray, ...]:
        """Return `to`, `of` and `value` as arrays, in the order of rows."""
        return *map(np.concatenate, (self.to, self.of)), np.concatenate(self.value)


def join_entries(
    row: Number, count: Number, one: Number, other: Number
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pair each entry of row one[n] with each entry of row other[n], of `count` rows; return (n,
    entry, entry)."""
    count = np.bincount(row, minlength=count)
    begin = np.cumsum(count) - count
    each = count[one] * count[other]
    n = np.repeat(np.arange(len(one)), each)
    within = np.arange(len(n)) - np.repeat(np.cumsum(each) - each, each)
    width = count[other][n]
    return n, begin[one][n] + within // width, begin[other][n] + within % width


def row_products(
    rows: Rows,
    place: np.ndarray,
    to: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    weight: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """Return (to, of, value): the coefficients with which the pairs `to` depend on the pairs `of`.
    The coefficient is weight times the entries of row `one` and row `other`."""
    row, column, value = rows.entries()
    n, left, right = join_entries(row, rows.count, one, other)
    key = to[n] * place.size + place[column[left], column[right]]
    order = np.argsort(key, kind="stable")
    n, left, right, key = n[order], left[order], right[order], key[order]
    first = np.flatnonzero(np.diff(key, prepend=-1))
    every = value[left]
    every *= value[right]
    every *= weight[n, None]
    return *np.divmod(key[first], place.size), np.add.reduceat(every, first)
