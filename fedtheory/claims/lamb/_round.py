"""FED-LAMB by the proof's own reading: every quantity that lemmas 1 and 2 and appendix A.2 name, from its definition.

The proof keeps m from step to step, corrects no bias, divides by sqrt(v) with the v of the round's start, adds no
epsilon, and counts iterations t, T to a round. Plain NumPy, one outcome of the noise at a time.
"""

from typing import Callable, NamedTuple

import numpy as np


class Instance(NamedTuple):
    """n losses with layers (start, stop) of smoothness L, and the method's numbers."""

    loss: Callable      # (i, x) -> number, i = 0..n-1
    grad: Callable      # (i, x) -> array
    layers: tuple
    L: tuple
    phi: Callable
    n: int
    T: int
    alpha: float
    beta_1: float
    beta_2: float
    v_0: float
    M: float = 1.0
    phi_M: float = 1.0


def sq(u):
    return float(u @ u)


def iterate(case, x_0, noise, steps):
    """Symbol name -> value for each iteration t; noise(t, i) is what client i's gradient estimate errs by."""
    n, clients, share = case.n, range(case.n), case.beta_1 / (1 - case.beta_1)
    mean = lambda each: sum(each) / n
    full = lambda x: mean([case.grad(i, x) for i in clients])
    loss = lambda x: sum(case.loss(i, x) for i in clients) / n
    theta = [np.array(x_0, dtype=float) for _ in clients]
    v_hat = np.full(len(x_0), case.v_0)
    v = [v_hat.copy() for _ in clients]
    m = [np.zeros(len(x_0)) for _ in clients]
    before, lag = [np.zeros(len(x_0)) for _ in clients], np.zeros(len(x_0))
    widths = np.concatenate([np.full(stop - start, stop - start) for start, stop in case.layers])
    L = np.concatenate([np.full(stop - start, L) for (start, stop), L in zip(case.layers, case.L)])
    rows = []
    for t in range(steps):
        if t % case.T == 0:    # a round begins
            theta = [mean(theta)] * n
            v = [v_hat.copy() for _ in clients]
        root = np.sqrt(v_hat)
        bar = mean(theta)
        point = bar + lag    # (8)
        exact = [case.grad(i, theta[i]) for i in clients]
        g = [exact[i] + noise(t, i) for i in clients]
        past = m
        m = [case.beta_1 * past[i] + (1 - case.beta_1) * g[i] for i in clients]
        v = [case.beta_2 * v[i] + (1 - case.beta_2) * g[i] ** 2 for i in clients]
        scale, wide = [], []    # phi / ||p||, and phi, by coordinate
        for i in clients:
            by_layer, phis = np.zeros(len(x_0)), np.zeros(len(x_0))
            for start, stop in case.layers:
                norm = np.linalg.norm(m[i][start:stop] / root[start:stop])
                phis[start:stop] = case.phi(np.linalg.norm(theta[i][start:stop]))
                by_layer[start:stop] = phis[start:stop] / norm if norm else 0.0
            scale.append(by_layer)
            wide.append(phis)
        moved = [theta[i] - case.alpha * scale[i] * m[i] / root for i in clients]
        ahead = mean(moved)
        next_lag = share * (ahead - bar)
        move = ahead + next_lag - point
        # (11), (14), (15); the first sum of (11) as printed, without line 13's minus sign
        by_momentum = case.alpha * share * mean([(scale[i] / root - before[i]) * past[i] for i in clients])
        by_gradient = case.alpha * mean([scale[i] / root * g[i] for i in clients])
        at_point, at_bar = full(point), [case.grad(i, bar) for i in clients]
        g_bar_i = [scale[i] * g[i] for i in clients]
        g_bar, by = mean(g_bar_i), lambda u: sq(u / np.sqrt(root))    # coordinates scaled by v^(-1/4)
        wrong = [np.sign(exact[i]) != np.sign(g[i]) for i in clients]
        products = [exact[i] * g[i] for i in clients]
        ends = mean([case.grad(i, moved[i]) for i in clients])
        rows.append(dict(
            loss_now=loss(point), loss_next=loss(ahead + next_lag), inner_move=float(at_point @ move),
            sq_move_L=float(L @ move**2) / 2, sq_gap_11=sq(move + by_momentum + by_gradient),
            sq_momentum_11=sq(by_momentum), momentum_14=float(at_point @ by_momentum),
            A_1=-float(at_point @ by_gradient), inner_g=float(at_point @ (g_bar / root)),
            sq_grad_vartheta=by(at_point), sq_g_bar=by(g_bar), sq_error=by(at_point - g_bar),
            error_momentum=2 / n * sum(by(case.grad(i, point) - at_bar[i]) for i in clients),
            error_17=2 / n * sum(by(at_bar[i] - g_bar_i[i]) for i in clients),
            B_1=sum(by(at_bar[i] - exact[i]) for i in clients), B_2=sum(by(exact[i] - g_bar_i[i]) for i in clients),
            sum_gap=sum(sq(bar - theta[i]) for i in clients), sq_lag=sq(lag),
            sum_inner=sum(float(exact[i] @ (g_bar_i[i] / root)) for i in clients),
            sum_sq_grad=sum(sq(exact[i]) for i in clients),
            sum_kept=sum(float(np.sqrt((1 - case.beta_2) / (case.M**2 * widths)) @ (wide[i] * products[i]))
                         for i in clients),
            sum_wrong=sum(float(scale[i] @ (products[i] * wrong[i])) for i in clients),
            grad_by_root_v=by(full(bar)), avg_grad_by_root_v=by(mean(exact)),
            gap_sq=max(sq(ahead - moved[i]) for i in clients), avg_grad_by_v=sq(ends / root),
            grad_by_v=sq(full(ahead) / root), noise_row=sum(sq(scale[i] / root) for i in clients),
            lost_by_sign=np.stack([-scale[i] * products[i] * wrong[i] for i in clients]),
            wrong_signs=np.stack([case.phi_M * exact[i] * wrong[i] for i in clients]),
        ))
        before = [scale[i] / root for i in clients]
        theta, lag = moved, next_lag
        if (t + 1) % case.T == 0:
            v_hat = np.maximum(v_hat, mean(v))
    return rows


def expected(case, x_0, outcomes, steps):
    """The same in expectation over [(probability, noise), ...], and excess_sign, which is a maximum of expectations."""
    rows = [dict.fromkeys(row, 0.0) for row in iterate(case, x_0, outcomes[0][1], steps)]
    for probability, noise in outcomes:
        for total, row in zip(rows, iterate(case, x_0, noise, steps)):
            for name, value in row.items():
                total[name] = total[name] + probability * value
    for row in rows:
        row["excess_sign"] = float((row.pop("lost_by_sign") - row.pop("wrong_signs")).max())
    return rows
