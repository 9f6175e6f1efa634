"""What a recursion bounds before anything is dropped: means over rounds of expectations."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fedtheory.claim import Claim
from fedtheory.symbols.mixed import mean_gap, mean_sq_grad

if TYPE_CHECKING:
    import sympy

MEAN = (
    "The recursion, summed over rounds, bounds this mean; what the statement measures is below it."
)


def from_mean(theorem: str, case: str) -> tuple[str, ...]:
    """Return the ids from which a companion claim follows: the same bound on the mean over rounds,
    and a textbook fact. The result is () for a weighted mean point, for which there is no such
    companion."""
    fact = {"convex": "textbook.convex_mean", "nonconvex": "textbook.smallest"}
    return (f"{theorem}_{case}_mean", fact[case]) if case in fact else ()


def of_mean(claim: Any, mean: "sympy.Symbol", meaning: str, follows: Sequence[str] = ()) -> Any:
    """Build a companion claim with the same bound on the mean over x^(0), ..., x^(T). This mean is
    at least what `claim` measures: the least value, or f at the points' mean where f is convex."""
    return Claim(
        id=claim.id.replace("_explicit", "_mean"),
        cites=f"{claim.cites}, of the mean over rounds",
        algorithm=claim.algorithm,
        symbols=claim.table.whole,
        assumes=claim.assumes,
        unstated=claim.unstated,
        measures=mean,
        bound=claim.bound,
        weakened=claim.weakened,
        meaning=meaning,
        note=MEAN,
        follows=follows,
    )


def explicit_of(statements: Sequence[Any]) -> dict[str, Any]:
    """Return {case: companion with explicit constants} of a theorem's statements."""
    return {c.id.split("_")[1]: c for c in statements if c.id.endswith("_explicit")}


def with_means(
    statements: Sequence[Any], rounds: Mapping[str, tuple[str, str]] | None = None
) -> tuple[Any, ...]:
    """Return a theorem's statements followed by the bounds on means over rounds that its proof
    shows. `rounds` gives for each case the id of the step of one round, where there is one."""
    rounds = rounds or {}
    explicit = explicit_of(statements)
    return (
        *statements,
        of_mean(
            explicit["convex"],
            mean_gap,
            "The same of the mean of the expected errors, which that of the mean point is below.",
            rounds.get("convex", ()),
        ),
        of_mean(
            explicit["nonconvex"],
            mean_sq_grad,
            "The same of the mean of the expected squared gradients.",
            rounds.get("nonconvex", ()),
        ),
    )
