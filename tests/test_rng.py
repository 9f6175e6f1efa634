"""Draws: the published generator, the right laws, and nothing shared between different keys."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy import stats

import fedtheory as ft
from fedtheory import rng
from fedtheory.problem import GAUSSIAN, RADEMACHER, SPHERE
from fedtheory.runs import engine

WORD = 2**32


def philox(counter, key):
    """Salmon et al. 2011, section 3.3, in Python integers."""
    (c0, c1, c2, c3), (k0, k1) = counter, key
    for _ in range(10):
        high0, low0 = divmod(c0 * 0xD2511F53, WORD)
        high1, low1 = divmod(c2 * 0xCD9E8D57, WORD)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + 0x9E3779B9) % WORD, (k1 + 0xBB67AE85) % WORD
    return c0, c1, c2, c3


def ours(counter, key):
    return tuple(int(word) for word in rng.philox(*(np.uint64(word) for word in (*counter, *key))))


@pytest.mark.parametrize(
    "counter, key, answer",
    [  # kat_vectors of Random123
        ((0,) * 4, (0,) * 2, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((WORD - 1,) * 4, (WORD - 1,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_known_answers(counter, key, answer):
    assert philox(counter, key) == answer
    assert ours(counter, key) == answer


def test_philox_on_random_words():
    for words in np.random.default_rng(0).integers(0, WORD, (200, 6)):
        counter, key = tuple(map(int, words[:4])), tuple(map(int, words[4:]))
        assert ours(counter, key) == philox(counter, key)


def key_of(seed, trial, round):
    c0, c1, _, _ = philox(
        (trial % WORD, round % WORD, trial // WORD, round // WORD), (seed % WORD, seed // WORD)
    )
    return c0 * WORD + c1


def stream(seed, trial, round):
    return np.uint64(rng.stream_key(np.uint64(seed), trial, round))


def unit(high, low):
    return (((high * WORD + low) >> 12) + 0.5) / 2**52


@pytest.mark.parametrize(
    "seed, trial, round", [(0, 0, 0), (7, 3, 11), (2**64 - 1, 2**40 + 5, 2**33 + 1)]
)
def test_stream_and_uniform_follow_their_counters(seed, trial, round):
    key = key_of(seed, trial, round)
    assert int(stream(seed, trial, round)) == key
    for client, step, purpose, index in [(0, 0, 0, 0), (3, 2, 1, 5), (100, int(rng.START), 3, 9)]:
        a, b, _, _ = philox((index, client, step, purpose), (key % WORD, key // WORD))
        assert rng.uniform(np.uint64(key), client, step, np.uint64(purpose), index) == unit(a, b)


def test_uniforms_never_reach_an_end():
    assert (
        0
        < rng._unit_interval(np.uint64(0), np.uint64(0))
        < rng._unit_interval(np.uint64(WORD - 1), np.uint64(WORD - 1))
        < 1
    )


def test_log_within_one_ulp():
    generator = np.random.default_rng(1)
    points = np.concatenate(
        [
            10.0 ** generator.uniform(-300, 300, 2000),
            1 + generator.normal(0, 1e-3, 2000),
            1 + np.arange(-8, 9) * 2.0**-53,
            [2.0**-53, 2.0**-52, np.sqrt(2), np.sqrt(0.5)],
        ]
    )
    for x in points:
        exact = mpmath.log(mpmath.mpf(float(x)))
        assert abs(mpmath.mpf(float(rng.log(x))) - exact) <= np.spacing(abs(float(exact)))
    assert rng.log(1.0) == 0.0


@pytest.mark.parametrize("size", [1, 2, 5, 8])
def test_normals_are_box_and_mullers(size):
    """The first halves of the counters give cosines, the second sines; an odd one out has its
    own."""
    key = 0x0123456789ABCDEF
    out = np.empty(size)
    rng.standard_normals(np.uint64(key), 4, 9, out)
    half = size // 2
    expected = np.empty(size)
    for n in range((size + 1) // 2):
        a, b, c, e = philox((n, 4, 9, 0), (key % WORD, key // WORD))
        radius, angle = mpmath.sqrt(-2 * mpmath.log(unit(a, b))), 2 * mpmath.pi * unit(c, e)
        expected[n if n < half else size - 1] = radius * mpmath.cos(angle)
        if n < half:
            expected[half + n] = radius * mpmath.sin(angle)
    assert np.max(abs(out - expected)) < 4e-15


def draw(size, seed=0, trial=0, round=0, client=1, step=0):
    out = np.empty(size)
    rng.standard_normals(stream(seed, trial, round), client, step, out)
    return out


def test_normals_are_normal():
    out = draw(200_001)
    assert stats.kstest(out, "norm").pvalue > 1e-3
    assert abs(stats.kurtosis(out)) < 5 * np.sqrt(24 / out.size)
    assert stats.kstest(1.02 * out, "norm").pvalue < 1e-3  # the test can say no


def test_draws_of_different_keys_are_independent():
    """Each part of the key alone makes a new stream: no two are correlated at any small lag."""
    n = 4096
    keys = [
        {},
        *(
            {name: value}
            for name in ("seed", "trial", "round", "client", "step")
            for value in (2, 3)
        ),
    ]
    draws = np.array([draw(n, **key) for key in keys])
    for lag in range(3):
        for a, b in itertools.combinations(range(len(keys)), 2):
            assert abs(draws[a, : n - lag] @ draws[b, lag:]) < 5 * np.sqrt(n), (
                keys[a],
                keys[b],
                lag,
            )
    assert draws[0] @ draws[0] > 0.9 * n  # the statistic sees what is shared
    assert np.array_equal(draws[0], draw(n))


def test_no_two_draws_share_bits():
    seen = {
        rng.uniform(stream(5, trial, t), i, k, purpose, index)
        for trial, t, i, k, index in itertools.product(range(4), repeat=5)
        for purpose in (rng.NOISE, rng.BATCH, rng.COHORT, rng.WORK)
    }
    assert len(seen) == 4**6


def test_signs_are_the_bits_of_their_words():
    key = 99
    out = np.empty(70)
    rng.fair_signs(np.uint64(key), 2, 3, out)
    words = [philox((n, 2, 3, 0), (key, 0))[0] for n in range(3)]
    assert np.array_equal(out, [1 - 2 * ((words[j // 32] >> j % 32) & 1) for j in range(70)])


def frequencies_fit(counts):
    return stats.chisquare(counts).pvalue > 1e-3


def test_below_is_uniform():
    key = stream(1, 0, 0)
    draws = [rng.uniform_below(key, 1, 0, rng.BATCH, index, 7) for index in range(14000)]
    assert frequencies_fit(np.bincount(draws, minlength=7)) and set(draws) == set(range(7))
    assert {rng.uniform_below(key, 1, 0, rng.BATCH, index, 1) for index in range(50)} == {0}


@pytest.mark.parametrize("count", [1, 7, 8, 33])
def test_indices_are_draws_one_at_a_time(count):
    key, out = stream(1, 2, 3), np.empty(count, dtype=np.int64)
    for shrinks in (0, 1):
        rng.uniform_indices(key, 4, 5, rng.BATCH, 40, shrinks, out)
        drawn = [
            i * shrinks + rng.uniform_below(key, 4, 5, rng.BATCH, i, 40 - i * shrinks)
            for i in range(count)
        ]
        assert out.tolist() == drawn


def arrangements(sampler, deck, count, draws):
    places = {way: n for n, way in enumerate(itertools.permutations(deck, count))}
    counts = np.zeros(len(places), dtype=int)
    for n in range(draws):
        counts[places[sampler(n)]] += 1
    return counts


def test_subset_is_uniform_over_all_ordered_subsets():
    deck = np.arange(5)

    def sampler(n):
        out = np.empty(3, dtype=np.int64)
        rng.draw_subset(stream(2, n, 0), 1, 0, rng.BATCH, deck, out)
        return tuple(int(v) for v in out)

    assert frequencies_fit(arrangements(sampler, range(5), 3, 24000))

    def biased(n):  # each card swapped with any place: the classic mistake
        cards = list(range(5))
        key = stream(2, n, 0)
        for j in range(5):
            other = rng.uniform_below(key, 1, 0, rng.BATCH, j, 5)
            cards[j], cards[other] = cards[other], cards[j]
        return tuple(cards[:3])

    assert not frequencies_fit(arrangements(biased, range(5), 3, 24000))


@pytest.mark.parametrize("size, count", [(1, 1), (6, 1), (6, 4), (6, 6), (40, 13)])
def test_subset_leaves_its_deck_alone(size, count):
    deck = np.random.default_rng(size).permutation(size) + 3
    before = deck.copy()
    for trial in range(50):
        out = np.empty(count, dtype=np.int64)
        rng.draw_subset(stream(3, trial, 0), 1, 0, rng.BATCH, deck, out)
        assert np.array_equal(deck, before)
        assert len(set(out)) == count and set(out) <= set(before)


def test_host_streams_are_told_apart_by_seed_and_name():
    first = {
        (seed, name): rng.host_generator(seed, name).random()
        for seed in (0, 1)
        for name in ("a", "b")
    }
    assert len(set(first.values())) == 4
    assert rng.host_generator(1, "b").random() == first[1, "b"]


# ---------------------------------------------------------------- noise of a gradient


def noise(kind, sigma, d, step=0, client=1, seed=0):
    g = np.zeros(d)
    engine.add_noise(
        kind, sigma, stream(seed, 0, 0), client, step, 0, np.zeros((1, 1)), g, np.empty(d)
    )
    return g


def test_gaussian_noise_is_scaled_normals():
    """E||n||^2 = sigma^2 exactly: d normals of variance sigma^2 / d."""
    normals = np.empty(5)
    rng.standard_normals(stream(0, 0, 0), 1, 7, normals)
    assert np.array_equal(noise(GAUSSIAN, 0.3, 5, step=7), 0.3 / np.sqrt(5.0) * normals)


def test_rademacher_noise_takes_every_sign_pattern_equally_often():
    d, sigma = 3, 0.7
    counts = dict.fromkeys(itertools.product((-1.0, 1.0), repeat=d), 0)
    for step in range(8000):
        n = noise(RADEMACHER, sigma, d, step)
        assert np.array_equal(
            abs(n), np.full(d, sigma / np.sqrt(3.0))
        )  # so ||n||^2 = sigma^2 surely
        counts[tuple(np.sign(n))] += 1
    assert frequencies_fit(list(counts.values()))


def test_sphere_noise_is_uniform_on_the_sphere():
    draws = np.array([noise(SPHERE, 2.0, 3, step) for step in range(4000)])
    assert np.allclose(np.linalg.norm(draws, axis=1), 2.0, rtol=1e-15, atol=0)
    for axis in (*np.eye(3), np.ones(3) / np.sqrt(3)):  # Archimedes: every coordinate is uniform
        assert stats.kstest(draws @ axis, stats.uniform(-2, 4).cdf).pvalue > 1e-3
    line = np.array([noise(SPHERE, 2.0, 1, step)[0] for step in range(40)])
    assert set(np.sign(line)) == {-1, 1} and np.allclose(abs(line), 2.0, rtol=1e-15, atol=0)


@pytest.mark.parametrize("kind", [GAUSSIAN, RADEMACHER, SPHERE])
def test_noise_of_different_clients_and_steps_is_uncorrelated(kind):
    d, n = 4, 1500
    draws = {
        (client, shift): np.array(
            [noise(kind, 1.0, d, 2 * step + shift, client) for step in range(n)]
        )
        for client in (1, 2)
        for shift in (0, 1)
    }
    for a, b in itertools.combinations(draws, 2):
        cross = draws[a].T @ draws[b] / n  # entries have variance 1 / (d^2 n)
        assert np.max(abs(cross)) < 5 / (d * np.sqrt(n)), (a, b)
    for own in draws.values():
        assert np.max(abs(own.mean(axis=0))) < 5 / np.sqrt(d * n)
        assert np.allclose(own.T @ own / n, np.eye(d) / d, atol=5 * np.sqrt(2 / n) / d)


def test_the_engine_draws_by_trial_round_client_and_step():
    """x_{t,k+1} - x_{t,k} = -g: the noise of a run is that of its key and of nothing else."""
    problem = ft.problems.quadratic(3, 1, L=1.0, mu=1.0, sigma=0.5, noise="gaussian")
    b = problem.data.b[1]
    r = ft.run(problem, "fedavg", rounds=2, trials=3, seed=11, K=2, eta_l=0.5, keep="x")
    for trial, t in itertools.product(range(3), range(2)):
        y = r.x[trial, t].copy()
        for k in range(2):
            n = np.empty(3)
            rng.standard_normals(stream(11, trial, t), 1, k, n)
            y -= 0.5 * (y - b + 0.5 / np.sqrt(3.0) * n)
        assert np.allclose(r.x[trial, t + 1], y, rtol=0, atol=1e-14)
