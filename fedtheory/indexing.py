"""A trial of user-defined kernels, in which every index is compared with the length of its array.

Machine code checks no index: a kernel that writes one place behind its array aborts the process or
silently corrupts memory. So before a user's kernels are run, a few of their calls are executed
first: as Python, where NumPy checks indices, or, where that would take long, as machine code with
index checks in it. An error that no such call reaches stays unseen. Kernels of this library are not
tried.
"""

import linecache
import threading
import types
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np

from fedtheory import jit
from fedtheory.errors import InvalidInput, describe, show
from fedtheory.parallel.executors import absorb_exception, raise_in_thread
from fedtheory.typing import Kernel, Number

SECONDS = 1.0  # seconds of Python that a trial may take
NO_OWN = jit.PACKAGE, Path(numba.__file__).parent  # folders whose code no user wrote
MORE = 10.0  # seconds, where an index is known to be wrong and its place is searched


class _Long(Exception):
    """The exception that a trial takes longer than allowed."""


def is_own(kernel: Any) -> bool:
    """Tell whether a kernel, or a kernel in its closure, is defined outside this library."""
    return jit.compiled(kernel) and _reaches_own(kernel.py_func)


def _reaches_own(function: Callable[..., Any]) -> bool:
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    return not jit.in_package(function) or any(map(is_own, cells))


def try_kernels(
    whose: str, kernels: Mapping[str, Callable[..., Any]], play: Callable[..., Any]
) -> None:
    """Run `play(kernels)`, which calls kernels (a dict by name) as a run does, on arrays of its
    own. An index out of range is refused with the kernel, the line and the array."""
    own = {name: kernel for name, kernel in kernels.items() if is_own(kernel)}
    if not own or jit.DISABLED:
        return
    error = _try_kernels(_interpret_kernels(own), kernels, play, SECONDS)
    if error is None:
        return
    if not isinstance(error, IndexError):  # the trial was too long, or Python cannot run it
        error = _try_kernels(_compile_checked(own), kernels, play, None)
        if isinstance(error, IndexError):
            closer = _try_kernels(_interpret_kernels(own), kernels, play, MORE)
            error = closer if isinstance(closer, IndexError) else error
    if isinstance(error, IndexError):
        raise InvalidInput(f"{_place_of_error(error, whose)}: {describe(error)}") from None


def _try_kernels(
    twins: Mapping[str, Callable[..., Any]],
    kernels: Mapping[str, Callable[..., Any]],
    play: Callable[..., Any],
    seconds: float | None,
) -> Any:
    """Return the exception that a trial raises, or None; the attribute `called` of the exception is
    the name of the kernel called last."""
    called = [""]

    def noting(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> float | None:
            called[0] = name
            return kernel(*arguments)

        return call

    idle = lambda *arguments: 0  # stands for a kernel of this library
    played = {name: noting(name, twins.get(name, idle)) for name in kernels}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"), _limit_time(seconds):
            warnings.simplefilter("ignore")
            play(played)
    except Exception as error:  # a user's kernel may raise any exception
        error.called = called[0]  # type: ignore[attr-defined]
        return error
    return None


@contextmanager
def _limit_time(seconds: Number) -> Iterator[None]:
    """Raise _Long in this thread after some seconds of what runs inside; None: never."""
    if seconds is None:
        yield
        return
    thread, turn, over = threading.get_ident(), threading.Lock(), threading.Event()

    def stop() -> None:
        with turn:
            if not over.is_set():
                raise_in_thread(thread, _Long)

    timer = threading.Timer(seconds, stop)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with turn:
            over.set()  # no exception is sent from now on
        absorb_exception(_Long)


def _place_of_error(error: Any, whose: str) -> str:
    """Return a sentence that says where an index is out of range."""
    name = error.called
    rule = f"{whose}: kernel {name} must stay inside its arrays"
    trace, found = error.__traceback__, ""
    while trace is not None:
        file, line = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        if not any(Path(file).is_relative_to(place) for place in NO_OWN):
            text = linecache.getline(file, line).strip()
            found = f"; line {line} of {file}" + f", {show(text)}," * bool(text) + " does not"
        trace = trace.tb_next
    return rule + found


# ---------------------------------------------------------------- checked copies of kernels


def _interpret_kernels(kernels: Mapping[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """Return user-defined kernels as Python functions, which also call other user-defined kernels
    as Python functions."""
    return _copy_kernels(kernels, lambda function: function)


def _compile_checked(kernels: Mapping[str, Callable[..., Any]]) -> Kernel:
    """Return user-defined kernels compiled with bounds checks, also in the user-defined kernels
    that they call."""
    return _copy_kernels(kernels, numba.njit(boundscheck=True, nogil=True, error_model="numpy"))


def _copy_kernels(
    kernels: Mapping[str, Callable[..., Any]], made: Callable[..., Any]
) -> dict[str, Callable[..., Any]]:
    known: dict = {}
    return {name: _copy_kernel(kernel, made, known) for name, kernel in kernels.items()}


def _copy_kernel(
    kernel: Any, made: Callable[..., Any], known: dict[Callable[..., Any], Callable[..., Any]]
) -> Callable[..., Any]:
    if kernel not in known:
        function = kernel.py_func
        twin = lambda value: _copy_kernel(value, made, known) if _is_kernel(value) else value
        names = function.__code__.co_names
        scope = dict(function.__globals__)
        known[kernel] = kernel  # a recursive kernel calls the original kernel
        scope.update({name: twin(scope[name]) for name in names if name in scope})
        cells = tuple(types.CellType(twin(c.cell_contents)) for c in function.__closure__ or ())
        copy = types.FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__, cells or None
        )
        copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
        known[kernel] = made(copy)
    return known[kernel]


def _is_kernel(value: int | Callable[..., Any] | ModuleType) -> bool:
    return isinstance(getattr(value, "py_func", None), types.FunctionType) and is_own(value)
