"""Adapter for pfl 0.6.0: `pfl.algorithm` on a PyTorchModel, with rounds by the SimulatedBackend.
Each user has one row of data, so that a local epoch is one step."""

import asyncio

import torch
from pfl.aggregate.simulate import SimulatedBackend
from pfl.algorithm.base import NNAlgorithmParams
from pfl.algorithm.federated_averaging import FederatedAveraging
from pfl.algorithm.fedprox import FedProx, FedProxParams
from pfl.algorithm.scaffold import SCAFFOLD, SCAFFOLDParams
from pfl.data.pytorch import PyTorchTensorDataset
from pfl.data.user_state import InMemoryUserStateStorage
from pfl.hyperparam import NNTrainHyperParams
from pfl.metrics import Weighted
from pfl.model.pytorch import PyTorchModel

from tests.frameworks._torch import Point, Steps, to_array

PINS = ("pfl==0.6.0", "torch==2.13.0")
ETA = 0.25


class Model(Point):
    """A module with the methods that pfl uses: a loss and metrics of a user's rows."""

    def __init__(self, x_0, steps):
        super().__init__(x_0)
        self.steps = steps

    def loss(self, row):
        return self.steps.loss(self.x, row[0])

    def metrics(self, row):
        return dict(loss=Weighted(0.0, 1))


class Cohort:
    """A federated dataset that yields the users of a prescribed cohort."""

    def __init__(self):
        self.users = []

    def get_cohort(self, size):
        assert size == len(self.users)
        for i in self.users:
            yield PyTorchTensorDataset((torch.tensor([i]),), user_id=str(i)), 0


class Pfl:
    weighted = False  # each user counts as one

    def __init__(self, method, algorithm, parameters, hyper, more, first=0, eta_g=1.0):
        self.method, self.hyper, self.first = method, dict(eta_l=ETA, **hyper), first
        self.algorithm, self.parameters, self.more = algorithm, parameters, more
        self.eta_g = eta_g
        self.says = f"{algorithm.__name__}" + (
            ", option " + hyper["option"] if "option" in hyper else ""
        )

    def start(self, task):
        steps = Steps(self.first)
        module = Model(task.x_0, steps)
        model = PyTorchModel(
            module, torch.optim.SGD, torch.optim.SGD(module.parameters(), lr=self.eta_g)
        )
        data, storage = Cohort(), InMemoryUserStateStorage()
        return dict(
            model=model,
            steps=steps,
            data=data,
            storage=storage,
            algorithm=self.algorithm(),
            backend=SimulatedBackend(data, data),
            t=0,
            K=task.hyper["K"],
            N=task.N,
        )

    def given(self, s, size):
        more = {name: value(s) if callable(value) else value for name, value in self.more.items()}
        return self.parameters(
            central_num_iterations=10**6,
            evaluation_frequency=10**6,
            train_cohort_size=size,
            val_cohort_size=None,
            **more,
        )

    def round(self, s, cohort, work, gradient):
        """Run one iteration of the loop of `FederatedAlgorithm.run`."""
        s["steps"].begin(gradient)
        s["data"].users = cohort
        algorithm, model = s["algorithm"], s["model"]
        train = NNTrainHyperParams(
            local_num_epochs=s["K"], local_learning_rate=ETA, local_batch_size=None
        )
        contexts, model, metrics = algorithm.get_next_central_contexts(
            model, s["t"], self.given(s, len(cohort)), train
        )
        pairs = []
        for context in contexts:
            gathered = s["backend"].async_gather_results(model, algorithm, central_context=context)
            statistics, metrics = asyncio.run(gathered)
            pairs.append((context, statistics))
        s["model"], _ = algorithm.process_aggregated_statistics_from_all_contexts(
            tuple(pairs), metrics, model
        )
        return dict(s, t=s["t"] + 1)

    def state(self, s):
        found = dict(x=to_array(s["model"].pytorch_model.x))
        if self.algorithm is SCAFFOLD:  # variates are created when the first round begins
            made = hasattr(s["algorithm"], "_server_c")
            found["c"] = to_array(s["algorithm"]._server_c["x"]) if made else 0 * found["x"]
            kept = s["storage"]._cache
            found["c_i"] = {int(user): to_array(c["x"]) for (user, _), c in kept.items()}
        return found


def scaffold_case(option):
    return Pfl(
        "scaffold",
        SCAFFOLD,
        SCAFFOLDParams,
        dict(eta_g=0.5, option=option),
        dict(
            population=lambda s: s["N"],
            use_gradient_as_control_variate=option == "I",
            user_state_storage=lambda s: s["storage"],
        ),
        first=-1 if option == "I" else 0,
        eta_g=0.5,
    )


CASES = (
    Pfl("fedavg", FederatedAveraging, NNAlgorithmParams, dict(weighting="plain"), {}),
    Pfl("fedprox", FedProx, FedProxParams, dict(mu_prox=0.5, weighting="plain"), dict(mu=0.5)),
    scaffold_case("I"),
    scaffold_case("II"),
)
