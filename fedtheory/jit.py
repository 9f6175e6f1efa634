"""The one compile decorator, the private cache of machine code, and type erasure.

Kernels are compiled separately and called by the engine through first-class function types, so the
engine is compiled once for every algorithm and every problem. A kernel's own tuples (a problem's
data, an algorithm's state) are passed as addresses: `pack` lays a named tuple of arrays and numbers
out in memory exactly as Numba does, and `erase` wraps a kernel so that it reads the tuple back.
"""

import hashlib
import inspect
import pickle
import platform
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core import compiler, config, types
from numba.core.caching import _Cache
from numba.core.datamodel import default_manager
from numba.core.errors import NumbaError
from numba.core.serialize import dumps
from numba.extending import intrinsic
from numba.np.numpy_support import as_dtype as numba_as_dtype

from fedtheory.errors import InvalidInput, Uncached, describe, refuse
from fedtheory.store import private_cache, source_hash
from fedtheory.store.files import write_file
from fedtheory.typing import Kernel

DISABLED = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]
PACKAGE = Path(__file__).resolve().parent
ADDRESS = types.int64
VECTOR = types.Array(types.float64, 1, "C")
MATRIX = types.Array(types.float64, 2, "C")
INTEGERS = types.Array(types.int64, 1, "C")


def point_types(real: str) -> tuple[Any, Any]:
    """Return the Numba types of a point and of an array with a point per row, for one kind of
    reals."""
    number = getattr(types, real)
    return types.Array(number, 1, "C"), types.Array(number, 2, "C")


# 1/0 is inf, as in NumPy; no fastmath, so that results agree to the bit
FLAGS = dict(nogil=True, error_model="numpy")


# ---------------------------------------------------------------- cache


@cache
def module_digest(module: str) -> str:
    """Return a hash of a module, of every module that it imports, and of the compiler.

    Numba freezes globals and inlines callees across files, so machine code is as old as the oldest
    of these files. Every function that a kernel can reach is imported by its module. Machine code
    holds no line numbers.
    """
    parts = (
        platform.python_version(),
        numba.__version__,
        llvmlite.__version__,
        np.__version__,
        str(config.BOUNDSCHECK),  # type: ignore[attr-defined]
        source_hash.digest_of_reach([module], walked=False),
    )
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


class _Store:
    """A store of compiled kernels on disk, each sealed with a key that never leaves this user's
    folder.

    Machine code is unpickled, so a file is read only if its seal is valid: a truncated, edited,
    foreign or planted file counts as absent and is written anew.
    """

    def __init__(self) -> None:
        self.folder = self.key = None
        try:
            base = private_cache.private_folder()
            self.key = private_cache.user_key()
            folder = base / "kernels"
            folder.mkdir(mode=0o700, exist_ok=True)
            private_cache.check_owner(folder)
            with tempfile.TemporaryFile(dir=folder):
                pass
            self.folder = folder
        except (OSError, RuntimeError) as error:
            warnings.warn(
                f"compiled kernels are not stored for later processes: {error}",
                Uncached,
                stacklevel=2,
            )

    def read(self, name: str) -> bytes | None:
        if self.folder is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except OSError:
            return None
        return private_cache.unseal(name, content, self.key)

    def write(self, name: str, payload: bytes) -> None:
        if self.folder is not None:
            try:
                write_file(self.folder / name, private_cache.seal(name, payload, self.key), 0o600)
            except OSError as error:  # a full disk costs time only: results stay the same
                warnings.warn(f"a compiled kernel was not stored: {error}", Uncached, stacklevel=2)


# Functions that are called once before a compilation, to tell the user what takes so long.
announce: list = []
_store = None


def store() -> _Store:
    global _store  # noqa: PLW0603 (one for the process, made on first use)
    if _store is None:
        _store = _Store()
    return _store


class _KernelCache(_Cache):
    """Numba's cache protocol over `_Store`; `identity` identifies the kernel, closures included."""

    def __init__(self, identity: tuple[Any, ...]) -> None:
        self.identity = identity

    @property
    def cache_path(self) -> str:
        return str(store().folder)

    def enable(self) -> None:
        pass

    disable = flush = enable

    def _name(self, signature: Any, codegen: Any) -> str:
        text = repr((self.identity, str(signature), codegen.magic_tuple()))
        return hashlib.sha256(text.encode()).hexdigest()[:40]

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        payload = store().read(self._name(signature, target_context.codegen()))
        if payload is None:
            for waiting in [*announce]:
                announce.remove(waiting)
                waiting()
            return None
        target_context.refresh()
        return compiler.CompileResult._rebuild(target_context, *pickle.loads(payload))  # noqa: S301 (sealed by this user)

    def save_overload(self, signature: Any, result: Any) -> None:
        if not result.library.has_dynamic_globals and not any(True for _ in result.lifted):
            store().write(self._name(signature, result.library.codegen), dumps(result._reduce()))


# ---------------------------------------------------------------- compile


def in_package(function: Callable[..., Any]) -> bool:
    """Tell whether a function is defined in a file of this library."""
    try:
        return PACKAGE in Path(inspect.getfile(function)).resolve().parents
    except (OSError, TypeError):
        return False


def compile(
    function: Callable[..., Any],
    identity: tuple[Any, ...] | None = None,
    maker: tuple[Any, ...] | None = None,
    **options: Any,
) -> Kernel:
    """Return an njit dispatcher. Kernels of this package are cached on disk; users' kernels are
    compiled in each process, because no digest of ours covers the files they may import. `maker` is
    (function, kernels, part), from which another process builds a closure anew (pickling.py)."""
    if identity is not None and not DISABLED:
        # Closures and erased kernels share a name, and Numba distinguishes them by a counter of the
        # process. Two kernels that were compiled in different processes could get the same symbol,
        # and the linker would pick one.
        function.__qualname__ += "_" + hashlib.sha256(repr(identity).encode()).hexdigest()[:20]
    dispatcher = numba.njit(**FLAGS, **options)(function)  # type: ignore[call-overload]
    dispatcher.maker = maker
    if DISABLED:
        return dispatcher
    if identity is None and in_package(function) and function.__closure__ is None:
        identity = (module_digest(function.__module__), function.__module__, function.__qualname__)
    dispatcher.identity = identity
    if identity is not None:
        dispatcher._cache = _KernelCache((identity, tuple(sorted(options))))
    return dispatcher


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Kernel:
    """Decorate a kernel: `@jit`, or `@jit(inline="always")` for arithmetic shared by hot loops."""
    if function is None:
        return lambda f: compile(f, **options)
    return compile(function, **options)


def python(kernel: Kernel) -> Any:
    """Return the interpreted Python function of a kernel."""
    return getattr(kernel, "py_func", kernel)


def compiled(kernel: object) -> bool:
    return hasattr(kernel, "py_func")


# ---------------------------------------------------------------- erasure


def _layout_words(value: Any) -> list[int]:
    if isinstance(value, tuple):
        return [word for item in value for word in _layout_words(item)]
    if compiled(value):
        return _entry_words(value)
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous or value.dtype.kind not in "fiu":
            refuse(
                "a kernel's tuple",
                "must hold C-contiguous arrays of numbers",
                f"{value.dtype} of shape {value.shape}, strides {value.strides}",
            )
        return [0, 0, value.size, value.itemsize, value.ctypes.data, *value.shape, *value.strides]
    if isinstance(value, np.uint64):
        return [int(value.view(np.int64))]
    if isinstance(value, (bool, int, np.integer)):
        return [int(value)]
    if not isinstance(value, (float, np.floating)):
        refuse("a kernel's tuple", "must hold arrays and numbers", value)
    return [int(np.float64(value).view(np.int64))]


@cache  # cached, since the results of `erase` refer to it
def _entry_words(kernel: Kernel) -> list[int]:
    """Return the words of Numba's layout of a function value for an erased kernel: the C entry
    address, the entry address of Numba code, and 0 for the object, which is never read."""
    (result,) = kernel.overloads.values()
    at = result.library.get_pointer_to_function
    known = dict(c_addr=at(result.fndesc.llvm_cfunc_wrapper_name))
    known["jit_addr"] = at(result.fndesc.llvm_func_name)
    fields = default_manager[types.FunctionType(result.signature)]._fields
    return [known.get(field, 0) for field in fields]


def pack(value: Any, of: Any = None) -> np.ndarray:
    """Return a named tuple of C-contiguous arrays, 8-byte numbers and erased kernels as the 8-byte
    words in which Numba would lay it out. If `of` is a type, the value must have that type.

    The null owner makes reference counting a no-op, so threads do not contend. The caller keeps
    both the words and the arrays alive.
    """
    if of is not None:
        _check_layout(value, of)
    return np.array(_layout_words(value), dtype=np.int64)


def _check_layout(value: Any, of: Any) -> None:
    """Refuse a value with an array whose words the type `of` would misread."""
    for name, item, wanted in zip(type(value)._fields, value, of.types):
        if isinstance(wanted, types.NamedTuple):
            _check_layout(item, wanted)
        elif isinstance(wanted, types.Array):
            got = (item.ndim, item.dtype) if isinstance(item, np.ndarray) else None
            if got != (wanted.ndim, as_dtype(wanted.dtype)):
                refuse(f"{type(value).__name__}.{name}", f"must be an {wanted}", item)
        elif isinstance(wanted, types.FunctionType):
            kinds = [*item.overloads] if compiled(item) else []
            if kinds != [wanted.signature.args]:
                refuse(f"{type(value).__name__}.{name}", f"must be an erased {wanted}", item)


as_dtype = cache(numba_as_dtype)


@cache
def tuple_type(kind: Any, *of: Any) -> Any:
    """Return Numba's type of a named tuple whose fields have these types."""
    made = types.NamedTuple(list(of), kind)
    # The name becomes a part of symbols and cache keys. Numba's own name leaves out the module and
    # the fields' names.
    fields = ", ".join(map("{}: {}".format, kind._fields, of))
    made.name = f"{kind.__module__}.{kind.__qualname__}({fields})"
    return made


@cache
def _array_type(dtype: np.dtype, ndim: int) -> Any:
    return types.Array(numba.from_dtype(dtype), ndim, "C")


def typeof(value: Any) -> Any:
    """Return Numba's type of a tuple after `pack`: every array is C-contiguous and writable."""
    if isinstance(value, tuple):
        return tuple_type(type(value), *map(typeof, value))
    if isinstance(value, np.ndarray):
        return _array_type(value.dtype, value.ndim)
    return types.int64 if isinstance(value, (bool, int, np.integer)) else types.float64


def _make_loader(of: Any) -> Any:
    @intrinsic
    def load(typing_context, address):
        def generate(context, builder, signature, arguments):
            pointer = builder.inttoptr(arguments[0], context.get_value_type(of).as_pointer())
            return builder.load(pointer)

        return of(types.int64), generate

    return load


# cached: reading machine code takes milliseconds, and property tests build thousands of runs
@cache
def erase(kernel: Kernel, returns: Any, arguments: Sequence[Any]) -> Kernel:
    """Return `kernel` compiled behind a signature without its tuples: each packed type in
    `arguments` becomes an address.

    `arguments` holds Numba types; a named tuple among them stands for data that the caller passes
    through `pack`.
    """
    if DISABLED:
        return kernel
    scope: dict[str, Any] = {"kernel": kernel, "__name__": __name__}
    names = [f"a{n}" for n in range(len(arguments))]
    passed = []
    for name, of in zip(names, arguments):
        if isinstance(of, types.NamedTuple):
            scope["load_" + name] = _make_loader(of)
            passed.append(f"load_{name}({name})")
        else:
            passed.append(name)
    source = f"def erased({', '.join(names)}):\n    return kernel({', '.join(passed)})\n"
    exec(source, scope)  # a fixed template over our own names: nothing of a user's enters the text  # noqa: S102 (text made here, of names alone)
    identity = kernel.identity and (
        "erased",
        module_digest(__name__),
        kernel.identity,
        str(arguments),
    )
    wrapper = compile(scope["erased"], identity=identity)
    crossing = (ADDRESS if isinstance(of, types.NamedTuple) else of for of in arguments)
    try:
        wrapper.compile(returns(*crossing))
    except NumbaError as error:
        if in_package(python(kernel)) and python(kernel).__closure__ is None:
            raise
        raise InvalidInput(
            f"kernel {python(kernel).__name__} cannot be compiled: {describe(error)}"
        ) from None
    return wrapper


def float_settings() -> dict[str, Any]:
    """Return the versions and settings that decide floating-point bits on this machine, for
    provenance."""
    return dict(
        python=sys.version.split()[0],
        numpy=np.__version__,
        numba=numba.__version__,
        llvmlite=llvmlite.__version__,
        svml=bool(config.USING_SVML),  # type: ignore[attr-defined]
        machine=platform.machine(),
        libc=" ".join(platform.libc_ver()),
        jit=not DISABLED,
    )
