"""`sharpen`: the value that a statement needs of each of its numbers.

From below: for each constant, term and exponent, the search looks for the instance that needs the
largest value. A variant with a smaller value is violated at this instance, by a certificate that
replays (`necessary_values.py`). From above: where algebra or a worst-case program proves the line,
`sharpen` finds the smallest value with which the proof still succeeds, with its document
(`sufficient_values.py`, `worst_case_bounds.py`). For ceilings of hypotheses, and for terms that
lower a bound, the directions are reversed: the largest value that nothing refutes is sought.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from fedtheory import arguments, discover, terminal
from fedtheory.display import Shown
from fedtheory.errors import InvalidInput, article, refuse
from fedtheory.search.optimizer import PER_SECOND, budget_to_units
from fedtheory.verdicts.mutation_testing import Pool
from fedtheory.verdicts.necessary_values import Ceiling, Less
from fedtheory.verdicts.perturbations import list_parts
from fedtheory.verdicts.sufficient_values import Enough


@dataclass(repr=False)
class Sharpened(Shown):
    """The known needs of a statement for one of its numbers.

    `refuted` is the largest value that a certificate refutes. `proved` is the smallest value with a
    document. `follows` is the smallest value with which the line follows from the steps of the
    text's proof, some of which are only upheld by search. Where `most` is set, largest and smallest
    change places. Each of the three is None where no such value is known.
    """

    name: str
    kind: str  # "constant", "term", "exponent" or "ceiling"
    line: int
    printed: Fraction
    refuted: Fraction | None = None
    proved: Fraction | None = None
    follows: Fraction | None = None
    most: bool = False  # whether a smaller value weakens the statement: a gain, or a ceiling
    certificate: dict | None = None  # refutes the variant with the value `refuted`
    document: dict | None = None  # proves the variant with the value `proved`
    why: str = ""  # the reason if nothing was searched

    def heading(self):
        return f"Sharpened {self.kind}"

    def facts(self):
        return {self.name: self.says}

    @property
    def needed(self):
        """Tell whether the statement is refuted when the number is removed."""
        return self.refuted is not None and not self.most

    def __str__(self):
        return f"{self.name}: {self.says}"

    @property
    def says(self):
        """Return words for how much of the number is needed."""
        if self.why:
            return self.why
        low, high = decimal_text(self.refuted), decimal_text(self.proved)
        if self.most:
            return self._at_most(low, high)
        if self.refuted is None:
            return "not needed" if self.proved == 0 else "nothing shows that it is needed"
        return f"needed between {low} and {high}" if high else f"needed above {low}{self._steps()}"

    def _at_most(self, low, high):
        times = " times as far" if self.kind == "ceiling" else ""
        if self.refuted is None:
            return "nothing refutes more of it" if not times else "nothing refutes more"
        return f"at most between {high or decimal_text(self.printed)} and {low}{times}"

    def _steps(self):
        if self.follows is None:
            return "; nothing proves how much is enough"
        return f"; {decimal_text(self.follows)} follows from steps that hold by search"

    def as_dict(self):
        text = lambda value: None if value is None else str(value)
        return dict(
            name=self.name,
            kind=self.kind,
            line=self.line,
            printed=text(self.printed),
            refuted=text(self.refuted),
            proved=text(self.proved),
            follows=text(self.follows),
            most=self.most,
            certificate=self.certificate,
            document=self.document,
            why=self.why,
        )


@dataclass(repr=False)
class Sharpening(Shown):
    """The result of `sharpen`: `parts` holds one Sharpened for each number."""

    claim: str
    parts: list = field(default_factory=list)

    def heading(self):
        return f"What {self.claim} needs of its numbers"

    def facts(self):
        return {part.name: part.says for part in self.parts}

    def __repr__(self):
        return f"<{self.heading()}: {len(self.parts)} looked at>"

    def __str__(self):
        return "\n".join([f"{self.claim}:", *(f"  {part}" for part in self.parts)])

    def as_dict(self):
        return dict(claim=self.claim, parts=[part.as_dict() for part in self.parts])


def sharpen(claim, budget=60.0, seed=0, progress=None, only=lambda part: True):
    """Return the Sharpening of a claim: how much the claim needs of each constant, term, exponent
    and upper limit.

    `budget` is in seconds of one core, counted as work. `only` selects the parts, and
    `progress=True` shows the progress. Worst-case programs are solved if the extra `pep` is
    installed. Without this extra, the example's 4 rests on steps that are only upheld by search.

    >>> import fedtheory as ft
    >>> found = ft.sharpen("mixed.propD6", budget=1, only=lambda part: part.kind == "constant")
    >>> print(*found.parts)
    4 in 4 beta gap: needed between 3.99 and 4
    """
    budget, seed = arguments.check_budget(budget), arguments.check_seed(seed)
    claim = discover.claim(claim)
    progress = terminal.progress_callback(progress, f"parts of {claim.id}")
    if not any(sign in ("<", "<=", ">", ">=") for _, sign, _ in claim.lines):
        raise InvalidInput(
            f"sharpen takes a claim with an inequality; {claim.id} is {article(claim.kind)}"
        )
    if not callable(only):
        refuse("only", "must be a function that picks parts", only)
    made = list(filter(only, list_parts(claim)))
    if not made:
        return Sharpening(claim.id)
    pool, enough, found = Pool(claim, budget, seed), Enough(claim, budget, seed), []
    left = budget_to_units(budget) - pool.work / PER_SECOND
    for n, part in enumerate(made):
        share = max(0.0, left - enough.spent) / (len(made) - n)
        printed = Fraction(int(part.printed.p), int(part.printed.q))
        one = Sharpened(part.name, part.kind, part.line, printed)
        search, kept = Ceiling if part.kind == "ceiling" else Less, enough.kept(part, share)
        spent = search(claim, part, pool, one, share - kept, seed).purse.cost
        enough.ask(part, one, max(kept, share - spent))
        left -= spent
        found.append(one)
        if progress:
            progress(n + 1, len(made), one)
    return Sharpening(claim.id, found)


def decimal_text(value):
    return None if value is None else f"{float(value):.6g}"
