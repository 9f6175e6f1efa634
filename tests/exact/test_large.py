"""Shortcuts of large coupled maps against what they replace: every direction probed, every state
followed, one deviation after the other."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.exact import (
    affine_maps,
    eigenbasis_noise,
    moment_recursion,
    moments,
    round_map_models,
    round_probe,
)
from fedtheory.participation import Participation, uniform

RATES = dict(
    fedavg=dict(eta_l=0.1, K=4),
    fsl=dict(eta_l=0.1, eta_0=0.2, K=4, K_0=3),
    parallel_training=dict(eta=0.1, eta_c=0.2, K=4),
    two_way_gt=dict(eta=0.1, eta_c=0.2, K=4),
    scaffold=dict(eta_l=0.1, K=4),
)


def problem(d=9, N=6):
    constants = dict(L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, sigma_0=0.2)
    return ft.problems.quadratic(
        d, N, hessian="own_dense", seed=1, weights=np.arange(1.0, N + 1), **constants
    )


def followed(name, **kw):
    e = ft.expected(problem(), name, rounds=4, S=2, covariance=True, **RATES[name], **kw)
    return [e.mean, e.covariance, *(e.metrics[m] for m in ("loss", "sq_grad_norm", "sq_distance"))]


def agree(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert np.abs(a - b).max() <= 1e-12 * np.abs(b).max()


@pytest.mark.parametrize("name", RATES)
def test_two_probes_tell_what_a_probe_of_each_direction_does(name, monkeypatch):
    told, real = [], eigenbasis_noise.noise_answers

    def watched(*given):
        found = real(*given)
        told.append(found is not None)
        return found

    monkeypatch.setattr(eigenbasis_noise, "noise_answers", watched)
    found = followed(name)
    assert told and all(told)
    monkeypatch.setattr(eigenbasis_noise, "noise_answers", lambda *given: None)
    agree(found, followed(name))


def test_an_answer_that_mixes_the_eigenvectors_is_refused(monkeypatch):
    told, real = [], eigenbasis_noise.noise_answers
    other = np.linalg.qr(np.random.default_rng(0).standard_normal((9, 9)))[0]
    monkeypatch.setattr(
        eigenbasis_noise, "client_bases", lambda problem, clients: dict.fromkeys(clients, other)
    )
    monkeypatch.setattr(
        eigenbasis_noise, "noise_answers", lambda *given: told.append(real(*given)) or told[-1]
    )
    found = followed("fedavg")
    assert told == [None]  # one direction of nine is told by a basis that is not the client's
    monkeypatch.setattr(eigenbasis_noise, "noise_answers", lambda *given: None)
    agree(found, followed("fedavg"))


@pytest.mark.parametrize("name", RATES)
def test_products_of_large_matrices_are_the_sums_one_by_one(name, monkeypatch):
    monkeypatch.setattr(moments, "LARGE", 1)
    found = followed(name, participation=Participation(work=uniform(1)))
    monkeypatch.setattr(moments, "LARGE", 10**6)
    agree(found, followed(name, participation=Participation(work=uniform(1))))


def test_deviations_in_few_directions_are_that_many_rows():
    random = np.random.default_rng(3).standard_normal
    E = np.einsum("rk,knc->rnc", random((7, 3)) * 10.0 ** -np.arange(7)[:, None], random((3, 5, 4)))
    left, B = moments.factor_narrow(E)
    assert left.shape == (7, 3) and B.shape == (3, 5, 4)
    again = np.einsum("rk,knc->rnc", left, B)
    assert np.all(np.abs(again - E) <= 1e-14 * np.abs(E).max(axis=(1, 2))[:, None, None])
    assert moments.factor_narrow(random((3, 5, 4)))[0].shape == (3, 3)


@pytest.mark.parametrize("name", ["parallel_training", "two_way_gt", "fsl"])
def test_what_nobody_reads_is_not_followed(name, monkeypatch):
    sizes, real = [], moment_recursion.FollowedMoments._start

    def watched(self):
        real(self)
        sizes.append(self.m.size)

    monkeypatch.setattr(moment_recursion.FollowedMoments, "_start", watched)
    found, read = followed(name), round_probe.Prober._split_blocks
    every = lambda prober: (sorted([*(kept := read(prober))[0], *kept[1]]), [])
    monkeypatch.setattr(round_probe.Prober, "_split_blocks", every)
    agree(found, followed(name))
    assert sizes[0] == dict(parallel_training=9, two_way_gt=27, fsl=9)[name] <= sizes[1]
    assert sizes[0] < sizes[1] or name == "fsl"


def test_an_exchange_that_changes_what_all_share_is_probed_whole(monkeypatch):
    seen, real = [], round_map_models.predicts_rounds

    def doubting(model, *given):  # as if the server's noise were answered otherwise
        seen.append(model)
        return len(seen) > 1 and real(model, *given)

    found = followed("two_way_gt")
    monkeypatch.setattr(round_map_models, "predicts_rounds", doubting)
    agree(found, followed("two_way_gt"))
    assert len(seen) > 1


@pytest.mark.parametrize("name", ["scaffold", "fsl"])
def test_deviations_are_told_entry_by_entry_or_as_blocks(name, monkeypatch):
    counts, real = [], affine_maps.map_of
    monkeypatch.setattr(moment_recursion, "follow_memories", lambda *given: None)

    def watched(*given):
        made = real(*given)
        counts.append(len(made.thin))
        return made

    monkeypatch.setattr(affine_maps, "map_of", watched)
    found = []
    for large in (1, 10**6):
        monkeypatch.setattr(moments, "LARGE", large)
        for thin in (0, np.inf):
            monkeypatch.setattr(affine_maps, "THIN", thin)
            counts.clear()
            found.append(followed(name))
            assert any(counts) == (
                name == "scaffold" and thin == 0
            )  # the server's noise is a block
    for each in found[1:]:
        agree(found[0], each)


@pytest.mark.parametrize("D", [1, 2])
def test_what_is_common_is_subtracted_once(D):
    random = np.random.default_rng(5)
    for N in range(1, 7):
        held = random.random((N, 40)) < random.choice([0.1, 0.4, 0.6, 1.0], 40)
        dense = np.where(held[:, None], random.standard_normal((N, D, 40)), 0.0)
        items = [affine_maps.Sparse(np.flatnonzero(h), x[:, h]) for h, x in zip(held, dense)]
        *less, left = [whole(s) for s in affine_maps.centre_items(items)]
        many = 2 * held.sum(axis=0) >= N
        all_have = held.all(axis=0)
        centre = np.where(all_have, dense.mean(axis=0), many * np.median(dense, axis=0))
        assert np.allclose(less, dense - centre, rtol=0.0, atol=1e-14)
        assert np.allclose(left, np.mean(dense - centre, axis=0), rtol=0.0, atol=1e-14)
        assert not np.any(np.abs(left[:, all_have]) > 1e-15)  # an entry that cancels is none


def whole(s, columns=40):
    assert len(np.unique(s.index)) == len(s.index)
    found = np.zeros((len(s.value), columns))
    found[:, s.index] = s.value
    return found
