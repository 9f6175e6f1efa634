"""The moments of a participation law that flex's bounds use: moments of the coefficients p_tau^k
and of the work s_tau^k.

`moments` is for devices that work independently of each other, each by its own distribution pmf[k]
of s over 0..E: sums over devices are built up one device at a time, equal outcomes together; exact
in Fractions, quick where weights are equal. `of_rounds` takes any joint law, [(probability, (s^1,
..., s^N)), ...], by enumeration, and works on any numbers of `arithmetic.operations`.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic.operations import maximum, minimum, positive_part, where
from fedtheory.arithmetic.work import Counted
from fedtheory.errors import refuse
from fedtheory.typing import Exact, Number

if TYPE_CHECKING:
    import numpy as np

SCHEMES = ("A", "B", "C")


def coefficients(scheme: str, p: Sequence[Number | Counted], s: Sequence[int], E: int) -> Any:
    """Return the coefficients p_tau^k of section 4.1 for one round's work s; None where scheme A
    discards the round."""
    if scheme == "A":
        K_tau = sum(steps == E for steps in s)
        return (
            [len(p) * weight * (steps == E) / Fraction(K_tau) for weight, steps in zip(p, s)]
            if K_tau
            else None
        )
    if scheme == "B":
        return list(p)
    if scheme == "C":
        return [weight * Fraction(E, steps) if steps else 0 * weight for weight, steps in zip(p, s)]
    refuse("scheme", f"must be one of {', '.join(SCHEMES)}", scheme)


def sum_distribution(tables: Any, start: Any = (0, 0)) -> Any:
    """Return the distribution of a sum over devices, as {sum: probability}. Each table is one
    device's [(probability, summand), ...]; summands are pairs."""
    states = {start: Fraction(1)}
    for table in tables:
        grown = defaultdict(Fraction)
        for state, q in states.items():
            for chance, (a, b) in table:
                if chance:
                    grown[state[0] + a, state[1] + b] += q * chance
        states = grown
    return states


def one_coefficient(p: Fraction, steps: Any, E: int, scheme: str) -> Any:
    """Return p_tau^k of scheme B or C, which depends on the device alone."""
    return coefficients(scheme, [p], [steps], E)[0]


def completion_moments(pmf: Any, E: int, omit: Any) -> Any:
    """Return E[1/K_tau], each device's E[q / K_tau], and the probability that a round counts, for
    scheme A: K_tau is the number of devices that complete E steps, and q is 1 for such a device.

    Where `omit` is true, discarded rounds do not count and both expectations are conditional on
    K_tau >= 1.
    """

    def mean_inverse(rows: Sequence[list[Exact]], more: Any) -> Any:
        counts = sum_distribution([[(1 - row[E], (0, 0)), (row[E], (1, 0))] for row in rows])
        return sum(q / (K + more) for (K, _), q in counts.items() if K + more > 0), counts

    inverse, counts = mean_inverse(pmf, 0)
    kept = 1 - sum(q for (K, _), q in counts.items() if K == 0) if omit else 1
    if not kept:
        refuse("pmf", "must let some device complete all E steps under scheme A", pmf)
    each = [
        row[E] * mean_inverse([r for other, r in enumerate(pmf) if other != k], 1)[0] / kept
        for k, row in enumerate(pmf)
    ]
    return inverse / kept, each, kept


def moments(
    scheme: str,
    p: Any,
    pmf: Any,
    E: int,
    Gamma: Sequence[Any] | None = None,
    sigma_sq: Sequence[Any] | None = None,
    omit: Any = True,
) -> Any:
    """Return {symbol name: value} of the moments in flex's bounds, for devices of weights p, work
    pmf, Gamma_k and sigma_k^2.

    `scheme` is "A", "B" or "C" (section 4.1), and pmf[k][s] the probability that device k does s of
    E steps. omit: scheme A's discarded rounds do not count as rounds ("can be simply omitted");
    else they count, with p_tau = 0. Devices are independent; `of_rounds` takes any joint law.
    """
    N, devices = len(p), range(len(p))
    Gamma, sigma_sq = Gamma or [0] * N, sigma_sq or [0] * N
    if scheme == "A":
        inverse, each, kept = completion_moments(pmf, E, omit)
        share = [N * p[k] * each[k] for k in devices]  # E[p_tau^k]
        ps_of = [E * share[k] for k in devices]
        squares = []  # E[(p_tau^k)^2 s_tau^k] / (p^k)^2 = E N^2 E[q / K^2]
        for k in devices:
            others = sum_distribution(
                [[(1 - pmf[j][E], (0, 0)), (pmf[j][E], (1, 0))] for j in devices if j != k]
            )
            squares.append(
                E
                * N**2
                * pmf[k][E]
                * sum(q / Fraction(K + 1) ** 2 for (K, _), q in others.items())
                / kept
            )
        totals = defaultdict(Fraction)  # of (sum p_tau, sum p_tau s_tau)
        counts = sum_distribution(
            [[(1 - pmf[k][E], (0, 0)), (pmf[k][E], (1, p[k]))] for k in devices]
        )
        for (K, weight), q in counts.items():
            if K:
                totals[N * weight / Fraction(K), E * N * weight / Fraction(K)] += q / kept
        found = dict(
            E_inv_K=inverse, plus_A=sum(q * max(a - 2, 0) * a for (a, _), q in totals.items())
        )
    else:
        tables = [
            [
                (chance, (c, c * s))
                for s, chance in enumerate(pmf[k])
                for c in [one_coefficient(p[k], s, E, scheme)]
            ]
            for k in devices
        ]
        ps_of = [sum(chance * b for chance, (_, b) in table) for table in tables]
        squares = [
            sum(chance * (a / p[k]) * (b / p[k]) for chance, (a, b) in tables[k]) for k in devices
        ]
        totals = {(sum(p), None): 1} if scheme == "B" and sum(p) <= 2 else sum_distribution(tables)
        found = {}
    inverse_of = [sum(chance * Fraction(1, s) for s, chance in enumerate(row) if s) for row in pmf]
    found.update(
        ps=sum(ps_of),
        ps_Gamma=sum(a * b for a, b in zip(ps_of, Gamma)),
        ps_plus=sum(q * (a - 2) * b for (a, b), q in totals.items() if a > 2),
        p_plus=sum(q * (a - 2) for (a, b), q in totals.items() if a > 2),
        p2s_over_p=sum(p[k] * squares[k] for k in devices),
        p2s_sigma=sum(p[k] ** 2 * squares[k] * sigma_sq[k] for k in devices),
        ratio_min=min(ps_of[k] / p[k] for k in devices),
        ratio_max=max(ps_of[k] / p[k] for k in devices),
        Gamma=sum(a * b for a, b in zip(p, Gamma)),
        sigma_bar_sq=sum(a**2 * b for a, b in zip(p, sigma_sq)),
        p_sigma_inv=sum(p[k] ** 2 * sigma_sq[k] * inverse_of[k] for k in devices),
        p_inv=sum(p[k] * inverse_of[k] for k in devices),
    )
    if all(list(row) == list(pmf[0]) for row in pmf):  # homogeneous devices
        found.update(
            E_s=sum(s * chance for s, chance in enumerate(pmf[0])),
            E_inv_s=inverse_of[0],
            active=1 - pmf[0][0],
        )
    return found


def rounds_of(scheme: str, p: Sequence[Number | Counted], law: Sequence[list[Any]], E: int) -> Any:
    """Return [(probability, coefficients, s), ...] of the rounds that count under a law
    [(probability, s),
    ...]; rounds that scheme A discards are omitted.
    """
    found = [(q, coefficients(scheme, p, s, E), s) for q, s in law]
    found = [(q, c, s) for q, c, s in found if c is not None]
    kept = sum(q for q, _, _ in found) if scheme == "A" else 1
    return [(q / kept, c, s) for q, c, s in found]


def of_rounds(
    scheme: str,
    p: Sequence[Number | Counted],
    law: Sequence[list[Any]],
    E: int,
    Gamma: Sequence[Number | Counted],
    sigma_sq: Sequence[Number | Counted],
    wanted: Sequence[str] | None = None,
    tau: int = 0,
) -> Any:
    """Return {symbol name: value} for the symbols `wanted` (all by default): those of `moments` for
    any joint law, and the symbols that depend on tau.

    E_s, E_inv_s and active speak of the first device: of any, where devices are homogeneous.
    """
    devices, rounds = range(len(p)), rounds_of(scheme, p, law, E)
    mean = lambda of: sum(q * of(c, s) for q, c, s in rounds)
    marginal = lambda of: sum(q * of(s) for q, s in law)
    inverse = lambda steps: Fraction(1, steps) if steps else Fraction(0)
    beyond = lambda c: positive_part(sum(c) - 2)
    work = lambda c, s: sum(c[k] * s[k] for k in devices)
    share = cache(lambda k: mean(lambda c, s: c[k] * s[k]))
    square = cache(lambda k: mean(lambda c, s: c[k] * c[k] * s[k]))
    named = dict(
        ps=lambda: sum(share(k) for k in devices),
        ps_Gamma=lambda: sum(share(k) * Gamma[k] for k in devices),
        ps_plus=lambda: mean(lambda c, s: beyond(c) * work(c, s)),
        p_plus=lambda: mean(lambda c, s: beyond(c)),
        plus_A=lambda: mean(lambda c, s: beyond(c) * sum(c)),
        p2s_over_p=lambda: sum(square(k) / p[k] for k in devices),
        p2s_sigma=lambda: sum(square(k) * sigma_sq[k] for k in devices),
        ratio_min=lambda: minimum(*(share(k) / p[k] for k in devices)),
        ratio_max=lambda: maximum(*(share(k) / p[k] for k in devices)),
        ratio_sup=lambda: maximum(
            *(where(q > 0, c[k] / p[k], Fraction(0)) for q, c, _ in rounds for k in devices)
        ),
        E_inv_K=lambda: mean(lambda c, s: inverse(sum(steps == E for steps in s))),
        E_s=lambda: marginal(lambda s: s[0]),
        E_inv_s=lambda: marginal(lambda s: inverse(s[0])),
        active=lambda: marginal(lambda s: int(s[0] > 0)),
        p_inv=lambda: sum(p[k] * marginal(lambda s: inverse(s[k])) for k in devices),
        p_sigma_inv=lambda: sum(
            p[k] * p[k] * sigma_sq[k] * marginal(lambda s: inverse(s[k])) for k in devices
        ),
        I_sum=lambda: tau * marginal(lambda s: int(0 in s)),
    )
    return {name: named[name]() for name in (named if wanted is None else wanted)}


def limit_weights(scheme: str, p: Sequence[Fraction], pmf: Any, E: int) -> Any:
    """Return the weights, with sum 1, of the loss that small steps minimise; the weights are
    proportional to E[p_tau^k s_tau^k]."""
    if scheme == "A":
        each = completion_moments(pmf, E, True)[1]
        pulls = [weight * q for weight, q in zip(p, each)]
    else:
        pulls = [
            sum(chance * s * one_coefficient(weight, s, E, scheme) for s, chance in enumerate(row))
            for weight, row in zip(p, pmf)
        ]
    return [pull / sum(pulls) for pull in pulls]


def two_lines(
    grad: Callable[..., Any],
    x: "np.ndarray",
    p_tau: Sequence[Number | Counted],
    s: Sequence[int],
    eta: Number | Counted,
) -> Any:
    """Return {symbol name: value} for flex.eq2 and its printed variant: squared differences between
    the lines of (2) at the point x, where grad(k, i, w) is device k's gradient in its step i."""
    first, second, extra = x * 1, x * 1, x * 0
    for k, (c, steps) in enumerate(zip(p_tau, s)):
        w = x
        for i in range(steps + 1):
            g = grad(k, i, w)
            if i == steps:
                extra = extra + eta * c * g
                break
            second = second - eta * c * g
            w = w - eta * g  # (1)
        first = first + c * (w - x)
    sq = lambda v: v.dot(v)
    return dict(
        sq_gap_eq2=sq(first - second),
        sq_gap_printed=sq(first - (second - extra)),
        sq_extra=sq(extra),
    )
