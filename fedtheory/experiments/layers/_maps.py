"""Small matrices applied to both sides of tiles of runs: z = P d P', where each d[i, j] is a run of
neighbouring numbers of a flat array. The sums are made in the processor's registers."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import GEPInstr, Instruction, PhiInstr
from llvmlite.ir.module import Module
from llvmlite.ir.types import VectorType
from llvmlite.ir.values import Argument, Constant, Function
from numba.core import cgutils, types
from numba.extending import intrinsic

from fedtheory.experiments.layers._vectors import WORD, array_pointers, in_vectors, lanes_of
from fedtheory.jit import DISABLED
from fedtheory.typing import Number


class Steps(NamedTuple):
    """The distances between runs and tiles in a flat array."""

    down: int  # run (i, j) and (i + 1, j) of a tile
    along: int  # and (i, j + 1)
    tile: int  # a tile and the next


def _transpose_matrix(d: Sequence[Any]) -> list[list[float | Instruction]]:
    return [list(line) for line in zip(*d)]


def _row_pairs(rows: Sequence[Any]) -> dict[int, int]:
    """Return {q: p} for pairs of rows that agree up to signs, where some signs differ and some do
    not."""
    found: dict = {}
    for q, p in combinations(range(len(rows)), 2):
        alike = {one * other > 0 for one, other in zip(rows[q], rows[p]) if one}
        same = [*map(abs, rows[q])] == [*map(abs, rows[p])]
        if same and len(alike) == 2 and not {q, p} & {*found, *found.values()}:
            found[q] = p
    return found


def _emit_sum(
    builder: IRBuilder, terms: Iterator[Any] | Sequence[tuple[float, Instruction]]
) -> Instruction:
    """Generate code for the sum of coefficients times vectors; the sum begins with a term that
    needs no multiplication, if there is one."""
    terms = sorted(((by, value) for by, value in terms if by), key=lambda term: abs(term[0]) != 1)
    total = None
    for by, value in terms:
        many = ir.Constant(value.type, [by] * value.type.count)
        if total is None:
            total = builder.fneg(value) if by == -1 else value
            total = total if abs(by) == 1 else builder.fmul(many, value)
        elif abs(by) == 1:
            total = (builder.fsub if by < 0 else builder.fadd)(total, value)
        else:
            total = builder.call(_fused_multiply(builder.module, value.type), [many, value, total])
    return total


def _fused_multiply(module: Module, vector: VectorType) -> Function:
    kind = "f32" if isinstance(vector.element, ir.FloatType) else "f64"
    name = f"llvm.fmuladd.v{vector.count}{kind}"
    return cgutils.get_or_insert_function(module, ir.FunctionType(vector, [vector] * 3), name)


def _emit_product(builder: IRBuilder, P: Sequence[Any], d: list[Any]) -> list[Instruction]:
    """Generate code for P d, where d is a list of vectors. Terms that two columns, or two rows, of
    P have in common are computed once, as sums and differences of pairs."""
    d, P = list(d), [list(row) for row in P]
    for k, l in _row_pairs(_transpose_matrix(P)).items():
        d[k], d[l] = builder.fadd(d[k], d[l]), builder.fsub(d[k], d[l])
        for row in P:
            row[k], row[l] = (row[k], 0) if row[k] == row[l] else (0, row[k])
    found, pairs = [None] * len(P), _row_pairs(P)
    for p, q in pairs.items():
        alike, unlike = (
            _emit_sum(builder, [(a, v) for a, b, v in zip(P[p], P[q], d) if (a == b) == same])
            for same in (True, False)
        )
        found[p], found[q] = builder.fadd(alike, unlike), builder.fsub(alike, unlike)
    for p, row in enumerate(P):
        found[p] = _emit_sum(builder, zip(row, d)) if found[p] is None else found[p]
    return found


def _emit_function(module: Module, real: Any, P: Any, adds: str) -> Function:
    """Return the LLVM function void (A, down, along, tile, Z, down, along, tile, b, tiles, count)
    that applies P to both sides of tiles."""
    name = "fedtheory_map_" + "_".join(str(part) for row in (*P, (adds,)) for part in row)
    name = f"{name}_{len(P)}_{real.intrinsic_name}"
    if name in module.globals:
        return module.globals[name]
    pointer = real.as_pointer()
    kinds = [*(pointer, WORD, WORD, WORD) * 2, pointer, WORD, WORD]
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
    made.linkage = "internal"
    made.attributes.add("noinline")
    builder = ir.IRBuilder(made.append_basic_block("entry"))
    A, *read, Z, down, along, step, b, tiles, count = made.args

    def runs(
        base: Argument,
        down: Argument,
        along: Argument,
        step: Argument,
        size: int,
        tile: PhiInstr,
        offset: Instruction,
    ) -> list[list[GEPInstr]]:
        far = lambda n, step: builder.mul(ir.Constant(WORD, n), step)
        first = builder.gep(base, [builder.add(builder.mul(tile, step), offset)])
        place = lambda i, j: builder.gep(first, [builder.add(far(i, down), far(j, along))])
        return [[place(i, j) for j in range(size)] for i in range(size)]

    def work(tile: Any, offset: Any, load: Callable[..., Any], store: Callable[..., Any]) -> None:
        columns = _transpose_matrix(runs(A, *read, len(P[0]), tile, offset))
        d = _transpose_matrix(
            [_emit_product(builder, P, [load(run) for run in column]) for column in columns]
        )
        start = load(builder.gep(b, [offset])) if adds == "b" else None
        for row, places in zip(d, runs(Z, down, along, step, len(P), tile, offset)):
            for value, run in zip(_emit_product(builder, P, row), places):
                more = load(run) if adds == "z" else start
                store(value if more is None else builder.fadd(more, value), run)

    in_vectors(builder, ir.VectorType(real, lanes_of(real)), tiles, count, work)
    builder.ret_void()
    return made


def small_map(P: Sequence[Sequence[Number]], adds: str = "") -> Any:
    """Return the kernel (A, at, steps, Z, to, steps, tiles, count, b, by), which computes for each
    of some tiles z = P d P', z += P d P' where `adds` is "z", or z = b + P d P' where `adds` is
    "b", over runs of `count` numbers. b begins at `by`, and `P` is a list of rows."""
    P = tuple(tuple(float(part) for part in row) for row in P)
    if DISABLED:
        return _interpreted_map(np.array(P), adds)

    def generate(
        context: Any, builder: IRBuilder, signature: Any, arguments: Sequence[Any]
    ) -> Constant:
        given, arrays = [], (0, 3, 8) if adds == "b" else (0, 3)
        places = array_pointers(context, builder, signature, arguments, arrays)
        for place, steps in zip(places, (2, 5)):
            given += [place, *(builder.extract_value(arguments[steps], n) for n in range(3))]
        real = context.get_value_type(signature.args[0].dtype)
        function = _emit_function(builder.module, real, P, adds)
        builder.call(function, [*given, places[-1], *arguments[6:8]])
        return context.get_dummy_value()

    whole = types.int64

    @intrinsic
    def mapped(typing_context, A, at, far, Z, to, wide, tiles, count):
        return types.none(A, whole, far, Z, whole, wide, whole, whole), generate

    @intrinsic
    def begun(typing_context, A, at, far, Z, to, wide, tiles, count, b, by):
        return types.none(A, whole, far, Z, whole, wide, whole, whole, b, whole), generate

    return begun if adds == "b" else mapped


def _interpreted_map(P: Any, adds: str) -> Any:
    from numpy.lib.stride_tricks import as_strided

    def view(flat: Any, at: Any, steps: Number, size: int, tiles: Any, count: Any) -> Any:
        shape, step = (tiles, size, size, count), flat.itemsize
        strides = [step * each for each in (steps.tile, steps.down, steps.along, 1)]
        return as_strided(flat[at:], shape, strides)

    def kernel(
        A: Any,
        at: Any,
        far: Any,
        Z: Any,
        to: Any,
        wide: Any,
        tiles: Any,
        count: Any,
        b: Any = None,
        by: Any = 0,
    ) -> None:
        d = view(A, at, far, P.shape[1], tiles, count)
        z = np.einsum("ai,tijc,bj->tabc", P, d, P).astype(Z.dtype)
        targets = view(Z, to, wide, len(P), tiles, count)
        for n in range(tiles):  # tiles may overlap
            start = {"": 0, "z": targets[n], "b": b[by : by + count] if adds == "b" else 0}
            targets[n] = start[adds] + z[n]

    return kernel
