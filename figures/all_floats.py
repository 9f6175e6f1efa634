"""Error against the number of floats sent: methods on one problem, each with its best step on a
grid. Errors on quadratics are exact; beside them are runs of MNIST's perceptron or, below the
paper's scale, of a smaller variant of it (the `twin`).

A round of a method sends vectors of d floats down and up for each client that takes part: the point
and what comes back, twice as many with control variates or second moments beside it. Steps are those
of a grid with the least exact error at the end, of the twin with the greatest mean accuracy. What the
server computes on data of its own is not counted.
"""

import numpy as np

import fedtheory as ft
from fedtheory.figures import _caption, _experiment, _runs, _style
from fedtheory.figures._record import Figure

SPECTRUM = dict(d=8, clients=16, L=1.0, mu=0.05, G=1.0, xi_bar=0.2, sigma=0.5, sigma_0=0.5)
S, K = 16, 4  # everyone: control variates have no exact moments for cohorts
ROUNDS = dict(smoke=100, quick=400, paper=1600)
STEPS = dict(smoke=4, quick=10, paper=20)
# vectors of d floats, down and up, for each client that takes part in a round
VECTORS = dict(
    fedsgd=2,
    fedavg=2,
    fedprox=2,
    feddyn=2,
    fsl=2,
    fsl_parallel=2,
    scaffold=4,
    fedadam=2,
    fed_ams=4,
    fed_lamb=4,
)
EXACT = ("fedsgd", "fedavg", "fedprox", "feddyn", "fsl", "fsl_parallel", "scaffold")
# The perceptron on MNIST, one digit a client, all of whom take part; below the scale paper its twin
PLACES = dict(
    smoke=dict(
        set=dict(name="handwriting", writers=8, each=5, test=1, classes=10),
        side=7,
        N=10,
        net=[8],
        rounds=10,
        every=1,
    ),
    quick=dict(
        set=dict(name="handwriting", writers=40, each=5, test=2, classes=10),
        side=14,
        N=20,
        net=[50],
        rounds=80,
        every=2,
    ),
    paper=dict(set=dict(name="mnist"), side=None, N=50, net=[200], rounds=200, every=2),
)
SEEDS, GRID = dict(smoke=2, quick=3, paper=5), dict(smoke=(1.0,), quick=(0.3, 1.0, 3.0))
GRID["paper"] = (0.1, *GRID["quick"], 10.0)  # multiples of a method's own step
STEP = dict(fed_ams=0.003, fed_lamb=0.03)  # others: a tenth, of all local steps together
LOCAL, BATCH, PER = 5, 8, 5  # local steps, their minibatch, samples of each class at the server


def request(scale, method, multiple, seed):
    """Build the request of a perceptron run."""
    told = PLACES[scale]
    own = dict(eta_l=0.1 * multiple, K=LOCAL)
    weight = dict(eta_g=1.0, K_0=LOCAL, eta_0=0.1 * multiple, gamma=0.5)
    hyper = dict(
        fedsgd=dict(eta=0.5 * multiple),
        fedavg=dict(own, eta_g=1.0),
        fedprox=dict(own, mu_prox=0.1),
        feddyn=dict(own, alpha=0.1),
        fsl=own | weight,
        fsl_parallel=own | weight,
        scaffold=dict(own, eta_g=1.0),
        fedadam=dict(own, eta=0.03),
        fed_ams=dict(alpha=STEP["fed_ams"] * multiple, epsilon=1e-8, T=LOCAL),
        fed_lamb=dict(alpha=STEP["fed_lamb"] * multiple, T=LOCAL),
    )[method]
    return dict(
        set=told["set"],
        side=told["side"],
        N=told["N"],
        split={"one_label": dict(balanced=True)},
        server={"server_iid": dict(n_0=10 * PER)} if method.startswith("fsl") else None,
        net=told["net"],
        batch=BATCH,
        method=method,
        hyper=hyper,
        S=told["N"],
        rounds=told["rounds"],
        every=told["every"],
        pretrained=None,
        seed=seed,
    )


def twin(scale, progress):
    """Gather the perceptron runs as arrays, with the number of floats in a vector of the
    perceptron."""
    told = PLACES[scale]
    runs = {
        ((method, f"{multiple:g}"), seed): request(scale, method, multiple, seed)
        for method in VECTORS
        for multiple in GRID[scale]
        for seed in range(SEEDS[scale])
    }
    pixels, (width,) = (told["side"] or 28) ** 2, told["net"]
    parameters = (pixels + 1) * width + 10 * (width + 1)
    found = _runs.gather_arrays(runs, progress)
    return found | dict(clients=np.array(told["N"]), parameters=np.array(parameters))


def hyper(method, u):
    """Return a method's parameters for an effective step u of a round."""
    if method == "fedsgd":
        return dict(eta=u)
    own = dict(eta_l=u / K, K=K)
    more = dict(fedprox=dict(mu_prox=0.1), feddyn=dict(alpha=0.1)).get(method, dict(eta_g=1.0))
    weight = dict(K_0=K, eta_0=u / K, gamma=0.5) if method.startswith("fsl") else {}
    return own | more | weight


def errors(of, method, u, rounds):
    """Compute E F - F* exactly after each round; inf where a run diverges."""
    with np.errstate(all="ignore"):
        of_method = dict(rounds=rounds, x_0=np.full(of.d, 2.0), S=S, **hyper(method, u))
        found = ft.expected(of, method, **of_method).metrics["loss"] - of.loss(of.minimizer())
    return np.nan_to_num(np.asarray(found, float), nan=np.inf)


def compute_arrays(scale, progress):
    of, rounds = ft.problems.quadratic(seed=3, **SPECTRUM), ROUNDS[scale]
    data, total = dict(exact_rounds=np.arange(rounds + 1)), 1 + len(EXACT)
    for n, method in enumerate(EXACT):
        steps = np.geomspace(0.02, 1.5, STEPS[scale])
        found = [errors(of, method, u, rounds) for u in steps]
        best = int(np.argmin([each[-1] for each in found]))
        data |= {f"{method}_error": found[best], f"{method}_step": np.array(steps[best])}
        progress(n + 1, total)
    share = lambda done, of: progress(len(EXACT) + done / of, total)
    return data | twin(scale, share)


def floats_sent(data, method):
    """Return the number of floats sent after each round of the exact problem."""
    return data["exact_rounds"] * VECTORS[method] * S * SPECTRUM["d"]


def sent_by_twin(data, method):
    """Return the number of floats sent at each measurement of the perceptron runs."""
    return data["rounds"] * (VECTORS[method] * int(data["clients"]) * int(data["parameters"]))


def best(read, method):
    """Return the cell of a method's best step, by final accuracy over all seeds."""
    at_end = lambda cell: np.nan_to_num(read("final_accuracy", *cell)).mean()
    return max((cell for cell in read.cells if cell[0] == method), key=at_end)


def draw_figure(figure, data):
    left, right = figure.subplots(1, 2)
    for method in EXACT:
        _style.draw_line(
            left, floats_sent(data, method)[1:], data[f"{method}_error"][1:], method, markers=6
        )
    read = _runs.Runs(data)
    for method in VECTORS:
        curves, floats = read.curves_of(*best(read, method))[:, 1:], sent_by_twin(data, method)[1:]
        _style.draw_line(right, floats, np.nan_to_num(curves).mean(axis=0), method, markers=6)
    left.set(
        xscale="log", yscale="log", ylabel=r"$\mathbb{E}\,F(x_t)-F^\star$", xlabel="floats sent"
    )
    left.set_title("quadratics, exactly")
    right.set(xscale="log", ylabel="test accuracy", xlabel="floats sent")
    right.set_title("MNIST" if not _runs.is_smaller_scale(data) else "a twin of MNIST")
    _style.legend_below(figure, left, right, ncols=5)


def write_caption(data):
    given = {name: SPECTRUM[name] for name in ("L", "mu", "G", "xi_bar", "sigma", "sigma_0")}
    vectors = ", ".join(f"{_style.algorithm_look(m).label} {count}" for m, count in VECTORS.items())
    steps = len({cell[1] for cell in _runs.Runs(data).cells})
    own = (
        f"Vectors a round and client: {vectors}. Left: one quadratic problem of {SPECTRUM['d']} coordinates and "
        f"{SPECTRUM['clients']} clients, who all take part, {K} local steps; "
        f"{_caption.constants_text(ft.claim('fsl.theorem2').table, given)}; exact expectation of the clients' loss above its "
        f"minimum, at the step of a grid with the least after {data['exact_rounds'][-1]} rounds; Fed-AMS, Fed-LAMB and "
        f"FedAdam have none. Right: a perceptron of {int(data['parameters']):,} parameters, one digit a client, all "
        f"{int(data['clients'])} take part, {LOCAL} local steps; mean test accuracy, each method at the best of {steps} "
        f"step{'s' * (steps > 1)}."
    )
    return _experiment.write_caption(data, own, STAND_IN)


STAND_IN = "on a stand-in (handwriting of fonts for MNIST) and a small perceptron"


def floats_to_reach(data, level):
    """Return {method: floats sent until the error is below a level}; inf if the error never is."""
    found = {}
    for method in EXACT:
        below = np.flatnonzero(data[f"{method}_error"] < level)
        found[method] = floats_sent(data, method)[below[0]] if len(below) else np.inf
    return found


HIGH = 0.9  # of the median accuracy at the end: what floats of the twin are counted until


def reached_by_twin(data):
    """Return an accuracy, and {method: floats sent in the perceptron runs until the mean accuracy
    reaches it}."""
    read, found = _runs.Runs(data), {}
    means = {m: np.nan_to_num(read.curves_of(*best(read, m))).mean(axis=0) for m in VECTORS}
    level = HIGH * np.median([curve[-1] for curve in means.values()])
    for method, curve in means.items():
        there = np.flatnonzero(curve >= level)
        found[method] = sent_by_twin(data, method)[there[0]] if len(there) else np.inf
    return level, found


def describe_result(data):
    level = 2 * max(data[f"{method}_error"][-1] for method in EXACT)
    told = lambda found: ", ".join(
        f"{_style.algorithm_look(m).label} {_caption.number_text(count)}"
        for m, count in sorted(found.items(), key=lambda each: each[1])
    )
    ends = min(EXACT, key=lambda m: data[f"{m}_error"][-1])
    high, floats = reached_by_twin(data)
    return (
        f"Floats until the error is below {_caption.number_text(level)}: {told(floats_to_reach(data, level))}. The least error at the end "
        f"is that of {_style.algorithm_look(ends).label}, {_caption.number_text(data[f'{ends}_error'][-1])}. Of the perceptron, until its "
        f"accuracy is {_caption.number_text(high)}: {told(floats)}."
    )


def table_rows(data):
    found = [["problem", "method", "round", "floats", "error or accuracy"]]
    for n in sorted({int(n) for n in np.geomspace(1, data["exact_rounds"][-1], 12)}):
        for m in EXACT:
            value = f"{data[f'{m}_error'][n]:.4g}"
            found.append(["quadratics", m, str(n), f"{floats_sent(data, m)[n]:,}", value])
    read = _runs.Runs(data)
    for m in VECTORS:
        curve = read.curves_of(*best(read, m)).mean(axis=0)
        for n in sorted({int(n) for n in np.geomspace(1, len(curve) - 1, 6)}):
            numbers = [str(data["rounds"][n]), f"{sent_by_twin(data, m)[n]:,}", f"{curve[n]:.4g}"]
            found.append(["perceptron", m, *numbers])
    return found


FIGURE = Figure(
    cites="all papers, what is sent",
    title="Floats sent against error, steps tuned for each method",
    compute=compute_arrays,
    draw=draw_figure,
    rows=table_rows,
    caption=write_caption,
    says=describe_result,
    width="page",
    stacks=True,
    height=2.8,
)
