"""How much of a number is enough: what is proved, and what only follows from steps that hold by
search."""

from fedtheory.verdicts import worst_case_bounds
from tests.verdicts.test_sharpening import of


def test_what_proved_steps_lead_to_is_proved():
    """E||T_5||^2 of (22): K sigma^2/S is the variance of a mean over S clients of K draws, no less."""
    only = lambda part: part.name == "K sigma^2/S, line 3"
    (part,) = of("fsl.step22", budget=0.5, only=only).values()
    assert 0.99 < part.refuted < part.proved == 1 and part.follows is None
    assert part.says == "needed between 0.999 and 1"


def test_what_follows_from_steps_that_hold_by_search_is_no_proof(monkeypatch):
    """4 of proposition D.6 follows from D.5, which needs convexity: nothing proves it but the worst-case
    program of `test_programs`, which is left out here."""
    monkeypatch.setattr(worst_case_bounds, "parse_question", lambda claim, line: None)
    (part,) = of("mixed.propD6", budget=0.3, only=lambda part: part.kind == "constant").values()
    assert part.proved is None and part.document is None and 3.9 < part.refuted < part.follows == 4
    assert part.says.endswith("; 4 follows from steps that hold by search")
