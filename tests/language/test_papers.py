"""The papers' records: every claim is of one of them, and `list papers` and `explain PAPER` show
them."""

import json

from fedtheory import discover
from fedtheory.app import ledger, package
from fedtheory.app.cli import main
from fedtheory.verdicts.verdict import Verdict


def test_every_claim_is_of_a_paper():
    assert {claim.paper for claim in discover.claims()} == set(discover.papers())


def test_facts_stand_in_the_texts():
    """Title pages, worked by hand: the short paper names five authors, FED-LAMB's are anonymous."""
    papers = discover.papers()
    assert [len(papers[name].authors) for name in ("fsl", "fsls", "flex", "mixed", "lamb")] == [
        3,
        5,
        4,
        7,
        0,
    ]
    assert papers["mixed"].year == 2022 and "2205.13655" in papers["mixed"].link
    assert all(paper.known_by for paper in papers.values() if paper.year)


def test_ledger_and_page_name_them():
    claims = [discover.claim("fsl.lemma1"), discover.claim("mixed.propD6")]
    verdicts = {c.id: Verdict(c.id, "undecided", "algebra", "").as_dict() for c in claims}
    book, _ = ledger.build_ledger(claims, verdicts, 1.0, 0)
    assert list(book["papers"]) == ["fsl", "mixed"]
    assert book["papers"]["mixed"]["year"] == 2022
    page = package.render_page(book).decode()
    for fact in ("Van Sy Mai, Richard J. La, Tao Zhang", "S. Augenstein", "arXiv:2205.13655"):
        assert fact in page
    assert '<option value="fsl">Federated Learning with Server Learning: Enhancing' in page


def test_list_and_explain_show_them(capsys):
    assert main(["list", "papers", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sum(row["claims"] for row in rows.values()) == len(discover.claims())
    assert main(["explain", "lamb"]) == 0
    told = capsys.readouterr().out
    assert "Layerwise and Dimensionwise" in told and "not said in the text: authors" in told
    assert main(["explain", "fsl.theorem1"]) == 0
    assert "Van Sy Mai" in capsys.readouterr().out
