"""Smooth non-convex problems with exact L, infimum, weak convexity, G and xi_bar (assumptions 1-3
of FSL).

Separable (see _separable.py): clients share the non-convex h and differ by tilts. Every coordinate
has its own curvature in [L / 5, L]; rotations add nothing, since the methods of norms here do not
see axes.
"""

from collections.abc import Sequence

from fedtheory import rng
from fedtheory.errors import Impossible, refuse
from fedtheory.problem import Problem, weights_from
from fedtheory.problems._separable import build_separable, check_request, draw_tilts, infimum

__all__ = ["nonconvex", "infimum"]


def _curvature_limits(
    shape: str, L: float, growth: float | None, weak_convexity: float | None
) -> tuple[float, float]:
    """Return growth m and weak convexity ell of the steepest coordinate, whose curvatures fill
    [-ell, L]."""
    if shape == "rational":  # curvatures of m x^2 / 2 + a psi: m + a = L and m - a / 4 = -ell
        if growth is not None and weak_convexity is not None:
            refuse(
                "weak_convexity",
                "is (L - 5 growth) / 4 in the rational shape: give one of the two",
                (growth, weak_convexity),
            )
        if weak_convexity is not None:
            growth = (L - 4 * weak_convexity) / 5
            if growth < -1e-15 * L:
                raise Impossible(
                    "weak_convexity must be <= L / 4 in the rational shape (shape='wave' reaches L); got "
                    f"weak_convexity={weak_convexity}, L={L}"
                )
            growth = max(growth, 0.0)
        growth = L / 10 if growth is None else growth
        ell = (L - 5 * growth) / 4
        if ell <= 0:
            raise Impossible(
                f"growth must be < L / 5, or the problem is convex; got growth={growth}, L={L}"
            )
        return growth, ell
    growth = L / 10 if growth is None else growth
    ell = L if weak_convexity is None else weak_convexity
    if growth >= L:
        raise Impossible(f"growth must be < L, the largest curvature; got growth={growth}, L={L}")
    if not 0 < ell <= L:
        raise Impossible(
            "weak_convexity must be in (0, L], or the problem is convex or not L-smooth; got "
            f"weak_convexity={ell}, L={L}"
        )
    return growth, ell


def nonconvex(
    d: int,
    clients: float,
    L: float,
    G: float = 0.0,
    xi_bar: float = 0.0,
    sigma: float = 0.0,
    sigma_0: float = 0.0,
    shape: str = "rational",
    growth: float | None = None,
    weak_convexity: float | None = None,
    width: float = 1.0,
    layers: Sequence[int] | None = None,
    weights: Sequence[float] | None = None,
    seed: int = 0,
    noise: str = "gaussian",
) -> Problem:
    """Build a smooth non-convex problem: its curvatures range from -weak_convexity to L, both
    attained, and its infimum is 0.

    `shape`: "rational", m x^2 / 2 + a x^2 / (1 + x^2) / 2, whose weak convexity is (L - 5 m) / 4
    and which for m > 0 meets the Polyak-Lojasiewicz inequality (constant "PL"); or "wave", a
    derivative that rises with slope L and falls with slope -weak_convexity (L by default), with
    local minima without end. `growth` is m, L / 10 by default: with m > 0 every f_i is bounded
    below, with m = 0 only F is. `width` is the radius of the convex core. `infimum(problem, gamma)`
    is that of FSL's (F + gamma f_0) / (1 + gamma).

    >>> import fedtheory as ft
    >>> problem = ft.problems.nonconvex(d=2, clients=3, L=1.0)
    >>> problem.constants["L"].value
    1.0
    """
    optional = {
        name: value
        for name, value in dict(growth=growth, weak_convexity=weak_convexity).items()
        if value is not None
    }
    check_request(d, clients, L=L, G=G, xi_bar=xi_bar, width=width, **optional)
    for name, value in dict(L=L, width=width).items():
        if value == 0:
            refuse(name, "must be > 0", value)
    if shape not in ("rational", "wave"):
        refuse("shape", "must be rational or wave", shape)
    growth, ell = _curvature_limits(shape, L, growth, weak_convexity)
    p = weights_from(weights, clients)
    generator = rng.host_generator(seed, "nonconvex")
    scale = generator.uniform(0.2, 1.0, d)
    scale[0] = 1.0
    o = draw_tilts(generator, clients, d, p, G, xi_bar)
    fall = (ell + growth) / (L - growth) if shape == "wave" else 1.0  # a fall = growth + ell
    return build_separable(
        "nonconvex",
        shape,
        fall,
        (L - growth) * scale,
        width,
        growth * scale,
        generator.standard_normal(d),
        o,
        p[1:],
        sigma,
        sigma_0,
        noise,
        layers,
        dict(L=L, weak_convexity=ell, G=G, xi_bar=xi_bar),
    )


MAKERS = (nonconvex,)


def examples() -> dict[str, Problem]:
    return dict(
        rational=nonconvex(
            3, 4, L=2.0, G=0.6, xi_bar=0.3, sigma=0.2, sigma_0=0.1, seed=1, layers=[1, 2]
        ),
        wave=nonconvex(
            4,
            3,
            L=2.0,
            G=0.5,
            xi_bar=0.2,
            sigma=0.2,
            shape="wave",
            weights=[1.0, 2.0, 1.0],
            seed=2,
            noise="rademacher",
        ),
        bounded=nonconvex(2, 2, L=1.0, G=0.2, growth=0.0, sigma=0.1, seed=3, noise="sphere"),
        one=nonconvex(1, 1, L=1.0),
    )
