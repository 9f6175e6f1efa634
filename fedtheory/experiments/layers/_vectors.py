"""The processor's vectors as LLVM types, and code generation for loops over them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from llvmlite import ir
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import GEPInstr, Instruction, ShuffleVector
from llvmlite.ir.types import VectorType
from llvmlite.ir.values import NamedValue
from numba.core import cgutils

from fedtheory.problems._vector import WIDE

BYTES = 64 if WIDE else 32  # of a vector
WORD = ir.IntType(64)


def lanes_of(real: Any) -> int:
    """Return how many numbers of this kind a vector has."""
    return BYTES // (4 if isinstance(real, ir.FloatType) else 8)


def vector_of(context: Any, array: Any) -> VectorType:
    """Return the LLVM vector type for an array's numbers."""
    real = context.get_value_type(array.dtype)
    return ir.VectorType(real, lanes_of(real))


def array_pointers(
    context: Any, builder: IRBuilder, signature: Any, arguments: Sequence[Any], which: Sequence[int]
) -> list[GEPInstr]:
    """Return pointers into arrays: for each n in `which`, argument n is an array and argument n + 1
    the index where to begin."""
    found = []
    for n in which:
        array = context.make_array(signature.args[n])(context, builder, arguments[n])
        found.append(builder.gep(array.data, [arguments[n + 1]]))
    return found


def splat_vector(builder: IRBuilder, value: NamedValue, lanes: int) -> ShuffleVector:
    """Return a vector in which every lane is `value`."""
    one = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
    one = builder.insert_element(one, value, ir.Constant(WORD, 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
    return builder.shuffle_vector(one, one, zeros)


def loads_and_stores(
    builder: IRBuilder, vector: VectorType, last: Any
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Return (load, store) of a vector at a pointer. In a partial load or store, numbers from
    `last` on are neither read nor written."""
    lanes, module = vector.count, builder.module
    size = BYTES // lanes
    numbers = ir.Constant(ir.VectorType(WORD, lanes), [*range(lanes)])
    mask = builder.icmp_signed("<", numbers, splat_vector(builder, last, lanes))
    bits, pointer = ir.VectorType(ir.IntType(1), lanes), vector.as_pointer()
    tail = f"v{lanes}f{8 * size}.p0"
    align, nothing = ir.Constant(ir.IntType(32), size), ir.Constant(vector, [0.0] * lanes)

    def load(at: GEPInstr, part: bool) -> Instruction:
        at = builder.bitcast(at, pointer)
        if not part:
            return builder.load(at, align=size)
        kind = ir.FunctionType(vector, [pointer, ir.IntType(32), bits, vector])
        found = cgutils.get_or_insert_function(module, kind, f"llvm.masked.load.{tail}")
        return builder.call(found, [at, align, mask, nothing])

    def store(value: Instruction, at: GEPInstr, part: bool) -> None:
        at = builder.bitcast(at, pointer)
        if not part:
            builder.store(value, at, align=size)
            return
        kind = ir.FunctionType(ir.VoidType(), [vector, pointer, ir.IntType(32), bits])
        found = cgutils.get_or_insert_function(module, kind, f"llvm.masked.store.{tail}")
        builder.call(found, [value, at, align, mask])

    return load, store


def in_vectors(
    builder: IRBuilder,
    vector: VectorType,
    tiles: NamedValue,
    count: NamedValue,
    work: Callable[..., Any],
) -> None:
    """Generate loops that call work(tile, offset, load, store) for each tile and each vector of its
    runs of `count` numbers."""
    lanes = ir.Constant(WORD, vector.count)
    whole = builder.mul(builder.sdiv(count, lanes), lanes)
    left = builder.sub(count, whole)
    load, store = loads_and_stores(builder, vector, left)
    with cgutils.for_range(builder, tiles, intp=WORD) as loop:
        with cgutils.for_range_slice(
            builder, ir.Constant(WORD, 0), whole, lanes, intp=WORD
        ) as some:
            work(loop.index, some[0], partial(load, part=False), partial(store, part=False))
        with builder.if_then(builder.icmp_signed(">", left, ir.Constant(WORD, 0))):
            work(loop.index, whole, partial(load, part=True), partial(store, part=True))
