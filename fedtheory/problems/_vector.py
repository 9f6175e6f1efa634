"""Arithmetic for hot loops: an exponential that vectorises, and four numbers at once.

Numba vectorises simple loops but leaves hand-unrolled ones scalar. `Lanes` is a vector of four
float64 that lives in registers; each lane is computed as the scalar would be (no fused
multiply-add, no reordering), so the bits are the same on every machine.
"""

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

from fedtheory.jit import DISABLED, jit
from fedtheory.rng import from_bits, to_bits


@jit(inline="always")
def exp(x):
    """e^x for x <= 709, within 1 ulp; below -708 it stays at e^-708, near 3e-308."""
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
    total = 0.0
    for j in range(x.size):
        total += x[j] * x[j]
    return 0.5 * total


if DISABLED:

    def zero():
        return np.zeros(4)

    def load(a, i):
        return a[i : i + 4].copy()

    def store(a, i, v):
        a[i : i + 4] = v

    def multiply_add(v, s, w):
        return v + s * w
else:
    _VECTOR = ir.VectorType(ir.DoubleType(), 4)

    class Lanes(types.Type):
        def __init__(self):
            super().__init__("Lanes")

    _LANES = Lanes()

    @register_model(Lanes)
    class _LanesModel(models.PrimitiveModel):
        def __init__(self, manager, of):
            super().__init__(manager, of, _VECTOR)

    def _pointer(context, builder, of, array, i):
        start = context.make_array(of)(context, builder, array).data
        return builder.bitcast(builder.gep(start, [i]), _VECTOR.as_pointer())

    @intrinsic
    def zero(typing_context):
        """Four zeros."""
        return _LANES(), lambda context, builder, signature, arguments: ir.Constant(
            _VECTOR, [0.0] * 4
        )

    @intrinsic
    def load(typing_context, a, i):
        """a[i : i + 4] of a contiguous vector."""

        def generate(context, builder, signature, arguments):
            return builder.load(_pointer(context, builder, a, *arguments), align=8)

        return _LANES(a, types.int64), generate

    @intrinsic
    def store(typing_context, a, i, v):
        """a[i : i + 4] = v."""

        def generate(context, builder, signature, arguments):
            array, at, value = arguments
            builder.store(value, _pointer(context, builder, a, array, at), align=8)
            return context.get_dummy_value()

        return types.void(a, types.int64, _LANES), generate

    @intrinsic
    def multiply_add(typing_context, v, s, w):
        """v + s w, for a scalar s."""

        def generate(context, builder, signature, arguments):
            v, s, w = arguments
            any_ = ir.Constant(_VECTOR, ir.Undefined)
            first = ir.Constant(ir.IntType(32), 0)
            spread = builder.shuffle_vector(
                builder.insert_element(any_, s, first),
                any_,
                ir.Constant(ir.VectorType(ir.IntType(32), 4), [0] * 4),
            )
            return builder.fadd(v, builder.fmul(spread, w))

        return _LANES(_LANES, types.float64, _LANES), generate
