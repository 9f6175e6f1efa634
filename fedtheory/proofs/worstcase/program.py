"""The exact worst case of a method with exact gradients over a class of functions in any dimension
(PEP).

Performance estimation (Drori and Teboulle 2014; Taylor, Hendrickx and Glineur 2017) is a
semidefinite program in the Gram matrix of the points and gradients that a method meets. Clarabel
(extra `pep`) solves the program. Its floats are not reported. The result is a bound that
multipliers in fractions prove, and an instance in fractions that nearly attains the bound.

    from fedtheory.proofs.worstcase import program
    worst = program.worst_case(program.gradient_descent(1), rounds=4)            # L = 1, |x_0 - x*| <= 1, F(x_4) - F*
    worst.value, worst.least, worst.bound                                # 1/18, rounded up, and fractions around it
    program.worst_case(program.fedavg(N=2, K=2, eta_l=0.1), rounds=2, mu=0.1,
                   optimum={"sq_dissimilarity": 1})                      # (1/N) sum |grad f_i(x*)|^2 <= 1
    program.worst_case(program.fsl(N=2, K=2, K_0=1, eta_l=0.1, eta_0=0.2, gamma=0.5), rounds=1,
    L={0: 2, 1: 1, 2: 1},
                   visited={"sq_dissimilarity": 1, "sq_xi": 0.25})

The class of functions: each f_i has curvature in [mu, L], convex or not. F = sum weights_i f_i has
a minimiser x* (convex f_i), or is bounded below (some weighted f_i with mu < 0). `start` bounds
measures at x_0, `optimum` at x*, and `visited` at x* and x_0, ..., x_R. Under these bounds alone,
the worst case is exact for convex f_i, and for a single function with mu <= 0. With several
functions that are not convex, the worst case is an upper bound (`least` is None). A dissimilarity
that is assumed at every x in R^d is a stronger assumption than `visited`, so the worst case is an
upper bound there too.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from fedtheory.certificates import check_worst_case
from fedtheory.certificates.check_worst_case import QUANTITIES, STAR, Reading, Refused
from fedtheory.errors import refuse
from fedtheory.exact.linear import Linear
from fedtheory.proofs.worstcase import structure
from fedtheory.proofs.worstcase.methods import (
    exact_number,
    fedavg,
    fsl,
    gradient_descent,
    kernel_method,
    momentum,
    nesterov,
    one_way_gt,
    scaffold,
)
from fedtheory.typing import Document, Exact, Number

if TYPE_CHECKING:
    from fedtheory.proofs.worstcase.instance import Instance

__all__ = [
    "worst_case",
    "replay_worst_case",
    "state_question",
    "fedavg",
    "fsl",
    "gradient_descent",
    "momentum",
    "nesterov",
    "kernel_method",
    "one_way_gt",
    "scaffold",
    "Refused",
]


SHORT = 20  # characters of the longest fraction that is shown


class Unknown(Linear):
    """A linear combination of x_0 (index 0) and gradient answers (1, 2, ...) with exact
    coefficients."""

    __slots__ = ()
    number = staticmethod(partial(exact_number, "a method's number"))

    def to_document(self) -> dict[str, str]:
        return {str(i): str(value) for i, value in sorted(self.terms.items())}


def state_question(
    method: Any,
    rounds: Number,
    *,
    L: Exact | Mapping[int, Exact] = 1,
    mu: Exact | str = 0,
    weights: Mapping[int, Any] | None = None,
    start: Mapping[str, int] | None = None,
    optimum: Mapping[str, int] | None = None,
    visited: Any = None,
    measure: str = "loss",
    over: str = "last",
    minimiser: bool | None = None,
) -> dict[str, Any]:
    """Return the document that states the question, without a proof.

    The method is run on unknown vectors, which records each query and each point as multiples of
    x_0 and of gradients. Gradients that an assumption or measure needs at server points are
    queries, too. Raises InvalidInput for a measure, weight or curvature that has no meaning for
    these functions.
    """
    if type(rounds) is not int or rounds < 0:
        refuse("rounds", "must be an integer >= 0", rounds)
    if over not in ("last", "least"):
        refuse("over", "must be 'last', or 'least' for the least over x_0, ..., x_R", over)
    queries = {}

    def gradient(i: int, point: Unknown) -> Unknown:
        key = str(i), tuple(point.to_document().items())
        queries.setdefault(key, len(queries) + 1)
        return Unknown({queries[key]: Fraction(1)})

    structure.require_structure(method, rounds)
    points = list(islice(method(Unknown({0: Fraction(1)}), gradient), rounds + 1))
    about = structure.method_entries(method, {k for k, _ in queries})
    asked = {int(k) for k, _ in queries} | set(weights or ()) or {1}
    clients = sorted(i for i in asked if i > 0)
    weights = weights or {i: Fraction(1, len(clients)) for i in clients}
    kinds = {
        i: [
            exact_number(name, value.get(i, "missing") if isinstance(value, dict) else value)
            for name, value in (("mu", mu), ("L", L), ("weights", {i: 0, **weights}))
        ]
        for i in sorted(asked)
    }
    for i, (low, high, weight) in kinds.items():
        if not low < high or high <= 0:
            refuse(f"L of f_{i}", "must exceed mu and 0", f"{high} with mu = {low}")
        if weight < 0 or not any(kind[2] for kind in kinds.values()):
            refuse("weights", "must be nonnegative, and not all zero", weights)
    convex = all(kind[0] >= 0 for kind in kinds.values() if kind[2])
    if minimiser and not convex:
        refuse("minimiser", "must not be asked for where a weighted f_i may have mu < 0", kinds)
    minimiser = convex if minimiser is None else minimiser
    start = start or ({"sq_distance": 1} if minimiser else {"loss": 1})
    at_all = [*range(rounds + 1), *[STAR] * minimiser]
    assumes = [
        (name, t, bound)
        for place, times in ((start, [0]), (optimum, [STAR]), (visited, at_all))
        for name, bound in (place or {}).items()
        for t in times
    ]
    wanted = [(measure, t) for t in (range(rounds + 1) if over == "least" else [rounds])]
    for name, t in [(name, t) for name, t, _ in assumes] + wanted:
        if name not in QUANTITIES:
            refuse("a measure", f"must be among {', '.join(sorted(QUANTITIES))}", name)
        if not minimiser and (t == STAR or name == "sq_distance"):
            refuse(
                name, "needs a minimiser, which functions that are not convex may lack", f"at x_{t}"
            )
        if (
            name in ("sq_dissimilarity", "sq_xi")
            and not clients
            or name == "sq_xi"
            and 0 not in asked
        ):
            refuse(name, "needs clients, and sq_xi the server's f_0", sorted(asked))
        speaks = (
            [i for i in asked if kinds[i][2]]
            if name in ("loss", "sq_grad_norm")
            else []
            if name == "sq_distance"
            else clients + [0] * (name == "sq_xi")
        )
        if t != STAR:
            for i in sorted(speaks):
                gradient(i, points[t])
    return {
        "format": "fedtheory pep 2",
        **about,
        "functions": {str(i): [str(v) for v in kind] for i, kind in kinds.items()},
        "minimiser": minimiser,
        "queries": [[k, dict(point)] for k, point in queries],
        "points": [point.to_document() for point in points],
        "measure": [measure, [t for _, t in wanted]],
        "assumes": [[name, t, str(check_bound(name, bound))] for name, t, bound in assumes],
    }


def check_bound(name: str, bound: int) -> Fraction:
    """Return a bound of an assumption as a fraction, and refuse a negative one."""
    value = exact_number(f"the bound on {name}", bound)
    return value if value >= 0 else refuse(f"the bound on {name}", "must be >= 0", bound)


@dataclass(frozen=True)
class WorstCase:
    """A worst case with least <= worst case <= bound, both proved by `certificate`."""

    bound: Fraction
    least: Fraction  # None if no instance is known to exist for the Gram matrix
    status: str  # the solver's status, as information: the proofs do not rest on it
    certificate: dict[str, Any]
    # Keys are names of conditions: "k:i:j" between samples i and j of f_k, "assumed:n",
    # "measure:t".
    multipliers: dict[str, Any]

    @property
    def value(self) -> float:
        """Return the bound as a float, rounded up."""
        value = float(self.bound)
        return value if Fraction(value) >= self.bound else math.nextafter(value, math.inf)

    @property
    def instance(self) -> "Instance | None":
        """Return the points, gradients and values on a worst function, as an instance.Instance."""
        from fedtheory.proofs.worstcase import instance

        return instance.instance_of(self.certificate)

    def __str__(self) -> str:
        simple = self.bound.denominator > 1 and len(str(self.bound)) <= SHORT
        value = f"{self.bound} ({self.value:.10g})" if simple else f"{self.value:.10g}"
        gap = ""
        if self.least is not None:
            short = self.bound - self.least
            gap = (
                f", attained up to a share of {float(short / self.bound):.1e}"
                if short and self.bound
                else ", attained"
            )
        return f"worst case {value}, proved by {len(self.multipliers)} multipliers{gap}"


def worst_case(method: Any, rounds: Number, **about: Any) -> WorstCase:
    """Return the largest `measure` after `rounds` of `method` as a WorstCase; raises NotExact where
    none is proved.

    method   a recursion as in `worstcase.methods`: gradient_descent(eta), fedavg(N, K, eta_l, eta_g), fsl(...), your own
    L, mu    curvature bounds, numbers or {i: number}; numbers are taken exactly, fractions may be text ("1/3")
    weights  F = sum weights_i f_i; the plain mean of the clients unless given
    start, optimum, visited    bounds {measure: number} at x_0, x*, all server points; start: {"sq_distance": 1}
    measure  "loss" (F - F*), "sq_grad_norm", "sq_distance", "sq_dissimilarity", "sq_xi", as in fedtheory.metrics
    over     "last", x_R; or "least", the least over x_0, ..., x_R
    minimiser    False: F need only be bounded below, though it is convex
    """
    from fedtheory.proofs.worstcase import solver

    document = state_question(method, rounds, **about)
    status, multipliers, bound, instance = solver.solve_program(Reading(document))
    document.update(
        bound=str(bound), multipliers={name: str(value) for name, value in multipliers.items()}
    )
    if instance:
        document["instance"] = instance
    # A wrong solution of the solver raises an error here instead of giving a bound.
    least, bound = check_worst_case.check(document)
    return WorstCase(bound, least, status, document, multipliers)


def replay_worst_case(document: str | Document) -> tuple[Fraction, ...]:
    """Return (least, bound) that a document, or its JSON text, proves; raises Refused if it proves
    none."""
    return check_worst_case.check(json.loads(document) if isinstance(document, str) else document)


def speaks_of(document: Any, method: Any, rounds: Number, **about: Any) -> bool:
    """Tell whether a document states this question. The document's proof may still be wrong."""
    return all(
        document.get(key) == value for key, value in state_question(method, rounds, **about).items()
    )
