"""LaTeX of counterexamples: whole, and by TeX itself where it is at hand."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from sympy import Eq

import fedtheory as ft
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import CONVEX, EXACT_GRADIENTS, LIPSCHITZ
from fedtheory.rendering.formulas import LatexWriter, plain_letter, typeset_number, write_formula
from fedtheory.rendering.mail import (
    break_terms,
    counterexample_latex,
    display_formula,
    formula_latex,
)
from fedtheory.rendering.picture import draw_counterexample
from fedtheory.symbols import run as house

SHIPPED = json.loads(
    (Path(__file__).parents[1] / "second_opinion" / "certificates.json").read_text()
)
ARTICLE = r"""\documentclass{article}\usepackage{amsmath,amssymb}\begin{document}
%s
\end{document}"""


def whole(text):
    """Whether braces, brackets that grow, environments and dollars are closed."""
    plain = re.sub(r"\\[{}$]", "", text)
    depth = 0
    for found in re.finditer(r"[{}]", plain):
        depth += 1 if found[0] == "{" else -1
        assert depth >= 0
    return (
        depth == 0
        and len(re.findall(r"\\left\b", text)) == len(re.findall(r"\\right\b", text))
        and re.findall(r"\\begin{(\w+\*?)}", text).sort()
        == re.findall(r"\\end{(\w+\*?)}", text).sort()
        and plain.count("$") % 2 == 0
    )


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_it_is_whole(name):
    text = counterexample_latex(SHIPPED[name])
    assert text and whole(text) and not re.search(r"\^{[^{}]*}\^", text)


def test_lemma_1_by_hand():
    text = counterexample_latex(SHIPPED["lamb.lemma1"])
    bound = r"\frac{p M^{2} \alpha_r^{2} \phi_M^{2} \left(1 - \beta_2\right)}{v_0}"
    assert rf"\[ \|\overline{{\theta_r}}-\theta_{{r,i}}\|^2 \le {bound} \]" in text
    assert r"$f_{1}(x) = -x$, $f_{2}(x) = 0$, $f_{3}(x) = x$" in text
    assert r"client 1: $0 \to 1$, with gradients $-1$" in text
    assert r"\[ 1 \le \frac{1}{5019}, \]" in text


def test_numbers_letters_and_formulas():
    assert (
        typeset_number("-3/4") == r"-\frac{3}{4}"
        and typeset_number("2.5e-07") == r"2.5 \cdot 10^{-7}"
    )
    assert typeset_number("404405464290633445/4503599627370496") == "89.796052"
    assert (
        plain_letter("eps_grad") == r"\mathrm{eps}_{\mathrm{grad}}"
        and plain_letter("f_1") == "f_{1}"
    )
    assert formula_latex("1/2 (x2 - 1)+^2 + log(1 + exp(x1))") == (
        r"\frac{1}{2} (x_{2} - 1)_+^2 + \log(1 + \exp(x_{1}))"
    )
    square = [["symbol", [], "a"], ["power", [0], ["2", True]], ["power", [1], ["2", True]]]
    assert write_formula(square, {}, LatexWriter({})) == r"\left(a^{2}\right)^{2}"


def test_wide_lines_break_between_terms_alone():
    line = r"a \le \left(b + c\right) + \frac{d + e}{f} - g"
    assert [*break_terms(line)] == ["a", r" \le \left(b + c\right)", r" + \frac{d + e}{f}", " - g"]
    wide = " + ".join(f"x_{{{n}}} y_{{{n}}} z_{{{n}}}" for n in range(30))
    assert display_formula(wide).startswith("\\begin{multline*}") and whole(display_formula(wide))


def test_existence_is_shown_by_an_instance():
    """One step of length 1/L on L x^2 / 2 ends at the minimiser; with nothing gained asked for, 0 >= 0."""
    told = dict(symbols=house.TABLE, algorithm="fedsgd", kind="existence", relation=">=")
    steps = Eq(house.eta * house.L, 1), Eq(house.S, house.N), Eq(house.T, 1)
    shown = ft.check(
        Claim(
            id="mine.exists",
            cites="a test",
            assumes=(LIPSCHITZ, CONVEX, EXACT_GRADIENTS, *steps),
            measures=house.gap_T,
            bound=house.L * house.sq_distance_0 / 7,
            **told,
        ),
        budget=1,
    )
    text = shown.to_latex()
    assert shown.status == "proved" and whole(text)
    assert text.startswith("There is an instance, as mine.exists says, for which")
    assert r"\ge \frac{1}{7}" in text and "which is true." in text and "fails" not in text
    assert "item round 1: client 1" in text and "<svg" in draw_counterexample(shown.certificate)


def test_only_counterexamples_are_told():
    proof = ft.check("fsl.gradient_identity", budget=1)
    assert proof.to_latex() == "" == counterexample_latex(None)
    assert (
        draw_counterexample(proof.certificate) == draw_counterexample(None) == ""
        and "<svg" not in proof._repr_html_()
    )


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX at hand")
def test_tex_takes_all_of_it(tmp_path):
    (tmp_path / "all.tex").write_text(
        ARTICLE % "\n\n".join(map(counterexample_latex, SHIPPED.values()))
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        errors="replace",
    )
    assert done.returncode == 0, done.stdout[-1500:]
