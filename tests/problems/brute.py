"""Constants of small separable problems by search, from nothing but their losses and gradients."""

import numpy as np


def along(problem, gradient, centre, j, points):
    """Coordinate j of a gradient at centre + t e_j for each t."""
    out = np.empty(points.size)
    for n, t in enumerate(points):
        x = centre.copy()
        x[j] += t
        out[n] = gradient(x)[j]
    return out


def finite_difference(loss, x, h=1e-6):
    return np.array([(loss(x + h * e) - loss(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def flaws(problem, reach, seed=0, n=1200):
    """Names of the constants that a search over |x_j - centre_j| <= reach contradicts or cannot
    approach."""
    found, values = [], {name: c.value for name, c in problem.constants.items()}
    generator = np.random.default_rng(seed)
    centre, d, N = problem.data.c, problem.d, problem.N
    points = np.linspace(-reach, reach, 2 * n + 1)
    far = np.concatenate([points, [-1e9 * reach, 1e9 * reach]])

    def expect(name, value, tolerance=2e-3):
        if name not in values or not abs(values[name] - value) <= tolerance * max(abs(value), 0.05):
            found.append(name)

    slopes = [along(problem, problem.grad, centre, j, points) for j in range(d)]
    curvature = [np.diff(s) / np.diff(points) for s in slopes]
    top = np.array([c.max() for c in curvature])
    expect("L", top.max())
    for layer in problem.layers:
        expect(f"L/{layer.name}", top[layer.start : layer.stop].max())
    lowest = min(c.min() for c in curvature)
    expect(
        "weak_convexity" if "weak_convexity" in values else "mu",
        -lowest if "weak_convexity" in values else lowest,
        5e-3,
    )
    expect(
        "F_inf",
        sum(
            min(problem.loss(centre + t * e) for t in points) - problem.loss(centre)
            for e in np.eye(d)
        )
        + problem.loss(centre),
        1e-3,
    )
    for x in centre + reach * generator.standard_normal((5, d)):
        F = problem.grad(x)
        gaps = [problem.client_grad(i, x) - F for i in range(N + 1)]
        square = np.mean([gap @ gap for gap in gaps[1:]])
        expect("G", np.sqrt(square), 1e-12)
        expect("xi_bar", np.linalg.norm(gaps[0]), 1e-12)
        mean = np.mean([np.sum(problem.client_grad(i, x) ** 2) for i in range(1, N + 1)])
        if np.ptp(problem.weights[1:]) == 0 and F @ F > 1e-6:  # equality at every x
            expect("G_star", np.sqrt(square), 1e-12)
            expect("B", np.sqrt((mean - square) / (F @ F)), 1e-6)
        elif mean > (values["G_star"] ** 2 + values["B"] ** 2 * F @ F) * (1 + 1e-12):
            found.append("B")
    if "M" in values:
        sides = np.array(
            [
                [
                    abs(along(problem, lambda x: problem.client_grad(i, x), centre, j, far)).max()
                    for j in range(d)
                ]
                for i in range(N + 1)
            ]
        )
        r, s = problem.sigma / np.sqrt(d), 0.0 * problem.sigma
        if problem.noise == "sphere":
            r, s = s, problem.sigma
        norms = np.linalg.norm(sides + r[:, None], axis=1) + s
        expect("M", norms[1:].max())
        expect("M_0", norms[0])
    if "PL" in values:
        ratios = [
            problem.grad(centre + t * e)[j] ** 2 / (2 * problem.loss(centre + t * e))
            for j, e in enumerate(np.eye(d))
            for t in points
            if t != 0
        ]
        expect("PL", min(ratios))
    return sorted(set(found))
