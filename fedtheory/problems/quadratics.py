"""Quadratics f_i(x) = (x - b_i)' A_i (x - b_i) / 2 with exact L, mu, G, xi_bar and noise.

A Hessian is shared or each client's own, diagonal or dense. Under a shared Hessian the gradients
differ by constants, so G and xi_bar are global and exact. Under own Hessians the dissimilarity
grows with the distance to the minimiser: G and xi_bar then hold on a ball, and a global (G, B) form
stands beside them where F is strongly convex.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from fedtheory import rng
from fedtheory.errors import Impossible, refuse
from fedtheory.jit import jit
from fedtheory.problem import Constant, Kernels, Problem, layers_from, noise_from, weights_from


class Diagonal(NamedTuple):
    A: np.ndarray        # (1, d) shared, or (N + 1, d)
    b: np.ndarray        # (N + 1, d)
    H: np.ndarray        # (d,) Hessian of F
    x_star: np.ndarray   # (d,) minimiser of F
    F_star: float


class Dense(NamedTuple):
    A: np.ndarray        # (1, d, d) shared, or (N + 1, d, d)
    b: np.ndarray
    H: np.ndarray        # (d, d)
    x_star: np.ndarray
    F_star: float


@jit
def diagonal_grad(data, i, x, out):
    A = data.A[min(i, data.A.shape[0] - 1)]
    b = data.b[i]
    for j in range(x.size):
        out[j] = A[j] * (x[j] - b[j])


@jit
def diagonal_loss(data, i, x):
    A = data.A[min(i, data.A.shape[0] - 1)]
    total = 0.0
    for j in range(x.size):
        total += A[j] * (x[j] - data.b[i, j]) ** 2
    return 0.5 * total


@jit
def diagonal_objective(data, p, x, out):
    """F* + (x - x*)' H (x - x*) / 2: no cancellation near the minimiser."""
    total = 0.0
    for j in range(x.size):
        gap = x[j] - data.x_star[j]
        out[j] = data.H[j] * gap
        total += out[j] * gap
    return data.F_star + 0.5 * total


@jit
def symmetric_times(A, v, out):
    """out = A v for symmetric A, by rows, in one order of additions whatever the machine's vectors."""
    d = v.size
    out[:] = 0.0
    c = 0
    while c + 4 <= d:
        a_0, a_1, a_2, a_3 = A[c], A[c + 1], A[c + 2], A[c + 3]
        v_0, v_1, v_2, v_3 = v[c], v[c + 1], v[c + 2], v[c + 3]
        for j in range(d):
            out[j] += (a_0[j] * v_0 + a_1[j] * v_1) + (a_2[j] * v_2 + a_3[j] * v_3)
        c += 4
    while c < d:
        for j in range(d):
            out[j] += A[c, j] * v[c]
        c += 1


@jit
def dense_grad(data, i, x, out):
    symmetric_times(data.A[min(i, data.A.shape[0] - 1)], x - data.b[i], out)


@jit
def dense_loss(data, i, x):
    gap = x - data.b[i]
    out = np.empty(x.size)
    symmetric_times(data.A[min(i, data.A.shape[0] - 1)], gap, out)
    total = 0.0
    for j in range(x.size):
        total += out[j] * gap[j]
    return 0.5 * total


@jit
def dense_objective(data, p, x, out):
    gap = x - data.x_star
    symmetric_times(data.H, gap, out)
    total = 0.0
    for j in range(x.size):
        total += out[j] * gap[j]
    return data.F_star + 0.5 * total


DIAGONAL = Kernels(diagonal_grad, diagonal_loss, diagonal_objective)
DENSE = Kernels(dense_grad, dense_loss, dense_objective)


def _hessian(A, i):
    """Client i's Hessian as a matrix."""
    a = A[min(i, len(A) - 1)]
    return np.diag(a) if a.ndim == 1 else a


def _data(A, b, p):
    """The data tuple for weights p, with F's Hessian and minimiser."""
    N = len(b) - 1
    shared = len(A) == 1
    H = A[0].copy() if shared else np.tensordot(p, A, axes=1)
    times = (lambda a, v: a * v) if A.ndim == 2 else (lambda a, v: a @ v)
    if shared:    # the weighted mean minimises F whatever the rank of A
        x_star = p @ b
    else:
        pull = sum(p[i] * times(A[i], b[i]) for i in range(1, N + 1))
        x_star = np.divide(pull, H, out=np.zeros_like(pull), where=H != 0) if A.ndim == 2 else (
            np.linalg.solve(H, pull) if np.linalg.matrix_rank(H) == len(H) else np.linalg.pinv(H, hermitian=True) @ pull)
    gaps = [x_star - b[i] for i in range(1, N + 1)]
    F_star = sum(p[i] * 0.5 * gap @ times(A[min(i, len(A) - 1)], gap) for i, gap in enumerate(gaps, 1))
    kind = Diagonal if A.ndim == 2 else Dense
    return kind(np.ascontiguousarray(A), np.ascontiguousarray(b), np.ascontiguousarray(H),
                np.ascontiguousarray(x_star), float(F_star))


def _norm(matrix):
    return float(np.max(np.abs(np.linalg.eigvalsh(matrix)))) if matrix.size else 0.0


def _ball(gaps, offsets, radius, weights):
    """An upper bound of sum_i w_i ||D_i v + o_i||^2 over ||v|| <= radius."""
    square = sum(w * D @ D for w, D in zip(weights, gaps))
    cross = sum(w * D @ o for w, D, o in zip(weights, gaps, offsets))
    level = sum(w * o @ o for w, o in zip(weights, offsets))
    return _norm(square) * radius**2 + 2 * radius * float(np.linalg.norm(cross)) + float(level)


def constants(data, p, radius):
    """L, mu, G, xi_bar (and B) of a quadratic from its arrays."""
    A, N = data.A, len(data.b) - 1
    if A.ndim == 2:
        L, mu = float(A.max()), float(A.min())
    else:
        spectra = np.linalg.eigvalsh(A)
        L, mu = float(spectra.max()), float(spectra.min())
        if abs(mu) <= 1e-13 * L:    # a zero eigenvalue, up to the solver's rounding
            mu = 0.0
    at_star = [_hessian(A, i) @ (data.x_star - data.b[i]) for i in range(N + 1)]
    found = dict(L=Constant(L, how="largest eigenvalue of the Hessians"),
                 mu=Constant(mu, how="smallest eigenvalue of the Hessians"))
    even = np.full(N, 1.0 / N)
    if len(A) == 1:
        G = np.sqrt(sum(w * o @ o for w, o in zip(even, at_star[1:])))
        found["G"] = Constant(float(G), how="gradients differ by constants")
        found["xi_bar"] = Constant(float(np.linalg.norm(at_star[0])), how="gradients differ by constants")
        found["B"] = Constant(1.0, how="gradients differ by constants")
        return found
    H = _hessian(data.H[None], 0)
    gaps = [_hessian(A, i) - H for i in range(N + 1)]
    G = np.sqrt(_ball(gaps[1:], at_star[1:], radius, even))
    xi_bar = np.sqrt(_ball(gaps[:1], at_star[:1], radius, [1.0]))
    how = "triangle inequality over the ball around the minimiser of F"
    found["G"] = Constant(float(G), "ball", radius, how)
    found["xi_bar"] = Constant(float(xi_bar), "ball", radius, how)
    if mu > 0:
        # grad f_i = A_i H^-1 grad F + o_i, so the mean square is at most 2 mean o_i^2 + 2 |mean| |grad F|^2.
        ratios = [np.linalg.solve(H, _hessian(A, i)) for i in range(1, N + 1)]
        B = _norm(sum(w * R @ R.T for w, R in zip(even, ratios)))
        level = sum(w * o @ o for w, o in zip(even, at_star[1:]))
        factor = 1.0 if level == 0 else 2.0
        found["G_star"] = Constant(float(np.sqrt(factor * level)),
                                   how="mean ||grad f_i||^2 <= G_star^2 + B^2 ||grad F||^2 everywhere")
        found["B"] = Constant(float(np.sqrt(max(1.0, factor * B))), how="with G_star")
    return found


def _reweigh(problem, p):
    data = _data(problem.data.A, problem.data.b, p)
    radius = problem.constants["G"].radius
    kept = {name: c for name, c in problem.constants.items() if name in ("sigma", "sigma_0")}
    return replace(problem, data=data, weights=p, constants={**constants(data, p, radius), **kept})


def quadratic_from_arrays(A, b, weights=None, sigma=0.0, sigma_0=0.0, noise="gaussian", layers=None, radius=1.0):
    """f_i(x) = (x - b_i)' A_i (x - b_i) / 2 from its arrays; row 0 is the server.

    b: (N + 1, d). A: (d,) or (d, d) shared, (N + 1, d) or (N + 1, d, d) own. `radius` of the ball
    around the minimiser on which G and xi_bar hold when Hessians differ. A shared square A with
    N + 1 = d is read as one dense matrix if it is symmetric, as N + 1 diagonals otherwise.
    """
    A, b = np.asarray(A, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if b.ndim != 2 or len(b) < 2 or b.shape[1] < 1 or not np.all(np.isfinite(b)):
        refuse("b", "must be finite of shape (N + 1, d) with N >= 1", b.shape)
    N, d = len(b) - 1, b.shape[1]
    if not np.all(np.isfinite(A)):
        refuse("A", "must be finite", A)
    if A.shape == (d, d) and (N + 1 != d or np.array_equal(A, A.T)):
        A = A[None]
    elif A.shape == (d,):
        A = A[None]
    elif A.shape not in ((N + 1, d), (N + 1, d, d)):
        refuse("A", f"must have shape ({d},), ({d}, {d}), ({N + 1}, {d}) or ({N + 1}, {d}, {d})", A.shape)
    if A.ndim == 3:
        if np.any(abs(A - A.transpose(0, 2, 1)) > 1e-12 * abs(A).max()):
            refuse("A", "must be symmetric", float(abs(A - A.transpose(0, 2, 1)).max()))
        A = (A + A.transpose(0, 2, 1)) / 2
    p = weights_from(weights, N)
    smallest = A.min() if A.ndim == 2 else np.linalg.eigvalsh(A).min()
    if smallest < -1e-12 * max(1.0, abs(A).max()):
        refuse("A", "must have no negative eigenvalue", float(smallest))
    if not radius > 0 or not np.isfinite(radius):
        refuse("radius", "must be finite and > 0", radius)
    data = _data(A, b, p)
    noise, sigmas = noise_from(noise, sigma, sigma_0, N)
    found = constants(data, p, radius)
    found["sigma"] = Constant(float(sigmas[1:].max()), how=f"{noise} noise")
    found["sigma_0"] = Constant(float(sigmas[0]), how=f"{noise} noise")
    return Problem("quadratic", data, DIAGONAL if A.ndim == 2 else DENSE, N, d, p, found, noise=noise, sigma=sigmas,
                   layers=layers_from(layers, d), minimize=lambda problem: problem.data.x_star, reweigh=_reweigh,
                   affine=True)


def _spectrum(generator, d, L, mu):
    """d eigenvalues in [mu, L], both ends attained."""
    eigenvalues = generator.uniform(mu, L, d)
    eigenvalues[0], eigenvalues[-1] = L, mu
    return eigenvalues


def _rotation(generator, d):
    return np.linalg.qr(generator.standard_normal((d, d)))[0]


def quadratic(d, clients, L, mu, G=0.0, xi_bar=0.0, sigma=0.0, sigma_0=0.0, layers=None, weights=None, seed=0,
              noise="gaussian", hessian="diagonal", radius=1.0):
    """A quadratic whose constants hold with equality.

    `hessian`: "diagonal" or "dense" is shared by all clients; "own" and "own_dense" give each its own
    spectrum in [mu, L], with G and xi_bar then attained at the minimiser (their certified bound is on
    a ball of `radius` around it). Clients' gradients at the minimiser have weighted mean zero.
    """
    N = clients
    for name, value, low in (("d", d, 1), ("clients", N, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < low:
            refuse(name, f"must be an integer >= {low}", value)
    for name, value in dict(L=L, mu=mu, G=G, xi_bar=xi_bar).items():
        if not np.isfinite(value) or value < 0:
            refuse(name, "must be finite and >= 0", value)
    if L <= 0:
        refuse("L", "must be > 0", L)
    if mu > L:
        raise Impossible(f"mu must be <= L, the largest curvature; got mu={mu}, L={L}")
    if hessian not in ("diagonal", "dense", "own", "own_dense"):
        refuse("hessian", "must be diagonal, dense, own or own_dense", hessian)
    own = hessian.startswith("own")
    if d == 1 and mu != L and not (own and N >= 2):
        raise Impossible(f"in one dimension a shared curvature is both mu and L; got mu={mu}, L={L}")
    p = weights_from(weights, N)
    if G > 0 and np.sum(p > 0) < 2:
        raise Impossible(f"G must be 0 where one client is all of F: its gradient is F's; got G={G}, clients={N}")
    generator = rng.host(seed, "quadratic")
    if own:
        spectra = np.stack([_spectrum(generator, d, L, mu) if d > 1 else np.array([[L, mu][i % 2]])
                            for i in range(N + 1)])
    else:
        spectra = _spectrum(generator, d, L, mu)[None] if d > 1 else np.array([[float(L)]])
    A = spectra
    turn = np.eye(d)
    if hessian == "dense":
        turn = _rotation(generator, d)
        A = (turn * spectra[0]) @ turn.T
        A = ((A + A.T) / 2)[None]
    elif hessian == "own_dense":
        turns = [_rotation(generator, d) for _ in range(N + 1)]
        A = np.stack([(Q * s) @ Q.T for Q, s in zip(turns, spectra)])
        A = (A + A.transpose(0, 2, 1)) / 2
    # Gradients o_i of the clients at x*: sum p_i o_i = 0, mean ||o_i||^2 = G^2, in the range of A_i.
    alive = np.ones(d) if mu > 0 or own and hessian == "own_dense" else (spectra > 0).all(axis=0).astype(float)
    if (G > 0 or xi_bar > 0) and not alive.any():
        raise Impossible(f"no direction has curvature, so gradients cannot differ; got G={G}, xi_bar={xi_bar}")
    if hessian == "own_dense" and mu == 0 and (G > 0 or xi_bar > 0):
        raise Impossible("own dense Hessians with mu = 0 share no curved direction for G or xi_bar; got "
                         f"G={G}, xi_bar={xi_bar}")
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
    b = np.empty((N + 1, d))
    for i in range(N + 1):    # A_i (x* - b_i) = o_i
        if A.ndim == 2:
            a = A[min(i, len(A) - 1)]
            b[i] = x_star - np.divide(o[i], a, out=np.zeros(d), where=a > 0)
        elif hessian == "dense":
            s = spectra[0]
            b[i] = x_star - turn @ np.divide(o[i], s, out=np.zeros(d), where=s > 0)
        else:
            b[i] = x_star - np.linalg.solve(A[i], o[i]) if mu > 0 else x_star
    problem = quadratic_from_arrays(A if own else A[0], b, p[1:], sigma, sigma_0, noise, layers, radius)
    exact = dict(L=L, mu=mu) if own else dict(L=L, mu=mu, G=G, xi_bar=xi_bar)
    found = dict(problem.constants)
    for name, value in exact.items():    # the request is the truth; the arrays carry it up to rounding
        found[name] = Constant(float(value), how="requested, held with equality")
    return replace(problem, constants=found)


MAKERS = (quadratic, quadratic_from_arrays)


def examples():
    return dict(
        diagonal=quadratic(3, 4, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, sigma_0=0.1, seed=1),
        dense=quadratic(3, 4, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.3, seed=2, hessian="dense", noise="sphere"),
        own=quadratic(3, 4, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, seed=3, hessian="own", noise="rademacher", sigma=0.2),
        own_dense=quadratic(4, 3, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, seed=4, hessian="own_dense",
                            weights=[1.0, 2.0, 3.0], layers=[1, 3]),
        one=quadratic(1, 1, L=1.5, mu=1.5),
        flat=quadratic(3, 2, L=1.0, mu=0.0, G=0.5, xi_bar=0.2),
    )
