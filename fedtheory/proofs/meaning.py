"""Relations between measured quantities, written as inner products of gradients, for use in proofs
by algebra.

A vector is no number. It appears only inside `Inner`, which the function `inner` expands into inner
products of single vectors.

The meaning comes from the metrics that a claim's symbols name, and from its conditions. It never
comes from the claim itself.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import sympy

from fedtheory.errors import refuse
from fedtheory.language.conditions import Along, Assumption, Root
from fedtheory.language.printing import plain
from fedtheory.language.symbol import Table
from fedtheory.symbols import fsl
from fedtheory.symbols.fsl import eta_0, gamma
from fedtheory.typing import Number

if TYPE_CHECKING:
    import numpy as np

    from fedtheory.language.claim import Claim


class Vector(sympy.Symbol):
    """A vector. SymPy would multiply two vectors as numbers, so no relation may contain such a
    product."""


class Inner(sympy.Function):
    """The inner product of two Vectors, a real number."""

    nargs, is_real = 2, True

    @classmethod
    def eval(cls, v: "np.ndarray", w: "np.ndarray") -> "Inner | None":
        if not isinstance(v, Vector) or not isinstance(w, Vector):
            refuse("an inner product", "must be of two vectors", (v, w))
        return cls(w, v) if w.name < v.name else None

    def _sympystr(self, printer: Any) -> str:
        return f"<{', '.join(map(printer._print, self.args))}>"


def inner_product(one: Number, other: Number) -> sympy.Expr | Inner:
    """Return the inner product of two linear combinations of Vectors, as a sum of Inner terms."""
    return sympy.expand(
        sum(
            a * b * Inner(v, w)
            for v, a in _combine_vectors(one)
            for w, b in _combine_vectors(other)
        )
    )


def _combine_vectors(expr: Number) -> "list[tuple[np.ndarray, sympy.Expr]]":
    """Return [(vector, coefficient)] of a linear combination; refuse products of vectors."""
    expr = sympy.expand(expr)
    parts = [(v, expr.coeff(v)) for v in sorted(expr.atoms(Vector), key=str)]
    if (
        any(c.has(Vector) for _, c in parts)
        or sympy.expand(expr - sum(c * v for v, c in parts)) != 0
    ):
        refuse("an inner product", "must be of sums of numbers times vectors", expr)
    return parts


def square_norm(v: Number) -> sympy.Expr | Inner:
    """Return <v, v> of a linear combination of Vectors."""
    return inner_product(v, v)


F, SERVER, OTHER_F, OTHER_SERVER, FIRST, SECOND = map(
    Vector, ("vec_F", "vec_0", "vec_F_w", "vec_0_w", "vec_i", "vec_j")
)

# Metrics of one round without a mean, with FSL's letters for the server's weight and step size.
INNER = {
    "sq_grad_norm": square_norm(F),
    "sq_server_grad_norm": square_norm(SERVER),
    "grad_inner": inner_product(F, SERVER),
    "sq_xi": square_norm(F - SERVER),
    "sq_tilde_grad_norm": square_norm(F + gamma * SERVER) / (1 + gamma) ** 2,
    "a_w0": square_norm(OTHER_F),
    "b_w0": square_norm(OTHER_SERVER),
    "inner_w0": inner_product(OTHER_F, OTHER_SERVER),
    "xi_w0": square_norm(OTHER_F - OTHER_SERVER),
    "inner_move": inner_product(OTHER_F, -eta_0 * OTHER_SERVER),  # a step is -eta_0 grad f_0
    "sq_move": square_norm(-eta_0 * OTHER_SERVER),
    "sq_i": square_norm(FIRST),
    "sq_j": square_norm(SECOND),
    "sq_pair": square_norm(FIRST + SECOND),
}


def meanings_of(claim: "Claim", kind: type) -> Iterator[tuple[Assumption, Along | Root]]:
    """Yield (assumption, meaning) for each meaning of a kind that the claim's conditions carry."""
    for assumption in claim.assumptions:
        for meaning in assumption.condition.means if assumption.condition is not None else ():
            if isinstance(meaning, kind):
                yield assumption, meaning


def meaning_facts(claim: Any) -> list[sympy.Rel]:
    """Return the relations between the claim's measured symbols that follow from the definitions of
    the measures and from the claim's conditions."""
    single = {
        entry.measure.metric: entry.symbol
        for entry in claim.quantities.values()
        if entry.measure.average == "" and entry.measure.at == "t" and entry.measure.minus == ""
    }
    found = [
        sympy.Eq(symbol, product, evaluate=False)
        for metric, symbol in single.items()
        if metric in INNER and (product := inner_in_letters(INNER[metric], claim.table)) is not None
    ]
    if single.keys() & {"sq_grad_norm", "sq_server_grad_norm", "sq_xi"}:
        for _, (metric, constant) in meanings_of(claim, Root):
            of = constant_symbol(claim, constant)
            if of is not None:
                found.append(sympy.Le(INNER[metric], of**2, evaluate=False))
    return found


def inner_in_letters(product: sympy.Expr | Inner, table: Table) -> sympy.Expr | Inner:
    """Return an inner product in the letters of a table, or None where the table has no letter for
    a number in it."""
    mine = {number: letter_of(number, table) for number in (gamma, eta_0) if product.has(number)}
    return None if None in mine.values() else product.xreplace(mine)


def letter_of(number: sympy.Symbol, table: Table) -> sympy.Symbol:
    """Return the letter of a table that stands for a number of FSL: the declared letter, or else
    the same letter. Return None where the table has no such letter."""
    own = next((name for name, what in table.run.items() if what == number.name), None)
    if own is None:
        return number if table.describe(number.name) == fsl.TABLE.describe(number.name) else None
    entry = table[own] if own in table else None
    free = entry is not None and entry.measure is None and entry.definition is None
    return entry.symbol if free and entry.own is None else None


def unused_symbol(name: str, table: Table, **domain: bool) -> sympy.Symbol:
    """Return a symbol that is not a letter of a table."""
    while name in table:
        name += "_"
    return sympy.Symbol(name, **domain)


# Maps the metric of a squared gradient to (metric of its loss, number of smooth losses in its sum).
GRADIENT_OF = {
    "sq_grad_norm": ("loss", 1),
    "sq_tilde_grad_norm": ("tilde_loss", 1),
    "sq_mixed_grad_norm": ("mixed_loss", 2),
}


def constant_symbol(claim: "Claim", constant: str) -> sympy.Symbol | None:
    """Return a claim's symbol for a constant of a problem, since each paper has its own letters.
    Return None where the claim has none, or where its letter is measured or derived."""
    own = [claim.table[name] for name in claim.table.names_of_constants({constant})]
    own = [entry for entry in own if entry.measure is None and entry.definition is None]
    return own[-1].symbol if own else None


def line_facts(claim: Any) -> tuple[list[tuple[sympy.Rel, str]], list[sympy.Rel]]:
    """Return ([(relation, the condition that states it)], [limit]) from a claim's conditions at two
    points of a line at distance s.

    If a limit follows from the relations, it holds for every s > 0. But a limit is false for large
    s. So no function meets the conditions on R^d.
    """
    found, steep, bounds = [], [], []
    # The components of a gradient along a straight line of R^d, at two points s apart.
    g_x, g_y = (unused_symbol(name, claim.table, real=True) for name in ("g_x", "g_y"))
    s = unused_symbol("s", claim.table, positive=True)
    for assumption, (kind, constant, _) in meanings_of(claim, Along):
        of = constant_symbol(claim, constant)
        if of is None:
            of = unused_symbol(f"{constant}_{kind}", claim.table, nonnegative=True)
        relations = dict(
            steeper=[g_y - g_x >= of * s, of > 0],
            flatter=[g_y - g_x <= of * s],
            curved=[g_y - g_x <= of * s, g_x - g_y <= of * s],
            bounded=[g_x <= of, -g_x <= of, g_y <= of, -g_y <= of],
        )[kind]
        found += [
            (r, assumption.condition.says) for r in relations if r not in (sympy.true, sympy.false)
        ]
        steep += [of] * (kind == "steeper")
        bounds += [of] * (kind == "bounded")
    return found, [sympy.Le(mu * s, 2 * bound, evaluate=False) for mu in steep for bound in bounds]


def trivial_bounds(claim: "Claim") -> list[tuple[sympy.Symbol, sympy.Expr, str]]:
    """Return [(measured symbol, expression, reason)], upper bounds on measured symbols that hold
    for any method.

    If f is L-smooth, ||grad f||^2 <= 2 L (f - inf f) holds at every point. A minimum over rounds is
    at most the value in the first round.

    A claim that follows from such a bound alone says nothing of its method.
    """
    smooth = next(
        (
            constant_symbol(claim, meaning.constant)
            for _, meaning in meanings_of(claim, Along)
            if meaning.kind in ("flatter", "curved") and not meaning.within
        ),
        None,
    )
    found = []
    for entry in claim.quantities.values():
        loss, parts = GRADIENT_OF.get(entry.measure.metric, (None, None))
        if smooth is None or loss is None or entry.measure.at not in ("min", "min_T", "0"):
            continue
        start = next(
            (
                e.symbol
                for e in claim.table.values()
                if e.measure is not None
                and e.measure.metric == loss
                and e.measure.at == "0"
                and e.measure.minus == "inf"
            ),
            None,
        )
        if start is not None:
            found.append(
                (
                    entry.symbol,
                    2 * parts * smooth * start,
                    "it is at most that of the start, and for a smooth "
                    f"loss ||grad f||^2 <= 2 L (f - inf f): {entry.name} <= {plain(2 * parts * smooth * start)}",
                )
            )
    return found
