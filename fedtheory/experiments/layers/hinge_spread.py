"""The sum of the dual encoder's two losses, which a client computes in mixed FL's baseline (section
5.3).

Held-out samples are judged by the hinge alone, as those of the methods that leave spreadout to the
server.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from fedtheory import arguments
from fedtheory.experiments.layers.hinge import backward as pull_back
from fedtheory.experiments.layers.hinge import fit, judge, spread_backward, spread_forward
from fedtheory.experiments.layers.hinge import forward as pull_forward
from fedtheory.experiments.network import Layer
from fedtheory.jit import jit

if TYPE_CHECKING:
    import numpy as np


@jit
def forward(here):
    spread_forward(here)
    spread = here.Z[0, 0]
    pull_forward(here)
    for r in range(here.Z.shape[0]):
        here.Z[r, 0] += spread


@jit
def backward(here):
    spread_backward(here)
    pull_back(here)


def hinge_spread(
    rows: "int | np.ndarray",
    width: int | Sequence[None],
    margin: float = 0.9,
    top: int = 10,
    table: str = "embedding",
) -> Layer:
    """Return the loss that is the sum of `hinge` and `spreadout` for the layer called `table`.

    >>> import fedtheory as ft
    >>> ft.layers.hinge_spread(3952, 16).fit((16,)).shape
    (1,)
    """
    rows, width = (
        arguments.check_integer("rows", rows, 2),
        arguments.check_integer("width", width, 1),
    )
    margin, top = arguments.check_real("margin", margin), arguments.check_integer("top", top, 1)
    how = partial(fit, rows, width, margin, top)
    return Layer("hinge_spread", forward, backward, how, judge=judge, shares=table)


MAKERS = (hinge_spread,)
