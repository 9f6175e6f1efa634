"""Flex, section 3 and table 1: how far each scheme stays below its bounds, over the number of
rounds.

Rates are theorem 3.1's. They change with every round, so that moments are carried by their own
recursion here. Points stay in a box: noise is bounded, and no round leads beyond the devices'
minimisers by more than it. Rounds in which no device completes its work are none under scheme A;
devices that are alike leave but one in ten thousand, for runs count it. A search for the
corollary's start covers every tau_0: its one star stands at the left. (8) and (9) compare two
bounds, of which no run is the practice.
"""

from fractions import Fraction
from itertools import product

import numpy as np

import fedtheory as ft
from fedtheory import discover
from fedtheory.figures import _caption, _style, _theory
from fedtheory.participation import Arrival, Participation, distribution, moments, staircase
from fedtheory.problems.quadratics import quadratic_from_arrays
from fedtheory.runs import plots

E, L, MU, SIGMA, X_0 = 2, 1.0, 0.5, 0.5, np.full(2, 2.0)
N, ARRIVAL = 4, 20  # devices at first, and the round in which one more comes


def work_law(*shares):
    """Return the probabilities of s = 0, 1, 2 steps, given in twentieths."""
    return [Fraction(share, 20) for share in shares]


ALIKE, COMPLETE = 5 * [work_law(1, 1, 18)], 5 * [work_law(0, 0, 20)]
UNLIKE = [
    work_law(0, 0, 20),
    work_law(0, 4, 16),
    work_law(0, 10, 10),
    work_law(0, 16, 4),
    work_law(0, 10, 10),
]
ABSENT = [
    work_law(0, 0, 20),
    work_law(0, 0, 20),
    work_law(10, 0, 10),
    work_law(10, 0, 10),
    work_law(0, 0, 20),
]
AFTER, START = "flex.corollary3_2_1", "flex.corollary3_2_1_start_explicit"
PANELS = {  # title, scheme, law
    "flex.table1_A_hom_explicit": ("A, alike", "A", ALIKE),
    "flex.table1_B_hom_explicit": ("B, alike", "B", ALIKE),
    "flex.table1_C_hom_explicit": ("C, alike", "C", ALIKE),
    "flex.fedavg_special": ("complete", "B", COMPLETE),
    AFTER: ("C, arrival (6)", "C", UNLIKE),
    "flex.table1_A_het_explicit": ("A, unlike", "A", UNLIKE),
    "flex.table1_B_het_explicit": ("B, unlike", "B", UNLIKE),
    "flex.table1_C_het_explicit": ("C, unlike", "C", UNLIKE),
    "flex.theorem3_1": ("C, absences", "C", ABSENT),
    START: ("C, start over", "C", UNLIKE),
}
THETA = dict(A=N, B=1, C=E)
LINE = {"flex.fedavg_special": 1}  # which line of a claim bounds the distance
WORST_T = {START: (1,)}
ROUNDS = dict(
    smoke=(1, 4, 16, 64, 256, 1024),
    quick=(1, 4, 16, 64, 256, 1024, 4096),
    paper=(1, 4, 16, 64, 256, 1024, 4096, 16384),
)
TRIALS = dict(smoke=40, quick=200, paper=400)
SECONDS = dict(smoke=0.1, quick=2.0, paper=10.0)  # of search for each statement and T


def arc_problem(devices=N):
    """Build quadratics with minimisers on an arc, in the order of the devices: devices that do
    little work have minimisers on one side."""
    angles = np.linspace(0, np.pi, N + 1)[:devices]
    b = np.vstack([np.zeros(2), np.column_stack([np.cos(angles), np.sin(angles)])])
    return quadratic_from_arrays(np.array([L, MU]), b, sigma=SIGMA, noise="rademacher")


def largest_gradient():
    """Return G, the root of the largest mean squared gradient in the box that no point leaves."""
    b, A = arc_problem(N + 1).data.b[1:], np.array([L, MU])
    reach = SIGMA / np.sqrt(2) / A
    ends = np.stack(
        [np.minimum(X_0, b.min(axis=0) - reach), np.maximum(X_0, b.max(axis=0) + reach)]
    )
    return float(np.sqrt(np.max((A * (ends[:, None] - b)) ** 2, axis=(0, 1)).sum() + SIGMA**2))


def of_law(id, devices=N):
    """Return the moments of a panel's law of work, with Gamma_k weighted by them."""
    of, (_, scheme, rows) = arc_problem(devices), PANELS[id]
    star = of.minimizer()
    Gamma = [
        of.client_loss(k, star) - of.client_loss(k, of.data.b[k]) for k in range(1, devices + 1)
    ]
    return moments.moments(
        scheme, devices * [Fraction(1, devices)], rows[:devices], E, Gamma, devices * [SIGMA**2]
    )


def printed_rate(id, ps):
    """Return (eta_0, offset) of theorem 3.1's learning rate, for `staircase`."""
    theta = 1 if id in LINE else THETA[PANELS[id][1]]
    return float(16 / (MU * ps)), float(
        max(32 * E * (1 + theta) * L / (MU * ps), 4 * E**2 * theta / ps)
    ) / E


def learning_rates(id, rounds):
    """Return the learning rates of the given number of rounds; with an arrival, the rates before
    the arrival come first, and the rates after the arrival start over."""
    eta_0, offset = printed_rate(id, of_law(id)["ps"])
    if id != AFTER:
        return staircase(eta_0, rounds, offset=offset)
    again, anew = printed_rate(id, of_law(id, N + 1)["ps"])
    return np.append(
        staircase(eta_0, ARRIVAL, offset=offset), staircase(again, rounds, offset=anew)
    )


def round_outcomes(of, scheme, rows):
    """Return (probability, coefficient of each device, steps of each device) of every outcome of a
    round."""
    every = [
        (float(np.prod([float(row[steps]) for row, steps in zip(rows, s)])), s)
        for s in product(range(E + 1), repeat=len(rows))
    ]
    some = [(q, s) for q, s in every if q > 0]
    kept = moments.rounds_of(scheme, of.weights[1:].tolist(), some, E)
    q, c, s = (np.array(column, float) for column in zip(*kept))
    return q, c[..., None], s[..., None]


def a_round(of, ways, eta):
    """Return, by outcome of a round and by coordinate, the factor and the shift applied to x - x*
    and the variance of the added noise."""
    _, c, s = ways
    left = 1 - eta * of.data.A[0]
    pull = c * (1 - left**s)  # x becomes x - sum pull (x - b) + noise
    push = (pull * (of.data.b[1:] - of.minimizer())).sum(axis=1)
    bent = 1 - left**2
    spread = np.where(bent == 0, s, (1 - left ** (2 * s)) / np.where(bent == 0, 1, bent))
    noise = ((c * eta) ** 2 * SIGMA**2 / of.d * spread).sum(axis=1)
    return 1 - pull.sum(axis=1), push, noise


def carry_moments(of, scheme, rows, etas, before):
    """Compute E of x - x* and of its square by coordinates after each round, (rounds + 1, d) each,
    from the given values before the first round."""
    every = round_outcomes(of, scheme, rows)
    q, (mean, square) = every[0], before
    found = [(mean, square)]
    for eta in etas:
        stays, push, noise = a_round(of, every, eta)
        mean, square = (
            q @ (stays * mean + push),
            q @ (stays**2 * square + 2 * stays * push * mean + push**2 + noise),
        )
        found.append((mean, square))
    return np.array(found).transpose(1, 0, 2)


def objective_shift():
    """Return the minimiser for the first N devices minus the minimiser for N + 1 devices."""
    return arc_problem().minimizer() - arc_problem(N + 1).minimizer()


def exact_distance(id, rounds, times=1.0):
    """Compute E||w - w*||^2 after each round, with learning rates multiplied by `times`. From an
    arrival on, w* is the new objective's, and only the rates after the arrival are multiplied."""
    of, (_, scheme, rows) = arc_problem(), PANELS[id]
    first, at = ARRIVAL if id == AFTER else rounds, X_0 - of.minimizer()
    etas = learning_rates(id, rounds)
    etas[first if id == AFTER else 0 :] *= times
    mean, square = carry_moments(of, scheme, rows[:N], etas[:first], (at, at**2))
    if id == AFTER:
        x, moved = mean[-1], objective_shift()
        mean, square = carry_moments(
            arc_problem(N + 1),
            scheme,
            rows,
            etas[first:],
            (x + moved, square[-1] + 2 * moved * x + moved**2),
        )
    return square.sum(axis=1)


def start_over(squares):
    """Return the squared distance that (6) takes for its start, given ||w - w*||^2 before the
    arrival."""
    return (np.sqrt(squares) + np.linalg.norm(objective_shift())) ** 2


def statement_values(id, T):
    """Return the values of a statement's letters after T rounds, or T rounds after the arrival."""
    found, star = of_law(id), arc_problem().minimizer()
    eta_0, offset = printed_rate(id, found["ps"])
    found.update(
        E=E,
        N=N,
        L=L,
        mu=MU,
        G=largest_gradient(),
        theta=THETA[PANELS[id][1]],
        ratio_sup=THETA[PANELS[id][1]],
        tau=T,
        eta=eta_0 / (T + offset),
        sq_dist_0=float(np.sum((X_0 - star) ** 2)),
        I_sum=T * (1 - np.prod([float(1 - row[0]) for row in PANELS[id][2][:N]])),
    )
    if id in (AFTER, START):
        new = of_law(id, N + 1)
        found.update(
            {
                f"tilde_{name}": new[name]
                for name in (
                    "ps",
                    "ps_Gamma",
                    "ps_plus",
                    "p2s_over_p",
                    "p2s_sigma",
                    "ratio_min",
                    "ratio_max",
                )
            },
            n=N,
            n_l=1,
            shift=float(np.linalg.norm(objective_shift())),
            Gamma_l=arc_problem(N + 1).client_loss(N + 1, star),
        )
    if id == AFTER:
        again, anew = printed_rate(id, new["ps"])
        found.update(
            tau=ARRIVAL + T,
            tau_0=ARRIVAL,
            eta=again / (T + anew),
            Delta=float(exact_distance(START, ARRIVAL)[-1]),
        )
    if id == START:
        found.update(Delta=float(exact_distance(START, T)[-1]))
    return found


def bound_at(id, T):
    """Evaluate a statement's bound on its measured quantity."""
    return float(discover.claim(id).evaluate(statement_values(id, T), line=LINE.get(id, 0)))


def sampled_distance(id, rounds, trials):
    """Sample ||w - w*||^2 (trials, rounds + 1), at the rounds of `exact_distance`."""
    _, scheme, rows = PANELS[id]
    devices, etas = (
        (N + 1, learning_rates(id, rounds)) if id == AFTER else (N, learning_rates(id, rounds))
    )
    found = ft.run(
        arc_problem(devices),
        f"flex_{scheme.lower()}",
        rounds=len(etas),
        trials=trials,
        x_0=X_0,
        E=E,
        eta=etas,
        metrics=("sq_distance",),
        participation=Participation(
            work=distribution([list(map(float, row)) for row in rows[:devices]]),
            arrivals=(Arrival(devices, ARRIVAL),) if id == AFTER else (),
        ),
    )
    return found.metrics["sq_distance"][:, len(etas) - rounds :]


def panel_of(id: str, scale: str) -> dict[str, np.ndarray]:
    """Compute the arrays of a panel."""
    worst_T = WORST_T.get(id, (1, 2, 5))
    T = np.array(sorted({*ROUNDS[scale], *worst_T}))
    runs = plots.mean_and_band(sampled_distance(id, T[-1], TRIALS[scale])[:, T])
    measured = np.array([exact_distance(id, T[-1])[T], *runs])
    measured = start_over(measured) if id == START else measured
    bound = np.array([bound_at(id, each) for each in T.tolist()])
    curves = _theory.Curves(T, bound, *measured)
    return _theory.search_panel(id, curves, worst_T, SECONDS[scale], line=LINE.get(id, 0))


def compute_arrays(scale, progress):
    data = dict(trials=np.array(TRIALS[scale]), constants=np.array(constants_of_panels()))
    data |= _theory.compute_panels(panel_of, PANELS, scale, progress)
    return dict(data, trivial=np.array([(largest_gradient() / MU) ** 2]))


def constants_of_panels():
    """Return the constants of all panels, in the paper's letters."""
    given = dict(E=E, N=N, L=L, mu=MU, G=largest_gradient(), **{r"\sigma_k": SIGMA})
    return _caption.constants_text(discover.claim("flex.theorem3_1").table, given)


def draw_figure(figure, data):
    axes = figure.subplots(2, 5, sharex=True, sharey=True)
    for ax, (id, (title, scheme, _)) in zip(axes.flat, PANELS.items()):
        _theory.draw_panel(ax, data, id, f"flex_{scheme.lower()}", title)
        if id != START:
            _theory.draw_trivial(ax, data["trivial"][0])
    _theory.say_trivial(axes[0, 0], data["trivial"][0], r"$G^2/\mu^2$: trivial", high=False)
    _theory.say_worst(axes[1, 0], 0.06, 0.3, "worst case found,\nas share of bound")
    axes[1, -1].text(
        0.03,
        0.06,
        r"$(\sqrt{\Delta}+\|w^*-\tilde w^*\|)^2$",
        transform=axes[1, -1].transAxes,
        fontsize=_style.SMALL,
    )  # what the corollary's last line bounds
    for ax in axes[1]:
        ax.set_xlabel(r"$\tau$")
    axes[0, -1].set_xlabel(r"$\tau-\tau_0$")
    axes[1, -1].set_xlabel(r"$\tau_0$")
    for row in axes:
        row[0].set_ylabel(r"$\mathbb{E}\,\|w^G_{\tau E}-w^*\|^2$")
    for ax in axes[:, -1]:
        _style.direct_labels(ax)


FIGURE = _theory.theory_figure(
    "flex, theorem 3.1, corollary 3.2.1 and table 1",
    compute_arrays,
    draw_figure,
    "Quadratics of equal curvature, rademacher noise, theorem 3.1's rates. Alike: each device does "
    "0, 1 or 2 of its steps with probabilities 1/20, 1/20, 18/20; unlike: devices differ in these, "
    "with absences: two are away every other round; arrival: one more device comes after "
    f"{ARRIVAL} rounds.",
    {id: title for id, (title, *_) in PANELS.items()},
    "squared distance",
    letter=r"\tau",
    without=(START,),
    minutes=0.8,
    stacks=True,
    height=3.6,
)
