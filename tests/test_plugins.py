"""What users bring: files, folders and entry points, by one name each, and never what a document
names."""

import json
import os
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import discover, figures, models, plugins
from fedtheory.app import cli, ledger, scaffold
from fedtheory.certificates import check_instance
from fedtheory.certificates.check_proof import Refused
from fedtheory.errors import InvalidInput, Unloaded
from fedtheory.parallel import executors
from tests.second_opinion import opinion

CLAIM = """
from fedtheory.claim import Claim
from fedtheory.symbol import Table
TABLE = Table("brought")
a, b = TABLE.positive("a", "a", "a number"), TABLE.positive("b", "b", "another")
CLAIM = Claim(id="{0}", cites="x", symbols=TABLE, measures=2 * a * b, bound={1})
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.delenv(plugins.VARIABLE, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(path, text):
    Path(path).write_text(text)
    return str(path)


def ran(capsys, *arguments):
    status = cli.main(list(arguments))
    told = capsys.readouterr()
    return status, told.out or told.err


def test_a_file_is_known_for_one_command(place, capsys):
    written("young.py", CLAIM.format("my.young", "a**2 + b**2"))
    status, told = ran(capsys, "check", "my.young", "--with", "young.py", "--budget", "1")
    assert status == 0 and told.startswith("my.young: proved")
    status, told = ran(capsys, "explain", "my.young")
    assert status == 2 and "must be an id" in told and plugins.VARIABLE not in os.environ


def test_a_folder_and_an_edited_file(place, capsys, monkeypatch):
    (place / "mine").mkdir()
    written("mine/_helper.py", "raise ValueError")
    written("mine/young.py", CLAIM.format("my.young", "a**2 + b**2"))
    monkeypatch.setenv(plugins.VARIABLE, str(place / "mine"))
    assert discover.claim("my.young") in discover.claims()
    written("mine/young.py", CLAIM.format("my.young", "a**2"))
    with plugins.registered(["mine/young.py"]):
        claim = discover.claim("my.young")
        assert claim.bound == plugins.load_file("mine/young.py").module.a ** 2
        told = "fedtheory check my.young --budget 1 --seed 0 --with young.py"
        assert ledger.repro_command(claim, 1, 0) == told
    monkeypatch.setenv(plugins.VARIABLE, str(place / "nowhere"))
    status, told = ran(capsys, "explain", "my.young")
    assert status == 2 and "must name Python files and folders that exist" in told


@pytest.mark.parametrize(
    "text, says",
    [
        ("x = 1", "must define one of ALGORITHM"),
        ("1 / 0", "cannot be run: ZeroDivisionError"),
        ("CLAIM = 5", "CLAIM must be a fedtheory Claim"),
        ("ALGORITHM = 5", "ALGORITHM must be a fedtheory Algorithm"),
        ("CLAIMS = 5", "mine.py: CLAIMS must be a list, a tuple or a dict of records; got 5"),
        ("ALGORITHMS = 5", "mine.py: ALGORITHMS must be a list"),
        ("import sys\nsys.exit(0)", "mine.py cannot be run: SystemExit: 0"),
        ("import sys\nsys.exit(3)", "mine.py cannot be run: SystemExit: 3"),
        ("class Own(BaseException): ...\nraise Own('a\\nb\\x1b')", "cannot be run: Own: a b\\x1b"),
        ("raise GeneratorExit", "mine.py cannot be run: GeneratorExit"),
        ("class E(Exception):\n  def __str__(self): 1 / 0\nraise E", "E: (its text cannot be had"),
        (CLAIM.format("fsl.theorem1", "a"), "two claims share an id: fsl.theorem1"),
    ],
)
def test_what_brings_nothing_of_use_is_refused(place, capsys, text, says):
    written("mine.py", text)
    what = "algorithms" if text.startswith("ALGORITHM") else "claims"
    status, told = ran(capsys, "list", what, "--with", "mine.py")
    assert status == 2 and says in told and len(told.splitlines()) == 1


def test_a_list_of_records_is_one_wherever_it_comes_from(place, capsys, monkeypatch):
    for text in ("CLAIMS = 5", "MAKERS = [5]", "SETTINGS = 'a'", "FIGURES = [1]"):
        written("mine.py", text)
        status, told = ran(capsys, "list", "--with", "mine.py")
        assert status == 2 and "mine.py: " in told and len(told.splitlines()) == 1, told
    written("mine.py", "CLAIMS = 5")
    status, told = ran(capsys, "check", "mine.py")
    assert status == 2 and "mine.py: CLAIMS must be a list" in told
    monkeypatch.setenv(plugins.VARIABLE, "mine.py")
    status, told = ran(capsys, "list", "claims")
    assert status == 2 and "mine.py: CLAIMS must be a list" in told


@pytest.mark.parametrize("kind", ["serial", "threads:2", "processes:1"])
@pytest.mark.parametrize("ends, says", [("sys.exit(0)", "SystemExit: 0"), ("[][1]", "IndexError")])
def test_code_that_ends_the_program_at_work_is_no_answer(place, kind, ends, says):
    """Whoever works: a worker's end is told by the one who gave the work."""
    written("mine.py", f"import sys\nMAKERS = []\ndef work(n):\n    {ends}\n")
    with pytest.raises(InvalidInput, match=says) as caught, plugins.registered(["mine.py"]):
        list(executors.iter_completed(called, [(1,)], kind))
    assert "mine.py, line 4: " in str(caught.value) or says.startswith("System")


def called(n):
    (file,) = plugins.list_files()
    return file.module.work(n)


def test_two_files_with_one_id_are_refused(place, capsys):
    for name in ("one", "two"):
        written(f"{name}.py", CLAIM.format("my.young", "a**2 + b**2"))
    status, told = ran(capsys, "list", "claims", "my", "--with", "one.py", "--with", "two.py")
    assert status == 2 and "two claims share an id: my.young" in told


def test_entry_points_bring_modules(place, monkeypatch):
    info = place / "mine-1.0.dist-info"
    info.mkdir()
    written(info / "METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    written(info / "entry_points.txt", "[fedtheory]\nyoung = announced\nbroken = not_there\n")
    written("announced.py", CLAIM.format("my.announced", "a**2 + b**2"))
    monkeypatch.syspath_prepend(str(place))
    monkeypatch.setitem(plugins._STATE, "read", None)
    with pytest.warns(Unloaded, match="broken = not_there cannot be loaded"):
        assert (
            discover.claim("my.announced").cites == "x"
            and plugins.missing_files("my.announced") == []
        )
    monkeypatch.setitem(plugins._STATE, "read", None)


def test_a_certificate_needs_the_file_that_it_was_made_with(place, capsys):
    """It is found by its hash among what is given, and never run because a document names it."""
    text = scaffold.template_text("model", "sample")
    written("sample.py", text)
    status, _ = ran(capsys, "check", "sample.py", "--budget", "0.2", "--out", "out")
    certificate = "out/sample.too_near.certificate.json"
    document = json.loads(Path(certificate).read_text())
    assert status == 0 and document["from"]["file"] == "sample.py"
    status, told = ran(capsys, "replay", certificate, "--with", "sample.py")
    assert status == 0 and "by sample.py" in told
    written("sample.py", "open('ran', 'w')\n" + text)  # lies where the document says
    status, told = ran(capsys, "replay", certificate)
    assert status == 1 and "give it with --with" in told and not Path("ran").exists()
    status, told = ran(capsys, "replay", certificate, "--with", "sample.py")
    assert status == 1 and "the one at hand is another" in told and Path("ran").exists()
    written("sample.py", text)
    with plugins.registered(["sample.py"]):
        for change in (lambda d: d.pop("from"), lambda d: d["from"].update(file="other.py")):
            forged = json.loads(json.dumps(document))
            change(forged)
            forged["digest"] = _digest(forged)
            with pytest.raises(Refused, match="with which file|is another"):
                ft.replay(forged)


def _digest(document):
    return check_instance.digest_of(document)


def test_no_document_says_that_a_setting_of_the_library_is_a_users():
    shipped = json.loads((Path(opinion.__file__).parent / "certificates.json").read_text())
    document = next(d for d in shipped.values() if d["format"] == "fedtheory counterexample 1")
    document["from"] = dict(file="mine.py", sha256="0" * 64)
    document["digest"] = _digest(document)
    with pytest.raises(Refused, match="the one at hand is another"):
        check_instance.check(document)


def test_settings_problems_and_figures_are_found_by_name(place, capsys):
    for kind in ("model", "problem", "figure", "method"):
        written(f"{kind}.py".replace("method", "heavy"), scaffold.template_text(kind, f"{kind}_"))
    paths = ["model.py", "problem.py", "figure.py", "heavy.py"]
    with plugins.registered(paths):
        assert models.by_name("model_").source[0] == "model.py"
        assert models.by_name("run_method_").source[0] == "heavy.py"
        assert "problem_" in discover.problem_makers() and "method_" in ft.algorithms()
        assert "figure" in figures.figure_ids() and figures.figure("figure").cites == "an example"
    assert models.by_name("model_") is None and "figure" not in figures.figure_ids()


def test_older_files_call_a_model_a_setting(place, capsys):
    text = scaffold.template_text("setting", "old")
    assert text == scaffold.template_text("model", "old")
    older = text.replace("import Model, names", "import Setting, names")
    written("old.py", older.replace("MODEL = Model(", "SETTING = Setting("))
    with plugins.registered(["old.py"]):
        assert models.by_name("old").source[0] == "old.py"
    written("both.py", text + "\nSETTING = MODEL\n")
    with plugins.registered(["both.py"]):
        assert [s.name for s in models.all_models()].count("old") == 1


def test_a_setting_may_not_bear_another_ones_name(place, capsys):
    written(
        "mine.py", scaffold.template_text("model", "mine").replace('name="mine"', 'name="numbers"')
    )
    with (
        plugins.registered(["mine.py"]),
        pytest.raises(InvalidInput, match="must have a name that no"),
    ):
        models.all_models()
