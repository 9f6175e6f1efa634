"""The reviewer's package around a ledger: certificates, figures, environment, checksums, and one
HTML page that shows them.

Nothing in a package is run, imported or unpickled. Its files are read as text and JSON, hashed, and
derived anew.

A package is a folder: ledger.json, a document for each certificate, figures with their data, a
page, the files of `package_archive`, and SHA256SUMS last. A package may come from anybody; whoever
replays it trusts no file, no name and no size in it.
"""

import base64
import hashlib
import html
import json
import os
import re
import stat
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from jinja2.environment import Template
from markupsafe import Markup

from fedtheory.app import ledger, math_in_text, package_archive, page_parts
from fedtheory.errors import InvalidInput, refuse
from fedtheory.store import outputs
from fedtheory.verdicts.status import MEANINGS

CHECKERS = "checkers.json"  # the checkers that accept each certificate, where two checkers ran
SUMS, RESULTS = (
    "SHA256SUMS",
    ".results",
)  # RESULTS is the campaign's own store, not part of the package
# in RESULTS: the log of files written to the package, and files of others found in their places
WRITTEN, ASIDE = f"{RESULTS}/written", f"{RESULTS}/aside"
LARGEST, MOST = 2**28, 5000  # limits of a package: bytes in all, and files
SCRIPTS = ("package_explorer.js", "package_page.js")
FONT = "package_math.woff2"  # the font of formulas, made by tests/app/subset_font.py
DRAWERS = (
    "matplotlib",
    "jinja2",
    "latex2mathml",
)  # they affect no verdict, but the bytes of pictures and the page


# ---------------------------------------------------------------- the page


class Tags:
    """The elements and attributes that a typeset formula may contain."""

    elements = set(
        """math mrow mi mn mo mtext mspace msup msub msubsup mfrac msqrt mroot mover munder munderover
        mtable mtr mtd mstyle mpadded mphantom menclose semantics""".split()
    )
    attributes = set(
        """stretchy fence form separator display displaystyle scriptlevel mathvariant width height
        depth lspace rspace linethickness columnalign rowspacing columnspacing accent accentunder
        minsize maxsize movablelimits notation""".split()
    )


@cache
def typeset_mathml(latex: str, display: bool = False) -> Markup:
    """Return LaTeX as MathML, as a displayed formula if `display` is true. LaTeX that cannot be
    converted to the allowed elements is returned as escaped source text.

    Attributes outside Tags are dropped, too: a formula of a foreign ledger must not bring a script into the page.
    """
    from markupsafe import Markup, escape

    try:
        from latex2mathml.converter import convert_to_element

        tree = convert_to_element(latex)
        for node in tree.iter():
            if node.tag not in Tags.elements:
                raise ValueError(node.tag)
            node.text = html.unescape(node.text) if node.text else node.text
            for name in set(node.attrib) - Tags.attributes:
                del node.attrib[name]
        drop_single_rows(tree)
        tree.attrib.pop("display", None)
        if display:
            tree.set("display", "block")
        return Markup(ElementTree.tostring(tree, encoding="unicode"))
    except Exception:  # the converter is optional, and may raise any exception
        return Markup("<code>%s</code>") % escape(latex)


def drop_single_rows(node: Element) -> None:
    """Replace rows of one element by the element: such rows have no effect, and are half of a
    formula's length."""
    for child in list(node):
        drop_single_rows(child)
    for at, child in enumerate(list(node)):
        if child.tag == "mrow" and len(child) == 1 and not child.attrib:
            node[at] = child[0]


def bar_width(tightness: float | str | None) -> float | None:
    """Return the width of the bar for a ratio: 80 for the ratio 1, at most 100."""
    if tightness is None:
        return None
    ratio = float(tightness)
    return round(min(100.0, max(0.0, 80 * ratio)), 1) if ratio == ratio else None


@cache
def _load_template() -> Template:
    """Return the page's template, with all text escaped unless a filter returns markup."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    room = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    room.filters.update(
        typeset=typeset_mathml,
        bar=bar_width,
        ratio=ratio_text,
        shown=render_data,
        breakable=page_parts.breakable_id,
        graph=page_parts.proof_picture,
        prose=lambda text, symbols, words=True: math_in_text.typeset_sentence(
            text, symbols, typeset_mathml, words
        ),
        captioned=lambda text: page_parts.render_caption(text, typeset_mathml),
    )
    return room.get_template("package_page.html")


def ratio_text(tightness: float | str | None) -> str:
    """Return a ratio with six digits, "" for None."""
    return "" if tightness is None else f"{float(tightness):.6g}"


def render_data(data: Mapping[str, str | dict[str, Any]], most: int = 4000) -> str:
    """Return plain data as text for a reader, cut off after `most` characters."""
    text = ledger.json_text(data).decode().strip()
    return text if len(text) <= most else text[:most] + "\n... (the rest is in ledger.json)"


def certificate_documents(files: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return {name: document} of the certificates among a package's files {name: bytes}."""
    names = [name for name in files if name.startswith("certificates/")]
    return {name: ledger.parse_json(files[name], name) for name in names}


def counterexample_story(
    document: dict[str, Any] | None,
) -> tuple[Markup | list[tuple[int, str]], ...] | None:
    """Return (picture, [(indentation, words) of each line]) of a certificate that is a
    counterexample, and None for any other certificate.

    A malformed document of a foreign package gives None here; its replay reports the fault.
    """
    from markupsafe import Markup

    from fedtheory.rendering.picture import draw_counterexample
    from fedtheory.rendering.words import describe_counterexample

    try:
        lines = [line for line in describe_counterexample(document) if line.strip()]
        words = [(len(line) - len(line.lstrip()), line.strip()) for line in lines]
        return (Markup(draw_counterexample(document)), words) if words else None
    except Exception:  # a package from elsewhere may hold a malformed document: its replay says so
        return None


def render_page(
    book: Mapping[str, Any],
    pictures: Mapping[str, bytes | page_parts.Picture] | None = None,
    checkers: Mapping[str, str | dict[str, dict[str, Any]]] | None = None,
    documents: Mapping[str, dict[str, Any]] | None = None,
    sliders: Mapping[str, Any] | None = None,
) -> bytes:
    """Render the page of a ledger, with pictures {name: SVG bytes}, the answers of `checkers` about
    the certificates (if given), and the contents of `documents` {file: data}; `sliders` maps some
    ids to the results of `slider_json`.

    The page admits its own script only, by the script's hash. Rows of symbols are shared between
    claims, which makes a page of many claims much smaller.
    """
    from markupsafe import Markup

    script = "".join(Path(__file__).with_name(name).read_text() for name in SCRIPTS)
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    drawn = {
        name: one if isinstance(one, page_parts.Picture) else page_parts.Picture(one, name)
        for name, one in (pictures or {}).items()
    }
    made = sliders or {}
    keep: dict = {}  # rows of symbols, each made once for all claims that use the symbol
    row = lambda symbol: keep.setdefault(
        tuple(symbol[k] for k in ("latex", "name", "meaning")), len(keep)
    )
    listing = lambda what: list(dict.fromkeys(what(entry) for entry in book["claims"]))
    rendered = _load_template().render(
        book=book,
        words=MEANINGS,
        drawn=drawn,
        script=Markup(script),
        font=base64.b64encode(Path(__file__).with_name(FONT).read_bytes()).decode(),
        seal=seal,
        papers=listing(lambda e: e["paper"]),
        kinds=listing(lambda e: e["kind"]),
        rows=page_parts.overview_rows(book),
        findings=page_parts.FINDINGS,
        about=page_parts.entry_section,
        symbols={e["id"]: [row(s) for s in e["symbols"]] for e in book["claims"]},
        legend=keep,
        explored=lambda name: made[name] if name in made else slider_json(name),
        checkers=checkers or dict(rocq="", certificates={}),
        story=lambda file: counterexample_story((documents or {}).get(file)),
    )
    return page_parts.pack_page(rendered).encode()


@cache
def slider_json(name: str) -> str | None:
    """Return a recorded claim's bound as JSON for sliders, which start at the numbers of the runs
    shown beside the bound. Return None for any other claim."""
    from fedtheory import discover
    from fedtheory.app.slider_runs import runs_beside_bound
    from fedtheory.verdicts import slider_data

    claim = discover.find_recorded(name) if re.fullmatch(r"[\w.]{1,100}", name) else None
    data = None if claim is None else slider_data.slider_data(claim)
    runs = None if data is None else runs_beside_bound(claim, data["start"])
    if runs is not None:
        data["beside"] = runs
        data["start"].update(runs["numbers"], **{runs["over"]: str(runs["T"][-1])})
    return None if data is None else json.dumps(data, separators=(",", ":"))


def drawing_versions() -> dict[str, str]:
    """Return the versions of the drawing libraries, with None for a library that is not installed."""
    found = {}
    for name in DRAWERS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    return found


# ---------------------------------------------------------------- building a package


def build_package(
    folder: Path,
    book: Mapping[str, Any],
    certificates: Mapping[str, dict[str, Any]],
    more: Mapping[str, dict[str, Any]],
    figures: Mapping[str, bytes] | None = None,
    checkers: Mapping[str, str | dict[str, dict[str, Any]]] | None = None,
    sliders: Mapping[str, Any] | None = None,
    derived: Mapping[str, list[Any]] | None = None,
) -> list[Any]:
    """Write the package, and return sentences that say where foreign files were moved. `more` is
    {file: data}, `figures` {name: bytes}, `checkers` the checkers' answers about the certificates,
    `sliders` results of `slider_json`, and `derived` maps hashes of certificates to derivations,
    where known. Unchanged files of an earlier package that do not belong to the new package are
    removed; a file that no command wrote is moved aside if its place is needed.

    SHA256SUMS is removed first and written last: an interrupted command leaves no folder that looks
    complete.
    """
    refuse_links(folder)
    place = outputs.Folder(folder, log=WRITTEN)
    before = {name for _, name in place.entries()}
    aside = place.put_aside([SUMS], ASIDE)
    place.remove([SUMS])  # without SHA256SUMS an incomplete folder is not a package
    place.sweep(RESULTS)
    files = {
        "ledger.json": ledger.json_text(book),
        **{name: ledger.json_text(data) for name, data in more.items()},
        **{name: ledger.json_text(document) for name, document in certificates.items()},
        **{f"figures/{name}": content for name, content in (figures or {}).items()},
    }
    if checkers is not None:
        files[CHECKERS] = ledger.json_text(checkers)
    files |= package_archive.files_beside_ledger(
        book, certificates, more.get("timings.json", {}), figures, derived
    )
    files["index.html"] = render_page(book, pictures(files), checkers, certificates, sliders)
    files[package_archive.CRATE] = package_archive.describe_crate(
        book, files, package_archive.crate_date()
    )
    aside += place.write_over(files, before - {*files, SUMS}, ASIDE)
    place.write({SUMS: checksum_listing(files)})
    return aside


def refuse_links(folder: Path) -> None:
    """Refuse a folder that contains a link: writing to a linked file, or removing the file, would
    act outside the folder."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_symlink():
            refuse("the package's folder", "must contain no links", str(path))


def checksum_listing(files: Mapping[str, bytes]) -> bytes:
    """Return the checksums of files {name: bytes}, in the format that `sha256sum -c` reads."""
    return "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n"
        for name, content in sorted(files.items())
        if name != SUMS
    ).encode()


def figure_files(folder: Path) -> dict[str, bytes]:
    """Return {name: bytes} of the files that figures made in a folder. Files that the folder's
    index does not name are left out."""
    files, _ = folder_contents(folder)
    try:
        index = ledger.parse_json(files.get("figures.json", b"[]"), "figures.json")
        made = [(str(entry["figure"]), str(entry["scale"])) for entry in index]
    except (InvalidInput, KeyError, TypeError):
        return {}
    mine = lambda name: (
        name in ("figures.json", "findings.json")
        or any(
            name.startswith(f"{figure}.")
            or name == f"data/{figure}.drawn.json"
            or name.startswith(f"data/{figure}-{scale}-")
            and name.endswith(".npz")
            for figure, scale in made
        )
    )
    return {name: content for name, content in files.items() if mine(name)}


pictures, unpacked = page_parts.figure_pictures, page_parts.unpack_page


# ---------------------------------------------------------------- reading a package


def folder_contents(folder: Path) -> tuple[dict[str, bytes], list[str]]:
    """Return ({name: bytes} of the plain files in a folder, sentences about other entries and files
    that are too large).

    Every file is read here, once, so that later checks judge the bytes that were hashed. Links are
    not followed.
    """
    files, found, left = {}, [], LARGEST
    unlisted = lambda error: found.append(
        f"{os.path.relpath(error.filename, folder)}: it cannot be listed"
    )
    for place, folders, names in os.walk(folder, onerror=unlisted):
        inside = lambda name: (Path(place) / name).relative_to(folder).as_posix()
        links = {name for name in folders if (Path(place) / name).is_symlink()}
        found += [f"{inside(name)}: it is no plain file" for name in sorted(links)]
        folders[:] = sorted(
            name for name in folders if name not in links and inside(name) != RESULTS
        )
        if not folders and not names and Path(place) != folder:
            found.append(f"{inside('')}: it is an empty folder")
        for name in map(inside, sorted(names)):
            if len(files) >= MOST:
                return files, [*found, f"{name}: there are more than {MOST} files"]
            content = _read_plain(folder / name, left)
            if isinstance(content, str):
                found.append(f"{name}: {content}")
            else:
                files[name], left = content, left - len(content)
    return files, found


def _read_plain(path: Path, most: int) -> bytes | str:
    """Return the bytes of a plain file, or a sentence fragment that says why the file is not read.

    The file is opened without following a link and without blocking, so that neither a link nor a
    pipe in a foreign folder can be read.
    """
    try:
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        )
    except OSError:
        return "it is no plain file that can be read"
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(handle)
        if not stat.S_ISREG(state.st_mode):
            return "it is no plain file that can be read"
        content = file.read(most + 1) if state.st_size <= most else b""
        fits = state.st_size <= most and len(content) <= most
        return content if fits else f"with it there are more than {LARGEST} bytes"


def read_checksums(content: bytes) -> dict[str, str]:
    """Parse a listing of checksums into {name: SHA-256}.

    A name with an empty part, ".", ".." or a backslash is refused, since such a name could leave
    the package's folder.
    """
    found = {}
    for line in content.decode(errors="replace").splitlines():
        hashed, _, name = line.partition("  ")
        parts = name.split("/")
        if (
            not re.fullmatch("[0-9a-f]{64}", hashed)
            or not name
            or "\\" in name
            or any(part in ("", ".", "..") for part in parts)
            or name in found
        ):
            refuse(
                SUMS,
                "must list each file once, as its SHA-256 and its name inside the package",
                line,
            )
        found[name] = hashed
    return found


def unlike_sums(files: Mapping[str, bytes]) -> list[str]:
    """Return sentences about the files that were changed, added or removed since their checksums
    were written."""
    if SUMS not in files:
        return [f"{SUMS}: it is missing"]
    try:
        listed = read_checksums(files[SUMS])
    except InvalidInput as error:
        return [str(error)]
    found = []
    for name, content in sorted(files.items()):
        if name != SUMS and name not in listed:
            found.append(f"{name}: it is not in {SUMS}")
        elif name != SUMS and hashlib.sha256(content).hexdigest() != listed[name]:
            found.append(f"{name}: its content is not that of {SUMS}")
    found += [f"{name}: it is missing" for name in sorted(set(listed) - set(files))]
    return found or (
        []
        if files[SUMS] == checksum_listing(files)
        else [f"{SUMS}: it is not written as checksums are here"]
    )


def open_ledger(content: bytes) -> dict[str, Any]:
    """Parse a ledger from its bytes, and check the outermost structure.

    The budget, seed, requested prefixes and ids are checked here; the fields of each verdict are
    checked when the verdict is replayed.
    """
    book = ledger.parse_json(content, "ledger.json")
    if not isinstance(book, dict) or book.get("format") != ledger.FORMAT:
        refuse(
            "ledger.json",
            f"must be a {ledger.FORMAT}",
            book.get("format") if isinstance(book, dict) else book,
        )
    budget, seed, asked, entries = (
        book.get(name) for name in ("budget", "seed", "asked", "claims")
    )
    if (
        not isinstance(budget, float)
        or not 0 < budget < 1e6
        or type(seed) is not int
        or not 0 <= seed < 2**63
    ):
        refuse("ledger.json", "must have a positive budget and a seed >= 0", (budget, seed))
    if (
        not isinstance(asked, list)
        or not all(isinstance(prefix, str) and prefix for prefix in asked)
        or asked != sorted(set(asked))
    ):
        refuse("ledger.json", "must list the requested prefixes of ids, in order", asked)
    if (
        not isinstance(entries, list)
        or not all(
            isinstance(entry, dict)
            and isinstance(entry.get("id"), str)
            and isinstance(entry.get("verdict"), dict)
            for entry in entries
        )
        or len({entry["id"] for entry in entries}) != len(entries)
    ):
        refuse(
            "ledger.json",
            "must list claims, each once and with its verdict",
            type(entries).__name__,
        )
    return book
