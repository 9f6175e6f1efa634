"""`fedtheory new`: files that run as they are, and stand in docs/adding.md as they are written."""

import re
from pathlib import Path

import pytest

from fedtheory.app import cli, contracts, scaffold

ADDING = Path(__file__).resolve().parents[2] / "docs" / "adding.md"
SHOWN = dict(
    method="heavy_ball", problem="log_cosh", setting="sample", figure="local_steps"
)  # kind -> file


@pytest.mark.parametrize("kind", SHOWN)
def test_the_page_shows_what_is_written(kind):
    name = SHOWN[kind]
    shown = re.search(rf":caption: {name}\.py\n\n(.*?)```", ADDING.read_text(), re.DOTALL)[1]
    assert shown == scaffold.template_text(kind, name)


def test_nobody_is_sent_into_the_tree():
    captions = re.findall(r":caption: (\S+)", ADDING.read_text())
    assert len(captions) > 8 and all("/" not in caption for caption in captions)
    assert not re.search(r"from \S*\._|(?<!out/)(fedtheory|tests|figures)/\w", ADDING.read_text())


def test_a_file_is_written_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["new", "claim"]) == 0
    assert "my_claim.py is written" in capsys.readouterr().out
    assert cli.main(["new", "claim"]) == 2 and "must not exist yet" in capsys.readouterr().err
    for name in ("1x.py", "x.txt", "class.py", "_x.py"):
        assert cli.main(["new", "claim", name]) == 2
        assert not Path(name).exists()


def test_contracts_see_what_is_not_met(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = scaffold.template_text("problem", "mine").replace(
        "out[j] = np.tanh", "out[j] = 1.01 * np.tanh"
    )
    Path("mine.py").write_text(text.replace("L=Constant(1.0", "L=Constant(0.1"))
    assert cli.main(["contracts", "mine.py"]) == 1
    told = capsys.readouterr().out
    assert "not met unit: gradients are those of the losses" in told
    assert "not met unit: constants hold" in told and "ok      unit: the objective" in told


@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in scaffold.KINDS if kind != "adapter"])
def test_each_start_meets_its_contracts(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scaffold.write_new(kind, "mine.py")
    rows, text, met = contracts.check_contracts([Path("mine.py")])
    assert met and rows, text
