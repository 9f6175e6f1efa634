"""The ledger: the verdict on every claim, each stored under the hash of the inputs that define the
result.

A result is defined by the claim's record, the budget, the seed, the sources that decide it and the
libraries that these use. A change of any of these makes a new name, and nothing else does. Results
carry no times, so a ledger has the same bytes in whatever order, number of processes and number of
attempts it was made. Times and memory are kept beside it.

A ledger has three parts: an entry for each claim (statement, command, key, verdict, proof,
finding), counts, and facts of the papers. Certificates are separate documents, named by the
entries. Nothing in a ledger is believed when it is read: `diff` and the replay of a package parse
it as untrusted input.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, NoReturn

from fedtheory import discover, plugins
from fedtheory.errors import InvalidInput
from fedtheory.folders_beside import BESIDE, PACKAGE
from fedtheory.store import private_cache
from fedtheory.store import source_hash as code
from fedtheory.store.files import write_file
from fedtheory.verdicts.proof_graph import Graph
from fedtheory.verdicts.status import PROVED, STATUSES
from fedtheory.verdicts.verdict import Verdict

if TYPE_CHECKING:
    import sympy

    from fedtheory.language.claim import Claim

FORMAT = "fedtheory ledger 4"
LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "numba")
LARGEST = 2**23  # bytes of a document from elsewhere


# ---------------------------------------------------------------- the key of a result


@cache
def source_hashes() -> dict[str, str]:
    """Return {file: SHA-256} for every source file of the library and for the data files that the
    sources name.

    The hashes go into a package's sources.json; the key of a result uses the syntax of the sources
    that decide the claim instead, so that a comment changes no key.
    """
    paths = (
        path
        for path in PACKAGE.rglob("*.py")
        if path.relative_to(PACKAGE).parts[0] not in BESIDE  # within it in a wheel alone
    )
    found = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    found |= {
        path.with_name(name): hash for path in [*found] for name, hash in code.data_hashes(path)
    }
    return {path.relative_to(PACKAGE).as_posix(): found[path] for path in sorted(found)}


@cache
def _library_versions() -> dict[str, str]:
    """Return the versions of Python and of LIBRARIES, read once."""
    return dict(python=platform.python_version(), **{name: version(name) for name in LIBRARIES})


def library_versions() -> dict[str, str]:
    """Return the versions of the libraries that compute the results."""
    return dict(_library_versions())


def digest_of(data: str | Mapping[str, Any] | Sequence[Any]) -> str:
    """Return the SHA-256, in hex, of plain data as JSON with sorted keys."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def result_key(claim: Claim, budget: float, seed: int) -> str:
    """Return the key under which a claim's result is stored: a hash of the claim's content (also of
    the explicit companion claim from which an order follows), of the inputs that decide the
    verdict, of the library versions, and of `budget` and `seed`.

    A claim is hashed as meant and as printed, because both are decided. The key has 40 hex digits.
    """
    from fedtheory.verdicts import dependencies

    asked = [
        [claim_content(one), dependencies.deciding_inputs(one)]
        for one in dependencies.claims_asked(claim)
    ]
    return digest_of([FORMAT, library_versions(), asked, float(budget), seed])[:40]


def claim_content(claim: Claim) -> dict[str, str]:
    """Return the full content of a claim's record as plain data.

    Formulas are spelled by `srepr`, which shows the assumptions of symbols; conditions by their
    name, words and constants; functions by a hash of their code.
    """
    from fedtheory.language.statements import Cells

    formula = lambda e: None if e is None else _spell_once(e)
    return plain_data(
        dict(
            id=claim.id,
            cites=claim.cites,
            kind=claim.kind,
            paper=claim.paper,
            says=claim.says,
            note=claim.note,
            meaning=claim.meaning,
            explicit=claim.explicit,
            figure=claim.figure,
            algorithm=[
                getattr(a, "name", a)
                for a in (
                    claim.algorithm
                    if isinstance(claim.algorithm, (tuple, list))
                    else [claim.algorithm]
                )
            ],
            lines=[[formula(a), sign, formula(b)] for a, sign, b in claim.lines],
            assumptions=[
                [
                    a.name,
                    a.where,
                    a.stated,
                    a.note,
                    [
                        a.holds.name,
                        a.holds.says,
                        list(a.holds.constants),
                        [[type(meaning).__name__, *meaning] for meaning in a.holds.means],
                    ]
                    if a.condition
                    else formula(a.relation),
                ]
                for a in claim.assumptions
            ],
            symbols=[
                [
                    name,
                    e.latex,
                    e.meaning,
                    list(e.unit),
                    e.domain,
                    formula(e.definition),
                    e.some,
                    list(e.measure) if e.measure else None,
                    formula(e.symbol),
                ]
                for name, e in claim.symbols.items()
            ],
            regime=[list(map(formula, theta)) for theta in claim.regime],
            logs=formula(claim.logs),
            compares=[list(c) for c in claim.compares],
            printed=list(claim.printed.items()),
            compute=_code_identity(claim.compute),
            given=[claim.statement.given, claim.statement.ranges, claim.statement.fixing]
            if isinstance(claim.statement, Cells)
            else [],
            same=[
                [
                    _code_identity(s.one),
                    s.fixed,
                    _code_identity(s.other),
                    s.other_fixed,
                    s.shared,
                    s.clients,
                ]
                for s in claim.same
            ],
        )
    )


@lru_cache(maxsize=2**14)
def _spell_once(expression: sympy.Basic) -> str:
    """Return the full text of an expression (`srepr`), cached across the claims that share the
    expression."""
    from sympy import srepr

    return srepr(expression)


def _code_identity(one: Callable[..., Any] | None) -> list[str] | None:
    """Return a method's name, or a function's name and a hash of the code that the function uses."""
    if not callable(one) or hasattr(one, "hyper"):
        return getattr(one, "name", one)
    return [one.__name__, code.digest_of_thing(one)]


def plain_data(value: Any) -> Any:
    """Convert a value to data that JSON can represent; a NaN or an infinity becomes its text."""
    if isinstance(value, dict):
        return {str(name): plain_data(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(item) for item in value]
    if isinstance(value, float):  # Tightness and NumPy's floats are floats, too
        return float(value) if math.isfinite(value) else str(float(value))
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


# ---------------------------------------------------------------- results


def decide_claim(claim: Claim, budget: float, seed: int) -> dict[str, float | dict[str, Any]]:
    """Decide a claim, and return the verdict as plain data with the processor time in seconds and
    the memory in megabytes.

    An exception inside a check becomes an undecided verdict of kind "error", so that a campaign
    goes on. OSError and MemoryError are raised again: a fault of the machine must not be stored as
    a result.
    """
    from fedtheory.verdicts.combination import conclude
    from fedtheory.verdicts.evidence import Gap
    from fedtheory.verdicts.pipeline import decide_readings

    _forget_peak()
    begun = time.process_time()
    try:
        with plugins.refuse_in_words():
            verdict = plain_data(decide_readings(claim, budget, seed).as_dict())
    except (OSError, MemoryError):  # a fault of the machine, not of the claim
        raise
    except Exception as error:
        why = f"The check failed: {type(error).__name__}: {' '.join(str(error).split())[:300]}"
        verdict = plain_data(conclude(claim.id, Gap(says=why, kind="error")).as_dict())
    return dict(
        verdict=verdict, seconds=round(time.process_time() - begun, 3), megabytes=_peak_memory()
    )


def _forget_peak() -> None:
    """Reset the operating system's record of this process's peak memory, where the system allows a
    reset."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        pass


def _peak_memory() -> float | None:
    """Return this process's peak memory in megabytes, None where the system does not report it."""
    try:
        found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        return None
    return found and round(int(found[1]) / 1024, 1)


def keep_result(folder: Path, name: str, result: Mapping[str, Any]) -> None:
    """Write a result under its key, sealed, so that only this user's own results are read again."""
    write_file(Path(folder) / f"{name}.sealed", private_cache.seal(name, json_text(result)))


def load_result(folder: Path, name: str) -> dict[str, float | dict[str, Any]] | None:
    """Load the result stored under a key, or return None. A file that was cut short, edited or
    written by another user counts as absent."""
    try:
        found = private_cache.unseal(name, (Path(folder) / f"{name}.sealed").read_bytes())
    except OSError:
        return None
    return None if found is None else json.loads(found)


def json_text(data: Any) -> bytes:
    """Return data as indented JSON in UTF-8 with a final line feed; NaN and infinities raise
    ValueError."""
    return (json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


# ---------------------------------------------------------------- the ledger


def repro_command(claim: Claim, budget: float, seed: int) -> str:
    """Return the shell command that decides a claim again."""
    given = "".join(f" --with {quote(name)}" for name in plugins.missing_files(claim.id))
    return f"fedtheory check {quote(claim.id)} --budget {budget:g} --seed {seed}{given}"


def build_ledger(
    claims: Sequence[Claim],
    verdicts: Mapping[str, dict[str, Any]],
    budget: float,
    seed: int,
    findings: Mapping[str, dict[str, str]] | None = None,
    plots: Mapping[str, list[str]] | None = None,
    asked: Sequence[str] = (),
    keys: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return (ledger, {file: certificate}) of claims and their verdicts. `findings` maps ids to the
    data of the figures, `plots` maps ids to the names of the figures that show the claim, `asked`
    lists the requested id prefixes if these are not all claims, and `keys` maps ids to result keys
    where the keys are known.

    The order of entries is the order of `claims`, and no entry holds a time, so that equal verdicts
    give equal bytes.
    """
    certificates, entries, claims = {}, [], list(claims)
    found = {name: Verdict.from_dict(verdict) for name, verdict in verdicts.items()}
    for claim in claims:
        base = f"certificates/{file_name(claim.id)}"
        verdict = detach_certificates(found[claim.id], base, certificates)
        proof = rests_on(claim, claims, found)
        if proof is not None and proof.certificate:
            graph = f"certificates/{file_name(claim.id)}.graph.json"
            certificates[graph] = plain_data(proof.certificate)
        entries.append(
            dict(
                **claim_statement(claim),
                command=repro_command(claim, budget, seed),
                key=keys[claim.id] if keys else result_key(claim, budget, seed),
                verdict=plain_data(verdict.as_dict()),
                rests_on=None if proof is None else plain_data(proof.as_dict()),
                finding=(findings or {}).get(claim.id),
                plots=(plots or {}).get(claim.id, []),
            )
        )
    return dict(
        format=FORMAT,
        budget=float(budget),
        seed=seed,
        asked=sorted(set(asked)),
        sources=digest_of(source_hashes()),
        libraries=library_versions(),
        counts=count_statuses(entries),
        papers=paper_facts(entries),
        claims=entries,
    ), certificates


def certificates_of(verdict: dict) -> list[dict]:
    """Return the certificates of a verdict, in the form in which a package stores them."""
    found: dict[str, dict] = {}
    detach_certificates(Verdict.from_dict(verdict), "", found)
    return [*found.values()]


def detach_certificates(verdict: Verdict, base: str, certificates: dict[str, dict]) -> Verdict:
    """Return a Verdict in which file names replace the documents. The documents are added to
    `certificates`.

    A document that occurs twice (for the statement and for its only failing line) is stored once.
    """
    whole, name = verdict.certificate, f"{base}.json"
    if whole is not None:
        certificates[name] = whole
    lines, file = [], dict[str, Any]()  # file: the field of a line, or of the whole
    for n, line in enumerate(verdict.lines, 1):
        document = line.certificate
        # A proof of a whole statement contains the proofs of its lines.
        if verdict.status == PROVED or document is None:
            file = dict(certificate=None)
        elif document == whole:
            file = dict(certificate=name)
        else:
            file = dict(certificate=f"{base}.line{n}.json")
            certificates[file["certificate"]] = document
        lines.append(replace(line, **file))
    printed = verdict.as_printed
    if printed is not None:
        printed = detach_certificates(printed, f"{base}.printed", certificates)
    removals = [
        removal._replace(
            verdict=printed
            if printed
            and removal.verdict == verdict.as_printed  # the text omits one hypothesis only
            else detach_certificates(removal.verdict, f"{base}.without{n}", certificates)
        )
        for n, removal in enumerate(verdict.removals, 1)
    ]
    file = dict(certificate=None if whole is None else name)
    return replace(verdict, lines=lines, as_printed=printed, removals=removals, **file)


def rests_on(
    claim: Claim, claims: Sequence[Claim], verdicts: Mapping[str, dict[str, Any]]
) -> Graph | None:
    """Return the proof graph of a claim, or None where the record does not say from which lines the
    claim follows."""
    from fedtheory.verdicts import proof_graph

    if not claim.follows:
        return None
    known = {c.id: proof_graph.line_statuses(verdicts[c.id], c) for c in claims if c.id in verdicts}
    return proof_graph.build_graph(claim, lambda other, led: known.get(other.id), verdicts)


def verdicts_of(book: dict) -> dict[str, Verdict]:
    """Return {id: Verdict} of a ledger's claims."""
    return {entry["id"]: Verdict.from_dict(entry["verdict"]) for entry in book["claims"]}


def count_statuses(entries: Iterable[dict]) -> dict[str, int]:
    """Return {status: number of entries}, with every status in the order of tables."""
    found = Counter(Verdict.from_dict(entry["verdict"]).status for entry in entries)
    return {status: found[status] for status in STATUSES}


def paper_facts(entries: Sequence[dict[str, str | list[str]]]) -> dict[str, dict[str, Any]]:
    """Return {id: facts} of each recorded paper to which one of the claims belongs."""
    known = discover.papers()
    named = dict.fromkeys(entry["paper"] for entry in entries)
    return {
        name: plain_data(dict(known[name]._asdict(), by=known[name].by, says=str(known[name])))
        for name in named
        if name in known
    }


# Endings of the names of files beside those of a claim's own verdict.
ENDS = re.compile(r".*\.(printed|graph|verdict|certificate|(line|without)\d+)(\..*)?")


def file_name(id: str) -> str:
    """Return an id as a file name. An id that could leave the folder, is not a plain word, or could
    be the file name of another claim is replaced by its hash.

    >>> file_name("fsl.lemma1"), file_name("fsl.lemma1.printed")
    ('fsl.lemma1', 'claim-5ad0a3e70327ee93')
    """
    plain = re.fullmatch(r"[A-Za-z0-9][\w.-]{0,100}", id, re.ASCII) and not ENDS.fullmatch(id)
    return id if plain else f"claim-{hashlib.sha256(id.encode()).hexdigest()[:16]}"


def plain_latex(latex: str) -> str:
    """Return LaTeX without braces, brackets and spaces, so that two ways to write the same formula
    compare equal. A symbol that is printed as its own formula needs no definition."""
    return re.sub(r"\\(left|right)[()]|[{}\s]", "", latex)


def claim_statement(claim: Claim) -> dict[str, str | list[str]]:
    """Return the statement of a claim, in plain text and in LaTeX."""
    return dict(
        id=claim.id,
        paper=claim.paper,
        cites=claim.cites,
        kind=claim.kind,
        meaning=claim.meaning or claim.says,
        statement=[line.text for line in claim.lines] or [claim.says],
        latex=[line.latex for line in claim.lines],
        regime=[
            rf"{claim.latex(t.symbol)} = \Theta\left({claim.latex(t.shape)}\right)"
            for t in claim.regime
        ],
        definitions=[
            f"{claim.latex(symbol)} = {claim.latex(e)}"
            for symbol, e in claim.definitions.items()
            if plain_latex(claim.latex(symbol)) != plain_latex(claim.latex(e))
        ],
        assumptions=[
            dict(
                says=a.condition.says if a.condition else claim.plain(a.relation),
                latex="" if a.condition else claim.latex(a.relation),
                where=a.where,
                stated=a.stated,
                note=a.note,
            )
            for a in claim.assumptions
        ],
        symbols=[
            dict(name=name, latex=e.latex, meaning=e.meaning) for name, e in claim.symbols.items()
        ],
        figure=claim.figure,
        explicit=claim.explicit,
        note=claim.note,
    )


def read_json(path: Path) -> int | dict[str, Any] | list[Any]:
    """Read a JSON document from an untrusted file.

    Raises InvalidInput where the file cannot be read, is longer than LARGEST, or is no JSON.
    """
    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"{Path(path).name} must be a JSON document; {error.strerror}") from None
    return parse_json(content, Path(path).name)


def parse_json(content: bytes, name: str) -> int | dict[str, Any] | list[Any]:
    """Parse a JSON document of at most LARGEST bytes. Refuse NaN, infinities and repeated names
    with a message that names the file."""

    def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) != len(pairs):
            raise ValueError("the document has a name twice")
        return dict(pairs)

    def never(value: str) -> NoReturn:
        raise ValueError(f"the document holds {value}")

    try:
        if len(content) > LARGEST:
            raise ValueError(f"it has more than {LARGEST} bytes")
        found = json.loads(content, object_pairs_hook=once, parse_constant=never)
        json_text(
            found
        )  # 1e999 is not a number and a lone surrogate is not text: neither could be written again
        return found
    except (ValueError, RecursionError) as error:
        raise InvalidInput(
            f"{name} must be a JSON document; {' '.join(str(error).split())}"
        ) from None
