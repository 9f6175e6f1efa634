"""Equivalences that hold and one that does not; misprinted cells; documents that are refused."""

import copy
import json
from fractions import Fraction

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.certificates import documents
from fedtheory.certificates.check_proof import Refused
from fedtheory.language.claim import Claim, Same
from fedtheory.symbols.fsl import TABLE
from fedtheory.verdicts import equivalence, exact_endpoints, structural_certificate


def structure(*same, **more):
    return Claim(
        id="house.structure",
        cites="house check",
        kind="structure",
        symbols=TABLE,
        says="Alike.",
        same=same,
        **more,
    )


@pytest.mark.parametrize(
    "name", ["fsl.special_fedavg", "fsl.special_incremental", "fsls.algorithm", "fsl.table2"]
)
def test_true_ones_hold(name):
    verdict = ft.check(name, budget=1)
    assert verdict.status == "holds" and verdict.kind == "structure" and verdict.cases >= 8


def test_two_way_transfer_is_not_the_others_at_one_step():
    verdict = ft.check("mixed.K1_equivalence", budget=1)
    assert verdict.status == "violated" and verdict.witness["one"] == "two_way_gt"
    assert verdict.witness["rounds"] == 2  # the first round still has nothing to transfer
    document = json.loads(json.dumps(verdict.certificate))
    assert ft.replay(document)["gap"] > 1e-6
    # The listing by hand: x moves along this gradient and the one before
    case = verdict.witness
    A, b = (np.array([[eval_fraction(v) for v in row] for row in case[name]]) for name in "Ab")
    p = np.array([eval_fraction(w) for w in case["weights"]])
    eta, eta_s, eta_c = (eval_fraction(case["hyper"][name]) for name in ("eta", "eta_s", "eta_c"))
    f = lambda x: p @ (A[1:] * (x - b[1:]))
    c = lambda x: A[0] * (x - b[0])
    x = np.array([eval_fraction(v) for v in case["x"]])
    y = x - eta * eta_s * f(x) - eta_c * c(x)
    z = y - eta * eta_s * (f(y) + c(x)) - eta_c * (c(y) + f(x))
    np.testing.assert_allclose(
        [[float(v) for v in point] for point in case["points"][0]], [x, y, z], rtol=1e-12
    )


def eval_fraction(text):
    top, _, bottom = text.partition("/")
    return int(top) / int(bottom or 1)


@pytest.mark.parametrize(
    "fixed, other", [(dict(gamma=0.0), dict(weighting="unbiased")), (dict(gamma=0.25), {})]
)
def test_near_misses_are_refuted(fixed, other):
    """FedAvg weighs its clients unless told otherwise; FSL with a server is no FedAvg."""
    claim = structure(Same("fsl", fixed, "fedavg", other, shared=("eta_l", "eta_g", "K")))
    if "weighting" in other:
        words = ft.algorithm("fedavg").hyper["weighting"].choices
        claim = structure(
            Same("fsl", fixed, "fedavg", dict(weighting=words[0]), shared=("eta_l", "eta_g", "K"))
        )
    assert ft.check(claim, budget=2).status == "violated"


def test_a_misprinted_cell_is_found_and_a_changed_document_refused():
    verdict = ft.check("fsl.table3")
    assert verdict.status == "violated" and verdict.witness == {
        "MaxPooling2D 1, shape": dict(printed=[13, 13, 64], computed=[16, 16, 32])
    }
    document = json.loads(json.dumps(verdict.certificate))
    assert ft.replay(document)["status"] == "violated"
    changed = copy.deepcopy(document)
    changed["cells"][0][2] = [14, 14, 64]
    with pytest.raises(Refused, match="changed"):
        ft.replay(changed)
    from fedtheory.certificates.check_instance import digest_of

    with pytest.raises(Refused, match="does not differ so"):
        ft.replay(dict(changed, digest=digest_of(changed)))


def test_an_instance_that_agrees_is_refused():
    verdict = ft.check("mixed.K1_equivalence", budget=1)
    from fedtheory.certificates.check_instance import digest_of

    document = json.loads(json.dumps(verdict.certificate))
    document["instance"]["rounds"] = 1
    with pytest.raises(Refused, match="same points"):
        ft.replay(dict(document, digest=digest_of(document)))
    document["instance"]["rounds"], document["instance"]["sigma"] = 2, "1"
    with pytest.raises(Refused, match="without noise"):
        ft.replay(dict(document, digest=digest_of(document)))


def test_cells_that_nothing_computes_are_no_misprints():
    """A table of an experiment has printed cells and no formula for them: its figure judges it."""
    assert ft.check(structure(printed=dict(one=1.5))).status == "undecided"
    half = structure(printed=dict(one=1, two=2), compute=lambda: dict(one=1))
    assert (
        ft.check(half).status == "undecided"
        and ft.check(half).why == "Of 2 printed cells 1 were computed."
    )
    measured = [
        claim
        for claim in discover.claims()
        if claim.printed and not claim.compute and not claim.lines
    ]
    assert measured and not [
        claim.id for claim in measured if ft.check(claim).status != "undecided"
    ]


def test_a_document_about_a_cell_that_nothing_computes_is_refused():
    claim = next(claim for claim in discover.claims() if claim.printed and not claim.compute)
    cell, printed = next(iter(claim.printed.items()))
    forged = structural_certificate.sign_violation(
        claim, cells=[[cell, structural_certificate.cell_text(printed), None]]
    )
    with pytest.raises(Refused, match="does not differ so"):
        ft.replay(forged)


def test_as_many_losses_as_coordinates_keep_a_curvature_each():
    """Two losses in two dimensions: rows are diagonals, not the rows of one matrix."""
    instance = dict(
        A=[["1", "0"], ["2", "3"]], b=[["0", "0"], ["1", "1"]], weights=["1"], sigma="0"
    )
    problem = equivalence.problem_of(instance)
    assert problem.client_grad(1, np.zeros(2)) == pytest.approx([-2, -3])
    assert problem.client_grad(0, np.ones(2)) == pytest.approx([1, 0])


@pytest.mark.parametrize("name", ["mixed.K1_equivalence", "mixed.transfer_listing"])
def test_ends_in_fractions_are_where_the_engine_goes(name):
    verdict = ft.check(name, budget=0.1)
    document = json.loads(json.dumps(verdict.certificate))
    said = [[float(Fraction(text)) for text in point] for point in document["points"]]
    np.testing.assert_allclose(said, [path[-1] for path in ft.replay(document)["points"]])
    document["points"][0][0] = "1/3"
    with pytest.raises(Refused, match="not where both ways end"):
        ft.replay(dict(document, digest=documents.digest_of(document)))


def test_noise_and_cohorts_go_by_chance_and_have_no_exact_ends():
    same = ft.claim("mixed.transfer_listing").same[0]
    instance = ft.check("mixed.transfer_listing", budget=0.1).certificate["instance"]
    assert exact_endpoints.document_points(same, instance)
    assert exact_endpoints.document_points(same, dict(instance, sigma="1")) is None
    assert exact_endpoints.document_points(same, dict(instance, S=1)) is None


def test_cells_of_other_numbers_than_the_records_are_refused():
    document = json.loads(json.dumps(ft.check("mixed.table3_numbers").certificate))
    document["given"]["K"] = 11
    with pytest.raises(Refused, match="not computed from what the record has"):
        ft.replay(dict(document, digest=documents.digest_of(document)))
