"""Pickling of objects made of functions: an object is sent to another process by the name under
which a module holds the object.

Kernels, methods and conditions are looked up by name in the worker. A kernel that a function makes
of other kernels is made again there. An object without a name, such as a function inside a
function, cannot be sent, and is refused by a sentence that says so.
"""

import importlib
import pickle
import sys
from collections.abc import Callable, Iterable
from typing import Any

from fedtheory.typing import Kernel


def name_of_module(thing: Any, *modules: str) -> tuple[str, str] | None:
    """Return (module, name) of a module that holds an object, searched in `modules` and then in
    their packages; None if no module does."""
    tops = {module.partition(".")[0] + "." for module in modules}
    others = [name for name in [*sys.modules] if name.startswith(tuple(tops))] if tops else []
    for module in (*modules, *others):
        for name, value in vars(sys.modules.get(module, object)).items():
            if value is thing:
                return module, name
    return None


def find_attribute(module: str, name: str) -> Any:
    """Return the attribute of a module with a given name."""
    return getattr(importlib.import_module(module), name)


def pickle_kernel(kernel: Kernel) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a kernel as (function, arguments) that rebuild the kernel in another process.
    Arguments that are kernels are converted likewise."""
    maker = getattr(kernel, "maker", None)
    if maker is not None:
        make, arguments, part = maker
        return make_part, (make, tuple(map(pickle_kernel, arguments)), part)
    if not hasattr(kernel, "py_func"):
        return same_object, (
            kernel,
        )  # an interpreted kernel: the standard library pickles or refuses it
    place = name_of_module(kernel, kernel.__module__)
    if place is None:
        raise pickle.PicklingError(
            f"kernel {kernel.__name__} of {kernel.__module__} is held by no name of that module, so "
            "that another process cannot find it: define it there, outside any function"
        )
    return find_attribute, place


def unpickle_kernel(message: Any) -> Any:
    function, arguments = message
    return function(*arguments)


def make_part(make: Callable[..., Any], arguments: Iterable[Any], part: str | None) -> Any:
    """Return the result of a function applied to kernels, or one attribute of this result."""
    result = make(*map(unpickle_kernel, arguments))
    return result if part is None else getattr(result, part)


def same_object(thing: Any) -> Any:
    return thing
