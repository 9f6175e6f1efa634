"""Laws that hold for all numbers: the fixed points of a method, its memories, and the changes that
have no effect.

A law is first checked on the method's own kernels: a law that they break does not belong to the
method, and says nothing about the code. A law needs only `x` after each round from the code, and
for some laws the memories. It does not need the points at which the code takes its gradients, so
laws also apply to code whose queries cannot be observed.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory.conformance.instances import Instance, Q, nearly_equal, short_numbers, to_floats
from fedtheory.typing import Exact

if TYPE_CHECKING:
    import numpy as np

FIXED, INVARIANT, METAMORPHIC = "fixed point", "invariant", "metamorphic"
LONG = 150  # rounds until a method is at rest

A = (Q(1), Q(1), Q(1, 2), Q(2))
B = tuple(tuple(map(Q, point)) for point in ((1, 1), (2, 0), (-1, 3), (0, -2)))
UNEQUAL, EQUAL = (Q(1, 2), Q(1, 3), Q(1, 6)), (Q(1, 3),) * 3
ALL, PAIRS = ((1, 2, 3),) * 3, ((1, 3), (2, 3), (1, 2), (2, 3))
SCENE = Instance("three clients", A, B, UNEQUAL, PAIRS, (Q(3), Q(4)))
# slopes (-1, -2), (2, 1) and (0, -3), with curvatures too small to affect a step
FLAT, SLOPES = Q(1, 10**9), ((0, 0), (-1, -2), (2, 1), (0, -3))
STRAIGHT = dict(a=(FLAT,) * 4, b=tuple(tuple(-Q(g) / FLAT for g in each) for each in SLOPES))
TURN = ((Q(3, 5), Q(-4, 5)), (Q(4, 5), Q(3, 5)))


class Code(NamedTuple):
    """The code that a law tests: a user's code, or the method's own kernels."""

    path: Callable[
        ..., Any
    ]  # (instance, one_step) -> the states before and after each round, as arrays
    rest: Callable[..., Any]  # (instance) -> x after many rounds
    everyone: bool  # whether all clients take part in every round
    memories: tuple[
        Any, ...
    ]  # (f, f_i) of a method's State: the copies of one memory at server and clients
    weighted: bool = True  # whether clients have weights

    def scene(self, **changes: Sequence[Fraction | tuple[Exact, ...]]) -> Instance:
        """Return SCENE with `changes`, fitted to the code: all clients in every cohort where the
        method needs everyone, equal weights where the code has no weights."""
        if self.everyone:
            changes = dict(cohorts=ALL) | changes
        if not self.weighted:
            changes["weights"] = EQUAL
        return SCENE._replace(**changes)

    def points(self, instance: Instance, one_step: bool = False) -> "list[np.ndarray]":
        """Return x before and after each round on an instance."""
        return [state["x"] for state in self.path(instance, one_step)]


class Law(NamedTuple):
    """A property of a method's runs, with the mistake that breaks it."""

    name: str
    kind: str
    shows: str  # the mistake of code that breaks the law
    # (code, the method's own) -> a description of the violation; None, or Obeyed, where there is
    # none
    ask: Callable[..., Any]


class Obeyed(str):
    """A law that the code obeys, with a remark on how."""


class Unseen(Exception):
    """The error that a law raises where the code does not show the quantities that the law tests."""


# ---------------------------------------------------------------- comparison


def describe_difference(
    one: "Sequence[np.ndarray]", other: "Sequence[np.ndarray]", says: str
) -> str | None:
    """Return None if two paths are equal, and a sentence about the first difference otherwise."""
    for t, (x, y) in enumerate(zip(one, other, strict=True)):
        if not nearly_equal(x, y):
            return f"after round {t} x is {short_numbers(x)} {says}, {short_numbers(y)} without"
    return None


def stays_at_minimiser(code: Code, own: Code) -> str | None:
    """Check x = b after every round, started at b, where b_i = b for all clients."""
    at = (Q(1), Q(-2))
    still = code.points(code.scene(b=(at,) * 4, x_0=at))
    return describe_difference(
        still, [to_floats(at)] * len(still), "where every loss is least at the start"
    )


def rests_at_end(code: Code, own: Code) -> str | Obeyed:
    """Compare x after LONG rounds of all clients with the point where the method ends."""
    scene = code.scene(cohorts=ALL)
    mine, best = own.rest(scene), to_floats(scene.minimiser())
    place = f"{short_numbers(mine)}, {'' if nearly_equal(mine, best) else 'which is not '}the minimiser of F"
    x = mine if code is own else code.rest(scene)
    if nearly_equal(x, mine):
        return Obeyed(f"at {place}")
    return f"after {LONG} rounds of all clients x is {short_numbers(x)}; the method's is {place}"


def held_by(code: Code, scene: Instance) -> "list[dict[str, np.ndarray]]":
    """Return the states on a scene, and raise Unseen where the states lack a memory of the method."""
    states = list(code.path(scene, False))
    if not code.memories or any(name not in states[0] for pair in code.memories for name in pair):
        raise Unseen
    return states


def mean_of_memories(code: Code, own: Code) -> str | None:
    """Check c = sum_i p_i c_i after each round, for every memory c of the server."""
    scene = code.scene()
    p = to_floats(scene.weights)
    for t, state in enumerate(held_by(code, scene)):
        for name, rows in code.memories:
            mean = p @ state[rows]
            if not nearly_equal(state[name], mean):
                told = f"{name} is {short_numbers(state[name])}, and sum_i p_i {rows} {short_numbers(mean)}"
                return f"after round {t} {told}"
    return None


def who_rests_keeps(code: Code, own: Code) -> str | None:
    """Compare the memory of each client outside the cohort before and after the round."""
    scene = code.scene()
    if code.everyone:
        raise Unseen
    states = held_by(code, scene)
    for t, cohort in enumerate(scene.cohorts):
        for _, rows in code.memories:
            for i in sorted({1, 2, 3} - set(cohort)):
                before, after = (state[rows][i - 1] for state in states[t : t + 2])
                if not nearly_equal(after, before):
                    gone = f"from {short_numbers(before)} to {short_numbers(after)}"
                    return f"client {i} rests in round {t + 1}, and its {rows} goes {gone}"
    return None


def of_straight_losses(code: Any, own: Code) -> str | None:
    """Check on straight losses, whose gradient is constant, that each client stores this gradient
    however far the client moved. Return None, or a sentence about the first difference."""
    return keep_gradients(code, code.scene(**STRAIGHT), "the losses are straight, and")


def of_the_start(code: Code, own: Code) -> str | None:
    """Check on curved losses c_i = grad f_i(x), with x the point where the round began."""
    return keep_gradients(code, code.scene(), "")


def keep_gradients(code: Code, scene: Instance, where: str) -> str | None:
    """Check that the memory of a client after its round is the client's gradient at x, where the
    round began. Return None, or a sentence about the first difference."""
    states = held_by(code, scene)
    for t, cohort in enumerate(scene.cohorts):
        for _, rows in code.memories:
            for i in cohort:
                due = float(scene.a[i]) * (states[t]["x"] - to_floats(scene.b[i]))
                mine = states[t + 1][rows][i - 1]
                if not nearly_equal(mine, due):
                    gone = f"{rows} of client {i} is {short_numbers(mine)}, and its gradient {short_numbers(due)}"
                    return f"{where} after round {t + 1} {gone}".strip()
    return None


def x_alone(code: Code, own: Code) -> str | None:
    """Check that a round depends on x alone: a run started anew where a round ended has the same
    next round. Return None, or a sentence about the first difference."""
    scene = code.scene()
    points = code.points(scene)
    for t in range(1, len(scene.cohorts)):
        here = tuple(Q(float(z)) for z in points[t])
        anew = code.points(scene._replace(x_0=here, cohorts=scene.cohorts[t : t + 1]))[1]
        if not nearly_equal(anew, points[t + 1]):
            gone = f"{short_numbers(points[t + 1])}, and {short_numbers(anew)} begun anew at {short_numbers(points[t])}"
            return f"round {t + 1} ends in {gone}"
    return None


def relabel_clients(code: Code, own: Code) -> Any:
    """Compare the paths of x before and after the clients exchange their names."""
    scene, called = code.scene(), (0, 2, 3, 1)  # client i gets the name called[i]
    before = [0, *(called.index(i) for i in (1, 2, 3))]
    other = scene._replace(
        a=tuple(scene.a[i] for i in before),
        b=tuple(scene.b[i] for i in before),
        weights=tuple(scene.weights[i - 1] for i in before[1:]),
        cohorts=tuple(tuple(called[i] for i in cohort) for cohort in scene.cohorts),
    )
    return describe_difference(
        code.points(other), code.points(scene), "with clients 1, 2, 3 called 2, 3, 1"
    )


def reorder_cohort(code: Code, own: Code) -> str | None:
    """Compare the paths of x under both orders of each cohort."""
    scene = code.scene()
    other = scene._replace(cohorts=tuple(cohort[::-1] for cohort in scene.cohorts))
    return describe_difference(
        code.points(other), code.points(scene), "with each cohort named backwards"
    )


def move_in_space(code: Code, of: Callable[..., Any], says: str) -> str | None:
    """Check that moving the losses and the start in space moves the path in the same way. Return
    None, or a sentence about the first difference."""
    scene = code.scene()
    other = scene._replace(b=tuple(tuple(of(b)) for b in scene.b), x_0=tuple(of(scene.x_0)))
    due = [to_floats(of([Q(z) for z in x])) for x in code.points(scene)]
    return describe_difference(code.points(other), due, says)


def turn_space(code: Code, own: Code) -> str | None:
    """Check the path of x under the rational rotation TURN of losses and start."""
    turn = lambda v: [sum(q * z for q, z in zip(row, v)) for row in TURN]
    return move_in_space(code, turn, "turned by the angle of 3/5 and 4/5")


def shift_space(code: Code, own: Code) -> str | None:
    """Check the path of x where losses and start are shifted by [2, -1]."""
    return move_in_space(code, lambda v: [v[0] + 2, v[1] - 1], "shifted by [2, -1]")


def one_step(code: Code, own: Code) -> str | Obeyed:
    """Compare a round with K = 1 to a gradient step of F."""
    return gradient_step(code, own, 0)


def both_losses(code: Code, own: Code) -> str | Obeyed:
    """Compare a round with K = 1 to a gradient step of F + f_0."""
    return gradient_step(code, own, 1)


def gradient_step(code: Code, own: Code, share: int) -> str | Obeyed:
    """Check that a round of all clients with one local step each is a gradient step of F plus
    `share` times f_0. Return Obeyed with the step's length, or a sentence about the first
    difference."""
    scene = code.scene(cohorts=ALL, **({"weights": EQUAL} if share else {}))
    weights = (Q(share), *scene.weights)
    grad = lambda x: sum(
        float(p * a) * (x - to_floats(b)) for p, a, b in zip(weights, scene.a, scene.b)
    )
    start, then = own.points(scene, True)[:2]
    length = float((start - then) @ grad(start) / (grad(start) @ grad(start)))
    points = code.points(scene, True)
    for t, (x, y) in enumerate(zip(points, points[1:])):
        due = x - length * grad(x)
        if not nearly_equal(y, due):
            gone = f"from {short_numbers(x)} to {short_numbers(y)}; a gradient step of {length:g} ends in {short_numbers(due)}"
            return f"where task.hyper has one step, round {t + 1} goes {gone}"
    return Obeyed(f"of {length:g}")


def same_for_copies(code: Code, own: Code) -> Any:
    """Compare the path of x for three equal clients of equal weight to the path for one."""
    one = Instance("one client", A[:2], B[:2], (Q(1),), ((1,),) * 3, SCENE.x_0)
    many = code.scene(a=(A[0], *A[1:2] * 3), b=(B[0], *B[1:2] * 3), cohorts=ALL)
    return describe_difference(
        code.points(many), code.points(one), "with three clients that are alike"
    )


def drawn_of_equals(code: Code, own: Code) -> str | None:
    """Compare the paths of x under two choices of cohorts among equal clients."""
    if code.everyone:
        raise Unseen
    scene = code.scene(a=(A[0], *A[1:2] * 3), b=(B[0], *B[1:2] * 3), cohorts=PAIRS[:3])
    return describe_difference(
        code.points(scene),
        code.points(scene._replace(cohorts=ALL)),
        "with two of three equal clients in a round",
    )


def copy_clients(code: Code, own: Code) -> str | None:
    """Compare the path with a client of weight 2/3 to the path with two copies of weight 1/3."""
    if not code.weighted:
        raise Unseen
    two = Instance("two", A[:3], B[:3], (Q(2, 3), Q(1, 3)), ((1, 2),) * 3, SCENE.x_0)
    of = (0, 1, 1, 2)
    a, b = (tuple(numbers[i] for i in of) for numbers in (A, B))
    three = two._replace(a=a, b=b, weights=EQUAL, cohorts=ALL)
    says = "with a client of weight 2/3 in two of 1/3"
    return describe_difference(code.points(three), code.points(two), says)


LAWS = (
    Law(
        "stays at a common minimiser",
        FIXED,
        "moves where there is nothing to gain",
        stays_at_minimiser,
    ),
    Law("rests", FIXED, "has another fixed point than the method", rests_at_end),
    Law(
        "the server's memory is the mean",
        INVARIANT,
        "corrects by a mean that is none",
        mean_of_memories,
    ),
    Law(
        "who rests keeps", INVARIANT, "changes what clients keep who have no part", who_rests_keeps
    ),
    Law("memories of straight losses", INVARIANT, "keeps no mean gradient", of_straight_losses),
    Law("memories are gradients at x", INVARIANT, "takes a gradient elsewhere", of_the_start),
    Law("a round knows x alone", INVARIANT, "has kept what a round before has left", x_alone),
    Law("relabelled clients", METAMORPHIC, "treats clients by their numbers", relabel_clients),
    Law("order of a cohort", METAMORPHIC, "lets clients of a round see each other", reorder_cohort),
    Law("shift", METAMORPHIC, "knows where zero is: shares that do not sum to 1", shift_space),
    Law("rotation", METAMORPHIC, "treats coordinates apart", turn_space),
    Law(
        "K = 1 is a gradient step",
        METAMORPHIC,
        "weighs clients otherwise, or has another step",
        one_step,
    ),
    Law(
        "K = 1 is a step of both losses",
        METAMORPHIC,
        "weighs the server's loss otherwise, or has another step",
        both_losses,
    ),
    Law(
        "equal clients are one",
        METAMORPHIC,
        "depends on how many clients there are",
        same_for_copies,
    ),
    Law(
        "who is drawn of equals",
        METAMORPHIC,
        "takes a mean over others than those who work",
        drawn_of_equals,
    ),
    Law("copies share a weight", METAMORPHIC, "drops the clients' weights", copy_clients),
)
