"""The reviewer's package around a ledger: certificates, figures, environment, checksums, and one page to read it on.

Nothing in a package is run, imported or unpickled: what it says is read as text and JSON, hashed, and derived anew.
"""

import base64
import hashlib
import html
import re
from functools import cache, lru_cache
from pathlib import Path
from xml.etree import ElementTree

from fedtheory import ledger
from fedtheory.errors import FedtheoryError, InvalidInput, refuse

SUMS, RESULTS = "SHA256SUMS", ".results"    # RESULTS is the campaign's own store, no part of the package
WORDS = {
    "proved": "It follows from its hypotheses, with a document that a short independent program accepts.",
    "holds": "No counterexample was found in a search inside its hypotheses; this is evidence, not a proof.",
    "violated": "It is false as stated: an exact instance inside its hypotheses breaks it.",
    "vacuous": "Its hypotheses contradict each other, so that it says nothing.",
    "undecided": "Nothing was decided; the reason stands with it.",
}
LARGEST = 2**28    # bytes of a file that is read whole


# ---------------------------------------------------------------- the page

class Tags:
    """What a typeset formula may hold."""

    elements = {"math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt",
                "mroot", "mover", "munder", "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom",
                "menclose", "semantics"}
    attributes = {"stretchy", "fence", "form", "separator", "display", "displaystyle", "scriptlevel", "mathvariant",
                  "width", "height", "depth", "lspace", "rspace", "linethickness", "columnalign", "rowspacing",
                  "columnspacing", "accent", "accentunder", "minsize", "maxsize", "movablelimits", "notation"}


@lru_cache(maxsize=None)
def typeset(latex):
    """LaTeX as MathML; as it is, where it cannot be converted to harmless elements alone."""
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
        return Markup(ElementTree.tostring(tree, encoding="unicode"))
    except Exception:    # the converter is optional, and raises whatever it likes
        return Markup("<code>%s</code>") % escape(latex)


def bar(tightness):
    """How far a bar of width 100 reaches: the ratio 1 is at 80."""
    if tightness is None:
        return None
    ratio = float(tightness)
    return round(min(100.0, max(0.0, 80 * ratio)), 1) if ratio == ratio else None


@cache
def _template():
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    room = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True)
    room.filters.update(typeset=typeset, bar=bar, ratio=ratio, shown=shown)
    return room.get_template("package_page.html")


def ratio(tightness):
    return "" if tightness is None else f"{float(tightness):.6g}"


def shown(data, most=4000):
    """Plain data for reading."""
    text = ledger.text(data).decode().strip()
    return text if len(text) <= most else text[:most] + "\n... (the rest is in ledger.json)"


def page(book, pictures=None):
    """The page of a ledger, with pictures {name: SVG bytes} in it."""
    from markupsafe import Markup
    script = Path(__file__).with_name("package_page.js").read_text()
    seal = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    drawn = {name: "data:image/svg+xml;base64," + base64.b64encode(content).decode()
             for name, content in (pictures or {}).items()}
    listing = lambda what: list(dict.fromkeys(what(entry) for entry in book["claims"]))
    return _template().render(
        book=book, words=WORDS, drawn=drawn, script=Markup(script), seal=seal,
        papers=listing(lambda e: e["paper"]), kinds=listing(lambda e: e["kind"])).encode()


# ---------------------------------------------------------------- making one

def build(folder, book, certificates, more, figures=None):
    """Write the package; `more` is {file: data}, `figures` a folder that is copied. Files of an earlier one that
    are no part of it go."""
    before = set(sums(folder)) if (folder / SUMS).is_file() else set()
    (folder / SUMS).unlink(missing_ok=True)    # until all of it is there, it is no package
    files = {"ledger.json": ledger.text(book), **{name: ledger.text(data) for name, data in more.items()},
             **{name: ledger.text(document) for name, document in certificates.items()}}
    if figures is not None:
        files.update({f"figures/{name}": path.read_bytes() for name, path in plain_files(figures).items()})
    files["index.html"] = page(book, _pictures(files))
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.is_symlink() or path.read_bytes() != content:
            ledger.write(path, content)
    for name in before - set(files):
        (folder / name).unlink(missing_ok=True)
    lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(files.items())]
    ledger.write(folder / SUMS, "".join(lines).encode())


def _pictures(files):
    return {Path(name).stem: content for name, content in sorted(files.items())
            if name.startswith("figures/") and name.endswith(".svg") and name.count("/") == 1}


def plain_files(folder):
    """name -> path of every file below a folder; hidden ones, links and what is no file are left out."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(Path(folder).rglob("*"))
             if path.is_file() and not path.is_symlink()}
    return {name: path for name, path in found.items() if not any(part.startswith(".") for part in name.split("/"))}


# ---------------------------------------------------------------- checking one

def sums(folder):
    """name -> SHA-256, as its checksums have it."""
    found = {}
    for line in (folder / SUMS).read_bytes()[:LARGEST].decode(errors="replace").splitlines():
        content, _, name = line.partition("  ")
        parts = name.split("/")
        if not re.fullmatch("[0-9a-f]{64}", content) or not name or "\\" in name \
                or any(part in ("", ".", "..") for part in parts) or name in found:
            refuse(SUMS, "must list each file once, as its SHA-256 and its name inside the package", line)
        found[name] = content
    return found


def unlike_sums(folder):
    """Sentences: files that were changed, added or taken away."""
    try:
        listed = sums(folder)
    except (OSError, InvalidInput) as error:
        return [f"{SUMS}: {error}"]
    found, there = [], set()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name == SUMS or name.split("/")[0] == RESULTS or path.is_dir() and not path.is_symlink():
            continue
        there.add(name)
        if name not in listed:
            found.append(f"{name}: it is not in {SUMS}")
        elif path.is_symlink() or not path.is_file():
            found.append(f"{name}: it is no plain file")
        elif _hash(path) != listed[name]:
            found.append(f"{name}: its content is not that of {SUMS}")
    return found + [f"{name}: it is missing" for name in sorted(set(listed) - there)]


def _hash(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def opened(folder):
    """The ledger of a package, its shape checked."""
    book = ledger.read(folder / "ledger.json")
    if not isinstance(book, dict) or book.get("format") != ledger.FORMAT:
        refuse("ledger.json", f"must be a {ledger.FORMAT}", book.get("format") if isinstance(book, dict) else book)
    budget, seed = book.get("budget"), book.get("seed")
    if not isinstance(budget, float) or not 0 < budget < 1e9 or type(seed) is not int or seed < 0:
        refuse("ledger.json", "must have a positive budget and a seed >= 0", (budget, seed))
    entries = book.get("claims")
    good = isinstance(entries, list) and all(
        isinstance(entry, dict) and isinstance(entry.get("id"), str) and isinstance(entry.get("verdict"), dict)
        and entry["verdict"].get("status") in ledger.STATUSES and isinstance(entry["verdict"].get("lines"), list)
        and all(isinstance(line, dict) for line in entry["verdict"]["lines"]) for entry in entries)
    if not good or len({entry["id"] for entry in entries}) != len(entries):
        refuse("ledger.json", "must list claims, each once and with its verdict", type(entries).__name__)
    return book


def documents(book):
    """(claim, status, file) of every certificate that a ledger names; file is None where one is owed and absent."""
    for entry in book["claims"]:
        parts = [entry["verdict"], *entry["verdict"]["lines"]]
        for n, part in enumerate(parts):
            file = part.get("certificate")
            owed = part.get("status") in ("proved", "violated") and n == 0
            if file is not None or owed:
                yield entry["id"], part.get("status"), file


def replayed(folder, book, progress=None):
    """Sentences: certificates that do not show, derived anew, what the ledger says of them."""
    from fedtheory.checks.checking import replay
    found, seen = [], set()
    wanted = list(dict.fromkeys(documents(book)))
    for done, (claim, status, file) in enumerate(wanted, 1):
        if progress:
            progress(done, len(wanted), file)
        if not isinstance(file, str) or not re.fullmatch(r"certificates/[A-Za-z0-9][\w.-]*\.json", file, re.ASCII):
            found.append(f"{claim}: it is {status} without a certificate in certificates/")
            continue
        seen.add(file)
        try:
            document = ledger.read(folder / file)
            shown = replay(document)
        except FedtheoryError as error:
            found.append(f"{file}: {error}")
            continue
        except Exception as error:    # whatever a malformed document leads to, it shows nothing
            found.append(f"{file}: it does not replay, {type(error).__name__}: {error}")
            continue
        if shown.get("status") != status:
            found.append(f"{file}: it shows {shown.get('status')}, where the ledger has {status}")
        elif document.get("claim", claim) != claim:
            found.append(f"{file}: it speaks of {document.get('claim')}, where the ledger has {claim}")
    extra = {f"certificates/{path.name}" for path in (folder / "certificates").glob("*")} - seen
    return found + [f"{file}: no claim of the ledger names it" for file in sorted(extra)]
