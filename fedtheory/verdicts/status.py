"""The statuses of a verdict, with the words for each. A status is written nowhere else."""

PROVED = "proved"
HOLDS = "holds"  # nothing refutes it
VIOLATED = "violated"
VACUOUS = "vacuous"
UNDECIDED = "undecided"

# What each status says of a claim, in the order of tables.
MEANINGS = {
    PROVED: "It follows from its hypotheses, with a document that a short independent program accepts.",
    HOLDS: "No counterexample was found in a search inside its hypotheses; this is evidence, not a proof.",
    VIOLATED: "It is false as stated: an exact instance inside its hypotheses breaks it.",
    VACUOUS: "It says nothing: no instance meets its hypotheses, or all do what it says.",
    UNDECIDED: "Nothing was decided; the reason stands with it.",
}
STATUSES = tuple(MEANINGS)
# From worst to best: a statement has the worst status of its lines.
ORDER = (VIOLATED, VACUOUS, UNDECIDED, HOLDS, PROVED)
STANDS = (PROVED, HOLDS)  # nothing speaks against the claim
FINAL = (PROVED, VIOLATED, VACUOUS)  # no further search changes it
# What the status of a statement without one hypothesis says of the hypothesis.
NEEDS = {
    VIOLATED: "needed",
    HOLDS: "no instance that was looked at needs it",
    PROVED: "not needed, by a proof",
    VACUOUS: "without it alone the statement says nothing",
    UNDECIDED: "whether it is needed is not decided",
}
FORMER: dict[str, str] = {}  # statuses of earlier versions, which documents may hold


def read_status(word: str) -> str:
    """Return the status named in a document of any version."""
    return FORMER.get(word, word)
