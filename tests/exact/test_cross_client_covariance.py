"""Series of few terms against every entry of a covariance."""

import numpy as np
import pytest
from numpy.polynomial import chebyshev

from fedtheory.exact import cross_client_covariance, moments

N, k, s, r, g = 4, 3, 2, 2, 5


def drawn(random, deviations, spread=0.05):
    """A form whose own lie on a line, and what it gives memories of shared states, and for nothing."""
    x = random.uniform(-1.0, 1.0, N * k)
    x[:2] = -1.0, 1.0
    own = np.stack([0.8 + spread * x, *[0.3 - 0.2 * n + spread * x for n in range(deviations)]])
    weight = np.array([1.0, 0.7, -0.4][: 1 + deviations])
    make = lambda *shape: random.standard_normal(shape)
    Q = make(N, k, k)
    form = cross_client_covariance.Form(
        weight, own, make(r, N * k), make(g, N * k), Q + Q.transpose(0, 2, 1)
    )
    return form, make(1 + deviations, s, g), make(1 + deviations, N * k)


@pytest.mark.parametrize("deviations", [0, 1, 2])
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.15])
@pytest.mark.parametrize("most", [2, 64])
def test_series_are_the_entries_one_by_one(deviations, spread, most, monkeypatch):
    monkeypatch.setattr(
        cross_client_covariance, "MOST", most
    )  # a series that is begun may become as long as it must
    random = np.random.default_rng(deviations)
    form, gives, e = drawn(random, deviations, spread)
    m, C = random.standard_normal(N * k), np.zeros((N * k, N * k))
    whole = cross_client_covariance.Whole(form, C.copy())
    series = cross_client_covariance.Series(
        form, cross_client_covariance.line_of(form.weight, form.own), 1, gives, m, e
    )
    own_blocks = np.kron(np.eye(N), np.ones((k, k)))
    for _ in range(12):
        level, p = random.standard_normal(s), random.standard_normal((N * k, g))
        levels = form.own * m + e + [form.given.T @ (level @ each) for each in gives]
        gained = random.standard_normal((N, k, k))
        gained += gained.transpose(0, 2, 1)
        F = np.einsum("n,na,nb->ab", form.weight, form.own, form.own)
        C = F * C + p @ form.given + (p @ form.given).T
        C += np.einsum("n,na,nb->ab", form.weight[1:], levels[1:], levels[1:])
        C += own_blocks * np.tile(gained.reshape(N * k, k), (1, N))
        for found in (whole, series):
            found.round(p, level, levels[1:], gained)
            for i in range(N):
                here, size = form.client(i), np.abs(C).max()
                assert np.abs(found.block(i) - C[here, here]).max() <= 1e-13 * size
                assert np.abs(found.heard(i) - form.read @ C[:, here]).max() <= 1e-13 * size
        m = levels[0]
    assert np.abs(whole.C - C).max() <= 1e-13 * np.abs(C).max()
    assert (series.count == 1) == (spread == 0.0) and series.count <= 13  # a degree more a round
    assert len(series.mean) >= series.z.shape[1] > series.count


def test_own_are_on_a_line_or_not():
    form, _, _ = drawn(np.random.default_rng(0), 2)
    line = cross_client_covariance.line_of(form.weight, form.own)
    again = line.middle[:, None] + line.slope[:, None] * line.x
    assert np.abs(again - form.own).max() <= 1e-15 and np.abs(line.x).max() == 1.0
    off = np.zeros_like(form.own)
    off[1, 3] = 1e-12
    assert cross_client_covariance.line_of(form.weight, form.own + off) is None
    assert (
        cross_client_covariance.line_of(form.weight * [1.0, 1e-4, 1.0], form.own + off) is not None
    )
    alike = cross_client_covariance.line_of(np.ones(2), np.full((2, 6), 0.5))
    assert not alike.x.any() and not alike.slope.any()


def test_polynomials_and_their_products_with_lines_are_numpys():
    random = np.random.default_rng(1)
    series, x = random.standard_normal(6), random.uniform(-1.0, 1.0, 9)
    found = cross_client_covariance.times_line(0.7, 0.2, np.append(series, 0.0)[:, None])[:, 0]
    assert np.allclose(found, chebyshev.chebmul([0.7, 0.2], series), rtol=1e-14)
    values = series @ cross_client_covariance.chebyshev_polynomials(x, 6)
    assert np.allclose(values, chebyshev.chebval(x, series), rtol=1e-13)


def test_a_series_has_as_many_terms_as_are_above_rounding():
    counts = []
    for spread in (0.0, 1e-3, 1e-2, 0.1):
        form, _, _ = drawn(np.random.default_rng(2), 0, spread)
        line = cross_client_covariance.line_of(form.weight, form.own)
        counts.append(cross_client_covariance.count_terms(form, line, 100))
        above = set()
        for y in (0.8 - spread, 0.8 + spread):
            powers = [chebyshev.chebpow([0.8 * y, spread * y], lag, 101) for lag in range(100)]
            told = np.sum([np.pad(power, (0, 100 - len(power) + 1)) for power in powers], axis=0)
            above |= {*np.flatnonzero(told > cross_client_covariance.NONE * told[0])}
        assert above == {*range(counts[-1])}
    assert (
        counts[0] == 1
        and counts == sorted(set(counts))
        and counts[-1] < cross_client_covariance.MOST
    )
    assert cross_client_covariance.count_terms(form, line, 3) <= 3


def test_the_cheaper_of_the_two_is_taken(monkeypatch):
    form, gives, e = drawn(np.random.default_rng(3), 1)
    m, C = np.zeros(N * k), np.eye(N * k)
    kind = lambda C, last: type(cross_client_covariance.choose_form(form, C, 9, last, gives, m, e))
    assert kind(None, True) is cross_client_covariance.Whole  # so few clients
    monkeypatch.setattr(cross_client_covariance, "PRODUCTS", 0)
    assert kind(None, True) is cross_client_covariance.Series
    assert (
        kind(C, True) is cross_client_covariance.Whole
        and kind(None, False) is cross_client_covariance.Whole
    )
    monkeypatch.setattr(cross_client_covariance, "MOST", 4)
    assert kind(None, True) is cross_client_covariance.Whole


def test_products_are_shared_by_the_cores_with_the_same_bits(monkeypatch):
    random = np.random.default_rng(4).standard_normal
    A, B = random((7, 50)), random((50, 3 * cross_client_covariance.UNIT + 5))
    one = cross_client_covariance.parallel_product(A, B)
    assert np.allclose(one, A @ B, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(moments, "SPREAD", 0)
    for count in ("1", "3"):
        monkeypatch.setenv("FEDTHEORY_NUM_THREADS", count)
        assert np.array_equal(cross_client_covariance.parallel_product(A, B), one)
