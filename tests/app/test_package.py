"""The reviewer's package: a page that is safe and works, checksums that see a byte, certificates
derived anew."""

import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from fedtheory import discover
from fedtheory.app import ledger, package
from fedtheory.errors import InvalidInput
from fedtheory.verdicts import pipeline

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
NASTY = '<script>alert(1)</script>"><svg onload=alert(2)>\u202e$\\eta_{l$'


def entry(name, status="holds", tightness=0.5, **more):
    verdict = dict(
        claim=name,
        status=status,
        kind="exact",
        why="It is so.",
        tightness=tightness,
        cases=7,
        decided_on="the kernels of fsl",
        searched="7 instances of it",
        confidence=None,
        witness=dict(x="1/3"),
        certificate=None,
        lines=[],
        notes=[],
        printed=None,
        removals=[],
    )
    return {
        **dict(
            id=name,
            paper="fsl",
            cites=f"FSL, {name}",
            kind="exact",
            meaning=f"Of {name}.",
            statement=["a <= b"],
            latex=[r"\frac{a}{2} \le b_1"],
            regime=[],
            definitions=[r"b_1 = c"],
            assumptions=[
                dict(says="a <= 1", latex=r"a \le 1", where="(3)", stated=True, note=""),
                dict(says="f is convex", latex="", where="", stated=False, note="its proof"),
            ],
            symbols=[dict(name="a", latex="a", meaning="a number")],
            figure="",
            explicit="",
            note="",
            command=f"fedtheory check {name}",
            key="k",
            verdict=verdict,
            finding=None,
            plots=[],
            rests_on=None,
        ),
        **more,
    }


def book_of(*entries):
    return dict(
        format=ledger.FORMAT,
        budget=1.0,
        seed=0,
        asked=[],
        sources=ledger.digest_of(ledger.source_hashes()),
        libraries=ledger.library_versions(),
        counts=ledger.count_statuses(entries),
        papers=ledger.paper_facts(entries),
        claims=list(entries),
    )


class Page(HTMLParser):
    """Elements, attributes and text of a page; fails where a closing tag closes something else."""

    VOID = {"wbr", "meta", "input", "br", "img", "link", "hr"}

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        while self.open and self.open[-1] != tag and self.open[-1] in ("option", "li"):
            self.open.pop()
        assert self.open and self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)

    def claims(self):
        """The rows of claims, as attributes."""
        return [body for body in self.all("tbody") if "data-id" in body]

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]


def page(*entries, **pictures):
    return package.render_page(book_of(*entries), pictures).decode()


# The page


def test_the_page_is_well_formed_and_asks_nothing_of_any_network():
    drawing = b"<svg xmlns='http://www.w3.org/2000/svg'/>"
    found = Page(page(entry("fsl.a"), entry("fsl.b", "violated", 2.0), fig=drawing))
    assert len(found.claims()) == 2 and len(found.all("script")) == 1 and len(found.all("img")) == 1
    papers = {
        ("a", paper.link) for paper in discover.papers().values()
    }  # followed by whoever clicks
    for tag, attributes in found.elements:
        for name in ("src", "href", "action", "data", "srcset"):
            target = attributes.get(name, "")
            assert (
                (tag, target) in papers
                or not re.match(r"[a-z]+:|//", target)
                or target.startswith("data:image/")
            ), (tag, target)
    policy = found.all("meta")[1]["content"]
    assert policy.startswith("default-src 'none'") and "http" not in policy


def test_what_holds_says_on_the_page_what_was_searched():
    words = " ".join(" ".join(Page(page(entry("fsl.a"))).words).split())
    assert "Searched: 7 instances of it." in words and "decided on the kernels of fsl" in words


def test_both_readings_and_what_saves_a_claim_are_on_the_page():
    one, other = entry("fsl.a"), entry("fsl.b")
    false = dict(
        one["verdict"], status="violated", why="It fails at 2.", certificate="certificates/p.json"
    )
    one["verdict"]["printed"] = false
    one["verdict"]["removals"] = [
        dict(name="n", hypothesis="f is convex", saves=True, verdict=false),
        dict(name="n", hypothesis="noise", saves=False, verdict=dict(false, status="undecided")),
    ]
    words = lambda *entries: " ".join(" ".join(Page(page(*entries)).words).split())
    both = words(one, other)
    for said in (
        "as printed: violated",
        "Verdict, as meant",
        "As printed, with what the text states alone",
        "f is convex: needed ; without it alone It fails at 2.",
        "noise: without it alone undecided",
        "The instance that breaks it as printed",
        "1 more is false as printed",
    ):
        assert said in both, said
    rows = Page(page(one, other)).claims()
    assert [row["data-printed"] for row in rows] == ["violated", "holds"]
    assert "as printed:" not in words(other) and "false as printed" not in words(other)


def test_the_page_shows_what_was_found():
    found = Page(
        page(entry("fsl.a", "violated", 1.25, note="A remark."), entry("fsl.b", "proved", None))
    )
    words = " ".join(" ".join(found.words).split())
    for said in (
        "2 claims, checked",
        "It is so.",
        "1.25",
        "A remark.",
        "the text does not state it",
        "f is convex",
        "(3)",
        "fedtheory check fsl.a",
        "The instance that breaks it",
        '"x": "1/3"',
    ):
        assert said in words
    assert len(found.all("math")) >= 2 * 3 + 1 and len(found.all("mfrac")) == 2
    assert [rect["width"] for rect in found.all("rect")] == [
        "100",
        "100.0",
        "1",
    ]  # 1.25 fills it: 1 stands at 80
    assert (
        package.bar_width(1.0) == 80
        and package.bar_width("inf") == 100
        and package.bar_width(None) is None
    )


def test_every_word_of_a_claim_is_escaped():
    nasty = entry(
        NASTY,
        note=NASTY,
        cites=NASTY,
        meaning=NASTY,
        statement=[NASTY],
        latex=[NASTY, rf"\text{{{NASTY}}}"],
        paper=NASTY,
        kind=NASTY,
        definitions=[NASTY],
        explicit=NASTY,
        command=NASTY,
        symbols=[dict(name=NASTY, latex=NASTY, meaning=NASTY)],
        assumptions=[dict(says=NASTY, latex="", where=NASTY, stated=False, note=NASTY)],
        finding=dict(figure=NASTY, scale=NASTY, verdict=NASTY, sentence=NASTY),
    )
    nasty["verdict"].update(
        why=NASTY,
        notes=[NASTY],
        witness={NASTY: NASTY},
        certificate=NASTY,
        lines=[dict(nasty["verdict"], why=NASTY)],
    )
    plain, found = Page(page(entry("fsl.a"))), Page(page(nasty))
    assert len(found.all("script")) == len(plain.all("script")) == 1
    assert not [
        name for _, attributes in found.elements for name in attributes if name.startswith("on")
    ]
    assert found.claims()[0]["data-id"] == NASTY
    assert "<script>alert(1)</script>" in "".join(found.words)


@pytest.mark.parametrize(
    "latex",
    [r"\frac{1}{", r"\eta_{l$", r"\href{javascript:alert(1)}{x}", "\x00", r"\text{<img src=x>}"],
)
def test_formulas_that_are_no_latex_are_shown_harmlessly(latex):
    found = Page(str(package.typeset_mathml(latex)))
    assert {tag for tag, _ in found.elements} <= package.Tags.elements | {"code"}
    assert not {name for _, attributes in found.elements for name in attributes} & {
        "href",
        "src",
        "style",
    }


def test_formulas_are_typeset():
    found = Page(str(package.typeset_mathml(r"\mathbb{E}\|\bar\xi\|^2 < \frac{1}{4 L}")))
    assert found.elements[0][0] == "math" and found.all("mfrac") and "<" in found.words


def rendered(folder, view):
    """The page's elements after its script ran in a browser."""
    told = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder / 'user'}",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=5000",
            "--dump-dom",
            f"file://{folder / 'index.html'}#{view}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    return Page(told.stdout)


def views(folder):
    """What the page does in a browser, or, where there is none, that its script names what it works
    on."""
    ids = lambda found: [
        body["data-id"] for body in found.all("tbody") if "data-id" in body and "hidden" not in body
    ]
    opened = lambda found: [
        more["id"] for more in found.all("details") if "open" in more and "id" in more
    ]
    plain = rendered(folder, "")
    assert ids(plain) == ["fsl.a", "fsl.b", "fsl.c", "fsl.d"] and not opened(plain)
    assert "4 of 4 claims" in plain.words
    assert ids(rendered(folder, "status=violated")) == ["fsl.b"]
    assert ids(rendered(folder, "text=of+fsl.C&sort=id")) == ["fsl.c"]
    assert ids(rendered(folder, "sort=-tight")) == ["fsl.b", "fsl.c", "fsl.a", "fsl.d"]
    assert ids(rendered(folder, "sort=tight")) == ["fsl.a", "fsl.c", "fsl.b", "fsl.d"]
    assert opened(rendered(folder, "fsl.c")) == opened(rendered(folder, "open=fsl.c")) == ["fsl.c"]


def parts(folder):
    found = Page((folder / "index.html").read_text())
    fields = {field["name"] for tag in ("input", "select") for field in found.all(tag)}
    assert fields == {"text", "about", "paper", "status", "printed", "finding", "kind"}
    assert {button["data-by"] for button in found.all("button") if "data-by" in button} == {
        "id",
        "where",
        "paper",
        "kind",
        "status",
        "tight",
    }
    assert all(
        {"data-" + by for by in ("id", "where", "paper", "kind", "status", "tight")} <= set(body)
        for body in found.claims()
    )


@pytest.mark.parametrize("works", [views] if CHROMIUM else [parts])
def test_the_table_filters_sorts_and_opens_claims(tmp_path, works):
    (tmp_path / "index.html").write_text(
        page(
            entry("fsl.a"),
            entry("fsl.b", "violated", "inf"),
            entry("fsl.c", tightness=0.75),
            entry("fsl.d", "proved", None),
        )
    )
    works(tmp_path)


def test_an_opened_claim_shows_its_plots(tmp_path):
    drawn = {"some": b"<svg xmlns='http://www.w3.org/2000/svg'/>"}
    (tmp_path / "index.html").write_bytes(
        package.render_page(book_of(entry("fsl.a", plots=["some", "gone"]), entry("fsl.b")), drawn)
    )
    images = lambda found: [image["alt"] for image in found.all("img")]
    shut = Page((tmp_path / "index.html").read_text())
    assert (
        images(shut) == ["some"] and [a["href"] for a in shut.all("a")].count("#figure-some") == 1
    )
    if CHROMIUM:
        assert images(rendered(tmp_path, "fsl.a")) == ["some", "some"] and images(
            rendered(tmp_path, "fsl.b")
        ) == ["some"]


# The folder


@pytest.fixture
def made(tmp_path):
    """A package of a false claim and of a true one, with its certificate."""
    claim = discover.claim("fsl.lemma3")
    false = claim.replace(name="house.false", bound=claim.bound / 2, also=())
    verdicts = {
        c.id: ledger.plain_data(pipeline.decide_readings(c, 0.05, 0).as_dict())
        for c in (claim, false)
    }
    book, certificates = ledger.build_ledger([claim, false], verdicts, 0.05, 0)
    assert book["counts"]["violated"] == 1
    assert set(certificates) == {  # as meant, and as printed; and what the true one follows from
        "certificates/fsl.lemma3.graph.json",
        "certificates/house.false.json",
        "certificates/house.false.printed.json",
    }
    package.build_package(tmp_path, book, certificates, {"sources.json": ledger.source_hashes()})
    return tmp_path


def unlike(folder):
    files, found = package.folder_contents(folder)
    return found + package.unlike_sums(files)


def test_a_package_is_what_its_checksums_say(made):
    assert unlike(made) == []
    done = subprocess.run(
        ["sha256sum", "--check", "--strict", package.SUMS], cwd=made, capture_output=True
    )
    assert done.returncode == 0


def test_one_flipped_byte_an_added_and_a_missing_file_are_named(made):
    file = made / "certificates" / "house.false.json"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    (made / "certificates" / "more.json").write_text("{}")
    (made / "sources.json").unlink()
    assert [sentence.partition(":")[0] for sentence in unlike(made)] == [
        f"certificates/{file.name}",
        "certificates/more.json",
        "sources.json",
    ]


def test_checksums_written_otherwise_are_named(made):
    (made / package.SUMS).write_bytes(
        b"".join(reversed((made / package.SUMS).read_bytes().splitlines(True)))
    )
    assert unlike(made) == [f"{package.SUMS}: it is not written as checksums are here"]


def test_links_and_empty_folders_are_no_files_of_a_package(made, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (made / "sources.json").rename(elsewhere / "sources.json")
    (made / "sources.json").symlink_to(elsewhere / "sources.json")
    (made / "more").symlink_to(elsewhere)
    (made / "less").mkdir()
    assert unlike(made) == [
        "more: it is no plain file",
        "sources.json: it is no plain file that can be read",
        "less: it is an empty folder",
        "sources.json: it is missing",
    ]


def test_no_more_is_read_than_a_package_may_have(made, monkeypatch):
    monkeypatch.setattr(package, "LARGEST", 100)
    assert "with it there are more than 100 bytes" in unlike(made)[0]
    monkeypatch.setattr(package, "MOST", 1)
    monkeypatch.setattr(package, "LARGEST", 10**9)
    assert "there are more than 1 files" in unlike(made)[0]


@pytest.mark.parametrize(
    "line",
    [
        "0" * 64 + "  ../outside",
        "0" * 64 + "  /etc/passwd",
        "0" * 63 + "  a",
        "nothing",
        "0" * 64 + "  a\n" + "0" * 64 + "  a",
        "0" * 64 + "  a\\..\\b",
    ],
)
def test_checksums_that_leave_the_folder_or_make_no_sense_are_refused(line):
    with pytest.raises(InvalidInput, match="must list each file once"):
        package.read_checksums(f"{line}\n".encode())
    assert len(package.unlike_sums({package.SUMS: f"{line}\n".encode()})) == 1


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b'{"format": "fedtheory ledger 1"}', b"\x80\x04pickled", b"{NaN"]
)
def test_what_is_no_ledger_is_refused(content):
    with pytest.raises(InvalidInput, match="ledger.json"):
        package.open_ledger(content)


def test_building_again_takes_away_what_is_no_part_of_it_and_nothing_else(made):
    (made / "mine.txt").write_text("kept")
    old = made / "certificates" / "house.false.json"
    package.build_package(made, book_of(entry("fsl.a")), {}, {"more.json": [1]})
    assert (
        not old.exists() and (made / "mine.txt").exists() and not (made / "sources.json").exists()
    )
    assert unlike(made) == [f"mine.txt: it is not in {package.SUMS}"]


def test_nothing_is_written_or_taken_away_through_a_link(made, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "dear.txt").write_text("mine")
    (made / "figures").symlink_to(elsewhere)
    with (made / package.SUMS).open("a") as file:
        file.write("0" * 64 + "  figures/dear.txt\n")
    with pytest.raises(InvalidInput, match="must contain no links"):
        package.build_package(made, book_of(entry("fsl.a")), {}, {}, {"some.svg": b"<svg/>"})
    assert [path.name for path in elsewhere.iterdir()] == ["dear.txt"]


def test_what_a_killed_campaign_left_half_written_goes(made):
    (made / "certificates" / ".fedtheory-abc.part").write_text("{")
    package.build_package(made, book_of(entry("fsl.a")), {}, {})
    assert unlike(made) == []


def test_only_what_the_index_of_figures_names_joins_a_package(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "figures.json").write_text('[{"figure": "some", "scale": "smoke"}]')
    for name in (
        "some.svg",
        "some.csv",
        "other.svg",
        "thesis.tex",
        "data/some-smoke-1f.npz",
        "data/some-quick-1f.npz",
        "data/some.drawn.json",
    ):
        (tmp_path / name).write_text("")
    assert set(package.figure_files(tmp_path)) == {
        "figures.json",
        "some.svg",
        "some.csv",
        "data/some-smoke-1f.npz",
        "data/some.drawn.json",
    }
    (tmp_path / "figures.json").write_text("[3]")
    assert package.figure_files(tmp_path) == package.figure_files(tmp_path / "nowhere") == {}


def test_a_page_of_some_claims_says_so():
    book = dict(book_of(entry("fsl.a")), asked=["fsl.", NASTY])
    words = " ".join("".join(Page(package.render_page(book).decode()).words).split())
    assert "Not all claims: those whose ids begin with fsl., <script>" in words
    assert "Not all claims" not in page(entry("fsl.a"))
