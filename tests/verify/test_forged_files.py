"""`--replay`: files, figures and links of a package that a forger changed are named, though all
checksums fit."""

import io
import json
import shutil
import zipfile

import numpy as np
import pytest

from fedtheory import discover
from fedtheory.app import ledger, package
from fedtheory.figures import _making as making
from fedtheory.store import outputs
from fedtheory.verify import rederive_package
from fedtheory.verify.__main__ import main
from tests.verify.forging import (
    SOME,
    begins,
    copied,
    edit,
    exchange,
    found,
    put,
    replaced,
    rewrite,
    sign,
)

# Forged files

C1, C2 = "certificates/lamb.lemma1.json", "certificates/lamb.lemma2.json"
FILES = {
    "certificates change places": (
        lambda f: exchange(f, C1, C2),
        "lamb.lemma1: its verdict, violated",
    ),
    "a certificate's numbers": (
        lambda f: rewrite(f, C1, lambda d: d.update(numbers={})),
        "lamb.lemma1: its verdict",
    ),
    "a certificate is taken away": (
        lambda f: (f / C1).unlink(),
        "lamb.lemma1: its verdict, violated",
    ),
    "a certificate of another claim": (
        lambda f: shutil.copy(f / C2, f / C1),
        "lamb.lemma1: its verdict, violated",
    ),
    "a certificate written otherwise": (
        lambda f: (f / C1).write_text(json.dumps(json.loads((f / C1).read_bytes()))),
        f"{C1}: it is not written as certificates are here",
    ),
    "the order of names in a certificate": (
        lambda f: rewrite(
            f, C1, lambda d: d.update(statement=dict(reversed(d["statement"].items())))
        ),
        "lamb.lemma1: its verdict, violated: its certificate is written",
    ),
    "words in a proof": (
        lambda f: rewrite(
            f, "certificates/fsl.lemma2.line1.json", lambda d: d["sources"].reverse()
        ),
        "fsl.lemma2: its verdict, line 1, proved: its proof speaks of another statement",
    ),
    "no JSON": (lambda f: put(f, C1, b"\x80\x04."), "lamb.lemma1: its verdict"),
    "one certificate more": (
        lambda f: shutil.copy(f / C1, f / "certificates/fsl.mine.json"),
        "certificates/fsl.mine.json: it is no part of this package",
    ),
    "a program": (
        lambda f: put(f, "setup.py", b"raise SystemExit"),
        "setup.py: it is no part of this package",
    ),
    "a picture": (
        lambda f: put(f, "figures/theory_fsl.svg", b"<svg/>"),
        "figures/theory_fsl.svg: no figure here",
    ),
    "the page": (
        lambda f: replaced(f, "index.html", b"violated", b"proved"),
        "index.html: it is not the page",
    ),
    "a script in the page": (
        lambda f: replaced(f, "index.html", b"</body>", b"<script>1</script></body>"),
        "index.html",
    ),
    "the page is taken away": (lambda f: (f / "index.html").unlink(), "index.html: it is"),
    "a source": (
        lambda f: rewrite(f, "sources.json", lambda d: d.update({"jit.py": "0" * 64})),
        "sources.json: it is",
    ),
    "sources written otherwise": (
        lambda f: replaced(f, "sources.json", b"{\n", b"{ \n"),
        "sources.json: it is not wr",
    ),
    "another python": (
        lambda f: rewrite(f, "environment.json", lambda d: d.update(numpy="9")),
        "environment.json",
    ),
    "words in the environment": (
        lambda f: rewrite(f, "environment.json", lambda d: d.update(by="me")),
        "environment",
    ),
    "a time that is none": (
        lambda f: rewrite(f, "timings.json", lambda d: d["lamb.lemma1"].update(seconds=-1)),
        "timings.json",
    ),
    "times of other claims": (
        lambda f: rewrite(f, "timings.json", lambda d: d.pop("lamb.lemma1")),
        "timings.json",
    ),
    "timings are taken away": (lambda f: (f / "timings.json").unlink(), "timings.json"),
    "the ledger written otherwise": (
        lambda f: replaced(f, "ledger.json", b"{\n", b"{ \n"),
        "ledger.json: it holds more",
    ),
    "no ledger": (lambda f: put(f, "ledger.json", b"[]"), "ledger.json: "),
    "a ledger that nests": (lambda f: put(f, "ledger.json", b"[" * 10**6), "ledger.json: "),
    "a number beyond numbers": (
        lambda f: replaced(f, "ledger.json", b'"budget": 0.02', b'"budget": 1e999'),
        "ledger.json: ",
    ),
    "half a character": (
        lambda f: replaced(f, "ledger.json", b"It follows", rb"\ud800"),
        "ledger.json: ",
    ),
    "what draws": (
        lambda f: rewrite(f, "environment.json", lambda d: d.update(matplotlib="1.5")),
        "matplotlib: the package was drawn with 1.5",
    ),
    "a ledger without end": (
        lambda f: put(f, "ledger.json", b" " * (ledger.LARGEST + 1)),
        "ledger.json: ",
    ),
}


@pytest.mark.parametrize("change, named", FILES.values(), ids=FILES.keys())
def test_files_that_a_forger_changed_and_signed_are_named(copy, change, named):
    change(copy)
    sign(copy)
    begins(found(copy), named)


@pytest.mark.parametrize(
    "name, change",
    [
        ("environment.json", lambda data: data.update(cores=10**6)),
        ("timings.json", lambda data: data["lamb.lemma1"].update(seconds=1.25)),
    ],
)
def test_what_nothing_follows_from_is_always_said_to_be_unverified(copy, name, change, capsys):
    rewrite(copy, name, change)
    sign(copy)
    assert main(["--replay", str(copy), "--sample", "0", "--workers", "0"]) == 0
    assert (
        "unverified: files that nothing follows from: environment.json, timings.json"
        in capsys.readouterr().out
    )


# Forged figures

DATA = "figures/data/"


def arrays(folder, change):
    (file,) = (folder / DATA).glob("*.npz")
    with np.load(file) as kept:
        data = {name: kept[name].copy() for name in kept}
    change(data)
    stream = io.BytesIO()
    np.savez_compressed(stream, **dict(sorted(data.items())))
    file.write_bytes(stream.getvalue())


def flip(data):
    name, array = next((n, a) for n, a in data.items() if a.dtype.kind == "b")
    data[name] = ~array


def redrawn(folder):
    """What a forger does who makes all files from false arrays, and a stamp to go with them."""
    arrays(folder, flip)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert making.make_all(["fsl_table2"], "smoke", folder / "figures") == []
    shutil.rmtree(folder / "figures" / outputs.ASIDE)
    for log in (folder / "figures").rglob(outputs.LOG):
        log.unlink()
    pictures = {
        name.removeprefix("figures/"): content
        for name, content in package.folder_contents(folder)[0].items()
        if name.startswith("figures/")
    }
    edit(
        folder,
        lambda of, book: of["fsl.table2"].update(
            finding=rederive_package.build_package.findings(pictures)["fsl.table2"]
        ),
    )


def pixel(folder):
    """One dot of a picture is another."""
    from PIL import Image

    picture = Image.open(folder / "figures/fsl_table2.png")
    picture.putpixel((3, 3), (255, 0, 0, 255))
    picture.save(folder / "figures/fsl_table2.png")


def bomb(folder):
    (file,) = (folder / DATA).glob("*.npz")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("x.npy", "w", force_zip64=True) as stream:
            np.lib.format.write_array_header_1_0(
                stream, dict(descr="|b1", fortran_order=False, shape=(2**28,))
            )
            for _ in range(2**4):
                stream.write(bytes(2**24))


FIGURES = {
    "arrays": (lambda f: arrays(f, flip), "figures/fsl_table2.svg: it is not what its arrays give"),
    "one array more": (
        lambda f: arrays(f, lambda d: d.update(mine=np.ones(3))),
        "figures/data/fsl_table2.drawn.json",
    ),
    "arrays that end early": (lambda f: arrays(f, dict.popitem), DATA),
    "a bomb": (bomb, DATA),
    "a picture": (
        lambda f: replaced(f, "figures/fsl_table2.svg", b"</svg>", b"<g/></svg>"),
        "figures/fsl_table2.svg",
    ),
    "a pixel": (pixel, "figures/fsl_table2.png: it is not what its arrays give"),
    "nothing left of a picture": (
        lambda f: put(f, "figures/fsl_table2.png", b""),
        "figures/fsl_table2.png: it is not",
    ),
    "a second ledger": (
        lambda f: shutil.copy(f / "ledger.json", f / "figures/ledger.json"),
        "figures/ledger.json: no",
    ),
    "a table": (lambda f: put(f, "figures/fsl_table2.csv", b"a,b\n"), "figures/fsl_table2.csv"),
    "a finding": (
        lambda f: replaced(f, "figures/findings.json", b'"reproduced"', b'"not reproduced"'),
        "figures/findings.json",
    ),
    "a picture is taken away": (
        lambda f: (f / "figures/fsl_table2.pdf").unlink(),
        "figures/fsl_table2.pdf: it is mis",
    ),
    "the index": (
        lambda f: rewrite(f, "figures/figures.json", lambda d: d[0].update(title="Proof")),
        "figures/figures",
    ),
    "another scale": (
        lambda f: rewrite(f, "figures/figures.json", lambda d: d[0].update(scale="paper")),
        DATA,
    ),
    "an index of nothing": (
        lambda f: put(f, "figures/figures.json", b"[]"),
        "figures/fsl_table2.svg: no figure here",
    ),
    "no index": (lambda f: put(f, "figures/figures.json", b"{"), "figures/figures.json"),
}


@pytest.mark.parametrize("change, named", FIGURES.values(), ids=FIGURES.keys())
def test_figures_that_a_forger_changed_and_signed_are_named(drawn, tmp_path, change, named):
    folder = copied(drawn, tmp_path)
    change(folder)
    sign(folder)
    begins(found(folder), named)


def test_false_arrays_with_all_that_follows_from_them_are_unverified_or_named(drawn, tmp_path):
    folder = copied(drawn, tmp_path)
    redrawn(folder)
    report = found(folder)
    assert report.differs == [] and report.unverified["figures' arrays (say --figures)"] == [
        "fsl_table2"
    ]
    begins(found(folder, figures=True), DATA)


# What is hostile


@pytest.mark.parametrize(
    "plant",
    [
        lambda copy, other: (
            (copy / "sources.json").unlink() or (copy / "sources.json").symlink_to(other)
        ),
        lambda copy, other: (copy / "figures").symlink_to(other.parent),
        lambda copy, other: (copy / package.RESULTS).symlink_to(other.parent),
        lambda copy, other: __import__("os").mkfifo(copy / "more"),
    ],
)
def test_links_and_pipes_are_named_and_not_followed(copy, tmp_path, plant):
    (copy / "sources.json").rename(tmp_path / "sources.json")
    shutil.copy(tmp_path / "sources.json", copy / "sources.json")
    plant(copy, tmp_path / "sources.json")
    assert any("it is no plain file" in sentence for sentence in found(copy).differs)


def test_a_campaigns_own_folder_is_said_to_be_unverified(copy):
    assert found(copy).unverified["folders beside the package"] == []
    put(copy, f"{package.RESULTS}/proof.html", b"all is proved")
    report = found(copy)
    assert report.differs == [] and report.unverified["folders beside the package"] == [
        package.RESULTS
    ]


def test_nothing_of_a_package_steers_the_terminal(copy, capsys):
    edit(
        copy,
        lambda of, book: book["claims"].append(
            dict(of["fsl.lemma3"], id="\x1b[2Jfsl.\u202emine\r")
        ),
    )
    put(copy, "\x1b[31m.json", b"{}")
    assert main(["--replay", str(copy), "--workers", "0", "--sample", "0"]) == 1
    told = capsys.readouterr()
    assert (
        all(c.isprintable() or c == "\n" for c in told.out + told.err)
        and r"\x1b[2Jfsl.\u202emine\r" in told.out
    )


def test_one_flipped_byte_is_found_and_named(copy, capsys):
    file = copy / "timings.json"
    content = bytearray(file.read_bytes())
    content[-5] ^= 1
    file.write_bytes(content)
    (copy / "more.py").write_text("raise SystemExit")
    assert main(["--replay", str(copy), "--workers", "0", "--sample", "0"]) == 1
    told = capsys.readouterr().out
    assert "differs: timings.json: its content is not that of SHA256SUMS" in told
    assert "differs: more.py: it is not in SHA256SUMS" in told


def test_a_source_that_differs_is_named(copy):
    theirs = json.loads((copy / "sources.json").read_text())
    theirs["search/optimizer.py"] = "0" * 64
    (copy / "sources.json").write_bytes(ledger.json_text(theirs))
    edit(copy, lambda of, book: book.update(sources=ledger.digest_of(theirs)))
    assert found(copy).differs == [
        "search/optimizer.py: this source is not the one that made the package"
    ]


def test_what_is_no_package_is_named_and_nothing_is_done(tmp_path, capsys):
    assert main(["--replay", str(tmp_path), "--workers", "0"]) == 1
    assert "differs: ledger.json" in capsys.readouterr().out


def test_records_of_claims_are_those_of_this_code(made):
    """A test that looks at nothing passes: the package has the claims that the prefixes name."""
    ids = [
        entry["id"] for entry in package.open_ledger((made / "ledger.json").read_bytes())["claims"]
    ]
    assert (
        ids == [claim.id for claim in discover.claims() if claim.id.startswith(tuple(SOME))]
        and len(ids) > 8
    )
