"""Floats sent against the exact error: methods with one problem, one accuracy to reach and steps tuned for
each, on what they send.

A round of a method sends vectors of d floats down and up for each client that takes part: the point
and what comes back, twice as many with control variates or a gradient beside it. Steps are those of
a grid with the least exact error at the end; nothing is sampled. What the server computes on data of
its own is not counted.
"""

import numpy as np

import fedtheory as ft
from fedtheory.figures import _caption, _style
from fedtheory.figures._record import Figure

SPECTRUM = dict(d=8, clients=16, L=1.0, mu=0.05, G=1.0, xi_bar=0.2, sigma=0.5, sigma_0=0.5)
S, K = 16, 4  # everyone: control variates have no exact moments for cohorts
ROUNDS = dict(smoke=100, quick=400, paper=1600)
STEPS = dict(smoke=4, quick=10, paper=20)
# vectors of d floats, down and up, for each client that takes part in a round
VECTORS = dict(fedsgd=2, fedavg=2, fsl=2, fsl_parallel=2, scaffold=4)


def hyper(method, u):
    """What a method takes for an effective step u of a round."""
    if method == "fedsgd":
        return dict(eta=u)
    own = dict(eta_l=u / K, eta_g=1.0, K=K)
    return own | (dict(K_0=K, eta_0=u / K, gamma=0.5) if method.startswith("fsl") else {})


def errors(of, method, u, rounds):
    """E F - F* after each round, exactly; infinite where a run leaves all bounds."""
    with np.errstate(all="ignore"):
        of_method = dict(rounds=rounds, x_0=np.full(of.d, 2.0), S=S, **hyper(method, u))
        found = ft.expected(of, method, **of_method).metrics["loss"] - of.loss(of.minimizer())
    return np.nan_to_num(np.asarray(found, float), nan=np.inf)


def compute(scale, progress):
    of, rounds = ft.problems.quadratic(seed=3, **SPECTRUM), ROUNDS[scale]
    data = dict(rounds=np.arange(rounds + 1))
    for n, method in enumerate(VECTORS):
        steps = np.geomspace(0.02, 1.5, STEPS[scale])
        found = [errors(of, method, u, rounds) for u in steps]
        best = int(np.argmin([each[-1] for each in found]))
        data |= {f"{method}_error": found[best], f"{method}_step": np.array(steps[best])}
        progress(n + 1, len(VECTORS))
    return data


def sent(data, method):
    """Floats sent after each round."""
    return data["rounds"] * VECTORS[method] * S * SPECTRUM["d"]


def draw(figure, data):
    ax = figure.subplots()
    for method in VECTORS:
        _style.line(ax, sent(data, method)[1:], data[f"{method}_error"][1:], method, markers=6)
    ax.set(xscale="log", yscale="log", xlabel="floats sent", ylabel=r"$\mathbb{E}\,F(x_t)-F^\star$")
    _style.legend_below(figure, ax, ncols=3)


def caption(data):
    given = {name: SPECTRUM[name] for name in ("L", "mu", "G", "xi_bar", "sigma", "sigma_0")}
    vectors = ", ".join(f"{_style.look(m).label} {count}" for m, count in VECTORS.items())
    return (
        f"One quadratic problem of {SPECTRUM['d']} coordinates and {SPECTRUM['clients']} clients, who all take part, {K} local steps; "
        f"{_caption.constants(ft.claim('fsl.theorem2').table, given)}. Exact expectation of the clients' loss above its minimum "
        f"over the floats sent so far; vectors a round and client: {vectors}. Steps are those of a grid with the least "
        f"error after {data['rounds'][-1]} rounds. Nothing is sampled."
    )


def reached(data, level):
    """Floats that each method sends until its error is below a level; infinite if it never is."""
    found = {}
    for method in VECTORS:
        below = np.flatnonzero(data[f"{method}_error"] < level)
        found[method] = sent(data, method)[below[0]] if len(below) else np.inf
    return found


def says(data):
    level = 2 * max(data[f"{method}_error"][-1] for method in VECTORS)
    order = sorted(reached(data, level).items(), key=lambda each: each[1])
    told = ", ".join(f"{_style.look(m).label} {_caption.number(count)}" for m, count in order)
    ends = min(VECTORS, key=lambda m: data[f"{m}_error"][-1])
    return (
        f"Floats until the error is below {_caption.number(level)}: {told}. The least error at the end is that of "
        f"{_style.look(ends).label}, {_caption.number(data[f'{ends}_error'][-1])}."
    )


def rows(data):
    shown = sorted({int(n) for n in np.geomspace(1, data["rounds"][-1], 12)})
    head = [f"{_style.look(m).label}, {what}" for m in VECTORS for what in ("floats", "error")]
    return [
        ["round", *head],
        *(
            [
                str(n),
                *(
                    text
                    for m in VECTORS
                    for text in (f"{sent(data, m)[n]:,}", f"{data[f'{m}_error'][n]:.4g}")
                ),
            ]
            for n in shown
        ),
    ]


FIGURE = Figure(
    cites="all papers, what is sent",
    title="Floats sent against the exact error, steps tuned for each method",
    compute=compute,
    draw=draw,
    rows=rows,
    caption=caption,
    says=says,
    height=2.5,
)
