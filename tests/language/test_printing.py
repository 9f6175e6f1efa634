"""How formulas are written: in the order of terms and factors in which the papers write them."""

import ast
import operator

import pytest
import sympy

from fedtheory import discover
from fedtheory.language.printing import latex, plain
from fedtheory.language.symbol import CURVATURE, STEP, Table

# Right sides by eye from the papers' displays, letter for letter but for names of measured
# quantities (id, or id and line): FSL's and its appendix, flex, FED-LAMB, mixed FL's appendix D.
PAPERS = {
    "fsl.theorem1": "tilde_F_t - K_0 eta_0 h sq_tilde_grad + 5 K_0^2 eta_0^2 L Psi "
    "+ 8 K_0^3 eta_0^3 L^2 (gamma kappa xi_bar^2/(1 + gamma) + Phi)",  # (12)
    "fsl.lemma3": "K_0 L^2 E_0",
    "fsl.lemma3 2": "K L^2 E_c",
    "fsl.lemma4": "4 K^2 eta_l^2 (sq_grad + sigma^2/(2 K) + G^2)",  # (26)
    "fsl.step_T7": "8 K^2 eta_l^2 (sq_grad + sigma^2/(2 K) + G^2)",
    "fsl.step31": "4 K_0^2 eta_0^2 gamma^2 (sq_server_grad_bar + sigma_0^2/(2 K_0))",
    "fsl.step31_at_x 2": "2 sq_server_grad + 2 L^2 sq_move_bar",
    "fsl.step18": "T_3 - K_0 eta_0 (1 + gamma) sq_tilde_grad",
    "fsl.step21 2": "2 T_4a + 2 T_4b",
    "fsl.step21 3": "sigma_0^2/K_0",
    "fsl.step21 4": "L^2 E_0",
    "fsl.step22 2": "T_5a + T_5b + T_5c",
    "fsl.step22 3": "K sigma^2/S",
    "fsl.step22 4": "K^2 L^2 E_c",
    "fsl.step22 5": "K^2 tau_s G^2",
    "fsl.gradient_identity": "(1 + gamma) sq_tilde_grad + gamma sq_xi/(1 + gamma)",
    "fsl.corollary2a": "tilde_D_0/sqrt(T) + L Psi/(sqrt(T) (1 + gamma)^2) "
    "+ L^2 gamma kappa xi_bar^2/(T (1 + gamma)^4) + L^2 Phi/(T (1 + gamma)^3)",
    "fsl.step_move": "4 K_0^2 eta_0^2 (sq_grad + L^2 E_c + sigma^2/(K S) + tau_s G^2)",
    "flex.theorem3_1": "(M_tau D + V)/(E tau + gamma)",  # (3)
    "flex.theorem3_2_departure": "2 n_l sqrt(2 L tilde_Gamma_l)/(n mu)",  # (5)
    "flex.eq9": "sqrt(tau_0 Gamma_l)",
    "flex.corollary3_2_1": "(tilde_M tilde_D + tilde_V)/(E (tau - tau_0) + tilde_gamma)",  # (6)
    "lamb.step_average": "grad_by_root_v/2 - drift",
    "mixed.propD6": "4 beta gap",
    "mixed.lemmaD2": "(1 + a) sq_i + (1 + 1/a) sq_j",
    "mixed.lemmaD2 2": "tau sum_sq",
    "mixed.lemmaD8": "(1 - eta mu) sq_xy",
    "mixed.stepD9_A": "4 eta_tilde^2 beta^2 drift + 4 eta_tilde^2 sigma^2/(K S)",
    "mixed.stepD9_B": "2 eta_tilde^2 sq_grad + 2 eta_tilde^2 sigma_c^2",
    "mixed.lemmaD10": "(1 - 3 eta_tilde mu/2) sq_dist - eta_tilde gap + 5 drift/16 "
    "+ 2 eta_tilde^2 noise_one",
    "mixed.stepD10_C1": "-2 eta_tilde (gap_c + mu sq_dist/2)",
    "mixed.stepD10_C2": "2 eta_tilde beta drift - 2 eta_tilde (gap_f + mu sq_dist/4)",
    "mixed.lemmaD11": "12 K^2 eta^2 beta gap + 3 K^2 eta^2 (sigma^2/K + sigma_c^2)",
    "mixed.stepD11_D6": "16 K^2 eta^2 beta gap",
    "mixed.lemmaD12": "f_t - 4 eta_tilde sq_grad/9 + beta drift/27 + eta_tilde^2 beta noise_one",
    "mixed.stepD12_inner": "eta_tilde sq_mean_error/2 - eta_tilde sq_grad/2",
    "mixed.table1_two_way_convex": "beta D_sq/eps + (sigma^2 + S sigma_c^2) D_sq/(K S eps^2)",
    "mixed.table4_pt_strong": "1/(6 beta (1 + B^2))",
    "mixed.table4_two_way_strong": "min(1/(81 beta), 1/(15 mu))",
}


@pytest.mark.parametrize("name", PAPERS)
def test_right_sides_are_written_as_papers_write_them(name):
    claim, _, line = name.partition(" ")
    claim = discover.claim(claim)
    assert claim.plain(claim.lines[int(line or 1) - 1].right) == PAPERS[name]


def test_definitions_are_written_as_papers_write_them():
    claim = discover.claim("fsl.theorem1")
    written = {s.name: claim.plain(e) for s, e in claim.definitions.items()}
    assert written["h"] == (
        "1/2 + gamma - K_0 eta_0 L (1 + gamma) (3 + 3 gamma + 16 K_0 eta_0 L kappa)/2"
    )
    assert written["kappa"] == "max(4 gamma^3, 2/eta_g^2 + 3 gamma^2)"
    assert written["rho_s"] == "0 if N = 1, else (N - S)/(N - 1)"
    assert discover.claim("fsl.theorem2").plain(claim.symbols["h"].symbol) == "h"


def mine():
    table = Table("mine")
    return (
        table,
        table.positive("eta", r"\eta", "step", STEP),
        table.positive("beta", r"\beta", "smoothness", CURVATURE),
    )


def test_minus_signs_fractions_and_roots():
    N, S = sympy.symbols("N S", positive=True)
    assert plain((N - S) / (N - 1)) == "(N - S)/(N - 1)" and plain(-N - S) == "-N - S"
    table, eta, beta = mine()
    for expr, text, typeset in (
        (-eta * beta / 2, "-eta beta/2", r"- \frac{\eta \beta}{2}"),
        (1 - eta * beta, "1 - eta beta", r"1 - \eta \beta"),
        (eta**-2, "1/eta^2", r"\frac{1}{\eta^{2}}"),
        (2 / (3 * beta * eta), "2/(3 eta beta)", r"\frac{2}{3 \eta \beta}"),
        (sympy.sqrt(2 * beta * eta), "sqrt(2 eta beta)", r"\sqrt{2 \eta \beta}"),
        (sympy.sqrt(eta) / sympy.sqrt(beta), "sqrt(eta)/sqrt(beta)", None),
        ((1 + eta) ** 2 * beta, "beta (1 + eta)^2", None),
        (eta * (-beta - 1), "eta (-1 - beta)", None),
        (1 / (6 + 6 * beta), "1/(6 (1 + beta))", r"\frac{1}{6 \left(1 + \beta\right)}"),
        (1 / (sympy.Rational(1, 2) + beta), "1/(1/2 + beta)", None),
        (-1.5 * eta, "-1.5 eta", None),
        (2**eta * 3 * beta, "3 beta 2^eta", None),
        (2 * 3**eta, "2 3^eta", r"2 \cdot 3^{\eta}"),
        (sympy.Mul(beta, 2 * eta, evaluate=False), "2 eta beta", None),
        (eta ** sympy.Rational(3, 2), "eta^(3/2)", None),
        (sympy.Max(eta, 1) * beta, "beta max(1, eta)", None),
    ):
        assert plain(expr, table) == text
        assert typeset is None or latex(expr, table) == typeset


def test_what_is_written_says_what_is_meant():
    """Read back, every side of every line and every definition is the formula it was."""
    for claim in discover.claims():
        letters = {name: entry.symbol for name, entry in claim.table.items()}
        formulas = [side for a, _, b in claim.lines for side in (a, b)]
        for expr in [*formulas, *claim.definitions.values()]:
            if expr.has(sympy.Piecewise):
                continue
            text = plain(expr, claim.table)
            words = text.replace("^", "**").replace(", ", ",").replace(" ", "*")
            words = words.replace("*+*", "+").replace("*-*", "-")
            found = read(ast.parse(words, mode="eval").body, letters)
            assert found == expr or sympy.simplify(found - expr) == 0, (claim.id, text)


OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
FUNCTIONS = dict(
    max=sympy.Max, min=sympy.Min, exp=sympy.exp, log=sympy.log, sqrt=sympy.sqrt, Abs=sympy.Abs
)


def read(node, letters):
    """The formula that a syntax tree of it says."""
    if isinstance(node, ast.Constant):
        return sympy.Integer(node.value)
    if isinstance(node, ast.Name):
        return letters[node.id]
    if isinstance(node, ast.UnaryOp):
        return -read(node.operand, letters)
    if isinstance(node, ast.Call):
        return FUNCTIONS[node.func.id](*(read(part, letters) for part in node.args))
    return OPERATIONS[type(node.op)](read(node.left, letters), read(node.right, letters))
