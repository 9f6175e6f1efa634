"""How far a run in floats may be from the run that a theorem speaks of."""

import math

import numpy as np

UNIT = 2.0**-53  # of rounding
# The numbers of methods that do no more than add gradients up, and clients' points with weights.
STEPS, COUNTS, WORDS = (
    ("eta_l", "eta", "eta_g", "eta_0", "gamma", "ratio"),
    ("K", "K_0", "E"),
    ("weighting", "option"),
)


class Rounding:
    """How far a run in floats may be from the run that a theorem speaks of, in the root of what is
    measured.

    Each gradient and each step errs by some units of rounding of what it adds; a step of size s
    from an L-smooth loss carries an error e on as at most (1 + 4 s L) e, with control variates too.
    Where a method does more than add gradients up, or no L is known, nothing is known of the error:
    it is infinite.
    """

    def __init__(self, problem, algorithm, hyper, rounds, metric):
        self.L = float(problem.constants["L"]) if "L" in problem.constants else math.inf
        plain = all(name in (*STEPS, *COUNTS, *WORDS) for name in algorithm.hyper)
        h = {
            name: hyper.get(name, field.default)
            for name, field in algorithm.hyper.items()
            if name not in WORDS
        }
        if not plain or any(np.ndim(value) or value is None for value in h.values()):
            self.L = math.inf
            return
        lean = (
            problem.N * float(problem.weights.max()) * h.get("E", 1)
        )  # unbiased weights, and flex's E / s
        step = max(
            h.get("eta_l", 0.0), h.get("eta", 0.0), h.get("gamma", 1.0) * h.get("eta_0", 0.0)
        )
        step *= lean * max(1.0, h.get("eta_g", 1.0))
        calls = 1 + sum(h.get(name, 0) for name in COUNTS)
        growth = math.log1p(4 * step * self.L) * calls * rounds
        terms = problem.d + int(problem.sizes.max(initial=0)) + problem.N + 8
        self.share = (
            calls * rounds * terms * 8 * UNIT * (1 + step * self.L) * math.exp(growth)
            if growth < 600
            else math.inf
        )
        self.unit = {"sq_distance": 1.0}.get(
            metric, math.sqrt(self.L) if metric.endswith("loss") else self.L
        )
        self.centre = (
            float(np.abs(problem.minimizer()).max()) if problem.minimize is not None else 0.0
        )
        for b in (
            value
            for value in problem.data
            if isinstance(value, np.ndarray) and value.dtype.kind == "f"
        ):
            self.centre = max(self.centre, float(np.abs(b).max(initial=0.0)))

    def below(self, values, farthest):
        """Lower bounds of what exact runs would give, for points of coordinates up to
        `farthest`."""
        if not math.isfinite(self.L) or not math.isfinite(self.share):
            return np.zeros_like(values)
        error = 2 * self.unit * self.share * (farthest + self.centre)
        return np.maximum(np.sqrt(np.maximum(values, 0.0)) - error, 0.0) ** 2
