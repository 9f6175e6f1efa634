"""Relations between symbols as the trees that `certificate_algebra` reads, with names for
definitions, cases and roots.

A document knows variables with domains, nodes (definitions, roots, cases) and relations between
polynomials with rational coefficients. Everything else becomes a free variable, which can only make
a statement harder to prove.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import sympy

from fedtheory.certificates.check_proof import FORMAT, NAME
from fedtheory.errors import InvalidInput
from fedtheory.language.printing import plain
from fedtheory.proofs.meaning import Inner, Vector
from fedtheory.typing import Number

RELATIONS = ((sympy.Le, "<="), (sympy.Lt, "<"), (sympy.Ge, ">="), (sympy.Gt, ">"), (sympy.Eq, "=="))


class Outside(InvalidInput):
    """An error for a question that does not reduce to polynomials."""


class Statement:
    """The statement of a document without its proof; `extremes` maps each node that is a maximum or
    a minimum to its sign and two arguments.

    A name stands for one expression only, also if two symbols of different assumptions share the
    name: such a statement raises Outside.
    """

    def __init__(self, definitions: Mapping[sympy.Symbol, sympy.Expr] = ()) -> None:
        self.definitions = dict(definitions)  # symbol -> expression
        self.domains, self.nodes, self.extremes, self.parts, self._known = {}, {}, {}, {}, {}
        self._named = {}  # name -> the one expression that it names in this document
        self.assumes, self.sources, self.shows = [], [], None

    def assume(self, relation: sympy.Rel, source: str = "") -> None:
        """Add a relation to the assumptions, split into parts where it is a conjunction. Relations
        that are not polynomial are left out."""
        if isinstance(relation, sympy.And):
            for part in relation.args:
                self.assume(part, source)
        elif relation not in (sympy.true, sympy.false):
            try:
                self.assumes.append(self.relation(relation))
                self.sources.append(source or plain(relation))
            except Outside:
                pass

    def document(self) -> dict[str, Any]:
        """Return the statement as the plain data that checkers read, without a proof."""
        return dict(
            format=FORMAT,
            variables=dict(sorted(self.domains.items())),
            nodes=dict(self.nodes),
            assumes=self.assumes,
            sources=self.sources,
            parts=self.parts,
            shows=self.shows,
        )

    def relation(self, relation: sympy.Rel) -> list[str | list[Any]]:
        """Return [sign, left tree, right tree] of a relation; raise Outside for any other
        expression."""
        if isinstance(relation, sympy.Ne):  # only for a count that is not its least value, 1
            left, right = relation.args
            if left.is_Symbol and left.is_integer and left.is_positive and right == 1:
                return [">", self.tree(left), "1"]
        for kind, sign in RELATIONS:
            if isinstance(relation, kind):
                return [sign, self.tree(relation.lhs), self.tree(relation.rhs)]
        raise Outside(f"{plain(relation)} is no relation between polynomials")

    def tree(self, e: sympy.Expr | Inner) -> str | list[Any]:
        """Return the tree of an expression, made once for equal expressions."""
        if e not in self._known:
            self._known[e] = self._tree(e)
        return self._known[e]

    def _tree(self, e: sympy.Expr | Inner) -> str | list[Any]:
        """Return the tree of an expression: a text for a number or name, else [operation,
        parts...].

        Roots and extremes become nodes. Real expressions that are no polynomial become free
        variables, which the document describes under `parts`.
        """
        if e.is_Rational:
            return str(e)
        if isinstance(e, Vector):
            raise Outside(f"{e.name} is a vector and no number")
        if e.is_Symbol:
            return self._symbol(e)
        if e.is_Add or e.is_Mul:
            return ["+" if e.is_Add else "*", *map(self.tree, e.args)]
        if e.is_Pow and e.exp.is_Integer and abs(int(e.exp)) <= 100:
            return ["^", self.tree(e.base), int(e.exp)]
        if e.is_Pow and e.exp.is_Rational and abs(int(e.exp.p)) <= 100 and int(e.exp.q) <= 20:
            root = sympy.Pow(e.base, sympy.Rational(1, e.exp.q))
            name = self._known.get(root) or self._add_node(
                "root", ["root", self.tree(e.base), int(e.exp.q)]
            )
            self._known[root] = name
            return name if e.exp.p == 1 else ["^", name, int(e.exp.p)]
        if isinstance(e, (sympy.Max, sympy.Min)):
            return self._extreme(e, ">=" if isinstance(e, sympy.Max) else "<=")
        if isinstance(e, sympy.Abs):
            return self._extreme(sympy.Max(e.args[0], -e.args[0], evaluate=False), ">=")
        if isinstance(e, sympy.Piecewise):
            return self._cases(e)
        if isinstance(e, Inner):
            return ".".join(self._symbol(v) for v in e.args)
        if e.is_real is not True:
            raise Outside(f"{plain(e)} is not known to be a real number")
        # Any other expression becomes a variable that may have any value. A proof for every value
        # also holds for the expression.
        name = self._fresh_name("part", e)
        self.domains[name] = (
            "positive" if isinstance(e, sympy.exp) and e.args[0].is_real else "real"
        )
        self.parts[name] = plain(e)
        return name

    def _symbol(self, e: Number) -> str:
        """Return the name of a symbol, after recording its domain or its definition."""
        if self._named.setdefault(e.name, e) != e or not NAME.fullmatch(e.name):
            raise Outside(f"{e.name} is no name, or that of something else here")
        if e.name in self.nodes or e.name in self.domains:
            return e.name
        if e in self.definitions:
            fresh = self.definitions[e] not in self._known
            value = self.tree(self.definitions[e])
            if (
                fresh and isinstance(value, str) and value in self.nodes and "_of_" in value
            ):  # the node takes the symbol's name
                self.nodes[e.name] = self.nodes.pop(value)
                if value in self.extremes:
                    self.extremes[e.name] = self.extremes.pop(value)
                self._known[self.definitions[e]] = e.name
            else:
                self.nodes[e.name] = ["define", value]
            return e.name
        if not e.is_real and not isinstance(e, Vector):
            raise Outside(f"{e.name} is not real")
        self.domains[e.name] = (
            "vector"
            if isinstance(e, Vector)
            else "count"
            if e.is_integer and e.is_positive
            else "positive"
            if e.is_positive
            else "nonnegative"
            if e.is_nonnegative
            else "real"
        )
        return e.name

    def _fresh_name(self, kind: str, e: sympy.Expr | Sequence[Any]) -> str:
        """Return a name such as max_of_1 that no other part of the document has."""
        name = next(n for n in (f"{kind}_{k}" for k in range(1, 10_000)) if n not in self._named)
        self._named[name] = kind, e
        return name

    def _add_node(
        self,
        kind: str,
        value: Sequence[Any],
        extreme: tuple[str, str | list[Any], str | list[Any]] | None = None,
    ) -> str:
        """Add a node with a fresh name, and return the name; `extreme` marks a maximum or
        minimum."""
        name = self._fresh_name(f"{kind}_of", value)
        self.nodes[name] = value
        if extreme:
            self.extremes[name] = extreme
        return name

    def _extreme(self, e: sympy.Expr, sign: str) -> Any:
        """Return the node of a maximum (sign >=) or a minimum (sign <=), as nested cases of two
        arguments."""
        kind, (*first, last) = "max" if sign == ">=" else "min", map(self.tree, e.args)
        for other in reversed(first):
            last = self._add_node(
                kind, ["cases", [sign, other, last], other, last], (sign, other, last)
            )
        return last

    def _cases(self, e: sympy.Expr) -> Any:
        """Return the node of a Piecewise; a case for a count's least value 1 is written as an
        inequality."""
        (value, when), *rest = e.args
        if when == sympy.true:
            return self.tree(value)
        if not rest:
            raise Outside(f"{plain(e)} has no last case")
        relation = self.relation(when)
        if relation[0] == "==":  # a count equals its least value: same as <=
            if self.domains.get(str(relation[1])) != "count" or relation[2] != "1":
                raise Outside(f"{plain(when)} is no inequality")
            relation = ["<=", *relation[1:]]
        otherwise = (
            self.tree(sympy.Piecewise(*rest))
            if len(rest) > 1 or rest[0][1] != sympy.true
            else self.tree(rest[0][0])
        )
        return self._add_node("cases", ["cases", relation, self.tree(value), otherwise])
