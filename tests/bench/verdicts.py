"""Exact checks of FSL's theorem 1 a second: ours, plain NumPy and JAX, on the same instances.

A check is the expected modified loss after a round (means, noise of every step, sampling without replacement, server
steps), G and xi_bar at x, the bound, the conditions on the step sizes, and whether left <= right. Ours also bounds
its rounding errors and reads the steps off the algorithm's kernels; the others retype FSL, and compare floats.
"""

import numpy as np

from fedtheory import discover
from fedtheory.checks import batch

K = K_0 = 5
BLOCK = 2048    # NumPy also does best when its arrays stay in the cache


def instances(J, N, d, dense, seed=1):
    generator = np.random.default_rng(seed)
    A = generator.random((J, N + 1, d))
    if dense:
        turn = np.linalg.qr(generator.standard_normal((J, N + 1, d, d)))[0]
        A = (turn * A[:, :, None]) @ turn.swapaxes(2, 3)
        A = (A + A.swapaxes(2, 3)) / 2
    gamma, eta_g = generator.random(J), generator.uniform(0.5, 2.0, J)
    u = generator.random(J) * np.minimum(np.minimum(eta_g, 1 / gamma), 8 / 9) / 4
    return dict(A=A, b=generator.standard_normal((J, N + 1, d)), x=generator.standard_normal((J, d)),
                S=generator.integers(1, N + 1, J).astype(float), sigma=generator.random(J), sigma_0=generator.random(J),
                gamma=gamma, eta_g=eta_g, eta_l=u / (K * eta_g), eta_0=u / K_0, L=np.ones(J))


def ours(given, workers):
    claim = discover.claim("fsl.theorem1")
    return lambda: batch.check(claim, **given, K=K, K_0=K_0, workers=workers)


def check(np, A, b, x, S, sigma, sigma_0, gamma, eta_g, eta_l, eta_0, L):
    """One instance, or a batch of them in the leading axis, for either library."""
    N, d, dense = b.shape[-2] - 1, b.shape[-1], A.ndim == b.ndim + 1
    add = lambda v, n: v[(...,) + (None,) * n]
    times = (lambda M, v: (M @ v[..., None])[..., 0]) if dense else (lambda M, v: M * v)
    one = np.eye(d) if dense else 1.0
    n = 2 if dense else 1
    gap = add(x, 1).swapaxes(-1, -2) - b
    g = times(A, gap)
    clients, server = g[..., 1:, :], g[..., 0, :]
    grad = clients.mean(-2)
    # The cohort
    H, step = A[..., 1:, :, :] if dense else A[..., 1:, :], add(eta_l, 2)
    v = np.zeros_like(clients)
    M = one - add(eta_l, 1 + n) * H
    square, noise = M @ M if dense else M * M, np.zeros_like(H)
    for _ in range(K):
        v = v - step * (times(H, v) + clients)
        noise = (square @ noise if dense else square * noise) + add(eta_l, 1 + n) ** 2 * one
    mean = v.mean(-2)
    off = v - mean[..., None, :]
    spread = off.swapaxes(-1, -2) @ off if dense else (off * off).sum(-2)
    share = S * (N - S) / (N * max(N - 1, 1))
    P = add((eta_g / S) ** 2, n) * (add(share, n) * spread + add(S / N * sigma**2 / d, n) * noise.sum(-1 - n))
    m = add(eta_g, 1) * mean
    # The server
    A_0, step = A[..., 0, :, :] if dense else A[..., 0, :], gamma * eta_0
    M = one - add(step, n) * A_0
    for _ in range(K_0):
        m = m - add(step, 1) * (times(A_0, m) + server)
        P = (M @ P @ M if dense else M * P * M) + add(step**2 * sigma_0**2 / d, n) * one
    tilde = (H.mean(-1 - n) + add(gamma, n) * A_0) / add(1 + gamma, n)
    pull = (grad + add(gamma, 1) * server) / add(1 + gamma, 1)
    left = (m * (pull + times(tilde, m) / 2)).sum(-1) + (tilde * P).sum((-1, -2) if dense else -1) / 2
    # The bound (12), losses counted from x
    G2 = ((clients - grad[..., None, :]) ** 2).sum(-1).mean(-1)
    xi2 = ((server - grad) ** 2).sum(-1)
    rho, u = (N - S) / max(N - 1, 1), K_0 * eta_0
    psi = gamma**2 * sigma_0**2 / K_0 + sigma**2 / (K * S) + rho * G2 / S
    kappa = np.maximum(4 * gamma**3, 2 / eta_g**2 + 3 * gamma**2)
    phi = gamma**2 * psi + 2 * gamma**2 / S * (sigma**2 / K + rho * G2) + (2 * G2 + sigma**2 / K) / eta_g**2
    h = gamma + 0.5 - u * L * (1 + gamma) / 2 * (3 * gamma + 3 + 16 * kappa * u * L)
    right = (-u * h * (pull * pull).sum(-1) + 5 * u**2 * L * psi
             + 8 * u**3 * L**2 * (gamma * kappa / (1 + gamma) * xi2 + phi))
    good = ((abs(K * eta_l * eta_g - u) <= 1e-12 * u) & (S <= N)
            & (u <= (1 + 1e-12) * np.minimum(np.minimum(eta_g, 1 / gamma), 8 / 9) / (4 * L)))
    return left, right, good, left <= right


def with_numpy(given):
    def program():
        parts = [check(np, **{name: value[low:low + BLOCK] for name, value in given.items()})
                 for low in range(0, len(given["x"]), BLOCK)]
        return [np.concatenate(column) for column in zip(*parts)]
    return program


def with_jax(given):
    import jax
    import jax.numpy as jnp
    jax.config.update("jax_enable_x64", True)
    names = [*given]
    compiled = jax.jit(jax.vmap(lambda *values: check(jnp, **dict(zip(names, values)))))
    arrays = [jnp.asarray(value) for value in given.values()]
    return lambda: jax.block_until_ready(compiled(*arrays))


def flops(N, d, dense):
    """Additions and multiplications of the left side, as ours does them; bounds of errors and right sides apart."""
    if not dense:
        return d * (N * (8 + 4 * K + 2 * (K - 1) + 14) + 9 * K_0 + 30)
    symmetric = d * d * (d + 1)
    client = 2 * d * d * (K + 1) + symmetric * K + 9 * d * d
    return N * client + K_0 * (2 * d * d + 2 * d**3 + symmetric) + 6 * d * d


def table(clock, peak, cores, quick, use_jax, out):
    print(f"\nexact checks of FSL's theorem 1 a second, in thousands (K = K_0 = {K}; target 20 on two cores):\n"
          f"{'':24s}{'1 thread':>9s}{'IQR':>6s}{f'{cores} threads':>11s}{'IQR':>6s}{'NumPy':>8s}{'ratio':>7s}"
          f"{'JAX':>8s}{'ratio':>7s}{'flop':>8s}{'of dgemm':>10s}", file=out)
    J = 4096 if quick else 40960
    for dense in (False, True):
        for N in (3, 10):
            for d in (2, 5):
                given = instances(J, N, d, dense)
                programs = [ours(given, 1), ours(given, cores), with_numpy(given)] + [with_jax(given)] * use_jax
                found, _, *others = (program() for program in programs)
                for left, right, good, holds in others:    # the same work, or no comparison
                    assert np.allclose(found.left, left, rtol=0, atol=1e-10 * abs(found.left).max())
                    assert np.allclose(found.right, right, rtol=0, atol=1e-10 * abs(found.right).max())
                    assert np.array_equal((found.verdict == batch.HOLDS), good & holds)
                times = [clock(program, 7, 30.0) for program in programs]
                rate = [J / seconds / 1e3 for seconds, _ in times]
                iqr = [1e-3 * J * spread / seconds**2 for seconds, spread in times]
                row = f"{'dense' if dense else 'diagonal':>10s} N = {N:2d}, d = {d} {rate[0]:9.0f}{iqr[0]:6.0f}" \
                      f"{rate[1]:11.0f}{iqr[1]:6.0f}"
                for peer in rate[2:]:
                    row += f"{peer:8.0f}{rate[1] / peer:7.2f}"
                work = flops(N, d, dense)
                row += ("" if use_jax else f"{'-':>8s}{'-':>7s}") + f"{work:8.0f}{1e5 * rate[1] * work / peak:9.1f}%"
                print(row, file=out, flush=True)
