"""Separable problems whose clients differ by tilts: smooth and not quadratic, with every constant
known.

f_i(x) = h(x) + <o_i, x - c>,  h(x) = sum_j a_j w_j^2 psi(u_j) + m_j (x_j - c_j)^2 / 2,  u_j = (x_j - c_j) / w_j.

Each psi is zero, flat and lowest at 0, and its largest curvature is 1, so that h has its infimum 0
at c and largest curvature max_j (a_j + m_j). Tilts have weighted mean zero: F is h, and gradients
differ by constants, so G and xi_bar hold with equality at every x. A tilt leaves a client unbounded
below where h grows no faster than it; F never is. Only + - * / sqrt and floor are used: bits are
the same everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.errors import Impossible, refuse
from fedtheory.jit import jit
from fedtheory.problem import (
    Constant,
    Kernels,
    Problem,
    layers_from,
    noise_constants,
    noise_from,
    weights_from,
)
from fedtheory.typing import Number

PSEUDO_HUBER, RATIONAL, WAVE, HUBER, SIDED = range(5)
SHAPES = dict(pseudo_huber=PSEUDO_HUBER, rational=RATIONAL, wave=WAVE, huber=HUBER, sided=SIDED)


class Separable(NamedTuple):
    """The arrays of a separable problem."""

    kind: int  # which psi
    q: float  # its parameter: the downward slope of a wave, the curvature left of 0 of the last two
    a: np.ndarray  # (d,) weight of psi
    w: np.ndarray  # (d,) width of psi
    m: np.ndarray  # (d,) growth, the curvature of an added parabola
    c: np.ndarray  # (d,) centre
    o: np.ndarray  # (N + 1, d) tilts
    tilt: np.ndarray  # (d,) tilt of F; zero unless clients were reweighted


@jit
def psi(kind, q, u):
    """Return psi(u) of a kind, with psi(0) = psi'(0) = 0 and largest curvature 1; q is the
    parameter of `Separable`."""
    if kind == PSEUDO_HUBER:
        return u * u / (1.0 + np.sqrt(1.0 + u * u))  # sqrt(1 + u^2) - 1 without cancellation
    if kind == RATIONAL:
        return 0.5 * u * u / (1.0 + u * u)
    if kind == WAVE:  # psi' is a triangle wave: up with slope 1, down with slope -q
        period = 2.0 + 2.0 / q
        v = abs(u - period * np.floor(u / period + 0.5))
        return 0.5 * v * v if v <= 1.0 else 0.5 + (v - 1.0) - 0.5 * q * (v - 1.0) ** 2
    if kind == HUBER:  # parabolas of curvature 1 and q, straight from u = 1 and from u = -1 on
        v = min(abs(u), 1.0)
        return (1.0 if u > 0.0 else q) * (0.5 * v * v + (abs(u) - v))
    return (0.5 if u > 0.0 else 0.5 * q) * u * u


@jit
def slope(kind, q, u):
    """Return psi'(u)."""
    if kind == PSEUDO_HUBER:
        return u / np.sqrt(1.0 + u * u)
    if kind == RATIONAL:
        return u / ((1.0 + u * u) * (1.0 + u * u))
    if kind == WAVE:
        period = 2.0 + 2.0 / q
        v = u - period * np.floor(u / period + 0.5)
        if abs(v) <= 1.0:
            return v
        return 1.0 - q * (v - 1.0) if v > 0.0 else -1.0 - q * (v + 1.0)
    if kind == HUBER:
        return min(u, 1.0) if u > 0.0 else q * max(u, -1.0)
    return u if u > 0.0 else q * u


@jit
def _common_loss(data, tilt, x, out):
    """Return h + <tilt, x - c>, and write its gradient to `out`."""
    total = 0.0
    for j in range(x.size):
        w, gap = data.w[j], x[j] - data.c[j]
        u = gap / w
        total += (
            data.a[j] * w * w * psi(data.kind, data.q, u)
            + 0.5 * data.m[j] * gap * gap
            + tilt[j] * gap
        )
        out[j] = data.a[j] * w * slope(data.kind, data.q, u) + data.m[j] * gap + tilt[j]
    return total


@jit
def grad(data, i, x, out):
    """Compute grad f_i(x) = (a_j w_j psi'(u_j) + m_j (x_j - c_j) + o_ij)_j into `out`."""
    for j in range(x.size):
        w, gap = data.w[j], x[j] - data.c[j]
        out[j] = data.a[j] * w * slope(data.kind, data.q, gap / w) + data.m[j] * gap + data.o[i, j]


@jit
def loss(data, i, x):
    """Return f_i(x) = h(x) + <o_i, x - c>."""
    return _common_loss(data, data.o[i], x, np.empty(x.size))


@jit
def objective(data, p, x, out):
    """Return F(x) = h(x) + <tilt, x - c>, and write its gradient to `out`."""
    return _common_loss(data, data.tilt, x, out)


KERNELS = Kernels(grad, loss, objective)


def _least_curvature(kind: int, q: float) -> float:
    """Return the smallest curvature of psi (the largest is 1)."""
    return {RATIONAL: -0.25, WAVE: -q, SIDED: q}.get(kind, 0.0)  # rational: at u = 1 and -1


def slope_range(kind: int, q: float) -> tuple[float, ...]:
    """Return the infimum and supremum of psi'."""
    steepest = 3 * np.sqrt(3) / 16  # of u / (1 + u^2)^2, at u = 1 / sqrt(3)
    return {
        RATIONAL: (-steepest, steepest),
        HUBER: (-q, 1.0),
        SIDED: (-np.inf if q > 0 else 0.0, np.inf),
    }.get(kind, (-1.0, 1.0))


def _lowest_point(data: Any, t: np.ndarray) -> tuple[np.ndarray, float]:
    """Return (x, value): the point where h + <t, x - c> is lowest and the value there. x is NaN
    where the infimum is not attained."""
    kind, q = data.kind, data.q
    v = -t / (data.a * data.w)  # psi'(u) + (m / a) u = v where the derivative vanishes
    u = np.full(t.size, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind == PSEUDO_HUBER:
            u = np.where(abs(v) < 1, v / np.sqrt(1 - v * v), np.nan)
        elif kind in (HUBER, SIDED):
            low, high = slope_range(kind, q)
            u = np.where(
                v > 0, v, v / q if q > 0 else np.minimum(0.0, -data.c / data.w)
            )  # of a flat, nearest to 0
            u[(v < low) | (v > high)] = np.nan
        elif kind == WAVE:
            # Each rise of psi' holds one local minimum; along them the value is a parabola in the
            # position.
            period = 2 + 2 / q
            turns = (
                np.where(
                    data.m > 0, data.a * v / data.m, np.where(v == 0, -data.c / data.w, np.nan)
                )
                / period
            )
            at = period * np.rint(turns)
            u = at + (data.a * v - data.m * at) / (data.a + data.m)
        else:
            for j in range(t.size):
                a, m = data.a[j], data.m[j]
                if v[j] == 0:
                    u[j] = 0.0
                elif m > 0:  # m u (1 + u^2)^2 + a u = a v (1 + u^2)^2
                    roots = np.roots([m, -a * v[j], 2 * m, -2 * a * v[j], m + a, -a * v[j]])
                    real = roots[abs(roots.imag) <= 1e-6 * (1 + abs(roots))].real
                    value = 0.5 * a * real**2 / (1 + real**2) + 0.5 * m * real**2 - a * v[j] * real
                    u[j] = _polish_minimum(real[np.argmin(value)], a, m, a * v[j])
    x = data.c + data.w * u
    if np.all(np.isfinite(x)):
        return x, float(_common_loss(data, t, x, np.empty(x.size)))
    if kind == PSEUDO_HUBER and np.all(
        abs(v) <= 1
    ):  # a limit: u -> inf brings a w^2 psi + t w u to -a w^2
        return x, float(np.sum(data.a * data.w**2 * (np.sqrt(1 - v * v) - 1)))
    return x, -np.inf


def _polish_minimum(u: float, a: float, m: float, level: float) -> float:
    """Return u after Newton's steps for m u + a u / (1 + u^2)^2 = level, started near a minimum."""
    for _ in range(20):
        s = 1 + u * u
        curvature = m + a * (1 - 3 * u * u) / s**3
        step = (m * u + a * u / s**2 - level) / curvature if curvature > 0 else 0.0
        u -= step
        if abs(step) <= 1e-16 * abs(u):
            break
    return u


def find_minimiser(problem: Any) -> np.ndarray:
    """Return the minimiser of F, (d,)."""
    return _lowest_point(problem.data, problem.data.tilt)[0]


def infimum(problem: Problem, gamma: float = 0.0) -> float:
    """Return the infimum of F~ = (F + gamma f_0) / (1 + gamma), the objective that FSL descends;
    -inf where tilts outgrow h.

    gamma = 1 gives half the infimum of the mixed objective F + f_0.
    """
    data = problem.data
    if not isinstance(data, Separable):
        refuse("problem", "must be one of nonconvex, bounded, huber", problem.name)
    gamma = arguments.check_real("gamma", gamma)
    return _lowest_point(data, (data.tilt + gamma * data.o[0]) / (1 + gamma))[1]


def _largest_gradient(data: Any, noise: str, sigmas: Number, who: range | Sequence[int]) -> float:
    """Return the supremum over x and noise of ||g_i||, over the clients i in `who`; inf where the
    norm is unbounded."""
    low, high = slope_range(data.kind, data.q)
    if np.any(data.m > 0) or not np.isfinite(low) or not np.isfinite(high):
        return np.inf
    largest = 0.0
    for i in who:
        side = np.maximum(
            abs(data.a * data.w * high + data.o[i]), abs(data.a * data.w * low + data.o[i])
        )
        if sigmas[i] > 0 and noise == "rademacher":
            side = side + sigmas[i] / np.sqrt(side.size)  # every sign may agree with the gradient's
        elif sigmas[i] > 0 and noise != "sphere":
            return np.inf
        largest = max(largest, np.linalg.norm(side) + (sigmas[i] if noise == "sphere" else 0.0))
    return float(largest)


def separable_constants(problem: Problem) -> dict[str, Constant]:
    """Return every constant of a separable problem, computed from its arrays."""
    data, noise, sigmas = problem.data, problem.noise, problem.sigma
    curvature = data.a + data.m
    floor = float(np.min(data.a * _least_curvature(data.kind, data.q) + data.m))
    gaps = data.o - data.tilt
    lowest = _lowest_point(data, data.tilt)[1]
    alike = "gradients differ by constants: equality at every x"
    found = dict(
        L=Constant(float(curvature.max()), how="largest second derivative, attained"),
        G=Constant(float(np.sqrt(np.mean(np.sum(gaps[1:] ** 2, axis=1)))), how=alike),
        xi_bar=Constant(float(np.linalg.norm(gaps[0])), how=alike),
        F_inf=Constant(lowest, how="each coordinate's lowest stationary point"),
    )
    # ||grad F + gap_i||^2 has mean ||grad F||^2 + 2 grad F' mean(gap) + G^2; the middle is 0 under
    # equal weights.
    lean = (
        0.0
        if np.all(problem.weights[1:] == problem.weights[1])
        else np.linalg.norm(gaps[1:].mean(axis=0))
    )
    found["G_star"] = Constant(
        float(np.hypot(found["G"].value, lean)),
        how="mean ||grad f_i||^2 <= G_star^2 + B^2 ||grad F||^2 everywhere",
    )
    found["B"] = Constant(1.0 if lean == 0 else float(np.sqrt(2.0)), how="with G_star")
    if floor >= 0:
        found["mu"] = Constant(floor, how="smallest second derivative, attained or approached")
    else:
        found["weak_convexity"] = Constant(
            -floor, how="F + weak_convexity ||x||^2 / 2 is convex; attained"
        )
    for layer in problem.layers:  # H1 of FED-LAMB
        found[f"L/{layer.name}"] = Constant(
            float(curvature[layer.start : layer.stop].max()),
            how="largest second derivative along the layer, attained",
        )
    if data.kind == RATIONAL and np.all(data.m > 0) and not np.any(data.tilt):
        # phi'^2 / (2 phi) = (m + a r^2)^2 / (m + a r), r = 1 / (1 + u^2), is least where 3 a r^2 +
        # 4 m r = m.
        a, m = data.a, data.m
        r = (np.sqrt(4 * m * m + 3 * a * m) - 2 * m) / (3 * a)
        found["PL"] = Constant(
            float(np.min((m + a * r * r) ** 2 / (m + a * r))),
            how="||grad F||^2 >= 2 PL (F - F_inf), attained",
        )
    for name, who in (("M", range(1, problem.N + 1)), ("M_0", (0,))):  # H2
        reach = _largest_gradient(data, noise, sigmas, who)
        if np.isfinite(reach):
            found[name] = Constant(
                reach, how="supremum of the stochastic gradient's norm over x and noise"
            )
    return found | noise_constants(noise, sigmas, problem.d)  # H3


def _change_weights(problem: Any, p: Number) -> Problem:
    """Return the problem under weights p: F has the tilt sum_i p_i o_i. Raises Impossible where F
    has no minimiser then. Constants that no tilt touches keep the requested value; all others are
    recomputed."""
    tilt = p @ problem.data.o
    if np.linalg.norm(tilt) <= 1e-14 * np.linalg.norm(
        problem.data.o
    ):  # the weights it was made with
        tilt[:] = 0.0
    data = problem.data._replace(tilt=tilt)
    if not np.all(np.isfinite(_lowest_point(data, tilt)[0])):
        raise Impossible(
            "weights must leave F a minimiser, but the clients' mean tilt outgrows h; got a tilt of norm "
            f"{np.linalg.norm(tilt):.6g}"
        )
    moved = replace(problem, data=data, weights=p)
    # What the tilt does not touch keeps the requested value; the rest follows the weights.
    requested = {
        name: problem.constants[name]
        for name in ("L", "mu", "weak_convexity", "M", "M_0")
        if name in problem.constants
    }
    return replace(moved, constants={**separable_constants(moved), **requested})


def check_request(d: int, clients: int | float, **numbers: float) -> None:
    """Refuse arguments that every maker of separable problems refuses."""
    d, clients = arguments.check_integer("d", d, 1), arguments.check_integer("clients", clients, 1)
    arguments.check_fits("d and clients", clients + 1, d, 4)
    for name, value in numbers.items():
        arguments.check_real(name, value)


def draw_tilts(
    generator: Any, N: Number, d: Number, p: np.ndarray, G: float, xi_bar: float
) -> np.ndarray:
    """Draw the tilts (N + 1, d): the server's has norm xi_bar, the clients' have weighted mean zero
    and mean square G^2."""
    if G > 0 and np.sum(p > 0) < 2:
        raise Impossible(
            f"G must be 0 where one client is all of F: its gradient is F's; got G={G}, clients={N}"
        )
    o = generator.standard_normal((N + 1, d))
    o[0] *= xi_bar / np.linalg.norm(o[0])
    o[1:] -= p[1:] @ o[1:]
    o[1:] *= G / np.sqrt(np.mean(np.sum(o[1:] ** 2, axis=1))) if G > 0 else 0.0
    return o


def build_separable(
    name: str,
    shape: str,
    q: float,
    a: float | np.ndarray,
    w: float,
    m: float | np.ndarray,
    c: np.ndarray,
    o: np.ndarray,
    weights: np.ndarray,
    sigma: float | Sequence[float],
    sigma_0: float,
    noise: str,
    layers: Sequence[int | tuple[str, int]] | None,
    requested: Mapping[str, float],
) -> Problem:
    """Build the Problem; its constants named in `requested` are set to the exact requested values,
    which the arrays satisfy up to rounding."""
    N, d = len(o) - 1, len(c)
    full = lambda value: np.ascontiguousarray(
        np.broadcast_to(np.asarray(value, dtype=np.float64), (d,))
    )
    noise, sigmas = noise_from(noise, sigma, sigma_0, N)
    data = Separable(
        SHAPES[shape],
        float(q),
        full(a),
        full(w),
        full(m),
        full(c),
        np.ascontiguousarray(o),
        np.zeros(d),
    )
    problem = Problem(
        name,
        data,
        KERNELS,
        N,
        d,
        weights_from(weights, N),
        {},
        noise=noise,
        sigma=sigmas,
        layers=layers_from(layers, d),
        minimize=find_minimiser,
        reweigh=_change_weights,
    )
    found = separable_constants(problem)
    for key, value in requested.items():
        found[key] = Constant(float(value), how=found[key].how + "; requested, held with equality")
    return replace(problem, constants=found)
