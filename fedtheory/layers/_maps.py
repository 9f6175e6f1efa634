"""Small matrices applied to both sides of tiles of runs: z = P d P', each d[i, j] being some neighbouring
numbers of a flat array, whose sums are made in the processor's registers.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from fedtheory.jit import DISABLED
from fedtheory.layers._vectors import WORD, begins, in_vectors, lanes_of


class Steps(NamedTuple):
    """How far apart things lie in a flat array."""

    down: int  # run (i, j) and (i + 1, j) of a tile
    along: int  # and (i, j + 1)
    tile: int  # a tile and the next


def _product(builder, P, d):
    """P d, where d is a list of lists of vectors; zeros of P are left out, and signs are no products."""
    found = []
    for row in P:
        terms = [(by, line) for by, line in zip(row, d) if by]
        sums = []
        for place in range(len(d[0])):
            total = None
            for by, line in terms:
                value = line[place]
                if abs(by) != 1:
                    value = builder.fmul(
                        value, ir.Constant(value.type, [abs(by)] * value.type.count)
                    )
                if total is None:
                    total = builder.fneg(value) if by < 0 else value
                else:
                    total = (builder.fsub if by < 0 else builder.fadd)(total, value)
            sums.append(total)
        found.append(sums)
    return found


def _turned(d):
    return [list(line) for line in zip(*d)]


def _function(module, real, P, adds):
    """void (A, down, along, tile, Z, down, along, tile, tiles, count) in LLVM."""
    name = "fedtheory_map_" + "_".join(str(part) for row in (*P, (adds,)) for part in row)
    name = f"{name}_{len(P)}_{real.intrinsic_name}"
    if name in module.globals:
        return module.globals[name]
    kinds = [*(real.as_pointer(), WORD, WORD, WORD) * 2, WORD, WORD]
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    A, *read, Z, down, along, step, tiles, count = made.args

    def runs(base, down, along, step, size, tile, offset):
        far = lambda n, step: builder.mul(ir.Constant(WORD, n), step)
        first = builder.gep(base, [builder.add(builder.mul(tile, step), offset)])
        place = lambda i, j: builder.gep(first, [builder.add(far(i, down), far(j, along))])
        return [[place(i, j) for j in range(size)] for i in range(size)]

    def work(tile, offset, load, store):
        d = [[load(run) for run in row] for row in runs(A, *read, len(P[0]), tile, offset)]
        z = _turned(_product(builder, P, _turned(_product(builder, P, d))))
        for row, values in zip(runs(Z, down, along, step, len(P), tile, offset), z):
            for run, value in zip(row, values):
                store(builder.fadd(load(run), value) if adds else value, run)

    in_vectors(builder, ir.VectorType(real, lanes_of(real)), tiles, count, work)
    builder.ret_void()
    return made


def small_map(P, adds=False):
    """The kernel (A, at, steps, Z, to, steps, tiles, count): z = P d P' for each of some tiles, or
    z += P d P', over runs of `count` numbers. `P` is a list of rows."""
    P = tuple(tuple(row) for row in P)
    if DISABLED:
        return _slowly(np.array(P), adds)

    @intrinsic
    def mapped(typing_context, A, at, far, Z, to, wide, tiles, count):
        def generate(context, builder, signature, arguments):
            given = []
            for place, steps in zip(begins(context, builder, signature, arguments, (0, 3)), (2, 5)):
                given += [place, *(builder.extract_value(arguments[steps], n) for n in range(3))]
            real = context.get_value_type(signature.args[0].dtype)
            builder.call(_function(builder.module, real, P, adds), [*given, *arguments[6:]])
            return context.get_dummy_value()

        whole = types.int64
        return types.none(A, whole, far, Z, whole, wide, whole, whole), generate

    return mapped


def _slowly(P, adds):
    from numpy.lib.stride_tricks import as_strided

    def view(flat, at, steps, size, tiles, count):
        shape, step = (tiles, size, size, count), flat.itemsize
        strides = [step * each for each in (steps.tile, steps.down, steps.along, 1)]
        return as_strided(flat[at:], shape, strides)

    def kernel(A, at, far, Z, to, wide, tiles, count):
        d = view(A, at, far, P.shape[1], tiles, count)
        z = np.einsum("ai,tijc,bj->tabc", P, d, P).astype(Z.dtype)
        targets = view(Z, to, wide, len(P), tiles, count)
        for n in range(tiles):  # tiles may overlap
            targets[n] = targets[n] + z[n] if adds else z[n]

    return kernel
