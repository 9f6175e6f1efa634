"""A PyTorch module whose loss takes its gradient from a callback, so that a framework's own
training meets prescribed gradients."""

import sys
from unittest.mock import MagicMock

import numpy as np
import torch

torch.set_default_dtype(torch.float64)


class _Asked(torch.autograd.Function):
    """A loss with value 0 whose gradient is given by a callback."""

    @staticmethod
    def forward(ctx, x, ask):
        ctx.ask = ask
        ctx.save_for_backward(x)
        return x.new_zeros(())

    @staticmethod
    def backward(ctx, out):
        (x,) = ctx.saved_tensors
        return out * torch.as_tensor(ctx.ask(x.detach().numpy().copy()), dtype=x.dtype), None


class Point(torch.nn.Module):
    """A point as a model, which returns the point for any input."""

    def __init__(self, x_0):
        super().__init__()
        self.x = torch.nn.Parameter(torch.tensor(x_0))

    def forward(self, data):
        return self.x


class Steps:
    """A counter of the gradients that each client asks for in a round: 0, 1, ... or, where the
    first gradient is separate from the steps, -1, 0, ..."""

    def __init__(self, first=0):
        self.first, self.gradient, self.taken = first, None, {}

    def begin(self, gradient):
        self.gradient, self.taken = gradient, {}

    def loss(self, x, client):
        """Return a loss at x whose gradient is the gradient of the client (counted from 1) in the
        client's next step."""
        i = int(client)

        def ask(y):
            k = self.taken[i] = self.taken.get(i, self.first - 1) + 1
            return self.gradient(i, y, k)

        return _Asked.apply(x, ask)


def to_array(tensor):
    return np.array(tensor.detach().cpu().numpy(), dtype=float)


def without_torchvision():
    """Install a stand-in for torchvision where the installed one does not fit this PyTorch; for
    frameworks that import torchvision and need none of its functions here."""
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError):
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules["torchvision"] = MagicMock()
