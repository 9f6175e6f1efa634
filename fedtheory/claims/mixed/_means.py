"""What a recursion bounds before anything is dropped: means over rounds of expectations."""

from fedtheory.claim import Claim

MEAN = (
    "The recursion, summed over rounds, bounds this mean; what the statement measures is below it."
)


def of_mean(claim, mean, meaning):
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
    )
