"""Rocq check, `python -m tests.checker.rocq_kernel FILE|DIR ...`: a second kernel on good and broken documents.

Each document becomes a file that `coqc` checks. Then each file is broken, in its statement and in
its proof, and `coqc` must refuse every broken file: a number is nudged, the line is reversed, a
step is left out. Documents that cannot be written for Rocq are listed with the reason.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from fedtheory.rocq import coqc
from fedtheory.rocq.export_file import Refused, Unwritten, export, theorem_names
from fedtheory.store import outputs

CONCLUSION = re.compile(r"(?m)^  (?P<line>[^\n]+)\.\nProof\.$")
TURNED = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "=": "<>", "<>": "="}


def documents(paths):
    """Yield (name, document) for everything in files and folders: documents, verdicts that contain
    one, and objects that contain several."""
    for path in paths:
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for file in files:
            content = json.loads(file.read_text())
            if isinstance(content, dict):
                yield from inside(file.stem, content)


def inside(name, content):
    if "format" in content:
        yield name, content
    elif isinstance(content.get("certificate"), dict):
        yield name, content["certificate"]
    else:
        for key, value in content.items():
            if isinstance(value, dict) and "format" in value:
                yield key, value


def nudge_number(text):
    """Return the Coq text with one number changed: the first computed number, or else a side of the
    conclusion."""
    computed = re.search(r"(?m)^Lemma B[0-9]+ : \w+ = (?P<line>[^\n]+)\.$", text)
    if computed:
        return replace_line(text, computed, f"{computed['line']} + 1 / 1000")
    return replace_line(text, last(text), f"{last(text)['line']} + 1 / 1000")


def turn_conclusion(text):
    """Return the Coq text with the relation in the last theorem's conclusion reversed."""
    at = last(text)
    line, found = at["line"], re.search(r" (<=|>=|<>|<|>|=) (?=[^<>=]*$)", at["line"])
    other = f"{line[: found.start()]} {TURNED[found[1]]} {line[found.end() :]}"
    return replace_line(text, at, other)


def drop_last_step(text):
    """Return the Coq text with the last step of the last proof removed."""
    start = text.rindex("\nProof.", 0, text.rindex("Qed."))
    proof = text[start : text.rindex("Qed.")].rstrip().split("\n")
    return "\n".join([text[:start], *proof[1:-1], text[text.rindex("Qed.") :]])


BROKEN = {
    "a number nudged": nudge_number,
    "the line turned": turn_conclusion,
    "a step left out": drop_last_step,
}


def last(text):
    return list(CONCLUSION.finditer(text))[-1]


def replace_line(text, at, line):
    return text[: at.start("line")] + line + text[at.end("line") :]


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.checker.rocq_kernel", description=__doc__.splitlines()[0]
    )
    parser.add_argument("paths", nargs="+", type=Path, metavar="FILE|DIR")
    parser.add_argument("--only", default="", help="names that contain this")
    parser.add_argument("--unbroken", action="store_true", help="break none")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the files go")
    given = parser.parse_args(arguments)
    if coqc.at_hand() is None:
        print(
            "tests.checker.rocq_kernel: coqc is not at hand (Debian: apt-get install coq)",
            file=sys.stderr,
        )
        return 2
    tally = dict(documents=0, accepted=0, wrong=0, unwritten=0, broken=0)
    for name, document in documents(given.paths):
        if given.only in name:
            one(name, document, given, tally)
    print(
        f"{tally['documents']} documents: {tally['accepted']} accepted by {coqc.version()}, "
        f"{tally['unwritten']} not written for it, {tally['wrong']} answers that should not be; "
        f"{tally['broken']} broken files refused"
    )
    return 1 if tally["wrong"] else 0


def one(name, document, given, tally):
    tally["documents"] += 1
    try:
        text = export(document)
    except (Refused, Unwritten) as why:
        tally["unwritten"] += 1
        print(f"{name}: not written: {why}", flush=True)
        return
    if given.keep is not None:
        file = f"{re.sub('[^A-Za-z0-9]', '_', name)}.v"
        outputs.Folder(given.keep, "--keep").write({file: text.encode()})
    names = theorem_names(text)
    answer = coqc.judge_file(text, names)
    tally["accepted"] += answer.accepted
    tally["wrong"] += not answer.accepted
    said = f"accepted, {len(names)} theorems" if answer.accepted else f"REFUSED: {answer.why}"
    print(f"{name}: {said}, {answer.seconds:.1f} s", flush=True)
    for what, broken in {} if given.unbroken else BROKEN.items():
        if coqc.judge_file(broken(text), names).accepted:
            tally["wrong"] += 1
            print(f"{name}: ACCEPTED with {what}", flush=True)
        else:
            tally["broken"] += 1


if __name__ == "__main__":
    sys.exit(main())
