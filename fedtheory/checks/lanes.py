"""One round of many small quadratic instances: exact moments of it, and bounds of their rounding errors.

LANES instances go side by side through the same arithmetic, in the last axis, where a core's vector unit works;
a matrix is its rows, one after the other. Points are relative to x. A client's step is v' = alpha v + beta (A_i v +
g_i + noise), and the step's matrix M = alpha + beta A_i commutes with all else of that client: C' = M^2 C + beta^2
is its noise's covariance. A cohort of S of N adds S (N - S) / (N (N - 1)) sum (v_i - mean v)(v_i - mean v)', and
the server's steps follow.

Beside the values run norms: the same arithmetic on absolute values in Frobenius norm. What took n roundings on its
longest way, a sum or product of k terms taking k, is then in error by at most n U times its norm.
"""

import numpy as np

from fedtheory.jit import jit

INNER = dict(no_cpython_wrapper=True, no_cfunc_wrapper=True)    # called by kernels only: half a second less to compile

LANES = 64
U = 2.0**-53
COEFFICIENT = 8    # roundings in a coefficient of a step
SLACK = 1.1        # for second-order terms, and for the rounding of the norms themselves
HUGE = 1e30        # beyond it products may overflow, and norms say nothing
# What is computed of each instance: metrics at x, and the expected change of both losses in the round.
VALUES = ("loss", "server_loss", "sq_grad_norm", "sq_server_grad_norm", "grad_inner", "sq_xi", "sq_dissimilarity",
          "sq_tilde_grad_norm", "loss_change", "server_loss_change")
COUNT = len(VALUES)


@jit(**INNER)
def _fill(out, value):
    for r in range(out.shape[0]):
        for l in range(out.shape[1]):
            out[r, l] = value


@jit(**INNER)
def _combine(alpha, X, beta, Y, out):
    """out = alpha X + beta Y."""
    for r in range(out.shape[0]):
        for l in range(alpha.size):
            out[r, l] = alpha[l] * X[r, l] + beta[l] * Y[r, l]


@jit(**INNER)
def _product(d, A, B, out):
    """out = A B, for B of d or of one column."""
    columns = B.shape[0] // d
    for i in range(d):
        for j in range(columns):
            o = i * columns + j
            for l in range(out.shape[1]):
                out[o, l] = A[i * d, l] * B[j, l]
            for k in range(1, d):
                for l in range(out.shape[1]):
                    out[o, l] += A[i * d + k, l] * B[k * columns + j, l]


@jit(**INNER)
def _symmetric(d, A, B, diagonal, out):
    """out = A B + diagonal, where A B is known to be symmetric."""
    for i in range(d):
        for j in range(i, d):
            o, mirror = i * d + j, j * d + i
            for l in range(diagonal.size):
                out[o, l] = A[i * d, l] * B[j, l]
            for k in range(1, d):
                for l in range(diagonal.size):
                    out[o, l] += A[i * d + k, l] * B[k * d + j, l]
            for l in range(diagonal.size):
                out[o, l] += diagonal[l] if i == j else 0.0
                out[mirror, l] = out[o, l]


@jit(**INNER)
def _dot(a, b, out):
    for l in range(out.size):
        out[l] = 0.0
    for r in range(a.shape[0]):
        for l in range(out.size):
            out[l] += a[r, l] * b[r, l]


@jit(**INNER)
def _norm(a, out):
    _dot(a, a, out)
    for l in range(out.size):
        out[l] = np.sqrt(out[l])


@jit(**INNER)
def _square(a, bound, n, value, error, work):
    """|a|^2 added to value, and its error; a was found in n roundings of numbers up to `bound`."""
    _dot(a, a, work)
    for l in range(bound.size):
        e = n * U * bound[l]
        value[l] += work[l]
        error[l] += (2.0 * np.sqrt(work[l]) + e) * e + (a.shape[0] + 1) * U * work[l]


@jit(**INNER)
def _change(d, H, P, g, m, h, p, bound, nu, n, value, error, work):
    """g.m + (m'H m + tr H P) / 2, and its error."""
    _product(d, H, m, work)
    for r in range(d):
        for l in range(nu.size):
            value[l] += m[r, l] * (g[r, l] + 0.5 * work[r, l])
    for r in range(d * d):
        for l in range(nu.size):
            value[l] += 0.5 * H[r, l] * P[r, l]
    for l in range(nu.size):
        error[l] = (n[l] + d * d + 2 * d + 4) * U * (nu[l] * (bound[l] + h[l] * nu[l]) + h[l] * p[l])


@jit
def follow(A, b, x, sigma, D, gamma, alpha, beta, server, total, steps, server_steps, S, repeat, low, high, out):
    """Add to the rows of `out` (2 COUNT, J / repeat) the VALUES of the instances low .. high - 1, then their errors.

    A (J, N + 1, d, d), b (J, N + 1, d), x (J, d), sigma (J, N + 1) with noise of variance sigma^2 / D a coordinate.
    Each `repeat` instances add up to one, with gamma, S, steps alpha, beta (., K), server (., K_0) and the cohort's
    weight `total`; of these they take the first `steps` and `server_steps`, and the others do nothing (alpha = 1,
    beta = 0).
    """
    N, d, K, K_0 = A.shape[1] - 1, A.shape[2], alpha.shape[1], server.shape[1]
    root = np.sqrt(d)
    own, of = np.zeros(LANES, dtype=np.int64), np.zeros(LANES, dtype=np.int64)
    W = np.zeros((7, d * d, LANES))    # taken apart by index: Numba then knows that the parts are contiguous
    a, M, square, C, other, H, P = W[0], W[1], W[2], W[3], W[4], W[5], W[6]
    V = np.zeros((6, d, LANES))
    gap, v, t, grad, m, diff = V[0], V[1], V[2], V[3], V[4], V[5]
    ends, grads = np.zeros((N, d, LANES)), np.zeros((N + 1, d, LANES))
    w = np.zeros((17, LANES))
    size, bound, nu, c, q, h, reach, p, largest = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
    mean_bound, work, zero, one, minus, part, weight, n_F = w[9], w[10], w[11], w[12], w[13], w[14], w[15], w[16]
    alphas, betas, alike = np.zeros((K, LANES)), np.zeros((K, LANES)), np.zeros(K, dtype=np.bool_)
    reaches, bounds = np.zeros((N, LANES)), np.zeros((N, LANES))
    value, error = np.zeros((COUNT, LANES)), np.zeros((COUNT, LANES))
    n_g, n_G, each = d + 2, d + N + 3, d + 3 + COEFFICIENT    # roundings: a gradient, the clients' mean, a step
    for l in range(own.size):
        one[l], minus[l], part[l] = 1.0, -1.0, 1.0 / N
    for first in range(low, high, LANES):
        for l in range(own.size):
            own[l] = min(first + l, high - 1)
            of[l] = own[l] // repeat
            # Roundings on the longest way to F after the round: gradient, twice the point, covariance
            n_F[l] = (n_G + 4 * n_g + 5 * (N + 4) + 4 * COEFFICIENT
                      + steps[of[l]] * (4 * each + 2 * d + 5 + 2 * COEFFICIENT)
                      + server_steps[of[l]] * (2 * each + 2 * d + 8 + 2 * COEFFICIENT))
            h[l] = reach[l] = p[l] = largest[l] = mean_bound[l] = 0.0
        for k in range(K):
            alike[k] = k > 0
            for l in range(own.size):
                alphas[k, l], betas[k, l] = alpha[of[l], k], beta[of[l], k]
                if k > 0 and (alphas[k, l] != alphas[k - 1, l] or betas[k, l] != betas[k - 1, l]):
                    alike[k] = False
        _fill(value, 0.0)
        _fill(error, 0.0)
        _fill(H, 0.0)
        _fill(P, 0.0)
        _fill(grad, 0.0)
        _fill(m, 0.0)
        for i in range(N, -1, -1):    # the server last: its Hessian stays
            g = grads[i]
            for l in range(own.size):
                for r in range(d):
                    gap[r, l] = x[own[l], r] - b[own[l], i, r]
                    for k in range(d):
                        a[r * d + k, l] = A[own[l], i, r, k]
            _product(d, a, gap, g)
            _norm(a, size)
            _norm(gap, bound)
            _dot(gap, g, work)
            row, share = (0, 1.0 / N) if i else (1, 1.0)
            for l in range(own.size):
                largest[l] += size[l] + bound[l] + sigma[own[l], i]
                value[row, l] += 0.5 * share * work[l]
                error[row, l] += share * (2 * d + N + 6) * U * size[l] * bound[l] * bound[l]
                bound[l] *= size[l]    # of the gradient
            if i == 0:
                break
            noisy = False
            for l in range(own.size):
                q[l] = sigma[own[l], i] * sigma[own[l], i] / D
                noisy = noisy or q[l] > 0.0
                nu[l] = c[l] = 0.0
                h[l] += size[l] / N
                mean_bound[l] += bound[l] / N
            _combine(one, H, part, a, H)
            _combine(one, grad, part, g, grad)
            _fill(v, 0.0)    # K may be 0
            for k in range(K):
                al, be = alphas[k], betas[k]
                for l in range(own.size):
                    weight[l] = be[l] * be[l]
                    factor = abs(al[l]) + abs(be[l]) * size[l]
                    nu[l] = factor * nu[l] + abs(be[l]) * bound[l]
                    c[l] = factor * factor * c[l] + weight[l]
                if k > 0:
                    _product(d, a, v, t)
                    _combine(one, t, one, g, t)
                    _combine(al, v, be, t, v)
                else:
                    _combine(be, g, zero, g, v)
                if noisy and k > 0 and not (k > 1 and alike[k]):
                    _combine(be, a, zero, a, M)
                    for r in range(0, d * d, d + 1):
                        for l in range(own.size):
                            M[r, l] += al[l]
                    _symmetric(d, M, M, zero, square)
                if noisy and k == 0:
                    _fill(C, 0.0)
                    for r in range(0, d * d, d + 1):
                        for l in range(own.size):
                            C[r, l] = weight[l]
                elif noisy:
                    _symmetric(d, square, C, weight, other)
                    C, other = other, C
            _combine(one, v, zero, v, ends[i - 1])
            _combine(one, m, part, v, m)
            if noisy:
                for l in range(own.size):
                    weight[l] = S[of[l]] / N * q[l]
                    p[l] += weight[l] * root * c[l]
                _combine(one, P, weight, C, P)
            for l in range(own.size):
                reaches[i - 1, l], bounds[i - 1, l] = nu[l], bound[l]
                reach[l] += nu[l] / N
        g = grads[0]
        # The cohort
        for l in range(own.size):
            q[l] = S[of[l]] * (N - S[of[l]]) / (N * (N - 1.0)) if N > 1 else 0.0
        for i in range(N):
            _combine(one, ends[i], minus, m, diff)
            for r in range(d):
                for k in range(d):
                    for l in range(own.size):
                        P[r * d + k, l] += q[l] * diff[r, l] * diff[k, l]
            for l in range(own.size):
                p[l] += q[l] * (reaches[i, l] + reach[l]) ** 2
            _combine(one, grads[i + 1], minus, grad, diff)
            for l in range(own.size):
                nu[l] = bounds[i, l] + mean_bound[l]
            _square(diff, nu, n_G + 1, value[6], error[6], work)
        for l in range(own.size):
            value[6, l] /= N
            error[6, l] = error[6, l] / N + (N + 2) * U * value[6, l]
            weight[l] = total[of[l]] / S[of[l]]
            weight[l] *= weight[l]
            p[l] *= weight[l]
            nu[l] = reach[l] * abs(total[of[l]])
            q[l] = total[of[l]]
        _combine(weight, P, zero, P, P)
        _combine(q, m, zero, m, m)
        # The server
        for k in range(K_0):
            be = work
            for l in range(own.size):
                be[l] = server[of[l], k]
                weight[l] = be[l] * be[l] * sigma[own[l], 0] * sigma[own[l], 0] / D
                factor = 1.0 + abs(be[l]) * size[l]
                nu[l] = factor * nu[l] + abs(be[l]) * bound[l]
                p[l] = factor * factor * p[l] + root * weight[l]
            _product(d, a, m, t)
            _combine(one, t, one, g, t)
            _combine(one, m, be, t, m)
            _combine(be, a, zero, a, M)
            for r in range(0, d * d, d + 1):
                for l in range(own.size):
                    M[r, l] += 1.0
            _product(d, M, P, C)
            _symmetric(d, C, M, weight, P)
        # Losses and gradients
        _change(d, H, P, grad, m, h, p, mean_bound, nu, n_F, value[8], error[8], t)
        _change(d, a, P, g, m, size, p, bound, nu, n_F, value[9], error[9], t)
        _square(grad, mean_bound, n_G, value[2], error[2], work)
        _square(g, bound, n_g, value[3], error[3], work)
        _dot(grad, g, value[4])
        for l in range(own.size):
            error[4, l] = (n_G + n_g + d + 1) * U * mean_bound[l] * bound[l]
            q[l] = 1.0 / (1.0 + gamma[of[l]])
            weight[l] = gamma[of[l]] * q[l]
            largest[l] += nu[l] + p[l]
            nu[l] = mean_bound[l] + bound[l]
        _combine(minus, grad, one, g, diff)
        _square(diff, nu, n_G + 1, value[5], error[5], work)
        _combine(q, grad, weight, g, diff)
        for l in range(own.size):
            nu[l] = q[l] * mean_bound[l] + weight[l] * bound[l]
        _square(diff, nu, n_G + 6, value[7], error[7], work)
        for n in range(COUNT):
            for l in range(min(LANES, high - first)):
                out[n, of[l]] += value[n, l]
                out[COUNT + n, of[l]] += (SLACK * error[n, l] + (repeat - 1) * U * abs(out[n, of[l]])
                                          if largest[l] < HUGE else np.inf)
