"""The workloads as people who know JAX well would write them.

All trials are one batch; keys are split once a round; a round's noise, and all cohorts of a run, are
drawn in one block; minibatches are rows drawn by integers. `ways` lists the programs that do the same
work in different order, because which is fastest depends on the machine; the table takes the best.
"""

import numpy as np

STEP = dict(eta_l=0.02, eta_g=1.0, eta_0=0.02, gamma=1.0)
GENERATORS = ("threefry2x32", "unsafe_rbg")


def ready(width):
    """JAX, its numpy, and the float type asked for."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", width == 64)
    return jax, jnp, jnp.float64 if width == 64 else jnp.float32


def program_of(jax, run, generator):
    compiled = jax.jit(run)
    key = jax.random.key(3, impl=generator)
    return lambda: jax.block_until_ready(compiled(key))


def fsl(problem, T, S, K, trials, generator, width, way, unroll=1):
    """Algorithm 1 of FSL on quadratics with own Hessians; returns a callable.

    `gathered`: each client's Hessian is copied to the trials that drew the client.
    `everyone`: every client steps in every trial, one matrix product a client for all trials, and the
    cohort's mean is a product with a mask: more operations, at the speed of matrix products.
    """
    jax, jnp, real = ready(width)
    data, N, d = problem.data, problem.N, problem.d
    A, b, H, x_star = (jnp.asarray(v, real) for v in (data.A, data.b, data.H, data.x_star))
    F_star = data.F_star
    scale, scale_0 = problem.sigma[1] / d**0.5, problem.sigma[0] / d**0.5
    eta_l, eta_g, step_0 = STEP["eta_l"], STEP["eta_g"], STEP["gamma"] * STEP["eta_0"]
    dense = A.ndim == 3

    def steps(times, c, y, noise, eta):
        def one(y, n):
            return y - eta * (times(y - c) + n), None

        return jax.lax.scan(one, y, noise, unroll=unroll)[0]

    def gathered(x, cohort, key):
        a, c = A[cohort], b[cohort]  # (trials, S, d, d) and (trials, S, d)
        times = (lambda v: jnp.einsum("tsij,tsj->tsi", a, v)) if dense else (lambda v: a * v)
        noise = scale * jax.random.normal(key, (K, trials, S, d), real)
        start = jnp.broadcast_to(x[:, None], (trials, S, d))
        return steps(times, c, start, noise, eta_l).mean(1)

    def everyone(x, cohort, key):
        a, c = A[1:], b[1:, None]
        times = (
            (lambda v: jnp.einsum("nij,ntj->nti", a, v)) if dense else (lambda v: a[:, None] * v)
        )
        chosen = jnp.zeros((trials, N + 1), real).at[jnp.arange(trials)[:, None], cohort].set(1 / S)
        noise = scale * jax.random.normal(key, (K, trials, S, d), real)
        place = jnp.zeros((trials, N + 1), int).at[jnp.arange(trials)[:, None], cohort]
        place = place.set(jnp.arange(S)[None])[
            :, 1:
        ].T  # whose noise a client takes; any, if not drawn
        start = jnp.broadcast_to(x[None], (N, trials, d))

        def one(y, n):
            drawn = n[jnp.arange(trials)[None], place]
            return y - eta_l * (times(y - c) + drawn), None

        ends = jax.lax.scan(one, start, noise, unroll=unroll)[0]
        return jnp.einsum("tn,ntd->td", chosen[:, 1:], ends)

    clients = dict(gathered=gathered, everyone=everyone)[way]
    at_server = (lambda v: v @ A[0].T) if dense else (lambda v: v * A[0])
    curved = (lambda v: v @ H.T) if dense else (lambda v: v * H)

    def round_(x, given):
        cohort, key = given
        work, server = jax.random.split(key)
        x = x + eta_g * (clients(x, cohort, work) - x)
        noise = scale_0 * jax.random.normal(server, (K, trials, d), real)
        x = steps(at_server, b[0], x, noise, step_0)
        gap = x - x_star
        return x, F_star + 0.5 * jnp.sum(gap * curved(gap), axis=1)

    def run(key):
        pick, rounds = jax.random.split(key)
        cohorts = 1 + jax.lax.top_k(jax.random.uniform(pick, (T, trials, N)), S)[1]
        return jax.lax.scan(
            round_, jnp.zeros((trials, d), real), (cohorts, jax.random.split(rounds, T))
        )

    return program_of(jax, run, generator)


def softmax(data, T, K, B, trials, generator, width, way, unroll=1):
    """FedAvg on softmax regression, everyone in every round; minibatches with replacement.

    `autodiff` differentiates the loss; `by_hand` has the gradient of softmax regression written out.
    """
    jax, jnp, real = ready(width)
    X, y = (np.stack(part[1:]) for part in data)
    X, y = jnp.asarray(X, real), jnp.asarray(y)
    N, n, inputs = X.shape
    labels = jax.nn.one_hot(y, 10, dtype=real)
    clients = jnp.arange(N)[None, :, None]

    def logits(w, x):
        return jnp.einsum("tnbi,tnik->tnbk", x, w[0]) + w[1][:, :, None]

    def cost(w, x, one_hot):
        fit = jnp.sum(jax.nn.log_softmax(logits(w, x)) * one_hot) / -B
        return fit + 0.5e-3 * sum(jnp.sum(part**2) for part in w)

    def by_hand(w, x, one_hot):
        slope = (jax.nn.softmax(logits(w, x)) - one_hot) / B
        return (jnp.einsum("tnbi,tnbk->tnik", x, slope) + 1e-3 * w[0], slope.sum(2) + 1e-3 * w[1])

    gradient = dict(autodiff=jax.grad(cost), by_hand=by_hand)[way]

    def one(w, rows):
        g = gradient(w, X[clients, rows], labels[clients, rows])
        return tuple(part - 0.05 * change for part, change in zip(w, g)), None

    def whole(w):
        """F after a round, over all samples."""
        z = jnp.einsum("nbi,tik->tnbk", X, w[0]) + w[1][:, None, None]
        fit = -jnp.sum(jax.nn.log_softmax(z) * labels, axis=(1, 2, 3)) / (N * n)
        return fit + 0.5e-3 * (jnp.sum(w[0] ** 2, axis=(1, 2)) + jnp.sum(w[1] ** 2, axis=1))

    def round_(w, key):
        rows = jax.random.randint(key, (K, trials, N, B), 0, n)
        start = tuple(jnp.broadcast_to(part[:, None], (trials, N, *part.shape[1:])) for part in w)
        ends = jax.lax.scan(one, start, rows, unroll=unroll)[0]
        w = tuple(part.mean(1) for part in ends)
        return w, whole(w)

    def run(key):
        start = (jnp.zeros((trials, inputs, 10), real), jnp.zeros((trials, 10), real))
        return jax.lax.scan(round_, start, jax.random.split(key, T))

    return program_of(jax, run, generator)


def every_way(build, trials, ways, width):
    """(label, callable) of a workload in each order of work, generator and unrolling."""
    for way in ways:
        for generator in GENERATORS:
            for unroll in (1, 2):
                label = f"{way}, {generator}, unroll {unroll}"
                yield (
                    label,
                    build(trials, generator=generator, width=width, way=way, unroll=unroll),
                )
