"""Problems of bounded gradient, on which FED-LAMB's assumptions H1, H2 and H3 hold on all of R^d.

Separable (see _separable.py). H1 names L_l per layer: constants "L/<layer>". H2 bounds the
stochastic gradient itself, so noise has bounded support (sphere or rademacher) and "M" is the
supremum over clients, points and noise ("M_0": the server's). H3 is per coordinate:
"sigma_coordinate".

`huber` is the adversary's: parabolas of curvature L right and `left` left of the centre, straight
from `width` on if that is finite. Piecewise quadratic, so exact in rationals; not symmetric, so
that even identical clients drift under noise.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.errors import Impossible, refuse
from fedtheory.problem import Layer, Problem, layers_from, noise_from, weights_from
from fedtheory.problems._separable import (
    SHAPES,
    build_separable,
    check_request,
    draw_tilts,
    infimum,
    slope_range,
)

__all__ = ["bounded", "huber", "infimum"]


def _per_layer(L: float | Sequence[float], layers: Sequence[Layer]) -> np.ndarray:
    """Return the layer constants L_l at each coordinate, (d,); a single number L serves every
    layer."""
    values = arguments.check_array(
        "L", L, f"must be a finite number > 0, or one for each of {len(layers)} layers"
    )
    if (
        values.shape not in ((), (len(layers),))
        or not np.all(np.isfinite(values))
        or np.any(values <= 0)
    ):
        refuse("L", f"must be a finite number > 0, or one for each of {len(layers)} layers", L)
    return np.repeat(
        np.broadcast_to(values, (len(layers),)), [layer.stop - layer.start for layer in layers]
    )


def _width_for_bound(
    a: np.ndarray, o: np.ndarray, sigmas: np.ndarray, noise: str, steepest: float, M: float
) -> float:
    """Return the width at which the largest stochastic gradient of a client has norm M, found by a
    quadratic equation."""
    d = a.size
    widths = []
    for i in range(1, len(o)):
        # sum_j (steepest a_j w + |o_ij| + r)^2 = (M - s)^2, noise adding r to each coordinate or s
        # to the norm
        r, s = (sigmas[i] / np.sqrt(d), 0.0) if noise == "rademacher" else (0.0, sigmas[i])
        side, rise = abs(o[i]) + r, steepest * a
        room = (M - s) ** 2 - side @ side
        if M <= s or room <= 0:
            raise Impossible(
                "M must exceed the norm that tilts and noise alone reach, or nothing is left to minimise; "
                f"got M={M}, and client {i} reaches {np.linalg.norm(side) + s:.6g} by G and sigma"
            )
        cross = rise @ side
        widths.append(room / (cross + np.sqrt(cross * cross + (rise @ rise) * room)))
    return min(widths)


def bounded(
    d: int,
    clients: int,
    L: float | Sequence[float],
    M: float,
    G: float = 0.0,
    xi_bar: float = 0.0,
    sigma: float | Sequence[float] = 0.0,
    sigma_0: float = 0.0,
    shape: str = "pseudo_huber",
    layers: Sequence[int | tuple[str, int]] | None = None,
    weights: Any = None,
    seed: int = 0,
    noise: str = "sphere",
) -> Problem:
    """Build a problem in which every client's stochastic gradient has norm at most M, surely and
    everywhere; the infimum is 0.

    `shape` of a coordinate, up to scale: "pseudo_huber", sqrt(1 + x^2) - 1, convex; "huber", the
    same with corners; "rational", x^2 / (1 + x^2), and "wave", both non-convex. `layers` are named
    sizes, L one number or one per layer: L_l is attained in layer l. The width follows from M.

    Raises Impossible where tilts (G) and noise (sigma) alone exceed M, and InvalidInput for noise
    without a bound.

    >>> import fedtheory as ft
    >>> problem = ft.problems.bounded(d=2, clients=3, L=1.0, M=0.5)
    >>> problem.constants["M"].value, problem.constants["M"].scope
    (0.5, 'global')
    """
    check_request(d, clients, M=M, G=G, xi_bar=xi_bar)
    if shape not in ("pseudo_huber", "huber", "rational", "wave"):
        refuse("shape", "must be pseudo_huber, huber, rational or wave", shape)
    if noise not in ("sphere", "rademacher"):
        refuse(
            "noise",
            "must be sphere or rademacher, for no other additive noise is bounded (H2)",
            noise,
        )
    named = layers_from(layers, d)
    tops = _per_layer(L, named)
    p = weights_from(weights, clients)
    noise, sigmas = noise_from(noise, sigma, sigma_0, clients)
    generator = rng.host_generator(seed, "bounded")
    a = tops * generator.uniform(0.2, 1.0, d)
    for layer in named:
        a[layer.start] = tops[layer.start]
    o = draw_tilts(generator, clients, d, p, G, xi_bar)
    width = _width_for_bound(a, o, sigmas, noise, slope_range(SHAPES[shape], 1.0)[1], M)
    requested = {f"L/{layer.name}": tops[layer.start] for layer in named}
    return build_separable(
        "bounded",
        shape,
        1.0,
        a,
        width,
        0.0,
        generator.standard_normal(d),
        o,
        p[1:],
        sigma,
        sigma_0,
        noise,
        layers,
        dict(requested, L=tops.max(), M=M, G=G, xi_bar=xi_bar),
    )


def huber(
    d: int,
    clients: int,
    L: float,
    left: float = 0.0,
    width: float = float("inf"),
    G: float = 0.0,
    xi_bar: float = 0.0,
    sigma: float = 0.0,
    sigma_0: float = 0.0,
    layers: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    seed: int = 0,
    noise: str = "gaussian",
) -> Problem:
    """Build one-sided quadratics: in every coordinate, the curvature is L right of the centre and
    `left` left of the centre.

    left = 0 is half the squared hinge, left = L an ordinary square or Huber's loss. A finite
    `width` makes the tails straight, so gradients bounded and mu = 0; without it mu = left.

    >>> import fedtheory as ft
    >>> problem = ft.problems.huber(d=2, clients=3, L=1.0)
    >>> problem.constants["L"].value
    1.0
    """
    check_request(d, clients, L=L, left=left, G=G, xi_bar=xi_bar)
    if L == 0:
        refuse("L", "must be > 0", L)
    if left > L:
        raise Impossible(f"left must be <= L, the largest curvature; got left={left}, L={L}")
    wide = arguments.check_array("width", width, "must be > 0 (inf: no straight tails)")
    if wide.ndim or not wide > 0:
        refuse("width", "must be > 0 (inf: no straight tails)", width)
    p = weights_from(weights, clients)
    generator = rng.host_generator(seed, "huber")
    o = draw_tilts(generator, clients, d, p, G, xi_bar)
    shape, w = ("huber", width) if np.isfinite(width) else ("sided", 1.0)
    return build_separable(
        "huber",
        shape,
        left / L,
        L,
        w,
        0.0,
        generator.standard_normal(d),
        o,
        p[1:],
        sigma,
        sigma_0,
        noise,
        layers,
        dict(L=L, mu=0.0 if shape == "huber" else left, G=G, xi_bar=xi_bar),
    )


MAKERS = (bounded, huber)


def examples() -> dict[str, Problem]:
    return dict(
        layered=bounded(
            4,
            3,
            L=[2.0, 0.5],
            M=3.0,
            G=0.4,
            xi_bar=0.2,
            sigma=0.3,
            sigma_0=0.1,
            layers=[("fc/W", 3), ("fc/b", 1)],
            seed=1,
        ),
        nonconvex=bounded(
            3,
            2,
            L=1.0,
            M=1.5,
            G=0.2,
            sigma=0.2,
            shape="rational",
            layers=[1, 2],
            noise="rademacher",
            seed=2,
        ),
        hinge=huber(2, 3, L=1.0, G=0.3, sigma=0.2, seed=3),
        sided=huber(
            2, 2, L=2.0, left=0.5, G=0.3, xi_bar=0.1, sigma=0.2, seed=4, weights=[1.0, 3.0]
        ),
        huber=huber(
            3,
            2,
            L=1.5,
            left=1.5,
            width=0.5,
            G=0.1,
            sigma=0.2,
            noise="sphere",
            layers=[2, 1],
            seed=5,
        ),
    )
