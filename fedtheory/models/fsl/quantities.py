"""One round of FSL by enumeration: every quantity that appendix A names, as a function of the
round's traces.

The traces come from the kernels of `fedtheory.algorithms.fsl`, which users run. The functions
accept vectors of any number type of `fedtheory.arithmetic`; with Fractions, all values are exact.
Noise has finite support, so expectations are sums over cohorts and draws, for tiny instances only.
"""

from collections.abc import Callable, Collection, Sequence
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory.algorithms import fsl
from fedtheory.arithmetic.operations import maximum
from fedtheory.arithmetic.work import Counted
from fedtheory.exact import typical_path
from fedtheory.exact.traces import Losses, Rounds, Trace, Walk, expect_over, uniform_cohorts
from fedtheory.models.quantities import Quantities, square_norm
from fedtheory.symbols.fsl import TABLE
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np

ZERO, ONE = Fraction(0), Fraction(1)


class Instance(NamedTuple):
    """An instance of FSL: losses f_0, ..., f_N, noise as [(probability, vector), ...] for each
    index, hyper-parameters and constants."""

    loss: Callable[..., Any]  # (i, x) -> number
    grad: Callable[..., Any]  # (i, x) -> array
    noise: Any = None  # i -> [(probability, array), ...], mean zero
    N: int = 1
    S: int = 0
    K: int = 0
    K_0: int = 0
    eta_l: Any = None
    eta_g: Any = None
    eta_0: Any = None
    gamma: Any = None
    L: Any = None
    sigma: Any = None
    weights: tuple[Any, ...] | None = None  # p_1, ..., p_N of F; 1/N each by default
    cohorts: tuple[Any, ...] | None = (
        None  # [(probability, members)]; uniform over subsets of S by default
    )

    def rounds(self, d: int) -> Rounds:
        """Return the rounds of fedtheory.algorithms.fsl on the instance's losses, in dimension d."""
        p = self.weights or [Fraction(1, self.N)] * self.N
        h = {name: getattr(self, name) for name in fsl.Hyper._fields}
        noise = lambda i, k: self.noise(i)
        return Rounds(fsl.ALGORITHM, Losses(self.grad, noise, (ZERO, *p), d), h)

    def one_round(self, d: int) -> Any:
        """Return the record of a round from which code that follows a run takes one path."""
        rounds = self.rounds(d)
        return typical_path.Round(fsl.ALGORITHM, rounds.losses, rounds.h._asdict(), self.law())

    def law(self) -> list[Any]:
        """Return [(probability, cohort, local steps of each member)] of a round."""
        if self.cohorts:
            return [(chance, cohort, (self.K,) * len(cohort)) for chance, cohort in self.cohorts]
        return uniform_cohorts(self.N, self.S, self.K)


class Round:
    """The round of FSL that starts at a server point: losses there, paths of clients, and traces."""

    def __init__(self, case: Instance, x: "np.ndarray") -> None:
        self.case, self.x, self.clients = case, x, range(1, case.N + 1)
        self.g = {i: case.grad(i, x) for i in range(case.N + 1)}
        self.grad_F = self.average(lambda i: self.g[i])
        self.tilde_grad = (self.grad_F + case.gamma * self.g[0]) / (1 + case.gamma)
        self.rounds = case.rounds(len(x))
        self.start, self.walked = self.rounds.start(x), {}

    def average(self, value: Callable[..., Any]) -> Number | Counted:
        """Return the mean of value(i) over clients i with the weights of F."""
        if self.case.weights:
            return sum(p * value(i) for p, i in zip(self.case.weights, self.clients))
        return sum(value(i) for i in self.clients) / self.case.N

    def F(self, y: "np.ndarray") -> Number | Counted:
        """Return F(y), the weighted mean of the clients' losses."""
        return self.average(lambda i: self.case.loss(i, y))

    def tilde_F(self, y: "np.ndarray") -> Number | Counted:
        """Return the modified loss (F(y) + gamma f_0(y)) / (1 + gamma)."""
        case = self.case
        return (self.F(y) + case.gamma * case.loss(0, y)) / (1 + case.gamma)

    def walks(self, i: int) -> list[tuple[Fraction, Walk]]:
        """Return [(probability, Walk)] of client i in this round."""
        if i not in self.walked:
            self.walked[i] = self.rounds.walks(self.start, i, self.case.K)
        return self.walked[i]

    @cached_property
    def traces(self) -> list[tuple[Fraction, Trace]]:
        """Return [(probability, Trace)] over all cohorts and draws of the round."""
        return self.rounds.of(self.start, self.case.law(), lambda state, i, steps: self.walks(i))

    def E(self, value: Callable[..., Any]) -> Number | Counted:
        """Return the expectation of a function of the round's trace."""
        return expect_over(self.traces, value)

    def over_clients(self, value: Callable[..., Any]) -> Number | Counted:
        """Return the plain mean over clients of E `value(client, walk)`."""
        each = (expect_over(self.walks(i), lambda o, i=i: value(i, o)) for i in self.clients)
        return sum(each) / self.case.N

    @cached_property
    def E_c(self) -> Number | Counted:
        """Return E_c, the mean squared distance of clients from x over the steps 0, ..., K - 1."""
        K = self.case.K
        return (
            self.over_clients(lambda i, o: sum(square_norm(self.x - y) for y in o.points[:K])) / K
        )

    @cached_property
    def E_0(self) -> Number | Counted:
        """Return E_0, the mean squared distance of the server from x over the steps 0, ..., K_0 -
        1."""
        K_0 = self.case.K_0
        return self.E(lambda o: sum(square_norm(self.x - y) for y in o.server.points[:K_0])) / K_0

    # Gradient sums over a cohort and its steps, of one trace

    @staticmethod
    def estimates(o: Trace) -> "np.ndarray":
        """Return the sum of the noisy gradients of a cohort over all its steps."""
        return sum(n for walk in o.clients for n in walk.estimates)

    @staticmethod
    def there(o: Trace) -> "np.ndarray":
        """Return the sum of the exact gradients at a cohort's points over all its steps."""
        return sum(n for walk in o.clients for n in walk.gradients)

    def at_x(self, o: Trace) -> "np.ndarray":
        """Return K times the sum of a cohort's exact gradients at x."""
        return self.case.K * sum(self.g[i] for i in o.cohort)

    def changed(self, o: Trace) -> "np.ndarray":
        """Return the sum over a cohort's steps of the exact gradient's change since x."""
        return sum(n - self.g[i] for i, walk in zip(o.cohort, o.clients) for n in walk.gradients)

    def server_changed(self, o: Trace) -> "np.ndarray":
        """Return the sum over the server's steps of the change of grad f_0 since x."""
        return sum(n - self.g[0] for n in o.server.gradients)

    def server_error(self, o: Trace) -> "np.ndarray":
        """Return the sum over the server's steps of the noisy gradient minus grad f_0(x)."""
        return sum(n - self.g[0] for n in o.server.estimates)

    def excess_29(self) -> Number | Counted:
        """Return the largest excess of (29) over clients and steps.

        The bound of (29) for client i is 37/20 K eta_l^2 (2 K ||grad f_i(x)||^2 + sigma^2).
        """
        case = self.case
        allowed = {
            i: Fraction(37, 20)
            * case.K
            * case.eta_l**2
            * (2 * case.K * square_norm(self.g[i]) + case.sigma**2)
            for i in self.clients
        }
        return maximum(
            *(
                expect_over(self.walks(i), lambda o, k=k: square_norm(o.points[k] - self.x))
                - allowed[i]
                for i in self.clients
                for k in range(case.K + 1)
            )
        )

    def excess_step_29(self) -> Fraction | Counted:
        """Return the largest excess, over clients and steps, of the recursion before (29), which is
        meant for two steps or more."""
        case, share = self.case, 1 + Fraction(9, 8) / max(self.case.K - 1, 1)
        far = {
            (i, k): expect_over(self.walks(i), lambda o, k=k: square_norm(o.points[k] - self.x))
            for i in self.clients
            for k in range(case.K + 1)
        }
        added = lambda i: case.eta_l**2 * (2 * case.K * square_norm(self.g[i]) + case.sigma**2)
        return maximum(*(far[i, k] - share * far[i, k - 1] - added(i) for i, k in far if k > 0))

    def mean_17(self, o: Trace) -> "np.ndarray":
        """Return the bracket of (17) for a trace."""
        case = self.case
        mean = case.gamma * sum(o.server.estimates) / case.K_0
        return mean + self.estimates(o) / (case.K * case.S)

    def T_3_mean(self) -> Fraction | Counted:
        """Return (18) in terms of gradients: the mean over all clients, and the expectation of the
        server's part over traces of the round."""
        case = self.case
        clients = self.over_clients(
            lambda i, o: self.tilde_grad.dot(sum(self.g[i] - n for n in o.gradients))
        )
        server = self.E(lambda o: self.tilde_grad.dot(self.server_changed(o)))
        return clients / case.K - case.gamma * server / case.K_0

    def T_3(self) -> Fraction | Counted:
        """Return T_3, the inner product of the modified gradient with the errors of clients and
        server.

        The errors are -eta_0 gamma times the server's, and eta_g eta_l times K grad F minus the
        cohort's mean sum of noisy gradients.
        """
        case = self.case
        return self.E(
            lambda o: self.tilde_grad.dot(
                -case.eta_0 * case.gamma * self.server_error(o)
                + case.eta_g * case.eta_l * (case.K * self.grad_F - self.estimates(o) / case.S)
            )
        )

    def T_7(self) -> Fraction | Counted:
        """Return T_7 = (1 + 12 (K_0 eta_0)^2 (gamma L)^2) E_c."""
        case = self.case
        step = case.K_0 * case.eta_0
        return (1 + 12 * step**2 * (case.gamma * case.L) ** 2) * self.E_c


ROUND = Quantities(
    TABLE,
    tilde_F_t=lambda r: r.tilde_F(r.x),
    sq_grad=lambda r: square_norm(r.grad_F),
    sq_server_grad=lambda r: square_norm(r.g[0]),
    sq_tilde_grad=lambda r: square_norm(r.tilde_grad),
    grad_inner=lambda r: r.grad_F.dot(r.g[0]),
    sq_xi=lambda r: square_norm(r.g[0] - r.grad_F),
    sq_dissimilar=lambda r: sum(square_norm(r.g[i] - r.grad_F) for i in r.clients) / r.case.N,
    E_c=lambda r: r.E_c,
    drift_grad_c=lambda r: r.over_clients(
        lambda i, o: sum(square_norm(r.g[i] - n) for n in o.gradients)
    ),
    excess_29=lambda r: r.excess_29(),
    excess_step_29=lambda r: r.excess_step_29(),
    sq_mean_17=lambda r: r.E(lambda o: square_norm(r.mean_17(o))),
    T_3_mean=lambda r: r.T_3_mean(),
    tilde_F_next=lambda r: r.E(lambda o: r.tilde_F(o.after.x)),
    F_x=lambda r: r.F(r.x),
    F_after=lambda r: r.E(lambda o: r.F(o.after.x)),
    E_0=lambda r: r.E_0,
    drift_grad_0=lambda r: r.E(lambda o: sum(square_norm(r.g[0] - n) for n in o.server.gradients)),
    sq_move_bar=lambda r: r.E(lambda o: square_norm(r.x - o.middle)),
    inner_drift_0=lambda r: (
        r.E(lambda o: sum(square_norm(y - o.middle) for y in o.server.points[: r.case.K_0]))
        / r.case.K_0
    ),
    sq_server_grad_bar=lambda r: r.E(lambda o: square_norm(o.server.gradients[0])),
    T_1=lambda r: r.E(lambda o: r.tilde_grad.dot(o.after.x - r.x)),
    T_2=lambda r: r.E(lambda o: square_norm(o.after.x - r.x)) / 2,
    T_3=lambda r: r.T_3(),
    T_4=lambda r: r.E(lambda o: square_norm(r.server_error(o) / r.case.K_0)),
    T_4a=lambda r: (
        r.E(lambda o: square_norm(sum(o.server.estimates) - sum(o.server.gradients)))
        / r.case.K_0**2
    ),
    T_4b=lambda r: r.E(lambda o: square_norm(r.server_changed(o))) / r.case.K_0**2,
    T_5=lambda r: r.E(lambda o: square_norm(r.estimates(o) / (r.case.K * r.case.S) - r.grad_F)),
    T_5a=lambda r: r.E(lambda o: square_norm(r.estimates(o) - r.there(o))) / r.case.S**2,
    T_5b=lambda r: r.E(lambda o: square_norm(r.changed(o))) / r.case.S**2,
    T_5c=lambda r: (
        r.E(lambda o: square_norm(r.at_x(o) - r.case.K * r.case.S * r.grad_F)) / r.case.S**2
    ),
    T_6=lambda r: r.case.gamma**2 * r.E_0 + r.E_c,
    T_7=lambda r: r.T_7(),
)


def quantities(
    case: Instance, x: "np.ndarray", wanted: Collection[str] | None = None
) -> dict[str, Any]:
    """Return {symbol name: value} for the round that starts at the server point x, for the symbols
    `wanted`, or for all symbols."""
    return ROUND(Round(case, x), wanted)


class ServerDescent:
    """Exact steps of size eta_0 on the server's loss (section III-A) from w_0, or from x_bar in the
    multi-step case: FSL's round in which no client works, with gamma = 1."""

    def __init__(self, case: Instance, w_0: "np.ndarray") -> None:
        self.case = case._replace(
            gamma=ONE, eta_l=ZERO, eta_g=ONE, noise=lambda i: [], S=0, K=0, weights=None
        )
        rounds = self.case.rounds(len(w_0))
        ((_, trace),) = rounds.of(rounds.start(w_0), [(ONE, (), ())])
        self.w = trace.server.points
        self.pairs = [(self.grad_F(y), b) for y, b in zip(self.w, trace.server.gradients)]
        self.a, self.b = self.pairs[0]

    def mean(self, value: Callable[..., Any]) -> Number:
        """Return the plain mean of value(i) over the clients."""
        return sum(value(i) for i in range(1, self.case.N + 1)) / self.case.N

    def F(self, y: "np.ndarray") -> Number:
        """Return F(y), the plain mean of the clients' losses."""
        return self.mean(lambda i: self.case.loss(i, y))

    def grad_F(self, y: "np.ndarray") -> "np.ndarray":
        """Return grad F(y), the plain mean of the clients' gradients."""
        return self.mean(lambda i: self.case.grad(i, y))


SERVER = Quantities(
    TABLE,
    F_w0=lambda s: s.F(s.w[0]),
    F_w1=lambda s: s.F(s.w[1]),
    a_w0=lambda s: square_norm(s.a),
    b_w0=lambda s: square_norm(s.b),
    inner_w0=lambda s: s.a.dot(s.b),
    inner_move=lambda s: s.a.dot(s.w[1] - s.w[0]),
    sq_move=lambda s: square_norm(s.w[1] - s.w[0]),
    xi_w0=lambda s: square_norm(s.a - s.b),
    F_bar=lambda s: s.F(s.w[0]),
    F_next=lambda s: s.F(s.w[-1]),
    sum_a=lambda s: sum(square_norm(a) for a, _ in s.pairs),
    sum_b=lambda s: sum(square_norm(b) for _, b in s.pairs),
    sum_xi=lambda s: sum(square_norm(a - b) for a, b in s.pairs),
)


def server_quantities(
    case: Instance, w_0: "np.ndarray", wanted: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return {symbol name: value} of the quantities of section III-A, for the symbols `wanted`, or
    for all symbols."""
    return SERVER(ServerDescent(case, w_0), wanted)
