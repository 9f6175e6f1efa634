"""Mixed FL, theorems B.1 to B.3, strongly convex: phase diagrams over steps and over rounds.

Problem, cohort and server step are those of the theory figure. The mean point's weights follow the
step, and no point's is negative; its moments are carried along with those of the points, for every
number of rounds at once.
"""

from functools import cache

import numpy as np

from fedtheory.figures import _caption, _phase, _style, theory_mixed
from fedtheory.models.mixed import moments
from fedtheory.problems.mixed import mixed_minimizer
from fedtheory.symbols.mixed import TABLE

POINTS = dict(smoke=(8, 8), quick=(40, 40), paper=(80, 80))  # steps, rounds
STEPS, ROUNDS = (2e-4, 20.0), (2, 2000)  # effective steps K eta eta_s, times beta
IDS = [f"mixed.theorem{theorem}_strong_explicit" for theorem in theory_mixed.METHODS]


begun = cache(theory_mixed.statement_values)  # but for rounds and steps


def statement_values(id, u, T):
    """Return the values of a statement's letters at an effective step u and T rounds, for the
    theory figure's losses."""
    found = dict(begun(id, 1), T=int(T))
    eta = float(u) / (found["K"] * found["eta_s"])
    return dict(found, eta=eta, eta_c=eta * found["eta_s"])


def moment_case(id, at):
    names = ("S", "K", "T", "eta", "eta_s", "eta_c", "eta_m")
    return moments.Case(
        theory_mixed.METHODS[theory_mixed.IDS[id][0]], None, None, *map(at.get, names)
    )


def round_maps(id, u):
    """Yield (linear part, constant, covariance of the noise) of a round for each coordinate;
    without noise, points that start at 0 stay at 0."""
    of, at = theory_mixed.theory_problem(id)[0], statement_values(id, u, 1)
    bends, star = theory_mixed.loss_curvatures(of), mixed_minimizer(of)
    tilts = bends * (star - np.stack([of.data.x_star, of.data.b[0]]))
    noise = [at["sigma"] ** 2 / of.d, at["sigma_c"] ** 2 / of.d]
    for j in range(of.d):
        found = moments.by_kernels(
            moment_case(id, at), bends[:, j].tolist(), tilts[:, j].tolist(), noise
        )
        yield [np.array(part, float) for part in found]


def spectral_radius(id, u):
    """Return the spectral radius of the map of means. The noise of a round does not depend on its
    start, so the radius for second moments is the square."""
    return max(np.abs(np.linalg.eigvals(linear)).max() for linear, *_ in round_maps(id, u))


def true_excess(id, u, Ts):
    """Compute E f(mean point) - f* exactly for each T, with the weighted sum of points as one more
    number in the state of a round."""
    of, x_0 = theory_mixed.theory_problem(id)
    at, last = statement_values(id, u, 1), int(max(Ts))
    rate = float(moment_case(id, at).contraction) * at["mu"]
    keep, bends, start = (
        max(1 - rate, 0.0),
        theory_mixed.loss_curvatures(of),
        x_0 - mixed_minimizer(of),
    )
    gap = np.zeros(last + 1)
    for j, (linear, constant, fresh) in enumerate(round_maps(id, u)):
        n = len(constant)
        carry, shift, noise = np.zeros((n + 1, n + 1)), np.zeros(n + 1), np.zeros((n + 1, n + 1))
        carry[:n, :n], carry[n, :n], carry[n, n] = linear, linear[0], keep
        shift[:n], shift[n] = constant, constant[0]
        along = np.vstack([np.eye(n), np.eye(n)[:1]])  # the noise of x is in the sum as well
        noise[:] = along @ fresh @ along.T
        mean, spread = np.zeros(n + 1), np.zeros((n + 1, n + 1))
        mean[0] = mean[n] = start[j]
        total = 1.0
        for T in range(last + 1):
            gap[T] += bends[:, j].sum() * (mean[n] ** 2 + spread[n, n]) / total**2 / 2
            mean, spread = carry @ mean + shift, carry @ spread @ carry.T + noise
            total = keep * total + 1
    return np.nan_to_num(gap[np.asarray(Ts, int)], nan=np.inf)


def phase_plane(id, scale):
    steps, rounds = POINTS[scale]
    theorem, _ = theory_mixed.IDS[id]
    start = begun(id, 1)
    trivial = start["beta"] * start["D_sq"]  # f_f and f_c are beta-smooth: f(x_0) - f* is no larger
    return _phase.Plane(
        claim=id,
        title=f"{_style.algorithm_look(theory_mixed.METHODS[theorem]).label}, theorem B.{theorem[1]}",
        labels=(r"step $K\eta\eta_s$", "rounds $T$"),
        x=np.geomspace(*STEPS, steps),
        y=np.unique(np.round(np.geomspace(*ROUNDS, rounds)).astype(int)),
        values=lambda u, T: statement_values(id, u, T),
        truth=lambda u, Ts: true_excess(id, u, Ts),
        trivial=lambda u, Ts: trivial,
        radius=lambda u, T: spectral_radius(id, u),
    )


def compute_arrays(scale, progress):
    names = ("beta", "mu", "G", "B", "sigma", "sigma_c", "N", "S", "K", "eta_s")
    at = begun(IDS[0], 1)
    constants = _caption.constants_text(TABLE, {name: at[name] for name in names})
    planes = [phase_plane(id, scale) for id in IDS]
    return dict(_phase.plane_arrays(planes, progress), constants=np.array(constants))


def describe_problem(data):
    return (
        f"Convex quadratics of the theory figure: {data['constants']}, $\\eta_c=\\eta\\eta_s$, $\\eta_m=1$; without training "
        r"$f-f^\star$ is at most $\beta D^2$. Below, where one is outside, are too few rounds: $T<1/(2\mu\hat\eta)$."
    )


FIGURE = _phase.phase_figure(
    "mixed FL, theorems B.1 to B.3, strongly convex", compute_arrays, describe_problem, tuple(IDS)
)
