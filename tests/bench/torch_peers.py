"""FedAvg on a network as PyTorch's users write it, and as its experts do: steps and whole rounds, float32.

All draw minibatches without replacement, anew for each step, as ours do. A plain loop apart, every
program takes the rows of a round's minibatches in one draw, keeps images with channels last in memory, so that both
layouts read them without a copy, pools before it rectifies (the same numbers, a quarter of the work),
and moves parameters by one call for all of them.
"""

import copy
from math import prod

import torch
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from fedtheory.experiments.network import plan_layers

RATE = 0.01
PLAIN = "a plain loop"


def modules(record, order=True):
    """The network; in the paper's order of layers, or with a pooling before the rectifier that it follows."""
    layers, shape, made, flat = record.layers(record.classes), record.shape, [], False
    for layer, fitted in zip(layers, plan_layers(layers, shape)[1]):
        s = fitted.sizes
        if layer.name == "conv":
            made.append(nn.Conv2d(s[2], s[8], s[3], s[4], s[5]))
        elif layer.name == "pool":
            made.append(nn.MaxPool2d(s[3]))
            if not order and isinstance(made[-2], nn.ReLU):
                made[-2:] = made[:-3:-1]
        elif layer.name == "dropout":
            made.append(nn.Dropout(fitted.numbers[0]))
        elif layer.name == "relu":
            made.append(nn.ReLU(inplace=not order))
        else:
            made += [] if flat else [nn.Flatten()]
            flat = True
            made.append(nn.Linear(prod(shape), fitted.shape[0]))
        shape = fitted.shape
    return nn.Sequential(*made)


def plain(record, X, y, steps, batch):
    """A loop over clients, on one model that takes the server's weights each time."""
    X, y = torch.tensor(X), torch.tensor(y)
    X = X.permute(0, 1, 4, 2, 3).contiguous() if X.dim() == 5 else X
    model, loss = modules(record), nn.CrossEntropyLoss()
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE)

    def program():
        start = copy.deepcopy(model.state_dict())
        mean = {key: torch.zeros_like(value) for key, value in start.items()}
        for i in range(len(X)):
            model.load_state_dict(start)
            for _ in range(steps):
                rows = torch.randperm(X.shape[1])[:batch]
                optimiser.zero_grad()
                loss(model(X[i][rows]), y[i][rows]).backward()
                optimiser.step()
            for key, value in model.state_dict().items():
                mean[key] += value / len(X)
        model.load_state_dict(mean)

    return program


def by_foreach(model):
    """(what is copied for a client, a step on a loss): gradients are handed out, not accumulated."""
    weights = [*model.parameters()]

    def step(value):
        torch._foreach_add_(weights, torch.autograd.grad(value, weights), alpha=-RATE)

    return weights, step


def by_fused(model):
    weights = [*model.parameters()]
    optimiser = torch.optim.SGD(weights, lr=RATE, fused=True)

    def step(value):
        value.backward()
        optimiser.step()
        optimiser.zero_grad(set_to_none=True)

    return weights, step


def by_vector(model):
    """All parameters are views of one vector, and their gradients of another."""
    weights = [*model.parameters()]
    both = torch.zeros(2, sum(value.numel() for value in weights))
    at = 0
    for value in weights:
        for row, name in zip(both, ("data", "grad")):
            part = row[at : at + value.numel()].as_strided(
                value.shape, value.stride(), row.storage_offset() + at
            )
            if name == "data":
                part.copy_(value.data)
            setattr(value, name, part)
        at += value.numel()

    def step(value):
        value.backward()
        both[0].sub_(both[1], alpha=RATE)
        both[1].zero_()

    return [both[0]], step


UPDATES = {"foreach": by_foreach, "fused SGD": by_fused, "one flat vector": by_vector}


def looped(record, X, y, steps, batch, update, layout, compiled=False):
    """A loop over clients and steps without an optimiser's or a state_dict's ways."""
    X, y = torch.tensor(X), torch.tensor(y)
    model = modules(record, order=False).to(memory_format=layout)
    held, step = update(model)
    seen = (lambda rows: rows.permute(0, 3, 1, 2)) if X.dim() == 5 else (lambda rows: rows)
    loss = lambda rows, labels: cross_entropy(model(rows), labels)
    loss = torch.compile(loss) if compiled else loss
    with torch.no_grad():
        start, mean = ([torch.empty_like(value) for value in held] for _ in range(2))

    @torch.no_grad()
    def program():
        rows = torch.rand(len(X), steps, X.shape[1]).argsort(-1)[..., :batch].contiguous()
        torch._foreach_copy_(start, held)
        torch._foreach_zero_(mean)
        for i in range(len(X)):
            if i:
                torch._foreach_copy_(held, start)
            for k in range(steps):
                inputs, labels = X[i].index_select(0, rows[i, k]), y[i].index_select(0, rows[i, k])
                with torch.enable_grad():
                    value = loss(seen(inputs), labels)
                step(value)
            torch._foreach_add_(mean, held, alpha=1 / len(X))
        torch._foreach_copy_(held, mean)

    return program


def batched(record, X, y, steps, batch, slopes):
    """All clients at once, each on weights of its own: `slopes(model)` gives the gradients of stacks."""
    X, y = torch.tensor(X), torch.tensor(y)
    model = modules(record, order=False)
    weights = {name: value.detach() for name, value in model.named_parameters()}
    each, gradients = torch.arange(len(X))[:, None], slopes(model)
    seen = (lambda rows: rows.permute(0, 1, 4, 2, 3)) if X.dim() == 5 else (lambda rows: rows)

    def program():
        rows = torch.rand(len(X), steps, X.shape[1]).argsort(-1)[..., :batch]
        stacks = {
            name: value.expand(len(X), *value.shape).clone() for name, value in weights.items()
        }
        for k in range(steps):
            found = gradients(stacks, seen(X[each, rows[:, k]]), y[each, rows[:, k]])
            torch._foreach_add_([*stacks.values()], [*found], alpha=-RATE)
        for name, stack in stacks.items():
            torch.mean(stack, 0, out=weights[name])

    return program


def by_vmap(model):
    def loss(weights, inputs, labels):
        return cross_entropy(functional_call(model, weights, (inputs,)), labels)

    found = vmap(grad(loss), randomness="different")
    return lambda stacks, inputs, labels: found(stacks, inputs, labels).values()


def by_products(model):
    """Of dense layers: one batched product for all clients."""

    def gradients(stacks, inputs, labels):
        stacks = {name: stack.requires_grad_() for name, stack in stacks.items()}
        for name, layer in model.named_children():
            if isinstance(layer, nn.Linear):
                W, b = stacks[f"{name}.weight"], stacks[f"{name}.bias"]
                inputs = torch.baddbmm(b[:, None], inputs, W.transpose(1, 2))
            elif not isinstance(layer, nn.Flatten):
                inputs = layer(inputs)
        value = cross_entropy(inputs.flatten(0, 1), labels.flatten(), reduction="sum")
        found = torch.autograd.grad(value / labels.shape[1], [*stacks.values()])
        for stack in stacks.values():
            stack.requires_grad_(False)
        return found

    return gradients


def every_way(record, X, y, steps, batch, compiled=False):
    """{label: program}."""
    images, common = len(record.shape) == 3, (record, X, y, steps, batch)
    layouts = {
        "": torch.contiguous_format,
        **({", channels last": torch.channels_last} if images else {}),
    }
    found = {PLAIN: plain(*common)}
    for how, update in UPDATES.items():
        for where, layout in layouts.items():
            found[how + where] = looped(*common, update, layout)
    if compiled:
        where, layout = [*layouts.items()][-1]
        found["torch.compile, foreach" + where] = looped(*common, by_foreach, layout, True)
    if len(X) > 1:
        found["vmap over clients"] = batched(*common, by_vmap)
        if not images:
            found["batched products over clients"] = batched(*common, by_products)
    return found
