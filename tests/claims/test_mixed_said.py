"""What mixed FL's text says between its theorems, and the last constants of its proofs, against a second
transcription."""

import math
from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory.claims.mixed import said

V = dict(
    beta=Q(3),
    mu=Q(1, 2),
    eta=Q(1, 200),
    eta_s=Q(5, 2),
    K=4,
    K_more=9,
    S=5,
    N=8,
    sigma=Q(2),
    sigma_c=Q(1, 3),
    G=Q(3, 2),
    B=Q(7, 5),
    B_more=Q(2),
    D_sq=Q(9, 2),
    F=Q(7, 4),
    eps=Q(1, 4),
    eps_grad=Q(1, 9),
    ends=Q(1, 30),
    a=Q(2, 3),
    sq_i=Q(3),
    sq_j=Q(7, 2),
    sq_cross=Q(9, 4),
    mean_sq_change=Q(5, 4),
    sq_change_c=Q(1, 2),
    sq_grad=Q(5, 3),
    gap=Q(3, 7),
    sq_dist=Q(11, 4),
)
STEP = 4 * Q(5, 2) * Q(1, 200)  # K eta_s eta
NOISE = 2 * Q(4) / 20 + Q(1, 9)


def rate(method, case, variance, central, K=4):
    """Table 1's rounds, by hand."""
    leading = variance + (K * 5 if method == 2 else 5) * central
    if case == "convex":
        e, size, ends = 0.25, 4.5, 3 * 4.5 / 0.25
    else:
        e, size, ends = 1 / 9, 3 * 1.75, 3 * 1.75 * 9
    found = float(leading) * size / (K * 5 * e**2)
    return found + (1.5 * math.sqrt(3) / e**1.5 + 1.96 * ends if method == 1 else ends)


ORDER = [(1, "convex"), (1, "nonconvex"), (2, "convex"), (2, "nonconvex"), (3, "nonconvex")]
LINES = {
    "mixed.lemmaD9_ends": [
        (None, 4 * STEP**2 * 9 * Q(1, 30) + 2 * STEP**2 * NOISE + 2 * STEP**2 * Q(5, 3))
    ],
    "mixed.lemmaD10_ends": [
        (
            None,
            (1 - 3 * Q(1, 2) * STEP / 2) * Q(11, 4)
            - STEP * Q(3, 7)
            + Q(5, 16) / 30
            + 2 * STEP**2 * NOISE,
        )
    ],
    "mixed.stepD2_minus": [
        (None, Q(5, 3) * 3 + Q(5, 2) * Q(7, 2) - (2 * Q(2, 3) * 3 + 3 * Q(7, 2) - Q(9, 4)))
    ],
    "mixed.stepD5_typed": [((Q(5, 4) + Q(1, 2)) / 6, 0)],
    "mixed.stepD11_sum": [(Q(5, 4) ** 4 - 1, 2)],
    "mixed.stepB2_constants_convex": [
        (Q(5, 8) / 25 + Q(4, 20), Q(5, 20)),
        (Q(1, 10) + 2, 3),
        (Q(1, 10), Q(1, 5)),
    ],
    "mixed.stepB2_constants_nonconvex": [
        (Q(2, 27) / 25 + Q(1, 10), Q(3, 20)),
        (Q(8, 27) * Q(4, 25) + 1, 2),
        (Q(4, 243) * Q(4, 25), Q(1, 9)),
    ],
    "mixed.server_rate_readings": [(math.sqrt(25 / 8), 5 * math.sqrt(5 / 8))],
    "mixed.proportional_to_variance": [
        (rate(n, "convex", 8, Q(2, 9)), 2 * rate(n, "convex", 4, Q(1, 9))) for n in (3, 1, 2)
    ],
    "mixed.more_steps": [
        (rate(n, case, 4, Q(1, 9), 9), rate(n, case, 4, Q(1, 9)))
        for n, case in [(3, "convex"), *ORDER]
    ],
    "mixed.more_steps_one_way": [
        ((4 + 45 * Q(1, 9) * Q(4, 9)) / 45, Q(4, 9) * (4 + Q(20, 9)) / 20)
    ],
    "mixed.two_way_narrower": [(Q(1, 243), Q(1, 24)), (Q(1, 243), Q(1, 24)), (Q(1, 72), Q(1, 54))],
    "mixed.pt_ceiling_B": [(Q(1, 90), 1 / (18 * (1 + Q(49, 25))))],
}
LINED = [ft.claim(name) for name in LINES]


@pytest.mark.parametrize("claim", LINED, ids=lambda c: c.id)
def test_lines_agree_with_the_text(claim):
    assert len(LINES[claim.id]) == len(claim.lines)
    values = {name: V[name] for name in claim.symbols if name in V}
    for line, (left, right) in enumerate(LINES[claim.id]):
        found = float(claim.evaluate(values, strict=False, line=line))
        assert found == pytest.approx(float(right), rel=1e-12)
        if left is not None:
            found = float(claim.evaluate_left(values, strict=False, line=line))
            assert found == pytest.approx(float(left), rel=1e-12)


def test_every_sentence_has_its_numbers():
    assert set(LINES) >= {claim.id for claim in said.CLAIMS if claim.lines}


def test_the_numbers_of_c2_follow_from_each_other():
    cells = ft.claim("mixed.numbers_C2").cells()
    assert all(printed == computed for _, printed, computed in cells)
    users = [computed for cell, _, computed in cells if cell.startswith("MovieLens")]
    assert sum(users) == 4831 == 6040 * 4 // 5 - 1
