"""Checker of a worst case of a first-order method from its document alone, with dictionaries and
fractions only.

The document lists the method's queries: the gradient of function k at a point, which is a
combination of x_0 and earlier answers. Each f_k has curvature in [mu, L]; F = sum weight_k f_k.
Only finitely many numbers of such functions matter, inner products and values. They are bound by
the interpolation conditions of Taylor, Hendrickx and Glineur (2017, theorem 4; for mu < 0 Rotaru,
Glineur and Patrinos 2022, theorem 3.1). Multipliers >= 0 prove a bound when

    bound - measure - sum multiplier * condition = a positive semidefinite form in the vectors,

identically; a Gram matrix with values that meets every condition proves that a value is attained.

A document may describe a method by name, and then states its assumptions about the method
(`TAKEN`). That the method's kernels meet these assumptions, and make the recursion that is written
here, is checked elsewhere, where the kernels are available.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from math import lcm
from typing import Any

STAR = "*"
FORMATS = ("fedtheory pep 1", "fedtheory pep 2")  # documents of the first format describe no method
ENTRIES = {
    "format",
    "method",
    "structure",
    "functions",
    "minimiser",
    "queries",
    "points",
    "measure",
    "assumes",
    "bound",
    "multipliers",
    "instance",
}
# The limit of products of short fractions in a document, of some 3 microseconds each. The document
# of thirty steps of gradient descent, which took a solver half a minute, takes 194,000.
STEPS = 250_000
LEFT = ContextVar("left", default=None)
QUANTITIES = {"loss", "sq_grad_norm", "sq_distance", "sq_dissimilarity", "sq_xi"}

# The assumptions about a method that a document states.
TAKEN = {
    "coordinates": "all alike, each by itself",
    "points": "x_0 plus multiples of gradients",
    "gradients": "exact",
    "clients": "all in every round",
}


class Refused(ValueError):
    """Raised where the document does not show its statement."""


def require(truth: int | re.Match | Mapping[str, Fraction] | None, why: str) -> None:
    if not truth:
        raise Refused(why)


def parse_number(text: bool | str) -> Fraction:
    require(
        isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,4000}(/[0-9]{1,4000})?", text),
        f"no number: {text}",
    )
    return Fraction(text)


def check_structure(functions: Collection[Any]) -> dict[str, Any]:
    """Return a document's description of a method that asks for gradients of these functions."""
    return {**TAKEN, "reads": sorted(map(str, functions), key=int)}


def check_description(document: Any, functions: Mapping[str, Any]) -> None:
    """Raise Refused unless a document describes a method completely, or not at all."""
    method, structure = document.get("method"), document.get("structure")
    if method is None and structure is None:
        return
    require(document["format"] != FORMATS[0], "its format describes no method")
    require(
        isinstance(method, dict)
        and method.keys() == {"name", "clients", "numbers"}
        and isinstance(method["name"], str)
        and type(method["clients"]) is int
        and 1 <= method["clients"] <= len(functions)
        and isinstance(method["numbers"], dict),
        "no description of a method",
    )
    for value in method["numbers"].values():
        parse_number(value)
    require(
        isinstance(structure, dict)
        and isinstance(structure.get("reads"), list)
        and set(structure["reads"]) <= set(functions)
        and structure == check_structure(structure["reads"]),
        "it takes its method for something else than a program does",
    )


def spend_products(
    times: int,
    one: Iterable[Any] | Sequence[Any] = (),
    other: Iterable[Any] | Sequence[Fraction] = (),
) -> None:
    """Subtract the cost of `times` products of the longest of the given numbers from the budget of
    the current check; do nothing where no check is under way."""
    left = LEFT.get()
    if left is not None:
        bits = lambda values: max(
            (v.numerator.bit_length() + v.denominator.bit_length() for v in values), default=0
        )
        left[0] -= times * (1 + bits(one) * bits(other) // 300_000)
        require(left[0] >= 0, "it takes more work than a document may")


def add_sums(*terms: tuple[Any, Any]) -> dict[Any, Fraction]:
    """Return the weighted sum of sums {key: coefficient}: add_sums((2, p), (-1, q)) is 2 p - q."""
    total = {}
    for factor, p in terms:
        spend_products(len(p), [factor], p.values())
        for key, value in p.items():
            product = factor * value
            total[key] = total[key] + product if key in total else product
    return {key: value for key, value in total.items() if value}


def inner_product(u: Any, v: Any) -> dict[Any, Fraction]:
    """Return the inner product of two vectors as {(i, j): coefficient} with i <= j."""
    total = {}
    spend_products(len(u) * len(v), u.values(), v.values())
    for i, a in u.items():
        for j, b in v.items():
            key = (i, j) if i < j else (j, i)
            total[key] = total[key] + a * b if key in total else a * b
    return {key: value for key, value in total.items() if value}


def is_semidefinite(matrix: Sequence[Any]) -> bool:
    """Tell whether a symmetric matrix of fractions is positive semidefinite, by fraction-free
    elimination (Bareiss)."""
    scale, last, values = 1, 1, [value for row in matrix for value in row]
    for value in values:
        spend_products(1, [scale], [value])
        scale = lcm(scale, value.denominator)
    length = len(matrix) * max(
        (int(value * scale).bit_length() for value in values), default=0
    )  # bit length of minors
    spend_products(len(matrix) ** 3 // 6 * (1 + length * length // 300_000))
    rows = [
        [int(value * scale) for value in row[n:]] for n, row in enumerate(matrix)
    ]  # the upper triangle
    while rows:
        (pivot, *first), *rows = rows
        if pivot < 0 or pivot == 0 and any(first):
            return False
        if pivot:
            rows = [
                [(pivot * value - first[n] * other) // last for value, other in zip(row, first[n:])]
                for n, row in enumerate(rows)
            ]
            last = pivot
    return True


class Reading:
    """The statement of a document. A quantity is {key: coefficient}, with keys (i, j) for inner
    products, (q,) for values and () for the constant.

    Vector 0 is x_0 - x_star, vector q the answer to question q. The gradients at x_star follow,
    where the sum of weight_k grad f_k vanishes. Values are measured from f_k(x_star). Without a
    minimiser, values are measured from inf F, and points from x_0.
    """

    def __init__(self, document: Any) -> None:
        require(document.keys() <= ENTRIES, "an entry that means nothing")
        self.functions = {
            k: tuple(map(parse_number, kind)) for k, kind in document["functions"].items()
        }
        self.minimiser, self.assumes = document["minimiser"], document["assumes"]
        require(type(self.minimiser) is bool and len(document["queries"]) <= 5000, "no statement")
        require(all(re.fullmatch("[0-9]{1,4}", k) for k in self.functions), "no function")
        require(
            all(mu < L and L > 0 and w >= 0 for mu, L, w in self.functions.values()),
            "no curvature or weight",
        )
        self.weights = {k: w for k, (mu, L, w) in self.functions.items() if w}
        self.clients = [k for k in self.functions if k != "0"]
        require(self.weights, "no objective")
        self.queries, self.at, self.samples = [], {}, {k: {} for k in self.functions}
        for q, (k, combination) in enumerate(document["queries"], 1):
            point = self.point(combination, q)
            require(
                k in self.functions and (k, self.key(point)) not in self.at, f"no question: {q}"
            )
            self.queries.append((k, point))
            self.at[k, self.key(point)] = q
            self.samples[k][str(q)] = point, {q: Fraction(1)}, {(q,): Fraction(1)}
        self.size = len(self.queries) + 1
        self.points = [self.point(combination, self.size) for combination in document["points"]]
        self.stars = {}
        if self.minimiser:
            self.optimum()
        self.measure, rounds = document["measure"]
        require(
            rounds
            and all(type(t) is int and 0 <= t < len(self.points) for t in rounds)
            and len({*rounds}) == len(rounds),
            "no measure",
        )
        self.measures = {f"measure:{t}": self.quantity(self.measure, t) for t in rounds}
        self.conditions = dict(self.all_conditions())

    def point(self, combination: Mapping[str, str], known: int) -> dict[int, Fraction]:
        """Return a point as x_0 plus a combination of earlier answers; refuse any other point,
        since the method may not know x_star."""
        point = {int(i): parse_number(value) for i, value in combination.items()}
        require(
            point.get(0) == 1 and all(0 <= i < known for i in point), f"no point: {combination}"
        )
        return {i: value for i, value in point.items() if value and (i or self.minimiser)}

    @staticmethod
    def key(point: Mapping[int, Fraction]) -> tuple[Any, ...]:
        return tuple(sorted(point.items()))

    def optimum(self) -> None:
        first = next(iter(self.weights))
        for k in self.functions:
            if k != first:
                self.stars[k] = {self.size: Fraction(1)}
                self.size += 1
        self.stars[first] = add_sums(
            *(
                (-w / self.weights[first], self.stars[k])
                for k, w in self.weights.items()
                if k != first
            )
        )
        for k in self.functions:
            self.samples[k][STAR] = {}, self.stars[k], {}

    def sample(self, k: str, t: Any) -> tuple[Any, ...]:
        """Return gradient and value of f_k at x_t, or at x_star."""
        if t == STAR:
            require(self.minimiser, "no minimiser")
            return self.samples[k][STAR][1:]
        q = self.at.get((k, self.key(self.points[t])))
        require(q, f"f_{k} is not asked at x_{t}")
        return self.samples[k][str(q)][1:]

    def mean(self, weights: Mapping[str, Fraction], t: int | str) -> tuple[Any, Any]:
        """Return gradient and value of a weighted sum of functions at x_t."""
        samples = [(w, *self.sample(k, t)) for k, w in weights.items()]
        return add_sums(*((w, g) for w, g, f in samples)), add_sums(
            *((w, f) for w, g, f in samples)
        )

    def quantity(self, name: str, t: Any) -> dict[Any, Fraction]:
        require(
            name in QUANTITIES and (t == STAR or type(t) is int and 0 <= t < len(self.points)),
            f"no {name}",
        )
        if name == "sq_distance":
            require(self.minimiser, "no minimiser")
            return {} if t == STAR else inner_product(self.points[t], self.points[t])
        if name in ("loss", "sq_grad_norm"):
            gradient, value = self.mean(self.weights, t)
            return value if name == "loss" else inner_product(gradient, gradient)
        share = Fraction(1, len(self.clients))
        centre = self.mean(dict.fromkeys(self.clients, share), t)[0]
        who = self.clients if name == "sq_dissimilarity" else ["0"]
        gaps = [add_sums((1, self.sample(k, t)[0]), (-1, centre)) for k in who]
        return add_sums(*((Fraction(1, len(who)), inner_product(gap, gap)) for gap in gaps))

    def all_conditions(self) -> Iterator[tuple[str, Any]]:
        """Yield (name, quantity) for every quantity known to be nonnegative."""
        for k, (mu, L, _) in self.functions.items():
            for i, (x, g, f) in self.samples[k].items():
                for j, (y, h, e) in self.samples[k].items():
                    if i != j:
                        dx, dg = add_sums((1, x), (-1, y)), add_sums((1, g), (-1, h))
                        c = 1 / (2 * (L - mu))
                        curved = (
                            [
                                (-c * mu * L, inner_product(dx, dx)),
                                (2 * c * mu, inner_product(dg, dx)),
                            ]
                            if mu
                            else []
                        )
                        yield (
                            f"{k}:{i}:{j}",
                            add_sums(
                                (1, f),
                                (-1, e),
                                (-1, inner_product(h, dx)),
                                (-c, inner_product(dg, dg)),
                                *curved,
                            ),
                        )
        for n, (name, t, bound) in enumerate(self.assumes):
            yield (
                f"assumed:{n}",
                add_sums((1, {(): parse_number(bound)}), (-1, self.quantity(name, t))),
            )
        if not self.minimiser:
            yield from self.below()

    def below(self) -> Iterator[tuple[str, Any]]:
        """Yield F(x) - |grad F(x)|^2 / (2 L) >= inf F for every point at which all functions of F
        were asked."""
        L = sum(w * self.functions[k][1] for k, w in self.weights.items())
        for point in dict.fromkeys(self.key(point) for k, point in self.queries):
            asked = [(w, self.at.get((k, point))) for k, w in self.weights.items()]
            if all(q for w, q in asked):
                gradient = {q: w for w, q in asked}
                yield (
                    f"below:{min(q for w, q in asked)}",
                    add_sums(
                        *((w, {(q,): 1}) for w, q in asked),
                        (-1 / (2 * L), inner_product(gradient, gradient)),
                    ),
                )

    def vectors(self) -> range:
        """Return the indices of the vectors that a form is about."""
        return range(0 if self.minimiser else 1, self.size)

    def matrix(self, form: Mapping[Any, Fraction]) -> list[Any]:
        spend_products(len(self.vectors()) ** 2)
        half = lambda i, j: form.get((min(i, j), max(i, j)), Fraction(0)) / (1 if i == j else 2)
        return [[half(i, j) for j in self.vectors()] for i in self.vectors()]


def check_multipliers(
    reading: Reading, bound: Fraction, multipliers: Mapping[str, Fraction]
) -> None:
    """Raise Refused unless the multipliers prove that the least of the measures never exceeds the
    bound."""
    known = {**reading.conditions, **reading.measures}
    require(
        multipliers.keys() <= known.keys() and all(value >= 0 for value in multipliers.values()),
        "no multipliers",
    )
    require(
        sum(multipliers.get(name, 0) for name in reading.measures) == 1,
        "the measures' shares are not 1 in all",
    )
    left = add_sums(
        (bound, {(): 1}), *((-value, known[name]) for name, value in multipliers.items())
    )
    require(left.pop((), 0) >= 0 and all(len(key) == 2 for key in left), "the values do not cancel")
    require(is_semidefinite(reading.matrix(left)), "what is left is not positive semidefinite")


def check_attained(
    reading: Reading, least: Fraction, gram: Sequence[Any], values: Sequence[Fraction]
) -> None:
    """Raise Refused unless vectors with this Gram matrix, and these values, meet all conditions and
    reach `least`.

    Interpolation turns these vectors and values into functions. Where F is not convex, it
    guarantees inf F for a single function only.
    """
    require(
        len(gram) == len(reading.vectors()) and len(values) == len(reading.queries), "no instance"
    )
    require(
        all(row == list(column) for row, column in zip(gram, zip(*gram, strict=True))),
        "no Gram matrix",
    )
    require(is_semidefinite(gram), "no Gram matrix")
    kinds, start = (
        [kind for k, kind in reading.functions.items() if k in reading.weights],
        reading.vectors()[0],
    )
    require(
        all(mu >= 0 for mu, L, w in kinds)
        if reading.minimiser
        else len(reading.functions) == 1 and kinds[0][0] < 0,  # convex ones cannot fall again
        "conditions that are not known to suffice",
    )
    at = lambda form: sum(
        value
        * (
            1
            if not key
            else values[key[0] - 1]
            if len(key) == 1
            else gram[key[0] - start][key[1] - start]
        )
        for key, value in form.items()
    )
    require(all(at(form) >= 0 for form in reading.conditions.values()), "a condition is broken")
    require(all(at(form) >= least for form in reading.measures.values()), "the measure stays below")


def check(document: Any) -> tuple[Any, Fraction]:
    """Return (least, bound) of the worst case that a document shows, with `least` None where the
    document has no instance; raise Refused otherwise."""
    token = LEFT.set([STEPS])
    try:
        require(document["format"] in FORMATS, "no document of this format")
        reading, bound, least = Reading(document), parse_number(document["bound"]), None
        check_description(document, reading.functions)
        check_multipliers(
            reading,
            bound,
            {name: parse_number(value) for name, value in document["multipliers"].items()},
        )
        if "instance" in document:
            instance = document["instance"]
            least = parse_number(instance["least"])
            gram = [[parse_number(value) for value in row] for row in instance["gram"]]
            check_attained(
                reading, least, gram, [parse_number(value) for value in instance["values"]]
            )
    except Exception as error:  # any error that a malformed document causes
        raise (
            error
            if isinstance(error, Refused)
            else Refused(f"the document is not well formed: {error!r}")
        ) from None
    finally:
        LEFT.reset(token)
    return least, bound
