"""What a recursion bounds before anything is dropped: means over rounds of expectations."""

from fedtheory.claim import Claim
from fedtheory.symbols.mixed import mean_gap, mean_sq_grad

MEAN = (
    "The recursion, summed over rounds, bounds this mean; what the statement measures is below it."
)


def from_mean(theorem, case):
    """What a companion follows from: the same bound on the mean over rounds. A weighted mean point
    has no companion like that: ()."""
    fact = {"convex": "textbook.convex_mean", "nonconvex": "textbook.smallest"}
    return (f"{theorem}_{case}_mean", fact[case]) if case in fact else ()


def of_mean(claim, mean, meaning, follows=()):
    """A companion with the same bound on the mean over x^(0), ..., x^(T), which is no less than what
    the companion measures: the least, or f at the points' mean where f is convex."""
    return Claim(
        id=claim.id.replace("_explicit", "_mean"),
        cites=f"{claim.cites}, of the mean over rounds",
        algorithm=claim.algorithm,
        symbols=claim.table.whole,
        assumes=claim.assumes,
        unstated=claim.unstated,
        measures=mean,
        bound=claim.bound,
        teeth=claim.teeth,
        meaning=meaning,
        note=MEAN,
        follows=follows,
    )


def explicit_of(statements):
    """case -> the companion with its constants, of a theorem's statements."""
    return {c.id.split("_")[1]: c for c in statements if c.id.endswith("_explicit")}


def with_means(statements, rounds=None):
    """A theorem's statements, and what its proof bounds: means over rounds. `rounds` names the step
    of one round, case by case, where there is one."""
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
