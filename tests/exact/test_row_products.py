"""Products of sparse rows against E C E' written out."""

import numpy as np

from fedtheory.exact.row_products import Rows, row_products

D, M = 3, 6


def drawn(generator, rows, columns):
    E = generator.standard_normal((D, rows, columns))
    return E * (generator.random((rows, columns)) < 0.5)


def test_products_give_what_whole_matrices_give():
    generator = np.random.default_rng(0)
    C = generator.standard_normal((D, M, M))
    C += C.transpose(0, 2, 1)
    upper = np.argwhere(np.triu(np.ones((M, M))))
    place = np.zeros((M, M), dtype=np.int64)
    place[upper[:, 0], upper[:, 1]] = place[upper[:, 1], upper[:, 0]] = np.arange(len(upper))
    rows, columns, wanted, weights = Rows(D), np.array([4, 0, 5]), 0.0, (0.5, -2.0)
    one, other, to, weight = [], [], [], []
    for w in weights:  # two deviations in rows 1 and 3 of the state
        E, here = drawn(generator, 2, 3), np.array([1, 3])
        begin = rows.add(E, columns)
        wanted = wanted + w * E @ C[:, columns[:, None], columns] @ E.transpose(0, 2, 1)
        for i in range(2):
            for j in range(i, 2):
                one.append(begin + i), other.append(begin + j), weight.append(w)
                to.append(place[here[i], here[j]])
    to, of, value = row_products(rows, place, *map(np.array, (to, one, other, weight)))
    entries = C[:, upper[:, 0], upper[:, 1]].T
    found = np.zeros((len(upper), D))
    np.add.at(found, to, value * entries[of])
    for i, r in enumerate((1, 3)):
        for j, s in enumerate((1, 3)):
            assert np.allclose(found[place[r, s]], wanted[:, i, j], atol=1e-12)
    assert len({*zip(to.tolist(), of.tolist())}) == len(to)  # each once


def test_rows_that_read_nothing_are_counted():
    rows, nothing = Rows(D), np.zeros((D, 2, 1))
    assert rows.add(nothing, np.array([0])) == 0 and rows.add(nothing, np.array([0])) == 2
    none = np.zeros(0, dtype=np.int64)
    assert [
        len(part) for part in row_products(rows, np.zeros((1, 1), int), none, none, none, none)
    ] == [0] * 3
