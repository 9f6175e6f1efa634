"""The verdict on a claim: proved, holds, violated, vacuous or undecided, with the evidence."""

from dataclasses import dataclass, field
from typing import NamedTuple

from fedtheory.display import Shown, number_text
from fedtheory.rendering.mail import counterexample_latex
from fedtheory.rendering.picture import draw_counterexample
from fedtheory.rendering.words import describe_counterexample
from fedtheory.verdicts.proof_graph import Graph
from fedtheory.verdicts.status import HOLDS, VIOLATED


class Tightness(float):
    """The largest ratio of left to right side that was found, exact at its `instance`, which
    satisfies every hypothesis."""

    def __new__(cls, value, instance=None):
        self = super().__new__(cls, value)
        self.instance = instance
        return self


class Removal(NamedTuple):
    """An unstated hypothesis, and the verdict on the statement without this hypothesis alone."""

    name: str
    hypothesis: str  # in words, with its place
    verdict: "Verdict"

    @property
    def saves(self):
        """Tell whether an instance shows that the statement needs the hypothesis."""
        return self.verdict.status == VIOLATED


@dataclass(repr=False)
class Verdict(Shown):
    """The result on a claim as meant, with the hypotheses included that only its proof uses.

    >>> import fedtheory as ft
    >>> v = ft.check("flex.jensen_s", budget=1)
    >>> v.status, v.printed.status, v.saved_by
    ('holds', 'violated', ['no device is ever inactive'])
    """

    claim: str
    status: str  # "proved" | "holds" | "violated" | "vacuous" | "undecided"
    # The kind of decision: "algebra", "exact", "enumerated", "sampled", "order", "structure".
    kind: str
    why: str = ""  # one sentence
    tightness: Tightness | None = None
    cases: int = 0  # number of instances at which the claim was evaluated
    # 1 if nothing random enters, 1 - alpha if draws decide, None for a search.
    confidence: float | None = None
    # The instance of a violation, in rationals, or the instance with the largest ratio.
    witness: dict | None = None
    certificate: dict | None = None  # for "proved" and "violated": a self-contained document
    seconds: float = 0.0
    lines: list = field(default_factory=list)  # a Verdict per line, if there are several lines
    notes: list = field(
        default_factory=list
    )  # such as regions where the claim says nothing, and coefficients that turn negative
    # The code that ran at the instances: the kernels of a method, or a separate definition; "" if
    # nothing ran.
    decided_on: str = ""
    searched: str = ""  # in words: the models, sizes, losses and number of searched instances
    # The Verdict on the statement as printed, if its proof uses hypotheses that the text omits.
    as_printed: "Verdict | None" = None
    removals: list = field(default_factory=list)  # a Removal per such hypothesis, if they differ
    rests_on: Graph | None = None  # the steps of the proof and their statuses, if a proof is named

    def __post_init__(self):
        if self.status == HOLDS and self.tightness is not None and not float(self.tightness) <= 1.0:
            raise ValueError(
                f"{self.claim} cannot hold beside a left side {float(self.tightness):.6g} times its right"
            )

    def __str__(self):
        tight = f", tightness {float(self.tightness):.6g}" if self.tightness is not None else ""
        told = f"{self.claim}: {self.status} ({self.kind}{tight}). {self.why}"
        return f"{told} {self.apart}".rstrip()

    def heading(self):
        return f"Verdict on {self.claim}"

    def facts(self):
        story = "\n".join(describe_counterexample(self.certificate))
        rest = dict(
            counterexample=story,
            as_printed=self.apart.removeprefix("As printed: "),
            searched=self.searched,
            notes="\n".join(self.notes),
        )
        tight = {} if self.tightness is None else dict(tightness=number_text(self.tightness))
        first = dict(status=self.status, kind=self.kind, **tight, why=self.why)
        return first | {name.replace("_", " "): text for name, text in rest.items() if text}

    def _repr_html_(self):
        return super()._repr_html_() + draw_counterexample(self.certificate)

    def to_latex(self):
        """Return the counterexample of a violated claim in LaTeX, as for a mail to its author; ""
        for any other verdict. The text needs amsmath and amssymb.

        >>> import fedtheory as ft
        >>> print(ft.check("lamb.lemma1", budget=1).to_latex().splitlines()[-3])
        There $M = 1$, $\\alpha_r = 1$, $\\|\\overline{\\theta_r}-\\theta_{r,i}\\|^2 = 1$, $p = 1$, $\\phi_M = 1$, and the line reads
        """
        return counterexample_latex(self.certificate)

    @property
    def printed(self):
        """Return the Verdict on the statement as printed, with its stated hypotheses alone."""
        return self if self.as_printed is None else self.as_printed

    @property
    def saved_by(self):
        """Return the unstated hypotheses, in words, that the statement needs: without any one of
        these an instance refutes the statement."""
        return [removal.hypothesis for removal in self.removals if removal.saves]

    @property
    def apart(self):
        """Return words for how the claim stands as printed; "" where the text states all
        hypotheses."""
        if self.as_printed is None:
            return ""
        if not self.removals:
            return f"As printed: {self.printed.status}."
        rest = [r for r in self.removals if not r.saves]
        told = [f"As printed: {self.printed.status}. {self.printed.why}"]
        told += [f"It needs: {'; '.join(self.saved_by)}."] * bool(self.saved_by)
        told += [f"Without this alone it is {r.verdict.status}: {r.hypothesis}." for r in rest]
        return " ".join(told)

    def as_dict(self):
        """Return the Verdict as plain data, without the time that the check took."""
        return dict(
            claim=self.claim,
            status=self.status,
            kind=self.kind,
            why=self.why,
            tightness=None if self.tightness is None else float(self.tightness),
            cases=self.cases,
            confidence=self.confidence,
            witness=self.witness,
            certificate=self.certificate,
            lines=[line.as_dict() for line in self.lines],
            notes=list(self.notes),
            decided_on=self.decided_on,
            searched=self.searched,
            printed=self.as_printed and self.as_printed.as_dict(),
            removals=[
                dict(
                    name=r.name, hypothesis=r.hypothesis, saves=r.saves, verdict=r.verdict.as_dict()
                )
                for r in self.removals
            ],
            **(dict(rests_on=self.rests_on.as_dict()) if self.rests_on else {}),
        )
