"""Conditions that a theorem may assume of a problem and of a round, as predicates on records.

A claim's `assumes` and `unstated` take these conditions by name (`conditions.SMOOTH`), beside
relations between symbols. `holds(problem, setup)` returns True or False; `setup` has the fields
cohort ("without", "with", "full") and partial (whether clients may do fewer than all steps).

>>> import fedtheory as ft
>>> from fedtheory import conditions
>>> conditions.CONVEX(ft.problems.quadratic(d=2, clients=3, L=1.0, mu=0.5))
True
"""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from fedtheory.arithmetic.domains import DOMAINS
from fedtheory.language.printing import plain
from fedtheory.language.symbol import Entry
from fedtheory.parallel import pickling

if TYPE_CHECKING:
    import sympy

# Noises with mean zero that are drawn anew at each call. The noise that an engine prescribes is not
# among them.
DRAWN = ("none", "gaussian", "rademacher", "sphere", "minibatch")


# The meaning of a condition for proofs; `constant` is a name in problem.constants.


class Along(NamedTuple):
    """A condition on the components g_x and g_y of a gradient along a straight line, at two points
    at distance s, for proofs by algebra."""

    # "steeper": g_y - g_x >= constant s, and constant > 0; "flatter": g_y - g_x <= constant s;
    # "curved": |g_y - g_x| <= constant s; "bounded": |g_x| and |g_y| <= constant
    kind: str
    constant: str
    within: str = ""  # "layer": holds on lines inside one layer, and bounds no whole gradient


class Root(NamedTuple):
    """The condition that the square root of a metric is at most a constant, at any point, for
    proofs by algebra."""

    metric: str
    constant: str


class Confined(NamedTuple):
    """The condition that all points stay in a bounded set, so that other conditions need not hold
    on all of R^d."""

    set: str = "bounded"


class Condition(NamedTuple):
    """A hypothesis that is no relation between numbers: `says` is its sentence, `holds` tests a
    problem.

    Users write conditions of their own with `on`, a function of a `Landscape`; docs/adding.md shows
    one. Called with a problem (and a setup), a condition tells whether it is met.
    """

    name: str
    says: str
    # (problem, setup) -> whether a problem and a run meet the condition; None where only exact
    # instances can be tested
    holds: "Callable[..., Any] | Certified | None" = None
    # the constants that the condition certifies: names of problem.constants, or of symbols that no
    # problem has
    constants: tuple[Any, ...] = ()
    means: tuple[Any, ...] = ()  # the facts that proofs may use: Along, Root, Confined
    # for a user's condition: a function of a `fedtheory.language.user_quantities.Landscape` that says
    # whether an instance meets the condition
    on: Callable[..., Any] | None = None
    # problem -> hyper-parameters, cohort and work with which a run meets the condition, used where
    # the user gives no others
    settles: Callable[..., Any] | None = None
    # the call that makes a problem that meets the condition, to be shown beside one that does not
    met_by: str = ""

    def __call__(self, problem: Any, setup: SimpleNamespace | None = None) -> bool:
        if self.holds is None:  # a problem in floats cannot be tested
            return False
        return bool(self.holds(problem, setup or SimpleNamespace(cohort="without", partial=False)))

    def __reduce__(self) -> Any:
        place = pickling.name_of_module(self, getattr(self.holds, "__module__", __name__))
        return (pickling.find_attribute, place) if place else (Condition, tuple(self))


class Certified(NamedTuple):
    """The condition that the problem carries this constant, true everywhere or where the iterates
    are checked to stay."""

    constant: str

    def __call__(self, problem: Any, setup: SimpleNamespace) -> bool:
        return self.constant in problem.constants


@dataclass(frozen=True, repr=False)
class Assumption:
    """One hypothesis of a claim: a relation between symbols, or a condition on the problem and the
    round.

    `where` says where the paper has it; `stated` is False for what only the proof uses.
    """

    holds: Any  # a SymPy relation or a Condition
    where: str = ""  # "(11)", "assumption 2", ...
    stated: bool = True  # False: the proof uses the assumption, the text does not state it
    note: str = ""

    @property
    def name(self) -> str:
        """Return the name by which the assumption is switched off: the name of its condition, or
        its place in the text."""
        return (
            self.holds.name
            if isinstance(self.holds, Condition)
            else self.where or plain(self.holds)
        )

    @property
    def relation(self) -> "sympy.Rel | None":
        """Return the hypothesis as a SymPy relation between symbols, None where it is a Condition."""
        return self.holds if isinstance(self.holds, (Relational, Boolean)) else None

    @property
    def condition(self) -> Condition | None:
        """Return the hypothesis as a Condition, None where it is a relation between symbols."""
        return self.holds if isinstance(self.holds, Condition) else None

    def __str__(self) -> str:
        text = self.holds.says if self.condition else plain(self.holds)
        marks = [self.where] if self.where else []
        return text + (
            f" [{', '.join(marks + ([] if self.stated else ['not stated']))}]"
            if marks or not self.stated
            else ""
        )

    def __repr__(self) -> str:
        return f"<assumes {self}>"


@dataclass(frozen=True, repr=False)
class Rule(Assumption):
    """A rule between a claim's letters that follows from their meaning everywhere; only the rules
    of its table are made into such records. A Rule given by a user is a hypothesis like any other.
    """


@dataclass(frozen=True, repr=False)
class Outside:
    """A number outside its symbol's domain (K = 0, S > N are of this kind)."""

    entry: Entry
    stated: bool = True

    @property
    def name(self) -> str:
        """Return the name of the symbol."""
        return self.entry.name

    def __str__(self) -> str:
        return f"{self.entry.name} {DOMAINS[self.entry.domain][1]}"

    def __repr__(self) -> str:
        return f"<assumes {self}>"


SMOOTH = Condition(
    "smooth",
    "f_0, ..., f_N are L-smooth",
    Certified("L"),
    ("L",),
    (Along("flatter", "L"),),  # every text means at least an upper quadratic
)
# The text's smoothness is one-sided (an upper quadratic); proofs use Lipschitz gradients, which are
# two-sided.
LIPSCHITZ = Condition(
    "lipschitz",
    "gradients of f_0, ..., f_N are L-Lipschitz (two-sided smoothness)",
    lambda problem, setup: (
        "L" in problem.constants and not problem.constants["L"].how.startswith("one-sided")
    ),
    ("L",),
    (Along("curved", "L"),),
)
DISSIMILAR = Condition(
    "dissimilar",
    "mean over clients of ||grad f_i - grad F||^2 is at most G^2",
    Certified("G"),
    ("G",),
)
SERVER_DISSIMILAR = Condition(
    "server_dissimilar",
    "||grad f_0 - grad F|| is at most xi_bar",
    Certified("xi_bar"),
    ("xi_bar",),
    (Root("sq_xi", "xi_bar"),),
)
NOISE = Condition(
    "noise",
    "gradient estimates are unbiased, with variance at most sigma^2 (sigma_0^2 at the server)",
    lambda problem, setup: (
        problem.noise in DRAWN and {"sigma", "sigma_0"} <= set(problem.constants)
    ),
    ("sigma", "sigma_0"),
)
GROWING_NOISE = Condition(
    "growing_noise",
    "gradient estimates are unbiased, with variance at most sigma^2 + growth^2 ||grad f_i||^2",
    lambda problem, setup: (
        problem.noise in DRAWN and {"sigma", "sigma_0"} <= set(problem.constants)
    ),
    ("sigma", "growth"),
)
INDEPENDENT = Condition(
    "independent_noise",
    "noise is independent over clients, steps and rounds, and of cohorts",
    lambda problem, setup: problem.noise in DRAWN,
)
EQUAL_WEIGHTS = Condition(
    "equal_weights",
    "F is the plain mean of the clients' losses, p_i = 1/N",
    lambda problem, setup: np.allclose(problem.weights[1:], 1 / problem.N, rtol=1e-12, atol=0),
)
UNIFORM_COHORT = Condition(
    "uniform_cohort",
    "cohorts are uniform over the subsets of S clients, drawn anew each round",
    lambda problem, setup: setup.cohort in ("without", "full") and not setup.partial,
)
SAMPLED_BY_WEIGHT = Condition(
    "sampled_by_weight",
    "F weighs client i by p_i, and S clients are drawn with replacement, i with probability p_i",
    lambda problem, setup: (
        setup.cohort == "with" and not setup.partial and EQUAL_WEIGHTS(problem, setup)
    ),
    # cohorts drawn by weight already weigh by p_i, so a plain mean suffices
    settles=lambda problem: dict(cohort="with", weighting="plain"),
)
BOUNDED_BELOW = Condition(
    "bounded_below",
    "the objective is bounded below",
    lambda problem, setup: (
        problem.minimize is not None
        or "F_inf" in problem.constants
        and problem.constants["F_inf"].value > -np.inf
    ),
)
CONVEX = Condition(
    "convex",
    "f_0, ..., f_N are convex",
    lambda problem, setup: "mu" in problem.constants and problem.constants["mu"].value >= 0,
)
STRONGLY_CONVEX = Condition(
    "strongly_convex",
    "f_0, ..., f_N are mu-strongly convex with mu > 0",
    lambda problem, setup: "mu" in problem.constants and problem.constants["mu"].value > 0,
    ("mu",),
    (Along("steeper", "mu"),),
)
SERVER = Condition(
    "server", "the server has a loss f_0 of its own", lambda problem, setup: problem.has_server
)
SAMPLES = Condition(
    "samples",
    "losses are means over finitely many samples",
    lambda problem, setup: bool(np.any(problem.sizes[1:] > 0)),
)
EXACT_GRADIENTS = Condition(
    "exact_gradients",
    "gradients carry no noise",
    lambda problem, setup: problem.noise == "none" or not np.any(problem.sigma),
)
ALL = {
    c.name: c
    for c in (
        SMOOTH,
        LIPSCHITZ,
        DISSIMILAR,
        SERVER_DISSIMILAR,
        NOISE,
        GROWING_NOISE,
        INDEPENDENT,
        EQUAL_WEIGHTS,
        UNIFORM_COHORT,
        SAMPLED_BY_WEIGHT,
        BOUNDED_BELOW,
        CONVEX,
        STRONGLY_CONVEX,
        SERVER,
        SAMPLES,
        EXACT_GRADIENTS,
    )
}
# The laws of chance in a run, which no loss and no constant shows: a text that omits one of these
# reads like any other text. Each has the names of conditions that say the same, or that make it
# void.
LAWS = {
    EQUAL_WEIGHTS.name: frozenset({SAMPLED_BY_WEIGHT.name}),
    UNIFORM_COHORT.name: frozenset({SAMPLED_BY_WEIGHT.name}),
    INDEPENDENT.name: frozenset({EXACT_GRADIENTS.name}),
    NOISE.name: frozenset({GROWING_NOISE.name, "coordinate_noise", EXACT_GRADIENTS.name}),
}


def unsaid_laws(names: Iterator[Any] | Set[str]) -> frozenset[str]:
    """Return the laws in LAWS about which no condition with one of these names says anything."""
    said = set(names)
    return frozenset(law for law, others in LAWS.items() if not {law, *others} & said)


def settle_words(
    held: Sequence[Condition], problem: Any, hyper: Mapping[str, Any]
) -> tuple[dict[str, float | str], dict[str, Any]]:
    """Return two mappings of what the conditions `held` settle for a problem: names of the method's
    hyper-parameters `hyper` with a value that is allowed there, and all other names with their
    values."""
    found: dict[str, Any] = {}
    for condition in held:
        found.update(condition.settles(problem) if condition.settles else {})
    words = {
        name: value
        for name, value in found.items()
        if name in hyper and value in (hyper[name].choices or (value,))
    }
    return words, {name: value for name, value in found.items() if name not in words}
