"""One round from a known point, exactly and many times over: what a search over instances evaluates.

Which rounds to run, and how their ends combine into a mean and a covariance, depends only on who may take
part. It is laid out once; an evaluation is then one call of the engine and a few small products.
"""

from dataclasses import replace

import numpy as np

from fedtheory.checks.following import decoupled, round_of
from fedtheory.checks.models import Additive, Exchange, agrees
from fedtheory.checks.probe import FAR, Batch, Prober
from fedtheory.errors import NotExact, refuse
from fedtheory.problem import IMPULSE
from fedtheory.running import _plan


class OneRound:
    """E x' and Cov x' after one round from x: `OneRound(problem, "fsl", S=2, eta_l=.1, ...)(x)`.

    The arrays of `problem.data`, `problem.sigma` and `problem.weights` are read anew in each call, so a
    search writes its instance into them; it keeps diagonal what was diagonal. Real-valued
    hyper-parameters may be given anew in each call.
    """

    def __init__(self, problem, algorithm, *, S=None, participation=None, **hyper):
        plan = _plan(problem, algorithm, rounds=1, trials=1, seed=0, S=S, participation=participation, keep="metrics",
                     names=(), given=hyper)
        if not problem.affine or problem.noise == "minibatch":
            raise NotExact(f"{problem.name} has gradients that are not affine, or noise that depends on the point")
        self.problem, self.algorithm, self.h = problem, plan.algorithm, plan.hyper[0]
        self.layers = np.array([layer.start for layer in problem.layers] + [problem.d], dtype=np.int64)
        self.boost = plan.participation.shares(np.ones(problem.N + 1), 0, 1)[0]
        noisy = replace(problem, sigma=np.ones(problem.N + 1))    # sigma may be 0 now and not later
        batch = Batch(noisy, self.algorithm, np.zeros(problem.d), plan.S, self.h, 64)
        round = round_of(plan, batch, 0)
        prober = Prober(batch, round, batch.first, None, not decoupled(problem))
        with np.errstate(all="ignore"):
            model = Additive(prober, False)
            sound = agrees(model, prober, False)
        if not sound:
            raise NotExact(f"{self.algorithm.name}: its clients' parts do not add up, or its round is not affine in "
                           "noise")
        exchange, law = Exchange(round.law), round.law
        self._weights(exchange, law)
        self._trials(exchange, law, prober, any((item.index % prober.columns > prober.M).any()
                                                for item in model.items.values()))
        self.batch = Batch(problem, self.algorithm, np.zeros(problem.d), plan.S, self.h, len(self.cohorts))
        self.round, self.far, self.coupled = round, 1.0, prober.coupled

    def _weights(self, exchange, law):
        """How the rounds of an exchange combine: `mean` (V,), and `deviations` (., V) whose squares add up."""
        coefficient = exchange.coefficient.copy()
        coefficient[:, 0] -= coefficient.sum(axis=1)
        each, rest = [], []
        for i in range(1, law.N + 1):
            chances = law.pmf[i - 1, law.support(i)]
            mine = coefficient[[exchange.place[i, s] for s in law.support(i)]]
            each.append(chances @ mine)
            rest += list(np.sqrt(law.square * chances)[:, None] * (mine - each[-1]))
        each = np.array(each)
        self.mean = law.S * each.mean(axis=0) - coefficient[exchange.home_items].sum(axis=0)
        self.mean[0] += 1.0
        rest += list(np.sqrt(law.spread) * (each - each.mean(axis=0)))
        self.deviations = np.linalg.qr(np.array(rest), mode="r")
        self.deviations = self.deviations[np.abs(self.deviations).max(axis=1, initial=0.0) > 1e-14]

    def _trials(self, exchange, law, prober, varies):
        """Cohorts, work and impulses: every round of the exchange, then each call of noise in each direction."""
        batch, V, d = prober.batch, len(exchange.cohorts), self.problem.d
        vectors = np.eye(d) if prober.coupled else np.ones((1, d))
        server = [0] * batch.asks_server + [None] * prober.round.server_work
        which, ordinal = list(range(V)), [-1] * V
        self.rounds, self.varies = V, varies    # the server's noise may reach x' through the cohort
        for v in range(V if varies else 1):
            for k, call in enumerate(server):
                which.append(v)
                ordinal.append(0 if call == 0 else batch.ordinal(exchange.works[v], law.S, k - batch.asks_server))
        self.server_calls, self.base, self.clients, self.square = len(server), [], [], []
        for (i, s), (v, slot) in exchange.where.items():
            for k in [-1] * batch.asks_client + list(range(s)):
                which.append(v)
                ordinal.append(batch.ordinal(exchange.works[v], slot, k))
                self.base.append(v), self.clients.append(i), self.square.append(law.square * law.pmf[i - 1, s] / d)
        repeats = np.where(np.arange(len(which)) < V, 1, len(vectors))
        which, ordinal = np.repeat(which, repeats), np.repeat(ordinal, repeats)
        self.cohorts, self.works = exchange.cohorts[which], exchange.works[which]
        self.table = np.zeros((len(which), 2, d))
        self.table[:, 0, 0] = ordinal
        self.table[V:, 1] = np.tile(vectors, ((len(which) - V) // len(vectors), 1))
        self.e, self.base = len(vectors), np.array(self.base, dtype=np.int64)
        self.clients, self.square = np.array(self.clients, dtype=np.int64), np.array(self.square)

    def _square(self, answers):
        """The covariance of `answers` (., e, d) to unit noise."""
        flat = answers.reshape(-1, answers.shape[-1])
        return flat.T @ flat if self.coupled else np.diag(np.einsum("ij,ij->j", flat, flat))

    def __call__(self, x, **numbers):
        """Mean (d,) and covariance (d, d) of x'."""
        for name, value in numbers.items():
            if not isinstance(getattr(self.h, name, 0), float):
                refuse(name, f"must be one of {self.algorithm.name}'s real-valued hyper-parameters", value)
        h = self.h._replace(**{name: float(value) for name, value in numbers.items()}) if numbers else self.h
        problem, batch, d, V = self.problem, self.batch, self.problem.d, self.rounds
        if self.algorithm.transform is not None:
            batch.objective_is(problem, h)
        far = FAR * 2.0 ** np.ceil(np.log2(1.0 + np.abs(x).max()))
        if far != self.far:
            self.table[V:, 1] *= far / self.far
            self.far = far
        trained = batch.machine.trained
        round = self.round._replace(h=h, shares=trained.weights * self.boost)
        state = self.algorithm.init(np.ascontiguousarray(x, dtype=np.float64), problem.N, self.layers, h)
        batch.run(round, state, self.cohorts, self.works, IMPULSE, self.table)
        ends = batch.slabs.x[:len(self.cohorts)]
        Y = ends[:V]
        gaps = self.deviations @ Y
        covariance = gaps.T @ gaps
        server, cut = self.server_calls * self.e, V + (V if self.varies else 1) * self.server_calls * self.e
        if server and trained.sigma[0] > 0:
            answers = (ends[V:cut].reshape(-1, server, d) - Y[:V if self.varies else 1, None]) / far
            if self.varies:
                answers = np.tensordot(np.vstack([self.mean, self.deviations]), answers, axes=1)
            covariance += self._square(answers) * (trained.sigma[0] ** 2 / d)
        if self.base.size:
            scale = np.sqrt(self.square) * trained.sigma[self.clients] / far
            answers = ends[cut:].reshape(-1, self.e, d) - Y[self.base, None]
            covariance += self._square(answers * scale[:, None, None])
        return self.mean @ Y, covariance
