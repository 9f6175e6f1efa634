"""Calls of `coqc` on a file: the answer says whether the file is accepted, on which axioms the
theorems rest, how long the check took and, after a refusal, why."""

import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fedtheory.errors import printable

# The axioms of Rocq's library of real numbers; `classic`, excluded middle, comes with its powers.
STANDARD = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
)
CLOSED = "Closed under the global context"
SECONDS = 600


class Answer(NamedTuple):
    accepted: bool
    why: str  # the reason of a refusal, on one line
    axioms: frozenset[Any]  # the axioms of all theorems together
    seconds: float  # processor time
    version: str
    ended: bool = True  # False: coqc takes too long, and gives no answer


def at_hand() -> Any:
    """Return the path of `coqc`, or None if `coqc` is not installed."""
    return shutil.which("coqc")


def version() -> Any:
    """Return the first line of `coqc --version`."""
    said = subprocess.run([at_hand(), "--version"], capture_output=True, text=True, timeout=60)
    return next(iter(said.stdout.splitlines()), "coqc")


def judge_file(text: str, theorems: Any, seconds: float = SECONDS) -> Any:
    """Return the Answer of `coqc` about a file. The file must print the axioms of each of its
    theorems, and may use the standard axioms only."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="fedtheory-rocq-") as folder:
        path = Path(folder) / "document.v"
        path.write_text(text)
        try:
            said = subprocess.run(
                [at_hand(), "-q", path.name],
                cwd=folder,
                capture_output=True,
                text=True,
                timeout=seconds,
            )
            code, out, err, ended = said.returncode, said.stdout, said.stderr, True
        except subprocess.TimeoutExpired:
            code, out, err, ended = 1, "", f"it takes more than {seconds} seconds", False
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found = frozenset(axioms(out))
    why = ""
    if code:
        why = printable(" ".join(err.split()))[-300:] or "coqc ends without a word"
    elif said_of(out) != len(theorems) or not theorems:
        why = "it does not say on what each theorem rests"
    elif not found <= STANDARD:
        why = f"it rests on {', '.join(sorted(found - STANDARD))}"
    return Answer(not why, why, found, spent, version(), ended)


def said_of(out: str) -> int:
    """Return the number of theorems on which `Print Assumptions` reported."""
    return len(re.findall(f"^(?:Axioms:|{CLOSED})", out, re.MULTILINE))


def axioms(out: str) -> Iterator[str]:
    """Yield the names of the axioms that `Print Assumptions` printed."""
    for line in out.splitlines():
        if line and not line[0].isspace() and line != "Axioms:" and not line.startswith(CLOSED):
            yield re.split(r"[\s:]", line)[0]
