"""Sums of products by tiles; a tile stays in the processor's registers from the first term of its
sums to the last.

Whoever calls says where the terms stand, so that a product of matrices, its transposes and a
convolution are the same sums read by other steps: nothing is gathered, no workspace is filled.
A BLAS may be told of another processor than it runs on, and
takes no overlapping rows.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.ir.module import Module
from llvmlite.ir.values import Function
from numba.core import cgutils, types
from numba.extending import intrinsic

from fedtheory.experiments.layers._vectors import (
    BYTES,
    WIDE,
    lanes_of,
    loads_and_stores,
    splat_vector,
)
from fedtheory.jit import DISABLED, jit

TERMS = 256  # of a strip of B at a time
# How many rows a tile may have whose two vectors a row stand in registers.
ROWS = (14, 12, 8, 4, 2, 1) if WIDE else (6, 4, 2, 1)
LEAST = 4  # rows: a smaller tile waits for its own sums as long as one of these


def _first_tiles() -> np.ndarray:
    """Return, for each number of rows that are left, how many rows the first tile has, so that all
    tiles together cost least."""
    cost, first = [0.0], [0]
    for left in range(1, 4 * ROWS[0] + 1):
        ways = [(max(r, LEAST) + 0.5 + cost[left - r], -r) for r in ROWS if r <= left]
        cost.append(min(ways)[0])
        first.append(-min(ways)[1])
    return np.array(first)


FIRST = _first_tiles()


class Sums(NamedTuple):
    """The terms of sums Z[r, j] = start[r, j] + the sum over u < segments and k < length of A[r
    down + u apart + k along] B[u length + k, j], where B has rows of `wide` numbers."""

    A: np.ndarray  # flat
    down: int
    apart: int
    along: int
    B: np.ndarray  # flat
    wide: int
    segments: int
    length: int


class Places(NamedTuple):
    """The place where rows of a result begin and their distance, and the same for the rows of start
    values."""

    Z: np.ndarray  # flat
    line: int
    start: np.ndarray  # flat
    skip: int  # 0: all rows start from the same; otherwise `start` is Z or stands like it


def _emit_function(module: Module, real: Any, rows: int, vectors: int) -> Function:
    """Return the LLVM function void (A, down, apart, along, B, wide, segments, length, Z, line,
    start, skip, last) that computes one tile. In the last vector, numbers from `last` on are
    neither read nor written."""
    name = f"fedtheory_tile_{real.intrinsic_name}_{rows}_{vectors}"
    if name in module.globals:
        return module.globals[name]
    word, pointer = ir.IntType(64), real.as_pointer()
    lanes = lanes_of(real)
    vector = ir.VectorType(real, lanes)
    takes = [pointer, word, word, word, pointer, word, word, word, pointer, word, pointer, word]
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), [*takes, word]), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    A, down, apart, along, B, wide, segments, length, Z, line, start, skip, last = made.args
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    load, store = loads_and_stores(builder, vector, last)
    place = lambda base, step, n=0: builder.gep(
        builder.gep(base, [step]), [ir.Constant(word, n * lanes)]
    )

    fused = cgutils.get_or_insert_function(
        module, ir.FunctionType(vector, [vector] * 3), f"llvm.fmuladd.v{lanes}f{8 * BYTES // lanes}"
    )
    tile = [(r, v) for r in range(rows) for v in range(vectors)]
    far = lambda n, step: builder.mul(ir.Constant(word, n), step)
    sums = {at: builder.alloca(vector) for at in tile}
    for r, v in tile:
        builder.store(load(place(start, far(r, skip), v), v + 1 == vectors), sums[r, v])
    with cgutils.for_range(builder, segments, intp=word) as outer:
        first = builder.gep(A, [builder.mul(outer.index, apart)])
        terms = builder.gep(B, [builder.mul(builder.mul(outer.index, length), wide)])
        with cgutils.for_range(builder, length, intp=word) as inner:
            column = builder.gep(first, [builder.mul(inner.index, along)])
            row = builder.mul(inner.index, wide)
            those = [load(place(terms, row, v), v + 1 == vectors) for v in range(vectors)]
            for r in range(rows):
                one = builder.load(builder.gep(column, [far(r, down)]))
                each = splat_vector(builder, one, lanes)
                for v in range(vectors):
                    more = builder.call(fused, [each, those[v], builder.load(sums[r, v])])
                    builder.store(more, sums[r, v])
    for r, v in tile:
        store(builder.load(sums[r, v]), place(Z, far(r, line), v), v + 1 == vectors)
    builder.ret_void()
    return made


@intrinsic
def _compute_tile(typing_context, sums, a, b, places, z, s, left, pair, last):
    """Compute one tile of at most `left` rows, one vector wide or two (where `pair` is not 0), and
    return how many rows the tile has."""

    def generate(context, builder, signature, arguments):
        sums, a, b, places, z, s, left, pair, last = arguments
        kinds, where = signature.args[0].types, signature.args[3].types

        def begin(group, of, n, offset):
            array = context.make_array(of[n])(context, builder, builder.extract_value(group, n))
            return builder.gep(array.data, [offset])

        pick = lambda group, *fields: [builder.extract_value(group, n) for n in fields]
        given = [
            *(begin(sums, kinds, 0, a), *pick(sums, 1, 2, 3)),
            *(begin(sums, kinds, 4, b), *pick(sums, 5, 6, 7)),
            *(begin(places, where, 0, z), *pick(places, 1)),
            *(begin(places, where, 2, s), *pick(places, 3), last),
        ]
        real, word = context.get_value_type(kinds[0].dtype), ir.IntType(64)
        done = cgutils.alloca_once(builder, word)
        end = builder.append_basic_block("end")
        for rows in ROWS:
            fits = builder.icmp_signed(">=", left, ir.Constant(word, rows))
            with builder.if_then(fits):
                builder.store(ir.Constant(word, rows), done)
                wide = builder.icmp_signed("!=", pair, ir.Constant(word, 0))
                with builder.if_else(wide) as (two, one):
                    for branch, vectors in ((two, 2), (one, 1)):
                        with branch:
                            builder.call(_emit_function(builder.module, real, rows, vectors), given)
                builder.branch(end)
        builder.branch(end)
        builder.position_at_end(end)
        return builder.load(done)

    whole = types.int64
    return whole(sums, whole, whole, places, *(whole,) * 5), generate


@jit(inline="always")
def _compute_strip(sums, a, b, places, z, s, rows, pair, last):
    """Compute all rows of one strip of columns, one vector wide or two."""
    r = 0
    while r < rows:
        at, to, begin = a + r * sums.down, z + r * places.line, s + r * places.skip
        some = FIRST[min(rows - r, FIRST.size - 1)]
        r += _compute_tile(sums, at, b, places, to, begin, some, pair, last)


@jit
def add_products(sums, a, b, fall, places, z, lines, rows, columns):
    """Compute the sums of lines x rows x columns; A begins at a and each line `fall` further on, B
    begins at b, Z at z, line after line. A strip of some terms of B stays in the nearest cache
    while all lines use it."""
    lanes = BYTES // sums.A.itemsize
    some = max(1, TERMS // max(1, sums.length))
    onward = Places(places.Z, places.line, places.Z, places.line)
    for j in range(0, columns, 2 * lanes):
        left = columns - j
        pair = int(left > lanes)
        last = min(left - lanes if pair else left, lanes)
        for u in range(0, max(1, sums.segments), some):
            part = _segment_part(sums, min(some, sums.segments - u))
            at, from_b = a + u * sums.apart, b + u * sums.length * sums.wide + j
            for i in range(lines):
                to = z + i * rows * places.line + j
                if u == 0:
                    begin = to if places.skip else j
                    _compute_strip(part, at + i * fall, from_b, places, to, begin, rows, pair, last)
                else:
                    _compute_strip(part, at + i * fall, from_b, onward, to, to, rows, pair, last)


@jit(inline="always")
def _segment_part(sums, segments):
    return Sums(sums.A, sums.down, sums.apart, sums.along, sums.B, sums.wide, segments, sums.length)


if DISABLED:
    from numpy.lib.stride_tricks import as_strided

    def add_products(sums, a, b, fall, places, z, lines, rows, columns):
        step = sums.A.itemsize
        view = lambda flat, at, shape, steps: as_strided(
            flat[at:], shape, [step * each for each in steps]
        )
        terms = sums.segments * sums.length
        for i in range(lines):
            to = z + i * rows * places.line
            begin = to if places.skip else 0
            shape = (rows, sums.segments, sums.length)
            A = view(sums.A, a + i * fall, shape, (sums.down, sums.apart, sums.along))
            B = view(sums.B, b, (terms, columns), (sums.wide, 1))
            Z = view(places.Z, to, (rows, columns), (places.line, 1))
            start = view(places.start, begin, (rows, columns), (places.skip, 1))
            Z[...] = start + A.reshape(rows, terms) @ B
