"""A problem: data, compiled loss and gradient, and constants that are true by construction.

Index 0 is the server (f_0 in FSL, f_c in mixed FL), 1 to N the clients. F = sum_i p_i f_i.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np

from fedtheory import arguments, jit
from fedtheory.display import Shown, number_text
from fedtheory.errors import InvalidInput, refuse
from fedtheory.indexing import try_kernels
from fedtheory.parallel import pickling
from fedtheory.typing import Kernel, Number

NONE, GAUSSIAN, RADEMACHER, SPHERE, MINIBATCH, IMPULSE, TABLE, ROWS = range(8)
NOISES = {
    "none": NONE,
    "gaussian": GAUSSIAN,
    "rademacher": RADEMACHER,
    "sphere": SPHERE,
    "minibatch": MINIBATCH,
}


class Constant(NamedTuple):
    """A certified number: `value` bounds the quantity in its name over `scope`.

    "global" holds everywhere, "ball" within `radius` of the minimiser, "trajectory" was measured at
    some points and proves nothing. `how` says in words why the number is true.
    """

    value: float
    scope: str = "global"  # "global", "ball" (of `radius` around the minimiser) or "trajectory"
    radius: float = float("inf")
    how: str = ""

    def __float__(self) -> float:
        return float(self.value)


class Layer(NamedTuple):
    """A named range of coordinates, `start` to `stop` (excluded), such as the weights of one layer."""

    name: str
    start: int
    stop: int


def layers_from(layers: Sequence[int | tuple[str, int]] | None, d: int) -> tuple[Layer, ...]:
    """Return Layers from sizes, or from (name, size) pairs; one layer of all d coordinates by
    default.

    Raises InvalidInput where sizes do not add up to d, or where a name occurs twice.
    """
    if layers is None:
        return (Layer("all", 0, d),)
    rule = f"must be positive sizes that add up to d = {d}, or pairs of a name and a size"
    if isinstance(layers, (str, bytes)) or not arguments.is_iterable(layers):
        refuse("layers", rule, layers)
    pairs = [
        item if isinstance(item, tuple) else (f"layer{n}", item) for n, item in enumerate(layers, 1)
    ]
    for pair in pairs:
        if (
            len(pair) != 2
            or not isinstance(pair[0], str)
            or isinstance(pair[1], bool)
            or not isinstance(pair[1], (int, np.integer))
            or not 1 <= pair[1] <= d
        ):
            refuse("layers", rule, layers)
    ends = np.cumsum([size for _, size in pairs])
    if not pairs or ends[-1] != d or len({name for name, _ in pairs}) < len(pairs):
        refuse("layers", rule, layers)
    return tuple(Layer(name, int(end - size), int(end)) for (name, size), end in zip(pairs, ends))


LOWER = ("mu", "PL")  # constants that are lower bounds
FLAT = 1e-12  # relative size up to which a difference of curvatures counts as rounding


# The kernels of a problem and their signatures; `data` stands for the problem's own tuple.
def _roles(data: Any, real: str) -> dict[str, tuple[Any, tuple[Any, ...]]]:
    """Return {kernel: (type of its result, types of its arguments)} for the kernels of a problem."""
    t, (point, _) = jit.types, jit.point_types(real)
    return dict(
        grad=(t.void, (data, t.int64, point, point)),
        loss=(t.float64, (data, t.int64, point)),
        batch=(t.void, (data, t.int64, jit.INTEGERS, t.uint64, point, point)),
        pieces=(t.int64, (data, t.int64, t.int64, t.int64)),
        piece=(t.void, (data, t.int64, jit.INTEGERS, point, point, point, t.int64, t.int64)),
        test=(t.void, (data, point, jit.VECTOR)),
        objective=(t.float64, (data, jit.VECTOR, point, point)),
        value=(t.float64, (data, jit.VECTOR, point)),
    )


@jit.jit
def no_batch(data, i, rows, draw, x, out):
    """Fill `out` with NaN: the minibatch gradient of problems without samples, which the engine
    never calls."""
    for j in range(out.size):
        out[j] = np.nan


@jit.jit
def no_pieces(data, i, count, phase):
    """Return 0: the number of pieces of a gradient that workers do not share."""
    return 0


@jit.jit
def no_piece(data, i, rows, x, room, out, phase, n):
    """Fill `out` with NaN: a piece of a gradient that workers do not share, which the engine never
    calls."""
    for j in range(out.size):
        out[j] = np.nan


@jit.jit
def no_test(data, x, row):
    """Fill `row` with NaN: the test measurements of problems without held-out samples, which the
    engine never calls."""
    for c in range(row.size):
        row[c] = np.nan


@cache
def _sum_objective(grad: Any, loss: Any) -> Callable[..., Any]:
    """Return a kernel for F and its gradient by the definition, summed over one client after the
    other."""

    def objective(data, p, x, out):
        client = np.empty_like(x)
        value = 0.0
        for j in range(x.size):
            out[j] = 0.0
        for i in range(1, p.size):
            if p[i] != 0.0:
                value += p[i] * loss(data, i, x)
                grad(data, i, x, client)
                for j in range(x.size):
                    out[j] += p[i] * client[j]
        return value

    if not (jit.compiled(grad) and jit.compiled(loss)):
        return objective
    identity = grad.identity and loss.identity and ("objective", grad.identity, loss.identity)
    return jit.compile(objective, identity=identity, maker=(_sum_objective, (grad, loss), None))


@jit.jit
def no_value(data, p, x):
    """Return NaN: the value of problems where F alone costs as much as F and its gradient, which
    the engine never calls."""
    return np.nan


BEHIND = 16  # zeros that follow a point that workers share
ABSENT = no_test, no_value, no_pieces, no_piece  # these kernels read no data, and are compiled once


class Kernels(NamedTuple):
    """The compiled functions of a problem. `data` is its own named tuple of C-contiguous arrays and
    8-byte numbers."""

    grad: Kernel  # (data, i, x, out): gradient of f_i
    loss: Kernel  # (data, i, x) -> f_i(x)
    # (data, p, x, out) -> F(x), with its gradient in out; if absent, computed by the definition
    objective: Kernel | None = None
    # (data, i, rows, draw, x, out): mean gradient over some of client i's samples; `draw` is the
    # key of all other draws (rng.masked)
    batch: Kernel = no_batch
    # (data, x, row): writes the metrics of x on held-out samples, in the order of `metrics.TESTED`
    test: Kernel = no_test
    # (data, p, x) -> F(x), equal to `objective` to the bit
    value: Kernel = no_value
    # (data, i, count, phase) -> the number of pieces in a phase of a gradient from `count` samples,
    # from all samples if 0; 0 after the last phase, and in the first phase where sharing among
    # workers would be slower
    pieces: Kernel = no_pieces
    # (data, i, rows, x, room, out, phase, n): computes piece n. Phases are sequential; pieces of
    # one phase run in parallel. In the end `out` equals the result of `batch` or `grad` to the bit.
    # BEHIND zeros follow x, for kernels that read several numbers at once
    piece: Kernel = no_piece

    def role(self, name: str, data: Any, real: str = "float64") -> Callable[..., Any]:
        """Return a kernel behind the engine's signature, for points of one kind of reals."""
        of = jit.ADDRESS if getattr(self, name) in ABSENT else jit.typeof(data)
        return jit.erase(getattr(self, name), *_roles(of, real)[name])

    @property
    def compiled(self) -> bool:
        """Return whether all kernels can be compiled to machine code."""
        return all(jit.compiled(kernel) for kernel in self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _kernels_received, tuple(map(pickling.pickle_kernel, self))


def _kernels_received(*messages: tuple[Callable[..., Any], tuple[Any, ...]]) -> Kernels:
    return Kernels(*map(pickling.unpickle_kernel, messages))


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Shown):
    """An objective for runs: N clients' losses f_1 .. f_N with weights, often a server's loss f_0,
    and constants that are true of them.

    Makers (ft.problems) build problems; docs/adding.md shows a maker in one file. `constants` maps
    a name to a Constant, whose `scope` says where the value holds. `weights`, `sizes`, `sigma` and
    `batch_size` have a place 0 for the server. A problem is never changed: `reweighted` and
    `relaxed` return new ones.

    >>> import fedtheory as ft
    >>> problem = ft.problems.quadratic_from_arrays(A=[2.0], b=[[0.0], [1.0], [3.0]])
    >>> problem.N, problem.loss([2.0]), problem.client_grad(2, [2.0]), problem.minimizer()
    (2, 1.0, array([-2.]), array([2.]))
    """

    name: str
    data: tuple[Any, ...]
    kernels: Kernels
    N: int
    d: int
    weights: np.ndarray  # (N + 1,), p_0 = 0, the other weights sum to 1
    constants: dict[str, Any]  # name -> Constant
    has_server: bool = True
    sizes: Any = None  # (N + 1,) numbers of samples, for problems with samples
    noise: str = "none"
    # (N + 1,): E||g_i - grad f_i||^2 = sigma_i^2 for additive noise
    sigma: np.ndarray | None = None
    batch_size: Any = None  # (N + 1,) for minibatch noise
    replacement: bool = False  # minibatches drawn with replacement
    # gradients draw more than rows, so a minibatch of all samples is random, too
    drawing: bool = False
    # size of the buffer that a gradient's pieces share; 0: gradients are not shared among workers
    room: int = 0
    layers: tuple[Any, ...] | None = None
    start: np.ndarray | None = None  # the default starting point; zero if absent
    minimize: Callable[..., Any] | None = None  # (problem) -> x_star
    # (problem, p) -> problem, where data or constants depend on the weights
    reweigh: Callable[..., Any] | None = None
    real: str = "float64"  # the number type of points and gradients during a run
    affine: bool = False  # gradients are affine, so ft.expected may propagate moments
    blas: bool = False  # kernels call BLAS: the engine limits BLAS to one thread

    def __post_init__(self) -> None:
        def default(name: str, value: np.ndarray | Sequence[Layer]) -> None:
            if getattr(self, name) is None:
                object.__setattr__(self, name, value)

        if self.kernels.objective is None:
            object.__setattr__(
                self,
                "kernels",
                self.kernels._replace(
                    objective=_sum_objective(self.kernels.grad, self.kernels.loss)
                ),
            )
        default("layers", layers_from(None, self.d))
        default("sigma", np.zeros(self.N + 1))
        default("batch_size", np.zeros(self.N + 1, dtype=np.int64))
        default("sizes", np.zeros(self.N + 1, dtype=np.int64))
        if self.noise == "minibatch" and self.kernels.batch is no_batch:
            refuse("noise", f"minibatch needs samples, and {self.name} has none", self.noise)

    def heading(self) -> str:
        return f"Problem {self.name}"

    def facts(self) -> dict[str, str]:
        known = {
            name: number_text(constant.value)
            + f" ({constant.scope})" * (constant.scope != "global")
            for name, constant in self.constants.items()
            if np.ndim(constant.value) == 0
        }
        return dict(clients=self.N, d=self.d, noise=self.noise, **known)

    @property
    def measured(self) -> tuple[str, ...]:
        """Return the names of constants that were measured along a run and of which nothing is
        proved."""
        return tuple(n for n, c in self.constants.items() if c.scope == "trajectory")

    def loss(self, x):
        """Return F(x), the weighted mean of the clients' losses at a point (d,)."""
        return self.value_and_grad(x)[0]

    def grad(self, x):
        """Return the gradient of F at a point (d,)."""
        return self.value_and_grad(x)[1]

    def try_out(self) -> None:
        """Refuse user-defined kernels that index outside their arrays in calls like those of a run."""
        if "_tried" not in self.__dict__:
            try_kernels(f"problem {self.name}", self.kernels._asdict(), self._play)
            object.__setattr__(self, "_tried", True)

    def _play(self, kernels: Mapping[str, Callable[..., Any]]) -> None:
        """Call the loss and gradient kernels of the server, the first and the last client, as a run
        does."""
        x = np.zeros(self.d, self.real) if self.start is None else self._point(self.start)
        out, drawn = np.zeros(self.d, self.real), np.uint64(1)
        for i in sorted({0 if self.has_server else 1, 1, self.N}):
            kernels["grad"](self.data, i, x, out)
            kernels["loss"](self.data, i, x)
            samples = int(self.sizes[i])
            if samples and self.kernels.batch is not no_batch:
                count = int(self.batch_size[i]) or samples
                rows = np.arange(samples - 1, samples - 1 - count, -1) % samples
                kernels["batch"](self.data, i, rows, drawn, x, out)
            self._play_pieces(kernels, i, x, out)
        kernels["objective"](self.data, self.weights, x, out)
        kernels["value"](self.data, self.weights, x)
        kernels["test"](self.data, x, np.zeros(4))

    def _play_pieces(
        self, kernels: Mapping[str, Callable[..., Any]], i: int, x: np.ndarray, out: np.ndarray
    ) -> None:
        """Call the kernel of one client's gradient piece by piece, where the gradient can be shared
        by workers."""
        x, rows = np.concatenate([x, np.zeros(BEHIND, self.real)]), np.empty(0, np.int64)
        room, phase = np.zeros(self.room, self.real), 0
        while self.room and (count := kernels["pieces"](self.data, i, 0, phase)):
            for n in {0, int(count) - 1}:
                kernels["piece"](self.data, i, rows, x, room, out, phase, n)
            phase += 1

    def client_loss(self, i: int, x: np.ndarray) -> float:
        """Return f_i(x); i = 0 is the server. Raises InvalidInput where there is no such client."""
        self.try_out()
        return float(self.kernels.loss(self.data, self._index(i), self._point(x)))

    def client_grad(self, i: int, x: np.ndarray) -> np.ndarray:
        """Return the gradient of f_i at x; i = 0 is the server. Raises InvalidInput where there is
        no such client."""
        out = np.empty(self.d, self.real)
        self.try_out()
        self.kernels.grad(self.data, self._index(i), self._point(x), out)
        return out.astype(np.float64, copy=False)

    def value_and_grad(self, x: Number) -> tuple[float, np.ndarray]:
        """Return F(x) and the gradient of F at x, which costs less than both apart."""
        out = np.empty(self.d, self.real)
        self.try_out()
        value = float(self.kernels.objective(self.data, self.weights, self._point(x), out))
        return value, out.astype(np.float64, copy=False)

    def minimizer(self) -> np.ndarray:
        """Return a minimiser of F, the one of least norm where there are several.

        Raises InvalidInput where none is known; the message says whether F is unbounded below.
        """
        if self.minimize is None:
            raise InvalidInput(f"{self.name} {self.no_minimiser}")
        return self._x_star.copy()

    @property
    def no_minimiser(self) -> str:
        """Return words that say why the problem has no `minimize`."""
        if "F_inf" in self.constants and self.constants["F_inf"].value == -np.inf:
            return "has no minimiser: F is unbounded below"
        return "has no known minimiser"

    @cached_property
    def _x_star(self) -> np.ndarray:
        return np.ascontiguousarray(self.minimize(self), dtype=np.float64)

    def reweighted(self, weights: np.ndarray | Sequence[float]) -> "Problem":
        """Return the problem with the same clients under other weights p_1 .. p_N, which must add
        up to 1.

        A run uses it where clients arrive or depart, which shifts the objective.
        """
        p = weights_from(weights, self.N)
        return replace(self, weights=p) if self.reweigh is None else self.reweigh(self, p)

    def relaxed(self, **constants: float) -> "Problem":
        """Return the same problem with weaker constants: larger upper bounds, smaller lower bounds.

        Raises InvalidInput for a constant that the problem does not have, and for a value that
        would say more than is true.

        >>> import fedtheory as ft
        >>> ft.problems.quadratic(d=2, clients=2, L=1.0, mu=0.5).relaxed(L=2.0).constants["L"].value
        2.0
        """
        said = dict(self.constants)
        for name, value in constants.items():
            if name not in said or name == "F_inf":  # F_inf is a value, not a bound
                names = ", ".join(each for each in said if each != "F_inf")
                refuse(
                    "relaxed",
                    f"takes constants of {self.name} that bound something ({names})",
                    name,
                )
            value, known = arguments.check_real(name, value, low=-arguments.LARGEST), said[name]
            below = name in LOWER
            if not (value <= known.value if below else value >= known.value):
                rule = f"must be {'<=' if below else '>='} {known.value:g}, or it says more than is true"
                refuse(name, rule, value)
            said[name] = known._replace(value=value, how=f"{known.how}; relaxed")
        return replace(self, constants=said)

    @cached_property
    def in_pieces(self) -> bool:
        """Tell whether workers compute a gradient together, piece by piece, because it is large:
        the server's, or that of the client that draws the most samples."""
        counts = self.sizes
        if self.noise == "minibatch":
            counts = np.where(self.batch_size > 0, self.batch_size, counts)
        most = 1 + int(np.argmax(counts[1:]))
        asked = (0, most) if self.has_server else (most,)
        pieces = lambda i: self.kernels.pieces(self.data, i, int(counts[i]), 0)
        return self.room > 0 and any(pieces(i) > 1 for i in asked)

    def _index(self, i: int) -> Number:
        """Return the index of a client, or of the server where the problem has one; refuse any
        other."""
        if (
            isinstance(i, (bool, np.bool_))
            or not isinstance(i, (int, np.integer))
            or not (0 if self.has_server else 1) <= i <= self.N
        ):
            refuse(
                "i",
                f"must be a client 1..{self.N}" + (" or 0, the server" if self.has_server else ""),
                i,
            )
        return np.int64(i)

    def _point(self, x: np.ndarray) -> np.ndarray:
        """Return a point in the form that kernels take; refuse an array of another shape."""
        x = np.ascontiguousarray(arguments.check_array("x", x), dtype=self.real)
        if x.shape != (self.d,):
            refuse("x", f"must have shape ({self.d},)", x.shape)
        return x


def vanishing(grad: Callable[..., Any], d: int) -> np.ndarray:
    """Return the point of least norm at which an affine gradient vanishes."""
    level, H = _affine(grad, d)
    return np.linalg.lstsq(H, -level, rcond=None)[0]


def lowest_of(
    grad: Callable[..., Any], d: int, constants: Mapping[str, Constant], weight: float = 1.0
) -> np.ndarray | None:
    """Return the minimiser of least norm of a loss with affine gradient; None where the loss is
    unbounded below. The loss is a sum, of total weight `weight`, of losses with these constants."""
    if "mu" in constants and constants["mu"].value >= 0:
        return vanishing(grad, d)
    level, H = _affine(grad, d)
    values, turn = np.linalg.eigh((H + H.T) / 2)
    # curvatures that cancel up to rounding count as zero
    curved = weight * constants["L"].value if "L" in constants else abs(values).max()
    flat = abs(values) <= FLAT * curved
    along = -turn.T @ level
    slope = np.abs(along[flat]).max(initial=0.0)
    if np.any(values[~flat] < 0) or slope > FLAT * max(np.abs(level).max(), 1e-300):
        return None
    return turn @ np.divide(along, values, out=np.zeros(d), where=~flat)


def _affine(grad: Callable[..., Any], d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return an affine gradient at 0, and its matrix."""
    level = grad(np.zeros(d))
    return level, np.stack([grad(e) - level for e in np.eye(d)], axis=1)


def curvatures(grad: Callable[..., Any], d: int) -> np.ndarray:
    """Return the eigenvalues of the Hessian of a loss with affine gradient, in ascending order."""
    H = _affine(grad, d)[1]
    return np.linalg.eigvalsh((H + H.T) / 2)


def weights_from(weights: Any, N: Number) -> np.ndarray:
    """Return p with p_0 = 0: equal weights by default, else from N nonnegative numbers, which are
    normalised when they are sample counts."""
    p = np.zeros(N + 1)
    if weights is None:
        p[1:] = 1.0 / N
        return p
    rule, given = f"must be {N} nonnegative numbers with a positive sum", weights
    weights = arguments.check_array("weights", weights, rule)
    if (
        weights.shape != (N,)
        or not np.all(np.isfinite(weights))
        or np.any(weights < 0)
        or not 0 < weights.sum() < np.inf
    ):
        refuse("weights", rule, given)
    p[1:] = weights / weights.sum()
    return p


def noise_constants(noise: str, sigmas: Number, d: int) -> dict[str, Constant]:
    """Return the mapping name -> Constant of noise that is added to gradients with the same law in
    all directions."""
    how, largest = f"{noise} noise", float(sigmas[1:].max())
    return dict(
        sigma=Constant(largest, how=how),
        sigma_0=Constant(float(sigmas[0]), how=how),
        sigma_coordinate=Constant(
            float(largest / np.sqrt(d)),
            how=f"{how} is isotropic: each coordinate has a d-th of sigma^2",
        ),
    )


def noise_from(noise: str, sigma: Any, sigma_0: float, N: int) -> tuple[str, np.ndarray]:
    """Return the kind of noise and the (N + 1,) standard deviations of the server and the clients."""
    if not isinstance(noise, str) or noise not in NOISES:
        refuse("noise", f"must be one of {', '.join(NOISES)}", noise)
    sigmas = np.empty(N + 1)
    for name, value, part in (("sigma", sigma, sigmas[1:]), ("sigma_0", sigma_0, sigmas[:1])):
        rule = "must be finite and nonnegative, one number" + (
            f" or {N}" if name == "sigma" else ""
        )
        given = arguments.check_array(name, value, rule)
        part[:] = given if given.shape in ((), part.shape) else np.nan
        if not np.all(np.isfinite(part)) or np.any(part < 0) or np.any(part > arguments.LARGEST):
            refuse(name, rule, value)
        if noise == "none" and np.any(part > 0):
            refuse(name, "must be 0 where noise is none", value)
    return noise, sigmas
