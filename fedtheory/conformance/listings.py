"""The lines of the papers' listings, each under the key that shows that the line is violated.

`cohort`, `start`, `steps` and `step` are seen in the points at which clients request gradients,
`fresh` and `server` in gradients at x, `server_step` in the server's own gradients. Any other key
is a field of the method's state after a round.
"""

from typing import TYPE_CHECKING, Any

from fedtheory.algorithm import Algorithm

if TYPE_CHECKING:
    import numpy as np

LOCAL = dict(
    cohort="the clients of the cohort work, and no others",
    steps="each client of the cohort takes its local steps",
    start="y_i <- x",
    fresh="a gradient at x, apart from those of the steps",
    server="the server's gradient, where the listing has it",
)
FLEX = dict(
    step="flex, (1): w_k <- w_k - eta g_k(w_k)",
    x="flex, (2): w^G <- w^G + sum_k p_tau^k (w_k - w^G)",
)
PARALLEL = dict(
    step="x_i <- x_i - eta g_i(x_i)",
    server_start="x_c <- x: central steps start where the clients do",
    server_step="x_c <- x_c - eta_c g_c(x_c)",
    server_steps="K central steps",
    x="x <- x + eta_m (Delta_f + Delta_c), Delta_f = eta_s mean of the clients' changes",
)
OF = dict(
    fedavg=dict(
        step="McMahan et al. 2017, ClientUpdate: w <- w - eta grad l(w)",
        x="McMahan et al. 2017, server: w_(t+1) <- mean of the w_k, by their weights",
    ),
    scaffold=dict(
        cohort="line 4: sample clients, who alone work",
        start="line 7: y_i <- x",
        steps="line 8: K local steps",
        step="line 10: y_i <- y_i - eta_l (g_i(y_i) - c_i + c)",
        fresh="line 12, option I: g_i(x)",
        c_i="line 12 and 14: c_i <- g_i(x), or c_i - c + (x - y_i) / (K eta_l)",
        x="lines 16 and 17: x <- x + (eta_g / S) sum_S (y_i - x)",
        c="lines 16 and 17: c <- c + (S/N) mean_S (c_i^+ - c_i)",
    ),
    fedprox=dict(
        step="line 5: y_i <- y_i - eta_l (g_i(y_i) + mu (y_i - x)), towards the least of h_i(y; x)",
        x="line 7: x <- mean of the y_i",
    ),
    feddyn=dict(
        step="local problem: y <- y - eta_l (g_i(y) - h_i + alpha (y - x))",
        h_i="h_i <- h_i - alpha (y_i - x)",
        h="h <- h - (alpha/N) sum_S (y_i - x)",
        x="x <- mean_S y_i - h / alpha",
    ),
    fedadam=dict(
        step="line 8: x_i <- x_i - eta_l g_i",
        m="line 11: m <- beta_1 m + (1 - beta_1) Delta",
        v="line 12: v <- beta_2 v + (1 - beta_2) Delta^2",
        x="line 13: x <- x + eta m / (sqrt(v) + tau)",
    ),
    fsl=dict(
        step="local step: y_i <- y_i - eta_l g_i(y_i)",
        x="line 14, the server's last step: x <- x - gamma eta_0 g_0(x)",
        server_start="line 8: x <- x + (eta_g / S) sum_S (y_i - x), from which the server learns",
        server_step="line 14: x <- x - gamma eta_0 g_0(x)",
        server_steps="line 13: K_0 steps of the server",
    ),
    flex_a=FLEX | dict(x=FLEX["x"] + ", p_tau^k = (N / K_tau) p^k where s = E, else 0"),
    flex_b=FLEX | dict(x=FLEX["x"] + ", p_tau^k = p^k"),
    flex_c=FLEX | dict(x=FLEX["x"] + ", p_tau^k = (E / s) p^k"),
    parallel_training=PARALLEL,
    two_way_gt=PARALLEL
    | dict(
        step="purple: x_i <- x_i - eta (g_i(x_i) + g_c), of the last round",
        server_step="purple: x_c <- x_c - eta_c (g_c(x_c) + g_f), of the last round",
        g_c="(8): g_c <- the mean central gradient of the round",
        g_f="(10): g_f <- the clients' mean gradient of the round",
    ),
    one_way_gt=dict(
        server="the central gradient g_c is taken at x, once a round",
        step="x_i <- x_i - eta (g_i(x_i) + g_c)",
        x="x <- x + eta_s mean of the clients' changes",
    ),
)


# Fields of a State that have the opposite sign of the paper's letter: the kernels descend where
# Adam ascends.
MINUS = {("fedadam", "m")}


def listing_value(method: Algorithm, name: str, value: "np.ndarray") -> "np.ndarray":
    """Return a field of a method's State with the sign that the listing uses. `value` has shape
    (d,), or (N + 1, d) for a memory of the clients."""
    return -value if (method.name, name) in MINUS else value


def listing_line(method: Any, key: str) -> str:
    """Return the line of the listing that a key stands for; for a method without a listing, the
    name of the kernel."""
    kernels = dict(step="its local_step", x="its aggregate, server_step or end")
    told = {**LOCAL, **kernels, **OF.get(method.name, {})}
    return f"{method.cites}: {told.get(key, f'what renews {key}')}"
