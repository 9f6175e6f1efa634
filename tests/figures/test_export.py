"""A figure's files: equal bytes, tables that spreadsheets and LaTeX take as text, one entry per
finding."""

import csv
import json
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from fedtheory.errors import InvalidInput
from fedtheory.figures import _export, _slim
from fedtheory.figures._record import Figure
from fedtheory.store import outputs

DATA = {"x": np.arange(4.0)}


def draw(figure, data):
    ax = figure.add_subplot()
    ax.fill_between(data["x"], data["x"] ** 2, alpha=0.2, clip_on=True)
    ax.plot(data["x"], label=r"$\eta_l$")
    ax.legend()


def record(**more):
    return Figure(
        **{
            **dict(cites="house, table 1", title="A line", compute=lambda *_: DATA, draw=draw),
            **more,
        }
    )


def test_equal_arrays_give_equal_bytes_and_other_arrays_others():
    one, two = _export.draw_pictures(record(), DATA), _export.draw_pictures(record(), DATA)
    other = _export.draw_pictures(record(), {"x": np.arange(5.0)})
    assert one == two and set(one) == {"pdf", "svg", "png"}
    assert all(one[suffix] != other[suffix] for suffix in one)
    assert b"CreationDate" not in one["pdf"] and b"<dc:date>" not in one["svg"]


def test_an_svg_is_the_same_picture_in_fewer_bytes(monkeypatch):
    """Numbers to a hundredth of a point, in the same elements; whatever is referred to is there."""
    slim = _export.draw_pictures(record(), DATA)["svg"]
    monkeypatch.setattr(_slim, "slim_svg", lambda svg: svg)
    whole = _export.draw_pictures(record(), DATA)["svg"]
    assert len(slim) < 0.95 * len(whole)
    trees = [ElementTree.fromstring(svg) for svg in (whole, slim)]
    pairs = list(zip(*(tree.iter() for tree in trees), strict=True))
    assert len(pairs) > 50
    number = re.compile(r"-?\d+(?:\.\d+)?")
    for one, other in pairs:
        assert one.tag == other.tag and (one.text or "").strip() == (other.text or "").strip()
        assert {*one.attrib} - {*other.attrib} <= {"id"} and {*other.attrib} <= {*one.attrib}
        for name, text in other.attrib.items():
            assert number.sub("0", one.get(name)) == number.sub("0", text)
            places = [[float(n) for n in number.findall(t)] for t in (one.get(name), text)]
            assert places[1] == pytest.approx(places[0], abs=0.0051)
    ids = {element.get("id") for element in trees[1].iter()}
    assert {*re.findall(r'(?:href="#|url\(#)([^")]*)', slim.decode())} <= ids


def test_the_size_is_the_records():
    png = _export.draw_pictures(record(width="page", height=2), DATA)["png"]
    assert [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)] == [round(6.9 * 300), 600]


def test_a_picture_does_not_take_the_callers_style():
    import matplotlib

    plain = _export.draw_pictures(record(), DATA)
    with matplotlib.rc_context({"font.size": 20, "axes.facecolor": "red"}):
        assert _export.draw_pictures(record(), DATA) == plain
        assert matplotlib.rcParams["font.size"] == 20


def test_tables_are_text():
    rows = [
        ["a & b", "100 %"],
        ["=cmd()", "-0.5"],
        ["@x", r"$\frac{1}{2}$ of a_b"],
        ["\\input{x}", "5$"],
    ]
    found = _export.table_files(record(), rows)
    read = list(csv.reader(found["csv"].splitlines()))
    assert read == [
        ["a & b", "100 %"],
        ["'=cmd()", "-0.5"],
        ["'@x", r"$\frac{1}{2}$ of a_b"],
        ["\\input{x}", "5$"],
    ]
    assert (
        r"a \& b & 100 \% \\" in found["tex"] and r"@x & $\frac{1}{2}$ of a\_b \\" in found["tex"]
    )
    assert (
        r"\textbackslash{}input\{x\} & 5\$ \\" in found["tex"]
        and r"\begin{tabular}{lr}" in found["tex"]
    )
    assert found["txt"].splitlines()[:2] == ["a & b      100 %", "---------  --------------------"]


def test_rows_of_unequal_length_are_refused():
    with pytest.raises(InvalidInput, match="must be equally long"):
        _export.table_files(record(), [["a", "b"], ["c"]])


def findings(verdict):
    return record(
        rows=lambda data: [["a"], ["1"]],
        findings=lambda data: {"house.claim": (verdict, f"{verdict}: so")},
    )


def test_findings_of_all_figures_stand_in_one_file(tmp_path):
    found = _export.export_figure("mixed_table5", findings("reproduced"), DATA, "smoke", tmp_path)
    assert found == {"house.claim": ["reproduced", "reproduced: so"]}
    _export.export_figure("fsl_table2", findings("inconclusive"), DATA, "quick", tmp_path)
    _export.export_figure(
        "mixed_table5", findings("not reproduced"), {"x": np.arange(3.0)}, "quick", tmp_path
    )
    entries = json.loads((tmp_path / "findings.json").read_text())
    assert [(entry["figure"], entry["scale"], entry["verdict"]) for entry in entries] == [
        ("fsl_table2", "quick", "inconclusive"),
        ("mixed_table5", "quick", "not reproduced"),
    ]
    assert (tmp_path / "mixed_table5.csv").read_text() == "a\n1\n"
    index = json.loads((tmp_path / "figures.json").read_text())
    assert [(entry["figure"], entry["claims"]) for entry in index] == [
        ("fsl_table2", ["house.claim"]),
        ("mixed_table5", ["house.claim"]),
    ]


def test_a_verdict_outside_the_four_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="verdict of house.claim must be one of reproduced"):
        _export.export_figure("mixed_table5", findings("true"), DATA, "smoke", tmp_path)


def test_only_what_changed_is_drawn_again(tmp_path):
    drawn = []

    def watched(figure, data):
        drawn.append(1)
        draw(figure, data)

    one = record(draw=watched)
    whole = lambda: {
        path.name: path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file() and path.name != outputs.LOG and outputs.ASIDE not in path.parts
    }
    _export.export_figure("mixed_table5", one, DATA, "smoke", tmp_path)
    first = whole()
    _export.export_figure("mixed_table5", one, DATA, "smoke", tmp_path)
    assert len(drawn) == 1 and whole() == first
    png = tmp_path / "mixed_table5.png"
    png.write_bytes(png.read_bytes()[:-1] + b"x")  # a flipped byte
    _export.export_figure("mixed_table5", one, DATA, "smoke", tmp_path)
    assert len(drawn) == 2 and whole() == first
    (kept,) = (tmp_path / outputs.ASIDE).rglob("*.png")  # what was changed is not lost
    assert kept.read_bytes() == first["mixed_table5.png"][:-1] + b"x"
    (tmp_path / "findings.json").write_text("[{]")
    (tmp_path / "data" / "mixed_table5.drawn.json").write_text('{"key"')
    _export.export_figure("mixed_table5", one, DATA, "smoke", tmp_path)
    assert len(drawn) == 3 and whole() == first
    _export.export_figure("mixed_table5", one, {"x": np.arange(3.0)}, "smoke", tmp_path)
    assert len(drawn) == 4 and whole() != first


@pytest.mark.parametrize("wrong", [dict(width="wide"), dict(height=20)])
def test_a_record_of_no_size_is_refused(wrong):
    with pytest.raises(InvalidInput, match="must be"):
        record(**wrong)


def test_a_picture_that_hides_points_or_says_what_its_finding_does_not_is_refused():
    def cropped(figure, data):
        draw(figure, data)
        figure.axes[0].set_xlim(0, 2)

    with pytest.raises(InvalidInput, match="must show all that it plots.*points lie outside"):
        _export.draw_pictures(record(draw=cropped), DATA)

    def marked(figure, data):
        figure.text(0.5, 0.5, "✓", gid="house.claim")

    judged = {"house.claim": ["reproduced", "so"]}
    assert _export.draw_pictures(record(draw=marked), DATA, judged)
    with pytest.raises(InvalidInput, match="house.claim is drawn as reproduced"):
        _export.draw_pictures(record(draw=marked), DATA, {"house.claim": ["not reproduced", "so"]})


def test_a_caption_says_what_is_plotted_and_what_is_found_in_markdown_and_latex(tmp_path):
    one = record(
        caption=lambda data: f"{len(data['x'])} points, 80 % of a_b, $\\eta_l=1$.",
        says=lambda data: "The last is $9$ ± 1.",
        findings=lambda data: {"house.claim": ("not reproduced", "so")},
    )
    _export.export_figure("mixed_table5", one, DATA, "smoke", tmp_path)
    told = "Findings on the sentence of the paper: 1 not reproduced. Not reproduced: house.claim."
    assert (tmp_path / "mixed_table5.md").read_text() == (
        "**house, table 1: A line.** 4 points, 80 % of a\\_b, $\\eta_l=1$.\n\n"
        f"The last is $9$ ± 1. {told}\n"
    )
    assert (tmp_path / "mixed_table5.caption.tex").read_text() == (
        "% mixed_table5: made for column width, 3.3 in\n"
        "\\caption{\\textbf{house, table 1: A line.} 4 points, 80 \\% of a\\_b, $\\eta_l=1$. "
        f"The last is $9$ $\\pm$ 1. {told}}}\n\\label{{fig:mixed_table5}}\n"
    )
