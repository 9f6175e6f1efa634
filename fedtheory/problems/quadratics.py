"""Quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2 with exact L, mu, G, xi_bar and noise.

A Hessian is shared or each client's own, diagonal or dense. Under a shared Hessian the gradients
differ by constants, so G and xi_bar are global and exact. Under own Hessians the dissimilarity
grows with the distance to the minimiser: G and xi_bar then hold on a ball, and a global (G, B) form
stands beside them where F is strongly convex.
"""

from dataclasses import replace

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import Impossible, refuse
from fedtheory.problem import Constant, Problem, layers_from, noise_from, weights_from
from fedtheory.problems._quadratic import DENSE, DIAGONAL, Dense, Diagonal

EPS = 2.0**-52
SHARPEST = (
    2.0**-30
)  # the least mu / L of a dense Hessian: rounding its entries moves mu by some EPS L


def _of(A, i):
    """Client i's Hessian: a diagonal, or a matrix."""
    return A[min(i, len(A) - 1)]


def _times(a, v):
    return a * v if a.ndim == 1 else a @ v


def _data(A, b, p):
    """The data tuple for weights p, with F's Hessian and its minimiser of least norm."""
    H = A[0].copy() if len(A) == 1 else np.tensordot(p, A, axes=1)
    shared = len(A) == 1
    # H x* = pull, or H (x* - pull) = 0 under a shared Hessian
    pull = p @ b if shared else sum(p[i] * _times(A[i], b[i]) for i in range(1, len(b)))
    if A.ndim == 2:
        x_star = (
            np.where(H > 0, pull, 0.0)
            if shared
            else np.divide(pull, H, out=np.zeros_like(pull), where=H > 0)
        )
    elif np.linalg.matrix_rank(H, hermitian=True) < len(H):
        x_star = np.linalg.pinv(H, hermitian=True) @ (H @ pull if shared else pull)
    else:
        x_star = pull if shared else np.linalg.solve(H, pull)
    gaps = [x_star - b[i] for i in range(len(b))]
    F_star = sum(p[i] * 0.5 * gap @ _times(_of(A, i), gap) for i, gap in enumerate(gaps))
    kind = Diagonal if A.ndim == 2 else Dense
    return kind(*(np.ascontiguousarray(part) for part in (A, b, H, x_star)), float(F_star))


def _top(squares):
    """The largest eigenvalue of a positive semidefinite diagonal or matrix."""
    return float(squares.max() if squares.ndim == 1 else max(0.0, np.linalg.eigvalsh(squares)[-1]))


def _mean_square(Ds, weights):
    """sum_i w_i D_i D_i'."""
    return sum(w * (D * D if D.ndim == 1 else D @ D.T) for w, D in zip(weights, Ds))


def _up(value, d):
    """An upper bound of what floating point found: sums of products and the eigenvalue solver err
    by less."""
    return float(value) * (1.0 + 32 * d * EPS)


def _norm(v):
    """||v||, also of a vector whose squares are no floats."""
    largest = float(np.abs(v).max())
    return largest * float(np.linalg.norm(v / largest)) if largest > 0 else 0.0


def _ball(gaps, offsets, radius, weights):
    """An upper bound of sum_i w_i ||D_i v + o_i||^2 over ||v|| <= radius."""
    cross = sum(w * _times(D, o) for w, D, o in zip(weights, gaps, offsets))
    level = sum(w * o @ o for w, o in zip(weights, offsets))
    return _top(_mean_square(gaps, weights)) * radius**2 + 2 * radius * _norm(cross) + float(level)


def constants(data, p, radius):
    """L, mu, G, xi_bar (and G_star, B) of a quadratic from its arrays."""
    A, N, d = data.A, len(data.b) - 1, data.b.shape[1]
    if A.ndim == 2:
        L, mu, how = float(A.max()), float(A.min()), "eigenvalue of the Hessians"
    else:
        spectra, how = np.linalg.eigvalsh(A), "eigenvalue of the Hessians, rounded outward"
        slack = 10 * d * EPS * float(abs(spectra).max())
        L, mu = float(spectra.max()) + slack, max(0.0, float(spectra.min()) - slack)
    found = dict(L=Constant(L, how=f"largest {how}"), mu=Constant(mu, how=f"smallest {how}"))
    at_star = [_times(_of(A, i), data.x_star - data.b[i]) for i in range(N + 1)]
    even = np.full(N, 1.0 / N)
    level = sum(o @ o for o in at_star[1:]) / N if N > 1 else 0.0
    bgd = "mean ||grad f_i||^2 <= G_star^2 + B^2 ||grad F||^2 everywhere"
    constant = "gradients differ by constants"
    ball = "triangle inequality over the ball around the minimiser of F; rounded up"
    alike = len(A) == 1 or bool(np.all(A[1:] == A[1]))  # clients share a Hessian
    gaps = [_of(A, i) - data.H for i in range(N + 1)]
    if len(A) == 1 or alike and np.array_equal(A[0], A[1]):
        found["xi_bar"] = Constant(float(np.linalg.norm(at_star[0])), how=constant)
    else:
        found["xi_bar"] = Constant(
            _up(np.sqrt(_ball(gaps[:1], at_star[:1], radius, [1.0])), d), "ball", radius, ball
        )
    if alike:
        # ||grad F + o_i||^2 has mean ||grad F||^2 + 2 grad F' mean(o) + G^2, and mean(o) = 0 under
        # equal weights.
        lean = 0.0 if np.all(p[1:] == p[1]) else float(np.linalg.norm(sum(at_star[1:]) / N))
        found["G"] = Constant(float(np.sqrt(level)), how=constant)
        found["G_star"] = Constant(float(np.sqrt(level + lean**2)), how=bgd)
        found["B"] = Constant(1.0 if lean == 0 else _up(np.sqrt(2.0), 1), how="with G_star")
        return found
    found["G"] = Constant(
        _up(np.sqrt(_ball(gaps[1:], at_star[1:], radius, even)), d), "ball", radius, ball
    )
    if mu > 0:
        # grad f_i = A_i H^-1 grad F + o_i, so the mean square is at most 2 mean o_i^2 + 2 |mean|
        # |grad F|^2.
        ratios = [
            _of(A, i) / data.H if A.ndim == 2 else np.linalg.solve(data.H, _of(A, i))
            for i in range(1, N + 1)
        ]
        factor = 1.0 if level == 0 else 2.0
        found["G_star"] = Constant(_up(np.sqrt(factor * level), d), how=bgd + "; rounded up")
        B = np.sqrt(max(1.0, factor * _top(_mean_square(ratios, even))))
        found["B"] = Constant(_up(B, d * L / mu), how="with G_star; rounded up")
    return found


def _reweigh(problem, p):
    data = _data(problem.data.A, problem.data.b, p)
    radius = min(problem.constants[name].radius for name in ("G", "xi_bar"))
    kept = {name: problem.constants[name] for name in ("L", "mu", "sigma", "sigma_0")}
    return replace(problem, data=data, weights=p, constants={**constants(data, p, radius), **kept})


def quadratic_from_arrays(
    A, b, weights=None, sigma=0.0, sigma_0=0.0, noise="gaussian", layers=None, radius=1.0
):
    """f_i(x) = (x - b_i)' A_i (x - b_i) / 2 from its arrays; row 0 is the server.

    b: (N + 1, d). A: (d,) or (d, d) shared, (N + 1, d) or (N + 1, d, d) own. `radius` of the ball
    around the minimiser on which G and xi_bar hold when Hessians differ. A shared square A with
    N + 1 = d is read as one dense matrix if it is symmetric, as N + 1 diagonals otherwise.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[1.0], b=[[0.0], [1.0], [3.0]])
    >>> problem.minimizer()
    array([2.])
    """
    A, b = arguments.array("A", A).copy(), arguments.array("b", b).copy()
    if b.ndim != 2 or len(b) < 2 or b.shape[1] < 1 or not np.all(np.isfinite(b)):
        refuse("b", "must be finite of shape (N + 1, d) with N >= 1", b.shape)
    N, d = len(b) - 1, b.shape[1]
    if not np.all(np.isfinite(A)):
        refuse("A", "must be finite", float(A[~np.isfinite(A)][0]))
    for name, value in (("A", A), ("b", b)):
        if np.abs(value).max(initial=0.0) > arguments.LARGEST:
            refuse(
                name,
                f"must be at most {arguments.LARGEST:g} in size, for squares to be floats",
                float(np.abs(value).max()),
            )
    if A.shape == (d, d) and (N + 1 != d or np.array_equal(A, A.T)):
        A = A[None]
    elif A.shape == (d,):
        A = A[None]
    elif A.shape not in ((N + 1, d), (N + 1, d, d)):
        refuse(
            "A",
            f"must have shape ({d},), ({d}, {d}), ({N + 1}, {d}) or ({N + 1}, {d}, {d})",
            A.shape,
        )
    if A.ndim == 3:
        if np.any(abs(A - A.transpose(0, 2, 1)) > 1e-12 * abs(A).max()):
            refuse("A", "must be symmetric", float(abs(A - A.transpose(0, 2, 1)).max()))
        A = (A + A.transpose(0, 2, 1)) / 2
    smallest = A.min() if A.ndim == 2 else np.linalg.eigvalsh(A).min()
    if smallest < -1e-12 * max(1.0, abs(A).max()):
        refuse("A", "must have no negative eigenvalue", float(smallest))
    if A.ndim == 2:
        A = np.maximum(A, 0.0)
        if np.any((A > 0) & (A < 1 / arguments.LARGEST)):
            refuse(
                "A",
                f"must be 0 or at least {1 / arguments.LARGEST:g}, for squares to be floats",
                float(A[A > 0].min()),
            )
    return _problem(A, b, weights, sigma, sigma_0, noise, layers, radius)


def _minimizer(problem):
    return problem.data.x_star


def _problem(A, b, weights, sigma, sigma_0, noise, layers, radius):
    """From Hessians with a leading axis of 1 (shared) or N + 1 (own)."""
    N, d = len(b) - 1, b.shape[1]
    radius, p = arguments.real("radius", radius, open_low=True), weights_from(weights, N)
    noise, sigmas = noise_from(noise, sigma, sigma_0, N)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below
        data = _data(A, b, p)
        found = constants(data, p, radius)
    beyond = [name for name, constant in found.items() if not np.isfinite(constant.value)]
    if beyond or not np.isfinite(data.F_star):
        raise Impossible(
            "curvatures and distances must leave the gradients at the minimiser floats; got "
            f"A up to {np.abs(A).max():g}, b up to {np.abs(b).max():g}"
        )
    found["sigma"] = Constant(float(sigmas[1:].max()), how=f"{noise} noise")
    found["sigma_0"] = Constant(float(sigmas[0]), how=f"{noise} noise")
    return Problem(
        "quadratic",
        data,
        DIAGONAL if A.ndim == 2 else DENSE,
        N,
        d,
        p,
        found,
        noise=noise,
        sigma=sigmas,
        layers=layers_from(layers, d),
        minimize=_minimizer,
        reweigh=_reweigh,
        affine=True,
    )


def _spectrum(generator, d, L, mu):
    """d eigenvalues in [mu, L], both ends attained."""
    eigenvalues = generator.uniform(mu, L, d)
    eigenvalues[0], eigenvalues[-1] = L, mu
    return eigenvalues


def _rotation(generator, d):
    return np.linalg.qr(generator.standard_normal((d, d)))[0]


def quadratic(
    d,
    clients,
    L,
    mu,
    G=0.0,
    xi_bar=0.0,
    sigma=0.0,
    sigma_0=0.0,
    layers=None,
    weights=None,
    seed=0,
    noise="gaussian",
    hessian="diagonal",
    radius=1.0,
):
    """A quadratic whose constants hold with equality.

    `hessian`: "diagonal" or "dense" is shared by all clients; "own" and "own_dense" give each its
    own spectrum in [mu, L], with G and xi_bar then attained at the minimiser (their certified bound
    is on a ball of `radius` around it). Clients' gradients at the minimiser have weighted mean
    zero.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=3, clients=4, L=2.0, mu=0.5)
    >>> problem.N, problem.d, problem.constants["mu"].value
    (4, 3, 0.5)
    """
    d, N = arguments.whole("d", d, 1), arguments.whole("clients", clients, 1)
    L, mu = arguments.real("L", L, open_low=True), arguments.real("mu", mu)
    G, xi_bar = arguments.real("G", G), arguments.real("xi_bar", xi_bar)
    arguments.fits("d and clients", N + 1, d, 4)
    if mu > L:
        raise Impossible(f"mu must be <= L, the largest curvature; got mu={mu}, L={L}")
    arguments.word("hessian", hessian, ("diagonal", "dense", "own", "own_dense"))
    if hessian.endswith("dense"):
        if 0 < mu < SHARPEST * L:
            raise Impossible(
                f"mu must be 0 or at least {SHARPEST:g} L where Hessians are dense, or the rounding of "
                f"their entries changes it; got mu={mu}, L={L}"
            )
        arguments.fits("d and clients", N + 1 if hessian == "own_dense" else 4, d, d)
    own = hessian.startswith("own")
    if d == 1 and mu != L and not (own and N >= 2):
        raise Impossible(
            f"in one dimension a shared curvature is both mu and L; got mu={mu}, L={L}"
        )
    p = weights_from(weights, N)
    if G > 0 and N == 1:
        raise Impossible(
            f"G must be 0 with one client, whose gradient is F's; got G={G}, clients={N}"
        )
    generator = rng.host(seed, "quadratic")
    if own:
        spectra = np.stack(
            [
                _spectrum(generator, d, L, mu) if d > 1 else np.array([[L, mu][i % 2]])
                for i in range(N + 1)
            ]
        )
    else:
        spectra = _spectrum(generator, d, L, mu)[None] if d > 1 else np.array([[float(L)]])
    A = spectra
    if hessian == "dense":
        turn = _rotation(generator, d)
        A = (turn * spectra[0]) @ turn.T
        A = ((A + A.T) / 2)[None]
    elif hessian == "own_dense":
        turns = [_rotation(generator, d) for _ in range(N + 1)]
        A = np.stack([(Q * s) @ Q.T for Q, s in zip(turns, spectra)])
        A = (A + A.transpose(0, 2, 1)) / 2
    # Gradients o_i of the clients at x*: sum p_i o_i = 0, mean ||o_i||^2 = G^2, in the range of
    # A_i.
    alive = (
        np.ones(d)
        if mu > 0 or own and hessian == "own_dense"
        else (spectra > 0).all(axis=0).astype(float)
    )
    if (G > 0 or xi_bar > 0) and not alive.any():
        raise Impossible(
            f"no direction has curvature, so gradients cannot differ; got G={G}, xi_bar={xi_bar}"
        )
    if hessian == "own_dense" and mu == 0 and (G > 0 or xi_bar > 0):
        raise Impossible(
            "own dense Hessians with mu = 0 share no curved direction for G or xi_bar; got "
            f"G={G}, xi_bar={xi_bar}"
        )
    offsets = generator.standard_normal((N, d)) * alive
    offsets -= p[1:] @ offsets
    if G == 0:
        offsets[:] = 0.0
    else:
        offsets *= G / np.sqrt(np.mean(np.sum(offsets**2, axis=1)))
    server = generator.standard_normal(d) * alive
    server *= xi_bar / np.linalg.norm(server) if xi_bar > 0 else 0.0
    x_star = generator.standard_normal(d)
    o = np.vstack([server, offsets])
    if mu > 0 and np.abs(o).max() / mu > arguments.LARGEST:
        raise Impossible(
            f"G / mu and xi_bar / mu must be at most {arguments.LARGEST:g}, for the clients' minimisers and "
            f"their squares to be floats; got G={G}, xi_bar={xi_bar}, mu={mu}"
        )
    b = np.empty((N + 1, d))
    for i in range(N + 1):  # A_i (x* - b_i) = o_i
        if A.ndim == 2:
            a = A[min(i, len(A) - 1)]
            b[i] = x_star - np.divide(o[i], a, out=np.zeros(d), where=a > 0)
        elif hessian == "dense":
            s = spectra[0]
            b[i] = x_star - turn @ np.divide(o[i], s, out=np.zeros(d), where=s > 0)
        else:
            b[i] = x_star - np.linalg.solve(A[i], o[i]) if mu > 0 else x_star
    problem = _problem(A, b, weights, sigma, sigma_0, noise, layers, radius)
    found = dict(problem.constants)
    exact = dict(L=L, mu=mu) if own else dict(L=L, mu=mu, G=G, xi_bar=xi_bar)
    if not own and found["B"].value == 1.0:
        exact["G_star"] = G
    for (
        name,
        value,
    ) in exact.items():  # the request is the truth; the arrays carry it up to rounding
        how = "requested, held with equality" if name != "G_star" else found[name].how
        found[name] = Constant(float(value), how=how)
    return replace(problem, constants=found)


MAKERS = (quadratic, quadratic_from_arrays)


def examples():
    return dict(
        diagonal=quadratic(3, 4, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, sigma_0=0.1, seed=1),
        dense=quadratic(
            3,
            4,
            L=2.0,
            mu=0.5,
            G=1.0,
            xi_bar=0.5,
            sigma=0.3,
            seed=2,
            hessian="dense",
            noise="sphere",
        ),
        own=quadratic(
            3,
            4,
            L=2.0,
            mu=0.5,
            G=1.0,
            xi_bar=0.5,
            seed=3,
            hessian="own",
            noise="rademacher",
            sigma=0.2,
        ),
        own_dense=quadratic(
            4,
            3,
            L=2.0,
            mu=0.5,
            G=1.0,
            xi_bar=0.5,
            seed=4,
            hessian="own_dense",
            weights=[1.0, 2.0, 3.0],
            layers=[1, 3],
        ),
        one=quadratic(1, 1, L=1.5, mu=1.5),
        flat=quadratic(3, 2, L=1.0, mu=0.0, G=0.5, xi_bar=0.2),
    )
