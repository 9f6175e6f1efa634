"""One round of flex with given noise and given work, on quadratics: both lines of (2)."""

from fractions import Fraction

from fedtheory import discover
from fedtheory.arithmetic.operations import vector
from fedtheory.exact.traces import Losses
from fedtheory.exact.typical_path import Round, record_path
from fedtheory.models import Setting, beside, names
from fedtheory.models.families import POINT
from fedtheory.models.flex import quadratics
from fedtheory.participation import moments
from fedtheory.schema import entries, integer, list_of, word
from fedtheory.symbols.flex import TABLE

ENSURES = frozenset(
    {"devices_smooth", "devices_strongly_convex", "all_active", "some_complete", "full_work"}
)


def draw_shapes(scheme):
    def draw(random, relaxed):
        N, E = random.choice([1, 1, 2, 3]), random.choice([1, 2, 3])
        lowest = E if "full_work" not in relaxed else 1 if "all_active" not in relaxed else 0
        s = [random.randint(lowest, E) for _ in range(N)]
        if scheme == "A" or "some_complete" not in relaxed:
            s[0] = E
        return dict(N=N, E=E, s="".join(map(str, s)), d=random.choice([1, 1, 2]))

    return draw


def list_coordinates(shape):
    """Return the coordinates of a shape: a curvature for each device and coordinate, and the noise
    of each gradient, with one gradient more than is applied."""
    N, d = shape["N"], range(shape["d"])
    found = {f"x_{j}": "real" for j in d}
    for k, s in enumerate(shape["s"]):
        found.update({f"a_{k}_{j}": "positive" for j in d})
        found.update({f"tilt_{k}_{i}_{j}": "real" for i in range(int(s) + 1) for j in d})
        if N > 1:
            found[f"weight_{k}"] = "positive"
    return found


def build_instance(scheme):
    def instance(shape, point):
        d, devices = range(shape["d"]), range(shape["N"])
        return dict(
            scheme=scheme,
            E=shape["E"],
            s=[int(s) for s in shape["s"]],
            x=[point[f"x_{j}"] for j in d],
            a=[[point[f"a_{k}_{j}"] for j in d] for k in devices],
            tilt=[
                [[point[f"tilt_{k}_{i}_{j}"] for j in d] for i in range(int(s) + 1)]
                for k, s in enumerate(shape["s"])
            ],
            p=quadratics.shares([point.get(f"weight_{k}", quadratics.ONE) for k in devices]),
        )

    return instance


def derive_constants(instance):
    return dict(
        E=Fraction(instance["E"]),
        N=Fraction(len(instance["s"])),
        L=quadratics.maximum(*(a for row in instance["a"] for a in row)),
        mu=quadratics.minimum(*(a for row in instance["a"] for a in row)),
    )


def measure_symbols(instance, values, wanted):
    p_tau = moments.coefficients(instance["scheme"], instance["p"], instance["s"], instance["E"])
    grad = lambda k, i, w: vector(instance["a"][k]) * w + vector(instance["tilt"][k][i])
    found = moments.two_lines(grad, vector(instance["x"]), p_tau, instance["s"], values["eta"])
    record_path(instance["x"], [as_round(instance, values["eta"])])
    if "sq_gap_rate" in wanted:
        found["sq_gap_rate"] = of_rates(grad, instance, p_tau, values["eta"])
    return {name: found[name] for name in wanted}


def as_round(instance, eta):
    """Build the round as its method runs it: losses a w^2 / 2, with tilts that are noise."""
    scheme, s = instance["scheme"].lower(), tuple(instance["s"])
    losses = Losses(
        lambda i, w: vector(instance["a"][i - 1]) * w,
        lambda i, k: [(Fraction(1), vector(instance["tilt"][i - 1][k]))],
        (Fraction(0), *instance["p"]),
        len(instance["x"]),
    )
    law = [(Fraction(1), tuple(range(1, len(s) + 1)), s)]
    return Round(discover.algorithm(f"flex_{scheme}"), losses, dict(eta=eta, E=instance["E"]), law)


def of_rates(grad, instance, p_tau, eta):
    """Return the squared distance between two readings: scaling what each device sends by c / p,
    and scaling the learning rate of that device's steps by c / p."""
    x, gap = vector(instance["x"]), vector(instance["x"]) * 0
    for k, (c, p, steps) in enumerate(zip(p_tau, instance["p"], instance["s"])):
        w = faster = x
        for i in range(steps):
            w = w - eta * grad(k, i, w)
            faster = faster - eta * (c / p) * grad(k, i, faster)
        gap = gap + c * (w - x) - p * (faster - x)
    return gap.dot(gap)


def conditions_held(instance):
    s, E, d = instance["s"], instance["E"], len(instance["x"])
    N = len(s)
    if not (
        all(len(instance[name]) == N for name in ("a", "tilt", "p"))
        and all(0 <= steps <= E for steps in s)
        and all(len(row) == d and all(a > 0 for a in row) for row in instance["a"])
        and all(
            len(rows) == steps + 1 and all(len(row) == d for row in rows)
            for rows, steps in zip(instance["tilt"], s)
        )
        and sum(instance["p"]) == 1
        and all(p > 0 for p in instance["p"])
    ):
        return frozenset()
    return ENSURES - {
        name
        for name, fails in (
            ("all_active", 0 in s),
            ("some_complete", E not in s),
            ("full_work", set(s) != {E}),
        )
        if fails
    }


def setting(scheme):
    return Setting(
        name=f"flex_round_{scheme.lower()}",
        says=f"one round of scheme {scheme} with any noise and work",
        measures=names(TABLE, "sq_gap_eq2", "sq_gap_printed", "sq_extra", "sq_gap_rate"),
        algorithms=(f"flex_{scheme.lower()}",),
        by=beside(f"flex_{scheme.lower()}", "both lines of (2) as they stand"),
        gives=("E", "N"),
        loose=dict(L=1, mu=-1),
        takes=("eta",),
        shapes=draw_shapes(scheme),
        coordinates=list_coordinates,
        build=build_instance(scheme),
        constants=quadratics.check_instance(derive_constants, conditions_held),
        measure=measure_symbols,
        table=TABLE,
        ensures=ENSURES,
        holds=conditions_held,
        kind="exact",
        schema=entries(
            dict(
                scheme=word(scheme),
                E=integer(),
                s=list_of(integer(0, "E"), "N"),
                x=POINT,
                a=list_of(list_of("positive", "d"), "N"),
                tilt=list_of(list_of(POINT, ["item", "s", 1]), "N"),
                p=list_of("positive", "N", total=None),
            )
        ),
    )


SETTINGS = [setting(scheme) for scheme in moments.SCHEMES]
