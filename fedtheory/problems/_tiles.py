"""Small matrix products in registers: four samples by four columns, or four features by four
columns, at a time.

A sample is a row base + rows[b] of X, whose width F is a multiple of four. Matrices of the
workspace are vectors with rows of P numbers, P a multiple of four: W and G have F rows, Z one row a
sample and room for a multiple of four of them. Sums run over samples or features in order, whatever
the machine.
"""

from fedtheory.jit import jit
from fedtheory.problems._vector import load, multiply_add, store, zero


@jit
def widen(x, C, W, P):
    """W[f P + c] = x[f C + c]; columns C to P keep what they hold."""
    whole = C - C % 4
    for f in range(x.size // C):
        for c in range(0, whole, 4):
            store(W, f * P + c, load(x, f * C + c))
        for c in range(whole, C):
            W[f * P + c] = x[f * C + c]


@jit
def narrow(G, P, C, ridge, x, out):
    """out = G without its padding, plus ridge x."""
    whole = C - C % 4
    for f in range(x.size // C):
        for c in range(0, whole, 4):
            store(out, f * C + c, multiply_add(load(G, f * P + c), ridge, load(x, f * C + c)))
        for c in range(whole, C):
            out[f * C + c] = G[f * P + c] + ridge * x[f * C + c]


@jit
def scores(X, base, rows, W, P, Z):
    """Z[b P + c] = W_c' a of row base + rows[b]."""
    last, F = rows.size - 1, X.shape[1]
    for b in range(0, rows.size, 4):
        r_0, r_1 = base + rows[b], base + rows[min(b + 1, last)]
        r_2, r_3 = base + rows[min(b + 2, last)], base + rows[min(b + 3, last)]
        for c in range(0, P, 4):
            z_0 = z_1 = z_2 = z_3 = zero()
            for f in range(F):
                w = load(W, f * P + c)
                z_0 = multiply_add(z_0, X[r_0, f], w)
                z_1 = multiply_add(z_1, X[r_1, f], w)
                z_2 = multiply_add(z_2, X[r_2, f], w)
                z_3 = multiply_add(z_3, X[r_3, f], w)
            store(Z, b * P + c, z_0)
            store(Z, (b + 1) * P + c, z_1)
            store(Z, (b + 2) * P + c, z_2)
            store(Z, (b + 3) * P + c, z_3)


@jit
def outer(X, base, rows, Z, P, G):
    """G[f P + c] += sum_b a_f Z[b P + c], a = row base + rows[b]."""
    for f in range(0, X.shape[1], 4):
        for c in range(0, P, 4):
            g_0, g_1 = load(G, f * P + c), load(G, (f + 1) * P + c)
            g_2, g_3 = load(G, (f + 2) * P + c), load(G, (f + 3) * P + c)
            for b in range(rows.size):
                r = base + rows[b]
                z = load(Z, b * P + c)
                g_0 = multiply_add(g_0, X[r, f], z)
                g_1 = multiply_add(g_1, X[r, f + 1], z)
                g_2 = multiply_add(g_2, X[r, f + 2], z)
                g_3 = multiply_add(g_3, X[r, f + 3], z)
            store(G, f * P + c, g_0)
            store(G, (f + 1) * P + c, g_1)
            store(G, (f + 2) * P + c, g_2)
            store(G, (f + 3) * P + c, g_3)
