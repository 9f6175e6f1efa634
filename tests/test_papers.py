"""The papers' records: every claim is of one of them, and `list papers` and `explain PAPER` show
them."""

import json

from fedtheory import discover
from fedtheory.app.cli import main


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


def test_list_and_explain_show_them(capsys):
    assert main(["list", "papers", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sum(row["claims"] for row in rows.values()) == len(discover.claims())
    assert main(["explain", "lamb"]) == 0
    told = capsys.readouterr().out
    assert (
        "Layerwise and Dimensionwise" in told
        and "not said in the text: authors, year, where" in told
    )
    assert main(["explain", "fsl.theorem1"]) == 0
    assert "Van Sy Mai" in capsys.readouterr().out
