"""Transposition of matrices, a square of vectors at a time in the processor's registers."""

from llvmlite import ir
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import Instruction, ShuffleVector
from numba.core import types
from numba.extending import intrinsic

from fedtheory.experiments.layers._vectors import BYTES, array_pointers, loads_and_stores, vector_of
from fedtheory.jit import DISABLED, jit


def _halves_exchanged(
    builder: IRBuilder, one: Instruction, other: Instruction, half: int
) -> list[ShuffleVector]:
    """Return two rows of squares of 2 half x 2 half numbers, in which the upper right and lower
    left quarters of each square are exchanged."""
    lanes = one.type.count
    first = [e if e & half == 0 else lanes + e - half for e in range(lanes)]
    second = [e + half if e & half == 0 else lanes + e for e in range(lanes)]
    kind = ir.VectorType(ir.IntType(32), lanes)
    return [builder.shuffle_vector(one, other, ir.Constant(kind, e)) for e in (first, second)]


@intrinsic
def _transpose_square(typing_context, A, at, wide, Z, to, line):
    """Write A[at + r wide + c] to Z[to + c line + r] for as many rows and columns as a vector has
    numbers."""

    def generate(context, builder, signature, arguments):
        A, Z = array_pointers(context, builder, signature, arguments, (0, 3))
        vector = vector_of(context, signature.args[0])
        load, store = loads_and_stores(builder, vector, ir.Constant(ir.IntType(64), 0))
        place = lambda base, n, step: builder.gep(base, [builder.mul(step.type(n), step)])
        rows = [load(place(A, n, arguments[2]), False) for n in range(vector.count)]
        half = 1
        while half < vector.count:
            for n in range(vector.count):
                if n & half == 0:
                    rows[n], rows[n + half] = _halves_exchanged(
                        builder, rows[n], rows[n + half], half
                    )
            half *= 2
        for n, row in enumerate(rows):
            store(row, place(Z, n, arguments[5]), False)
        return context.get_dummy_value()

    whole = types.int64
    return types.none(A, whole, whole, Z, whole, whole), generate


@jit
def _one_by_one(A, at, wide, rows, columns, Z, to, line):
    for r in range(rows):
        for c in range(columns):
            Z[to + c * line + r] = A[at + r * wide + c]


@jit
def transpose_matrix(A, at, wide, rows, columns, Z, to, line):
    """Write A[at + r wide + c] to Z[to + c line + r] for r < rows and c < columns."""
    lanes = BYTES // A.itemsize
    high, long = rows - rows % lanes, columns - columns % lanes
    for r in range(0, high, lanes):
        for c in range(0, long, lanes):
            _transpose_square(A, at + r * wide + c, wide, Z, to + c * line + r, line)
    _one_by_one(A, at + long, wide, high, columns - long, Z, to + long * line, line)
    _one_by_one(A, at + high * wide, wide, rows - high, columns, Z, to + high, line)


if DISABLED:
    transpose_matrix = _one_by_one
