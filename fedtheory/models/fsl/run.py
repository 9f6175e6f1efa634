"""T rounds of FSL on losses known exactly: by moments where all losses are quadratics, by
enumeration of all paths otherwise.

Measured are expected squared gradients of the modified loss and of F over the rounds (least and
mean), the modified loss at the start and at the end, and gaps to its infimum: the left sides and
initial terms of the paper's theorems. A run may break one of two laws, equal weights or uniform
cohorts, where a claim does not assume the law.
"""

from collections.abc import Sequence, Set
from fractions import Fraction
from random import Random
from typing import Any

from fedtheory.arithmetic.operations import minimum, vector
from fedtheory.arithmetic.work import Counted
from fedtheory.exact.path_recorder import is_watched
from fedtheory.exact.typical_path import record_path
from fedtheory.models import Model, beside, losses, minima, names
from fedtheory.models.families import UNITS, build_family, draw_family, family_coordinates
from fedtheory.models.fields import count, family
from fedtheory.models.fsl import ROUNDS
from fedtheory.models.fsl import round as fsl_round
from fedtheory.models.fsl.moments import by_paths, quadratic_gradients, quadratic_value
from fedtheory.models.quantities import square_norm
from fedtheory.schema import either, length_plus, list_of, word
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Assignment, Instance, Number, Shape

BY_ROUND = (
    dict(  # {symbol: (loss, "least" or "mean")} of expected squared gradients at x_0, ..., x_(T-1)
        E_T=("modified", "least"),
        best_sq_grad=("original", "least"),
        mean_sq_tilde_grad=("modified", "mean"),
        mean_sq_grad=("original", "mean"),
    )
)
MEASURED = ("tilde_D_0", "tilde_F_0", "tilde_F_T", *BY_ROUND, "sq_tilde_grad", "sq_grad")
MOST = 64  # most outcomes of a run on losses that are not quadratic
LONG = 40  # most local steps over all rounds: exact numbers grow with each step
# Conditions that a run may break, one at a time, where a claim does not assume them, as for a
# round: F weighs clients by their own weights while methods take plain means; cohorts are always
# the same.
BREAKABLE = ("equal_weights", "uniform_cohort")


def draw_shapes(random: Random, relaxed: Set[str]) -> dict[str, int | str]:
    """Draw a shape. The number of rounds is a text, so that a long run of small rounds counts as
    small."""
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
        breakable = sorted(relaxed & set(BREAKABLE))
        if breakable and random.random() < 0.5:
            shape.update(breaks=random.choice(breakable), N=max(2, N))
            shape["S"] = 1 if shape["breaks"] == "uniform_cohort" else shape["N"]
            if random.random() < 0.6:  # the effect of the broken condition adds up over many rounds
                shape.update(noise="none", noise_0="none", K=1, K_0=1)
                shape["rounds"] = str(T := random.choice([20, 40]) if quadratic else T)
        if affords(shape):
            return shape


def affords(shape: Shape) -> bool:
    """Tell whether a shape is cheap enough: the run needs moments alone or has few paths, and its
    steps are not too many."""
    T = int(shape["rounds"])
    few = shape["pieces"] == 1 or fsl_round.ways(shape) ** (T - 1) <= MOST
    return few and T * max(shape["K"], shape["K_0"]) <= LONG


def server_is_mean(shape: Shape) -> bool:
    """Tell whether f_0 is the mean of the clients' losses, and not a loss of its own."""
    return "xi_bar" in shape


def loss_coordinates(shape: Shape) -> Any:
    """Return the coordinates of all losses; a server's loss that is the mean has none of its
    own."""
    found = family_coordinates(shape, shape["N"] + 1)
    own = ("tilt_0_", "own_0_")
    return {
        n: kind for n, kind in found.items() if not (server_is_mean(shape) and n.startswith(own))
    }


def build_losses(shape: Shape, point: Any, size: int) -> Any:
    """Build [f_0, ..., f_N]; the word "mean" stands for f_0 = F, which a document can state
    exactly.
    """
    filled = {**{name: Fraction(0) for name in family_coordinates(shape, 1)}, **point}
    server, *clients = build_family(shape, filled, size)
    return ["mean" if server_is_mean(shape) else server, *clients]


FIELDS = fsl_round.FIELDS.replace(
    family(
        "losses",
        list_of(either(word("mean"), losses.LOSS), length_plus("N", 1)),
        lambda shape: shape["N"] + 1,
        build_losses,
    )._replace(coordinates=loss_coordinates),
    fsl_round.break_field("uniform_cohort"),
    count("T", of="rounds"),
    without="bias",
    order="losses x weights",
)


def curves(instance: Instance) -> list[list[dict[str, Any]]]:
    """Return the losses f_0, ..., f_N. The server's loss may be given as the clients' mean with the
    weights of F."""
    server, *clients = instance["losses"]
    if server == "mean":
        server = [mean_curve(f, weights(instance)) for f in zip(*clients)]
    return [server, *clients]


def weights(instance: Instance) -> list[Fraction]:
    """Return the weights p_1, ..., p_N of F."""
    return instance.get("weights") or [Fraction(1, instance["N"])] * instance["N"]


def mean_curve(fs: Sequence[dict[str, Any]], shares: Sequence[Fraction]) -> dict[str, Any]:
    """Return the weighted mean of curves, with its bends from left to right."""
    bends = [(p * delta, at) for p, f in zip(shares, fs) for delta, at in f["bends"]]
    return losses.make_curve(
        sum(p * f["slope"] for p, f in zip(shares, fs)),
        sum(p * f["tilt"] for p, f in zip(shares, fs)),
        losses.by_place(bends) if bends else bends,
    )


def derive_constants(instance: Instance) -> dict[str, Any]:
    """Return the constants of a round and T; xi_bar is 0 where f_0 is F."""
    found = dict(
        fsl_round.derive_constants(dict(instance, losses=curves(instance))),
        T=Fraction(instance["T"]),
    )
    if instance["losses"][0] == "mean":
        found["xi_bar"] = Fraction(0)
    return found


def measure_symbols(
    instance: Instance, values: Assignment, wanted: Sequence[str]
) -> dict[str, Any]:
    """Return expected values of a run: by moments for quadratics, by the kernels' paths elsewhere.

    The weights of the modified loss are gamma / (1 + gamma) for f_0 and p_i / (1 + gamma) for f_i.
    Squared gradients are expected at x_0, ..., x_{T-1}, the loss at x_T.
    """
    f, gamma, T = curves(instance), values["gamma"], instance["T"]
    x, case = vector(instance["x"]), fsl_round.case(dict(instance, losses=f), values)
    original = [Fraction(0), *weights(instance)]
    modified = [gamma / (1 + gamma), *(p / (1 + gamma) for p in original[1:])]
    grad = lambda shares: (
        lambda y: sum(w * losses.loss_gradient(one, y) for w, one in zip(shares, f))
    )
    tilde_F = lambda y: sum(w * losses.loss_value(one, y) for w, one in zip(modified, f))
    found = {}
    if "tilde_D_0" in wanted:
        found["tilde_D_0"] = tilde_F(x) - minima.infimum_of(f, modified)
    if "tilde_F_0" in wanted:
        found["tilde_F_0"] = tilde_F(x)
    if "sq_tilde_grad" in wanted or "sq_grad" in wanted:
        found.update(
            sq_tilde_grad=square_norm(grad(modified)(x)), sq_grad=square_norm(grad(original)(x))
        )
    named = {BY_ROUND[name][0] for name in wanted if name in BY_ROUND}
    asked = [modified if name == "modified" else original for name in sorted(named)]
    quadratic = all(not curve["bends"] and not curve.get("soft") for one in f for curve in one)
    if quadratic and (named or "tilde_F_T" in wanted) and is_watched():
        record_path(x, [case.one_round(len(x))] * T)
    lines = [[(one[j]["slope"], one[j]["tilt"]) for one in f] for j in range(len(x))]
    if named:
        by_round = (
            quadratic_gradients(case, lines, spreads(instance), x, T, asked)
            if quadratic
            else by_paths(case, x, T, [lambda y, w=w: square_norm(grad(w)(y)) for w in asked])
        )
        columns = dict(zip(sorted(named), zip(*by_round)))
        found.update({name: over(columns[of]) for name, (of, over) in read_rounds(wanted)})
    if "tilde_F_T" in wanted:
        found["tilde_F_T"] = (
            quadratic_value(case, lines, spreads(instance), x, T, modified)
            if quadratic
            else by_paths(case, x, T + 1, [tilde_F])[-1][0]
        )
    return {name: found[name] for name in wanted}


def read_rounds(wanted: Sequence[str]) -> list[Any]:
    """Return [(symbol, (loss, function of its column))] of the wanted symbols that are computed
    from values at each round."""
    ways = dict(
        least=lambda column: minimum(*column) if len(column) > 1 else column[0],
        mean=lambda column: sum(column) / len(column),
    )
    return [(n, (BY_ROUND[n][0], ways[BY_ROUND[n][1]])) for n in wanted if n in BY_ROUND]


def spreads(instance: Instance) -> list[list[Number | Counted]]:
    """Return the variances of the server's noise and of a client's noise, each as a list over
    coordinates."""
    return [
        [
            sum((p * v[j] * v[j] for p, v in instance[kind]), Fraction(0))
            for j in range(len(instance["x"]))
        ]
        for kind in ("noise_0", "noise")
    ]


@FIELDS.guard
def conditions_held(instance: Instance) -> frozenset[str]:
    """Return the conditions of a round, and "bounded_below" where F and f_0 each have an
    infimum.
    """
    f = curves(instance)
    found = fsl_round.list_conditions(dict(instance, losses=f))
    # F and f_0 are bounded below, so that the modified loss is bounded below for every gamma
    parts = ((f[1:], weights(instance)), (f[:1], [Fraction(1)]))
    endless = any(isinstance(minima.infimum_of(*part), float) for part in parts)
    return found if endless or not found else found | {"bounded_below"}


MODEL = Model(
    name="fsl_run",
    says="T rounds of FSL",
    measures=names(TABLE, *MEASURED),
    by=beside("fsl", "moments of quadratics, for speed; elsewhere the kernels themselves"),
    shapes=draw_shapes,
    affords=affords,
    coordinates_in=UNITS,
    constants=derive_constants,
    measure=measure_symbols,
    table=TABLE,
    holds=conditions_held,
    **{
        **ROUNDS,
        "gives": (*ROUNDS["gives"], "T"),
        "ensures": ROUNDS["ensures"] | {"bounded_below"},
    },
    **FIELDS.record(),
)
