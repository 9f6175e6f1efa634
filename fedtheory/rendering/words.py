"""A counterexample in words: the claim, the losses as formulas, the numbers, the run step by step,
and the line with the numbers substituted.

The document's own numbers are used, as exact fractions. Long numbers are rounded in the text, and
the text says so. A line is shown twice: with its symbols, and with the numbers substituted.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.language.statements import DENIED
from fedtheory.models import Model, by_name, entry_names
from fedtheory.rendering.formulas import write_formula
from fedtheory.rendering.losses import MADE_OF, loss_formula, losses_of, readable_number
from fedtheory.rendering.steps import reason_untold, run_lines
from fedtheory.typing import Document

SIDES = "left", "right"
STRUCTURE = "fedtheory structure 1"
SHOWN = 4  # members of a family that are printed


def describe_counterexample(document: Document | None) -> list[str]:
    r"""Return the lines that describe the document of a counterexample, and no lines for any other
    document.

    >>> import fedtheory as ft
    >>> from fedtheory.rendering.words import describe_counterexample
    >>> print("\n".join(describe_counterexample(ft.check("mixed.stepD2", budget=1).certificate)[-2:]))
    There it reads: 4 == -4 + 1 + 1 + 1 + 1
    that is 4 == 0, which is false.

    A document of a counterexample, a family against an order, an instance for a statement of
    existence, or a structural difference has lines. The sentences for LaTeX are made of the same
    parts.
    """
    kind = document.get("format") if isinstance(document, dict) else None
    tells = {
        check_instance.FORMAT: instance_lines,
        check_family.FORMAT: family_lines,
        STRUCTURE: structure_lines,
        EXISTENCE: lambda found: instance_lines(found["denial"], shows=True)[1:],
    }
    return tells[kind](document) if kind in tells else []


def instance_lines(document: Document, shows: bool = False) -> list[str]:
    """Return the lines on a counterexample to a line. With `shows`, the instance proves a claim of
    existence, so the document refutes the claim's negation."""
    setting, sign = by_name(document["setting"]), document["statement"]["sign"]
    sign, truth = (DENIED[sign], "true") if shows else (sign, "false")
    said = [
        f"{document['cites']} says: {failing_line(document)}",
        f"Take an instance of {setting.says}, inside its hypotheses:",
        *(f"  {line}" for line in made_of(document, setting)),
    ]
    said += story_lines(document)
    said += derived_values(document, setting)
    end = f"{document['left']} {sign} {document['right']}"
    sides = [write_formula(document["statement"][side], number_texts(document)) for side in SIDES]
    put_in = end if None in sides else f" {sign} ".join(sides)
    if put_in == end:
        return [*said, f"There it comes to {end}, which is {truth}."]
    return [*said, f"There it reads: {put_in}", f"that is {end}, which is {truth}."]


def story_lines(document: Document) -> list[str]:
    """Return a run step by step, or the reason why no steps are described."""
    told, why = run_lines(document), reason_untold(document)
    return ["Step by step:", *(f"  {line}" for line in told)] if told else [why] if why else []


def failing_line(document: Document | None) -> str:
    """Return the line that fails, without the other lines of its statement; the statement's short
    name where the line is too long."""
    stated = document["statement"]
    if not stated["says"].startswith("line "):
        return stated["says"]
    sides = [write_formula(stated[side], {}) for side in SIDES]
    return stated["says"] if None in sides else f" {stated['sign']} ".join(sides)


def number_texts(document: dict[str, Any] | None) -> dict[str, str]:
    """Return {name: text} of every number of a document."""
    given = {name: text for name, text in document["numbers"].items() if isinstance(text, str)}
    return {**document["values"], **given}


def made_of(document: Document, setting: Model) -> Iterator[str]:
    """Yield the losses of an instance, its other entries, and its numbers, with a line for each
    kind. Empty entries and entries without effect are left out.

    Losses with equal formulas share a line. The entries are called as the model's file calls them.
    """
    parts = check_instance.read_numbers(document["instance"])
    names = entry_names(setting)
    losses = losses_of(parts, names.get("losses", ()))
    by_formula = {}
    for loss in losses:
        by_formula.setdefault(str(loss), []).append(loss)
    for text, whose in by_formula.items():
        meant = [f"{loss.name}: {loss.meaning}" for loss in whose if loss.meaning]
        equal = " = ".join(loss.name for loss in whose)
        yield f"{equal} = {text}" + f"   ({'; '.join(meant)})" * bool(meant)
    plain, others = [], []
    for name, value in parts.items():
        if losses and name in MADE_OF or names.get(name) == "" or is_trivial(name, value, parts):
            continue
        text = describe_lottery(value) or short_text(value)
        if name in names and (isinstance(value, list) or text != readable_number(value)):
            others.append(f"{names[name]}: {text}")
        else:
            plain.append(f"{name} = {text}")
    given = check_instance.read_numbers(document["numbers"])
    plain += [f"{n} = {short_text(v)}" for n, v in given.items() if n != check_family.CONSTANT]
    if others:
        yield "; ".join(others)
    if plain:
        yield ", ".join(plain)
    if has_long_number(parts) or has_long_number(given):
        yield "(long numbers are rounded here; the document has them exactly)"


def has_long_number(tree: Any) -> bool:
    """Tell whether plain data contains a number with more digits than are printed."""
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else None
    return (
        any(map(has_long_number, parts))
        if parts is not None
        else readable_number(tree) != str(tree)
    )


def is_trivial(name: str, value: Any, parts: Mapping[str, Any]) -> bool:
    """Tell whether an entry of an instance is without effect: empty, a single layer of all
    coordinates, or noise of size zero."""
    start = parts.get("x")
    whole = [[0, len(start)]] if isinstance(start, list) else None
    return (
        value in ([], {}, None)
        or (name == "layers" and value in (whole, [0]))
        or (bool(describe_lottery(value)) and not any(any(way) for _, way in value))
    )


def describe_lottery(
    value: int | Counted | Sequence[Counted | list[Counted | list[int | Counted]]],
) -> str:
    """Return a list of [probability, value] pairs in words, and "" for any other value.

    A list counts as a random variable if its probabilities add up to 1. Two opposite values of
    equal probability are written with +-.
    """
    pair = lambda each: isinstance(each, list) and len(each) == 2 and isinstance(each[1], list)
    if not isinstance(value, list) or not value or not all(map(pair, value)):
        return ""
    if any(isinstance(p, list) for p, _ in value) or sum(p for p, _ in value) != 1:
        return ""
    ways = [(p, way) for p, way in value if p]
    if len(ways) == 1:
        return f"{short_text(ways[0][1])}, surely"
    opposed = len(ways) == 2 and all(a == -b for a, b in zip(ways[0][1], ways[1][1]))
    if opposed and ways[0][0] == ways[1][0]:
        return f"+-{short_text(ways[0][1])}, each with probability 1/2"
    return ", ".join(f"{short_text(way)} with probability {readable_number(p)}" for p, way in ways)


def short_text(value: Any) -> str:
    """Return plain data as short text; a list of one number is written as the number."""
    if isinstance(value, dict):
        return "; ".join(f"{name} {short_text(each)}" for name, each in value.items())
    if isinstance(value, list):
        return short_text(value[0]) if len(value) == 1 else f"({', '.join(map(short_text, value))})"
    return readable_number(value)


def derived_values(document: Document, setting: Any) -> list[str]:
    """Return lines on the values in a line that are not given: constants on one line, then each
    measured quantity with its meaning."""
    measured, every = document["statement"]["measured"], number_texts(document)
    said = [f"{name} = {every[name]}" for name in names_used(document) if name not in measured]
    found = [f"so that {', '.join(said)}."] if said else []
    for name in names_used(document):
        if name in measured:
            meaning = setting.table[measured[name]].meaning
            found.append(f"measured there: {name} = {every[name]} ({meaning})")
    return found


def names_used(document: dict[str, Any] | None) -> list[str]:
    """Return the names in a line that the document does not give as numbers."""
    names = {d for side in SIDES for op, _, d in document["statement"][side] if op == "symbol"}
    return sorted(names - document["numbers"].keys() - document["instance"].keys())


def family_lines(document: Document) -> list[str]:
    """Return the lines on a family of instances that refutes an order for every constant C.

    The first SHOWN members are printed, each with the constant C that it refutes.
    """
    first = document["members"][0]
    setting = by_name(first["setting"])
    return [
        f"{document['cites']} says: {document['says']}",
        f"No constant C makes it true. Take an instance of {setting.says}, inside its hypotheses:",
        *(f"  {line}" for line in made_of(first, setting)),
        *story_lines(first),
        *describe_moves(document),
        *(
            f"  C = {constant}: {each['left']} {each['statement']['sign']} {each['right']} is false"
            for constant, each in member_lines(document)
        ),
        f"and so on, for {len(document['members'])} such instances in the document.",
    ]


def describe_moves(document: dict[str, Any] | None) -> list[str]:
    """Return the lines that say how the further members of a family are made from the first
    instance."""
    moves = [
        f"{name} times {readable_number(check_instance.parse_fraction(factor))}"
        for name, factor in document["moves"].items()
    ]
    go_on = (
        f"each further one has {' and '.join(moves)}" if moves else "it alone shows it for every C"
    )
    return [f"Of such instances {go_on}. With C times the shape on the right:"]


def member_lines(document: dict[str, Any] | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (constant, counterexample) of the first members of a family."""
    for each in document["members"][:SHOWN]:
        yield (
            readable_number(check_instance.parse_fraction(each["numbers"][check_family.CONSTANT])),
            each,
        )


def structure_lines(document: Document) -> list[str]:
    """Return the lines on recomputed cells of a table, or on two methods that the claim says are
    equal."""
    found = [f"{document['claim']} says: {document['says']}"]
    for what, printed, computed in document.get("cells", ()):
        yes = {True: "yes", False: "no"}
        said, is_ = (yes[v] if isinstance(v, bool) else short_text(v) for v in (printed, computed))
        found.append(f"  {what}: printed {said}, computed {is_}")
    if "equivalence" in document:
        found += methods_apart(document["equivalence"], document["instance"])
    return found


def methods_apart(same: Mapping[str, Any], given: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines on two methods, or one method with two sets of numbers, that end in different
    points on an instance.

    The problem is quadratic: row n of A holds the curvatures of client n by coordinate, and row n
    of b the minimisers.
    """
    fixed = lambda numbers: ", ".join(
        f"{name} = {short_text(value)}" for name, value in numbers.items()
    )
    one, other = same["one"], same.get("other") or same.get("function")
    both = [
        f"{name} with {fixed(numbers)}" if numbers else str(name)
        for name, numbers in ((one, same["fixed"]), (other, same["other_fixed"]))
    ]
    rows = zip(given["A"], given["b"])
    yield f"Not so: run {both[0]}, and {both[1]}, on"
    for n, (a, b) in enumerate(rows):
        if all(isinstance(each, str) for each in (*a, *b)):
            curves = [
                dict(slope=Fraction(x), tilt=-Fraction(x) * Fraction(y), at=Fraction(y))
                for x, y in zip(a, b)
            ]
            yield f"  f_{n} = {loss_formula(curves)}" + "   (the server's, or the center's)" * (
                n == 0
            )
    rest = {name: value for name, value in given.items() if name not in ("A", "b", "hyper", "seed")}
    yield f"  {fixed(rest)}, {fixed(given['hyper'])}"
    yield "from one start: they end in different points."
