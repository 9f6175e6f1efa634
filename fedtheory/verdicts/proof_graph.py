"""`v.rests_on`: the graph of a proof, from the claim step by step down to textbook facts, with the
status of each line.

Algebra decides each step (`proofs/textbook/proof_steps.py`). A line to which no proved step leads is
decided by its own verdict. A line is proved if a proved step leads to the line from proved lines. A
proof is broken if one of its lines is violated, whether or not the steps around this line are
right.

The slack of a step is the part of its line's bound that no instance needs. The search for a line
finds the largest share of the bound that an instance needs (`search/tightness_score.py`; offsets do
not count). The rest of the bound is the slack of the step to this line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from fedtheory.errors import Contradiction, refuse
from fedtheory.verdicts.status import HOLDS, ORDER, PROVED, STANDS, UNDECIDED, VACUOUS, VIOLATED

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim
    from fedtheory.proofs.textbook import proof_steps
    from fedtheory.verdicts.verdict import Verdict

FORMAT = "fedtheory graph 1"
CONTRADICTED = (
    "proved steps lead to it and an instance refutes it, so that one of the two errs: a mistake of "
    "fedtheory, to be reported with both documents"
)
Place: TypeAlias = "tuple[Claim, int]"  # a line of a claim
# (claim, whether proved steps lead to it) -> the statuses of its lines, or None where unknown
Statuses: TypeAlias = "Callable[[Claim, bool], Sequence[str | None] | None]"
SHARE = 0.1  # a share of the budget, for each line to which no proved step leads


@dataclass
class Node:
    """A line of the proof, or a textbook fact."""

    name: str  # "fsl.step29/1", "textbook.young"
    place: str  # the place in the paper: "(29)"
    status: str
    edge: proof_steps.Edge | None = None  # the step to this line, if the text names one
    own: str | None = None  # the status of the line's own verdict, if there is one
    needs: float | None = (
        None  # the largest share of the line's bound that an instance needs, if any was found
    )
    contradicted: bool = False  # proved steps lead to the line, and an instance refutes the line

    @property
    def slack(self) -> float | None:
        """Return the share of the line's bound that no instance was found to need; None for a line
        that fails or was not measured."""
        return None if self.needs is None or self.needs > 1 else 1.0 - self.needs

    @property
    def leads(self) -> tuple[str, ...]:
        """Return the names of the premises from which a proved step leads to this line; () if there
        is no such step."""
        return self.edge.premises if self.edge and self.edge.status == "proved" else ()


@dataclass
class Graph:
    """The graph of the lines and facts on which the lines of a claim rest."""

    claim: str
    # Name -> Node: lines of the claim and everything that leads to these lines.
    nodes: dict[str, Node]
    roots: tuple[str, ...]  # names of the claim's own lines
    # Name of a textbook fact -> documents of its parts.
    proofs: dict[str, Sequence[dict]] = field(default_factory=dict)

    @property
    def steps(self) -> dict[str, str]:
        """Return {name: status} of every line between the claim and the textbook facts."""

        from fedtheory.proofs.textbook import facts

        return {
            name: node.status
            for name, node in self.nodes.items()
            if name not in self.roots and not facts.is_textbook_name(name)
        }

    @property
    def edges(self) -> list[proof_steps.Edge]:
        """Return the steps, each an Edge."""
        return [node.edge for node in self.nodes.values() if node.edge]

    @property
    def axioms(self) -> dict[str, str]:
        """Return {name: statement} of the axioms on which the textbook facts of the proof rest."""

        from fedtheory.proofs.textbook import facts

        named = {
            axiom
            for name in self.leaves()
            if facts.is_textbook_name(name)
            for axiom in axioms_of(name)
        }
        if any(edge.status == "proved" for edge in self.edges):
            named |= {"inner_product"}
        return {name: says for name, says in facts.AXIOMS.items() if name in named}

    @property
    def status(self) -> str:
        """Return the worst status of the claim's own lines."""
        return min((self.nodes[name].status for name in self.roots), key=ORDER.index)

    @property
    def violated_lines(self) -> list[str]:
        """Return the names of the violated lines in the proof, premises before conclusions."""
        found = [name for name, node in self.nodes.items() if node.status == VIOLATED]
        return found[::-1]

    @property
    def contradicted(self) -> list[str]:
        """Return the names of the lines to which proved steps lead and which an instance refutes:
        either the proof or the refutation has an error."""
        return [name for name, node in self.nodes.items() if node.contradicted]

    def leaves(self) -> list[str]:
        """Return the names from which proved steps lead to the claim, and to which no proved step
        leads."""
        found: list[str] = []
        queue, seen = list(self.roots), set[str]()
        while queue:
            name = queue.pop(0)
            if name not in seen:
                seen.add(name)
                queue += self.nodes[name].leads
                found += [name] * (not self.nodes[name].leads)
        return found

    def __str__(self) -> str:
        from fedtheory.proofs.textbook import facts

        if wrong := self.contradicted:
            return f"{join_words(self.nodes[name].place for name in wrong)}: {CONTRADICTED}"
        if broken := self.violated_lines:
            return "broken at " + join_words(self.nodes[name].place for name in broken)
        lines = [name for name in self.leaves() if not facts.is_textbook_name(name)]
        bare = [name for name in lines if name in self.roots]
        if bare:
            return self._bare(bare)
        found = [name for name in self.leaves() if facts.is_textbook_name(name)]
        said = "proved from " + join_words(
            [*(self.nodes[n].place for n in lines), *([describe_facts(found)] if found else [])]
        )
        for status, words in (
            (HOLDS, ("only holds by search", "only hold by search")),
            (VACUOUS, ("is vacuous", "are vacuous")),
            (UNDECIDED, ("is undecided", "are undecided")),
        ):
            some = [self.nodes[n].place for n in lines if self.nodes[n].status == status]
            said += f", of which {join_words(some)} {words[len(some) > 1]}" if some else ""
        return said

    def _bare(self, bare: list[str]) -> str:
        edge = self.nodes[bare[0]].edge
        if edge is None:
            return f"no step is named that leads to {self.nodes[bare[0]].place}"
        return f"not shown to follow from {join_words(self.place(n) for n in edge.premises)}: {edge.why}"

    def place(self, name: str) -> str:
        return self.nodes[name].place if name in self.nodes else name

    def as_dict(self) -> dict[str, Any]:
        """Return the graph as plain data."""
        return dict(
            claim=self.claim,
            status=self.status,
            says=str(self),
            axioms=self.axioms,
            steps=self.steps,
            broken=self.violated_lines,
            places={name: node.place for name, node in self.nodes.items()},
            edges=[
                dict(node.edge.as_dict(), slack=node.slack)
                for node in self.nodes.values()
                if node.edge
            ],
        )

    @property
    def certificate(self) -> dict[str, Any] | None:
        """Return a document from which `replay` derives every proved step anew; None if no step is
        proved."""
        proved = [edge for edge in self.edges if edge.status == "proved"]
        used = {name for edge in proved for name in edge.premises}
        if not proved:
            return None
        return dict(
            format=FORMAT,
            claim=self.claim,
            edges=[
                dict(
                    line=edge.line,
                    premises=list(edge.premises),
                    proof=edge.documents[0],
                    hypotheses=list(edge.documents[1:]),
                )
                for edge in proved
            ],
            textbook={n: list(some) for n, some in self.proofs.items() if n in used},
        )


def join_words(words: Iterable[str]) -> str:
    once = list(dict.fromkeys(words))
    return once[0] if len(once) == 1 else ", ".join(once[:-1]) + " and " + once[-1]


def describe_facts(names: Sequence[str]) -> str:
    from fedtheory.proofs.textbook import facts

    names = [name.removeprefix(facts.PREFIX).replace("_", " ") for name in names]
    return f"{len(names)} textbook fact{'s' * (len(names) > 1)} ({', '.join(names)})"


def line_place(claim: Claim, at: int) -> str:
    """Return a few words that say where a line stands in its paper."""
    where = claim.cites.partition(", ")[2] or claim.id
    return where + (f", line {at + 1}" if len(claim.lines) > 1 else "")


def axioms_of(name: str) -> tuple[str, ...]:
    """Return the names of the axioms on which a textbook fact rests."""

    from fedtheory.proofs.textbook import facts

    known = facts.NAMES[name]
    return (known,) if isinstance(known, str) else known.axioms


def build_graph(
    claim: Claim, own: Statuses, verdicts: Mapping[str, Verdict] | None = None
) -> Graph:
    """Return the Graph of a claim; a circular proof is refused before anything is decided.
    `own(claim)` returns the statuses of its lines, or None where unknown; `verdicts` maps id ->
    Verdict and supplies the slack."""

    from fedtheory.proofs.textbook import facts, proof_steps
    from fedtheory.search.counterexample import document_title

    lines_of = claim_lines(claim)
    nodes, proofs = {}, {}
    for one in order_lines(lines_of):
        name = proof_steps.premise_name(one)
        if isinstance(one, str):
            nodes[name] = Node(name, name.removeprefix(facts.PREFIX).replace("_", " "), PROVED)
            proofs[name] = facts.fact_documents(name)
        else:
            nodes[name] = _build_node(*one, nodes, own)
            nodes[name].needs = needed_share(*one, verdicts or {})
    roots = tuple(map(proof_steps.premise_name, lines_of))
    rest = [name for name in reversed(nodes) if name not in roots]
    return Graph(
        document_title(claim), {name: nodes[name] for name in (*roots, *rest)}, roots, proofs
    )


def claim_lines(claim: Claim) -> list[Place]:
    """Return a claim's lines, as (claim, index) each."""
    return [(claim, n) for n in range(len(claim.lines))]


def order_lines(lines: Sequence[Place]) -> list[Place | str]:
    """Return lines and textbook facts in an order in which premises come before conclusions."""

    from fedtheory.proofs.textbook import proof_steps

    done: dict[str, Place | str] = {}
    path: list[str] = []

    def visit(one: Place | str) -> None:
        name = proof_steps.premise_name(one)
        if name in path:
            circle = " <- ".join([*path[path.index(name) :], name])
            refuse(f"{path[0]}: follows", "must not lead back to where it began", circle)
        if name in done:
            if not same_node(done[name], one):
                refuse(
                    f"{proof_steps.premise_name(lines[0])}: follows",
                    "must not name two claims alike",
                    name,
                )
            return
        path.append(name)
        for other in () if isinstance(one, str) else proof_steps.line_premises(*one):
            visit(other)
        path.pop()
        done[name] = one

    for one in lines:
        visit(one)
    return list(done.values())


def same_node(one: Place | str, other: Place | str) -> bool:
    return one == other if isinstance(one, str) else one[0] is other[0]


def _build_node(claim: Claim, at: int, nodes: Mapping[str, Node], own: Statuses) -> Node:
    """Return the Node of a line whose premises are in `nodes`."""

    from fedtheory.proofs.textbook import proof_steps

    edge = proof_steps.step_of(claim, at)
    leads = [nodes[name] for name in edge.premises] if edge and edge.status == "proved" else []
    through = min((one.status for one in leads), key=ORDER.index, default=None)
    known = own(claim, through in STANDS)
    mine = known[at] if known and at < len(known) else None
    found = [status for status in (through, mine) if status in STANDS]
    status = mine if mine == VIOLATED else max(found, key=ORDER.index, default=mine)
    node = Node(
        proof_steps.premise_name((claim, at)),
        line_place(claim, at),
        status or UNDECIDED,
        edge,
        mine,
    )
    node.contradicted = through == PROVED and mine == VIOLATED
    return node


def rests_on(claim: Claim, verdict: Verdict, check: Callable[[Claim], Verdict]) -> Graph:
    """Return the Graph of a claim whose Verdict is known; `check(claim)` returns the Verdicts on
    other claims. Raises Contradiction where a line is proved and an instance refutes the line."""
    known = {claim.id: verdict}

    def own(other: Claim, led: bool) -> list[str | None] | None:
        if other.id not in known and not led:
            known[other.id] = check(other)
        return line_statuses(known[other.id], other) if other.id in known else None

    found = build_graph(claim, own, known)
    for name in found.contradicted:
        refuted, at = known[name.rpartition("/")[0]], int(name.rpartition("/")[2]) - 1
        document = refuted.lines[at].certificate if refuted.lines else refuted.certificate
        raise Contradiction(f"{name}: {CONTRADICTED}", found.certificate or {}, document or {})
    return found


def needed_share(claim: Claim, at: int, verdicts: Mapping[str, Verdict]) -> float | None:
    """Return the largest share of its bound that a line was found to need, infinite where the line
    is violated; None where nothing was measured."""
    found = verdicts.get(claim.id)
    lines = [] if found is None else found.lines or [found]
    if at >= len(lines):
        return None
    tightness = lines[at].tightness
    if lines[at].status == VIOLATED:
        return float("inf")
    return None if tightness is None else float(tightness)


def line_statuses(verdict: Verdict, claim: Claim) -> list[str | None]:
    """Return the statuses of a claim's lines in its Verdict; None for a line that was not checked."""
    count, whole = len(claim.lines), verdict.status
    some = [line.status for line in verdict.lines] or [whole] * (count if whole == VACUOUS else 1)
    return [*some, *[None] * (count - len(some))]


__all__ = ["Graph", "Node", "build_graph", "needed_share", "rests_on", "line_statuses"]
