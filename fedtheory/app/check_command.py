"""The commands `fedtheory check`, `replay`, `mutate`, `sharpen`, `minimise` and `audit`: read claims
by id or from a file, print verdicts in words, and read and write documents.

A document is read from a file as untrusted input. Only `check --out` writes: a verdict, with every
certificate in a file of its own, so that `replay` takes each alone. Statuses are given by
`fedtheory.verdicts`, never here.
"""

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory import discover, plugins
from fedtheory.app import ledger
from fedtheory.errors import Contradiction, InvalidInput, printable, refuse
from fedtheory.language.claim import Claim
from fedtheory.parallel import executors
from fedtheory.store import outputs
from fedtheory.terminal import Line, reading_width
from fedtheory.verdicts.status import NEEDS, STATUSES, VIOLATED

if TYPE_CHECKING:
    from fedtheory.verdicts.verdict import Verdict


def find_claims(names: Sequence[str]) -> list[tuple[str, Claim]]:
    """Return (name, claim) pairs for claim ids, and for the records CLAIM and CLAIMS of Python
    files.

    A name that ends in .py is a file, which is executed; any other name is an id.
    """
    found = []
    for name in names:
        if name.endswith(".py"):
            found += [(name, claim) for claim in load_claims(Path(name))]
        else:
            found.append((name, discover.claim(name)))
    return found


def load_claims(path: Path) -> list[Claim]:
    """Return the claims that a user's Python file defines. The file is executed like any Python
    file."""
    if not path.is_file():
        refuse("a claim", "must be an id, or a Python file that exists", str(path))
    claims = [claim for _, claim in plugins.list_records("CLAIM", plugins.load_file(path))]
    if not claims or not all(isinstance(claim, Claim) for claim in claims):
        raise InvalidInput(
            f"{path} must define CLAIM, a fedtheory Claim, or CLAIMS, a list of claims"
        )
    return claims


def verdict_of(
    name: str,
    claim: str | Claim,
    executor: str | None,
    budget: float,
    seed: int,
    witnesses: Sequence[dict[str, Any]] = (),
    seeds: int = 1,
) -> "Verdict":
    """Compute the Verdict on a claim, or on a claim id that is looked up in `name` (an id or a
    file). Worker processes run this function.

    An id is passed instead of the record where a record would have to be pickled: a worker process
    then loads the claim by itself.
    """
    from fedtheory.verdicts.pipeline import check

    if isinstance(claim, str):
        claim = next(c for _, c in find_claims([name]) if c.id == claim)
    return check(claim, budget, seed, witnesses=witnesses, executor=executor, seeds=seeds)


def check_claims(
    names: Sequence[str],
    budget: float = 10.0,
    seed: int = 0,
    workers: str = "serial",
    out: Path | None = None,
    expect: str | None = None,
    say: Callable[..., Any] = lambda line: None,
    witnesses: Sequence[Path] = (),
    seeds: int = 1,
) -> tuple[Any, str, bool]:
    """Return (data, text, whether every verdict equals `expect`); `witnesses` are files of
    documents. With several claims each worker decides one claim at a time; a single claim is shared
    by all workers.

    The folder `out` is checked before anything is computed, so that a search is not lost at its
    end. Each verdict is written as soon as it is known. The data are one row, or a list for several
    claims.
    """
    if expect is not None and expect not in STATUSES:
        refuse("expect", f"must be one of {', '.join(STATUSES)}", expect)
    executors.executor_factory(workers)
    claims = find_claims(names)
    folder = None if out is None else outputs.Folder(out)
    if folder is not None:
        folder.check(name for _, claim in claims for name in earlier_files(folder, claim.id))
    known = [read_document(path, "--witnesses") for path in witnesses]
    alone = len(claims) == 1
    verdicts, run = [], partial(verdict_of, budget=budget, seed=seed, witnesses=known, seeds=seeds)
    jobs = [
        (name, claim if alone else claim.id, workers if alone else None) for name, claim in claims
    ]
    with closing(executors.in_order(run, jobs, None if alone else workers)) as found:
        for verdict in report_verdicts(found, folder):
            verdicts.append(verdict)
            say(
                f"{len(verdicts)}/{len(claims)} {verdict.claim}: {verdict.status} ({verdict.seconds:.1f} s)"
            )
            if folder is not None:
                write_verdict(folder, verdict)
    rows = [dict(verdict.as_dict(), seconds=verdict.seconds) for verdict in verdicts]
    text = "\n\n".join(describe_verdict(verdict, out, reading_width()) for verdict in verdicts)
    held = expect is None or all(verdict.status == expect for verdict in verdicts)
    if not held:
        wrong = [f"{v.claim} is {v.status}" for v in verdicts if v.status != expect]
        text += f"\n\nexpected {expect}, but " + ", ".join(wrong)
    return rows if len(rows) != 1 else rows[0], text, held


KEPT = r"\.(verdict|certificate|printed\.certificate|without\d+\.certificate|graph)\.json"


def earlier_files(folder: outputs.Folder, claim: str) -> list[str]:
    """Return the names of the files in a folder that belong to an earlier verdict on the claim,
    whoever wrote the files."""
    return folder.matching(re.escape(ledger.file_name(claim)) + KEPT)


def report_verdicts(verdicts: Iterator[Any], folder: outputs.Folder | None) -> "Iterator[Verdict]":
    """Yield verdicts as they arrive. Where a Contradiction is raised, write both documents to the
    folder before raising the Contradiction again."""
    try:
        yield from verdicts
    except Contradiction as wrong:
        where = "add --out DIR to keep both"
        if folder is not None:
            kept = dict(proof=wrong.proof, counterexample=wrong.counterexample)
            folder.write(
                {
                    f"contradiction.{label}.json": ledger.json_text(ledger.plain_data(document))
                    for label, document in kept.items()
                }
            )
            where = f"both are in {folder.path}"
        raise Contradiction(f"{wrong} ({where})", wrong.proof, wrong.counterexample) from None


def write_verdict(folder: outputs.Folder, verdict: "Verdict") -> None:
    """Write a verdict and, as separate files, its certificates. Remove the files of an earlier
    verdict on the same claim.

    The files are NAME.verdict.json, NAME.certificate.json, the certificate of the statement as
    printed, the certificate without each removed hypothesis, and NAME.graph.json for the steps of a
    proof. Files without a document are not written.
    """
    name = ledger.file_name(verdict.claim)
    removed = [removal.verdict for removal in verdict.removals]
    files = {f"{name}.verdict.json": verdict.as_dict(), f"{name}.certificate.json": verdict}
    if verdict.printed is not verdict:
        files[f"{name}.printed.certificate.json"] = verdict.printed
    for n, each in enumerate(removed, 1):
        if each is not verdict.printed:
            files[f"{name}.without{n}.certificate.json"] = each
    if verdict.rests_on is not None:
        files[f"{name}.graph.json"] = verdict.rests_on  # the verdict's steps
    documents = {label: getattr(data, "certificate", data) for label, data in files.items()}
    folder.write(
        {
            label: ledger.json_text(ledger.plain_data(document))
            for label, document in documents.items()
            if document is not None
        },
        stale=earlier_files(folder, verdict.claim),
    )


def describe_verdict(verdict: "Verdict", out: Path | None = None, width: int = 88) -> str:
    """Return a verdict as text for a reader.

    The order is: status and reason, largest ratio, kind and cost, the code and models, the steps of
    the proof, the counterexample in words, notes, the statement as printed, and how to keep the
    certificate.
    """
    from fedtheory.rendering.words import describe_counterexample

    lines = [f"{verdict.claim}: {verdict.status}"]
    lines += textwrap.wrap(verdict.why, width, initial_indent="  ", subsequent_indent="  ")
    if verdict.tightness is not None:
        lines.append(f"  largest ratio found: {ratio_text(verdict)}")
    lines.append(
        f"  decided by: {verdict.kind}; instances looked at: {verdict.cases}; {verdict.seconds:.1f} s"
    )
    for label, words in (("decided on", verdict.decided_on), ("searched", verdict.searched)):
        if words:
            lines += textwrap.wrap(
                f"{label}: {words}", width, initial_indent="  ", subsequent_indent="    "
            )
    if verdict.rests_on is not None:
        lines += textwrap.wrap(
            f"its proof: {verdict.rests_on}", width, initial_indent="  ", subsequent_indent="    "
        )
    if story := describe_counterexample(verdict.certificate):
        lines += wrap_story(story, width)
    elif verdict.status == VIOLATED and verdict.witness:
        lines += textwrap.wrap(
            "at " + one_line(verdict.witness), width, initial_indent="  ", subsequent_indent="    "
        )
    for note in verdict.notes:
        lines += textwrap.wrap(
            f"note: {note}", width, initial_indent="  ", subsequent_indent="    "
        )
    lines += as_printed(verdict, width)
    if verdict.certificate is not None:
        written = verdict.certificate.get("denial", verdict.certificate)
        made = written.get("from", {}).get("file")
        lines.append(
            "  it has a certificate: add --out DIR to keep it"
            if out is None and made
            else "  it has a certificate that stands alone: add --out DIR to keep it"
            if out is None
            else f"  its certificate is replayed beside that file: `fedtheory replay FILE --with {made}`"
            if made
            else "  its certificate stands alone: `fedtheory replay FILE`"
        )
    return "\n".join(lines)


def wrap_story(story: Sequence[str], width: int) -> list[str]:
    """Return the lines that describe a counterexample, wrapped at `width` and indented."""
    wrap = partial(textwrap.wrap, width=width, initial_indent="  ", subsequent_indent="      ")
    return [part for line in story for part in wrap(line)]


def ratio_text(verdict: Any) -> str:
    """Return the largest ratio as text; for a statement of several lines, the largest ratio of each
    line."""
    each = [
        f"{float(line.tightness):.6g} of line {n}"
        for n, line in enumerate(verdict.lines, 1)
        if line.tightness is not None
    ]
    return ", ".join(each) or f"{float(verdict.tightness):.6g}"


def as_printed(verdict: "Verdict", width: int) -> list[str]:
    """Return the lines on the verdict for the statement as printed, where the paper's text leaves
    out a hypothesis that its proof uses."""
    from fedtheory.rendering.words import describe_counterexample

    printed, found = verdict.printed, []
    if printed is verdict:
        return found
    say = lambda text, first="  ": textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent="    "
    )
    more = f". {printed.why}" if printed.status != verdict.status else ""
    found += say(f"as printed, with what the text states alone: {printed.status}{more}")
    # where the verdict itself is violated, its counterexample is described above
    if printed.status == VIOLATED and verdict.status != VIOLATED:
        story = describe_counterexample(printed.certificate)
        found += wrap_story([f"  {line}" for line in story], width)
        found += (
            say("at " + one_line(printed.witness), "    ") if printed.witness and not story else []
        )
    for removal in verdict.removals:
        said = NEEDS[removal.verdict.status]
        found += say(f"- {removal.hypothesis}: {said}", "    ")
    return found


def one_line(tree: Any) -> str:
    """Return a witness as text on one line."""
    if isinstance(tree, dict):
        return ", ".join(
            f"{key}={one_line(value)}" for key, value in tree.items() if value not in ([], {})
        )
    if isinstance(tree, list):
        return "[" + ", ".join(map(one_line, tree)) + "]"
    return str(tree)


def replay_file(path: Path, as_latex: bool = False) -> tuple[Any, ...]:
    """Return (data, text, whether the document holds) for a document in a file. The text is in
    LaTeX if `as_latex` is true.

    A refused document gives the reason and False, not an error: refusal is an answer. LaTeX is
    available for counterexamples only, and any other document is refused then.
    """
    from fedtheory.certificates.check_instance import approximate_text
    from fedtheory.rendering.mail import counterexample_latex
    from fedtheory.rendering.words import describe_counterexample
    from fedtheory.verdicts.replaying import Refused
    from fedtheory.verdicts.replaying import replay as replayed

    document = read_document(path)
    try:
        found = replayed(document)
    except Refused as why:
        return (
            dict(status="refused", why=str(why)),
            f"{printable(path.name)} is refused: {why}",
            False,
        )
    rows = {
        key: json_value(value)
        for key, value in found.items()
        if key
        in (
            "status",
            "claim",
            "about",
            "says",
            "rests_on",
            "shows",
            "lines",
            "left",
            "right",
            "bound",
            "least",
        )
    }
    if as_latex:
        rows["latex"] = counterexample_latex(document)
        return rows, rows["latex"] or refuse("--latex", "takes a counterexample", path.name), True
    width = reading_width(86)
    text = [
        f"{found.get('claim') or path.name}: {found['status']}, derived anew from the document alone"
    ]
    if found.get("says"):
        text += textwrap.wrap(found["says"], width, initial_indent="  ", subsequent_indent="  ")
    if story := describe_counterexample(document):
        text += wrap_story(story, width)
    elif "left" in found:
        text.append(
            f"  left {approximate_text(found['left'])}, right {approximate_text(found['right'])}"
        )
    if "rests_on" in found:
        text += textwrap.wrap(
            f"it rests on {found['rests_on']}", width, initial_indent="  ", subsequent_indent="  "
        )
    return (
        rows,
        printable(
            "\n".join([*text, f"  it carries {found.get('about', 'no more than its lines')}"])
        ),
        True,
    )


def json_value(value: Any) -> Any:
    """Return a value unchanged if JSON can represent the value, and as text otherwise."""
    from fedtheory.arithmetic.operations import Interval
    from fedtheory.certificates.check_instance import approximate_text

    if isinstance(value, (Fraction, Interval)):
        return approximate_text(value)
    return value if value is None or isinstance(value, (str, list, dict, int)) else str(value)


def read_document(path: Path, whose: str = "replay") -> dict[str, Any]:
    """Read a verdict's document from a file, or the document inside a stored verdict. Refuse a file
    that is longer than any document."""
    from fedtheory.certificates import documents

    if not path.is_file():
        refuse(whose, "takes a JSON file", str(path))
    documents.check_file_size(path)
    document = ledger.read_json(path)
    if not isinstance(document, dict):
        raise InvalidInput(f"{path.name} holds no document, but a {type(document).__name__}")
    inside = document.get("certificate")
    return inside if "format" not in document and isinstance(inside, dict) else document


def mutate_claims(
    names: Sequence[str],
    budget: float = 60.0,
    seed: int = 0,
    stream: Any = None,
    executor: str | None = None,
    seeds: int = 1,
) -> tuple[str | dict[str, Any], ...]:
    """Return (data, text) of the mutants of each claim."""
    from fedtheory.verdicts.mutation_testing import mutate as mutated

    return part_by_part(
        partial(mutated, executor=executor, seeds=seeds), names, budget, seed, stream
    )


def sharpen_claims(
    names: Sequence[str], budget: float = 60.0, seed: int = 0, stream: Any = None
) -> tuple[Any, ...]:
    """Return (data, text) that say which values of its numbers each claim needs."""
    from fedtheory.verdicts.sharpening import sharpen as sharpened

    return part_by_part(sharpened, names, budget, seed, stream)


def minimise_claims(
    names: Sequence[str], budget: float = 60.0, seed: int = 0, stream: Any = None
) -> tuple[Any, ...]:
    """Return (data, text) that say which of its hypotheses each claim needs."""
    from fedtheory.verdicts.minimal_hypotheses import minimise as minimised

    def ask(claim: Claim, budget: float, seed: int, report: Callable[..., None]) -> Any:
        progress = lambda verdict: report(verdict.claim, verdict.cases)
        return minimised(claim, budget, seed, progress)

    return part_by_part(ask, names, budget, seed, stream)


def audit_claims(
    names: Sequence[str], budget: float = 5.0, seed: int = 0, at: str = "worst", stream: Any = None
) -> tuple[Any, ...]:
    """Return (data, text) of the lines of each claim's proof, evaluated at one instance."""
    from fedtheory.verdicts.audit import audit as audited

    ask = lambda claim, budget, seed, _: audited(claim, at, budget=budget, seed=seed)
    return part_by_part(ask, names, budget, seed, stream)


def part_by_part(
    ask: Callable[..., Any], names: Sequence[str], budget: float, seed: int, stream: Any
) -> tuple[Any, ...]:
    """Return (data, text) of the answers of `ask` for each claim, and write a progress line to
    `stream`.

    The data are one row, or a list for several claims, as for `check_claims`.
    """
    rows, text = [], []
    for _, claim in find_claims(names):
        line = Line(stream)
        found = ask(claim, budget, seed, line.progress(claim.id))
        line.clear()
        rows.append(found.as_dict())
        text.append(str(found))
    return rows if len(rows) != 1 else rows[0], "\n\n".join(text)
