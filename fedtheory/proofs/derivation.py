"""The search for a proof by algebra: which symbols to eliminate, which bounds to prove first, and
which case distinctions to make."""

import itertools
from collections.abc import Mapping, Sequence, Set
from fractions import Fraction
from typing import Any

from fedtheory.certificates import check_proof as certificate
from fedtheory.certificates.check_proof import Reading, Refused, Ring
from fedtheory.proofs import positivity
from fedtheory.typing import Document

DEPTH = 3  # the deepest nesting of case distinctions
LIGHT = positivity.EFFORTS[:4]  # the cheaper efforts, for auxiliary proofs
CHAIN = ((1, 5, 0),)  # the effort for a chain of inequalities, each of which is used once
MINORS = 10  # the most minors of each size
READING = 2_000_000  # steps for reading the document, per second of the budget


class Search:
    """A search for the proof of a document."""

    def __init__(self, document: Document, extremes: Mapping[str, Any], budget: float) -> None:
        self.document, self.extremes = document, extremes
        self.work = positivity.Work(budget)
        self.start = Reading(document, Ring(READING * budget))
        self.lemmas, self.read = 0, {}

    def proof(
        self, goal: Any, quick: bool | Sequence[tuple[int, int, int]] = False
    ) -> dict[str, Any] | None:
        """Return the proof of a goal, None if the search finds none.

        Equations are eliminated first. An equation as the goal is proved only as an identity. With
        `quick`, one cheap effort (or the given efforts) is tried, without cases.
        """
        reading = self.start.again()
        solved = self.eliminate(reading)
        if goal[0] == "==":  # proved only as an identity after elimination
            try:
                proof = None if reading.gap(goal)[0] else dict(scale="1", terms=[])
            except Refused:
                proof = None
        elif quick:
            proof = self.combine_facts(reading, goal, LIGHT[:1] if quick is True else quick)
        else:
            proof = self.within(reading, goal, DEPTH)
        return proof and {**({"solve": solved} if solved else {}), **proof}

    def eliminate(self, reading: Reading) -> list[Any]:
        """Return elimination steps, each of which solves an equation for the symbol that the
        document mentions least."""
        steps = []
        equations = [
            (f"assumed:{n}", relation)
            for n, relation in enumerate(self.document["assumes"])
            if relation[0] == "=="
        ]
        equations += [
            (name, ["==", ["^", name, node[2]], node[1]])
            for name, node in self.document["nodes"].items()
            if node[0] == "root"
        ]
        mentions = {}
        for name in _tree_names(
            [
                self.document["assumes"],
                self.document["shows"],
                list(self.document["nodes"].values()),
            ]
        ):
            mentions[name] = mentions.get(name, 0) + 1
        while equations:
            for name, relation in equations:
                step = self.fix_symbol(reading, name, relation, mentions)
                if step:
                    steps.append(step)
                    equations.remove((name, relation))
                    break
            else:
                break
        return steps

    def fix_symbol(
        self,
        reading: Reading,
        name: str,
        relation: Sequence[str | list[Any]],
        mentions: Mapping[str, int],
    ) -> list[str | list[str | list[Any]]] | None:
        """Return [symbol, value, equation] of the rarest symbol that an equation fixes, and use it
        from now on.

        The equation has to be linear in the symbol. Inner products are no unknowns, and a symbol on
        which its own value depends is left out.
        """
        try:
            num, _ = reading.gap(relation)
        except Refused:
            return None
        inside = {s for m in num for s, _ in m}
        for symbol in sorted(inside & set(reading.domains), key=lambda s: (mentions.get(s, 0), s)):
            if "." in symbol:  # inner products are not free
                continue
            having = {m: v for m, v in num.items() if symbol in dict(m)}
            slope = {tuple(f for f in m if f[0] != symbol): v for m, v in having.items()}
            way = -1 if reading.sign(slope) < 2 else 1
            slope = {m: way * v for m, v in slope.items()}
            rest = {m: -way * v for m, v in num.items() if m not in having}
            value = [
                "*",
                positivity.polynomial_tree(rest),
                ["^", positivity.polynomial_tree(slope), -1],
            ]
            if symbol in self.reach(value, ("define", "cases")):  # z = max(z, y)
                continue
            trial = reading.again()
            try:
                trial.solve(symbol, value, name)
            except (Refused, RecursionError):
                continue
            reading.solve(symbol, value, name)
            reading.settle()
            return [symbol, value, name]
        return None

    # Proofs under assumed cases

    def within(
        self, reading: Reading, goal: Sequence[str | list[Any]], depth: int
    ) -> dict[str, str | list[Any]] | None:
        """Return the proof of a goal under the cases assumed so far, None without any.

        The facts are combined at once, then with lemmas on bounds, instances and minors, then under
        both cases of a node, up to `depth` nodes deep.
        """
        lemmas, found = [], self.combine_facts(reading, goal, LIGHT[:1])
        if found is None:
            lemmas = self.bounds(reading)
            lemmas += self.instances(reading)
            lemmas += self.minors(reading, goal)
            found = self.combine_facts(reading, goal)
        if found is None and depth and self.work.left > 0:
            for node in self.splittable_nodes(reading, goal):
                branches = []
                for here in self.apart(reading, node):
                    branch = self.within(here, goal, depth - 1)
                    if branch is None:
                        break
                    branches.append(branch)
                else:
                    found = dict(split=node, branches=branches)
                    break
        return found and {**({"lemmas": lemmas} if lemmas else {}), **found}

    def combine_facts(
        self,
        reading: Reading,
        goal: Sequence[Any],
        efforts: Sequence[tuple[int, int, int]] = positivity.EFFORTS,
        only: Mapping[str, Any] | None = None,
    ) -> dict[str, Any] | None:
        """Return a certificate that the known facts imply the goal, or contradict each other under
        a case."""
        try:
            target, _ = reading.gap(goal)
        except Refused:
            return None
        facts = self.facts(reading) if only is None else only
        find = lambda target, strict, efforts: positivity.find_certificate(
            target, strict, facts, reading.signs, efforts, self.work
        )
        found = find(target, goal[0] in ("<", ">"), efforts)
        if found is None and only is None and depth_of(reading):
            absurd = find({(): -1}, False, LIGHT)
            found = absurd and {**absurd, "absurd": True}
        return found

    def facts(self, reading: Reading, within: Set[str] | None = None) -> dict[str, Any]:
        """Return {name: (polynomial, strict)} of all facts known here, or of the facts about the
        symbols in `within`."""
        known = {}
        for name in [
            *reading.facts,
            *(
                f"assumed:{n}"
                for n, r in enumerate(self.document["assumes"])
                if r[0] != "==" and n not in reading.__dict__.get("spent", ())
            ),
        ]:
            poly, strict = self.fact(reading, name)
            if (
                poly
                and (within is None or {s for m in poly for s, _ in m} <= within)
                and not any(
                    same_direction(poly, other) and s >= strict for other, s in known.values()
                )
            ):
                known[name] = poly, strict
        return known

    def fact(self, reading: Reading, name: str) -> tuple[Any, bool]:
        """Return (polynomial, strict) of a fact by name; ({}, False) where a sign is not known."""
        if name in reading.facts and name.partition(":")[0] not in reading.solved:
            return reading.facts[name]
        key = name, str(reading.solved)
        if key not in self.read:
            try:
                self.read[key] = reading.fact(name)
            except Refused:
                return {}, False
        return self.read[key]

    def lemma(
        self, reading: Reading, relation: Sequence[Any], proof: Mapping[str, Any]
    ) -> list[Any]:
        """Return [name, relation, proof] of a lemma, after making the relation known to the
        reading."""
        self.lemmas += 1
        name = f"lemma {self.lemmas}"
        reading.know(name, *reading.gap(relation))
        reading.settle()
        return [name, relation, proof]

    def bounds(self, reading: Reading) -> list[list[Any]]:
        """Return lemmas on each node of cases: its sign, and the inequalities of a maximum or
        minimum."""
        lemmas = []
        for node, (kind, *_) in self.document["nodes"].items():
            if kind != "cases" or node in reading.solved or not self.apart(reading, node):
                continue
            wanted = []
            if node in self.extremes:
                sign, one, other = self.extremes[node]
                wanted += [[sign, node, one], [sign, node, other]]
            for relation in (*wanted, [">", node, "0"], [">=", node, "0"]):
                if relation[0] == ">=" and reading.sign({((node, 1),): 1}):
                    continue
                within = self.reach([node])
                proof = (
                    self.combine_facts(reading, relation, LIGHT, self.facts(reading, within))
                    if relation[2] == "0"
                    else None
                )
                if proof is None:
                    branches = [
                        self.combine_facts(here, relation, LIGHT, self.facts(here, within))
                        for here in self.apart(reading, node)
                    ]
                    proof = None if None in branches else dict(split=node, branches=branches)
                if proof is not None:
                    try:
                        lemmas.append(self.lemma(reading, relation, proof))
                    except Refused:
                        pass
        return lemmas

    def instances(self, reading: Any) -> list[list[Any]]:
        """Return lemmas that split an assumption x <= c min(a, b) into x <= c a and x <= c b. Each
        lemma is proved separately and replaces the assumption."""
        lemmas, spent = [], set(reading.__dict__.get("spent", ()))
        for n, relation in enumerate(self.document["assumes"]):
            if relation[0] == "==" or n in spent:
                continue
            queue, name = [(f"assumed:{n}", relation)], f"assumed:{n}"
            while queue:
                name, relation = queue.pop()
                node = next(
                    (
                        s
                        for s in _tree_names(relation)
                        if s in self.extremes and s not in reading.solved
                    ),
                    None,
                )
                if node is None:
                    continue
                made = []
                for argument in self.extremes[node][1:]:
                    instance = _replace_name(relation, node, argument)
                    facts = {
                        k: v
                        for k, v in self.facts(reading).items()
                        if k == name or k.startswith("lemma") and node in _tree_names(v[0])
                    }
                    proof = self.combine_facts(reading, instance, LIGHT, facts)
                    if proof is not None:
                        lemmas.append(self.lemma(reading, instance, proof))
                        made.append((lemmas[-1][0], instance))
                if len(made) == 2 and name.startswith("assumed"):
                    spent.add(n)
                queue += made
        reading.spent = spent
        return lemmas

    def minors(self, reading: Any, goal: Sequence[Any]) -> list[list[Any]]:
        """Return lemmas for products of inner products: Cauchy-Schwarz, and larger minors of a Gram
        matrix."""
        try:
            known = [reading.gap(goal)[0], *(p for p, _ in self.facts(reading).values())]
        except Refused:
            return []
        vectors = sorted(
            {v for p in known for m in p for name, _ in m if "." in name for v in name.split(".")}
        )
        degree = max((sum(k for name, k in m if "." in name) for p in known for m in p), default=0)
        lemmas = []
        for rows in range(2, min(degree, certificate.MINOR) + 1):
            for some in itertools.islice(itertools.combinations(vectors, rows), MINORS):
                proof = dict(scale="1", terms=[dict(by="1", gram=[{v: "1"} for v in some])])
                poly = reading.minor(proof["terms"][0]["gram"])
                if poly:
                    lemmas.append(
                        self.lemma(reading, [">=", positivity.polynomial_tree(poly), "0"], proof)
                    )
        return lemmas

    @staticmethod
    def apart(reading: Reading, node: str) -> Sequence[Reading]:
        """Return the readings of a node's cases, or none where a case's condition divides by an
        expression whose sign is unknown."""
        try:
            branches = reading.cases(node)
        except Refused:
            return []
        for branch in branches:
            branch.settle()
        return branches

    def splittable_nodes(self, reading: Reading, goal: Sequence[str | list[Any]]) -> list[str]:
        """Return the nodes of cases, with the nodes that the goal mentions first."""
        reach = self.reach(goal)
        nodes = [
            n
            for n, (kind, *_) in self.document["nodes"].items()
            if kind == "cases" and n not in reading.solved and self.apart(reading, n)
        ]
        return sorted(nodes, key=lambda n: n not in reach)

    def reach(
        self, tree: Sequence[str | list[Any]], through: Sequence[str] = ("define", "root", "cases")
    ) -> set[str]:
        """Return the symbols that a tree mentions, including symbols inside nodes of the given
        kinds."""
        found = set(_tree_names(tree))
        for node, parts in reversed(self.document["nodes"].items()):
            if node in found and parts[0] in through:
                found |= set(_tree_names(list(parts)))
        return found


def depth_of(reading: Reading) -> bool:
    """Tell whether a reading stands under an assumed case."""
    return any(name.endswith(":case") for name in reading.facts)


def same_direction(
    p: Mapping[tuple[tuple[str, int], ...], Fraction],
    q: Mapping[tuple[tuple[str, int], ...], Fraction],
) -> bool:
    """Tell whether two polynomials agree up to a positive factor."""
    if set(p) != set(q):
        return False
    m = next(iter(p))
    return p[m] * q[m] > 0 and all(p[n] * q[m] == q[n] * p[m] for n in p)


def _tree_names(tree: int | str | Sequence[Any]) -> list[str]:
    """Return all texts of a tree: names, numbers and operations, with repetitions."""
    if isinstance(tree, str):
        return [tree]
    return (
        [n for t in tree for n in _tree_names(t)] if isinstance(tree, (list, tuple, dict)) else []
    )


def _replace_name(tree: Any, name: str, by: str | Sequence[Any]) -> Any:
    """Return a tree with another tree in place of a name."""
    return (
        by
        if tree == name
        else [_replace_name(t, name, by) for t in tree]
        if isinstance(tree, list)
        else tree
    )
