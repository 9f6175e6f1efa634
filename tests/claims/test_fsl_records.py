"""FSL's list is complete; its tables and equivalences are computed."""

import numpy as np
import pytest

import fedtheory as ft
from fedtheory import discover

IDS = """fsl.eq4 fsl.eq7 fsl.eq8_eq9 fsl.eq10 fsl.server_multistep fsls.eq2 fsls.algorithm fsl.lemma1 fsl.lemma2
fsl.lemma3 fsl.lemma4 fsl.lemma5 fsl.step16 fsl.step19 fsl.step21 fsl.step22 fsl.step23 fsl.step24 fsl.step25
fsl.step_T6 fsl.step28 fsl.step_G3_G4 fsl.step29 fsl.step30 fsl.step31 fsl.theorem1 fsl.h_lower fsl.theorem2
fsl.corollary1 fsl.corollary2a fsl.corollary2b fsl.corollary2c fsl.corollary1_explicit
fsl.corollary2a_explicit fsl.corollary2b_explicit fsl.corollary2c_explicit fsl.gradient_identity
fsl.original_loss fsl.d0_pretrain fsl.phi_kappa_decrease fsl.special_fedavg fsl.special_sgd
fsl.special_sgd_explicit fsl.special_incremental fsl.table2 fsl.table3""".split()
FIGURES = (
    {f"fsl_fig{n}" for n in (1, 2, 5, 6, 7, 8, 9, 10)}
    | {"fsl_table1"}
    | {f"fsls_fig{n}" for n in range(1, 7)}
)


def test_the_list_is_complete():
    found = {claim.id for claim in discover.claims()}
    assert set(IDS) <= found
    findings = [c for c in discover.claims() if c.kind == "finding" and c.paper in ("fsl", "fsls")]
    assert {c.figure for c in findings} == FIGURES
    cells = {cell: value for c in findings for cell, value in c.printed.items()}
    assert (
        len(cells) == 10
        and cells["T_0.5, FSL n_0=500"] == 203
        and cells["accuracy, FedDyn"] == 0.5779
    )


def test_parameter_counts_by_hand():
    emnist = {cell: computed for cell, _, computed in ft.claim("fsl.table2").cells()}
    assert (
        emnist["Conv2D 1, parameters"] == 9 * 1 * 32 + 32
        and emnist["Conv2D 2, parameters"] == 9 * 32 * 64 + 64
    )
    assert (
        emnist["Dense 1, parameters"] == 13 * 13 * 64 * 128 + 128
        and emnist["Dense 2, parameters"] == 128 * 45 + 45
    )
    assert all(printed == computed for _, printed, computed in ft.claim("fsl.table2").cells())


def test_a_misprinted_cell_is_found():
    differ = [cell for cell in ft.claim("fsl.table3").cells() if cell[1] != cell[2]]
    assert differ == [("MaxPooling2D 1, shape", (13, 13, 64), (16, 16, 32))]


def path(problem, name, fixed, shared, hyper, x, rounds):
    given = {**fixed, **{k: v for k, v in hyper.items() if k in shared or k not in fixed}}
    if callable(name):
        return np.array(name(problem, x, rounds, **{k: hyper[k] for k in shared}))
    known = ft.algorithm(name).hyper
    return ft.run(
        problem,
        name,
        rounds=rounds,
        x_0=x,
        keep="x",
        **{k: v for k, v in given.items() if k in known},
    ).x[0]


@pytest.mark.parametrize(
    "name", ["fsl.special_fedavg", "fsl.special_incremental", "fsls.algorithm"]
)
def test_equivalences_hold_and_need_what_they_fix(name):
    hyper = dict(eta_l=0.03, eta_g=1.5, eta_0=0.04, gamma=0.7, K=3, K_0=2)
    for same in ft.claim(name).same:
        problem = ft.problems.quadratic(
            3, same.clients or 3, L=2.0, mu=0.5, G=0.0 if same.clients else 1.0, xi_bar=0.5, seed=5
        )
        x = np.array([1.0, -2.0, 0.5])
        one = path(problem, same.one, same.fixed, same.shared, hyper, x, 3)
        other = path(problem, same.other, same.other_fixed, same.shared, hyper, x, 3)
        assert one == pytest.approx(other, rel=1e-12, abs=1e-13)
        loose = path(problem, same.one, {}, same.shared, hyper, x, 3)
        assert not np.allclose(loose, other, rtol=1e-3)
