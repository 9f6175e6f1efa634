"""The workloads, each as our run, a jitted JAX program and plain NumPy doing the same work.

Same work: the same rounds, cohorts of the same law drawn afresh, Gaussian noise (or minibatches) at
every gradient, float64, and F recorded after each round.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

import fedtheory as ft


@dataclass
class Case:
    name: str
    what: str
    ours: object  # (trials) -> callable
    jax: object  # (trials, generator) -> callable
    numpy: object  # (trials) -> callable
    trials: int
    numpy_trials: int  # NumPy runs fewer trials; its time is scaled
    flops: float  # of one trial, gradients only
    bytes: float  # of one trial that must come from beyond L1
    target: float  # how many times faster than JAX
    dtype: str = "float64"


STEP = dict(eta_l=0.02, eta_g=1.0, eta_0=0.02, gamma=1.0)


def _fsl_problem(dense, d):
    return ft.problems.quadratic(
        d,
        50,
        L=1.0,
        mu=0.1,
        G=1.0,
        xi_bar=0.5,
        sigma=1.0,
        sigma_0=0.5,
        seed=1,
        hessian="own_dense" if dense else "own",
    )


def _ours_fsl(problem, T, S, K, trials):
    return lambda: ft.run(
        problem, "fsl", rounds=T, trials=trials, seed=3, S=S, K=K, K_0=K, metrics=("loss",), **STEP
    )


def _jax_fsl(problem, T, S, K, trials, generator=None):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    A, b, H = (jnp.asarray(v) for v in (problem.data.A, problem.data.b, problem.data.H))
    x_star, F_star = jnp.asarray(problem.data.x_star), problem.data.F_star
    N, d = problem.N, problem.d
    times = (lambda a, v: a @ v) if A.ndim == 3 else (lambda a, v: a * v)
    scale, scale_0 = problem.sigma[1] / d**0.5, problem.sigma[0] / d**0.5
    eta_l, eta_g, step_0 = STEP["eta_l"], STEP["eta_g"], STEP["gamma"] * STEP["eta_0"]

    def local(a, c, y, key, eta, s):
        def one(y, key):
            return y - eta * (times(a, y - c) + s * jax.random.normal(key, (d,))), None

        return jax.lax.scan(one, y, jax.random.split(key, K))[0]

    def round_(x, key):
        pick, work, server = jax.random.split(key, 3)
        cohort = 1 + jax.random.permutation(pick, N)[:S]
        ends = jax.vmap(local, (0, 0, None, 0, None, None))(
            A[cohort], b[cohort], x, jax.random.split(work, S), eta_l, scale
        )
        x = x + eta_g * (ends.mean(0) - x)
        x = local(A[0], b[0], x, server, step_0, scale_0)
        gap = x - x_star
        return x, F_star + 0.5 * gap @ times(H, gap)

    @jax.jit
    def program(key):
        trial = lambda key: jax.lax.scan(round_, jnp.zeros(d), jax.random.split(key, T))
        return jax.vmap(trial)(jax.random.split(key, trials))

    key = jax.random.key(3, impl=generator)
    return lambda: jax.block_until_ready(program(key))


def _numpy_fsl(problem, T, S, K, trials):
    A, b, H, N, d = problem.data.A, problem.data.b, problem.data.H, problem.N, problem.d
    times = (lambda a, v: a @ v) if A.ndim == 3 else (lambda a, v: a * v)

    def local(i, y, steps, eta, s, generator):
        for _ in range(steps):
            y = y - eta * (times(A[i], y - b[i]) + s * generator.standard_normal(d))
        return y

    def program():
        for trial in range(trials):
            generator = np.random.default_rng(trial)
            x = np.zeros(d)
            for _ in range(T):
                cohort = 1 + generator.permutation(N)[:S]
                ends = [
                    local(i, x, K, STEP["eta_l"], problem.sigma[1] / d**0.5, generator)
                    for i in cohort
                ]
                x = x + STEP["eta_g"] * (np.mean(ends, axis=0) - x)
                x = local(
                    0, x, K, STEP["gamma"] * STEP["eta_0"], problem.sigma[0] / d**0.5, generator
                )
                gap = x - problem.data.x_star
                problem.data.F_star + 0.5 * gap @ times(H, gap)

    return program


def _fsl(name, dense, d, trials, numpy_trials, T=200, S=10, K=10):
    problem = _fsl_problem(dense, d)
    steps = T * (S * K + K)
    kind = "dense own" if dense else "diagonal own"
    bind = lambda f: partial(f, problem, T, S, K)
    return Case(
        name,
        f"FSL, {kind} Hessians, N=50 S={S} K=K_0={K} d={d} T={T}, {trials} trials",
        bind(_ours_fsl),
        bind(_jax_fsl),
        bind(_numpy_fsl),
        trials,
        numpy_trials,
        steps * (2.0 * d * d if dense else 3.0 * d),
        steps * (8.0 * d * d if dense else 16.0 * d),
        3.0,
    )


# ---------------------------------------------------------------- softmax regression


def softmax_data():
    generator = np.random.default_rng(5)
    X = [generator.standard_normal((100, 60)) for _ in range(101)]
    W = generator.standard_normal((60, 10))
    y = [np.argmax(x @ W + generator.gumbel(size=(100, 10)), axis=1) for x in X]
    return X, y


def _ours_softmax(T, K, B, trials):
    X, y = softmax_data()
    problem = ft.problems.softmax(
        X[1:], y[1:], server=(X[0], y[0]), ridge=1e-3, noise="minibatch", batch=B
    )
    return lambda: ft.run(
        problem, "fedavg", rounds=T, trials=trials, seed=3, K=K, eta_l=0.05, metrics=("loss",)
    )


def _jax_softmax(T, K, B, trials, generator=None):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    X, y = softmax_data()
    X, y = jnp.asarray(np.stack(X[1:])), jnp.asarray(np.stack(y[1:]))
    N, n = y.shape

    def loss(w, X, y):
        z = X @ w["W"] + w["b"]
        fit = jnp.mean(
            jax.nn.logsumexp(z, axis=-1) - jnp.take_along_axis(z, y[..., None], -1)[..., 0]
        )
        return fit + 0.5e-3 * (jnp.sum(w["W"] ** 2) + jnp.sum(w["b"] ** 2))

    def local(X, y, w, key):
        def one(w, key):
            rows = jax.random.permutation(key, n)[:B]
            g = jax.grad(loss)(w, X[rows], y[rows])
            return jax.tree.map(lambda a, c: a - 0.05 * c, w, g), None

        return jax.lax.scan(one, w, jax.random.split(key, K))[0]

    def round_(w, key):
        ends = jax.vmap(local, (0, 0, None, 0))(X, y, w, jax.random.split(key, N))
        w = jax.tree.map(lambda e: e.mean(0), ends)
        return w, jax.vmap(loss, (None, 0, 0))(w, X, y).mean()

    @jax.jit
    def program(key):
        start = dict(W=jnp.zeros((60, 10)), b=jnp.zeros(10))
        return jax.vmap(lambda key: jax.lax.scan(round_, start, jax.random.split(key, T)))(
            jax.random.split(key, trials)
        )

    key = jax.random.key(3, impl=generator)
    return lambda: jax.block_until_ready(program(key))


def _numpy_softmax(T, K, B, trials):
    X, y = softmax_data()

    def program():
        for trial in range(trials):
            generator = np.random.default_rng(trial)
            W, b = np.zeros((60, 10)), np.zeros(10)
            for _ in range(T):
                ends = []
                for i in range(1, 101):
                    V, c = W, b
                    for _ in range(K):
                        rows = generator.permutation(100)[:B]
                        x = X[i][rows]
                        z = x @ V + c
                        z = np.exp(z - z.max(axis=1, keepdims=True))
                        z /= z.sum(axis=1, keepdims=True)
                        z[np.arange(B), y[i][rows]] -= 1
                        V, c = (
                            V - 0.05 * (x.T @ z / B + 1e-3 * V),
                            c - 0.05 * (z.mean(0) + 1e-3 * c),
                        )
                    ends.append((V, c))
                W, b = (np.mean(part, axis=0) for part in zip(*ends))
                for i in range(1, 101):
                    z = X[i] @ W + b
                    np.mean(np.log(np.exp(z).sum(axis=1)) - z[np.arange(100), y[i]])

    return program


def _softmax(T=200, K=20, B=20, trials=2):
    bind = lambda f: partial(f, T, K, B)
    work = T * 100 * (K * 4.0 * B * 60 * 10 + 4.0 * 100 * 60 * 10)
    return Case(
        "c",
        f"FedAvg, softmax regression, N=100 n_i=100 60 features 10 classes batch {B} K={K} T={T}, "
        f"{trials} trials",
        bind(_ours_softmax),
        bind(_jax_softmax),
        bind(_numpy_softmax),
        trials,
        1,
        work,
        T * 100 * K * 8.0 * B * 61,
        2.0,
    )


def cases(quick=False):
    T = 20 if quick else 200
    return [_fsl("a", True, 100, 64, 1, T), _fsl("b", False, 1000, 16, 1, T), _softmax(T)]
