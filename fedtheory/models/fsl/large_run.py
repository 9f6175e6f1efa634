"""T rounds of FSL with thousands of clients and steps, on quadratics in one dimension: clients of
a few kinds, moments in closed form for each round, rounds one after the other.

Client k has the loss slope_k x^2 / 2 + tilt_k x, the server a loss of the same form. Noise enters
by its variance alone. Measured are the quantities of `fsl.run`, for runs of up to 100 rounds, which
enumeration cannot reach: error terms that grow with K, N or T show here.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, maximum, minimum, root, where
from fedtheory.arithmetic.work import Counted
from fedtheory.exact import recursions
from fedtheory.models import beside
from fedtheory.models.families import scale_curvature
from fedtheory.models.fields import (
    ZERO,
    Field,
    Fields,
    coordinate,
    count,
    deviation,
    name_true,
    number,
)
from fedtheory.models.fsl import run as enumerated
from fedtheory.models.kinds import COHORT, Kinds, draw_count, draw_kinds, is_shared, members_field
from fedtheory.schema import list_of, row
from fedtheory.typing import Assignment, Instance, Number, Shape

MOST = 100  # most rounds; each round is measured


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw a shape. Sizes are texts, so that a shape with large sizes does not count as large."""
    least = 30 if random.random() < 0.3 else 1
    N = draw_count(random, least)
    shared = "dissimilar" not in relaxed or random.random() < 0.5
    return dict(
        N=str(N),
        S=str(N if random.random() < 0.5 else random.choice([1, max(1, N // 2), max(1, N - 1)])),
        K=str(draw_count(random, least)),
        K_0=str(draw_count(random, 1)),
        rounds=str(draw_count(random, 1, MOST)),
        **draw_kinds(random, N),
        convex=int(random.random() < 0.7),
        shared=int(shared),
        server=random.choice(["mean", "alike", "own"] if shared else ["mean", "own"]),
        start=random.choice(["still", "any", "any"]),
        noise=int(random.random() < 0.5),
        noise_0=int(random.random() < 0.3),
    )


def build_slopes(shape: Shape, point: Any, built: Any) -> Any:
    """Return the curvature of each kind; a shared curvature makes the dissimilarity bounded over
    R."""
    bend, kinds = scale_curvature(shape, point), shape["kinds"]
    own = [bend(point[f"slope_{k}"]) for k in range(1 if shape["shared"] else kinds)]
    return own * kinds if shape["shared"] else own


def list_slopes(shape: Shape) -> Any:
    """Return the coordinates of the curvatures: one if the kinds share it, else one for each
    kind."""
    return {f"slope_{k}": "unit" for k in range(1 if shape["shared"] else shape["kinds"])}


def list_tilts(shape: Shape) -> Any:
    """Return the coordinates of the tilts, one for each kind of clients."""
    return {f"tilt_{k}": "real" for k in range(shape["kinds"])}


def build_tilts(shape: Shape, point: Any, built: Any) -> Any:
    """Return the tilts of the kinds; where the run starts still, the mean gradient of the clients
    is 0 at the start."""
    tilts = [point["scale"] * point[name] for name in list_tilts(shape)]
    if shape["start"] != "still":
        return tilts
    kinds = Kinds(built["members"])
    slope, tilt = shared_mean(kinds, built["slopes"]), shared_mean(kinds, tilts)
    return [t - slope * point["x"] - tilt for t in tilts]


def build_server(shape: Shape, point: Any, built: Any) -> Any:
    """Return [slope, tilt] of the server's own loss; its slope is the first kind's unless it has
    its own."""
    own = shape["server"] == "own"
    bend = scale_curvature(shape, point)
    slope = bend(point["slope_server"]) if own else built["slopes"][0]
    return [slope, point["scale"] * point["tilt_server"]]


def list_server(shape: Shape) -> Any:
    """Return the coordinates of the server's loss: a tilt, and a slope where the slope is its
    own."""
    return {"tilt_server": "real"} | ({"slope_server": "unit"} if shape["server"] == "own" else {})


NUMBERS = list_of("number", "kinds")
FIELDS = Fields(
    count("S")._replace(schema=COHORT),
    count("K"),
    count("K_0"),
    count("T", most=MOST, of="rounds"),
    members_field(),
    coordinate("scale", "positive"),
    Field("slopes", NUMBERS, build_slopes, list_slopes),
    Field("tilts", NUMBERS, build_tilts, list_tilts),
    number("x"),
    deviation("sigma", "noise"),
    deviation("sigma_0", "noise_0"),
    Field(
        "server",
        row("number", "number"),
        build_server,
        list_server,
        lambda shape: shape["server"] != "mean",
    ),
    order="scale x slopes tilts server",
)


def shared_mean(kinds: Any, values: dict[str, Any]) -> Any:
    """Return the mean over clients of numbers by kind. Where all are the same number, that number
    is returned unchanged."""
    return values[0] if is_shared(values) else kinds.mean(values)


class Losses:
    """Slope and tilt of F, of the server's loss, and of the modified loss with a weight gamma."""

    def __init__(self, instance: Instance) -> None:
        kinds = Kinds(instance["members"])
        self.F = tuple(shared_mean(kinds, instance[part]) for part in ("slopes", "tilts"))
        self.server = tuple(instance.get("server", self.F))
        self.slopes = [*instance["slopes"], self.server[0]]
        self.shared = is_shared(instance["slopes"])
        self.near = is_shared([self.F[0], self.server[0]])  # gradients differ by a constant

    def modified_gradients(self, gamma: Number | Counted) -> tuple[Number | Counted, ...]:
        """Return (slope, tilt) of the modified loss (F + gamma f_0) / (1 + gamma)."""
        return tuple((a + gamma * b) / (1 + gamma) for a, b in zip(self.F, self.server))


def above(curve: Sequence[Fraction | Counted], x: Fraction | Counted) -> Number | Counted:
    """Return the value at x of a quadratic (slope, tilt) above its infimum; infinite where there is
    none."""
    slope, g = curve[0], curve[0] * x + curve[1]
    if isinstance(slope, Many):
        return where(slope > 0, g * g / (2 * slope), Many(np.asarray(np.nan)))
    if slope > 0:
        return g * g / (2 * slope)
    return ZERO if slope == 0 == g else INF


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return S, K, K_0, T, N and the exact L, mu, G, xi_bar, sigma and sigma_0.

    G is finite where all kinds share a curvature, xi_bar where F and f_0 do.
    """
    seen, kinds = Losses(instance), Kinds(instance["members"])
    pairs = kinds.pairs(instance["tilts"])
    spread = sum((share * (a - b) * (a - b) for share, a, b in pairs), ZERO)
    return dict(
        {name: Fraction(instance[name]) for name in ("S", "K", "K_0", "T")},
        N=Fraction(kinds.N),
        L=maximum(*(abs(a) for a in seen.slopes)),
        mu=minimum(*seen.slopes),
        G=root(spread) if seen.shared else INF,
        xi_bar=abs(seen.F[1] - seen.server[1]) if seen.near else INF,
        sigma=instance["sigma"],
        sigma_0=instance["sigma_0"],
    )


def round_of(instance: Instance, values: Assignment) -> recursions.Step:
    """Return the Step that maps the mean and spread of x over one round."""
    seen, eta, step_0 = Losses(instance), values["eta_l"], values["gamma"] * values["eta_0"]
    clients = recursions.cohort_step(
        instance["members"],
        instance["slopes"],
        instance["tilts"],
        instance["sigma"] * instance["sigma"],
        instance["S"],
        [recursions.quadratic_steps(a, eta, instance["K"]) for a in instance["slopes"]],
        values["eta_g"],
        seen.F[1],
    )
    (slope, tilt), n = seen.server, instance["K_0"]
    walk = recursions.quadratic_steps(slope, step_0, n)
    keep = recursions.kept_share(Fraction(1), slope * walk.pull, walk.keep)
    noise = walk.noise * instance["sigma_0"] * instance["sigma_0"]
    server = recursions.Step(
        keep, -walk.pull * tilt, recursions.Spread(keep * keep, ZERO, ZERO, noise)
    )
    return clients.then(server)


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return expected losses and squared gradients of a run, by the moments of each round.

    For a quadratic (a, c) and a point of mean m and variance v, the squared gradient is (a m + c)^2
    + a^2 v, and the loss a (m^2 + v) / 2 + c m. Raises Undefined where the modified loss has no
    infimum.
    """
    seen, x = Losses(instance), instance["x"]
    modified = seen.modified_gradients(values["gamma"])
    square = lambda curve, m, v: (curve[0] * m + curve[1]) ** 2 + curve[0] * curve[0] * v
    value = lambda curve, m, v: curve[0] * (m * m + v) / 2 + curve[1] * m
    found = dict(
        tilde_D_0=lambda: above(modified, x),
        tilde_F_0=lambda: value(modified, x, ZERO),
        tilde_F_T=lambda: value(modified, *path[-1]),
        sq_tilde_grad=lambda: square(modified, x, ZERO),
        sq_grad=lambda: square(seen.F, x, ZERO),
    )
    if {"tilde_F_T", *enumerated.BY_ROUND} & set(wanted):
        step = round_of(instance, values).known()
        path = list(recursions.follow_points(step, x, ZERO, instance["T"]))
    losses = dict(modified=modified, original=seen.F)
    for name, (of, over) in enumerated.read_rounds(wanted):
        found[name] = lambda of=of, over=over: over([square(losses[of], *at) for at in path[:-1]])
    found = {name: found[name]() for name in wanted}
    if any(isinstance(value, float) for value in found.values()):
        raise Undefined("an infimum that is not there")
    return found


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    """Return the conditions that the curvatures and tilts of the kinds and of the server meet."""
    seen = Losses(instance)
    return enumerated.MODEL.ensures - name_true(
        dissimilar=not seen.shared,
        server_dissimilar=not seen.near,
        convex=min(seen.slopes) < 0,
        bounded_below=not all(
            slope > 0 or slope == 0 == tilt for slope, tilt in (seen.F, seen.server)
        ),
    )


MODEL = enumerated.MODEL._replace(
    name="fsl_large_run",
    says="T rounds of FSL with many clients and steps, on quadratics in one dimension",
    by=beside("fsl", "moments over kinds of clients, for thousands of clients and steps"),
    shapes=draw_shapes,
    affords=lambda shape: int(shape["rounds"]) <= MOST,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    kind="exact",
    **FIELDS.record(),
)
