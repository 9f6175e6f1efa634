"""Models of instances in no paper's letters: runs of any method, points, vectors, numbers.

`run`, `run_large` and `run_methods` have whole runs by kernels, `run_cohort` and `run_cohort_large`
the gradients of a cohort at one point, `run_points` one loss at two points, `vectors` random
vectors, `numbers` nothing but free numbers. Modules that begin with an underscore are parts of
these. A claim in the neutral table's letters is asked here.
"""

CALLED = dict(
    x_0="the start",
    noise="noise of a gradient",
    convex="",  # empty: the printed losses show whether they are convex
    lipschitz="",
)
