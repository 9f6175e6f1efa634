"""A scalar that every round maps affinely, with noise: its mean and variance after n rounds, and
the moments of sums over rounds, in O(log n) operations.

A round maps the mean m to keep m + shift, and m with the variance v to a new variance, given by a
`Spread`: linear in v and quadratic in m. The variance after any number of rounds has the same form,
and the composition of many rounds is computed by doubling. A cohort is drawn from kinds of equal
clients, so that the cost depends on the number of kinds and not on N.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.arithmetic.operations import Many, shorten_ends, where
from fedtheory.arithmetic.work import Counted
from fedtheory.typing import Number

ZERO, HALF, ONE = Fraction(0), Fraction(1, 2), Fraction(1)


def is_zero(value: Number) -> Any:
    """Tell whether a number is an exact 0."""
    return isinstance(value, (int, Fraction)) and value == 0


def multiply_exact(one: Number | Counted, other: Any) -> Any:
    """Return the product of two numbers. The product is skipped where a factor is 0, as most
    coefficients of a run are."""
    return ZERO if is_zero(one) or is_zero(other) else one * other


def add_terms(*terms: Number | Counted) -> Any:
    """Return the sum of numbers, without the terms that are exactly 0."""
    found = [term for term in terms if not is_zero(term)]
    return sum(found[1:], found[0]) if found else ZERO


class Spread(NamedTuple):
    """The function variance v + square m^2 + linear m + one of a number's mean m and variance v."""

    variance: Any = ZERO
    square: Any = ZERO
    linear: Any = ZERO
    one: Any = ZERO

    def at(self, m: Number | Counted, v: Number | Counted) -> Any:
        """Return the variance after a step from mean m and variance v."""
        along = add_terms(multiply_exact(self.square, m), self.linear)
        return add_terms(multiply_exact(self.variance, v), multiply_exact(along, m), self.one)

    def after(self, step: "Step") -> Any:
        """Return the function in terms of the moments before a step that equals this function of
        the moments after the step."""
        bent = multiply_exact(self.square, step.keep)
        along = add_terms(multiply_exact(2 * self.square, step.shift), self.linear)
        moved = multiply_exact(
            add_terms(multiply_exact(self.square, step.shift), self.linear), step.shift
        )
        found = step.spread.scale(self.variance)
        return Spread(
            found.variance,
            add_terms(found.square, multiply_exact(bent, step.keep)),
            add_terms(found.linear, multiply_exact(along, step.keep)),
            add_terms(found.one, moved, self.one),
        )

    def scale(self, factor: Number | Counted) -> Any:
        """Return the function times a factor."""
        return Spread(*(multiply_exact(factor, part) for part in self))

    def join(self, other: Any) -> Any:
        """Return the sum of two such functions."""
        return Spread(*(add_terms(a, b) for a, b in zip(self, other)))


class Step(NamedTuple):
    """An affine step of a scalar with mean m: the mean becomes keep m + shift, and `spread` gives
    the variance."""

    keep: Any
    shift: Any
    spread: Spread

    def of(self, m: Number | Counted, v: Number | Counted) -> Any:
        """Return (mean, variance) after the step."""
        return add_terms(multiply_exact(self.keep, m), self.shift), self.spread.at(m, v)

    def known(self) -> Any:
        """Return the same step from a deterministic point: the variance stays 0 unless the step
        adds noise."""
        still = all(map(is_zero, self.spread[1:]))
        return self._replace(spread=Spread()) if still else self

    def then(self, other: Any) -> Any:
        """Return the composition: this step, then the other. Long exact numbers are enclosed, so
        that the size of the coefficients stays bounded over many rounds."""
        return Step(
            shorten_ends(multiply_exact(other.keep, self.keep)),
            shorten_ends(add_terms(multiply_exact(other.keep, self.shift), other.shift)),
            Spread(*map(shorten_ends, other.spread.after(self))),
        )


STAY = Step(ONE, ZERO, Spread(ONE))


def repeat_by_doubling(step: "Step | Sums", n: int, joined: Any) -> Any:
    """Return a step composed n times with itself, by repeated doubling; None for n = 0. `joined`
    composes two steps."""
    found = None
    for bit in bin(n)[2:] if n else "":
        found = joined(found, found) if found is not None else None
        if bit == "1":
            found = step if found is None else joined(found, step)
    return found


def repeat_step(step: Step, n: int) -> Any:
    """Return a Step composed n times with itself."""
    return repeat_by_doubling(step, n, lambda one, other: one.then(other)) or STAY


class Sums(NamedTuple):
    """The moments of n rounds together: the point after the rounds, and sums over the points x_0,
    ..., x_(n-1) before each round."""

    step: Step
    keep: Any  # the sum's mean is keep m + shift
    shift: Any
    squares: Spread  # the sum of E x_t^2
    along: Spread  # the covariance of the sum and x_n
    spread: Spread  # the variance of the sum

    def then(self, other: Any) -> Any:
        """Return the Sums of both stretches together, the other stretch after this one."""
        first, after = self.step, lambda what: what.after(self.step)
        twice = self.along.scale(2 * other.keep)
        found = (
            self.squares.join(after(other.squares)),
            self.along.scale(other.step.keep).join(after(other.along)),
            self.spread.join(twice).join(after(other.spread)),
        )
        return Sums(
            first.then(other.step),
            shorten_ends(self.keep + other.keep * first.keep),
            shorten_ends(
                add_terms(self.shift, other.shift, multiply_exact(other.keep, first.shift))
            ),
            *(Spread(*map(shorten_ends, each)) for each in found),
        )


def sum_rounds(step: Step, n: int, squares: bool = True, spread: bool = True) -> Any:
    """Return the Sums of n >= 1 rounds of one Step; sums that are not requested stay 0."""
    one = Sums(
        step,
        ONE,
        ZERO,
        Spread(ONE, ONE) if squares else Spread(),
        Spread(step.keep) if spread else Spread(),
        Spread(ONE) if spread else Spread(),
    )
    return repeat_by_doubling(one, n, lambda these, those: these.then(those))


def follow_points(step: Step, m: Number | Counted, v: Fraction, n: int) -> Any:
    """Yield (mean, variance) before the first of n rounds, and after each round."""
    yield m, v
    for _ in range(n):
        m, v = map(shorten_ends, step.of(m, v))
        yield m, v


def leave_exact(value: Any) -> Any:
    """Return a number of any length unchanged."""
    return value


def geometric_sums(
    ratio: Any, n: int, shorten: Callable[[Any], Any] = shorten_ends
) -> tuple[Any, Any]:
    """Return (ratio^n, 1 + ratio + ... + ratio^(n-1)), by repeated doubling. Long exact numbers are
    enclosed, unless `shorten` is leave_exact."""
    power, total = ONE, ZERO
    for bit in bin(n)[2:]:
        power, total = shorten(power * power), shorten(total + power * total)
        if bit == "1":
            power, total = shorten(power * ratio), shorten(total * ratio + 1)
    return power, total


class Steps(NamedTuple):
    """The result of n gradient steps of size eta on slope y^2 / 2 + tilt y: y moves by -pull (slope
    y + tilt), so that y is multiplied by `keep`. The noise of the result is `noise` times the
    variance of one draw."""

    pull: Any
    keep: Any
    noise: Any


def quadratic_steps(
    slope: Any, eta: Any, n: int, shorten: Callable[[Any], Any] = shorten_ends
) -> Steps:
    """Return the Steps of n gradient steps in closed form."""
    ratio = 1 - eta * slope
    keep, pulls = geometric_sums(ratio, n, shorten)
    return Steps(eta * pulls, keep, eta * eta * geometric_sums(ratio * ratio, n, shorten)[1])


class Affine(NamedTuple):
    """An affine map y -> keep y + shift, with noise of the given variance."""

    keep: Any
    shift: Any
    variance: Any


def follow_steps(slope: Any, tilt: Any, variance: Any, eta: Any, n: int) -> Affine:
    """Return the map of n SGD steps of size eta on slope y^2 / 2 + tilt y, step by step: for few
    steps cheaper than the closed form, and with nothing enclosed."""
    keep, shift, spread = ONE, ZERO, ZERO
    for _ in range(n):
        ratio = 1 - eta * slope
        keep, shift = ratio * keep, ratio * shift - eta * tilt
        spread = ratio * ratio * spread + eta * eta * variance
    return Affine(keep, shift, spread)


class Reach(NamedTuple):
    """A point after some SGD steps on slope (y - b)^2 / 2 with noise of +-r: the factor of y - b,
    the variance and the largest size of the noise in it."""

    factor: Any
    variance: Any
    size: Any


def list_reaches(slope: Any, eta: Any, r: Any, n: int) -> list[Reach]:
    """Return the Reach after 0, 1, ..., n steps of size eta."""
    keep, found = 1 - eta * slope, [(ONE, ZERO, ZERO)]
    for _ in range(n):
        factor, variance, size = found[-1]
        found.append((factor * keep, variance + factor * factor, size + abs(factor)))
    return [Reach(f, variance * (eta * r) ** 2, size * eta * r) for f, variance, size in found]


def kept_share(scale: Number | Counted, rate: Number | Counted, keep: Number | Counted) -> Any:
    """Return 1 - scale rate = 1 - scale + scale keep; for a batch of floats, by the formula with
    less cancellation."""
    found = 1 - scale * rate
    if not isinstance(found, Many):
        return found
    return where(rate < HALF, found, 1 - scale + scale * keep)


def cohort_step(
    kinds: Sequence[int],
    slopes: Sequence[Number | Counted],
    tilts: Sequence[Number | Counted],
    variance: Number | Counted,
    S: int,
    walks: Sequence[Steps],
    scale: Number | Counted,
    tilt: Number | Counted = ZERO,
) -> Any:
    """Return the Step of x for a cohort of S out of sum(kinds) clients, drawn without replacement:
    kinds[k] clients have slopes[k] y^2 / 2 + tilts[k] y, take the steps walks[k] with noise of the
    given variance, and x moves by `scale` times the mean move of the cohort. `tilt` is the mean of
    the tilts over all clients."""
    N = sum(kinds)
    share = [Fraction(n, N) for n in kinds]
    rates = [slope * walk.pull for slope, walk in zip(slopes, walks)]
    moves = [walk.pull * tilt for walk, tilt in zip(walks, tilts)]
    # subtracted from all pulls: where pulls are equal, tilts that add up to 0 cancel exactly
    rest = walks[0].pull
    apart = (w * (walk.pull - rest) * t for w, walk, t in zip(share, walks, tilts))
    mean = add_terms(sum(apart, ZERO), multiply_exact(rest, tilt))
    rate, rests = (
        sum(w * a for w, a in zip(share, each)) for each in (rates, [w.keep for w in walks])
    )
    keep = kept_share(scale, rate, rests)
    fresh = sum((w * walk.noise for w, walk in zip(share, walks)), ZERO) * variance / S
    found = Spread(keep * keep, ZERO, ZERO, scale * scale * fresh)
    # the share of the variance between clients
    left = Fraction(N - S, N - 1) / S if N > 1 else ZERO
    if left and len(kinds) > 1:
        apart = [
            (share[k] * share[n], rates[k] - rates[n], moves[k] - moves[n])
            for n in range(len(kinds))
            for k in range(n)
        ]
        factor = scale * scale * left
        square = factor * sum(w * a * a for w, a, _ in apart)
        found = found.join(
            Spread(
                square,
                square,
                2 * factor * sum(w * a * b for w, a, b in apart),
                factor * sum(w * b * b for w, _, b in apart),
            )
        )
    return Step(keep, -scale * mean, found)
