"""Methods with exact gradients and full participation, as recursions that do not care what a vector is.

`method(x, gradient)` yields x_0, x_1, ... without end; `gradient(i, x)` answers for client i >= 1, or for the server,
0. The same lines run on arrays and on unknown vectors, so what a worst case is about can be run. Write your own alike:
a point is x plus multiples of answers, and the questions asked do not depend on the answers.
"""


def gradient_descent(eta):
    def method(x, gradient):
        while True:
            yield x
            x = x - eta * gradient(1, x)
    return method


def momentum(eta, beta):
    """Heavy ball; Nesterov's method has its gradient at the extrapolated point."""
    def method(x, gradient):
        last = x
        while True:
            yield x
            x, last = x + beta * (x - last) - eta * gradient(1, x), x
    return method


def nesterov(eta):
    """Nesterov (1983) with weights (t - 1) / (t + 2) for a convex loss."""
    def method(x, gradient):
        y, t = x, 1
        while True:
            yield x
            moved = y - eta * gradient(1, y)
            y, x, t = moved + (moved - x) * (t - 1) / (t + 2), moved, t + 1
    return method


def mean(vectors):
    first, *rest = vectors
    return sum(rest, first) / len(vectors)


def changes(x, gradient, N, K, eta_l):
    """The mean change of N clients after K local steps."""
    total = []
    for i in range(1, N + 1):
        y = x
        for _ in range(K):
            y = y - eta_l * gradient(i, y)
        total.append(y - x)
    return mean(total)


def fedavg(N, K, eta_l, eta_g=1):
    def method(x, gradient):
        while True:
            yield x
            x = x + eta_g * changes(x, gradient, N, K, eta_l)
    return method


def fsl(N, K, K_0, eta_l, eta_0, gamma, eta_g=1):
    """FSL, algorithm 1: FedAvg, then K_0 steps of the server on f_0."""
    def method(x, gradient):
        while True:
            yield x
            x = x + eta_g * changes(x, gradient, N, K, eta_l)
            for _ in range(K_0):
                x = x - gamma * (eta_0 * gradient(0, x))
    return method


def one_way_gt(N, K, eta, eta_s=1):
    """Mixed FL, algorithm 2, with SGD on both sides: one gradient of f_0 at x_t joins every client step."""
    def method(x, gradient):
        while True:
            yield x
            central = gradient(0, x)
            x = x + eta_s * changes(x, lambda i, y: gradient(i, y) + central, N, K, eta)
    return method


def scaffold(N, K, eta_l, eta_g=1):
    """SCAFFOLD with option II: a client's variate is its mean gradient of the round before, zero at first."""
    def method(x, gradient):
        c_i = [0 * x] * N
        while True:
            yield x
            c, ends = mean(c_i), []
            for i in range(N):
                y, total = x, 0 * x
                for _ in range(K):
                    g = gradient(i + 1, y)
                    y, total = y - eta_l * (g - c_i[i] + c), total + g
                ends.append(y - x)
                c_i[i] = total / K
            x = x + eta_g * mean(ends)
    return method
