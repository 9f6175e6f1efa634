"""The softmax cross-entropy of logits with a class, or with one class at each of several places."""

from collections.abc import Sequence
from functools import partial
from math import prod

import numpy as np

from fedtheory import arguments
from fedtheory.errors import refuse
from fedtheory.experiments.network import Fitted, Layer
from fedtheory.jit import jit


@jit
def forward(here):
    """Compute Z = the mean over places of log sum exp(a) - a_y, and store the softmax in `kept`."""
    A, Z, P = here.A, here.Z, here.kept
    classes, places = here.sizes[0], here.sizes[1]
    for r in range(A.shape[0]):
        total = 0.0
        for place in range(places):
            low = place * classes
            at = r * A.shape[1] + low
            top = A[r, low]
            for j in range(low + 1, low + classes):
                top = max(top, A[r, j])
            mass = 0.0
            for j in range(classes):
                P[at + j] = np.exp(A[r, low + j] - top)
                mass += P[at + j]
            part = P.dtype.type(1.0 / mass)
            for j in range(classes):
                P[at + j] *= part
            total += np.log(mass) - (A[r, low + here.y[r, place]] - top)
        Z[r, 0] = total / places


@jit
def backward(here):
    D, E, P = here.D, here.E, here.kept
    classes, places = here.sizes[0], here.sizes[1]
    for r in range(E.shape[0]):
        weight = D[r, 0] / D.dtype.type(places)
        for j in range(E.shape[1]):
            E[r, j] = P[r * E.shape[1] + j] * weight
        for place in range(places):
            E[r, place * classes + here.y[r, place]] -= weight


@jit
def judge(here):
    """Write to the columns of Z the loss, the share of places whose largest logit is the label's
    (the first of ties), the share of places whose label is among the k largest logits, and, for two
    classes, the logit of class 1 minus the logit of class 0."""
    forward(here)
    A, Z = here.A, here.Z
    classes, places = here.sizes[0], here.sizes[1]
    top = here.sizes[2]
    for r in range(A.shape[0]):
        right = within = 0
        for place in range(places):
            low = place * classes
            own = low + here.y[r, place]
            above = 0
            for j in range(low, low + classes):
                above += A[r, j] > A[r, own] or (A[r, j] == A[r, own] and j < own)
            right += above == 0
            within += above < top
        Z[r, 1] = right / places
        Z[r, 2] = within / places
        Z[r, 3] = A[r, 1] - A[r, 0] if classes == 2 and places == 1 else np.nan


def fit(classes: int, top: int, shape: Sequence[int]) -> Fitted:
    width = prod(shape)
    if width % classes or width < classes:
        refuse(
            "layers", f"must end in logits of {classes} classes, or of several times as many", shape
        )
    return Fitted((1,), sizes=(classes, width // classes, top), kept=width)


def cross_entropy(classes: int, top: int = 10) -> Layer:
    """Return the loss of classification: the layer before it has a logit for each class, or for
    each class at each place of a sequence. Recall counts labels among the `top` largest logits.

    >>> import fedtheory as ft
    >>> ft.layers.cross_entropy(10).fit((10,)).shape
    (1,)
    """
    classes, top = (
        arguments.check_integer("classes", classes, 2),
        arguments.check_integer("top", top, 1),
    )
    return Layer("cross_entropy", forward, backward, partial(fit, classes, top), judge=judge)


MAKERS = (cross_entropy,)
