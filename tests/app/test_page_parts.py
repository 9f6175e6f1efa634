"""What the page shows beside words: packed claims and pictures, typeset prose, rows of papers, graphs
of proofs."""

import base64
import json
import re
import zlib
from html.parser import HTMLParser

import pytest

from fedtheory.app import package, page_parts
from tests.app.test_package import CHROMIUM, Page, book_of, entry, rendered

PICTURE = b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"


def shown(markup):
    """The words of some markup, tags left out."""
    words = []
    parser = HTMLParser()
    parser.handle_data = words.append
    parser.feed(str(markup))
    return "".join(words)


def finding(name, verdict=None):
    said = verdict and dict(figure="some", scale="smoke", verdict=verdict, sentence="So.")
    return entry(name, "undecided", None, kind="finding", finding=said)


def test_experiments_stand_apart_from_mathematics():
    book = book_of(
        entry("fsl.a", "proved"), finding("fsl.b"), finding("fsl.c", "reproduced"), entry("fsl.d")
    )
    ((name, paper, statuses, said, none_yet),) = page_parts.overview_rows(book)
    assert name == "fsl" and paper["title"].startswith("Federated Learning with Server Learning")
    assert (statuses, said, none_yet) == ({"proved": 1, "holds": 1}, {"reproduced": 1}, 1)
    found = Page(package.render_page(book).decode())
    assert [c["data-about"] for c in found.claims()] == ["mathematics", "experiments"] * 1 + [
        "experiments",
        "mathematics",
    ]
    assert [c["data-finding"] for c in found.claims()] == ["", "none", "reproduced", ""]
    links = [a["href"] for a in found.all("a")]
    assert "#paper=fsl&about=experiments&finding=reproduced" in links


def test_a_claim_shows_first_where_it_differs_from_what_is_printed():
    page = package.render_page(book_of(entry("fsl.a"), entry("fsl.b", "violated", 2.0))).decode()
    assert page.index('id="papers"') < page.index('id="violated"') < page.index('id="claims"')
    assert page.index("<main") < page.index('id="papers"') and page.count("<main") == 1
    assert '<a class="skip" href="#main">' in page


def test_an_id_breaks_between_words_alone():
    assert page_parts.breakable_id("fsl.theorem_1<") == "fsl.<wbr>theorem_<wbr>1&lt;"


def test_a_caption_keeps_its_mathematics_and_nothing_else():
    found = page_parts.render_caption(
        "**FSL, figure 1.** With $\\mu=1$ \\<script\\> a\\_b", package.typeset_mathml
    )
    assert shown(found) == "FSL, figure 1. With μ=1 <script> a_b"
    assert "<b>FSL, figure 1.</b>" in str(found) and "<script" not in str(found)


def test_pictures_have_titles_and_captions():
    files = {
        "figures/some.svg": PICTURE,
        "figures/some.md": b"**FSL.** It falls.",
        "figures/other.svg": PICTURE,
        "figures/figures.json": json.dumps(
            [dict(figure="some", title="Falls", cites="FSL, figure 1")]
        ).encode(),
        "figures/data/deep.svg": PICTURE,
    }
    found = page_parts.figure_pictures(files)
    assert found == {
        "other": page_parts.Picture(PICTURE, "other"),
        "some": page_parts.Picture(PICTURE, "FSL, figure 1: Falls", "**FSL.** It falls."),
    }
    page = Page(package.render_page(book_of(entry("fsl.a")), found).decode())
    assert [image["alt"] for image in page.all("img")] == ["other", "FSL, figure 1: Falls"]


def test_a_large_page_is_packed_and_says_the_same_when_it_is_unpacked():
    entries = [entry(f"fsl.a{n}", note="A remark. " * 20) for n in range(400)]
    page = package.render_page(book_of(*entries), {"some": PICTURE}).decode()
    assert "A remark." not in page and "<!--[-->" not in page and len(page) < page_parts.SMALL
    opened = page_parts.unpack_page(page.encode()).decode()
    assert opened.count("A remark. A remark.") >= 400 and PICTURE.decode() in opened
    (blob,) = re.findall('id="parts" hidden data-packed="([^"]*)"', page)
    parts = json.loads(zlib.decompress(base64.b64decode(blob)))
    assert len(parts) == 400 and "fedtheory check fsl.a399" in parts[399]
    again = base64.b64encode(zlib.compress(zlib.decompress(base64.b64decode(blob)), 1)).decode()
    assert (
        again != blob
        and page_parts.unpack_page(page.replace(blob, again).encode()) == opened.encode()
    )
    forged = base64.b64encode(zlib.compress(b" " * (page_parts.LARGEST + 1))).decode()
    assert forged.encode() in page_parts.unpack_page(page.replace(blob, forged).encode())


@pytest.mark.skipif(not CHROMIUM, reason="needs a browser")
def test_a_packed_page_opens_searches_and_shows_a_few(tmp_path):
    entries = [entry(f"fsl.a{n}", note=f"Remark {n}. " * 20) for n in range(400)]
    book = book_of(*entries)
    (tmp_path / "index.html").write_bytes(package.render_page(book, {"some": PICTURE}))
    seen = lambda page: [body["data-id"] for body in page.claims() if "hidden" not in body]
    assert len(seen(rendered(tmp_path, ""))) == 40
    found = rendered(tmp_path, "text=remark+399.&open=fsl.a399")
    assert seen(found) == ["fsl.a399"] and "1 of 400 claims" in found.words
    assert any("Remark 399. Remark 399." in words for words in found.words)


def test_a_proof_is_drawn_with_what_follows_above_what_it_follows_from():
    edges = [
        dict(line="p.a/1", premises=["p.b/1", "textbook.young"], status="proved"),
        dict(line="p.b/1", premises=["p.c/1"], status="undecided"),
    ]
    drawn = str(page_parts.proof_picture(dict(edges=edges)))
    place = {name: float(y) for y, name in re.findall(r'y="([\d.]+)">([^<]+)</text>', drawn)}
    assert place["p.a/1"] < place["p.b/1"] == place["textbook.young"] < place["p.c/1"]
    assert drawn.count("<path") == 3 and 'role="img"' in drawn and "4 lines, 2 steps" in drawn
    assert (
        page_parts.proof_picture(dict(edges=[dict(line="p.a/1", premises=[], status="proved")]))
        is None
    )
