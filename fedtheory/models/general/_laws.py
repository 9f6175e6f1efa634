"""Laws of chance that an instance breaks, one at a time: whether the instance's parts say so,
whether breaking the law makes a difference, and noise that all clients share."""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedtheory.arithmetic import Undefined
from fedtheory.language.conditions import LAWS
from fedtheory.models.families import sound_noise
from fedtheory.schema import integer, word
from fedtheory.typing import Instance

if TYPE_CHECKING:
    from fedtheory.exact.traces import Rounds

ONE = Fraction(1)
# Schema entries of an instance that breaks one of the laws
SCHEMA = dict(breaks=word(*sorted(LAWS)), turns=integer(1, 1))


def broken_law(instance: Instance) -> str | None:
    """Return the name of the law that an instance is said to break, or None. Undefined is raised
    where there is no such law."""
    found = instance.get("breaks")
    if found is not None and found not in LAWS:
        raise Undefined("a law that is none")
    if "turns" in instance and (found, instance["turns"]) != ("independent_noise", 1):
        raise Undefined("noise that turns, and is not shared")
    return found


def differs(instance: Instance) -> bool:
    """Tell whether the law that an instance is said to break makes a difference in this instance."""
    law, p, noise = instance.get("breaks"), instance.get("p", [ONE]), instance["noise"]
    # whether a run has several draws depends on its method, so any run counts
    several = "T" in instance or instance["S"] > 1
    return dict(
        equal_weights=lambda: any(w != p[0] for w in p),
        uniform_cohort=lambda: instance["S"] < instance["N"],
        independent_noise=lambda: several and any(n != 0 for _, v in noise for n in v),
        noise=lambda: not sound_noise(noise, len(instance["x_0"])),
    ).get(law, lambda: False)()


def turning(noise: Callable[..., Any], rounds: "Rounds") -> Callable[..., Any]:
    """Return noise whose sign alternates with the sum of client, step and round."""
    return lambda i, k: [(p, -n if (i + k + rounds.t) % 2 else n) for p, n in noise(i, k)]


def draws(instance: Instance) -> list[Any]:
    """Return [(probability, instance)], one for each outcome of noise that all clients share in
    every step; otherwise the instance alone."""
    if instance.get("breaks") != "independent_noise" or not instance["noise"]:
        return [(ONE, instance)]
    return [(p, {**instance, "noise": [[ONE, n]]}) for p, n in instance["noise"]]
