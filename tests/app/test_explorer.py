"""Bounds that sliders move: the page computes what Python does, from the claim's own record."""

import json
import math
from fractions import Fraction

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.app import package
from fedtheory.arithmetic.intervals import Enclosures
from fedtheory.arithmetic.operations import BITS
from fedtheory.verdicts import slider_data
from tests.app.test_package import CHROMIUM, book_of, entry, rendered

# Numbers that are typed into the page's fields, and those that equations of the claim then fix, by hand
FSL = dict(G="3/7", K="3", K_0="2", L="1/9", N="20", S="7", T="50", eta_g="2", eta_l="1/31")
FSL |= dict(gamma="1/3", sigma="0.7", sigma_0="5", tilde_D_0="11/10", xi_bar="0")
MIXED = dict(B="2", D_sq="3/2", G="0.25", K="5", S="3", T="400", beta="1/67", eta_c="1/480")
MIXED |= dict(eta_m="10", eta_s="3/2", sigma="1/7", sigma_c="13")
LAMB = dict(L_l="2/3", M="3/25", R="70", T="4", alpha="1/50", beta_2="4/5", cst="1", f_excess="9/8")
LAMB |= dict(h="3", n="11", p="6", phi_M="1", sigma="1/2", v_0="1/5")
TRIED = {
    "fsl.theorem2": (FSL, dict(eta_0=Fraction(3 * 2, 2 * 31))),  # K eta_l eta_g = K_0 eta_0
    "mixed.theoremB1_convex_explicit": (MIXED, dict(eta=Fraction(1, 480) / Fraction(3, 2))),
    "lamb.theorem1": (LAMB, dict(beta_1=0, lambda_=0)),
}


@pytest.mark.skipif(not CHROMIUM, reason="needs a browser")
@pytest.mark.parametrize("name", TRIED)
def test_the_page_computes_what_python_does(name, tmp_path):
    values, fixed = TRIED[name]
    (tmp_path / "index.html").write_bytes(package.render_page(book_of(entry(name))))
    at = ",".join(f"{symbol}:{text}" for symbol, text in values.items())
    found = rendered(tmp_path, f"open={name}&at={at}")
    fields = {f["data-name"] for f in found.all("input") if "data-name" in f}
    assert fields == set(values)
    told = float(found.words[found.words.index("right side: ") + 1])
    numbers = {symbol: Fraction(text) for symbol, text in values.items()} | fixed
    mine = ft.claim(name).evaluate(numbers, strict=False)
    assert math.isclose(told, mine, rel_tol=1e-12), (told, mine)
    failing = ft.claim(name).admits(numbers)
    said = [words for words in found.words if words.startswith("outside its hypotheses")]
    assert bool(said) == bool(failing)


def run(program, values):
    """A program of the page on exact numbers, as the library runs those of records."""
    from fedtheory import arithmetic

    typed = tuple(
        (
            op,
            tuple(operands),
            Fraction(detail)
            if op == "number"
            else (Fraction(detail[0]), detail[1])
            if op == "power"
            else detail,
        )
        for op, operands, detail in program
    )
    return arithmetic.execute_program(
        typed, Enclosures(BITS), {n: (v, v) for n, v in values.items()}
    )


@pytest.mark.parametrize(
    "name", [*TRIED, "fsl.theorem1", "flex.theorem3_1", "mixed.theoremB2_strong"]
)
def test_what_a_bound_begins_with_lies_inside_its_hypotheses(name):
    data = slider_data.slider_data(discover.claim(name))
    if data is None:
        pytest.skip("an order has no numbers")
    values = {symbol: Fraction(text) for symbol, text in data["start"].items()}
    for symbol, program in data["solved"].items():
        values[symbol] = run(program, values)[0]
    assert all(run(program, values) is True for _, program in data["rules"])
    assert json.loads(json.dumps(data)) == data
    low, high = run(data["right"], values)
    assert low <= high and (high - low) <= abs(high) / 10**30


def test_most_bounds_can_be_moved_and_nothing_else():
    some = [c for c in discover.claims() if c.paper == "fsl"]
    moved = [c for c in some if slider_data.slider_data(c)]
    assert len(moved) > 40 and all(c.lines for c in moved)
    assert slider_data.slider_data(ft.claim("fsl.table3")) is None
    assert package.slider_json("no.such_claim") is None and package.slider_json("<x>") is None
