"""What a statement needs of its numbers, against closed forms: between what is refuted and what is
proved lies the truth, and every document replays."""

from fractions import Fraction as Q

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.errors import InvalidInput
from fedtheory.language import claim_validation
from fedtheory.language.claim import Claim
from fedtheory.language.symbol import Table
from fedtheory.verdicts.perturbations import list_parts

T = Table("mine")
a, b = T.positive("a", "a", "a number"), T.positive("b", "b", "another")
n = T.count("n", "n", "a count")
LOOSE = Claim(
    id="mine.loose", cites="Young", symbols=T, measures=(a + b) ** 2, bound=3 * a**2 + 3 * b**2
)


def of(claim, budget=3.0, **more):
    found = ft.sharpen(claim, budget=budget, **more)
    for part in found.parts:
        if part.certificate is not None:
            assert ft.replay(part.certificate)["status"] == "violated"
        if part.document is not None:
            assert ft.replay(part.document)["status"] == "proved"
    return {part.name: part for part in found.parts}


def test_constants_lie_between_what_is_refuted_and_what_is_proved():
    """(a + b)^2 <= c a^2 + 3 b^2 iff (c - 1) (3 - 1) >= 1: c = 3/2."""
    found = of(LOOSE)
    for part in (found["3 in 3 a^2"], found["3 in 3 b^2"]):
        assert Q(3, 2) - Q(2, 100) < part.refuted < Q(3, 2) <= part.proved < Q(3, 2) + Q(1, 10)
        assert part.needed and str(part).endswith(
            f"needed between {float(part.refuted):.6g} and {float(part.proved):.6g}"
        )


def test_a_term_for_nothing_is_not_needed():
    found = of(LOOSE.replace(name="mine.more", bound=2 * a**2 + 2 * b**2 + a * b))
    part = found["a b"]
    assert part.refuted is None and part.proved == 0 and not part.needed
    assert str(part) == "a b: not needed"


def test_there_may_be_more_of_what_lowers_a_bound():
    """(a + b)^2 <= 3 (a^2 + b^2) - g a b holds up to g = 2: 2 (a^2 + b^2) - 4 a b >= 0."""
    found = of(LOOSE.replace(name="mine.gain", bound=3 * a**2 + 3 * b**2 - a * b))
    part = found["a b"]
    assert part.most and Q(19, 10) <= part.proved <= 2 < part.refuted < Q(21, 10)


def test_exponents_of_counts():
    """a n^2 <= a n^3: of n, less than its square is refuted."""
    claim = Claim(id="mine.power", cites="counts", symbols=T, measures=a * n**2, bound=a * n**3)
    (part,) = of(claim, only=lambda p: p.kind == "exponent").values()
    assert part.printed == 3 and part.refuted is not None and part.refuted < 2


def test_parts_reach_into_definitions_and_leave_losses_alone():
    """Theorem 1 of FSL: 5 and 8, the 2 of Phi, 3 and 16 of h, the terms of Psi; not the loss."""
    found = list(list_parts(ft.claim("fsl.theorem1")))
    constants = {part.name.split(" in ")[0] for part in found if part.kind == "constant"}
    assert {"5", "8", "2", "16", "3", "4"} <= constants
    assert {"sigma^2/(K S), in Psi", "rho_s G^2/S, in Psi"} <= {part.name for part in found}
    assert not any("tilde_F" in part.name for part in found)
    assert len({part.name + part.kind for part in found}) >= len(found) - 2


def test_the_same_seed_gives_the_same():
    one, other = (ft.sharpen(LOOSE, budget=0.5, seed=3).as_dict() for _ in range(2))
    assert one == other


def test_what_has_no_inequality_is_refused():
    with pytest.raises(InvalidInput, match="an inequality"):
        ft.sharpen("fsl.table2")


@pytest.mark.slow
def test_every_part_of_every_claim_has_variants_by_names_of_their_own():
    """FSL's theorem 1 has terms whose text is longer than a name may be."""
    longest = 0
    for claim in (c for c in discover.claims() if c.lines):
        for part in list_parts(claim):
            names = [part.variant(part.printed * value).id for value in (Q(1, 2), Q(3, 4))]
            assert len({*names, claim.id}) == 3
            longest = max(longest, len(part.name))
    assert longest > claim_validation.LONGEST
