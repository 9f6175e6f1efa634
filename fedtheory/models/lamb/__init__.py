"""Models of instances in the letters of FED-LAMB.

One iteration from a known start (`round`) and a few rounds (`run`) are followed on losses of
bounded gradient, because the paper's H2 bounds the norm of a stochastic gradient over all of R^d.
`broken` says which hypotheses an instance may break.
"""

CALLED = dict(
    noise="noise of a gradient",
    x="the start",
    phi="least and largest scale of a layer's step",
    layers="layers, by their coordinates",
    copies="copies of each client",
    S="clients who take part, the first ones, always the same",
    reset="m begins each round at 0",
    epsilon="what is added to the root of v",
    turn="cosine and sine by which the first and the last coordinate are turned",
    t="iterations before the one that is looked at",
)
