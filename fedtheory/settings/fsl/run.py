"""T rounds of FSL on losses known exactly: moments where all are quadratics, every way it can go
otherwise."""

from fractions import Fraction

from fedtheory.enclosure.arithmetic import minimum, vector
from fedtheory.settings import Setting, beside, losses, names
from fedtheory.settings.families import draw_family, family_coordinates
from fedtheory.settings.fsl import round as fsl_round
from fedtheory.settings.fsl.moments import by_paths, quadratic_gradients
from fedtheory.settings.quantities import sq
from fedtheory.symbols.fsl import TABLE

MEASURED = ("tilde_D_0", "E_T", "best_sq_grad", "sq_tilde_grad", "sq_grad")
MOST = 64  # ways that a run on other losses than quadratics may go
LONG = 40  # local steps over all rounds: exact numbers grow with each


def shapes(random, relaxed):
    """Shapes; how many rounds is a text, so that a long run of small rounds counts as small."""
    while True:
        quadratic = random.random() < 0.7
        N = random.choice([1, 1, 2, 2, 3, 4])
        noisy = [random.random() < (0.5 if quadratic else 0.2) for _ in range(2)]
        T = random.choice([1, 2, 5, 10, 20, 40] if quadratic else [1, 2, 3, 5, 10])
        shape = dict(
            N=N,
            S=random.choice([N, random.randint(1, N)]),
            K=random.choice([1, 1, 2, 3, 5, 10]),
            K_0=random.choice([1, 1, 2, 3, 5, 10]),
            rounds=str(T),
            noise=random.choice(["even", "skewed"]) if noisy[0] else "none",
            noise_0=random.choice(["even", "skewed"]) if noisy[1] else "none",
            **draw_family(random, random.random() < 0.8, "dissimilar" not in relaxed, soft=False),
        )
        if quadratic:
            shape.update(pieces=1, own="slopes" if shape["own"] == "slopes" else "tilt")
        if random.random() < 0.4:
            shape["xi_bar"] = 0  # f_0 is the mean of the clients' losses
        if T * max(shape["K"], shape["K_0"]) <= LONG and (
            shape["pieces"] == 1 or fsl_round.ways(shape) ** (T - 1) <= MOST
        ):
            return shape


def coordinates(shape):
    alike = "xi_bar" in shape
    found = family_coordinates(shape, shape["N"] + 1)
    if alike:
        found = {
            name: kind for name, kind in found.items() if not name.startswith(("tilt_0_", "own_0_"))
        }
    found.update({f"x_{j}": "real" for j in range(shape["d"])})
    found.update(
        {
            name: "positive"
            for name, kind in (("sigma", "noise"), ("sigma_0", "noise_0"))
            if shape[kind] != "none"
        }
    )
    return found


def build(shape, point):
    filled = {**{name: Fraction(0) for name in family_coordinates(shape, 1)}, **point}
    instance = dict(
        fsl_round.build(dict(shape, breaks="none", start="any"), filled), T=int(shape["rounds"])
    )
    if "xi_bar" in shape:
        instance["losses"][0] = "mean"
    return instance


def curves(instance):
    """f_0, ..., f_N: the server's loss may be given as the clients' mean."""
    server, *clients = instance["losses"]
    if server == "mean":
        server = [mean_curve(f) for f in zip(*clients)]
    return [server, *clients]


def mean_curve(fs):
    share = Fraction(1, len(fs))
    return losses.curve(
        sum(f["slope"] for f in fs) * share,
        sum(f["tilt"] for f in fs) * share,
        [(delta * share, at) for f in fs for delta, at in f["bends"]],
    )


def constants(instance):
    found = dict(
        fsl_round.constants(dict(instance, losses=curves(instance))), T=Fraction(instance["T"])
    )
    if instance["losses"][0] == "mean":
        found["xi_bar"] = Fraction(0)
    return found


def measure(instance, values, wanted):
    f, gamma, N, T = curves(instance), values["gamma"], instance["N"], instance["T"]
    x, case = vector(instance["x"]), fsl_round.case(dict(instance, losses=f), values)
    share = Fraction(1, N)
    original = [Fraction(0)] + [share] * N
    modified = [gamma / (1 + gamma)] + [share / (1 + gamma)] * N
    grad = lambda weights: lambda y: sum(w * losses.grad(one, y) for w, one in zip(weights, f))
    found = {}
    if "tilde_D_0" in wanted:
        found["tilde_D_0"] = sum(
            w * losses.value(one, x) for w, one in zip(modified, f)
        ) - losses.infimum(f, modified)
    if "sq_tilde_grad" in wanted or "sq_grad" in wanted:
        found.update(sq_tilde_grad=sq(grad(modified)(x)), sq_grad=sq(grad(original)(x)))
    both = [
        (name, weights)
        for name, weights in (("E_T", modified), ("best_sq_grad", original))
        if name in wanted
    ]
    if both:
        named = [weights for _, weights in both]
        if all(not curve["bends"] and not curve.get("soft") for one in f for curve in one):
            spread = [
                [
                    sum((p * v[j] * v[j] for p, v in instance[kind]), Fraction(0))
                    for j in range(len(x))
                ]
                for kind in ("noise_0", "noise")
            ]
            by_round = quadratic_gradients(
                case,
                [[(one[j]["slope"], one[j]["tilt"]) for one in f] for j in range(len(x))],
                spread,
                x,
                T,
                named,
            )
        else:
            by_round = by_paths(
                case, x, T, [lambda y, weights=weights: sq(grad(weights)(y)) for weights in named]
            )
        found.update(
            {
                name: minimum(*column) if T > 1 else column[0]
                for (name, _), column in zip(both, zip(*by_round))
            }
        )
    return {name: found[name] for name in wanted}


def holds(instance):
    f = curves(instance)
    found = fsl_round.holds(dict(instance, losses=f)) if instance["T"] >= 1 else frozenset()
    # F and f_0 bounded below, so that the modified loss is at every gamma
    bounded = not any(
        isinstance(losses.infimum(part, [Fraction(1)] * len(part)), float)
        for part in (f[1:], f[:1])
    )
    return found | ({"bounded_below"} if found and bounded else set())


SETTING = Setting(
    name="fsl_run",
    says="T rounds of FSL",
    measures=names(TABLE, *MEASURED),
    algorithms=("fsl",),
    by=beside("fsl", "moments of quadratics, for speed; elsewhere the kernels themselves"),
    gives=("N", "S", "K", "K_0", "T"),
    loose=dict(L=1, G=1, xi_bar=1, sigma=1, sigma_0=1, mu=-1),
    takes=("eta_l", "eta_g", "eta_0", "gamma"),
    shapes=shapes,
    coordinates=coordinates,
    build=build,
    constants=constants,
    measure=measure,
    table=TABLE,
    ensures=fsl_round.ENSURES | {"bounded_below"},
    holds=holds,
)
