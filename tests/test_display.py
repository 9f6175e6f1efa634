"""What is returned is short in a list and a table in a notebook, and whatever a text holds stays
text."""

from html.parser import HTMLParser

import pytest

import fedtheory as ft
from fedtheory import discover, display


class Read(HTMLParser):
    """Tags and texts of a piece of HTML; every tag that opens is closed in its turn."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.texts = [], set(), []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, text):
        self.texts.append(text)


TABLE = {"b", "table", "tr", "th", "td", "br"}
DRAWN = {"svg", "text", "path", "rect", "polyline", "circle"}


@pytest.fixture(scope="module")
def returned():
    problem = ft.problems.quadratic(d=2, clients=3, L=2.0, mu=0.5, seed=1)
    return dict(
        problem=problem,
        run=ft.run(problem, "fedavg", rounds=2, eta_l=0.1),
        claim=ft.claim("fsl.theorem1"),
        paper=discover.papers()["fsl"],
        verdict=ft.check("mixed.stepD2", budget=1),
        mutation=ft.mutate("mixed.stepD2", budget=1),
        sharpening=ft.sharpen("mixed.propD6", budget=0.1),
        expected=ft.expected(problem, "fedavg", rounds=2, eta_l=0.1),
        comparison=ft.compare(
            "fsl.theorem2", problem, rounds=2, trials=2, K=1, K_0=1, eta_l=0.01, eta_0=0.01
        ),
        algorithm=ft.algorithm("fsl"),
    )


def test_each_is_one_short_line_and_a_table(returned):
    for name, value in returned.items():
        page = Read(value._repr_html_())
        tags = TABLE | DRAWN if name == "verdict" else TABLE
        assert page.tags <= tags and "table" in page.tags
        if name not in ("paper", "claim"):  # a tuple, and a statement as it is read
            assert len(repr(value)) < 400 and "\n" not in repr(value) and "array" not in repr(value)


def test_they_say_what_one_looks_for(returned):
    assert repr(returned["problem"]).startswith(
        "<Problem quadratic: clients 3, d 2, noise gaussian, L 2, mu 0.5"
    )
    last = returned["run"].metrics["loss"][0, -1]
    assert f"loss at the end {last:.6g}" in repr(returned["run"])
    assert "status violated" in repr(returned["verdict"])
    texts = Read(returned["claim"]._repr_html_()).texts
    assert any(r"\frac{\gamma \kappa \bar{\xi}^{2}}{1 + \gamma}" in text for text in texts)
    assert any(text.endswith("[(11)]") for text in texts)


def test_a_text_stays_text():
    hostile = "<script>alert(1)</script>"
    page = Read(display.facts_table(hostile, {hostile: f"{hostile}\n{hostile}"}))
    assert page.tags == {"b", "table", "tr", "th", "td", "br"} and page.texts.count(hostile) == 4
