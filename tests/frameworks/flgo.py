"""Adapter for FLGo 0.4.4: `Server` and `Client` of `flgo.algorithm`, made without FLGo's simulator.
Attributes are set by hand, packages are passed as `BasicServer.communicate` passes them, and
`iterate` ends as the method's own does.

FLGo imports torchvision for its benchmarks, none of which is used here. A torchvision that does not
fit the machine's PyTorch is replaced by a stand-in.
"""

from types import SimpleNamespace

import torch

from tests.frameworks._torch import Point, Steps, to_array, without_torchvision

without_torchvision()

from flgo.algorithm import fedavg, feddyn, fedprox, scaffold  # noqa: E402
from flgo.utils.fmodule import FModule  # noqa: E402

PINS = ("flgo==0.4.4", "torch==2.13.0")
ETA = 0.25


def make_model(x_0):
    """Build an FLGo model from the point x_0; FLGo makes copies of models without arguments."""

    class Model(Point, FModule):
        def __init__(self):
            super().__init__(x_0)

    return Model()


class Calculator:
    """A calculator with the attributes and methods that a Client uses of its task."""

    def __init__(self, steps, client):
        self.steps, self.client = steps, client

    def get_optimizer(self, model, lr, weight_decay, momentum):
        return torch.optim.SGD(model.parameters(), lr, momentum, weight_decay=weight_decay)

    def get_dataloader(self, *_, **__):
        return [self.client]

    def compute_loss(self, model, batch):
        return dict(loss=self.steps.loss(model.x, batch))


class Flgo:
    weighted = False  # each client has one sample

    def __init__(self, method, module, hyper, **given):
        self.method, self.module, self.hyper = method, module, dict(eta_l=ETA, **hyper)
        self.given = given  # in the order of the algorithm's own parameters
        self.says = f"{module.__name__.rpartition('.')[2]}.Server, Client"

    def client(self, i, K, steps):
        client = self.module.Client.__new__(self.module.Client)
        vars(client).update(
            id=i, device=torch.device("cpu"), calculator=Calculator(steps, i), datavol=1
        )
        vars(client).update(learning_rate=ETA, momentum=0.0, weight_decay=0.0, clip_grad=0.0)
        vars(client).update(num_steps=K, batch_size=1, loader_num_workers=0, current_steps=0)
        vars(client).update(train_data=None, data_loader=None, _train_loader=None, model=None)
        vars(client).update(option=dict(pin_memory=False), _cache_vars=[])
        return client

    def start(self, task):
        steps = Steps()
        clients = [self.client(i + 1, task.hyper["K"], steps) for i in range(task.N)]
        server = self.module.Server.__new__(self.module.Server)
        vars(server).update(model=make_model(task.x_0), clients=clients, num_clients=task.N)
        vars(server).update(device=torch.device("cpu"), proportion=1.0, id=-1)
        vars(server).update(aggregation_option="uniform", gv=SimpleNamespace(logger=None))
        vars(server).update(option=dict(algo_para=list(self.given.values()) or None))
        vars(server).update(_object_map=dict(enumerate(clients)), algo_para={})
        server.initialize()
        for client in clients:
            client.initialize()
        return server, steps

    def round(self, s, cohort, work, gradient):
        server, steps = s
        steps.begin(gradient)
        ids = [i - 1 for i in cohort]
        replies = [server.clients[i].reply(server.pack(i)) for i in ids]
        server.received_clients, found = ids, server.unpack(replies)
        if self.method == "scaffold":
            server.model, server.cg = server.aggregate(found["dy"], found["dc"])
        else:
            server.model = server.aggregate(found["model"])
        return s

    def state(self, s):
        server, _ = s
        found = dict(x=to_array(server.model.x))
        for name, mean, own in (("c", "cg", "c"), ("h", "h", "gradL")):
            if hasattr(server, mean):
                found[name] = to_array(getattr(server, mean).x)
                kept = {i: getattr(client, own) for i, client in enumerate(server.clients, 1)}
                found[name + "_i"] = {i: to_array(c.x) for i, c in kept.items() if c is not None}
        return found


CASES = (
    Flgo("fedavg", fedavg, dict(weighting="plain")),
    Flgo("fedprox", fedprox, dict(mu_prox=0.5, weighting="plain"), mu=0.5),
    Flgo("scaffold", scaffold, dict(eta_g=0.5, option="II"), eta=0.5),
    Flgo("feddyn", feddyn, dict(alpha=0.5), alpha=0.5),
)
