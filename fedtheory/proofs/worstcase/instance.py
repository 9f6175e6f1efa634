"""The points, gradients and values that a method meets on a worst function, reconstructed from the
Gram matrix of a certificate.

By the interpolation theorem, there are functions of the class with these gradients and values. The
search prefers instances with few dimensions. In one dimension, if a quadratic or a Huber loss fits
a function's samples, the instance names this loss.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from fedtheory.certificates.check_worst_case import STAR, Reading
from fedtheory.proofs.worstcase.solver import Program
from fedtheory.typing import Number

SAME = (
    1e-6  # a share of the largest value: the solver's floats do not distinguish smaller differences
)


@dataclass(frozen=True)
class Instance:
    """A worst instance in coordinates in which x* is the origin (x_0, where F may lack a
    minimiser)."""

    points: np.ndarray  # (R + 1, d) server points
    samples: dict[
        Any, Any
    ]  # {i: [(x (d,), gradient (d,), value), ...]} in query order; x* last, if any
    measure: float
    shapes: dict[Any, Any]  # {i: Quadratic or Huber} where d = 1 and one of them fits


@dataclass(frozen=True)
class Quadratic:
    """The loss c (x - b)^2 / 2 + a."""

    c: float
    b: float
    a: float

    def gradient(self, x: float | np.ndarray) -> float | np.ndarray:
        return self.c * (x - self.b)

    def value(self, x: float | np.ndarray) -> float | np.ndarray:
        return self.c * (x - self.b) ** 2 / 2 + self.a


@dataclass(frozen=True)
class Huber:
    """The loss L (x - b)^2 / 2 + a up to distance slope / L from b, with straight lines beyond."""

    L: float
    slope: float
    b: float
    a: float

    def gradient(self, x: float | np.ndarray) -> float | np.ndarray:
        return np.clip(self.L * (x - self.b), -self.slope, self.slope)

    def value(self, x: float | np.ndarray) -> float | np.ndarray:
        g = self.gradient(x)
        return g * (x - self.b) - g**2 / (2 * self.L) + self.a


def instance_of(certificate: Mapping[str, Any], thin: bool = True) -> Instance | None:
    """Return the Instance of a certificate, or None where the certificate has no Gram matrix.

    An instance that needs several dimensions is replaced, with `thin`, by the instance of least
    trace that reaches all but a millionth of its measure, if this other instance needs fewer
    dimensions.
    """
    if "instance" not in certificate:
        return None
    reading, given = Reading(certificate), certificate["instance"]
    number = lambda value: float(Fraction(value))
    gram = np.array([list(map(number, row)) for row in given["gram"]])
    full = cast_to_line(reading, gram, list(map(number, given["values"])))
    if not thin or full.points.shape[1] <= 1:
        return full
    found = Program(reading, alike=False).smallest(
        Fraction(given["least"]) * (1 - Fraction(1, 10**6))
    )
    thinner = cast_to_line(reading, np.array(found[0], float), found[1]) if found else full
    return min(thinner, full, key=lambda instance: instance.points.shape[1])


def cast_to_line(reading: Reading, gram: np.ndarray, values: Sequence[Any]) -> Instance:
    """Return the Instance of a Gram matrix and function values, in as many dimensions as its rank.

    Vectors are rows of the matrix's square root without directions below SAME times the largest
    eigenvalue. On a line, each function is named as a quadratic or Huber loss where one fits.
    """
    size, axes = np.linalg.eigh(gram)
    large = size > SAME * size.max()
    where = dict(zip(reading.vectors(), axes[:, large] * np.sqrt(size[large])))
    zero = np.zeros(large.sum())
    place = lambda u: sum((float(value) * where[v] for v, value in u.items()), zero)
    known = lambda f: sum(float(c) * values[q - 1] for (q,), c in f.items())
    samples = {
        int(k): [
            (place(x), place(g), known(f))
            for name, (x, g, f) in sorted(
                of.items(), key=lambda item: (item[0] == STAR, item[0] != STAR and int(item[0]))
            )
        ]
        for k, of in reading.samples.items()
    }
    shapes = {}
    if large.sum() == 1:
        shapes = {
            k: fit_shape(
                *(np.array([np.ravel(sample[n])[0] for sample in of]) for n in range(3)),
                *map(float, reading.functions[str(k)][:2]),
            )
            for k, of in samples.items()
        }
    measure = min(
        sum(
            float(c) * (values[key[0] - 1] if len(key) == 1 else where[key[0]] @ where[key[1]])
            for key, c in form.items()
        )
        for form in reading.measures.values()
    )
    return Instance(
        np.array([place(x) for x in reading.points]),
        samples,
        measure,
        {k: found for k, found in shapes.items() if found},
    )


def fit_shape(x: Number, g: np.ndarray, f: np.ndarray, mu: float, L: Number) -> Any:
    """Return the quadratic or the Huber loss through samples on a line, or None."""
    near = lambda p, q: np.allclose(p, q, rtol=0, atol=10 * SAME * max(1e-300, np.abs(q).max()))
    candidates = []
    if np.ptp(x) > 0:
        c, b = map(float, np.polyfit(x, g, 1))
        if abs(c) > SAME * L:
            candidates.append(lambda a: Quadratic(c, -b / c, a))
    slope = float(np.abs(g).max())
    inner = np.abs(g) < slope * (1 - SAME)
    if mu <= 0 and inner.any():  # samples in the curved part
        centre = float(np.mean(x[inner] - g[inner] / L))
        candidates.append(lambda a: Huber(L, slope, centre, a))
    for make in candidates:
        offset = float(np.mean(f - make(0.0).value(x)))
        found = make(offset)
        if near(found.gradient(x), g) and near(found.value(x), f):
            return found
    return None
