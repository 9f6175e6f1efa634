"""A counterexample as a computation that Rocq checks, from the instance's numbers to both sides of
the line.

The model's own definitions run once on numbers that record their steps. Each step becomes a
definition of the file, with its value or its enclosure, proved from the steps before it. So Rocq
checks the arithmetic, roots included, every comparison that selected a branch, the hypotheses
between numbers, and that the line fails. Rocq does not check that these steps are those of the
method, nor that the instance meets the conditions in words: the file says so. A quantity whose
steps cannot be followed is taken from the document, by name, with its enclosure.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Undecided, ends_of
from fedtheory.arithmetic.work import Counted
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused, require
from fedtheory.errors import FedtheoryError
from fedtheory.models import by_name
from fedtheory.rocq.steps import Step, Steps, prove_ends
from fedtheory.rocq.text import assign_identifiers, comment_lines
from fedtheory.rocq.tracked_values import Book, decide_relation
from fedtheory.typing import Document, Instance

DOMAINS = {"positive": (">",), "nonnegative": (">=",), "count": (">=", 1), "unit": (">=", 0, 1)}
RELATIONS = {"le": "<=", "lt": "<", "ge": ">=", "gt": ">", "eq": "=", "ne": "<>"}
FAILS = {"<=": ">", "<": ">=", ">=": "<", ">": "<=", "==": "<>"}


class Refutation:
    """A counterexample for Rocq: its steps, its hypotheses, and the two sides of the line."""

    def __init__(self, document: Document, follow: bool = True) -> None:
        self.document, self.setting = document, by_name(document["setting"])
        self.stated = check_instance.Statement(document, self.setting)
        self.steps, self.claims, self.taken_names = Steps(), [], []
        self.book = Book(self.steps)
        instance = check_instance.instance_of(document, self.setting)
        plain = self.stated.values(document, instance)
        values = self.follow_instance(document, instance, plain) if follow else plain
        self.identifiers = assign_identifiers([*plain, "left_side", "right_side"])
        self.symbols = {}
        waiting = [name for name in plain if name not in self.stated.solved]
        for name in waiting:
            self.symbols[name] = self.symbol(name, values[name], plain[name])
        for name, steps in document["statement"]["solved"]:
            self.symbols[name] = self.alias(name, self.program(steps)[-1])
        for name, domain in self.stated.domains.items():
            self.domain(self.symbols[name], domain)
        for rule in document["statement"]["assumes"]:
            self.claims += self.relations(rule["program"])
        left, right = (self.program(document["statement"][side])[-1] for side in ("left", "right"))
        sign = FAILS[self.stated.sign]
        self.left, self.right = self.alias("left_side", left), self.alias("right_side", right)
        self.conclusion = self.claim(self.left, sign, self.right)

    def follow_instance(
        self, document: Document, instance: Instance, plain: Mapping[str, Fraction | Counted]
    ) -> Any:
        """Return values that record their steps, or the plain values where a definition cannot run
        on such numbers."""
        try:
            found = self.stated.values(document, self.book.tree(instance))
        except (Refused, FedtheoryError, TypeError, AttributeError, ValueError, OverflowError):
            self.book.taken.clear()
            return plain
        return found

    def symbol(self, name: str, value: Fraction | Counted, plain: Fraction | Counted) -> Step:
        step = getattr(value, "step", None)
        if step is None and isinstance(value, Fraction) and name not in self.stated.measured:
            step = self.steps.number(value)
        if step is None:
            low, high = ends_of(plain)
            self.taken_names.append(name)
            return self.steps.outside_number(self.identifiers[name], low, high)
        return self.alias(name, step)

    def alias(self, name: str, step: Any) -> Step:
        return self.steps.alias(self.identifiers[name], step)

    # Formulas of the document

    def program(self, program: Sequence[list[Any]]) -> list[Step | list[tuple[Step, str, Step]]]:
        """Return the steps of a formula, of which the last is its value; a relation has a list of
        comparisons in place of a value."""
        found = []
        for op, operands, detail in check_instance.read_program(program, kind_of(program)):
            found.append(self.add_operation(op, [found[k] for k in operands], detail))
        return found

    def add_operation(
        self, op: str, parts: Sequence[Any], detail: Any
    ) -> Step | list[tuple[Step, str, Step]]:
        steps = self.steps
        if op == "number":
            return steps.number(detail)
        if op == "symbol":
            require(detail in self.symbols, "a symbol that has no steps")
            return self.symbols[detail]
        if op in ("add", "mul", "min", "max"):
            total = parts[0]
            for part in parts[1:]:
                total = getattr(steps, op)(total, part)
            return total
        if op == "power":
            exponent = detail[0]
            base = (
                parts[0]
                if exponent.denominator == 1
                else steps.root(parts[0], exponent.denominator)
            )
            return steps.power(base, exponent.numerator)
        if op == "integer_power":
            base, exponent = parts
            require(exponent.exact and exponent.low.denominator == 1, "a power that is no integer")
            return steps.power(base, int(exponent.low))
        if op == "abs":
            return steps.abs(parts[0])
        if op in RELATIONS:
            return [(parts[0], RELATIONS[op], parts[1])]
        if op == "both":
            return [each for part in parts for each in part]
        if op == "truth":
            require(detail, "a hypothesis that is false")
            return []
        if op == "piecewise":
            return self.case(parts)
        raise Refused(f"it takes the function {op}, which is not written out here")

    def case(self, parts: Any) -> Any:
        """Return the value of the first case that holds, and claim the relations that select this
        case."""
        for conditions, value in zip(parts[::2], parts[1::2]):
            truths = [decide_relation(a, sign, b) for a, sign, b in conditions]
            require(None not in truths, "a case that its ends do not decide")
            if all(truths):
                self.claims += [self.claim(*each) for each in conditions]
                return value
            for each, truth in zip(conditions, truths):
                if not truth:
                    a, sign, b = each
                    self.claims.append(self.claim(a, FAILS["==" if sign == "=" else sign], b))
                    break
        raise Refused("no case holds")

    def relations(self, program: Any) -> list[tuple[str, str, tuple[Step, Step]]]:
        return [self.claim(*each) for each in self.program(program)[-1]]

    def domain(self, step: Step, domain: str) -> None:
        sign, *more = DOMAINS.get(domain, (None,))
        if sign:
            self.claims.append(self.claim(step, sign, self.steps.number(more[0] if more else 0)))
        if len(more) > 1:
            self.claims.append(self.claim(step, "<=", self.steps.number(more[1])))

    def claim(self, a: Step, sign: Any, b: Step) -> tuple[str, str, tuple[Step, Step]]:
        """Return (the relation as text, its proof, the two steps that the relation compares)."""
        truth = decide_relation(a, sign, b)
        if truth is None and sign == "=":
            return f"{a.name} = {b.name}", between_roots(a, b), (a, b)
        require(truth is True, "its ends do not decide a relation")
        known = "; ".join(
            f"pose proof {prove_ends(each)}" for each in (a, b) if each.op != "number"
        )
        return f"{a.name} {sign} {b.name}", f"{known + '; ' if known else ''}lra", (a, b)

    # As text

    def text(self, theorem: str) -> str:
        taken = [(self.claim(a, sign, b)) for (_, _, sign), (a, b) in self.book.taken.items()]
        wanted = [step for _, _, steps in [*taken, *self.claims, self.conclusion] for step in steps]
        claims = list(dict.fromkeys((text, proof) for text, proof, _ in self.claims))
        claims.append(self.conclusion[:2])
        parts = [self.words(), self.steps.text([*wanted, *self.symbols.values()])]
        for n, (text, proof) in enumerate(dict.fromkeys((t, p) for t, p, _ in taken)):
            parts.append(f"Lemma C{n} : {text}.\nProof. {proof}. Qed.")
        each = " /\\\n  ".join(text for text, _ in claims)
        parts.append(f"Theorem {theorem} :\n  {each}.\nProof.")
        *before, (_, proof) = claims
        parts += [f"  split; [{other} |]." for _, other in before] + [f"  {proof}."]
        return "\n".join([*parts, "Qed."])

    def words(self) -> str:
        document, stated = self.document, self.stated
        said = [
            f"The line {stated.says} fails: left_side and right_side are its two sides.",
            f"Setting: {document['setting']}, {self.setting.says}.",
        ]
        if self.taken_names:
            said.append(
                "Taken from the document, and not computed here: "
                f"{', '.join(self.identifiers[name] for name in self.taken_names)}."
            )
        said.append(
            "Not shown here: that the steps below are those of the method"
            + "".join(f"; {says}" for says in stated.conditions.values())
            + "."
        )
        return "\n".join(map(comment_lines, said))


def kind_of(program: Sequence[list[Any]]) -> str:
    return (
        "t"
        if isinstance(program, list) and program[-1][0] in (*RELATIONS, "both", "truth")
        else "n"
    )


def between_roots(a: Step, b: Step) -> str:
    """Return a proof that two numbers built from the same roots are equal."""
    inside, roots, exact, waiting = [], [], [], [a, b]
    while waiting:
        step = waiting.pop()
        if step.op == "number" or step in inside or step in roots or step in exact:
            continue
        if step.exact:
            exact.append(step)
        elif step.op in ("sqrt", "taken"):
            roots.append(step)
        else:
            inside.append(step)
            waiting += [part for part in step.parts if hasattr(part, "op")]
    names_of = [step.name for step in sorted(inside, key=lambda step: -step.at)]
    rewriting = "".join(f"; rewrite ?B{step.at}" for step in exact)
    known = "".join(f"pose proof B{step.at}; " for step in roots)
    return f"{known}unfold {', '.join(names_of)}{rewriting}; field; repeat split; apply Rgt_not_eq; lra"


def refutation_text(document: Document, theorem: str) -> tuple[str, list[Any]]:
    """Return (the section of a file that refutes a line, the names of the quantities taken from the
    document)."""
    found = Refutation(document)
    try:
        return f"Section Instance.\n{found.text(theorem)}\nEnd Instance.", found.taken_names
    except (Undefined, Undecided) as why:
        raise Refused(str(why)) from None
