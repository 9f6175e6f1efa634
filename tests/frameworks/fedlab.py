"""Adapter for FedLab 1.3.0: handlers and serial trainers of `fedlab.contrib.algorithm`, called as
FedLab's own pipeline calls them. Each client has one batch, so that an epoch is one step.

FedLab imports torchvision for its data sets, none of which is used here. A torchvision that does
not fit the machine's PyTorch is replaced by a stand-in.
"""

from tests.frameworks._torch import Point, Steps, to_array, without_torchvision

without_torchvision()

from fedlab.contrib.algorithm import fedavg, feddyn, fedprox, scaffold  # noqa: E402

PINS = ("fedlab==1.3.0", "torch==2.13.0")
ETA = 0.25


class Loader:
    """A dataset in place of a FedDataset: one batch, which is the client's number."""

    def __init__(self, of):
        self.of = of

    def get_dataloader(self, i, batch_size):
        return [(self.of[i], self.of[i])]


class FedLab:
    """An adapter for a method of FedLab: `handler` and `trainer` are the framework's, and rounds go
    as in FedLab's StandalonePipeline."""

    weighted = False  # plain means: the framework's algorithms have no weights of clients

    def __init__(self, method, handler, trainer, hyper, server=(), client=()):
        self.method, self.hyper, self.classes = method, dict(eta_l=ETA, **hyper), (handler, trainer)
        self.server, self.client = dict(server), dict(client)
        self.says = f"{handler.__name__}, {trainer.__name__}"

    def start(self, task):
        handler, trainer = self.classes
        steps, model = Steps(), Point(task.x_0)
        server = handler(model, 10**6, 1.0)
        client = trainer(model, task.N)
        server.num_clients = task.N
        if self.server:
            server.setup_optim(**self.server)
        client.setup_dataset(Loader({i: i + 1 for i in range(task.N)}))
        client.setup_optim(task.hyper["K"], None, ETA, **self.client)
        client.criterion = steps.loss
        return server, client, steps

    def round(self, s, cohort, work, gradient):
        server, client, steps = s
        steps.begin(gradient)
        server.sample_ratio = (len(cohort) + 0.5) / server.num_clients
        server.sample_ratio = min(server.sample_ratio, 1.0)
        client.local_process(server.downlink_package, [i - 1 for i in cohort])
        for pack in client.uplink_package:
            server.load(pack)
        return s

    def state(self, s):
        server, client, _ = s
        found = dict(x=to_array(server.model_parameters))
        for name, mean, rows in (("c", "global_c", "cs"), ("h", "h", "L")):
            if hasattr(server, mean):
                found[name] = to_array(getattr(server, mean))
                known = enumerate(getattr(client, rows), 1)
                found[name + "_i"] = {i: to_array(row) for i, row in known if row is not None}
        return found


CASES = (
    FedLab(
        "fedavg",
        fedavg.FedAvgServerHandler,
        fedavg.FedAvgSerialClientTrainer,
        dict(weighting="plain"),
    ),
    FedLab(
        "fedprox",
        fedprox.FedProxServerHandler,
        fedprox.FedProxSerialClientTrainer,
        dict(mu_prox=0.5, weighting="plain"),
        client=dict(mu=0.5),
    ),
    FedLab(
        "scaffold",
        scaffold.ScaffoldServerHandler,
        scaffold.ScaffoldSerialClientTrainer,
        dict(eta_g=0.5, option="II"),
        server=dict(lr=0.5),
    ),
    FedLab(
        "feddyn",
        feddyn.FedDynServerHandler,
        feddyn.FedDynSerialClientTrainer,
        dict(alpha=0.5),
        server=dict(alpha=0.5),
        client=dict(alpha=0.5),
    ),
)
