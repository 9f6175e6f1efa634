"""`sharpen`: the value that a statement needs of each of its numbers.

From below: for each constant, term and exponent, the search looks for the instance that needs the
largest value. A variant with a smaller value is violated at this instance, by a certificate that
replays (`necessary_values.py`). From above: where algebra or a worst-case program proves the line,
`sharpen` finds the smallest value with which the proof still succeeds, with its document
(`sufficient_values.py`, `worst_case_bounds.py`). For ceilings of hypotheses, and for terms that
lower a bound, the directions are reversed: the largest value that nothing refutes is sought.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from fedtheory import arguments, discover, terminal
from fedtheory.display import Shown
from fedtheory.language.claim import Claim
from fedtheory.search.optimizer import budget_to_units
from fedtheory.verdicts.ceilings import CeilingSearch
from fedtheory.verdicts.exploration import Explorer, require_choice, require_relations
from fedtheory.verdicts.necessary_values import NumberSearch, PartSearch, Sharpened, as_fraction
from fedtheory.verdicts.perturbations import INEQUALITIES, Part, list_parts
from fedtheory.verdicts.sufficient_values import ProofSearch


@dataclass(repr=False)
class Sharpening(Shown):
    """The result of `sharpen`: `parts` holds one Sharpened for each number."""

    claim: str
    parts: list[Sharpened] = field(default_factory=list)

    def heading(self) -> str:
        return f"What {self.claim} needs of its numbers"

    def facts(self) -> dict[str, str]:
        return {part.name: part.says for part in self.parts}

    def __repr__(self) -> str:
        return f"<{self.heading()}: {len(self.parts)} looked at>"

    def __str__(self) -> str:
        return "\n".join([f"{self.claim}:", *(f"  {part}" for part in self.parts)])

    def as_dict(self) -> dict:
        return dict(claim=self.claim, parts=[part.as_dict() for part in self.parts])


def sharpen(
    claim: Claim | str,
    budget: float = 60.0,
    seed: int = 0,
    progress: Callable | bool | None = None,
    only: Callable[[Part], bool] = lambda part: True,
) -> Sharpening:
    """Return how much a claim needs of each constant, term, exponent and upper limit.

    For each of these numbers, two values enclose what is needed: with the one, a counterexample
    refutes the claim; with the other, a document proves it. `budget` is in seconds of one core for
    all numbers together, counted as work; the worst-case programs and proofs from above use a part
    of each number's share. `only` selects the parts, and `progress=True` shows the progress.
    Worst-case programs are solved if the extra `pep` is installed. Without this extra, the
    example's 4 rests on steps that are only upheld by search.

    The Sharpening has a Sharpened per selected part, none if `only` selects none. Raises
    InvalidInput for a claim that is no inequality, and for an `only` that is not callable.

    >>> import fedtheory as ft
    >>> found = ft.sharpen("mixed.propD6", budget=1, only=lambda part: part.kind == "constant")
    >>> print(*found.parts)
    4 in 4 beta gap: needed between 3.99 and 4
    """
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    asked = discover.claim(claim)
    said = terminal.progress_callback(progress, f"parts of {asked.id}")
    require_relations(asked, "sharpen", "an inequality", INEQUALITIES)
    require_choice(only, "parts")
    made = [part for part in list_parts(asked) if only(part)]
    if not made:
        return Sharpening(asked.id)
    explorer = Explorer(asked, budget, seed, work=budget_to_units(budget))
    proofs = ProofSearch(asked, budget, seed)
    decide = lambda part, share: sharpen_part(explorer, proofs, part, share)
    return Sharpening(asked.id, explorer.explore(made, decide, progress=said))


def sharpen_part(
    explorer: Explorer, proofs: ProofSearch, part: Part, share: float
) -> tuple[Sharpened, float]:
    """Return what is known of one part, and the units of work spent.

    A ceiling of a hypothesis is searched in the other direction than a number of the right side.
    The share that the search leaves unspent goes to the proofs from above.
    """
    found = Sharpened(part.name, part.kind, part.line, as_fraction(part.printed))
    before, reserved = proofs.spent, proofs.reserve(part, share)
    kind: type[PartSearch] = CeilingSearch if part.kind == "ceiling" else NumberSearch
    search = kind(explorer, part, found, share - reserved)
    search.run()
    proofs.improve(part, found, max(reserved, share - search.cost))
    return found, search.cost + proofs.spent - before
