"""Layers as NumPy would have them, one sample or one place at a time: (layer's numbers, parameters,
what comes in, what earlier layers gave) -> what comes out."""

import numpy as np


def dense(fitted, w, A):
    inputs, width, _ = fitted.sizes
    W, b = w[: inputs * width].reshape(inputs, width), w[inputs * width :]
    return (A.reshape(-1, inputs) @ W + b).reshape(len(A), *fitted.shape)


def conv(fitted, w, A):
    _, _, channels, k, stride, pad, tall, across, filters, _ = fitted.sizes
    W = w[: k * k * channels * filters].reshape(k, k, channels, filters)
    A = np.pad(A, ((0, 0), (pad, pad), (pad, pad), (0, 0)))
    Z = np.empty((len(A), tall, across, filters))
    for i in range(tall):
        for j in range(across):
            window = A[:, i * stride : i * stride + k, j * stride : j * stride + k]
            Z[:, i, j] = np.einsum("nuvc,uvcf->nf", window, W) + w[W.size :]
    return Z


def pool(fitted, w, A):
    k, tall, across = fitted.sizes[3:]
    A = A[:, : tall * k, : across * k].reshape(len(A), tall, k, across, k, -1)
    return A.max(axis=(2, 4))


def gru(fitted, w, A):
    places, inputs, H = fitted.sizes
    W, U, b, c = np.split(w, np.cumsum([3 * H * inputs, 3 * H * H, 3 * H]))
    W, U, h, states = W.reshape(inputs, 3, H), U.reshape(H, 3, H), np.zeros((len(A), H)), []
    b, c = b.reshape(3, H), c.reshape(3, H)
    sigmoid = lambda a: 1 / (1 + np.exp(-a))
    for t in range(places):
        x, back = np.tensordot(A[:, t], W, 1) + b, np.tensordot(h, U, 1) + c
        r, z = sigmoid(x[:, 0] + back[:, 0]), sigmoid(x[:, 1] + back[:, 1])
        h = (1 - z) * np.tanh(x[:, 2] + r * back[:, 2]) + z * h
        states.append(h)
    return np.stack(states, axis=1)


def normalised(A, axes, w):
    middle = A.mean(axis=axes, keepdims=True)
    return (A - middle) / np.sqrt(A.var(axis=axes, keepdims=True) + 1e-5), np.split(w, 2)


def batchnorm(fitted, w, A):
    A, (scale, shift) = normalised(A, (0, 1, 2), w)
    return A * scale + shift


def groupnorm(fitted, w, A):
    shape = A.shape
    A, (scale, shift) = normalised(A.reshape(*shape[:3], fitted.sizes[2], -1), (1, 2, 4), w)
    return A.reshape(shape) * scale + shift


def embedding(fitted, w, A):
    table = w.reshape(fitted.sizes)
    return np.where(A[..., None] >= 0, table[A.astype(int)], 0)


def bag(fitted, w, A):
    there = (A != 0).any(axis=2)
    return A.sum(axis=1) / np.maximum(there.sum(axis=1), 1)[:, None]


def cosines(fitted, w, A):
    unit = lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit(A) @ unit(w.reshape(fitted.sizes[:2])).T


def spreadout(fitted, w, A):
    C = cosines(fitted, w, w.reshape(fitted.sizes))
    return np.full(len(A), np.mean(C[~np.eye(len(C), dtype=bool)] ** 2))


FORWARD = dict(
    dense=dense,
    conv=conv,
    pool=pool,
    gru=gru,
    batchnorm=batchnorm,
    groupnorm=groupnorm,
    embedding=embedding,
    bag=bag,
    relu=lambda fitted, w, A: np.maximum(A, 0),
    dropout=lambda fitted, w, A: A,
    reshape=lambda fitted, w, A: A.reshape(len(A), *fitted.shape),
    before=conv,
    tower=lambda fitted, w, A: np.maximum(A, 0),
    spreadout=spreadout,
)


def outputs(layers, steps, fitted, x, A):
    """What comes out of each layer, a loss of labels apart."""
    found = []
    for layer, step, here in zip(layers, steps, fitted):
        w = x[step.at : step.at + step.size]
        if layer.name == "add":
            A = A + found[step.skip]
        elif layer.name not in ("cross_entropy", "hinge"):
            A = FORWARD[layer.name](here, w, A)
        found.append(A)
    return found


def losses(Z, y):
    """Cross-entropies of logits (n, [places,] classes), the mean over places."""
    Z = Z.reshape(*y.shape, -1)
    top = np.log(np.exp(Z).sum(axis=-1)) - np.take_along_axis(Z, y[..., None], -1)[..., 0]
    return top.reshape(len(Z), -1).mean(axis=1)
