"""Laws of rounds in which clients do part of their work, or none: asked of methods that hear from
everyone in each round, as schemes A to C of flexible participation do."""

from fedtheory.conformance.instances import Q, near, short
from fedtheory.conformance.laws import ALL, FIXED, METAMORPHIC, STRAIGHT, Law, apart

PART = ((3, 0, 2), (1, 3, 0), (2, 3, 3))  # somebody is complete in each round
BEGUN = ((3, 0, 0), (0, 2, 0), (0, 0, 3))
OTHER = Q(5), Q(-7)  # where another loss is least


def scene(code, work, **changes):
    return code.scene(cohorts=ALL[:1] * len(work), work=work, **changes)


def went(code, each, **changes):
    """How far a round leads in which clients do so much."""
    start, end = code.points(scene(code, (each,), **changes))
    return end - start


def parts(one, other, says):
    """None where two changes of x are one, or in words."""
    return (
        None if near(one, other) else f"x goes by {short(one)} {says}, by {short(other)} otherwise"
    )


def nobody(code, own):
    still = code.points(scene(code, ((0, 0, 0),) * 2))
    return apart(still, still[:1] * len(still), "where nobody works")


def unseen(code, who, says):
    """Another loss of a client, in the one round in which `who` says that it does not count."""
    for n, each in enumerate(PART):
        for i in (k for k, steps in enumerate(each, 1) if who(steps)):
            plain = scene(code, (each,))
            b = [OTHER if k == i else point for k, point in enumerate(plain.b)]
            found = apart(
                code.points(plain._replace(b=tuple(b))), code.points(plain), says.format(i)
            )
            if found:
                return f"where clients do {PART[n]} steps, {found}"
    return None


def idle(code, own):
    return unseen(
        code, lambda steps: steps == 0, "with another loss of client {}, who does nothing"
    )


def discarded(code, own):
    return unseen(code, lambda steps: steps < 3, "with another loss of client {}, who is not ready")


def adds_up(code, own):
    alone = sum(went(code, each) for each in BEGUN)
    return parts(alone, went(code, (3, 2, 3)), "where clients work one after another")


def one_of_equals(code, own):
    first = code.scene()
    alike = dict(a=(first.a[0], *first.a[1:2] * 3), b=(first.b[0], *first.b[1:2] * 3))
    all_three = code.points(scene(code, ((3, 3, 3),) * 2, **alike))
    one = code.points(scene(code, ((1, 3, 2), (3, 0, 3)), **alike))
    return apart(one, all_three, "with one of three equal clients ready, then two")


def scaled(code, own):
    full, part = (went(code, each, **STRAIGHT) for each in ((3, 3, 3), (1, 2, 3)))
    return parts(part, full, "where losses are straight and clients do 1, 2 and 3 steps")


def in_proportion(code, own):
    full, one = (went(code, each, **STRAIGHT) for each in ((3, 3, 3), (1, 1, 1)))
    return parts(3 * one, full, "in three rounds of one step where losses are straight")


WORK = (
    Law("nobody works", FIXED, "moves though nothing was done", nobody),
    Law("who does nothing is not seen", METAMORPHIC, "asks those who rest", idle),
    Law("work adds up", METAMORPHIC, "has shares that depend on who else works", adds_up),
    Law("who is not ready does not count", METAMORPHIC, "takes what is to be left", discarded),
    Law(
        "one of equals is enough",
        METAMORPHIC,
        "does not make up for those who are not ready",
        one_of_equals,
    ),
    Law("work is scaled up", METAMORPHIC, "favours those who do more", scaled),
    Law("work counts in proportion", METAMORPHIC, "weighs work otherwise", in_proportion),
)
