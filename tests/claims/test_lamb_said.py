"""What FED-LAMB's text says between its theorems, against a second transcription in floats of double length."""

from fractions import Fraction as Q

import mpmath
import pytest

import fedtheory as ft
from fedtheory.claims.lamb import said

V = dict(
    M=Q(1, 2),
    p=16,
    p_more=81,
    n=4,
    h=4,
    h_more=9,
    R=25,
    T=3,
    alpha=Q(1, 7),
    a=Q(3, 2),
    phi_m=Q(1, 4),
    phi_M=Q(3, 2),
    sigma=Q(2, 3),
    beta_1=Q(0),
    beta_2=Q(3, 4),
    v_0=Q(4, 9),
    L_l=Q(5),
    L_bar=Q(6),
    f_excess=Q(9, 4),
    norm_layer=Q(6, 5),
    grad_by_v=Q(9, 16),
)


def of_5(h):
    """sqrt(p/n)/sqrt(h R) + sigma^2/(R n sqrt p) + (T - 1)^2 p/(h^3 R^(3/2)): 2/(5 sqrt h), (4/9)/400 and
    64/(125 h^3)."""
    return 2 / (5 * mpmath.sqrt(h)) + mpmath.mpf(4) / 3600 + mpmath.mpf(64) / (125 * h**3)


def of_4(alpha, h, p=16):
    M, phi, s2, root_v = (
        mpmath.mpf(q.numerator) / q.denominator for q in (Q(1, 2), Q(3, 2), Q(4, 9), Q(2, 3))
    )
    start = mpmath.sqrt(M**2 * p / 4) * mpmath.mpf("2.25") / (h * alpha * 25)
    noise = phi * s2 / 100 * mpmath.sqrt(mpmath.mpf("0.25") / (M**2 * p))
    drift = alpha**2 * 5 / root_v * M**2 * 4 * phi**2 * mpmath.mpf("0.25") * p
    inside = drift + M**2 / root_v + phi**2 * mpmath.sqrt(M**2 + p * s2) + phi * h * s2 / 2
    return start + noise + 4 * alpha * inside


def floor(h):
    """4 alpha times the bracket at alpha = 3/(10 sqrt h), and 2/3 the root of v_0."""
    alpha = mpmath.mpf(3) / (10 * mpmath.sqrt(h))
    M, phi, s2 = mpmath.mpf("0.5"), mpmath.mpf("1.5"), mpmath.mpf(4) / 9
    drift = alpha**2 * 5 * mpmath.mpf("1.5") * M**2 * 4 * phi**2 * 4  # (1 - 3/4) 16 = 4
    scales = M**2 * mpmath.mpf("1.5") + phi**2 * mpmath.sqrt(M**2 + 16 * s2)
    return 4 * alpha * (drift + scales + phi * h * s2 / 2)


SEVENTH = mpmath.mpf(1) / 7
lost = 6 * SEVENTH**2 / 4 * mpmath.mpf("2.25") * mpmath.mpf("0.25") * 16 / (mpmath.mpf(4) / 9)
root = mpmath.sqrt
# id -> left side (None where it is a measured symbol), right side
SIDES = {
    "lamb.theorem1_no_cst": (None, of_4(SEVENTH, 4)),
    "lamb.contribution_rate": (None, mpmath.mpf(1) / 5),
    "lamb.lemma2_typed": (None, mpmath.mpf(3) / 8 - lost),
    "lamb.identity_scale": (mpmath.mpf(6) / 5, mpmath.mpf(3) / 2),
    "lamb.dominated": (of_5(4), 3 * mpmath.mpf(4) / 10),
    "lamb.dominated_local_ams": (
        mpmath.mpf(2) / 5 * (1 + mpmath.mpf(4) / 9) + mpmath.mpf(16) / 25,
        (2 + mpmath.mpf(4) / 9) * 2 / 5,
    ),
    "lamb.acceleration": (mpmath.mpf(4) / 3600, mpmath.mpf(2) / 5 * 4 / 9),
    "lamb.fewer_rounds": (5 * root(2), mpmath.mpf(100) ** mpmath.mpf("0.75")),
    "lamb.fewer_rounds_whole": (
        5 * mpmath.mpf(64) ** mpmath.mpf("0.25") / mpmath.mpf(4) ** mpmath.mpf("1.25"),
        mpmath.mpf(100) ** mpmath.mpf("0.75") / 2,
    ),
    "lamb.decreases_in_h": (of_5(9), of_5(4)),
    "lamb.theorem1_decreases_in_h": (floor(9), floor(4)),
    "lamb.root_p": (mpmath.mpf(9) / 4 * mpmath.mpf("2.25") * 7 / 100, mpmath.mpf("2.25") * 7 / 100),
}
LINED = [claim for claim in said.CLAIMS if claim.lines]


@pytest.mark.parametrize("claim", LINED, ids=lambda c: c.id)
def test_lines_agree_with_the_text(claim):
    left, right = SIDES[claim.id]
    values = {name: V[name] for name in claim.symbols if name in V}
    assert float(claim.evaluate(values, strict=False)) == pytest.approx(float(right), rel=1e-12)
    if left is not None:
        found = float(claim.evaluate_left(values, strict=False))
        assert found == pytest.approx(float(left), rel=1e-12)


def test_every_sentence_has_its_numbers():
    assert set(SIDES) == {claim.id for claim in LINED}


def test_what_a_client_sends():
    assert ft.claim("lamb.vectors_sent").cells() == [("FED-LAMB", 1, 2), ("SCAFFOLD", 2, 2)]


def test_nothing_in_the_place_of_the_constant_is_too_little():
    """One client, layer, coordinate and step; gradient x/w held to [-1, 1] with w = 1/1000, from 1/20 + w, alpha = 1/20,
    v_0 = 1: the step leads to w, where the gradient is 1 and f is w/2 above its minimum. The mean of squares is 1;
    (4) without a constant is (w/2) 20 + 4 (1 + 1)/20 = 41/100."""
    claim, w = ft.claim("lamb.theorem1_no_cst"), Q(1, 1000)
    values = dict(n=1, h=1, p=1, T=1, R=1, M=1, sigma=0, beta_1=0, beta_2=Q(1, 2), v_0=1)
    values.update(alpha=Q(1, 20), phi_m=1, phi_M=1, L_l=1 / w, L_bar=1 / w, f_excess=w / 2)
    needed = {name: values[name] for name in claim.needs(claim.bound)}
    assert claim.evaluate(needed, strict=False).exact == Q(41, 100) < 1
