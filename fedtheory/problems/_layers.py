"""What all networks share: layers on slices of the flat vector, and the samples of the clients.

A network is one file: a data tuple with fields X (n, inputs), y (n,) and starts (N + 2,), where
each client's rows begin (see _samples.py), and one kernel

    sweep(data, x, X, y, scale, out) -> scale * the sum of the samples' losses,

which adds scale times the gradient's sum to `out`, unless `out` is empty. `network_kernels` makes
of it the gradient, loss, objective and minibatch kernels that the engine runs. Matrices are
C-contiguous views of flat float64 arrays, so that np.dot is BLAS: bits depend on the machine's
BLAS, never on threads.
"""

from functools import cache

import numpy as np

from fedtheory import arguments
from fedtheory import jit as compiler
from fedtheory.errors import refuse
from fedtheory.jit import jit
from fedtheory.problem import Kernels

ROWS = 512  # a full gradient sweeps a client's samples in blocks, so memory does not grow with them


# ---------------------------------------------------------------- layers


@jit
def matrix(flat, start, rows, columns):
    """A view of rows x columns numbers of a flat vector."""
    return flat[start : start + rows * columns].reshape((rows, columns))


@jit
def affine(x, start, A, Z):
    """Z = A W + b; W (inputs, outputs) begins at x[start], b follows it."""
    n, outputs = Z.shape
    inputs = A.shape[1]
    np.dot(A, matrix(x, start, inputs, outputs), Z)
    b = x[start + inputs * outputs : start + (inputs + 1) * outputs]
    for r in range(n):
        for j in range(outputs):
            Z[r, j] += b[j]


@jit
def affine_grad(start, A, D, out):
    """Adds the gradient of W and b, from the outputs' gradient D."""
    n, outputs = D.shape
    inputs = A.shape[1]
    product = np.empty((inputs, outputs))
    np.dot(A.T, D, product)
    W = matrix(out, start, inputs, outputs)
    for c in range(inputs):
        for j in range(outputs):
            W[c, j] += product[c, j]
    b = out[start + inputs * outputs : start + (inputs + 1) * outputs]
    for r in range(n):
        for j in range(outputs):
            b[j] += D[r, j]


@jit
def affine_back(x, start, D, inputs):
    """D W', the gradient with respect to the layer's inputs."""
    back = np.empty((D.shape[0], inputs))
    np.dot(D, matrix(x, start, inputs, D.shape[1]).T, back)
    return back


@jit
def relu(Z):
    for r in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            Z[r, j] = max(Z[r, j], 0.0)


@jit
def relu_back(A, D):
    """In place; A is the layer's output. The derivative at 0 is 0."""
    for r in range(D.shape[0]):
        for j in range(D.shape[1]):
            D[r, j] = D[r, j] if A[r, j] > 0.0 else 0.0


@jit
def cross_entropy(Z, y, scale):
    """scale * the sum of softmax cross-entropies of logits Z, which become scale times their
    gradient."""
    total = 0.0
    for r in range(Z.shape[0]):
        top = Z[r, 0]
        for j in range(1, Z.shape[1]):
            top = max(top, Z[r, j])
        mass = 0.0
        right = Z[r, y[r]]
        for j in range(Z.shape[1]):
            Z[r, j] = np.exp(Z[r, j] - top)
            mass += Z[r, j]
        total += np.log(mass) - (right - top)
        for j in range(Z.shape[1]):
            Z[r, j] *= scale / mass
        Z[r, y[r]] -= scale
    return scale * total


def he_normal(generator, inputs, outputs):
    """W and b of a layer before ReLU (He et al. 2015): variance 2 / inputs, zero biases; flat."""
    W = generator.standard_normal(inputs * outputs) * np.sqrt(2.0 / inputs)
    return np.concatenate([W, np.zeros(outputs)])


def labels_of(y, classes=None):
    """Clients' labels in one array of integers 0 .. classes - 1, and the number of classes (found,
    by default)."""
    labels = np.concatenate([part for part in y if part is not None])
    wrong = labels[(labels != np.floor(labels)) | (labels < 0)]
    if wrong.size:
        refuse("y", "must hold classes 0, 1, 2, ..", float(wrong[0]))
    most = int(labels.max())
    classes = max(most + 1, 2) if classes is None else arguments.whole("classes", classes, 2)
    if most >= classes:
        refuse("y", f"must hold classes 0..{classes - 1}", most)
    return labels.astype(np.int64), classes


# ---------------------------------------------------------------- kernels


@jit
def clear(out):
    for j in range(out.size):
        out[j] = 0.0


@jit
def gather(X, y, first, rows, X_rows, y_rows):
    """Some of the rows that begin at `first`."""
    for b in range(rows.size):
        y_rows[b] = y[first + rows[b]]
        for j in range(X.shape[1]):
            X_rows[b, j] = X[first + rows[b], j]


@cache
def network_kernels(sweep):
    """The kernels of a network, from its sweep. They are closures, so cached under the sweep's own
    identity."""

    def over_client(data, i, x, weight, out):
        """Adds weight times the gradient of f_i; weight * f_i."""
        low, high = data.starts[i], data.starts[i + 1]
        total = 0.0
        for start in range(low, high, ROWS):
            stop = min(start + ROWS, high)
            total += sweep(
                data, x, data.X[start:stop], data.y[start:stop], weight / (high - low), out
            )
        return total

    over_client = _compile(over_client, sweep)

    def grad(data, i, x, out):
        clear(out)
        over_client(data, i, x, 1.0, out)

    def loss(data, i, x):
        return over_client(data, i, x, 1.0, np.empty(0))

    def objective(data, p, x, out):
        clear(out)
        value = 0.0
        for i in range(1, p.size):
            if p[i] != 0.0:
                value += over_client(data, i, x, p[i], out)
        return value

    def batch(data, i, rows, x, out):
        clear(out)
        X, y = np.empty((rows.size, data.X.shape[1])), np.empty(rows.size, dtype=np.int64)
        gather(data.X, data.y, data.starts[i], rows, X, y)
        sweep(data, x, X, y, 1.0 / rows.size, out)

    return Kernels(
        *(_compile(kernel, sweep, kernel.__name__) for kernel in (grad, loss, objective, batch))
    )


def _compile(kernel, sweep, part=None):
    if not compiler.compiled(sweep):
        return kernel
    identity = sweep.identity and (
        "network",
        compiler.digest(__name__),
        kernel.__name__,
        sweep.identity,
    )
    return compiler.compile(kernel, identity=identity, maker=(network_kernels, (sweep,), part))
