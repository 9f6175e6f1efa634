"""Sweeps in floats that estimate how large a bound divided by a shape becomes as the symbols in the
shape tend to their extremes.

A sweep starts at a drawn point inside the relations and multiplies one or two symbols by a power of
4 at each step. Further sweeps start where the ratio was largest. Where a claim counts rounds, the
ratio uses the number of rounds after which the bound is below an error.
"""

from collections.abc import Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy

from fedtheory.certificates.check_family import COEFFICIENT
from fedtheory.search.scaling_moves import SLOWING
from fedtheory.typing import Assignment

if TYPE_CHECKING:
    from fedtheory.proofs.refutation import RefutationSearch

# FAR: steps of a sweep. BASE: the factor of one step.
FAR, BASE = 10, 4.0
# DRAWS: points drawn. START: points at which sweeps start, the best ones in later passes. PAIRS:
# pairs of symbols that are swept together. PASSES: passes of all sweeps.
DRAWS, START, PAIRS, PASSES = (1500, 40, 15, 4)
STEPS = np.arange(FAR + 1)
# After the sweeps, random steps start where sweeps end. CLIMBS: generations of such steps.
# OFFSPRING: random steps of each point in a generation.
CLIMBS, OFFSPRING = 20, 20
# A factor. A ratio that grows by more than this at each of the last steps counts as unbounded.
RISING = 1.25
# Steps of a sweep in which each step doubles the logarithm. Such a sweep reaches 4^256, and log log
# grows by equal increments along it.
SQUARED = 9
# An increment over the one before. Above this share, the increments count as having no finite sum.
EVEN = 0.7
NOISE = 1e-9  # a share of the ratio: smaller increments are due to rounding
HIGHEST = 40.0  # the logarithm of the largest number of rounds that is searched
SAID = (
    f"sweeps of {FAR} steps by {BASE:g} of what the shape mentions, alone and in pairs, from {START} of {DRAWS} drawn "
    f"points, {PASSES} times"
)


def sweep_shape(
    hunt: Any, shown: Set[Any], held: float, others: float, rounds: Sequence[sympy.Symbol] | None
) -> tuple[float, str] | None:
    """Return (largest ratio of the goal's sides, or of rounds over shape; text that says along
    which sweep the ratio grows). Return None where no point is admitted, or where equations leave
    no symbol that could move.

    The symbols in the shape go to their extremes, alone and in pairs: first from drawn points, then
    from the points at which the ratio was largest.
    """
    hunt.edges = hypothesis_edges(hunt, shown)
    points = hunt.draw()[:DRAWS]
    for n, symbol in enumerate(hunt.symbols):
        if symbol.name not in shown:
            points[:, n] = (
                1.0
                if symbol.is_integer
                else held
                if symbol.name.startswith(COEFFICIENT)
                else others
            )
        elif not symbol.is_integer and not symbol.is_positive:  # such as noise, which is often 0
            points[hunt.rng.random(len(points)) < 0.4, n] = 0.0
    points = points[np.isfinite(sweep_ratios(hunt, points, rounds)[0])][:START]
    if not len(points):
        return None
    ways = [
        (n, way)
        for n, symbol in enumerate(hunt.symbols)
        if symbol.name in shown
        for way in ((1,) if symbol.is_integer else (1, -1))
    ]
    pairs = [{a: x, b: y} for i, (a, x) in enumerate(ways) for b, y in ways[i + 1 :] if a < b]
    pairs = [
        pairs[k]
        for k in hunt.rng.permutation(len(pairs))[: PAIRS if rounds is None else PAIRS // 3]
    ]
    if not ways:
        return None
    most, moves = [], [{n: way} for n, way in ways] + pairs
    # These sweeps go so far that the coefficients which equations fix there are no step sizes
    # anybody would use: the recorded range is restored afterwards.
    steps = hunt.steps
    _, tracks = sweep_points(hunt, points, moves, rounds, 2 ** np.arange(SQUARED))
    hunt.steps = steps
    for each, track in zip(moves, tracks):
        growth = slow_growth(hunt, points, each, track)
        if growth:
            return float(np.nanmax(track)), growth
    for _ in range(PASSES):
        every, tracks = sweep_points(hunt, points, moves, rounds)
        for each, track in zip(moves, tracks):
            growth = describe_growth(hunt, points, each, track)
            if growth:
                return float(np.nanmax(track)), growth
        rates = np.nan_to_num(tracks.ravel(), nan=-np.inf, posinf=-np.inf)
        best = np.argsort(-rates, kind="stable")[:START]
        points, most = every[best[np.isfinite(rates[best])]], [*most, rates[best[0]]]
    if most[-1] > RISING * most[-2]:
        return float(most[-1]), "sweeps of sweeps, which find more each time"
    half, high = climb_randomly(hunt, points, shown, rounds)
    found = "steps from where sweeps end, which find ever more" if high > RISING * half else ""
    return float(max(most[-1], high)), found


def climb_randomly(
    hunt: "RefutationSearch",
    points: np.ndarray,
    shown: Set[str],
    rounds: Sequence[sympy.Symbol] | None,
) -> tuple[float, float]:
    """Return the largest ratios that random steps of the shape's symbols reach half-way and at the
    end. Random steps also visit points between the steps of a sweep."""
    columns = [n for n, symbol in enumerate(hunt.symbols) if symbol.name in shown]
    whole = [n for n in columns if hunt.symbols[n].is_integer]
    best, most, track = points, sweep_ratios(hunt, points, rounds)[0], []
    for _ in range(CLIMBS):
        trial = np.tile(best, (OFFSPRING, 1))
        size = 10.0 ** hunt.rng.uniform(-2, 0.7, (len(trial), 1))
        moved = hunt.rng.random((len(trial), len(columns))) < 0.5
        trial[:, columns] *= np.exp(size * moved * hunt.rng.standard_normal(moved.shape))
        trial[:, whole] = np.maximum(1.0, np.round(trial[:, whole]))
        every = np.vstack([best, trial])
        rates = np.concatenate([most, sweep_ratios(hunt, trial, rounds)[0]])
        order = np.argsort(-np.nan_to_num(rates, nan=-np.inf), kind="stable")[: len(best)]
        best, most = every[order], rates[order]
        track.append(float(most[0]))
    return track[CLIMBS // 2], track[-1]


def hypothesis_edges(hunt: "RefutationSearch", shown: Any) -> list[tuple[int, sympy.Expr, int]]:
    """Return [(column, edge, way)] of symbols outside the shape that a relation keeps above (way 1)
    or below (way -1) an edge that may move. For example, no fixed eta_s satisfies eta_s > sqrt(5
    S/8) for all S."""
    found = []
    for rule in hunt.rules:
        if not isinstance(rule, (sympy.Le, sympy.Lt, sympy.Ge, sympy.Gt)):
            continue
        small, large = rule.args if isinstance(rule, (sympy.Le, sympy.Lt)) else rule.args[::-1]
        for symbol, edge, way in ((large, small, 1), (small, large, -1)):
            if symbol in hunt.symbols and symbol.name not in shown | edge_names(edge):
                if not symbol.name.startswith(COEFFICIENT):
                    found.append((hunt.symbols.index(symbol), edge, way))
    return found


def edge_names(edge: sympy.Expr) -> set[str]:
    """Return the names of an edge's free symbols."""
    return {symbol.name for symbol in edge.free_symbols}


def kept_inside(hunt: Any, points: np.ndarray) -> np.ndarray:
    """Return points in which each symbol outside the shape is moved to at least twice its lower
    edge, or at most half its upper edge. A symbol that is already there keeps its value."""
    for column, edge, way in hunt.edges:
        at = np.broadcast_to(hunt.evaluate(edge, symbol_values(hunt, points)), len(points))
        with np.errstate(all="ignore"):
            asked = np.where(np.isfinite(at), at * 2.0**way, points[:, column])
        if hunt.symbols[column].is_integer:
            asked = np.ceil(asked) if way > 0 else np.maximum(1.0, np.floor(asked))
        keep = np.maximum if way > 0 else np.minimum
        points = points.copy()
        points[:, column] = keep(points[:, column], asked)
    return points


def sweep_points(
    hunt: "RefutationSearch",
    points: np.ndarray,
    moves: Sequence[dict[int, int]],
    rounds: Sequence[sympy.Symbol] | None,
    steps: np.ndarray = STEPS,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (points of all sweeps, their ratios as an array of shape (sweeps, steps, number of
    points)) as symbols move by powers of the base. All sweeps run at once, since an operation on
    few points costs as much as on many."""
    here = np.tile(points, (len(moves), len(steps), 1, 1))
    for sweep, each in zip(here, moves):
        for n, way in each.items():
            sweep[:, :, n] *= (BASE ** (way * steps))[:, None]
    shape, here = here.shape[:-1], here.reshape(-1, points.shape[1])
    return here, sweep_ratios(hunt, here, rounds)[0].reshape(shape)


def describe_growth(
    hunt: "RefutationSearch", points: np.ndarray, moves: Mapping[int, int], track: np.ndarray
) -> str:
    """Return in words a sweep along which the ratio rises at each of the last steps without slowing
    down, or "" if there is none."""
    with np.errstate(all="ignore"):
        factors = track[-6:][1:] / track[-6:][:-1]
        grown = (
            np.all(np.isfinite(track[-6:]), axis=0)
            & np.all(factors > RISING, axis=0)
            & np.all(factors[1:] >= SLOWING * factors[:-1], axis=0)
        )
    if not grown.any():
        return ""
    k, names = int(np.argmax(grown)), [s.name for s in hunt.symbols]
    by = ", ".join(f"{names[n]} times {'4' if way > 0 else '1/4'}" for n, way in moves.items())
    at = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, points[k]))
    return f"{by} at each step from {at}: from {track[0][k]:.4g} at first to {track[-1][k]:.4g} at step {FAR}"


def slow_growth(
    hunt: "RefutationSearch", points: np.ndarray, moves: Mapping[int, int], track: np.ndarray
) -> str:
    """Return in words a sweep with doubling logarithms along which the ratio grows by increments
    that do not shrink, as log log does. Return "" if there is none.

    A ratio that tends to a limit like a power of the moving symbol, or of its logarithm, has
    increments that shrink at least by half. Floats cannot tell slower convergence from unbounded
    growth.
    """
    for k, column in enumerate(track.T):
        here = column[: np.argmin(np.append(np.isfinite(column), False))]
        gained = np.diff(here)[-4:]
        if (
            len(here) > 5
            and (gained > NOISE * here[-1]).all()
            and (gained[1:] > EVEN * gained[:-1]).all()
        ):
            names = [s.name for s in hunt.symbols]
            by = ", ".join(f"{names[n]} {'up' if way > 0 else 'down'}" for n, way in moves.items())
            at = ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, points[k]))
            gains = ", ".join(f"{each:.3g}" for each in gained)
            return f"{by} from {at}: by {gains} more as the logarithm of what moves doubles"
    return ""


def sweep_ratios(
    hunt: "RefutationSearch", points: np.ndarray, rounds: Sequence[sympy.Symbol] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (ratios, points), where a ratio is bound over shape, or rounds beyond the first over
    shape. A ratio is NaN where a relation fails."""
    found, points = over_shape(hunt, kept_inside(hunt, points), rounds)
    for symbol, _ in hunt.solved:  # the companion's equations may fix coefficients of the regime
        if symbol.name.startswith(COEFFICIENT) and (found > 0).any():
            steps = symbol_values(hunt, points)[symbol.name][found > 0]
            hunt.steps = min(hunt.steps[0], steps.min()), max(hunt.steps[1], steps.max())
    return found, points


def over_shape(
    hunt: "RefutationSearch", points: np.ndarray, rounds: Sequence[Any] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (ratios, points): bound over shape at each point or, where `rounds` = (number of
    rounds, error) is given, (rounds - 1) over shape at the least number of rounds with bound <=
    error, found by bisection in the logarithm. NaN where a relation fails or the shape is not
    positive."""
    if rounds is None:
        values = symbol_values(hunt, points)
        left, right = (evaluate_side(hunt, e, values) for e in hunt.goal.args)
        good = admitted_rows(hunt, values, hunt.rules)
        with np.errstate(all="ignore"):
            return np.where(good & np.isfinite(left) & (right > 0), left / right, np.nan), points
    column = [s.name for s in hunt.symbols].index(rounds[0].name)
    error = points[:, [s.name for s in hunt.symbols].index(rounds[1].name)]
    later = [rule for rule in hunt.rules if rounds[0] in rule.free_symbols]
    known = admitted_rows(
        hunt, symbol_values(hunt, points), [rule for rule in hunt.rules if rule not in later]
    )

    def mark_reached(exponents: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (mask of points whose bound is below the error after e^exponents rounds; the
        points with these rounds)."""
        trial = points.copy()
        trial[:, column] = exponents
        values = symbol_values(hunt, trial)
        bound = evaluate_side(hunt, hunt.goal.args[0], values)
        return known & (bound <= error) & admitted_rows(hunt, values, later), trial

    low, high = np.zeros(len(points)), np.full(len(points), HIGHEST)
    for _ in range(26):  # bisection: the bound falls as the number of rounds grows
        middle = (low + high) / 2
        enough, _ = mark_reached(np.exp(middle))
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    first, _ = mark_reached(1.0)
    enough, trial = mark_reached(np.where(first, 1.0, np.ceil(np.exp(high))))
    right = evaluate_side(hunt, hunt.goal.args[1], symbol_values(hunt, trial))
    with np.errstate(all="ignore"):
        return np.where(enough & (right > 0), (trial[:, column] - 1) / right, np.nan), trial


def evaluate_side(hunt: "RefutationSearch", expr: sympy.Expr, values: Assignment) -> np.ndarray:
    """Return the values of an expression at points, with NaN in place of infinite values."""
    size = len(next(iter(values.values())))
    found = np.broadcast_to(np.asarray(hunt.evaluate(expr, values), dtype=float), size)
    return np.where(np.isfinite(found), found, np.nan)


def admitted_rows(hunt: "RefutationSearch", values: Assignment, rules: Sequence[Any]) -> np.ndarray:
    """Return a mask of points at which the relations hold and no nonnegative symbol that an
    equation fixes is negative."""
    size = len(next(iter(values.values())))
    lost = np.zeros(size)
    for symbol, _ in hunt.solved:
        if symbol.is_nonnegative:
            lost = lost + np.where(values[symbol.name] >= 0, 0.0, 1.0)
    for gap in hunt.excess(rules, values, size):
        lost = lost + np.where(gap > 0, gap, np.isnan(gap))
    return lost <= 1e-9


def symbol_values(hunt: "RefutationSearch", points: np.ndarray) -> dict[str, np.ndarray]:
    """Return {name: values} of all symbols, including symbols that equations fix."""
    values = {s.name: points[:, n] for n, s in enumerate(hunt.symbols)}
    for symbol, value in reversed(hunt.solved):
        values[symbol.name] = np.broadcast_to(hunt.evaluate(value, values), len(points))
    return values
