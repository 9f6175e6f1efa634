"""Arithmetic for hot loops: an exponential that vectorises, and vectors of several numbers.

Numba vectorises simple loops but leaves hand-unrolled ones scalar. `Lanes` is a vector of four or
eight float64 (two, where one ends in pairs) that lives in registers, wherever a machine's are too short in several; each lane is
computed as the scalar would be (no fused multiply-add, no reordering), so the bits are the same on
every machine.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from llvmlite import binding, ir
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import (
    CastInstr,
    ExtractElement,
    InsertValue,
    Instruction,
    LoadInstr,
    ShuffleVector,
)
from llvmlite.ir.types import VectorType
from llvmlite.ir.values import Constant
from numba import carray
from numba.core import cgutils, types
from numba.extending import intrinsic, models, register_model

from fedtheory.jit import DISABLED, jit
from fedtheory.rng import from_bits, to_bits

WIDE = bool(binding.get_host_cpu_features().get("avx512f"))  # vectors of 64 bytes, not of 32


@jit(inline="always")
def exp(x):
    """Return e^x for x <= 709, within 1 ulp; below -708 the result stays at e^-708, near 3e-308."""
    x = -708.0 if x < -708.0 else x  # false for NaN, which passes through
    shifted = x * 1.4426950408889634 + 6755399441055744.0  # the low bits of 1.5 * 2^52 + n hold n
    n = shifted - 6755399441055744.0
    r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10  # |r| <= log(2) / 2
    z = r * r
    w = z * z
    tail = (
        (0.5 + r * 0.16666666666666666)
        + z * (4.1666666666666664e-02 + r * 8.333333333333333e-03)
        + w
        * (
            (1.3888888888888889e-03 + r * 1.984126984126984e-04)
            + z * (2.48015873015873e-05 + r * 2.7557319223985893e-06)
        )
        + w
        * w
        * (
            (2.755731922398589e-07 + r * 2.505210838544172e-08)
            + z * (2.08767569878681e-09 + r * 1.6059043836821613e-10)
        )
    )
    return (1.0 + (r + z * tail)) * from_bits(((to_bits(shifted) + 1023) & 0x7FF) << 52)


@jit
def half_square(x):
    """Return ||x||^2 / 2."""
    total = 0.0
    for j in range(x.size):
        total += x[j] * x[j]
    return 0.5 * total


if DISABLED:

    def zero(width: Any) -> Any:
        return np.zeros(width)

    def load(a: Any, i: Any, like: Any) -> tuple[Any, ...]:
        return a[i : i + like.size].copy()

    def store(a: Any, i: Any, v: Any) -> None:
        a[i : i + v.size] = v

    def multiply_add(v: Any, s: Any, w: Any) -> tuple[Any, ...]:
        return v + s * w

    def add(v: Any, w: Any) -> tuple[Any, ...]:
        return v + w

    def on_stack(n: Any) -> Any:
        return np.empty(n)

    def lane_total(v: Any) -> tuple[Any, ...]:
        while v.size > 1:
            v = v[: v.size // 2] + v[v.size // 2 :]
        return v[0]

    def lane_totals(v: Any) -> Any:
        return np.array([lane_total(w) for w in v])

    def pair_lanes(a: Any, i: Any) -> Any:
        return np.repeat(a[i : i + 4], 2)

    def repeat_lanes(a: Any, i: Any) -> Any:
        return np.tile(a[i : i + 2], 4)

    def cross_lanes(u: Any, v: Any, w: Any, x: Any) -> tuple[Any, ...]:
        return tuple(np.repeat([u[k], v[k], w[k], x[k]], 2) for k in range(4))

    def join_lanes(u: Any, v: Any, w: Any, x: Any) -> Any:
        return np.concatenate([u, v, w, x])

    def take_quarter(v: Any, n: Any) -> tuple[Any, ...]:
        return v[2 * n : 2 * n + 2]
else:
    _WORD = ir.IntType(32)

    class Lanes(types.Type):
        def __init__(self, width: int) -> None:
            self.width, self.vector = width, ir.VectorType(ir.DoubleType(), width)
            super().__init__(f"Lanes({width})")

    @register_model(Lanes)
    class _LanesModel(models.PrimitiveModel):
        def __init__(self, manager: Any, of: Any) -> None:
            super().__init__(manager, of, of.vector)

    def _element_pointer(
        context: Any,
        builder: IRBuilder,
        of: Any,
        vector: VectorType,
        array: Instruction,
        i: Instruction,
    ) -> CastInstr:
        start = context.make_array(of)(context, builder, array).data
        return builder.bitcast(builder.gep(start, [i]), vector.as_pointer())

    def _shuffle_lanes(
        builder: IRBuilder, v: Instruction, lanes: Sequence[int], w: Instruction | None = None
    ) -> ShuffleVector:
        """Return a vector of the given lanes of v and w, where the lanes of w are numbered on from
        those of v."""
        w = ir.Constant(v.type, ir.Undefined) if w is None else w
        mask = ir.Constant(ir.VectorType(_WORD, len(lanes)), lanes)
        return builder.shuffle_vector(v, w, mask)

    @intrinsic(prefer_literal=True)
    def zero(typing_context: Any, width: Any) -> tuple[Any, Callable[..., Any]]:
        """Return a vector of zeros; the width is a literal: 2, 4 or 8."""
        of = Lanes(width.literal_value)
        nothing = ir.Constant(of.vector, [0.0] * of.width)
        return of(width), lambda context, builder, signature, arguments: nothing

    @intrinsic
    def load(typing_context: Any, a: Any, i: Any, like: Any) -> tuple[Any, Callable[..., Any]]:
        """Return a[i], a[i + 1], .. of a contiguous array, as many numbers as `like` has lanes."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[Instruction, Instruction, Constant],
        ) -> LoadInstr:
            return builder.load(
                _element_pointer(context, builder, a, like.vector, *arguments[:2]), align=8
            )

        return like(a, types.int64, like), generate

    @intrinsic
    def store(typing_context: Any, a: Any, i: Any, v: Any) -> tuple[Any, Callable[..., Any]]:
        """Write the lanes of v to a[i], a[i + 1], .. of a contiguous array."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[LoadInstr, Instruction, Instruction],
        ) -> Constant:
            array, at, value = arguments
            builder.store(
                value, _element_pointer(context, builder, a, v.vector, array, at), align=8
            )
            return context.get_dummy_value()

        return types.void(a, types.int64, v), generate

    @intrinsic
    def multiply_add(typing_context: Any, v: Any, s: Any, w: Any) -> tuple[Any, Callable[..., Any]]:
        """Return v + s w, where s is a scalar or a vector."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[Any, Instruction, Instruction],
        ) -> Instruction:
            added, factor, value = arguments
            if not isinstance(s, Lanes):
                alone = ir.Constant(v.vector, ir.Undefined)
                alone = builder.insert_element(alone, factor, ir.Constant(_WORD, 0))
                factor = _shuffle_lanes(builder, alone, [0] * v.width)
            return builder.fadd(added, builder.fmul(factor, value))

        return v(v, s if isinstance(s, Lanes) else types.float64, w), generate

    @intrinsic
    def add(typing_context: Any, v: Any, w: Any) -> tuple[Any, Callable[..., Any]]:
        """Return v + w, lane by lane."""
        return v(v, w), lambda context, builder, signature, arguments: builder.fadd(*arguments)

    @intrinsic
    def _allocate_stack(typing_context, n):
        def generate(context, builder, signature, arguments):
            place = builder.alloca(ir.DoubleType(), arguments[0])
            place.align = 64  # a line of the cache
            return place

        return types.CPointer(types.float64)(types.int64), generate

    @jit(inline="always")
    def on_stack(n: Any) -> Any:
        """Return an array of n numbers on the stack, which lasts until the calling function
        returns; the allocation costs nothing."""
        return carray(_allocate_stack(n), (n,))

    @intrinsic
    def lane_total(typing_context: Any, v: Any) -> tuple[Any, Callable[..., Any]]:
        """Return the sum of the lanes: the vector's two halves are added until one lane is left."""

        def generate(
            context: Any, builder: IRBuilder, signature: Any, arguments: tuple[LoadInstr]
        ) -> ExtractElement:
            (value,), width = arguments, v.width
            while width > 1:
                width //= 2
                low = _shuffle_lanes(builder, value, [*range(width)])
                value = builder.fadd(
                    low, _shuffle_lanes(builder, value, [*range(width, 2 * width)])
                )
            return builder.extract_element(value, ir.Constant(_WORD, 0))

        return types.float64(v), generate

    @intrinsic
    def lane_totals(typing_context: Any, v: Any) -> tuple[Any, Callable[..., Any]]:
        """Return the totals of eight vectors of eight lanes, several computed at once; each is
        added up in the order of `total`."""
        of = v.types[0]

        def generate(
            context: Any, builder: IRBuilder, signature: Any, arguments: Sequence[InsertValue]
        ) -> Instruction:
            given = cgutils.unpack_tuple(builder, arguments[0], 8)
            parts = [given[n] for n in (0, 4, 2, 6, 1, 5, 3, 7)]  # sums then end in their own lanes
            for apart in (4, 2, 1):
                low = [n for n in range(16) if n % (2 * apart) < apart]
                high = [n + apart for n in low]
                pairs = zip(parts, parts[len(parts) // 2 :])
                parts = [
                    builder.fadd(
                        _shuffle_lanes(builder, v, low, w), _shuffle_lanes(builder, v, high, w)
                    )
                    for v, w in pairs
                ]
            return parts[0]

        return of(v), generate

    def _load_vector(
        context: Any, builder: IRBuilder, of: Any, width: int, array: LoadInstr, i: Instruction
    ) -> LoadInstr:
        vector = ir.VectorType(ir.DoubleType(), width)
        return builder.load(_element_pointer(context, builder, of, vector, array, i), align=8)

    @intrinsic
    def pair_lanes(typing_context: Any, a: Any, i: Any) -> tuple[Any, Callable[..., Any]]:
        """Return a[i], .., a[i + 3], each twice."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[LoadInstr, Instruction],
        ) -> ShuffleVector:
            four = _load_vector(context, builder, a, 4, *arguments)
            return _shuffle_lanes(builder, four, [0, 0, 1, 1, 2, 2, 3, 3])

        return Lanes(8)(a, types.int64), generate

    @intrinsic
    def repeat_lanes(typing_context: Any, a: Any, i: Any) -> tuple[Any, Callable[..., Any]]:
        """Return the pair a[i], a[i + 1], four times."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[LoadInstr, Instruction],
        ) -> ShuffleVector:
            return _shuffle_lanes(
                builder, _load_vector(context, builder, a, 2, *arguments), [0, 1] * 4
            )

        return Lanes(8)(a, types.int64), generate

    @intrinsic
    def cross_lanes(
        typing_context: Any, u: Any, v: Any, w: Any, x: Any
    ) -> tuple[Any, Callable[..., Any]]:
        """Return four vectors of eight lanes: of the four given vectors of four lanes, the first
        lanes, each twice, then the second lanes, and so on."""
        of = types.UniTuple(Lanes(8), 4)

        def generate(
            context: Any, builder: IRBuilder, signature: Any, arguments: Sequence[LoadInstr]
        ) -> InsertValue:
            low = _shuffle_lanes(builder, arguments[0], [*range(8)], arguments[1])
            high = _shuffle_lanes(builder, arguments[2], [*range(8)], arguments[3])
            lanes = [[k, k, 4 + k, 4 + k, 8 + k, 8 + k, 12 + k, 12 + k] for k in range(4)]
            made = [_shuffle_lanes(builder, low, mask, high) for mask in lanes]
            return context.make_tuple(builder, of, made)

        return of(u, v, w, x), generate

    @intrinsic
    def join_lanes(
        typing_context: Any, u: Any, v: Any, w: Any, x: Any
    ) -> tuple[Any, Callable[..., Any]]:
        """Return four vectors of two lanes as one vector of eight."""

        def generate(
            context: Any, builder: IRBuilder, signature: Any, arguments: Sequence[LoadInstr]
        ) -> ShuffleVector:
            low = _shuffle_lanes(builder, arguments[0], [*range(4)], arguments[1])
            high = _shuffle_lanes(builder, arguments[2], [*range(4)], arguments[3])
            return _shuffle_lanes(builder, low, [*range(8)], high)

        return Lanes(8)(u, v, w, x), generate

    @intrinsic(prefer_literal=True)
    def take_quarter(typing_context: Any, v: Any, n: Any) -> tuple[Any, Callable[..., Any]]:
        """Return lanes 2 n and 2 n + 1 of a vector of eight; n is a literal."""
        first = 2 * n.literal_value
        cut = lambda builder, value: _shuffle_lanes(builder, value, [first, first + 1])
        return Lanes(2)(v, n), lambda context, builder, signature, arguments: cut(
            builder, arguments[0]
        )
