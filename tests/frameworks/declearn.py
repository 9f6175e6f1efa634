"""Adapter for declearn 2.9.1: its Optimizer with the modules that a method consists of, at the
clients and at the server, and its AveragingAggregator, called as declearn's TrainingManager and
FederatedServer do. The model returns prescribed gradients."""

from declearn.aggregator import AveragingAggregator
from declearn.model.sklearn import NumpyVector
from declearn.optimizer import Optimizer
from declearn.optimizer.modules import AdamModule, ScaffoldClientModule, ScaffoldServerModule
from declearn.optimizer.regularizers import FedProxRegularizer

PINS = ("declearn==2.9.1",)
ETA = 0.25


class Model:
    """A model with the attributes and methods that an Optimizer uses."""

    def __init__(self, x):
        self.x = x

    def get_weights(self, trainable=False):
        return self.x

    def apply_updates(self, updates):
        self.x = self.x + updates

    def compute_batch_gradients(self, batch, max_norm=None):
        gradient, i, k = batch
        return NumpyVector({"x": gradient(i, self.x.coefs["x"], k)})


class Declearn:
    weighted = False  # each client counts as one, or as its number of steps

    def __init__(self, method, says, hyper, client=(), server=(), regularizers=(), eta=1.0):
        """Store the method and its settings; `client`, `server` and `regularizers` are functions
        that build their plug-ins anew for each optimizer."""
        self.method, self.says, self.hyper = method, says, dict(eta_l=ETA, **hyper)
        self.client, self.server, self.regularizers = client, server, regularizers
        self.eta = eta

    def start(self, task):
        of = lambda parts: [make() for make in parts]
        return dict(
            model=Model(NumpyVector({"x": task.x_0.copy()})),
            server=Optimizer(lrate=self.eta, modules=of(self.server)),
            clients={
                i: Optimizer(lrate=ETA, modules=of(self.client), regularizers=of(self.regularizers))
                for i in range(1, task.N + 1)
            },
            aggregator=AveragingAggregator(),
        )

    def round(self, s, cohort, work, gradient):
        model, server, sent, told = s["model"], s["server"], [], {}
        aux = server.collect_aux_var()
        for i, K in zip(cohort, work):
            optimizer, own = s["clients"][i], Model(model.get_weights())
            optimizer.process_aux_var(aux)
            optimizer.start_round()
            for k in range(K):
                optimizer.run_train_step(own, (gradient, i, k))
            gone = model.get_weights() - own.get_weights()
            sent.append(s["aggregator"].prepare_for_sharing(gone, K))
            for name, part in optimizer.collect_aux_var().items():
                told[name] = told.get(name, 0) + part
        server.process_aux_var(told)
        server.apply_gradients(model, s["aggregator"].finalize_updates(sum(sent)))
        return s

    def state(self, s):
        x = s["model"].x.coefs["x"]
        found = dict(x=x.copy())
        if self.method == "scaffold":
            value = lambda v: 0 * x if isinstance(v, float) else v.coefs["x"].copy()
            (module,) = s["server"].modules
            found["c"] = value(module.collect_aux_var().state)
            found["c_i"] = {i: value(o.modules[0].state) for i, o in s["clients"].items()}
        return found


ADAM = dict(eta=0.125, beta_1=0.5, beta_2=0.75, tau=0.25)
CASES = (
    Declearn("fedavg", "AveragingAggregator", dict(weighting="plain")),
    Declearn(
        "fedprox",
        "FedProxRegularizer",
        dict(mu_prox=0.5, weighting="plain"),
        regularizers=(lambda: FedProxRegularizer(alpha=0.5),),
    ),
    Declearn(
        "scaffold",
        "ScaffoldClientModule, ScaffoldServerModule",
        dict(eta_g=0.5, option="II"),
        (ScaffoldClientModule,),
        (ScaffoldServerModule,),
        eta=0.5,
    ),
    Declearn(
        "fedadam",
        "AdamModule at the server, as Kingma and Ba",
        dict(ADAM, weighting="plain", bias_correction="yes"),
        server=(lambda: AdamModule(beta_1=0.5, beta_2=0.75, eps=0.25),),
        eta=0.125,
    ),
)
