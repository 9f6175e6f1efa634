"""Laws of rounds in which clients do part of their work or none, for methods in which every client
takes part in each round, such as schemes A to C of flexible participation."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedtheory.conformance.instances import Instance, Q, nearly_equal, short_numbers
from fedtheory.conformance.laws import (
    ALL,
    FIXED,
    METAMORPHIC,
    STRAIGHT,
    Code,
    Law,
    describe_difference,
)
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np

PART = ((3, 0, 2), (1, 3, 0), (2, 3, 3))  # in each round some client does all steps
BEGUN = ((3, 0, 0), (0, 2, 0), (0, 0, 3))
OTHER = Q(5), Q(-7)  # the minimiser of another loss


def work_scene(
    code: Code, work: Sequence[Any], **changes: Sequence[Fraction | tuple[Fraction, Fraction]]
) -> Instance:
    """Return the scene of all three clients with `work[t][i - 1]` steps of client i in round t."""
    return code.scene(cohorts=ALL[:1] * len(work), work=work, **changes)


def distance_gone(
    code: Code, each: Sequence[int], **changes: Sequence[Fraction | tuple[Fraction, Fraction]]
) -> "np.ndarray":
    """Return the change of x in one round in which client i takes `each[i - 1]` steps."""
    start, end = code.points(work_scene(code, (each,), **changes))
    return end - start


def describe_parting(one: Number, other: "np.ndarray", says: str) -> str | None:
    """Return None if two changes of x are equal, and a sentence about the difference otherwise."""
    return (
        None
        if nearly_equal(one, other)
        else f"x goes by {short_numbers(one)} {says}, by {short_numbers(other)} otherwise"
    )


def nobody_works(code: Code, own: Code) -> Any:
    """Check x unchanged in rounds of 0 steps of every client."""
    still = code.points(work_scene(code, ((0, 0, 0),) * 2))
    return describe_difference(still, still[:1] * len(still), "where nobody works")


def loss_unseen(code: Code, who: Callable[..., Any], says: str) -> str | None:
    """Check that the loss of a client has no effect in the one round in which `who(steps)` is true,
    where the client's work does not count. Return None, or a sentence about the difference."""
    for n, each in enumerate(PART):
        for i in (k for k, steps in enumerate(each, 1) if who(steps)):
            plain = work_scene(code, (each,))
            b = [OTHER if k == i else point for k, point in enumerate(plain.b)]
            found = describe_difference(
                code.points(plain._replace(b=tuple(b))), code.points(plain), says.format(i)
            )
            if found:
                return f"where clients do {PART[n]} steps, {found}"
    return None


def idle_unseen(code: Code, own: Code) -> Any:
    """Check x unchanged by another loss of a client with 0 steps (schemes A to C)."""
    return loss_unseen(
        code, lambda steps: steps == 0, "with another loss of client {}, who does nothing"
    )


def discard_work(code: Code, own: Code) -> str | None:
    """Check x unchanged by another loss of a client with fewer than 3 steps (scheme A)."""
    return loss_unseen(
        code, lambda steps: steps < 3, "with another loss of client {}, who is not ready"
    )


def adds_up(code: Code, own: Code) -> str | None:
    """Compare the sum of the moves by clients who work alone to the move of all together.

    The sum is taken over the rounds BEGUN, in each of which one client works.
    """
    alone = sum(distance_gone(code, each) for each in BEGUN)
    return describe_parting(
        alone, distance_gone(code, (3, 2, 3)), "where clients work one after another"
    )


def one_of_equals(code: Code, own: Code) -> str | None:
    """Compare one complete client among three equal clients to all three (scheme A)."""
    first = code.scene()
    alike = dict(a=(first.a[0], *first.a[1:2] * 3), b=(first.b[0], *first.b[1:2] * 3))
    all_three = code.points(work_scene(code, ((3, 3, 3),) * 2, **alike))
    one = code.points(work_scene(code, ((1, 3, 2), (3, 0, 3)), **alike))
    return describe_difference(one, all_three, "with one of three equal clients ready, then two")


def scale_work(code: Any, own: Code) -> str | None:
    """Compare 1, 2 and 3 steps on straight losses to 3 steps each (scheme C)."""
    full, part = (distance_gone(code, each, **STRAIGHT) for each in ((3, 3, 3), (1, 2, 3)))
    return describe_parting(part, full, "where losses are straight and clients do 1, 2 and 3 steps")


def in_proportion(code: Any, own: Code) -> str | None:
    """Compare three times the move by one step each to the move by three steps each, on straight
    losses (scheme B)."""
    full, one = (distance_gone(code, each, **STRAIGHT) for each in ((3, 3, 3), (1, 1, 1)))
    return describe_parting(3 * one, full, "in three rounds of one step where losses are straight")


WORK = (
    Law("nobody works", FIXED, "moves though nothing was done", nobody_works),
    Law("who does nothing is not seen", METAMORPHIC, "asks those who rest", idle_unseen),
    Law("work adds up", METAMORPHIC, "has shares that depend on who else works", adds_up),
    Law("who is not ready does not count", METAMORPHIC, "takes what is to be left", discard_work),
    Law(
        "one of equals is enough",
        METAMORPHIC,
        "does not make up for those who are not ready",
        one_of_equals,
    ),
    Law("work is scaled up", METAMORPHIC, "favours those who do more", scale_work),
    Law("work counts in proportion", METAMORPHIC, "weighs work otherwise", in_proportion),
)
