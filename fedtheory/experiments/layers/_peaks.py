"""The largest numbers of windows of runs, and the place in each window that receives the
derivative. Comparisons are made in the processor's registers, a vector at a time."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import ExtractValue, GEPInstr, Instruction, LoadInstr, PhiInstr
from numba.core import cgutils, types
from numba.extending import intrinsic

from fedtheory.experiments.layers._vectors import array_pointers, in_vectors, vector_of
from fedtheory.jit import DISABLED


class Line(NamedTuple):
    """A line of windows of k x k runs of `long` numbers, with the steps down a window, along a
    window, and to the next window."""

    k: int
    down: int
    along: int
    step: int
    windows: int
    long: int


def _window_places(
    builder: IRBuilder, line: Sequence[ExtractValue], tile: PhiInstr, offset: Instruction
) -> tuple[Instruction, Callable[..., Any], Instruction]:
    """Return (first, each, far): the offset of the window's first place, a function that calls
    `visit` with the offset of each place of the window, and the offset of the number that belongs
    to the window as a whole."""
    k, down, along, step, _, long = line
    add, mul, word = builder.add, builder.mul, ir.IntType(64)
    first = add(mul(tile, step), offset)

    def each(visit: Callable[..., Any]) -> None:
        with cgutils.for_range(builder, k, intp=word) as u:
            with cgutils.for_range(builder, k, intp=word) as v:
                visit(add(first, add(mul(u.index, down), mul(v.index, along))))

    return first, each, add(mul(tile, long), offset)


def _emit_largest(
    builder: IRBuilder,
    A: GEPInstr,
    line: Sequence[ExtractValue],
    first: Instruction,
    each: Callable[..., Any],
    load: Callable[..., Any],
) -> LoadInstr:
    best = cgutils.alloca_once_value(builder, load(builder.gep(A, [first])))

    def compare(way: Instruction) -> None:
        value, known = load(builder.gep(A, [way])), builder.load(best)
        builder.store(builder.select(builder.fcmp_ordered(">", value, known), value, known), best)

    each(compare)
    return builder.load(best)


@intrinsic
def _largest_of(typing_context, line, A, a, Z, z):
    """Write to Z, run after run, the largest number of each window of A."""

    def generate(context, builder, signature, arguments):
        sizes = [builder.extract_value(arguments[0], n) for n in range(6)]
        A, Z = array_pointers(context, builder, signature, arguments, (1, 3))

        def work(tile, offset, load, store):
            first, each, far = _window_places(builder, sizes, tile, offset)
            store(_emit_largest(builder, A, sizes, first, each, load), builder.gep(Z, [far]))

        in_vectors(builder, vector_of(context, signature.args[1]), *sizes[4:], work)
        return context.get_dummy_value()

    whole = types.int64
    return types.none(line, A, whole, Z, whole), generate


@intrinsic
def _given_to_first(typing_context, line, A, a, D, d, E, e):
    """Write to E, shaped like A, each window's number of D at the first place where the window is
    largest, and zeros elsewhere."""

    def generate(context, builder, signature, arguments):
        sizes = [builder.extract_value(arguments[0], n) for n in range(6)]
        A, D, E = array_pointers(context, builder, signature, arguments, (1, 3, 5))
        vector = vector_of(context, signature.args[1])
        zero = ir.Constant(vector, [0.0] * vector.count)

        def work(tile, offset, load, store):
            first, each, far = _window_places(builder, sizes, tile, offset)
            best = _emit_largest(builder, A, sizes, first, each, load)
            left = cgutils.alloca_once_value(builder, load(builder.gep(D, [far])))

            def take(way):
                its = builder.fcmp_ordered("==", load(builder.gep(A, [way])), best)
                slope = builder.load(left)
                store(builder.select(its, slope, zero), builder.gep(E, [way]))
                builder.store(builder.select(its, zero, slope), left)

            each(take)

        in_vectors(builder, vector, *sizes[4:], work)
        return context.get_dummy_value()

    whole = types.int64
    return types.none(line, A, whole, D, whole, E, whole), generate


def _window_view(line: Any, flat: Any, at: Any, n: int) -> Any:
    places = [u * line.down + v * line.along for u in range(line.k) for v in range(line.k)]
    return [slice(at + n * line.step + way, at + n * line.step + way + line.long) for way in places]


def _largest_slowly(line: Any, A: Any, a: Any, Z: Any, z: Any) -> None:
    for n in range(line.windows):
        runs = [A[place] for place in _window_view(line, A, a, n)]
        Z[z + n * line.long :][: line.long] = np.max(runs, axis=0)


def _given_slowly(line: Any, A: Any, a: Any, D: Any, d: int, E: Any, e: Any) -> None:
    for n in range(line.windows):
        runs = np.array([A[place] for place in _window_view(line, A, a, n)])
        for place, way in enumerate(_window_view(line, E, e, n)):
            its = np.argmax(runs, axis=0) == place
            E[way] = np.where(its, D[d + n * line.long :][: line.long], 0)


largest_of = _largest_slowly if DISABLED else _largest_of
given_to_first = _given_slowly if DISABLED else _given_to_first
