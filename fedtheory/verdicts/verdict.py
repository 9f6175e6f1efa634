"""The verdict on a claim: proved, holds, violated, vacuous or undecided, with the evidence."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fedtheory.display import Shown, number_text
from fedtheory.verdicts.proof_graph import Graph
from fedtheory.verdicts.status import HOLDS, STATUSES, VIOLATED, read_status


class Tightness(float):
    """The largest ratio of left to right side that was found, exact at its `instance`, which
    satisfies every hypothesis."""

    instance: dict | None

    def __new__(cls, value: float | str, instance: dict | None = None) -> "Tightness":
        self = super().__new__(cls, value)
        self.instance = instance
        return self


class Removal(NamedTuple):
    """An unstated hypothesis, and the verdict on the statement without this hypothesis alone."""

    name: str
    hypothesis: str  # in words, with its place
    verdict: "Verdict"

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> "Removal":
        """Return the Removal in plain data."""
        text = lambda name: data[name] if is_text(data.get(name)) else ""
        return cls(text("name"), text("hypothesis"), Verdict.from_dict(data.get("verdict"), 1))

    def as_dict(self) -> dict[str, Any]:
        """Return the Removal as plain data."""
        verdict = self.verdict._fields()
        return dict(name=self.name, hypothesis=self.hypothesis, saves=self.saves, verdict=verdict)

    @property
    def saves(self) -> bool:
        """Tell whether an instance shows that the statement needs the hypothesis."""
        return self.verdict.status == VIOLATED


@dataclass(repr=False)
class Verdict(Shown):
    """The result on a claim as meant, with the hypotheses included that only its proof uses.

    >>> import fedtheory as ft
    >>> v = ft.check("flex.jensen_s", budget=1)
    >>> v.status, v.printed.status, v.saved_by
    ('holds', 'violated', ['no device is ever inactive'])

    A status is given in `verdicts.combination` only. The plain data (`as_dict`) have the schema
    FIELDS, which pages, ledgers, `--json` and replay read.
    """

    claim: str
    status: str  # of STATUSES
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
    lines: list["Verdict"] = field(
        default_factory=list
    )  # a Verdict per line, if there are several lines
    # Such as regions where the claim says nothing, and coefficients that turn negative.
    notes: list[str] = field(default_factory=list)
    # The code that ran at the instances: the kernels of a method, or a separate definition; "" if
    # nothing ran.
    decided_on: str = ""
    searched: str = ""  # in words: the models, sizes, losses and number of searched instances
    # The Verdict on the statement as printed, if its proof uses hypotheses that the text omits.
    as_printed: "Verdict | None" = None
    # A Removal per such hypothesis, if the two Verdicts differ.
    removals: list[Removal] = field(default_factory=list)
    rests_on: Graph | None = None  # the steps of the proof and their statuses, if a proof is named

    def __post_init__(self) -> None:
        if self.status == HOLDS and self.tightness is not None and not float(self.tightness) <= 1.0:
            raise ValueError(
                f"{self.claim} cannot hold beside a left side {float(self.tightness):.6g} times its right"
            )

    def __str__(self) -> str:
        tight = f", tightness {float(self.tightness):.6g}" if self.tightness is not None else ""
        told = f"{self.claim}: {self.status} ({self.kind}{tight}). {self.why}"
        return f"{told} {self.apart}".rstrip()

    def heading(self) -> str:
        return f"Verdict on {self.claim}"

    def facts(self) -> dict[str, Any]:
        from fedtheory.rendering.words import describe_counterexample

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

    def _repr_html_(self) -> str:
        from fedtheory.rendering.picture import draw_counterexample

        return super()._repr_html_() + draw_counterexample(self.certificate)

    def to_latex(self) -> str:
        """Return the counterexample of a violated claim in LaTeX, as for a mail to its author; ""
        for any other verdict. The text needs amsmath and amssymb.

        >>> import fedtheory as ft
        >>> print(ft.check("lamb.lemma1", budget=1).to_latex().splitlines()[-3])
        There $M = 1$, $\\alpha_r = 1$, $\\|\\overline{\\theta_r}-\\theta_{r,i}\\|^2 = 1$, $p = 1$, $\\phi_M = 1$, and the line reads
        """

        from fedtheory.rendering.mail import counterexample_latex

        return counterexample_latex(self.certificate)

    @property
    def printed(self) -> "Verdict":
        """Return the Verdict on the statement as printed, with its stated hypotheses alone."""
        return self if self.as_printed is None else self.as_printed

    @property
    def saved_by(self) -> list[str]:
        """Return the unstated hypotheses, in words, that the statement needs: without any one of
        these an instance refutes the statement."""
        return [removal.hypothesis for removal in self.removals if removal.saves]

    @property
    def apart(self) -> str:
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

    def as_dict(self) -> dict[str, Any]:
        """Return the Verdict as plain data, without the time that the check took."""
        found = dict(schema=VERSION, **self._fields())
        return found | (dict(rests_on=self.rests_on.as_dict()) if self.rests_on else {})

    def _fields(self) -> dict[str, Any]:
        """Return the values of FIELDS."""
        plain: dict[str, Any] = dict(
            tightness=None if self.tightness is None else float(self.tightness),
            lines=[line._fields() for line in self.lines],
            notes=list(self.notes),
            printed=self.as_printed and self.as_printed._fields(),
            removals=[each.as_dict() for each in self.removals],
        )
        return {name: plain[name] if name in plain else getattr(self, name) for name in FIELDS}

    @classmethod
    def from_dict(cls, data: Any, depth: int = 2) -> "Verdict":
        """Return the Verdict that plain data of any version holds, in a ledger or by itself. The
        data may come from anybody: a field of another kind than `FIELDS` says counts as absent.
        `depth`: 2 reads readings and lines, 1 lines, 0 neither."""
        given = data if isinstance(data, dict) else {}
        kept = {n: given[n] for n, fits in FIELDS.items() if n in given and fits(given[n])}
        status, tightness = kept.pop("status", ""), kept.pop("tightness", None)
        printed, removals = kept.pop("printed", None), kept.pop("removals", [])
        lines = kept.pop("lines", [])
        found = cls(**(dict(claim="", status="", kind="") | kept))
        # Set apart, because a document from elsewhere may hold what no check gives.
        found.status = read_status(status)
        found.tightness = None if tightness is None else Tightness(tightness)
        if depth > 0:
            found.lines = [cls.from_dict(line, 0) for line in lines]
        if depth > 1:
            found.as_printed = printed and cls.from_dict(printed, 1)
            found.removals = [Removal.from_dict(each) for each in removals]
        return found

    def parts(self) -> Iterator["Verdict"]:
        """Yield the Verdict, and the Verdicts on its lines and on its readings."""
        yield self
        inner = [*self.lines, self.as_printed, *(each.verdict for each in self.removals)]
        for each in filter(None, inner):
            yield from each.parts()


# ---------------------------------------------------------------- the schema of a verdict

VERSION = 1  # of a verdict as plain data; data without a version is older, and is read as well


def is_number(value: Any) -> bool:
    """Tell whether plain data are a number; a truth value is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Tell whether plain data are a text."""
    return isinstance(value, str)


def is_list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return the test for a list of fitting values."""
    return lambda value: isinstance(value, list) and all(map(fits, value))


def is_object(value: Any) -> bool:
    """Tell whether plain data are an object, a dict."""
    return isinstance(value, dict)


# The fields of a verdict as plain data, in order, with what each may be. The documents of
# certificates stand in their places, or the names of their files do.
FIELDS: dict[str, Callable[[Any], bool]] = dict(
    claim=is_text,
    status=is_text,
    kind=is_text,
    why=is_text,
    tightness=lambda value: value in (None, "inf") or is_number(value),
    cases=lambda value: type(value) is int and value >= 0,
    confidence=lambda value: value is None or is_number(value) and 0 <= value <= 1,
    witness=lambda value: value is None or is_object(value),
    certificate=lambda value: value is None or is_object(value) or is_text(value),
    lines=is_list_of(is_object),
    notes=is_list_of(is_text),
    decided_on=is_text,
    searched=is_text,
    printed=lambda value: value is None or is_object(value),
    removals=is_list_of(is_object),
)
REMOVAL = dict(name=is_text, hypothesis=is_text, saves=lambda v: type(v) is bool, verdict=is_object)


def find_fault(data: Any, part: bool = False) -> str | None:
    """Return the first field in which plain data is not what `Verdict.as_dict` gives, in this or an
    earlier version; None where it is. `part`: of a line or a reading.

    The schema is strict: the fields have the order of FIELDS, a line has no lines of its own, a
    part has no readings, and "holds" contradicts a tightness above 1.
    """
    if not is_object(data) or data.get("schema", VERSION) != VERSION:
        return "schema"
    if [name for name in data if name != "schema"] != [*FIELDS]:
        return "fields"
    if wrong := next((name for name, fits in FIELDS.items() if not fits(data[name])), None):
        return wrong
    if read_status(data["status"]) not in STATUSES:
        return "status"
    if is_text(data["certificate"]):
        return "certificate"
    if read_status(data["status"]) == HOLDS and float(data["tightness"] or 0) > 1:
        return "tightness"
    removals = data["removals"]
    if part and (data["printed"] or removals) or any(l.get("lines") for l in data["lines"]):
        return "printed" if part else "lines"
    for removal in removals:
        if [*removal] != [*REMOVAL] or not all(f(removal[name]) for name, f in REMOVAL.items()):
            return "removals"
    inner = [*data["lines"], *filter(None, [data["printed"]]), *(r["verdict"] for r in removals)]
    return next(filter(None, (find_fault(each, part=True) for each in inner)), None)
