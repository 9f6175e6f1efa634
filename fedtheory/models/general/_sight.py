"""The data of an instance that a method is given: gradients relative to where the minimiser lies,
noise, weights, layers, and the result of a method's own transform of the losses."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, NoTruth, vector
from fedtheory.errors import FedtheoryError, NotExact, OneByOne
from fedtheory.exact.kernel_interpreter import Count, as_kernel_argument, reinterpret_kernel
from fedtheory.exact.traces import Losses
from fedtheory.models import losses
from fedtheory.problem import Kernels, Problem
from fedtheory.typing import Assignment, Instance, Number

ZERO = Fraction(0)


class Clients(NamedTuple):
    """The data of a problem that an instance forms: `grad` is (i, x) -> vector."""

    grad: Any


def grad(data: Clients, i: int, x: np.ndarray, out: np.ndarray) -> None:
    out[:] = data.grad(int(i), x)


def loss(data: Clients, i: int, x: np.ndarray) -> NoReturn:
    raise NotExact("a transform that asks for losses has no reading on exact numbers")


def origin(instance: Instance, d: int) -> np.ndarray | None:
    """Return the point at which the method finds the minimiser, or None where that point is 0."""
    if "origin" not in instance:
        return None
    found = vector(instance["origin"])
    if len(found) != d:
        raise Undefined("an origin of another dimension")
    return found


def layers(instance: Instance, d: int) -> tuple[int, ...]:
    """Return the indices at which layers start, checked against the dimension d."""
    starts = tuple(instance.get("layers", (0,)))
    counted = all(type(n) is int for n in starts)
    if not counted or starts[:1] != (0,) or sorted({*starts}) != [*starts] or starts[-1] >= d:
        raise Undefined("layers that do not fit the points")
    return starts


def sight(clients: Any, instance: Instance, method: Algorithm, h: Any) -> Losses:
    """Return the Losses of an instance on which a method with the hyper-parameters h trains."""
    noise = [(p, vector(n)) for p, n in instance["noise"]]
    away, p = origin(instance, clients.d), (ZERO, *clients.p)

    def plain(i: int, x: np.ndarray) -> np.ndarray:
        x = x if away is None else x - away
        return clients.grad(i - 1, x) if i else losses.loss_gradient(instance["server"], x)

    if method.transform is not None and "growth" in instance:
        raise NotExact(f"{method.name}'s transform is not read where noise grows")
    starts = layers(instance, clients.d)
    shown, p = (
        (plain, p) if method.transform is None else _transform_problem(clients, plain, p, method, h)
    )
    drawn = lambda i, k: noise if i else []
    return Losses(shown, drawn, p, clients.d, starts, growth=instance.get("growth"))


def _transform_problem(
    clients: Any, plain: Callable[..., Any], p: Sequence[Fraction], method: Any, h: Any
) -> tuple[Callable[..., Any], tuple[Fraction, Fraction]]:
    """Return the (gradients, weights) that a method's transform makes of a problem with the given
    gradients and weights."""
    given = Problem(
        "an instance", Clients(plain), Kernels(grad, loss), clients.N, clients.d, vector(p), {}
    )
    try:
        made = method.transform(given, h)
    except NoTruth as error:
        raise OneByOne(f"{method.name}'s transform: {error}") from None
    except FedtheoryError:
        raise
    except Exception as error:  # a user's transform may be written for arrays of floats only
        raise NotExact(
            f"{method.name}'s transform cannot be read on these numbers: {error}"
        ) from None
    if (made.N, made.d, made.noise) != (clients.N, clients.d, "none"):
        raise NotExact(f"{method.name}'s transform changes the number of clients, d or the noise")
    if any(isinstance(n, (float, np.floating)) for n in made.weights):
        raise NotExact(f"{method.name}'s transform turns exact weights into floats")
    kernel = reinterpret_kernel(made.kernels.grad)

    def shown(i: int, x: np.ndarray) -> np.ndarray:
        out = vector([ZERO] * clients.d)
        try:
            kernel(made.data, Count(i), as_kernel_argument(np.asarray(x)), as_kernel_argument(out))
        except NoTruth as error:
            raise OneByOne(f"{method.name}'s transform: {error}") from None
        return out

    return shown, tuple(made.weights)


# Instances evaluated one by one


def batch_size(tree: Number | Mapping[str, Any] | Sequence[Any]) -> int:
    """Return how many instances plain data with batches hold; 1 where there is no batch."""
    if isinstance(tree, Many):
        return np.size(tree.at)
    parts = tree.values() if isinstance(tree, dict) else tree
    return max(map(batch_size, parts), default=1) if isinstance(tree, (dict, list, tuple)) else 1


def take_instance(
    tree: Number | Mapping[str, Any] | Sequence[Any], n: int
) -> Number | dict[str, Any] | list[Any]:
    """Return plain data in which each batch is cut down to its n-th instance. The results are
    batches of size 1, so that comparisons of them are true or false."""
    if isinstance(tree, Many):
        return Many(np.ravel(tree.at)[n : n + 1]) if np.size(tree.at) > 1 else tree
    if isinstance(tree, dict):
        return {name: take_instance(part, n) for name, part in tree.items()}
    return (
        type(tree)(take_instance(part, n) for part in tree)
        if isinstance(tree, (list, tuple))
        else tree
    )


def one_by_one(
    measure: Callable[..., Any], instance: Instance, values: Assignment
) -> dict[str, Many]:
    """Return {name: batch} of the results of `measure(instance, values)`, called for each instance
    of a batch."""
    found = [
        measure(take_instance(instance, n), take_instance(values, n))
        for n in range(max(batch_size(instance), batch_size(values)))
    ]
    flat = lambda value: float(np.ravel(value.at)[0]) if isinstance(value, Many) else float(value)
    return {name: Many(np.array([flat(one[name]) for one in found])) for name in found[0]}
