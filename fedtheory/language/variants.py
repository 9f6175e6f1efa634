"""Variants of a claim: other sides, other hypotheses, fewer hypotheses."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory.errors import refuse
from fedtheory.language import claim_validation, names, statements
from fedtheory.language.conditions import Assumption

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

ANY = "any_"  # prefix of a constant that no hypothesis certifies any more
# endings of the names of a claim's readings; a hypothesis follows the second one
PRINTED, WITHOUT = "!printed", "!without "
GAP = "..."  # replaces the middle of a name that is too long
DENIED = "!denied"  # ending of the name of the denial of a statement of existence
# A claim's fields besides its statement.
RECORD = (
    *("id", "cites", "paper", "symbols", "meaning", "note", "figure", "algorithm"),
    *("assumes", "unstated", "dropped", "follows"),
)


class ClaimVariants:
    """The methods of a Claim that return variants; the claim itself is unchanged."""

    # the fields of Claim that these methods read
    id: str
    lines: Any
    bound: Any
    statement: Any
    follows: Any
    assumptions: Any
    assumes: Any
    unstated: Any
    dropped: Any
    table: Any
    parameters: Any
    expand: Callable[..., Any]

    def replace(self, name: Any = None, assumptions: Any = None, **changes: Any) -> Any:
        """Return a variant with `bound`, `measures`, ... replaced; the claim itself is unchanged.

        `assumptions`, if given, are all its hypotheses; `name` is its id. Raises InvalidInput for
        an unknown field, and for what `Claim` refuses.

        >>> from fedtheory import claim
        >>> print(claim("mixed.propD6").replace("mine.half", bound=0))
        sq_grad <= 0
        """
        changes = statements.rename_old_words(f"{self.id}: replace", changes)
        known = (*RECORD, *statements.SHORT, "statement")
        unknown = sorted(set(changes) - set(known))
        if unknown:
            refuse("replace", f"takes name, assumptions, {', '.join(known)}", unknown)
        if assumptions is not None:
            assumptions = claim_validation.check_hypotheses(
                f"{self.id}: replace: assumptions", assumptions, True
            )
            changes.update(
                assumes=tuple(a for a in assumptions if not isinstance(a, Assumption) or a.stated),
                unstated=tuple(
                    a for a in assumptions if isinstance(a, Assumption) and not a.stated
                ),
            )
        if self.lines and changes.get("bound", self.bound) is None:
            refuse(
                f"{self.id}: replace: bound",
                "must be an expression, as the claim has a bound",
                None,
            )
        mine = {field: getattr(self, field) for field in RECORD}
        words = {field: change for field, change in changes.items() if field in statements.SHORT}
        said = changes.get("statement", self.statement)
        if not words:
            mine["statement"] = said
        else:
            was = statements.to_keywords(said)
            for first in statements.FIRST if "lines" in words else ():
                was.pop(first, None)
            mine.update(was)
        given_anew = {**mine, **changes, "id": self.id if name is None else name}
        if "follows" in changes:
            return type(self)(**given_anew)
        # The premises of a line that the variant does not have are dropped.
        bare = type(self)(**{**given_anew, "follows": ()})
        kept = {n: some for n, some in self.follows.items() if n <= len(bare.lines)}
        return type(self)(**{**given_anew, "follows": kept}) if kept else bare

    def without(self, *names: str) -> "Claim":
        """Return the variant without the hypotheses with these names or places, such as "smooth" or
        "(11)". Raises InvalidInput for a name that no hypothesis has."""
        known = {label for a in self.assumptions for label in (a.name, a.where)}
        for name in names:
            if name not in known:
                refuse(
                    "without", f"takes assumptions of {self.id}: {', '.join(sorted(known))}", name
                )
        return self.under(
            [a for a in (*self.assumes, *self.unstated) if not {a.name, a.where} & set(names)]
        )

    @cached_property
    def as_printed(self) -> Any:
        """Return the claim with its stated hypotheses alone; the claim itself where the text states
        all hypotheses."""
        return self.under(self.assumes, self.name_variant(PRINTED)) if self.unstated else self

    @cached_property
    def lacking(self) -> "dict[Assumption, Claim]":
        """Return {unstated hypothesis: the claim without this hypothesis}."""
        if len(self.unstated) == 1:
            return {self.unstated[0]: self.as_printed}
        every = (*self.assumes, *self.unstated)
        return {
            lost: self.under(
                [a for a in every if a is not lost], self.name_variant(WITHOUT + lost.name)
            )
            for lost in self.unstated
        }

    def name_variant(self, ending: str) -> str:
        """Return the name of a variant, the claim's id with an ending. The middle of a name that is
        too long is left out, so that variants by a long formula still differ by its place and
        value."""
        name, room = names.tidy_name(self.id + ending), claim_validation.LONGEST - len(GAP)
        if len(name) <= claim_validation.LONGEST:
            return name
        return name[: room // 2] + GAP + name[len(name) - (room - room // 2) :]

    def under(self, kept: Any, name: str | None = None) -> "Claim":
        """Return the variant that assumes only the hypotheses `kept` of this claim.

        A constant that none of these conditions certifies any more (G, once no condition bounds
        dissimilarity) becomes an arbitrary number: its symbol is replaced by one with the prefix
        ANY.
        """
        certified = lambda some: set(
            self.table.names_of_constants(
                {
                    constant
                    for a in some
                    if a.condition is not None
                    for constant in a.condition.constants
                }
            )
        )
        lost = certified(self.assumptions) - certified(kept)
        entries = [self.parameters[c] for c in sorted(lost & set(self.parameters))]
        gone = (*self.dropped, *(a for a in (*self.assumes, *self.unstated) if a not in kept))
        if not entries:
            return self.replace(name, kept, dropped=gone)
        free = {e.symbol: sympy.Symbol(ANY + e.name, **e.symbol.assumptions0) for e in entries}
        turned = lambda e: self.expand(e).xreplace(free)
        return self.replace(
            name,
            [a if a.relation is None else replace(a, holds=turned(a.holds)) for a in kept],
            statement=self.statement.map_expressions(turned),
            dropped=gone,
            symbols=self.table.extended(
                [
                    e._replace(symbol=free[e.symbol], meaning=f"any number for: {e.meaning}")
                    for e in entries
                ]
            ),
        )
