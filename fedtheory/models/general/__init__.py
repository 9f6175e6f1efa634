"""Models of instances in no paper's letters: runs of any method, points, vectors, numbers."""

CALLED = dict(
    x_0="the start",
    noise="noise of a gradient",
    convex="",  # empty: the printed losses show whether they are convex
    lipschitz="",
)
