"""T rounds of FSL with thousands of clients and steps, on quadratics in one dimension: clients of a
few kinds, moments in closed form for each round, rounds one after the other."""

from fractions import Fraction

import numpy as np

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.intervals import INF
from fedtheory.arithmetic.operations import Many, maximum, minimum, root, where
from fedtheory.exact import recursions
from fedtheory.models import beside, names
from fedtheory.models.fsl import run as enumerated
from fedtheory.models.general.run_large import count, drawn_kinds, members
from fedtheory.schema import entries, integer, list_of, row, total_of
from fedtheory.symbols.fsl import TABLE

ZERO = Fraction(0)
MOST = 100  # most rounds; each round is measured


def draw_shapes(random, relaxed):
    """Draw a shape. Sizes are texts, so that a shape with large sizes does not count as large."""
    least = 30 if random.random() < 0.3 else 1
    N = count(random, least)
    shared = "dissimilar" not in relaxed or random.random() < 0.5
    return dict(
        N=str(N),
        S=str(N if random.random() < 0.5 else random.choice([1, max(1, N // 2), max(1, N - 1)])),
        K=str(count(random, least)),
        K_0=str(count(random, 1)),
        rounds=str(count(random, 1, MOST)),
        **drawn_kinds(random, N),
        convex=int(random.random() < 0.7),
        shared=int(shared),
        server=random.choice(["mean", "alike", "own"] if shared else ["mean", "own"]),
        start=random.choice(["still", "any", "any"]),
        noise=int(random.random() < 0.5),
        noise_0=int(random.random() < 0.3),
    )


def list_coordinates(shape):
    found, kinds = {"scale": "positive", "x": "real"}, shape["kinds"]
    found.update({f"slope_{k}": "unit" for k in range(1 if shape["shared"] else kinds)})
    found.update({f"tilt_{k}": "real" for k in range(kinds)})
    if shape["server"] != "mean":
        found["tilt_server"] = "real"
    if shape["server"] == "own":
        found["slope_server"] = "unit"
    kinds = (("sigma", "noise"), ("sigma_0", "noise_0"))
    return found | {name: "positive" for name, kind in kinds if shape[kind]}


def build_instance(shape, point):
    scale, kinds = point["scale"], range(shape["kinds"])
    bend = (lambda u: scale * u) if shape["convex"] else (lambda u: scale * (2 * u - 1))
    own = [bend(point[f"slope_{k}"]) for k in (range(1) if shape["shared"] else kinds)]
    instance = dict(
        {name: int(shape[name]) for name in ("S", "K", "K_0")},
        T=int(shape["rounds"]),
        members=members(shape),
        slopes=own * shape["kinds"] if shape["shared"] else own,
        tilts=[scale * point[f"tilt_{k}"] for k in kinds],
        x=point["x"],
        sigma=point.get("sigma", ZERO),
        sigma_0=point.get("sigma_0", ZERO),
    )
    if shape["start"] == "still":  # the mean gradient of the clients is 0 at the start of the run
        slope, tilt = mean(instance, "slopes"), mean(instance, "tilts")
        instance["tilts"] = [t - slope * point["x"] - tilt for t in instance["tilts"]]
    if shape["server"] != "mean":
        slope = bend(point["slope_server"]) if shape["server"] == "own" else own[0]
        instance["server"] = [slope, scale * point["tilt_server"]]
    return instance


def mean(instance, part):
    """Return the mean over clients of their slopes or tilts. Where all are the same number, that
    number is returned unchanged."""
    values, N = instance[part], sum(instance["members"])
    if one(values):
        return values[0]
    return sum(Fraction(n, N) * value for n, value in zip(instance["members"], values))


def one(values):
    """Tell whether all numbers are the same. Batches are compared by identity with the first and
    not by value."""
    return all(a is values[0] or not isinstance(a, Many) and a == values[0] for a in values)


class Losses:
    """Slope and tilt of F, of the server's loss, and of the modified loss with a weight gamma."""

    def __init__(self, instance):
        kinds, counts = instance["members"], (instance[name] for name in ("S", "K", "K_0", "T"))
        if (
            min(kinds, default=0) < 1
            or {len(instance["slopes"]), len(instance["tilts"])} != {len(kinds)}
            or len(instance.get("server", (0, 0))) != 2
            or min(counts) < 1
            or instance["S"] > sum(kinds)
            or instance["T"] > MOST
        ):
            raise Undefined("counts that do not fit together")
        if any(not isinstance(n, Many) and n < 0 for n in (instance["sigma"], instance["sigma_0"])):
            raise Undefined("noise of a negative size")
        self.F = mean(instance, "slopes"), mean(instance, "tilts")
        self.server = tuple(instance.get("server", self.F))
        self.slopes = [*instance["slopes"], self.server[0]]
        self.shared = one(instance["slopes"])
        self.near = one([self.F[0], self.server[0]])  # whether gradients differ by a constant

    def modified_gradients(self, gamma):
        return tuple((a + gamma * b) / (1 + gamma) for a, b in zip(self.F, self.server))


def above(curve, x):
    """Return the value at x of a quadratic (slope, tilt) above its infimum; infinite where there is
    none."""
    slope, g = curve[0], curve[0] * x + curve[1]
    if isinstance(slope, Many):
        return where(slope > 0, g * g / (2 * slope), Many(np.asarray(np.nan)))
    if slope > 0:
        return g * g / (2 * slope)
    return ZERO if slope == 0 == g else INF


def derive_constants(instance):
    seen, N = Losses(instance), sum(instance["members"])
    share = [Fraction(n, N) for n in instance["members"]]
    tilts = list(zip(share, instance["tilts"]))
    spread = sum(
        (v * w * (a - b) * (a - b) for k, (v, a) in enumerate(tilts) for w, b in tilts[:k]), ZERO
    )
    return dict(
        {name: Fraction(instance[name]) for name in ("S", "K", "K_0", "T")},
        N=Fraction(N),
        L=maximum(*(abs(a) for a in seen.slopes)),
        mu=minimum(*seen.slopes),
        G=root(spread) if seen.shared else INF,
        xi_bar=abs(seen.F[1] - seen.server[1]) if seen.near else INF,
        sigma=instance["sigma"],
        sigma_0=instance["sigma_0"],
    )


def round_of(instance, values):
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


def measure_symbols(instance, values, wanted):
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


def conditions_held(instance):
    seen = Losses(instance)
    bounded = all(slope > 0 or slope == 0 == tilt for slope, tilt in (seen.F, seen.server))
    broken = {
        name
        for name, kept in dict(
            dissimilar=seen.shared,
            server_dissimilar=seen.near,
            convex=min(seen.slopes) >= 0,
            bounded_below=bounded,
        ).items()
        if not kept
    }
    return enumerated.SETTING.ensures - broken


SETTING = enumerated.SETTING._replace(
    name="fsl_large_run",
    says="T rounds of FSL with many clients and steps, on quadratics in one dimension",
    measures=names(TABLE, *enumerated.MEASURED),
    by=beside("fsl", "moments over kinds of clients, for thousands of clients and steps"),
    shapes=draw_shapes,
    affords=lambda shape: int(shape["rounds"]) <= MOST,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    kind="exact",
    schema=entries(
        dict(
            S=integer(1, total_of("members")),
            K=integer(),
            K_0=integer(),
            T=integer(1, MOST),
            members=list_of(integer(), "kinds"),
            slopes=list_of("number", "kinds"),
            tilts=list_of("number", "kinds"),
            x="number",
            sigma="nonnegative",
            sigma_0="nonnegative",
        ),
        dict(server=row("number", "number")),
    ),
)
