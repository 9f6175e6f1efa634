"""A problem made of any function of parameters and a batch, so that every method here can train a
user's own model.

`from_function` takes loss and gradient as they come, from NumPy or anywhere; `from_torch` a PyTorch
module and `from_jax` a JAX function, which are loaded when these are called. Nothing is known of such
losses beforehand: `estimated` measures constants at given points, such as a run's, and says so.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.errors import InvalidInput, refuse
from fedtheory.problem import Constant, Kernels, Problem, layers_from
from fedtheory.problems import _samples
from fedtheory.typing import Number

ONE_AT_A_TIME = threading.Lock()  # trials share threads, and functions of users' own share modules


class Data(NamedTuple):
    """A user's function with the samples of server and clients."""

    function: Callable[..., Any]  # (x, batch) -> (loss, gradient), means over the batch
    batches: tuple[Any, ...]  # (N + 1,) all samples of the server, or None, and of the clients


def batch_arrays(batch: Any) -> Any:
    """Return the list of a batch's arrays; a batch is one array, or a tuple, list or dict of
    arrays."""
    if isinstance(batch, dict):
        return list(batch.values())
    return list(batch) if isinstance(batch, (tuple, list)) else [batch]


def pick_samples(batch: Any, rows: np.ndarray) -> Any:
    """Return the samples `rows` of a batch, in the form (array, tuple, list or dict) of the batch."""
    if isinstance(batch, dict):
        return {name: part[rows] for name, part in batch.items()}
    if isinstance(batch, (tuple, list)):
        return type(batch)(part[rows] for part in batch)
    return batch[rows]


def call_model(data: Any, i: int, x: np.ndarray, batch: Any) -> Any:
    """Return the (loss, gradient) that the user's function returns, the loss as a float; refuse any
    other result, naming the client."""
    with ONE_AT_A_TIME:
        answer = data.function(x.copy(), batch)
    who = "the server" if i == 0 else f"client {i}"
    if not isinstance(answer, tuple) or len(answer) != 2:
        refuse("function", "must return (loss, gradient)", answer)
    loss, gradient = np.asarray(answer[0]), np.asarray(answer[1])
    if loss.size != 1 or loss.dtype.kind not in "fiu":
        refuse("function", f"must return one number as the loss of {who}", answer[0])
    if gradient.shape != x.shape or gradient.dtype.kind not in "fiu":
        refuse("function", f"must return a gradient of shape {x.shape} for {who}", gradient.shape)
    return float(loss.reshape(())), gradient


def grad(data: Any, i: int, x: np.ndarray, out: np.ndarray) -> Any:
    """Compute grad f_i(x) into `out` by one call of the user's function on all samples of client i."""
    out[:] = call_model(data, i, x, data.batches[i])[1]


def loss(data: Any, i: int, x: np.ndarray) -> Any:
    """Return f_i(x) by one call of the user's function on all samples of client i."""
    return call_model(data, i, x, data.batches[i])[0]


def batch(data: Any, i: int, rows: np.ndarray, draw: int, x: np.ndarray, out: np.ndarray) -> Any:
    """Compute the mean gradient over `rows` of client i's samples into `out`."""
    out[:] = call_model(data, i, x, pick_samples(data.batches[i], np.array(rows)))[1]


def objective(data: Any, p: np.ndarray, x: np.ndarray, out: np.ndarray) -> Any:
    """Return F and write its gradient to `out`, with one call of the user's function for each
    client of positive weight. The sum runs over clients in order."""
    value = 0.0
    out[:] = 0.0
    for i in range(1, p.size):
        if p[i] != 0.0:
            own, slope = call_model(data, i, x, data.batches[i])
            value += p[i] * own
            out += p[i] * slope
    return value


KERNELS = Kernels(grad, loss, objective, batch)


def from_function(
    function: int | Callable[..., Any],
    clients: Any,
    x_0: np.ndarray | Sequence[float],
    server: Any = None,
    batch: Any = 32,
    batch_0: int | None = None,
    replacement: bool = False,
    weights: str | None = None,
    layers: Sequence[int] | None = None,
    name: str = "function",
) -> Problem:
    """Build a problem from `function(x, batch)`, which returns the mean loss over a batch at x,
    (d,), and its gradient.

    `clients` holds N batches, each client's samples: an array, or a tuple or dict of arrays of one
    length, of which `function` gets all or some rows. `server` is its own batch, by name. Runs start
    at `x_0`; minibatches, weights and layers are as for `ft.problems.mlp`. Calls come one at a time.
    Nothing is compiled, so that a gradient costs what `function` costs, and some 20 microseconds.

    >>> import numpy as np
    >>> import fedtheory as ft
    >>> def squares(x, batch):
    ...     A, y = batch
    ...     gap = A @ x - y
    ...     return 0.5 * np.mean(gap**2), A.T @ gap / len(y)
    >>> clients = [(np.eye(2), np.array([1.0, 0.0])), (2 * np.eye(2), np.array([0.0, 2.0]))]
    >>> problem = ft.problems.from_function(squares, clients, x_0=[3.0, 3.0], batch=None)
    >>> r = ft.run(problem, "scaffold", rounds=60, K=5, eta_l=0.2)
    >>> float(round(r.metrics["sq_grad_norm"][0, -1], 9))
    0.0
    """
    if not callable(function):
        refuse("function", "must be a function of (x, batch)", function)
    if isinstance(clients, (str, bytes, dict, np.ndarray)) or not arguments.is_iterable(clients):
        refuse("clients", "must be a list of the clients' batches", clients)
    batches = (server, *clients)
    if len(batches) < 2:
        refuse("clients", "must be a list of one batch or more", clients)
    x_0 = np.ascontiguousarray(arguments.check_array("x_0", x_0))
    if x_0.ndim != 1 or not x_0.size or not np.all(np.isfinite(x_0)):
        refuse("x_0", "must be a finite vector", x_0)
    replacement = arguments.check_flag("replacement", replacement)
    sizes = np.array([_batch_length(i, own) for i, own in enumerate(batches)], dtype=np.int64)
    noise, sigmas, given = _samples.noise_of(
        "minibatch", 0.0, 0.0, batch, batch_0, replacement, sizes
    )
    data = Data(function, batches)
    for i, own in enumerate(batches):  # what is no loss or gradient is refused before anything runs
        if own is not None:
            call_model(data, i, x_0, pick_samples(own, np.arange(1)))
    return Problem(
        name,
        data,
        KERNELS,
        len(batches) - 1,
        x_0.size,
        _samples.weights_of(weights, sizes),
        {},
        has_server=server is not None,
        sizes=sizes,
        noise=noise,
        sigma=sigmas,
        batch_size=given,
        replacement=replacement,
        layers=layers_from(layers, x_0.size),
        start=x_0,
        blas=True,
    )


def _batch_length(i: int, batch: Any) -> Any:
    """Return how many samples a batch has, or refuse the batch."""
    who = f"clients[{i - 1}]" if i else "server"
    if batch is None and i == 0:
        return 0
    if batch is None:
        refuse(who, "must be data: only the server may have none, given as server=", batch)
    rule = "must be an array of one sample or more, or a tuple or dict of such of one length"
    try:
        lengths = {len(part) for part in batch_arrays(batch)}
    except TypeError:  # a part that is no array
        refuse(who, rule, batch)
    if len(lengths) != 1 or min(lengths) < 1:
        refuse(who, rule, f"lengths {sorted(lengths)}")
    return lengths.pop()


def from_torch(
    module: Any, loss: Callable[..., Any], clients: int, server: Any = None, **given: Any
) -> Problem:
    """Build a problem from a PyTorch module: `loss(output, y)` is the mean loss over a batch (X,
    y).

    `clients` holds N pairs (X, y) of arrays or tensors, one sample a row. The module is evaluated
    with `eval()`, so that its loss is a function of parameters and batch alone (no dropout, running
    statistics as they are), and runs start at its parameters, whose tensors are the layers; it is left
    as it is. Everything else is as for `from_function`. Needs the extra `torch`.

    >>> import fedtheory as ft
    >>> ft.problems.from_torch(None, None, [])
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: module must be a torch.nn.Module with parameters...
    """
    torch = _import_package("torch", "from_torch") if hasattr(module, "parameters") else None
    if torch is None or not isinstance(module, torch.nn.Module) or not [*module.parameters()]:
        refuse("module", "must be a torch.nn.Module with parameters", module)
    if not callable(loss):
        refuse("loss", "must be a function of (output, y)", loss)
    named = {name: p.detach().clone() for name, p in module.named_parameters()}
    kind = next(iter(named.values())).dtype
    buffers = dict(module.named_buffers())

    def tensors(batch: Any) -> Any:
        parts = [torch.as_tensor(part) for part in batch]
        return tuple(part.to(kind) if part.is_floating_point() else part for part in parts)

    def function(x: np.ndarray, batch: Any) -> Any:
        flat, at, own = torch.as_tensor(x).to(kind), 0, {}
        for name, p in named.items():
            own[name] = flat[at : at + p.numel()].reshape(p.shape).requires_grad_(True)
            at += p.numel()
        features, labels = batch
        was = module.training
        module.eval()
        try:
            output = torch.func.functional_call(module, {**own, **buffers}, (features,))
        finally:
            module.train(was)
        value = loss(output, labels)
        slopes = torch.autograd.grad(value, list(own.values()), allow_unused=True)
        flat = [
            torch.zeros(p.numel(), dtype=kind) if slope is None else slope.reshape(-1)
            for slope, p in zip(slopes, own.values())
        ]
        return value.item(), torch.cat(flat).to(torch.float64).numpy()

    given = dict(layers=[(name, p.numel()) for name, p in named.items()], name="torch") | given
    start = torch.cat([p.reshape(-1) for p in named.values()]).to(torch.float64).numpy()
    pairs = [
        None if own is None else _check_pair(who, own)
        for who, own in _name_clients(server, clients)
    ]
    rows = [own and tensors(own) for own in pairs]
    return from_function(function, rows[1:], start, server=rows[0], **given)


def from_jax(
    loss: Callable[..., Any], parameters: Any, clients: int, server: Any = None, **given: Any
) -> Problem:
    """Build a problem from a JAX function: `loss(parameters, batch)` is the mean loss over a batch.
    `parameters` is any tree of arrays; runs start from its values, and its leaves are the layers.

    A batch is what `from_function` takes, of arrays; everything else is as there. JAX works in single
    precision unless its own setting `jax_enable_x64` says otherwise. Needs the extra `jax`.

    >>> import fedtheory as ft
    >>> ft.problems.from_jax(None, {}, [])
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: loss must be a function of (parameters, batch); got None
    """
    if not callable(loss):
        refuse("loss", "must be a function of (parameters, batch)", loss)
    jax = _import_package("jax", "from_jax")
    from jax.flatten_util import ravel_pytree

    start, tree = ravel_pytree(parameters)
    leaves = jax.tree_util.tree_flatten_with_path(parameters)[0]
    layers = [(jax.tree_util.keystr(path) or "all", int(np.size(leaf))) for path, leaf in leaves]
    slope = jax.jit(jax.value_and_grad(lambda x, batch: loss(tree(x), batch)))

    def function(x: np.ndarray, batch: Any) -> Any:
        value, gradient = slope(np.asarray(x, dtype=start.dtype), batch)
        return float(value), np.asarray(gradient, dtype=np.float64)

    given = dict(layers=layers, name="jax") | given
    return from_function(function, clients, np.asarray(start, dtype=float), server=server, **given)


def _import_package(package: Any, who: range | Sequence[int] | str) -> Any:
    """Return an optional package; raise InvalidInput, with the command for its installation, where
    the package is missing."""
    try:
        return __import__(package)
    except ImportError:
        raise InvalidInput(
            f"{who} needs {package}: python -m pip install 'fedtheory[{package}]'"
        ) from None


def _name_clients(server: Any, clients: Number) -> Any:
    """Yield (name of the argument, data) for the server and each client."""
    yield "server", server
    if not arguments.is_iterable(clients):
        refuse("clients", "must be a list of pairs (X, y)", clients)
    for i, own in enumerate(clients):
        yield f"clients[{i}]", own


def _check_pair(who: range | Sequence[int], own: bool) -> Any:
    """Return a pair (X, y); refuse anything else under the argument's name."""
    if not isinstance(own, (tuple, list)) or len(own) != 2:
        refuse(who, "must be a pair (X, y)", own)
    if any(part is None for part in own):
        refuse(who, "must be a pair (X, y) of arrays", own)
    return own


def estimated(problem: Any, points: np.ndarray | Sequence[float | list[float]]) -> Any:
    """Return the problem with constants measured at points (n, d), n >= 2. Each constant is
    labelled by the scope "trajectory": it is known to hold at these points only.

    L is the largest ||grad f_i(x) - grad f_i(y)|| / ||x - y|| over neighbours of the list; G the
    largest root of the clients' mean ||grad f_i - grad F||^2, and xi_bar of ||grad f_0 - grad F||;
    sigma and sigma_0 that of a minibatch, found from every sample where there is noise of this kind.
    A run kept with keep="x" has points: `estimated(problem, r.x[0])`.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic(d=2, clients=3, L=2.0, mu=0.5, G=1.0)
    >>> along = ft.problems.estimated(problem, ft.run(problem, "fedavg", rounds=9, eta_l=0.1, keep="x").x[0])
    >>> round(along.constants["G"].value, 9), along.constants["G"].scope
    (1.0, 'trajectory')
    """
    if not isinstance(problem, Problem):
        refuse("problem", "must be a Problem", problem)
    x = arguments.check_array("points", points)
    if x.ndim != 2 or x.shape[1] != problem.d or len(x) < 2 or not np.all(np.isfinite(x)):
        refuse("points", f"must be finite of shape (n, {problem.d}), n >= 2", x.shape)
    first = 0 if problem.has_server else 1
    slopes = np.array(
        [[problem.client_grad(i, at) for i in range(first, problem.N + 1)] for at in x]
    )
    clients = slopes[:, 1 - first :]
    whole = np.einsum("i,tid->td", problem.weights[1:], clients)
    steps = np.linalg.norm(np.diff(x, axis=0), axis=1)
    moved = steps > 0
    if not moved.any():
        refuse("points", "must contain two different points", x[0])
    turns = np.linalg.norm(np.diff(slopes, axis=0), axis=2)[moved] / steps[moved, None]
    gaps = np.linalg.norm(clients - whole[:, None], axis=2)
    measured = dict(L=turns.max(), G=np.sqrt(np.mean(gaps**2, axis=1)).max())
    if problem.has_server:
        measured["xi_bar"] = np.linalg.norm(slopes[:, 0] - whole, axis=1).max()
    for name, who in (("sigma", range(1, problem.N + 1)), ("sigma_0", range(1 - first))):
        if problem.noise == "minibatch" and len(who):
            measured[name] = (
                max(_minibatch_variance(problem, i, at) for i in who for at in x) ** 0.5
            )
    says = f"the largest seen at {len(x)} points"
    found = {
        name: Constant(float(value), "trajectory", how=says) for name, value in measured.items()
    }
    own = problem.constants  # of additive noise, which no gradient shows
    kept = {name: own[name] for name in ("sigma", "sigma_0") if name in own and name not in found}
    return replace(problem, constants={**kept, **found}, reweigh=None)


def _minibatch_variance(problem: Any, i: Number, x: np.ndarray) -> Any:
    """Return E||g - grad f_i(x)||^2 of a minibatch gradient g; 0 where the minibatch is the whole
    data set."""
    B, n = problem.batch_size[i], problem.sizes[i]
    if B == 0 or B >= n and not problem.replacement:
        return 0.0
    return _samples.minibatch_variance(problem, i, x)


MAKERS = (from_function, from_torch, from_jax, estimated)
