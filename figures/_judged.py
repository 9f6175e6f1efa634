"""The findings of all figures on every sentence about an experiment: how many sentences are judged,
and why each of the rest is not."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fedtheory import discover, figures
from fedtheory.figures import _export, _findings

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

NOT_MADE = "not made"
JUDGED = (
    _findings.REPRODUCED,
    _findings.NOT_REPRODUCED,
    _findings.NO_POWER,
    _findings.INCONCLUSIVE,
)


class Row(NamedTuple):
    claim: str
    figure: str
    scale: str
    verdict: str  # of _findings.VERDICTS, or NOT_MADE
    sentence: str


def experiment_sentences() -> "list[Claim]":
    """Return the claims that are sentences about experiments (kind `finding`)."""
    return [claim for claim in discover.claims() if claim.kind == "finding"]


def sentences_without_figure() -> list[Any]:
    """Return the ids of sentences that name no figure or a figure that judges nothing, so that no
    run could decide them."""
    able = {name for name, record in figures.figures().items() if record.findings}
    return [claim.id for claim in experiment_sentences() if claim.figure not in able]


def findings_table(out: Path) -> list[Row]:
    """Return a Row for each sentence, from the findings that figures wrote into a folder."""
    found = {
        (entry["claim"], entry["figure"]): entry
        for entry in _export.read_entries(out / "findings.json")
    }
    rows = []
    for claim in experiment_sentences():
        entry = found.get((claim.id, claim.figure))
        said = (entry["scale"], entry["verdict"], entry["sentence"]) if entry else None
        why = f"the figure {claim.figure} is not in this folder"
        rows.append(Row(claim.id, claim.figure, *(said or ("", NOT_MADE, why))))
    return rows


def describe_table(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table in words: the counts, then the unjudged sentences, grouped by
    reason."""
    counts = Counter(row.verdict for row in rows)
    judged = sum(counts[verdict] for verdict in JUDGED)
    parts = ", ".join(f"{counts[v]} {v}" for v in JUDGED)
    yield f"{judged} of {len(rows)} sentences about experiments are judged: {parts}"
    reasons = {}
    for row in rows:
        if row.verdict not in JUDGED:
            reasons.setdefault(_reason_unjudged(row), []).append(row.claim)
    for reason, ids in sorted(reasons.items(), key=lambda pair: -len(pair[1])):
        yield f"  {len(ids)}: {reason}"
        yield f"      {', '.join(ids)}"


def _reason_unjudged(row: Row) -> str:
    """Return why a sentence is not judged, without the part on what was found all the same."""
    return row.sentence.partition("; of them")[0]
