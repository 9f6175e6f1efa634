"""Tables of kernels that machine code calls by index.

A kernel that works through a list, as a network does through its layers, must not be compiled anew
for each list. It takes a `Table`: an array of addresses in a problem's own tuple. `call` runs an
entry of the table with one named tuple, `here`, as its argument. Each kernel of the table is
compiled for the type of `here` alone, when it is first put into a table.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import ExtractValue, Instruction
from numba.core import cgutils, types
from numba.extending import intrinsic

from fedtheory import jit
from fedtheory.errors import refuse
from fedtheory.parallel import pickling


class Table(np.ndarray):
    """A table of addresses of kernels, integers of shape (n,). `kernels` are the kernels at these
    addresses and `here` is the Numba type of their argument; a table is pickled by its kernels'
    names."""

    kernels: tuple[Any, ...]
    here: Any

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_table, (
            tuple(map(pickling.pickle_kernel, self.kernels)),
            _plain_type(self.here),
        )


def kernel_table(kernels: Any, here: Any) -> Any:
    """Return the table of kernels that take a named tuple of Numba type `here`."""
    kernels = tuple(kernels)
    for kernel in kernels:
        if not jit.compiled(kernel) and not jit.DISABLED:
            refuse("a layer's kernel", "must be decorated with fedtheory.jit.jit", kernel)
    addresses = [0 if jit.DISABLED else _kernel_address(kernel, here) for kernel in kernels]
    made = np.array(addresses, dtype=np.int64).view(Table)
    made.kernels, made.here = kernels, here
    return made


def _plain_type(here: Any) -> Any:
    """Return the type of a named tuple as its class and the types of its fields, which another
    process can unpickle."""
    return here.instance_class, tuple(here.types)


def _rebuild_table(messages: Any, plain: Any) -> Any:
    kind, fields = plain
    return kernel_table(map(pickling.unpickle_kernel, messages), jit.tuple_type(kind, *fields))


def _kernel_address(kernel: Callable[..., Any], here: Any) -> Any:
    erased = jit.erase(kernel, types.void, (here,))
    result = erased.get_compile_result(types.void(jit.ADDRESS))
    return result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)


if jit.DISABLED:

    def call_kernel(table: Any, n: Any, here: Any) -> Any:
        table.kernels[n](here)
else:

    @intrinsic
    def call_kernel(typing_context: Any, table: Any, n: Any, here: Any) -> Any:
        """Call kernel n of a table with the argument `here`."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[ExtractValue, Any, Instruction],
        ) -> Any:
            of, _, _ = signature.args
            addresses, index, value = arguments
            for field, kind in enumerate(here.types):
                # a borrowed array: the kernel must not count references
                if isinstance(kind, types.Array):
                    owner = ir.Constant(context.get_value_type(types.voidptr), None)
                    value = builder.insert_value(value, owner, [field, 0])
            place = cgutils.alloca_once_value(builder, value)
            start = context.make_array(of)(context, builder, addresses).data
            address = builder.load(builder.gep(start, [index]))
            word = ir.IntType(64)
            kind = ir.FunctionType(context.get_value_type(types.none), [word])
            entry = builder.inttoptr(address, kind.as_pointer())
            builder.call(entry, [builder.ptrtoint(place, word)])
            return context.get_dummy_value()

        return types.void(table, types.int64, here), generate
