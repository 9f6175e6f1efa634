"""One round of FSL on losses known exactly, by enumeration of cohorts and noise (appendix A of the long paper)."""

from fractions import Fraction

from fedtheory.checks import losses
from fedtheory.checks.settings import Setting, names
from fedtheory.checks.settings._family import (build_family, draw_family, family_coordinates, outcomes, sound_noise,
                                               two_point, variance)
from fedtheory.claims.fsl._round import Instance, quantities
from fedtheory.enclosure.arithmetic import root, vector
from fedtheory.symbols.fsl import TABLE

MEASURED = [name for name, entry in TABLE.items() if entry.measure is not None and name in (
    "tilde_F_t", "tilde_F_next", "sq_grad", "sq_server_grad", "sq_tilde_grad", "grad_inner", "sq_xi", "E_c", "E_0",
    "drift_grad_c", "drift_grad_0", "excess_29", "sq_move_bar", "inner_drift_0", "sq_server_grad_bar", "T_1", "T_2",
    "T_3", "T_4", "T_4a", "T_4b", "T_5", "T_5a", "T_5b", "T_5c", "T_6", "T_7")]
MOST = 600    # rounds that an enumeration may have


def shapes(random, relaxed):
    while True:
        N = random.choice([1, 1, 2, 2, 2, 3, 4])
        noisy = random.random() < 0.5
        shape = dict(N=N, S=random.randint(1, N), K=random.choice([1, 1, 2, 2, 3, 5, 10]),
                     K_0=random.choice([1, 1, 2, 3, 5, 10]),
                     noise=random.choice(["none", "even", "skewed"]) if noisy else "none",
                     noise_0=random.choice(["none", "even", "skewed"]) if noisy else "none",
                     **draw_family(random, random.random() < 0.6, "dissimilar" not in relaxed))
        if ways(shape) <= MOST:
            return shape


def ways(shape):
    """Outcomes of a round."""
    from math import comb
    each = 2 if shape["noise"] != "none" else 1
    server = 2 if shape["noise_0"] != "none" else 1
    return comb(shape["N"], shape["S"]) * each ** (shape["K"] * shape["S"]) * server ** shape["K_0"]


def coordinates(shape):
    found = family_coordinates(shape, shape["N"] + 1)
    found.update({f"x_{j}": "real" for j in range(shape["d"])})
    found.update({name: "positive" for name, kind in (("sigma", "noise"), ("sigma_0", "noise_0"))
                  if shape[kind] != "none"})
    return found


def build(shape, point):
    d = shape["d"]
    return dict({name: shape[name] for name in ("N", "S", "K", "K_0")},
                losses=build_family(shape, point, shape["N"] + 1), x=[point[f"x_{j}"] for j in range(d)],
                noise=two_point(point.get("sigma"), shape["noise"], d),
                noise_0=two_point(point.get("sigma_0"), shape["noise_0"], d))


def constants(instance):
    server, *clients = instance["losses"]
    return dict({name: Fraction(instance[name]) for name in ("N", "S", "K", "K_0")},
                L=losses.smoothness(server, *clients), mu=losses.convexity(server, *clients),
                G=upper_root(losses.dissimilarity(clients)), xi_bar=upper_root(losses.mismatch(server, clients)),
                sigma=root(variance(instance["noise"])), sigma_0=root(variance(instance["noise_0"])))


def upper_root(square):
    return square if isinstance(square, float) else root(square)


def case(instance, values):
    f, d = instance["losses"], len(instance["x"])
    client, server = outcomes(instance["noise"], d), outcomes(instance["noise_0"], d)
    return Instance(lambda i, y: losses.value(f[i], y), lambda i, y: losses.grad(f[i], y),
                    lambda i: client if i else server, instance["N"], instance["S"], instance["K"], instance["K_0"],
                    values["eta_l"], values["eta_g"], values["eta_0"], values["gamma"], values["L"], values["sigma"])


def measure(instance, values, wanted):
    return quantities(case(instance, values), vector(instance["x"]), wanted)


def holds(instance):
    """Conditions that an instance meets: its parts fit together, and G is finite where it is asked for."""
    d = len(instance["x"])
    sound = (len(instance["losses"]) == instance["N"] + 1 and 1 <= instance["S"] <= instance["N"]
             and all(len(f) == d for f in instance["losses"])
             and all(sound_noise(instance[kind], d) for kind in ("noise", "noise_0")))
    if not sound:
        return frozenset()
    infinite = {name for name, constant in (("dissimilar", "G"), ("server_dissimilar", "xi_bar"))
                if isinstance(constants(instance)[constant], float)}
    return ENSURES - infinite - ({"convex"} if losses.convexity(*instance["losses"]) < 0 else set())


ENSURES = frozenset({"smooth", "lipschitz", "dissimilar", "server_dissimilar", "noise", "independent_noise",
                     "equal_weights", "uniform_cohort", "server", "convex"})
SETTING = Setting(
    name="fsl_round", says="one round of FSL from a known point", measures=names(TABLE, *MEASURED),
    algorithms=("fsl",), gives=("N", "S", "K", "K_0"), loose=dict(L=1, G=1, xi_bar=1, sigma=1, sigma_0=1, mu=-1),
    takes=("eta_l", "eta_g", "eta_0", "gamma"), shapes=shapes, coordinates=coordinates, build=build,
    constants=constants, measure=measure, table=TABLE, ensures=ENSURES, holds=holds,
)
