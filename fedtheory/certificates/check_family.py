"""Checker of a family of instances that refutes an order: along the family, the ratio of the left
side to the shape grows by a factor at each step.

Each member is a counterexample to left <= C shape with its own constant C, derived anew by
`certificate_run`. All members state the same line under the same hypotheses, and C grows
geometrically. Free numbers that move do so geometrically, by the factors in the document. Every
symbol that the shape does not mention, and on which its hidden constant may therefore depend, stays
as it is or becomes easier. Where the left side is infinite at each member (rounds to an error that
is never reached, for example), the coefficients of a regime go to 0: neither a constant nor a small
step helps.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.arithmetic.operations import ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused, require
from fedtheory.certificates.documents import check_sealed, refuse_malformed
from fedtheory.models import by_name

FORMAT = "fedtheory family 1"
CONSTANT = "C_order"  # the symbol that stands for the constant
COEFFICIENT = "c_order_"  # a regime's coefficients: symbol = coefficient times shape
ENTRIES = ("claim", "cites", "says", "line", "moves", "members")
MEMBERS, MOST, GROWTH = 7, 30, Fraction(4)
WIDTH = Fraction(1, 10**40)


@refuse_malformed
def check(document: Any) -> dict[str, Any]:
    """Raise Refused unless the family refutes the order; return {"status", "claim", "says",
    "constants"}."""
    check_sealed(document, FORMAT, *ENTRIES)
    members = document["members"]
    require(
        all(isinstance(document[name], str) for name in ("claim", "cites", "says")),
        "its words are no texts",
    )
    require(
        isinstance(members, list) and MEMBERS <= len(members) <= MOST,
        f"a family has {MEMBERS} to {MOST} members",
    )
    lefts = []
    for member in members:
        lefts.append(check_instance.check(member)["left"])
        require(
            all(
                member[name] == members[0][name]
                for name in ("claim", "line", "statement", "setting")
            ),
            "its members speak of different lines",
        )
    require(
        [step[2] for step in members[0]["statement"]["right"] if step[0] == "symbol"].count(
            CONSTANT
        )
        == 1
        and CONSTANT not in program_symbols(members[0]["statement"]["left"]),
        "no constant to refute",
    )
    require(
        not any(
            CONSTANT in program_symbols(rule["program"])
            for rule in members[0]["statement"]["assumes"]
        ),
        "a hypothesis speaks of the constant",
    )
    constants = [check_instance.parse_fraction(member["numbers"][CONSTANT]) for member in members]
    require(all(b >= GROWTH * a for a, b in zip(constants, constants[1:])), "it does not grow")
    for name in members[0]["numbers"]:
        each = [member["numbers"].get(name) for member in members]
        if name != CONSTANT and all(isinstance(text, str) for text in each):
            at = list(map(check_instance.parse_fraction, each))
            require(
                all(a * c == b * b for a, b, c in zip(at, at[1:], at[2:])),
                f"{name} does not move geometrically",
            )
    compare_moves(document["moves"], members)
    first, *rest = map(hidden_values, members)
    require(
        all(first.keys() == other.keys() for other in rest), "its members speak of different things"
    )
    loose = dict(by_name(members[0]["setting"]).loose)
    if all(isinstance(ends_of(left)[0], float) for left in lefts):
        each = [name for name in first if name.startswith(COEFFICIENT)]
        require(
            all(
                GROWTH * after[name] <= before[name]
                for name in each
                for before, after in zip([first, *rest], rest)
            ),
            "its steps are of one size",
        )
        loose.update(dict.fromkeys(each, 1))
    for other in rest:
        require(
            all(stays_covered(first[n], other[n], loose.get(n, 0)) for n in first),
            "what the shape does not mention moves",
        )
    return dict(
        status="violated", claim=document["claim"], says=document["says"], constants=constants
    )


def compare_moves(moves: Any, members: Sequence[Any]) -> None:
    """Refuse moves that differ from the members of the family. A free number must be multiplied by
    its factor at each step; for a named coordinate of the instance, the increments of at least one
    number in the instance must grow by the factor at each step; and where no coordinate is named,
    no other number may move."""
    require(
        isinstance(moves, dict) and all(isinstance(text, str) for text in moves.values()),
        "what moves is not said by names and factors",
    )
    factors = {name: check_instance.parse_fraction(text) for name, text in moves.items()}
    require(
        all(f > 0 and f != 1 for f in factors.values()), "a move is by no positive factor but 1"
    )
    numbers = [
        {
            n: check_instance.parse_fraction(t)
            for n, t in member["numbers"].items()
            if isinstance(t, str)
        }
        for member in members
    ]
    coordinates = [name for name in factors if name not in numbers[0]]
    for name in numbers[0]:
        at = [each.get(name) for each in numbers]
        if name in factors:
            follows = all(b == factors[name] * a for a, b in zip(at, at[1:]))
            require(follows, f"{name} does not move by {moves[name]} at each step")
        elif name != CONSTANT and not coordinates:
            require(len(set(at)) == 1, f"{name} moves, and is not among what is said to move")
    laid_out = [dict(leaves(member["instance"])) for member in members]
    if not coordinates:
        require(
            all(each == laid_out[0] for each in laid_out), "an instance moves, and nothing says so"
        )
    tracks = [
        [each[place] for each in laid_out]
        for place in laid_out[0]
        if all(place in each for each in laid_out)
    ]
    for name in coordinates:
        require(
            any(grows_by(factors[name], track) for track in tracks),
            f"nothing of the instances moves by {moves[name]} at each step, as {name} is said to",
        )


def leaves(data: Any, place: Sequence[Any] = ()) -> Iterator[tuple[Any, Fraction]]:
    """Yield (place, number) for every number in plain data, including the lengths of lists."""
    if isinstance(data, dict | list):
        items = data.items() if isinstance(data, dict) else enumerate(data)
        yield (*place, "length"), Fraction(len(data))
        for key, value in items:
            yield from leaves(value, (*place, key))
    elif isinstance(data, str | int) and not isinstance(data, bool):
        try:
            yield place, check_instance.parse_fraction(str(data))
        except Refused:  # not a number
            return


def grows_by(factor: Counted, track: Sequence[Fraction]) -> bool:
    """Tell whether each increment of a track of numbers is the previous increment times a factor, or
    whether whole numbers are, but for being rounded, multiplied by the factor at each step."""
    steps = [b - a for a, b in zip(track, track[1:])]
    if steps[0] != 0 and all(b == factor * a for a, b in zip(steps, steps[1:])):
        return True
    whole = all(number.denominator == 1 for number in track)
    back = [track[-1] / factor**k for k in range(len(track))]
    near = all(abs(a - b) < 1 for a, b in zip(reversed(track), back))
    return whole and near and abs(track[-1] - track[0]) >= 1


def program_symbols(steps: Sequence[Any]) -> set[str]:
    return {detail for op, _, detail in steps if op == "symbol"}


def hidden_values(member: Mapping[str, Any]) -> dict[str, Counted]:
    """Return the values on which the constant may depend: all values of an instance known before a
    run, and free numbers, except symbols that the shape mentions or that an equation between
    numbers fixes."""
    statement, setting = member["statement"], by_name(member["setting"])
    instance = check_instance.read_numbers(member["instance"])
    values = dict(setting.constants(instance))
    values.update(
        {
            name: check_instance.parse_fraction(text)
            for name, text in member["numbers"].items()
            if isinstance(text, str)
        }
    )
    for name, steps in statement["solved"]:
        values[name] = check_instance.formula_value(steps, check_instance.pair_values(values))
    begun = [
        name
        for name, entry in setting.table.items()
        if entry.measure in setting.measures
        and entry.measure.at in ("0", "1")
        and name not in values
    ]
    values.update(setting.measure(instance, dict(values), begun) if begun else {})
    fixed = {name for name, _ in statement["solved"] if not name.startswith(COEFFICIENT)}
    mine = {theirs: name for name, theirs in statement["measured"].items()}
    shown = program_symbols(statement["right"]) | {
        statement["measured"].get(n, n) for n in program_symbols(statement["right"])
    }
    return {
        name: value
        for name, value in values.items()
        if mine.get(name, name) not in shown and name not in fixed
    }


def stays_covered(before: Any, after: Any, way: int) -> bool:
    """Tell whether a number stays, or moves to where a bound (way 1: an upper bound) still covers
    it."""
    if isinstance(before, float) or isinstance(after, float):
        return before == after
    (low, high), (least, most) = ends_of(before), ends_of(after)
    return (
        most - low <= WIDTH
        and way > 0
        or high - least <= WIDTH
        and way < 0
        or abs(most - low) <= WIDTH
        and abs(high - least) <= WIDTH
    )
