"""Adapter for Flower 1.29.0: strategies of `flwr.server.strategy`. A strategy aggregates; the
clients' local steps, which Flower leaves to its users, are plain SGD here, with FedProx's term for
the mu that the strategy sends."""

import logging
from unittest.mock import Mock

import numpy as np
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.client_manager import SimpleClientManager
from flwr.server.client_proxy import ClientProxy
from flwr.server.strategy import FedAdam, FedAvg, FedProx

PINS = ("flwr==1.29.0",)
ETA = 0.25
# otherwise Flower warns of too few clients in every round
logging.getLogger("flwr").setLevel(logging.ERROR)


class Flower:
    weighted = True

    def __init__(self, method, strategy, hyper, says="", first=1, **given):
        self.method, self.hyper = method, dict(eta_l=ETA, **hyper)
        self.first = first  # the first round's number, 1 in Flower's own loop
        self.strategy, self.given = strategy, given
        self.says = strategy.__name__ + says

    def start(self, task):
        x = ndarrays_to_parameters([task.x_0])
        return dict(
            x=x,
            t=self.first,
            strategy=self.strategy(
                initial_parameters=x, min_fit_clients=1, min_available_clients=1, **self.given
            ),
            examples=[round(60 * p) for p in task.weights],
        )

    def round(self, s, cohort, work, gradient):
        server_round = s["t"]
        clients = SimpleClientManager()
        proxies = {}
        for i in cohort:
            proxies[i] = Mock(spec=ClientProxy, cid=str(i))
            clients.register(proxies[i])
        told = s["strategy"].configure_fit(server_round, s["x"], clients)
        config = {proxy.cid: fit.config for proxy, fit in told}
        results = []
        for i, K in zip(cohort, work):
            (x,) = parameters_to_ndarrays(s["x"])
            y, mu = x.copy(), config.get(str(i), {}).get("proximal_mu", 0.0)
            for k in range(K):
                y = y - ETA * (gradient(i, y, k) + mu * (y - x))
            sent = ndarrays_to_parameters([y])
            results.append(
                (proxies[i], FitRes(Status(Code.OK, ""), sent, s["examples"][i - 1], {}))
            )
        x, _ = s["strategy"].aggregate_fit(server_round, results, [])
        return dict(s, x=x, t=server_round + 1)

    def state(self, s):
        found = dict(x=parameters_to_ndarrays(s["x"])[0])
        strategy = s["strategy"]
        for name, kept in (("m", "m_t"), ("v", "v_t")):
            if getattr(strategy, kept, None):
                found[name] = np.array(getattr(strategy, kept)[0])
        return found


ADAM = dict(eta=0.125, beta_1=0.5, beta_2=0.75)


def adam_case(says, tau, correction, first=1):
    hyper = dict(ADAM, tau=tau, weighting="samples", bias_correction=correction)
    return Flower("fedadam", FedAdam, hyper, says, first, tau=tau, **ADAM)


CASES = (
    Flower("fedavg", FedAvg, dict(weighting="samples")),
    Flower("fedprox", FedProx, dict(mu_prox=0.5, weighting="samples"), proximal_mu=0.5),
    adam_case(", as Reddi et al.", 0.25, "no"),
    # tau is almost 0: Kingma and Ba add it to the root of v / (1 - beta_2^t), Flower to that of v
    adam_case(", as Kingma and Ba", 1e-9, "yes"),
    adam_case(", as Kingma and Ba, with rounds counted from 0", 1e-9, "yes", first=0),
)
