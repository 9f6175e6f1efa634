"""Discovery of records by walking the folders: a new file is found without editing any other file.

Each function imports only its own package: claims load without the compiler, and the other records
without SymPy.
"""

import copyreg
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory import plugins
from fedtheory.errors import InvalidInput, refuse, show
from fedtheory.language import names

if TYPE_CHECKING:
    from fedtheory.algorithm import Algorithm
    from fedtheory.language.claim import Claim
    from fedtheory.language.paper import Paper
    from fedtheory.problem import Problem


@cache
def _record_files(room: str) -> list[str]:
    folder = Path(__file__).parent / room
    return sorted(
        name for _, name, _ in pkgutil.iter_modules([str(folder)]) if not name.startswith("_")
    )


def algorithms() -> "dict[str, Algorithm]":
    """Return the mapping name -> Algorithm over every file of algorithms/ and all algorithms of
    users."""
    own = {adopt_method(record).name: record for _, record in plugins.list_records("ALGORITHM")}
    return {**shipped_algorithms(), **own}


@cache
def shipped_algorithms() -> "dict[str, Algorithm]":
    """Return the mapping name -> Algorithm over every file of algorithms/."""
    found = {}
    for name in _record_files("algorithms"):
        module = importlib.import_module(f"fedtheory.algorithms.{name}")
        if hasattr(module, "ALGORITHM"):
            found[module.ALGORITHM.name] = module.ALGORITHM
    return found


_ADOPTED: dict = {}  # name -> Algorithm, for methods that users registered


def adopt_method(record: "Algorithm") -> "Algorithm":
    """Register a user's algorithm, so that it is found by its name from now on, and return it.
    Raises InvalidInput for the name of an algorithm of this library, and for anything but an
    Algorithm."""
    from fedtheory.algorithm import Algorithm

    if not isinstance(record, Algorithm):
        refuse("ALGORITHM", "must be a fedtheory Algorithm", record)
    if record is not shipped_algorithms().get(record.name, record):
        raise InvalidInput(
            f"a user's method must have a name that no method of fedtheory has; got {show(record.name)}"
        )
    if record.name not in shipped_algorithms():
        _ADOPTED[record.name] = record
    return record


def suggest_names(
    name: str, known: "Mapping[str, Algorithm] | Sequence[str]", before: str, after: str = ""
) -> str:
    """Return a text that lists known names similar to an unknown one; "" where no name is similar."""
    if not isinstance(name, str) or not name:
        return ""
    near = [each for each in known if name.rpartition(".")[2] in each] or get_close_matches(
        name, known, 3, 0.6
    )
    return f"{before}{', '.join(near[:5])}{after}" if near else ""


def algorithm(name: "str | Algorithm") -> "Algorithm":
    """Return the Algorithm of a name; a record is returned as it is.

    Its `hyper` maps the name of each hyper-parameter to its meaning, default and range. Raises
    InvalidInput for an unknown name, with names that are similar.

    >>> import fedtheory as ft
    >>> ft.algorithm("fedavg").hyper["K"].meaning
    'local steps of a client'
    """
    from fedtheory.algorithm import Algorithm

    if isinstance(name, Algorithm):
        return name
    if isinstance(name, str) and name in _ADOPTED:
        return _ADOPTED[name]
    if isinstance(name, str) and name.isidentifier() and name in _record_files("algorithms"):
        module = importlib.import_module(f"fedtheory.algorithms.{name}")  # imports this module only
        if getattr(module, "ALGORITHM", None) is not None and module.ALGORITHM.name == name:
            return module.ALGORITHM
    found = algorithms()
    if not isinstance(name, str) or name not in found:
        raise InvalidInput(
            f"algorithm must be one of {', '.join(found)}; got {show(name)}"
            + suggest_names(name, found, ". Did you mean ", "?")
        )
    return found[name]


def problem_makers() -> dict[str, Callable[..., Any]]:
    """Return the mapping name -> function that builds a problem, over every file of problems/ and
    all makers of users."""
    from fedtheory import problems

    return {**problems.all_makers(), **{maker.__name__: maker for maker in plugins.list_makers()}}


def examples() -> "Iterator[tuple[str, Problem]]":
    """Yield (name, problem) for every small problem that the files offer to the contract tests."""
    from fedtheory import problems

    for name, module in problems.all_modules().items():
        for label, problem in getattr(module, "examples", dict)().items():
            yield f"{name}.{label}", problem


def papers() -> "dict[str, Paper]":
    """Return the mapping id -> Paper over every file of papers/ and all papers of users."""
    own = {paper.id: paper for _, paper in plugins.list_records("PAPER")}
    return {**own, **_shipped_papers()}


@cache
def _shipped_papers() -> "dict[str, Paper]":
    """Return the mapping id -> Paper over every file of papers/."""
    found = [
        importlib.import_module(f"fedtheory.papers.{name}").PAPER
        for name in _record_files("papers")
    ]
    return {paper.id: paper for paper in found}


def own_claims() -> "tuple[Claim, ...]":
    """Return the claims of users; an id that occurs twice is refused."""
    from fedtheory.language.claim import Claim

    found = [record for _, record in plugins.list_records("CLAIM")]
    for record in found:
        if not isinstance(record, Claim):
            refuse("CLAIM", "must be a fedtheory Claim", record)
        if sum(record.id == other.id for other in found) > 1 or _is_shipped(record.id):
            raise InvalidInput(f"two claims share an id: {record.id}")
    for record in found:  # forget the claim of an earlier reading
        _KEPT.pop(record.id, None)
    return tuple(map(_keep_claim, found))


def _is_shipped(name: str) -> bool:
    """Tell whether a claim of this library has an id: words separated by dots, the first of them a
    paper's. For any other id no claim file is read."""
    words = name.split(".")
    if not all(map(str.isidentifier, words)):
        return False
    return (
        words[0] in {*_record_files("claims"), *_record_files("papers")}
        and _find_shipped(name) is not None
    )


def find_recorded(name: str) -> "Claim | None":
    """Return the claim that is recorded under an id, in this library or in a user's file; None
    where there is none."""
    own = next((record for record in own_claims() if record.id == name), None)
    return own or (claim(name) if _is_shipped(name) else None)


def lookalike(name: str) -> str | None:
    """Return the id of a recorded claim for which a name can be mistaken; None where there is none.
    The two differ in case, punctuation, blanks or letters that look alike."""
    base, bone = name.partition("!")[0], names.name_skeleton(name.partition("!")[0])
    near = any(bone.startswith(names.name_skeleton(paper)) for paper in _record_files("claims"))
    known = [*own_claims(), *(shipped_claims() if near else ())]
    found = next((record.id for record in known if names.name_skeleton(record.id) == bone), None)
    return None if found == base else found


def claims() -> "tuple[Claim, ...]":
    """Return every Claim under claims/, in the order of papers and files, then the claims of users."""
    return (*shipped_claims(), *own_claims())


@cache
def shipped_claims() -> "tuple[Claim, ...]":
    """Return every Claim under claims/, in the order of papers and files."""
    import fedtheory.claims as room

    found: list[Claim] = []
    for _, name, package in pkgutil.walk_packages(room.__path__, "fedtheory.claims."):
        if not package and not name.rpartition(".")[2].startswith("_"):
            module = importlib.import_module(name)
            found += getattr(module, "CLAIMS", ()) or [module.CLAIM]
    twice = {claim.id for claim in found if sum(claim.id == other.id for other in found) > 1}
    if twice:
        raise InvalidInput(f"two claims share an id: {', '.join(sorted(twice))}")
    return tuple(map(_keep_claim, found))


def _find_shipped(name: str) -> "Claim | None":
    """Return the claim of this library that has an id, or None. Files of the id's paper are
    imported one by one, first the files that contain the id, then the remaining files if needed."""
    paper = name.partition(".")[0] if isinstance(name, str) else None
    if paper in _record_files("claims"):
        files = sorted(Path(__file__).parent.joinpath("claims", paper).glob("[!_]*.py"))
        quoted = f'"{name}"'
        for file in sorted(files, key=lambda file: quoted not in file.read_text("utf-8")):
            module = importlib.import_module(f"fedtheory.claims.{paper}.{file.stem}")
            for record in getattr(module, "CLAIMS", ()) or [module.CLAIM]:
                if record.id == name:
                    return _keep_claim(record)
    return next((record for record in shipped_claims() if record.id == name), None)


_KEPT: dict = {}  # id -> Claim, for the recorded claims that were read so far


def _keep_claim(record: "Claim") -> "Claim":
    """Return the one record of a claim's id: the first that was read, which pickles by its id."""
    if not _KEPT:
        copyreg.pickle(type(record), _reduce_claim)
    return _KEPT.setdefault(record.id, record)


def _reduce_claim(record: Any) -> Any:
    """Pickle a recorded claim by its id, and any other claim by its fields."""
    return (claim, (record.id,)) if _KEPT.get(record.id) is record else record.__reduce_ex__(4)


def claim(name: "str | Claim") -> "Claim":
    """Return the Claim of an id, such as "fsl.theorem1"; a record is returned as it is.

    Claims of users' own files count as well (`fedtheory --with FILE.py`). Raises InvalidInput for
    an unknown id, with ids that are similar.

    >>> import fedtheory as ft
    >>> ft.claim("fsl.theorem1").kind
    'exact'
    """
    from fedtheory.language.claim import Claim

    if isinstance(name, Claim):
        return name
    if not isinstance(name, str):
        refuse("claim", "must be an id of `fedtheory list claims`, or a Claim", name)
    if (
        isinstance(name, str)
        and len(name) <= 200
        and all(part.isidentifier() for part in name.split("."))
    ):
        path = Path(__file__).parent.joinpath("claims", *name.split(".")).with_suffix(".py")
        if path.is_file():  # the claim has a file of its own: other files stay unread
            record = getattr(importlib.import_module(f"fedtheory.claims.{name}"), "CLAIM", None)
            if record is not None and record.id == name:
                return _keep_claim(record)
    for record in own_claims():
        if record.id == name:
            return record
    record = _find_shipped(name)
    if record is not None:
        return record
    such_as = suggest_names(name, [record.id for record in claims()], ", such as ")
    raise InvalidInput(f"claim must be an id of `fedtheory list claims`{such_as}; got {show(name)}")
