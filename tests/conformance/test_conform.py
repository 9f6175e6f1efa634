"""Implementations typed anew from the papers in NumPy agree; each of their faults is caught, and the
line that was broken is named."""

import numpy as np
import pytest

from fedtheory.conformance import conform, listings
from fedtheory.discover import algorithm
from fedtheory.errors import InvalidInput

ETA = 0.25


def locally(x, i, steps, gradient, direction, faults, at=None):
    """K local steps; `direction` is (g, y) -> what is subtracted, times eta."""
    y = (x if at is None else at).copy()
    for k in range(steps + ("steps" in faults)):
        g = gradient(i, y, k)
        y = y + ETA * direction(g, y) if "sign" in faults else y - ETA * direction(g, y)
    return y


class FedAvg:
    method, hyper = "fedavg", dict(eta_l=ETA, weighting="samples")

    def __init__(self, *faults):
        self.faults = faults

    def start(self, task):
        self.N, self.p, self.h = task.N, task.weights, task.hyper
        return dict(x=task.x_0.copy())

    def cohort(self, cohort):
        return list(range(1, len(cohort) + 1)) if "biased" in self.faults else cohort

    def round(self, s, cohort, work, gradient):
        cohort, x = self.cohort(cohort), s["x"]
        at = x + 0.5 if "start" in self.faults else None
        y = {
            i: locally(x, i, n, gradient, lambda g, y: g, self.faults, at)
            for i, n in zip(cohort, work)
        }
        w = {i: self.p[i - 1] for i in cohort}
        if "weights" in self.faults:
            w = dict.fromkeys(cohort, 1.0)
        total = 1.0 if "denominator" in self.faults else sum(w.values())
        s["x"] = sum(w[i] * y[i] for i in cohort) / total
        if "first" in self.faults:
            s["x"] = y[cohort[0]]
        return s

    def state(self, s):
        return s


class Scaffold(FedAvg):
    method = "scaffold"

    def __init__(self, option, *faults):
        self.option, self.faults = option, faults
        self.hyper = dict(eta_l=ETA, eta_g=0.5, option=option)

    def start(self, task):
        s, zero = super().start(task), np.zeros_like(task.x_0)
        return dict(s, c=zero.copy(), c_i={i: zero.copy() for i in range(1, task.N + 1)})

    def round(self, s, cohort, work, gradient):
        cohort, f = self.cohort(cohort), self.faults
        x, c, own, N, S = s["x"], s["c"], s["c_i"], self.N, len(cohort)
        dx, dc = np.zeros_like(x), np.zeros_like(x)
        if "stale" in f:  # the variate of a round before
            c, s["old"] = s.get("old", c), s["c"]
        for i, K in zip(cohort, work):
            drift = {"swap": own[i] - c, "no c": -own[i], "no c_i": c}
            term = next((drift[name] for name in drift if name in f), c - own[i])
            y = locally(x, i, K, gradient, lambda g, y: g + term, f)
            if self.option == "I":
                plus = gradient(i, y if "fresh" in f else x, -1)
            else:
                K = K + ("K" in f)
                plus = own[i] - c + (x - y) / (K * ETA * (2 if "eta" in f else 1))
                if "keeps c" in f:
                    plus = own[i] + (x - y) / (K * ETA)
            weight = 1.0 if "weights" in f else N * self.p[i - 1]
            dx += weight * (y - x) / S
            dc += weight * (plus if "full" in f else plus - own[i]) / S
            if "forgets" not in f:
                own[i] = plus
        s["x"] = x + (1.0 if "eta_g" in f else 0.5) * dx
        s["c"] = s["c"] + (1.0 if "cohort" in f else S / N) * (-dc if "minus" in f else dc)
        return s


class FedDyn(FedAvg):
    method, hyper = "feddyn", dict(eta_l=ETA, alpha=0.5)

    def start(self, task):
        s, zero = super().start(task), np.zeros_like(task.x_0)
        return dict(s, h=zero.copy(), h_i={i: zero.copy() for i in range(1, task.N + 1)})

    def round(self, s, cohort, work, gradient):
        f, a, x = self.faults, 0.5, s["x"]
        N, S = self.N, len(cohort)
        ends = np.zeros_like(x)
        for i, K in zip(cohort, work):
            pull = 0.0 if "no prox" in f else a
            h_i = -s["h_i"][i] if "plus" in f else s["h_i"][i]
            y = locally(x, i, K, gradient, lambda g, y: g - h_i + pull * (y - x), f)
            s["h_i"][i] = s["h_i"][i] + (a if "h_i" in f else -a) * (y - x)
            weight = 1.0 if "weights" in f else N * self.p[i - 1]
            ends += weight * (y - x) / S
            s["h"] = s["h"] - a * weight * (y - x) / (S if "cohort" in f else N)
        s["x"] = x + ends - (0.0 if "no h" in f else s["h"] / a)
        return s


class SchemeC(FedAvg):
    method, hyper = "flex_c", dict(eta=ETA, E=3)

    def round(self, s, cohort, work, gradient):
        f, x = self.faults, s["x"]
        total = np.zeros_like(x)
        for i, n in zip(cohort, work):
            y = locally(x, i, n, gradient, lambda g, y: g, f)
            if n:
                scale = 1.0 if "unscaled" in f else self.h["E"] / n
                total += (1 / self.N if "weights" in f else self.p[i - 1]) * scale * (y - x)
            elif "mean" in f:
                total = total / 2
        s["x"] = x + total
        return s


class SchemeB(FedAvg):
    method, hyper = "flex_b", dict(eta=ETA, E=3)

    def round(self, s, cohort, work, gradient):
        y = {i: locally(s["x"], i, n, gradient, lambda g, y: g, ()) for i, n in zip(cohort, work)}
        p = {i: 1 / self.N if "weights" in self.faults else self.p[i - 1] for i in cohort}
        s["x"] = s["x"] + sum(p[i] * (y[i] - s["x"]) for i in cohort)
        return s


class SchemeA(FedAvg):
    method, hyper = "flex_a", dict(eta=ETA, E=3)

    def round(self, s, cohort, work, gradient):
        x, done = s["x"], [i for i, n in zip(cohort, work) if n == self.h["E"]]
        total = np.zeros_like(x)
        for i, n in zip(cohort, work):
            y = locally(x, i, n, gradient, lambda g, y: g, ())
            if i in done or "keeps" in self.faults:
                share = 1.0 if "N" in self.faults else self.N / max(len(done), 1)
                total += share * self.p[i - 1] * (y - x)
        s["x"] = x + total
        return s


class FedProx(FedAvg):
    method, hyper = "fedprox", dict(eta_l=ETA, mu_prox=0.5, weighting="plain")

    def round(self, s, cohort, work, gradient):
        x, f = s["x"], self.faults
        mu = {"no prox": 0.0, "pushes": -0.5, "twice": 1.0}.get((*f, "")[0], 0.5)
        y = [
            locally(x, i, n, gradient, lambda g, y: g + mu * (y - x), f)
            for i, n in zip(cohort, work)
        ]
        s["x"] = y[0] if "first" in f else sum(y) / len(y)
        return s


class Parallel(FedAvg):
    """PT and, with gradients transferred, 2-way GT: plain SGD everywhere, merge step one."""

    method = "parallel_training"
    hyper = dict(
        eta=ETA,
        eta_s=0.5,
        eta_c=0.125,
        **dict.fromkeys(("client_opt", "server_opt", "central_opt", "merge_opt"), "sgd"),
    )

    def start(self, task):
        return dict(super().start(task), g_c=0 * task.x_0, g_f=0 * task.x_0)

    def round(self, s, cohort, work, gradient):
        x, f, two = s["x"], self.faults, self.method == "two_way_gt"
        g_c, g_f = (s["g_c"], s["g_f"]) if two else (0.0, 0.0)
        y, seen, w, central = [], [], x.copy(), []
        for i, n in zip(cohort, work):
            taken = []
            y.append(
                locally(
                    x,
                    i,
                    n,
                    lambda *a: taken.append(gradient(*a)) or taken[-1],
                    lambda g, y: g + g_c,
                    f,
                )
            )
            seen += taken
        x_f = x + 0.5 * (sum(y) / len(y) - x)
        if "after" in f:
            w = x_f.copy()
        for k in range(work[0]):
            central.append(gradient(0, w, k))
            w = w - 0.125 * (central[-1] + g_f)
        if two:
            s["g_f"], s["g_c"] = sum(seen) / len(seen), sum(central) / len(central)
            if "swapped" in f:
                s["g_f"], s["g_c"] = s["g_c"], s["g_f"]
        s["x"] = (w + x_f) / 2 if "mean" in f else w + x_f - x
        return s

    def state(self, s):
        return s if self.method == "two_way_gt" else dict(x=s["x"])


class TwoWay(Parallel):
    method, hyper = "two_way_gt", Parallel.hyper | dict(transfer="gradients")


class OneWay(FedAvg):
    method, hyper = "one_way_gt", dict(eta=ETA, eta_s=0.5)

    def round(self, s, cohort, work, gradient):
        f, x = self.faults, s["x"]
        known = s.get("g") if "stale" in f else None
        g_c = gradient(0, x + 1.0 if "elsewhere" in f else x, -1)
        s["g"] = g_c
        g_c = g_c if known is None else known
        sign = -1.0 if "minus" in f else 0.0 if "none" in f else 1.0
        y = [
            locally(x, i, n, gradient, lambda g, y: g + sign * g_c, f) for i, n in zip(cohort, work)
        ]
        change = sum(y) / (self.N if "N" in f else len(y)) - (0 * x if "N" in f else x)
        if "N" in f:
            change -= x * len(y) / self.N
        s["x"] = x + (1.0 if "eta_s" in f else 0.5) * change
        return s


class Fsl(FedAvg):
    method, hyper = "fsl", dict(eta_l=ETA, eta_0=0.125, gamma=0.5)

    def round(self, s, cohort, work, gradient):
        f, x = self.faults, s["x"]
        y = [locally(x, i, n, gradient, lambda g, y: g, f) for i, n in zip(cohort, work)]
        w = x if "before" in f else sum(y) / len(y)
        if "no server" not in f:
            for k in range(3):
                w = w - (1.0 if "gamma" in f else 0.5) * 0.125 * gradient(0, w, k)
        s["x"] = w
        return s


class FedAdam(FedAvg):
    method, hyper = "fedadam", dict(eta_l=ETA, eta=0.125, beta_1=0.5, beta_2=0.75, tau=0.25)

    def start(self, task):
        s, x = super().start(task), task.x_0
        return dict(s, m=np.zeros_like(x), v=np.full_like(x, 0.25**2))

    def round(self, s, cohort, work, gradient):
        x = s["x"]
        y = [locally(x, i, n, gradient, lambda g, y: g, self.faults) for i, n in zip(cohort, work)]
        delta = sum(y) / len(y) - x
        s["m"] = 0.5 * s["m"] + 0.5 * delta
        s["v"] = 0.75 * s["v"] + 0.25 * (abs(delta) if "v" in self.faults else delta * delta)
        s["x"] = x + 0.125 * s["m"] / (np.sqrt(s["v"]) + 0.25)
        return s


def asked(code):
    return conform(code.method, code.start, code.round, code.state, code.hyper)


FAITHFUL = [
    FedAvg(),
    Scaffold("I"),
    Scaffold("II"),
    FedDyn(),
    SchemeC(),
    OneWay(),
    Fsl(),
    FedAdam(),
    SchemeB(),
    SchemeA(),
    FedProx(),
    Parallel(),
    TwoWay(),
]
# (code with a fault, key of the line that is broken)
FAULTS = [
    (FedAvg("sign"), "step"),
    (FedAvg("denominator"), "x"),
    (FedAvg("weights"), "x"),
    (FedAvg("first"), "x"),
    (FedAvg("biased"), "cohort"),
    (FedAvg("start"), "start"),
    (FedAvg("steps"), "steps"),
    (Scaffold("II", "swap"), "step"),
    (Scaffold("II", "no c"), "step"),
    (Scaffold("II", "no c_i"), "step"),
    (Scaffold("II", "stale"), "step"),
    (Scaffold("II", "sign"), "step"),
    (Scaffold("II", "biased"), "cohort"),
    (Scaffold("II", "eta"), "c_i"),
    (Scaffold("II", "K"), "c_i"),
    (Scaffold("II", "keeps c"), "c_i"),
    (Scaffold("II", "forgets"), "c_i"),
    (Scaffold("II", "full"), "c"),
    (Scaffold("II", "cohort"), "c"),
    (Scaffold("II", "minus"), "c"),
    (Scaffold("II", "eta_g"), "x"),
    (Scaffold("I", "fresh"), "fresh"),
    (FedDyn("no prox"), "step"),
    (FedDyn("plus"), "step"),
    (FedDyn("h_i"), "h_i"),
    (FedDyn("cohort"), "h"),
    (FedDyn("no h"), "x"),
    (SchemeC("unscaled"), "x"),
    (SchemeC("weights"), "x"),
    (SchemeC("mean"), "x"),
    (OneWay("stale"), "step"),
    (OneWay("elsewhere"), "server"),
    (OneWay("minus"), "step"),
    (OneWay("none"), "step"),
    (OneWay("eta_s"), "x"),
    (OneWay("N"), "x"),
    (Fsl("before"), "server_start"),
    (Fsl("no server"), "server_steps"),
    (Fsl("gamma"), "server_step"),
    (FedAdam("v"), "v"),
    (SchemeB("weights"), "x"),
    (SchemeA("keeps"), "x"),
    (SchemeA("N"), "x"),
    (FedProx("no prox"), "step"),
    (FedProx("pushes"), "step"),
    (FedProx("twice"), "step"),
    (FedProx("first"), "x"),
    (Parallel("after"), "server_start"),
    (Parallel("mean"), "x"),
    (TwoWay("swapped"), "g_c"),
]
NAME = lambda code: "-".join([type(code).__name__, getattr(code, "option", ""), *code.faults])


@pytest.mark.parametrize("code", FAITHFUL, ids=NAME)
def test_faithful_code_agrees_on_every_instance(code):
    found = asked(code)
    assert found.broken is None and len(found.agreed) >= 4, str(found)


@pytest.mark.parametrize("code, key", FAULTS, ids=lambda v: v if isinstance(v, str) else NAME(v))
def test_a_fault_is_caught_and_its_line_is_named(code, key):
    found = asked(code)
    assert found.broken is not None
    assert found.broken.line == listings.listing_line(algorithm(code.method), key), str(found)


def test_the_first_instance_that_shows_it_is_the_smallest():
    """With equal weights no weight is dropped; with one client a cohort is the population."""
    assert asked(FedAvg("weights")).agreed[-1] == "three clients, two a round"
    assert asked(Scaffold("II", "cohort")).agreed[-1] == "two clients, all of them"
    told = str(asked(Scaffold("II", "cohort")))
    assert "lines 16 and 17: c <- c + (S/N) mean_S" in told
    assert "f_3 = 1 ||x||^2" in told and "weights [1/3, 1/3, 1/3]" in told


@pytest.mark.parametrize(
    "method, more, says",
    [
        ("no_such", {}, "algorithm must be one of"),
        ("fedavg", dict(round=5), "round must be a function"),
        ("fedavg", dict(hyper=dict(eta=1.0)), "has no hyper-parameter eta"),
        ("fedavg", dict(state=lambda s: [1]), "state must return a dict with x"),
        ("data_sharing", {}, "must train on the problem's own losses"),
    ],
)
def test_bad_input_is_refused(method, more, says):
    code = FedAvg()
    given = dict(start=code.start, round=code.round, state=code.state, hyper=code.hyper) | more
    with pytest.raises(InvalidInput, match=says):
        conform(method, **given)


def test_code_that_takes_its_own_gradients_is_seen_after_its_rounds():
    """No gradient is asked of us: the path is compared, noise is left out, and a fault has its round."""

    def start(task):
        return dict(x=task.x_0, a=task.a, b=task.b)

    def walk(sign):
        def round(s, cohort, work, gradient):
            ends = []
            for i, steps in zip(cohort, work):
                y = s["x"].copy()
                for _ in range(steps):
                    y = y - sign * ETA * s["a"][i] * (y - s["b"][i])
                ends.append(y)
            return dict(s, x=sum(ends) / len(ends))

        return round

    hyper, state = dict(eta_l=ETA, weighting="plain"), lambda s: dict(x=s["x"])
    good = conform("fedavg", start, walk(1), state, hyper)
    assert good.broken is None and good.agreed[-1] == "unequal weights"
    bad = conform("fedavg", start, walk(-1), state, hyper)
    assert bad.broken.line.startswith("seen when the round is over: McMahan")
