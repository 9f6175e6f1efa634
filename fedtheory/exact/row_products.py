"""Rows of maps by what they read, and products of two of them: which pairs of states a covariance's entry
comes from, and how much of each."""

import numpy as np


class Rows:
    """Rows of maps, one below the other: what each reads, and how much of it."""

    def __init__(self, D):
        none = np.zeros(0, dtype=np.int64)
        self.to, self.of, self.value, self.count = [none], [none], [np.zeros((0, D))], 0

    def add(self, E, columns):
        """The rows of E (D, r, c); the number of the first."""
        row, column = np.nonzero(E.any(axis=0))
        self.to.append(self.count + row), self.of.append(columns[column])
        self.value.append(E[:, row, column].T)
        self.count += E.shape[1]
        return self.count - E.shape[1]

    def entries(self):
        """to, of and value, in the order of rows."""
        return *map(np.concatenate, (self.to, self.of)), np.concatenate(self.value)


def join_entries(row, count, one, other):
    """Each entry of row one[n] with each of row other[n], of so many rows: (n, entry, entry)."""
    count = np.bincount(row, minlength=count)
    begin = np.cumsum(count) - count
    each = count[one] * count[other]
    n = np.repeat(np.arange(len(one)), each)
    within = np.arange(len(n)) - np.repeat(np.cumsum(each) - each, each)
    width = count[other][n]
    return n, begin[one][n] + within // width, begin[other][n] + within % width


def row_products(rows, place, to, one, other, weight):
    """What the pairs `to` gain of which pairs: weight times what row `one` reads times what row
    `other` does; (to, of, value)."""
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
