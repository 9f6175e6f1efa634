"""The workloads, each as our run, jitted JAX programs (jax_peers.py) and plain NumPy doing the same
work.

Same work: the same rounds, cohorts of the same law drawn afresh, Gaussian noise (or minibatches of the
same law) at every gradient, and F recorded after each round.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

import fedtheory as ft
from tests.bench import jax_peers
from tests.bench.jax_peers import STEP


@dataclass
class Case:
    name: str
    what: str
    law: str  # what is drawn, on every side
    ours: object  # (trials) -> callable
    jax: object  # (trials, generator, width, way) -> callable
    ways: tuple  # of jax
    numpy: object  # (trials) -> callable
    trials: int
    numpy_trials: int  # NumPy runs fewer trials; its time is scaled
    flops: float  # of one trial, gradients only
    bytes: float  # of one trial that must come from beyond L1
    normals: float  # that one trial draws
    target: float  # how many times faster than the best of JAX in float64


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
        f"cohorts of {S} of 50 without replacement, Gaussian noise of {d} coordinates at each gradient",
        bind(_ours_fsl),
        bind(jax_peers.fsl),
        ("gathered", "everyone"),
        bind(_numpy_fsl),
        trials,
        numpy_trials,
        steps * (2.0 * d * d if dense else 3.0 * d),
        steps * (4.0 * d * (d + 8) if dense else 16.0 * d),  # symmetric: half is read
        steps * d,
        6.0,
    )


# ---------------------------------------------------------------- softmax regression


def softmax_data(features=60, samples=100, clients=101):
    generator = np.random.default_rng(5)
    X = [generator.standard_normal((samples, features)) for _ in range(clients)]
    W = generator.standard_normal((features, 10))
    y = [np.argmax(x @ W + generator.gumbel(size=(samples, 10)), axis=1) for x in X]
    return X, y


def _ours_softmax(T, K, B, trials):
    X, y = softmax_data()
    problem = ft.problems.softmax(
        X[1:], y[1:], server=(X[0], y[0]), ridge=1e-3, noise="minibatch", batch=B, replacement=True
    )
    return lambda: ft.run(
        problem, "fedavg", rounds=T, trials=trials, seed=3, K=K, eta_l=0.05, metrics=("loss",)
    )


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
                        rows = generator.integers(100, size=B)
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


def _softmax(name, T, trials, target, K=20, B=20):
    bind = lambda f: partial(f, T, K, B)
    work = T * 100 * (K * 4.0 * B * 60 * 10 + 2.0 * 100 * 60 * 10)
    return Case(
        name,
        f"FedAvg, softmax regression, N=100 n_i=100 60 features 10 classes batch {B} K={K} T={T}, "
        f"{trials} trials",
        f"everyone in every round, minibatches of {B} of 100 rows with replacement",
        bind(_ours_softmax),
        partial(jax_peers.softmax, softmax_data(), T, K, B),
        ("autodiff", "by_hand"),
        bind(_numpy_softmax),
        trials,
        1,
        work,
        T * 100 * K * 8.0 * B * 61,
        0.0,
        target,
    )


def cases(quick=False):
    T = 20 if quick else 200
    return [
        _fsl("a", True, 100, 64, 1, T),
        _fsl("b", False, 1000, 16, 1, T),
        _softmax("c1", T, 1, 2.0),
        _softmax("c2", T, 2, 3.0),
    ]
