"""A small picture of a counterexample, as SVG: the losses along the coordinate in which the points
spread most, and below them the paths of all clients, round by round. Where no method runs, the
picture shows the two sides of the line.

Only the curves have colours of their own: text and axes take the fonts and colours of the page.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from html import escape
from math import exp, isfinite, log1p
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic.operations import ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.models import by_name, entry_names, losses
from fedtheory.rendering.losses import DescribedLoss, loss_formula, losses_of
from fedtheory.rendering.steps import record_steps
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np

WIDE, LEFT, RIGHT = 480, 104, 84  # pixels: the whole width, and the margins for labels
HIGH, ROW, LABEL = 130, 16, 11  # heights: of the losses, of a round below them, of a curve's name
SAMPLES, ROUNDS, CURVES = 80, 12, 6
DASHED = '<path d="M{:.1f} {} v-{}" stroke="currentColor" stroke-dasharray="2 3" opacity=".6"/>'
COLOURS = "#4477aa", "#ee6677", "#228833", "#b58900", "#2aa198", "#aa3377"


def draw_counterexample(document: Any) -> str:
    """Return an SVG of the document of a counterexample, and "" for any other document.

    >>> import fedtheory as ft
    >>> from fedtheory.rendering.picture import draw_counterexample
    >>> draw_counterexample(ft.check("mixed.stepD2", budget=1).certificate)[:4]
    '<svg'

    A family is shown by its first member, a statement of existence by its instance. If the losses
    are flat, absent, or have too few coordinates, the two sides of the line are drawn as bars.
    """
    kind = document.get("format") if isinstance(document, dict) else None
    if kind == EXISTENCE:
        return draw_counterexample(document["denial"])
    if kind == check_family.FORMAT:
        return draw_counterexample(document["members"][0])
    if kind != check_instance.FORMAT:
        return ""
    parts, setting = check_instance.read_numbers(document["instance"]), by_name(document["setting"])
    rounds = record_steps(document)[:ROUNDS]
    told = losses_of(parts, entry_names(setting).get("losses", ()))[:CURVES]
    start = parts.get("x", parts.get("x_0"))
    start = start if isinstance(start, list) else [start] if isinstance(start, Fraction) else []
    walks = [[track.points for track in each.tracks] for each in rounds]
    paths = [[*map(point_in_floats, path)] for each in walks for path in each] or [
        [*map(point_in_floats, [start])]
    ]
    axis = widest_coordinate([path for path in paths if path and path[0]])
    axis = 0 if axis is None and not rounds and not start else axis
    flat = not rounds and all(loss_formula(each.curves) == "0" for each in told)
    if not told or flat or axis is None or axis >= len(told[0].curves):
        return draw_sides(document)
    return draw_losses(document, told, rounds, start, axis)


def point_in_floats(x: "np.ndarray | Sequence[Counted]") -> tuple[float, ...]:
    """Return a point in floats; an interval becomes its midpoint."""
    return tuple(float(sum(ends_of(each)) / 2) for each in x)


def widest_coordinate(paths: Sequence[list[tuple[float, ...]]]) -> int | None:
    """Return the coordinate along which the points spread most, or None if there is no point or a
    point is too large for floats."""
    points = [point for path in paths for point in path]
    if not points or not all(isfinite(v) and abs(v) < 1e150 for point in points for v in point):
        return None
    spread = [max(column) - min(column) for column in zip(*points)]
    return spread.index(max(spread))


def draw_losses(
    document: Any,
    told: Sequence[DescribedLoss],
    rounds: Sequence[Any],
    start: Sequence[Counted],
    axis: int,
) -> str:
    """Draw the losses along one coordinate, with the rounds below.

    At most CURVES losses and ROUNDS rounds are drawn. Losses with the same curve share one line and
    one label; the start is a dashed line.
    """
    curves = [each.curves[axis] for each in told]
    places = [
        p[axis]
        for each in rounds
        for track in each.tracks
        for p in map(point_in_floats, track.points)
    ]
    places += [point_in_floats(start)[axis]] if start else []
    marks = [float(knot) for f in curves for knot in (*curve_knots(f), f.get("at", 0))]
    low, high = axis_window(places, marks)
    across = lambda x: LEFT + (x - low) / (high - low) * (WIDE - LEFT - RIGHT)
    rows = {}  # each different curve, with the names of its losses
    for each, f in zip(told, curves):
        row = tuple((curve_value(f, x), x) for x in sample_places(low, high))
        rows.setdefault(row, []).append(each.name)
    floor, top = axis_window([y for row in rows for y, _ in row], [])
    up = lambda y: 12 + (top - y) / (top - floor) * HIGH
    said, labels, colours = [], [], {}
    for (row, names), colour in zip(rows.items(), COLOURS):
        line = " ".join(f"{across(x):.1f},{up(y):.1f}" for y, x in row)
        said.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        labels.append((up(row[-1][0]) + 4, ", ".join(names), colour))
        colours.update(dict.fromkeys(names, colour))
    base = 12 + HIGH + 8
    for y, names, colour in separate_labels(sorted(labels), base):
        said.append(svg_text(WIDE - RIGHT + 6, y, names, colour))
    said.append(svg_line(LEFT, base, WIDE - RIGHT, base))
    ticks = {low, high}
    if start:
        x = across(point_in_floats(start)[axis])
        said.append(DASHED.format(x, base, HIGH))
        ticks |= {point_in_floats(start)[axis]} if LEFT + 50 < x < WIDE - RIGHT - 50 else set()
    said += [svg_text(across(x), base + 13, f"{x:.3g}", anchor="middle") for x in sorted(ticks)]
    for n, each in enumerate(rounds):
        said += draw_round(each, axis, across, base + 28 + n * ROW, colours)
    along = f" along coordinate {axis + 1}" if len(told[0].curves) > 1 else ""
    about = f"{document['cites']}: losses{along} of a counterexample"
    return frame_svg(about, base + 24 + max(len(rounds), 0) * ROW, said)


def separate_labels(labels: Sequence[tuple[float, str, str]], base: int) -> list[Any]:
    """Return labels moved so that no two overlap: each label is moved down below the previous
    label, or up again from the base line."""
    found, floor = [], base
    for n, (y, *rest) in enumerate(labels):
        found.append((max(y, found[-1][0] + LABEL) if n else y, *rest))
    for n in reversed(range(len(found))):
        found[n] = (min(found[n][0], floor), *found[n][1:])
        floor = found[n][0] - LABEL
    return found


def draw_round(
    each: Any, axis: int, across: Callable[..., Any], y: int, colours: Mapping[str, str]
) -> Iterator[str]:
    """Yield the elements of one row: the paths of the clients in a round, and the model after the
    round."""
    yield svg_text(LEFT - 8, y + 4, f"{each.what} {each.number + 1}", anchor="end")
    for track in each.tracks:
        points = [across(p[axis]) for p in map(point_in_floats, track.points)]
        colour = colours.get(f"f_{track.who}", "currentColor")
        line = " ".join(f"{x:.1f},{y}" for x in points)
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        yield from (f'<circle cx="{x:.1f}" cy="{y}" r="2" fill="{colour}"/>' for x in points[1:])
    x = across(point_in_floats(each.end)[axis])
    yield f'<circle cx="{x:.1f}" cy="{y}" r="3.5" fill="none" stroke="currentColor" stroke-width="1.5"/>'


def curve_knots(curve: Mapping[str, Any]) -> list[Counted]:
    """Return the places where a curve's second derivative changes: its knots, and its soft
    corners."""
    return [knot for delta, knot in curve.get("bends", ()) if delta] + [
        corner for _, _, corner in curve.get("soft", ())
    ]


def curve_value(curve: Mapping[str, Any], x: float) -> float:
    """Return the value of a loss at a float."""
    plain = {
        "slope": float(curve["slope"]),
        "tilt": float(curve["tilt"]),
        "bends": [[*map(float, bend)] for bend in curve.get("bends", ())],
    }
    soft = [[*map(float, each)] for each in curve.get("soft", ())]
    rounded = sum(h * softplus(rate * (x - corner)) for h, rate, corner in soft)
    return float(losses.loss_value([plain], [x])) + rounded


def softplus(z: Any) -> Any:
    """Return log(1 + exp(z)) without overflow for large |z|."""
    return max(z, 0.0) + log1p(exp(-abs(z)))


def axis_window(values: Sequence[float], marks: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an interval that contains all values, and the marks that are not far from
    the values.

    A mark counts as near within two lengths of the values' interval. A tenth of the length is added
    at both ends; a single value gets an interval as wide as its distance to the marks.
    """
    shown = values or marks or [0.0]
    low, high = min(shown), max(shown)
    reach = max(high - low, 1e-9 * max(abs(low), abs(high)), 1e-300)
    if high == low:
        reach = max([abs(mark - low) for mark in marks if mark != low], default=max(abs(low), 1.0))
    near = [mark for mark in marks if low - 2 * reach <= mark <= high + 2 * reach]
    low, high = min([low, *near]), max([high, *near])
    room = 0.1 * (high - low) or 0.5 * reach
    return low - room, high + room


def sample_places(low: float, high: float) -> list[float]:
    """Return SAMPLES + 1 equally spaced places from `low` to `high`."""
    return [low + (high - low) * n / SAMPLES for n in range(SAMPLES + 1)]


def draw_sides(document: Any) -> str:
    """Draw the two sides of a line as bars.

    Bars have a common scale and start at zero, in the middle if a side is negative. Sides beyond
    the range of floats, and sides in words, give no picture.
    """
    try:
        ends = [float(Fraction(document[side])) for side in ("left", "right")]
    except (ValueError, OverflowError):
        return ""
    most = max(map(abs, ends)) or 1.0
    if not isfinite(most):
        return ""
    zero = LEFT if min(ends) >= 0 else (LEFT + WIDE - RIGHT) / 2
    said = [svg_line(zero, 6, zero, 62)]
    for n, (name, end) in enumerate(zip(("left", "right"), ends)):
        long = end / most * (WIDE - RIGHT - zero)
        said.append(
            f'<rect x="{min(zero, zero + long):.1f}" y="{10 + 26 * n}" width="{abs(long):.1f}" '
            f'height="16" fill="{COLOURS[n]}"/>'
        )
        said.append(svg_text(LEFT - 8, 22 + 26 * n, name, anchor="end"))
        said.append(svg_text(max(zero, zero + long) + 4, 22 + 26 * n, f"{end:.4g}"))
    sign = document["statement"]["sign"]
    return frame_svg(f"{document['cites']}: left {sign} right is false", 70, said)


def svg_line(x: Number, y: int, to_x: Number, to_y: int) -> str:
    """Return a straight line in the colour of the page's text."""
    return f'<path d="M{x} {y} L{to_x} {to_y}" stroke="currentColor" opacity=".6"/>'


def svg_text(
    x: float, y: float, said: str, colour: str = "currentColor", anchor: str = "start"
) -> str:
    """Return a short text at a place, escaped, with `anchor` as in SVG: start, middle or end."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" font-size="11" text-anchor="{anchor}">'
        f"{escape(said)}</text>"
    )


def frame_svg(about: str, high: int, said: Sequence[str]) -> str:
    """Return an SVG of the drawn elements, with a description in words."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" width="{WIDE}" '
        f'height="{high}" role="img" aria-label="{escape(about)}" font-family="sans-serif">'
        f"{''.join(said)}</svg>"
    )
