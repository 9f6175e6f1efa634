"""Answers to a client's noise where coordinates mix, found from two probes per gradient call
instead of one per coordinate. Between its steps a client only scales a point, adds to the point and
takes gradients of its own quadratic, so in the eigenbasis of the client's Hessian the coordinates
decouple.

The answer to noise n at call k of client i is then last U_i diag(scale_k) U_i' n. Here `last` is
the answer to noise that no gradient follows: it shows the server's operations, which are the same
for all clients and calls. One probe gives scale_k for each point of the state; a second probe
checks that the answers have this form.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from fedtheory.problem import Problem

SAME = 1e-12  # a predicted answer has at most this error, relative to the largest


def client_bases(problem: "Problem", clients: np.ndarray) -> dict[int, np.ndarray]:
    """Return for each client the eigenbasis of its Hessian, in which the client's gradient mixes no
    coordinates."""
    found = {}
    for i in sorted(set(clients)):
        level = problem.client_grad(i, np.zeros(problem.d))
        H = np.stack([problem.client_grad(i, e) - level for e in np.eye(problem.d)])
        found[i] = np.linalg.eigh(0.5 * (H + H.T))[1]
    return found


def noise_answers(
    prober: Any,
    clients: np.ndarray,
    asked: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    last: int,
) -> Iterator[Any] | None:
    """Return the answers (rows d, d) to noise at each request, one after the other, or None where
    the answers do not have this form. `asked` holds the arguments of `Prober.impulses`, `last` a
    request that no further gradient follows."""
    U = client_bases(prober.batch.machine.trained, clients)
    sign = np.random.default_rng(7).choice([-1.0, 1.0], prober.d) * np.arange(1.0, prober.d + 1)
    cohorts, works, ordinals, levels, rows = asked
    one = slice(last, last + 1)
    turned = np.stack([[U[i].sum(axis=1), U[i] @ sign] for i in clients])
    seen = prober.noise_answers(cohorts, works, ordinals, levels, rows, turned)
    seen = [answer[0].reshape(-1, prober.d, 2) for answer in seen]  # (points, d, 2)
    (whole,) = prober.noise_answers(cohorts[one], works[one], ordinals[one], levels[one], rows[one])
    whole = whole[0].reshape(-1, prober.d, prober.d)  # (points, d, d)
    heard = whole.any(axis=(1, 2))
    if np.any(np.linalg.cond(whole[heard]) > 1e3):
        return None
    found = []
    for i, answer in zip(clients, seen):
        scale = np.zeros((len(whole), prober.d))
        scale[heard] = np.linalg.solve(whole[heard], answer[heard, :, :1])[:, :, 0] @ U[i]
        turned = whole @ U[i]
        guess = np.einsum("pjk,pk->pj", turned, scale * sign)
        if not np.all(np.abs(guess - answer[:, :, 1]) <= SAME * np.abs(answer[:, :, 1]).max()):
            return None
        found.append((turned, scale, U[i]))
    return (
        ((turned * scale[:, None]) @ basis.T).reshape(-1, prober.d)
        for turned, scale, basis in found
    )
