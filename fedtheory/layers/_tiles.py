"""Sums of products of which a tile stands in the processor's registers from its first term to its last.

Whoever calls says where the terms stand, so that a product of matrices, its transposes and a
convolution are the same sums read by other steps: nothing is gathered, no workspace is filled.
Vectors are written in LLVM's own terms: a BLAS may be told of another processor than it runs on, and
takes no overlapping rows.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from fedtheory.jit import DISABLED, jit

TERMS = 256  # of a strip of B at a time
# Bytes of a vector; how many rows a tile may have whose two vectors a row stand in registers.
BYTES, ROWS = (
    (64, (14, 12, 8, 4, 2, 1))
    if binding.get_host_cpu_features().get("avx512f")
    else (32, (6, 4, 2, 1))
)


class Sums(NamedTuple):
    """Z[r, j] = start[r, j] + the sum over u < segments and k < length of
    A[r down + u apart + k along] B[u length + k, j], B by rows of `wide` numbers."""

    A: np.ndarray  # flat
    down: int
    apart: int
    along: int
    B: np.ndarray  # flat
    wide: int
    segments: int
    length: int


class Places(NamedTuple):
    """Where rows of a result begin, and how far apart they are; what they start from likewise."""

    Z: np.ndarray  # flat
    line: int
    start: np.ndarray  # flat
    skip: int  # 0: all rows start from the same; otherwise `start` is Z or stands like it


def _function(module, real, rows, vectors):
    """void (A, down, apart, along, B, wide, segments, length, Z, line, start, skip, last) in LLVM;
    of the last vector, numbers from `last` on are neither read nor written."""
    name = f"fedtheory_tile_{real.intrinsic_name}_{rows}_{vectors}"
    if name in module.globals:
        return module.globals[name]
    word, pointer = ir.IntType(64), real.as_pointer()
    size = 4 if isinstance(real, ir.FloatType) else 8
    lanes = BYTES // size
    vector = ir.VectorType(real, lanes)
    takes = [pointer, word, word, word, pointer, word, word, word, pointer, word, pointer, word]
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), [*takes, word]), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    A, down, apart, along, B, wide, segments, length, Z, line, start, skip, last = made.args
    builder = ir.IRBuilder(made.append_basic_block("entry"))

    def spread(value):
        one = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        one = builder.insert_element(one, value, ir.Constant(word, 0))
        return builder.shuffle_vector(
            one, one, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes)
        )

    mask = builder.icmp_signed(
        "<", ir.Constant(ir.VectorType(word, lanes), [*range(lanes)]), spread(last)
    )
    place = lambda base, step, n=0: builder.bitcast(
        builder.gep(builder.gep(base, [step]), [ir.Constant(word, n * lanes)]), vector.as_pointer()
    )
    bits = ir.VectorType(ir.IntType(1), lanes)
    tail = f"v{lanes}f{8 * size}.p0"
    align = ir.Constant(ir.IntType(32), size)

    def load(at, v):
        if v + 1 < vectors:
            return builder.load(at, align=size)
        kind = ir.FunctionType(vector, [vector.as_pointer(), ir.IntType(32), bits, vector])
        found = cgutils.get_or_insert_function(module, kind, f"llvm.masked.load.{tail}")
        return builder.call(found, [at, align, mask, ir.Constant(vector, [0.0] * lanes)])

    def store(value, at, v):
        if v + 1 < vectors:
            builder.store(value, at, align=size)
            return
        kind = ir.FunctionType(ir.VoidType(), [vector, vector.as_pointer(), ir.IntType(32), bits])
        found = cgutils.get_or_insert_function(module, kind, f"llvm.masked.store.{tail}")
        builder.call(found, [value, at, align, mask])

    fused = cgutils.get_or_insert_function(
        module, ir.FunctionType(vector, [vector] * 3), f"llvm.fmuladd.v{lanes}f{8 * size}"
    )
    tile = [(r, v) for r in range(rows) for v in range(vectors)]
    far = lambda n, step: builder.mul(ir.Constant(word, n), step)
    sums = {at: builder.alloca(vector) for at in tile}
    for r, v in tile:
        builder.store(load(place(start, far(r, skip), v), v), sums[r, v])
    with cgutils.for_range(builder, segments, intp=word) as outer:
        first = builder.gep(A, [builder.mul(outer.index, apart)])
        terms = builder.gep(B, [builder.mul(builder.mul(outer.index, length), wide)])
        with cgutils.for_range(builder, length, intp=word) as inner:
            column = builder.gep(first, [builder.mul(inner.index, along)])
            row = builder.mul(inner.index, wide)
            those = [load(place(terms, row, v), v) for v in range(vectors)]
            for r in range(rows):
                one = builder.load(builder.gep(column, [far(r, down)]))
                each = spread(one)
                for v in range(vectors):
                    more = builder.call(fused, [each, those[v], builder.load(sums[r, v])])
                    builder.store(more, sums[r, v])
    for r, v in tile:
        store(builder.load(sums[r, v]), place(Z, far(r, line), v), v)
    builder.ret_void()
    return made


@intrinsic
def _tile(typing_context, sums, a, b, places, z, s, left, pair, last):
    """One tile of at most `left` rows, one vector wide or two; how many rows it has."""

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
                            builder.call(_function(builder.module, real, rows, vectors), given)
                builder.branch(end)
        builder.branch(end)
        builder.position_at_end(end)
        return builder.load(done)

    whole = types.int64
    return whole(sums, whole, whole, places, *(whole,) * 5), generate


@jit(inline="always")
def _strip(sums, a, b, places, z, s, rows, pair, last):
    """All rows of one strip of columns, one vector wide or two."""
    r = 0
    while r < rows:
        at, to, begin = a + r * sums.down, z + r * places.line, s + r * places.skip
        r += _tile(sums, at, b, places, to, begin, rows - r, pair, last)


@jit
def add_products(sums, a, b, fall, places, z, lines, rows, columns):
    """The sums of lines x rows x columns; A begins at a and a line `fall` further on, B at b, Z at z and
    line after line. A strip of some terms of B stays in the nearest cache while all lines need it."""
    lanes = BYTES // sums.A.itemsize
    some = max(1, TERMS // max(1, sums.length))
    onward = Places(places.Z, places.line, places.Z, places.line)
    for j in range(0, columns, 2 * lanes):
        left = columns - j
        pair = int(left > lanes)
        last = min(left - lanes if pair else left, lanes)
        for u in range(0, max(1, sums.segments), some):
            part = _part(sums, min(some, sums.segments - u))
            at, from_b = a + u * sums.apart, b + u * sums.length * sums.wide + j
            for i in range(lines):
                to = z + i * rows * places.line + j
                if u == 0:
                    begin = to if places.skip else j
                    _strip(part, at + i * fall, from_b, places, to, begin, rows, pair, last)
                else:
                    _strip(part, at + i * fall, from_b, onward, to, to, rows, pair, last)


@jit(inline="always")
def _part(sums, segments):
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
