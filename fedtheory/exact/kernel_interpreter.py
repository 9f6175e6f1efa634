"""An interpreter of a method's kernels on any number type: the source that is compiled for floats
runs as Python on Fractions, intervals and batches.

A kernel acts on its numbers only through arithmetic, comparisons and a few functions of NumPy.
`reinterpret_kernel` returns the same code with other definitions of these few functions: arrays of
zeros hold Fractions, a root is an enclosure, and a literal 0.5 is the fraction 1/2. No method is
written a second time.
"""

import builtins
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from types import CodeType, FunctionType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import jit
from fedtheory.algorithm import ROLES, Algorithm
from fedtheory.arithmetic.operations import (
    COMPARED,
    Interval,
    Many,
    NoTruth,
    exp,
    log,
    maximum,
    minimum,
    root,
    vector,
    where,
)
from fedtheory.arithmetic.work import Counted
from fedtheory.errors import NotExact, OneByOne
from fedtheory.typing import Exact, Number

if TYPE_CHECKING:
    from fedtheory.exact.linear import Linear


class Count(int):
    """A count that divides exactly: E / s is a Fraction, and sums of counts are counts."""

    __slots__ = ()

    def __truediv__(self, other: Exact) -> Fraction:
        """Return the exact quotient."""
        return Fraction(int(self)) / other

    def __rtruediv__(self, other: int) -> Fraction:
        return (
            Fraction(other) / int(self) if isinstance(other, int) else other / Fraction(int(self))
        )


def _close_counts(operation: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation of int whose whole results are Counts."""

    def of_counts(self, other: "Number | Linear") -> Any:
        found = operation(self, other)
        return Count(found) if type(found) is int else found

    return of_counts


for _name in (
    "__add__",
    "__radd__",
    "__sub__",
    "__rsub__",
    "__mul__",
    "__rmul__",
    "__floordiv__",
    "__mod__",
):
    setattr(Count, _name, _close_counts(getattr(int, _name)))


class Vector(np.ndarray):
    """An array whose size is a Count."""

    @property
    def size(self) -> int:
        return Count(np.ndarray.size.__get__(self))


def as_kernel_argument(argument: Any) -> Any:
    """Return an argument in the form that kernels take: views of the same numbers."""
    if isinstance(argument, np.ndarray):
        return argument.view(Vector)
    if (
        isinstance(argument, tuple) and argument and isinstance(argument[0], np.ndarray)
    ):  # a state, or a memory
        return type(argument)(*map(as_kernel_argument, argument))
    return argument


def plain_memory(memory: Any) -> Any:
    """Return a memory whose arrays are plain arrays again, not Vectors."""
    return type(memory)(*(a.view(np.ndarray) for a in memory)) if memory else memory


def count_vector(numbers: Sequence[int]) -> np.ndarray:
    """Return counts as a vector, so that a kernel's `work[s]` is a Count."""
    return vector([Count(n) for n in numbers])


def fill_exactly(value: Fraction) -> Callable[..., Any]:
    """Build the exact version of a NumPy constructor that fills an array with one number."""

    def make(shape: int | Sequence[int], dtype: Any = None) -> np.ndarray:
        if dtype is not None and np.dtype(dtype).kind in "iub":
            return np.full(shape, int(value), dtype=dtype)
        found = np.empty(shape, dtype=object)
        found[...] = value
        return as_kernel_argument(found)

    return make


def _full_array(shape: int, value: Fraction, dtype: Any = None) -> np.ndarray:
    return fill_exactly(exact_number(value))(shape, dtype)


def _array_like(value: Fraction) -> Callable[..., Any]:
    return lambda a, dtype=None: fill_exactly(value)(np.shape(a), dtype)


def exact_number(value: Any) -> Any:
    """Return a number in the form that kernels take: a finite float becomes the Fraction that it
    equals."""
    if isinstance(value, (float, np.floating)):
        return Fraction(float(value)) if np.isfinite(value) else value
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    return Count(value) if isinstance(value, (int, np.integer)) else value


ZERO, ONE = Fraction(0), Fraction(1)


def apply_entrywise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a version of a scalar function that also applies to arrays entry by entry, as NumPy
    functions do."""

    def run(*arguments: "Number | Linear") -> Number:
        arrays = [a for a in arguments if isinstance(a, np.ndarray)]
        if not arrays:
            return function(*arguments)
        shape = np.broadcast_shapes(*map(np.shape, arrays))
        spread = [
            np.broadcast_to(a, shape).ravel() if isinstance(a, np.ndarray) else None
            for a in arguments
        ]
        found = np.empty(shape, dtype=object)
        for n in range(found.size):
            one = (a if row is None else row[n] for a, row in zip(arguments, spread))
            found.reshape(-1)[n] = function(*one)
        return as_kernel_argument(found)

    return run


def exact_sign(value: Any) -> Number:
    """Return -1, 0 or 1 as a Fraction, or the signs of a batch."""
    if isinstance(value, Many):
        return Many(np.sign(value.at))
    return ONE if value > 0 else -ONE if value < 0 else ZERO


def euclidean_norm(v: np.ndarray) -> Interval:
    """Return the Euclidean norm of v."""
    return root(sum((x * x for x in np.ravel(v)), ZERO))


def exact_dot(a: Number, b: Number) -> Number:
    """Return the inner product, or the product of a matrix with a vector, of exact numbers."""
    return np.asarray(a).dot(np.asarray(b))


# The functions of NumPy and Python that a kernel may call, for any number type.
NUMPY = SimpleNamespace(
    zeros=fill_exactly(ZERO),
    empty=fill_exactly(ZERO),
    ones=fill_exactly(ONE),
    full=_full_array,
    zeros_like=_array_like(ZERO),
    empty_like=_array_like(ZERO),
    ones_like=_array_like(ONE),
    sqrt=apply_entrywise(root),
    exp=apply_entrywise(exp),
    log=apply_entrywise(log),
    abs=apply_entrywise(abs),
    sign=apply_entrywise(exact_sign),
    where=apply_entrywise(where),
    square=apply_entrywise(lambda value: value * value),
    maximum=apply_entrywise(maximum),
    minimum=apply_entrywise(minimum),
    sum=lambda a: np.asarray(a).sum(),
    mean=lambda a: np.asarray(a).sum() / Count(np.size(a)),
    dot=exact_dot,
    linalg=SimpleNamespace(norm=euclidean_norm),
    float64=exact_number,
    int64=Count,
    ndarray=np.ndarray,
    inf=np.inf,
)
BUILTINS = dict(
    max=maximum,
    min=minimum,
    float=exact_number,
    range=lambda *ends: map(Count, range(*ends)),
    len=lambda whole: Count(len(whole)),
)


class _Numpy:
    """The exact replacement of `np` in a reinterpreted kernel. A function without an exact version
    is refused by name when the kernel asks for it."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            return getattr(NUMPY, name)
        except AttributeError:
            raise NotExact(f"np.{name} has no reading on exact numbers") from None


def _exact_constants(code: Any) -> Any:
    """Return code whose literals divide exactly: 0.5 becomes a Fraction, 2 a Count."""

    def turned(value: Any) -> Exact | str | tuple[int, ...] | None:
        if isinstance(value, CodeType):
            return _exact_constants(value)
        return tuple(map(turned, value)) if isinstance(value, tuple) else exact_number(value)

    return code.replace(co_consts=tuple(map(turned, code.co_consts)))


def _global_names(code: Any) -> set[str]:
    """Return the global names that code, and the functions inside it, refer to."""
    inner = [_global_names(c) for c in code.co_consts if isinstance(c, CodeType)]
    return {*code.co_names}.union(*inner)


@cache
def reinterpret_kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a kernel, or a plain function such as a method's `init`, as Python code that runs on
    any number type."""
    # NumPy's own methods import modules through the caller's builtins
    plain, scope = jit.python(function), {**BUILTINS, "__builtins__": builtins}
    found = FunctionType(
        _exact_constants(plain.__code__),
        scope,
        plain.__name__,
        plain.__defaults__ and tuple(map(exact_number, plain.__defaults__)),
        plain.__closure__,
    )
    for name in _global_names(plain.__code__) & set(plain.__globals__):
        value = plain.__globals__[name]
        if isinstance(value, ModuleType):
            value = _Numpy() if value is np else _Module(value)
        elif jit.compiled(value) or isinstance(value, FunctionType):
            value = found if jit.python(value) is plain else reinterpret_kernel(value)
        scope[name] = exact_number(value)
    return found


class _Module:
    """The exact replacement of a module of this library in a reinterpreted kernel: its functions,
    such as `pt.init`, are reinterpreted in turn."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        value = getattr(self._module, name)
        return (
            reinterpret_kernel(value)
            if jit.compiled(value) or isinstance(value, FunctionType)
            else exact_number(value)
        )


def of_library(method: Algorithm) -> bool:
    """Tell whether a method is defined in a file of this library."""
    return method.Hyper.__module__.startswith("fedtheory.algorithms.")


class Kernels:
    """A method's seven kernels, and the functions that build its memory, on any number type."""

    def __init__(self, method: Algorithm) -> None:
        self.method = method
        for role in ROLES:
            setattr(self, role, self._guard_kernel(role))

    def _guard_kernel(self, role: str) -> Callable[..., Any]:
        """Return a kernel as a function of numbers of any type, with errors in words: the method's
        name, the kernel and the operation without a reading on such numbers. In kernels of users ==
        compares numbers (`COMPARED`); in kernels of this library it tests identity, which is
        cheaper."""
        kernel, name = reinterpret_kernel(getattr(self.method, role)), self.method.name
        compared = not of_library(self.method)

        def run(*arguments: Any) -> None:
            token = COMPARED.set(compared)
            try:
                kernel(*map(as_kernel_argument, arguments))
            except NoTruth as error:
                raise OneByOne(f"{name}'s {role}: {error}") from None
            except NotExact as error:
                raise NotExact(f"{name}'s {role}: {error}") from None
            except (TypeError, AttributeError) as error:
                raise NotExact(
                    f"{name}'s {role} cannot be read on these numbers: {error}"
                ) from None
            finally:
                COMPARED.reset(token)

        return run

    def hyper(self, given: Mapping[str, Any]) -> Any:
        """Return the method's hyper-parameters from numbers. Defaults replace what is not given,
        and words become the index of their option."""
        values = []
        for name, field in self.method.hyper.items():
            value = given.get(name, field.default)
            if value is None:
                raise NotExact(f"{self.method.name} needs {name}, {field.meaning}; none was given")
            value = (
                field.choices.index(value) if field.choices and isinstance(value, str) else value
            )
            values.append(Count(value) if field.integer or field.choices else exact_number(value))
        return self.method.Hyper(*values)

    def state(
        self, x_0: np.ndarray | Sequence[Fraction | Counted], N: int, layers: np.ndarray, h: Any
    ) -> Any:
        """Return the method's initial State in exact numbers."""
        return plain_memory(
            reinterpret_kernel(self.method.init)(
                as_kernel_argument(vector(x_0)), Count(N), as_kernel_argument(layers), h
            )
        )

    def local(self, d: int, layers: np.ndarray, h: Any) -> Any:
        """Return a client's initial memory within a round, () where the method has none."""
        return (
            ()
            if self.method.local is None
            else plain_memory(
                reinterpret_kernel(self.method.local)(Count(d), as_kernel_argument(layers), h)
            )
        )


def refuse_floats(arrays: Any, who: str) -> None:
    """Refuse arrays with floats among exact numbers, which would make an inexact result look exact.
    A float never disappears again, so checking at the end of a client's steps or of a round is
    enough."""
    for array in arrays:
        kind = array.dtype.kind
        if (
            kind == "f"
            or kind == "O"
            and any(isinstance(n, (float, np.floating)) for n in array.flat)
        ):
            raise NotExact(f"{who} turns exact numbers into floats")


def copy_memory(memory: Any) -> Any:
    """Return an independent copy of a state or of a client's memory."""
    return type(memory)(*(a.copy() for a in memory)) if memory else memory


def stack_memories(memories: Sequence[Any]) -> Any:
    """Stack the clients' memories as `aggregate` takes them, with the cohort as leading axis."""
    if not memories[0]:
        return memories[0]
    return type(memories[0])(*(np.stack(arrays) for arrays in zip(*memories)))


__all__ = [
    "Count",
    "Kernels",
    "Many",
    "copy_memory",
    "count_vector",
    "exact_number",
    "reinterpret_kernel",
    "stack_memories",
]
