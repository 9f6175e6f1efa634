"""C = beta C + A B by BLAS, on matrices and their transposes, in float32 and float64.

Numba's np.dot neither adds to what is there nor takes a transpose without a copy in all cases; its
own binding of BLAS does both, and machine code that calls it is kept like any other.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.linalg import ensure_blas

from fedtheory.jit import DISABLED, jit

if DISABLED:

    def _xxgemm(turned_a, turned_b, m, n, k, A, B, beta, C):
        product = (A.T if turned_a else A) @ (B.T if turned_b else B)
        C[...] = product + (C if beta else 0)
else:
    ensure_blas()

    @intrinsic
    def _xxgemm(typing_context, turned_a, turned_b, m, n, k, A, B, beta, C):
        real = C.dtype

        def generate(context, builder, signature, arguments):
            ta, tb, rows, columns, inner, a, b, scale, c = arguments
            word, char = ir.IntType(64), ir.IntType(8)
            pointer = ir.IntType(8).as_pointer()
            kind = ir.Constant(char, ord("s" if real == types.float32 else "d"))
            letter = lambda turned: builder.select(
                builder.icmp_signed("!=", turned, ir.Constant(word, 0)),
                ir.Constant(char, ord("t")),
                ir.Constant(char, ord("n")),
            )

            def matrix(of, value):
                made = context.make_array(of)(context, builder, value)
                across = cgutils.unpack_tuple(builder, made.shape, 2)[1]
                return builder.bitcast(made.data, pointer), across

            number = context.get_value_type(real)
            one = cgutils.alloca_once_value(builder, ir.Constant(number, 1.0))
            given = context.cast(builder, scale, signature.args[7], real)
            more = cgutils.alloca_once_value(builder, given)
            (data_a, wide_a), (data_b, wide_b), (data_c, wide_c) = (
                matrix(signature.args[n], value) for n, value in ((5, a), (6, b), (8, c))
            )
            # BLAS reads by columns: what it takes for B'A' is our (AB)'.
            kinds = [char, char, char, word, word, word, pointer, pointer, word, pointer]
            gemm = cgutils.get_or_insert_function(
                builder.module,
                ir.FunctionType(ir.IntType(32), [*kinds, word, pointer, pointer, word]),
                "numba_xxgemm",
            )
            builder.call(
                gemm,
                [
                    *(kind, letter(tb), letter(ta), columns, rows, inner),
                    *(builder.bitcast(one, pointer), data_b, wide_b, data_a, wide_a),
                    *(builder.bitcast(more, pointer), data_c, wide_c),
                ],
            )
            return context.get_dummy_value()

        whole = types.int64
        sizes = (whole,) * 5
        return types.void(*sizes, A, B, types.float64, C), generate


@jit
def gemm(A, turned_a, B, turned_b, beta, C):
    """C = beta C + A B; A, B by rows, turned if 1."""
    k = A.shape[0] if turned_a else A.shape[1]
    if C.size == 0:
        return
    _xxgemm(turned_a, turned_b, C.shape[0], C.shape[1], k, A, B, beta, C)


@jit
def matrix(flat, start, rows, columns):
    """A view of rows x columns numbers of a flat vector."""
    return flat[start : start + rows * columns].reshape((rows, columns))


def he_normal(inputs, outputs):
    """Where weights before a ReLU begin (He et al. 2015): variance 2 / inputs."""
    return lambda generator: generator.standard_normal(inputs * outputs) * np.sqrt(2.0 / inputs)


def zeros(size):
    return lambda generator: np.zeros(size)
