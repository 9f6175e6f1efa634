"""Claims in plain words, bounds at the command line, and the docs page of each claim."""

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import fedtheory as ft
from fedtheory import discover
from fedtheory.app import cli
from fedtheory.app.explain import describe_claim, list_claims, parse_assignment
from fedtheory.errors import InvalidInput

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs"))
import build_claims  # noqa: E402  (it lies in docs/, which is no package)

CLAIMS = discover.claims()
SETTING = (
    "eta_l=0.004 eta_g=3 eta_0=0.012 gamma=1 K=5 K_0=5 S=10 N=50 L=1 G=1 xi_bar=0.3 sigma=1 sigma_0=3/10 T=300 "
    "tilde_D_0=1"
).split()


def run(capsys, *arguments):
    status = cli.main(arguments)
    out, err = capsys.readouterr()
    return status, out, err


# explain


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda c: c.id)
def test_every_claim_is_explained(claim):
    text = ft.explain(claim)
    assert all(len(line) <= 88 or " " not in line.strip() for line in text.splitlines())
    assert "\033" not in text and text.startswith(claim.id)
    one_line = " ".join(text.split())
    assert " ".join((claim.meaning or claim.says).split()) in one_line
    for entry in claim.symbols.values():
        assert entry.name in text and " ".join(entry.meaning.split()) in one_line
    for assumption in claim.assumptions:
        assert assumption.where == "by meaning" or " ".join(assumption.where.split()) in one_line
    if claim.note:
        assert " ".join(claim.note.split()) in one_line
    json.dumps(cli._replace_nonfinite(json.loads(json.dumps(describe_claim(claim), default=str))))


def test_unstated_assumptions_stand_apart():
    text = ft.explain("fsl.theorem1")
    stated, unstated = text.split("Its proof also uses, though the text does not say so")
    assert "L-smooth" in stated and "p_i = 1/N" not in stated
    assert "p_i = 1/N" in unstated.split("By the meaning")[0]


def test_explain_is_bold_on_a_terminal_only(capsys):
    assert run(capsys, "explain", "fsl.theorem2")[1].count("\033") == 0
    assert "\033[1m" in ft.explain("fsl.theorem2", bold=True)


def test_claims_of_a_file_are_explained(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import fedtheory as ft\n"
        "CLAIMS = [ft.claim('fsl.lemma1').replace(name=f'mine.{n}') for n in 'ab']\n"
    )
    status, out, _ = run(capsys, "explain", "mine.py")
    assert status == 0 and out.startswith("mine.a: ") and "\n\nmine.b: " in out
    assert [
        entry["id"] for entry in json.loads(run(capsys, "explain", "mine.py", "--json")[1])
    ] == ["mine.a", "mine.b"]
    status, _, err = run(capsys, "explain", "gone.py")
    assert status == 2 and "gone.py" in err and len(err.splitlines()) == 1


def test_explain_as_data(capsys):
    status, out, _ = run(capsys, "explain", "fsl.theorem1", "--json")
    about = json.loads(out)
    assert status == 0 and about["id"] == "fsl.theorem1"
    assert about["symbols"]["L"] == dict(
        meaning="smoothness of every loss",
        latex="L",
        unit="f/x^2",
        domain="> 0",
        measured=False,
        derived=False,
    )


# bound


def test_a_bound_worked_by_hand(capsys):
    # T u h... of theorem 2: u = 3/50, Psi = 9/500 + 1/50 + (40/49)/10, kappa = max(4, 2/9 + 3),
    # Phi, xi_bar = 3/10
    u, rho = Fraction(3, 50), Fraction(40, 49)
    psi = Fraction(9, 100) / 5 + Fraction(1, 50) + rho / 10
    phi = psi + Fraction(2, 10) * (Fraction(1, 5) + rho) + (2 + Fraction(1, 5)) / 9
    value = 1 / (300 * u) + 5 * u * psi + 8 * u**2 * (Fraction(1, 2) * 4 * Fraction(9, 100) + phi)
    status, out, _ = run(capsys, "bound", "fsl.theorem2", *SETTING, "--json")
    found = json.loads(out)
    assert status == 0 and found["exact"] == str(value)
    assert Fraction(found["value"]) >= value and found["value"] - float(value) <= 1e-15
    low, high = map(Fraction, found["enclosure"])
    assert low <= value <= high
    status, out, _ = run(capsys, "bound", "fsl.theorem2", *SETTING)
    assert status == 0 and repr(found["value"]) in out and str(value) in out


@pytest.mark.parametrize(
    "text, value",
    [
        ("K=5", 5),
        ("K=-5", -5),
        ("x=.5", "1/2"),
        ("x=5.", 5),
        ("x=1e-3", "1/1000"),
        ("x=3/4", "3/4"),
        ("x=+2.5E2", 250),
    ],
)
def test_numbers_are_read_exactly(text, value):
    assert parse_assignment(text)[1] == Fraction(value)


@pytest.mark.parametrize(
    "text",
    [
        "x=",
        "x",
        "=1",
        "x=1/0",
        "x=nan",
        "x=inf",
        "x=1_0",
        "x= 1",
        "x=1 ",
        "x=2**3",
        "x=0x10",
        "x=1e9999",
        "x=1/2/3",
        "x=1.5/2",
        "x=__import__('os')",
        "x=" + "9" * 99,
        "x-y=1",
        "x=½",
        "x=٣",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(InvalidInput):
        parse_assignment(text)


WITHOUT = {
    name: [text for text in SETTING if not text.startswith(name + "=")]
    for name in ("eta_l", "L", "gamma", "K_0")
}


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["fsl.theorem2", *SETTING, "zeta=1"], "zeta"),
        (["fsl.theorem2", *SETTING, "mu=1"], "mu"),
        (["fsl.theorem2", *SETTING, "Psi=1"], "Psi"),
        (["fsl.theorem2", *SETTING, "K=5"], "once"),
        (["fsl.theorem2", *WITHOUT["L"]], "L (smoothness"),
        (["fsl.theorem2", *WITHOUT["eta_l"]], "eta_l (step"),
        (["fsl.theorem2", *WITHOUT["L"], "L=10"], "(11)"),
        (["fsl.theorem2", *WITHOUT["gamma"], "gamma=-1"], "gamma >= 0"),
        (["fsl.theorem2", *WITHOUT["K_0"], "K_0=5/2"], "K_0 is an integer"),
        (["fsl.theorem2", *SETTING, "--line", "7"], "line"),
        (["fsl.fig1_fsl_best"], "finding"),
        (["fsl.nothing"], "fsl.nothing"),
    ],
)
def test_bad_values_are_refused_in_one_line(capsys, arguments, message):
    status, out, err = run(capsys, "bound", *arguments)
    assert status == 2 and not out and err.count("\n") == 1 and message in err


def test_loose_evaluates_outside_and_says_so(capsys):
    status, out, _ = run(capsys, "bound", "fsl.theorem2", "--loose", *WITHOUT["L"], "L=10")
    assert status == 0 and "not met: K_0 eta_0 <=" in out
    status, out, _ = run(
        capsys, "bound", "fsl.theorem2", "--loose", *WITHOUT["eta_l"]
    )  # only assumptions need it
    assert status == 0


def test_a_lower_bound_is_rounded_down(capsys):
    setting = ["gamma=1/10", "eta_g=1", "eta_0=1/1000", "K_0=1", "L=1"]
    status, out, _ = run(capsys, "bound", "fsl.h_lower", *setting, "--json")
    assert status == 0 and Fraction(json.loads(out)["value"]) <= Fraction(13, 40)
    assert "rounded down" in run(capsys, "bound", "fsl.h_lower", *setting)[1]


# list


def test_a_reader_that_stops_early_is_no_fault():
    process = subprocess.Popen(
        [sys.executable, "-m", "fedtheory.app.cli", "list", "claims"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b"" and process.wait() == 0


def test_claims_are_listed_by_prefix(capsys):
    status, out, _ = run(capsys, "list", "claims", "--json")
    assert status == 0 and set(json.loads(out)) == {c.id for c in CLAIMS}
    status, out, _ = run(capsys, "list", "claims", "fsl.lemma")
    assert [line.split()[0] for line in out.splitlines()] == [f"fsl.lemma{k}" for k in range(1, 6)]
    assert set(list_claims("fsls.")) == {c.id for c in CLAIMS if c.paper == "fsls"}
    assert run(capsys, "list", "claims", "nobody")[0] == 2
    assert run(capsys, "list", "problems", "quad")[0] == 2


# The docs

COMMAND = re.compile(r"\\(?:[A-Za-z]+|.)")
KNOWN = set(
    r"""
    \frac \tfrac \sqrt \left \right \cdot \max \min \text \begin \end \mathcal \mathbb \bar \tilde \hat \widehat
    \overline
    \widetilde \lVert \rVert \| \sum \prod \nabla \langle \rangle \infty \le \ge \leq \geq \neq \ne \log \ln \exp \Theta
    \mathbf \mathrm \star \in \notin \dots \ldots \cdots \partial \operatorname \substack \subset \times \quad \qquad
    \, \; \: \! \{ \} \\ \_ \% \& \lfloor \rfloor \lceil \rceil \mid \Vert \vert \prime \circ \top \ell \setminus
    \underline
    \phi \varphi \kappa \rho \sigma \tau \theta \vartheta \eta \gamma \Gamma \delta \Delta \xi \Xi \Psi \psi \Phi \mu
    \nu
    \alpha \beta \lambda \Lambda \omega \Omega \epsilon \varepsilon \zeta \chi \pi \Sigma \iota \upsilon \wedge \vee
    \displaystyle \sim \approx \to \limsup \lim \big \Big \mathsf \perp \odot \forall \sup \inf \limits \dot
    """.split()
)


def faults(latex):
    """What a reader of LaTeX would stumble over: braces, \\left and \\right, environments, unknown
    commands."""
    found, depth = [], 0
    bare = re.sub(r"\\\\|\\[{}]", "", latex)
    for letter in bare:
        depth += (letter == "{") - (letter == "}")
        if depth < 0:
            break
    if depth:
        found.append("braces")
    for opening, closing in ((r"\left", r"\right"), (r"\begin", r"\end")):
        count = lambda word: len(re.findall(re.escape(word) + r"(?![A-Za-z])", latex))
        if count(opening) != count(closing):
            found.append(opening)
    if re.search(r"[_^]\s*(\}|$)|\^[^{}\\]?\^|__", bare):
        found.append("an empty script")
    return found + sorted(set(COMMAND.findall(latex)) - KNOWN)


@pytest.mark.parametrize(
    "latex",
    [r"\frac{1}{2", r"\left(x", r"\unknowncommand x", r"x_", r"\begin{cases} 1", r"}{", r"x__2"],
)
def test_bad_latex_is_seen(latex):
    assert faults(latex)


def test_every_claim_has_a_page_whose_latex_is_sound(tmp_path):
    pages = build_claims.write(tmp_path)
    assert {f"{c.id}.md" for c in CLAIMS} <= set(pages)
    for claim in CLAIMS:
        assert not [
            (latex, faults(latex)) for _, latex in build_claims.formulas(claim) if faults(latex)
        ]
        text = (tmp_path / f"{claim.id}.md").read_text()
        assert text.count("$$") % 2 == 0 and f"of_{claim.paper}.md" in text
        assert all(f"`{name}`" in text for name in claim.symbols)
        shown = [latex for kind, latex in build_claims.formulas(claim) if kind == "statement"]
        assert all(f"$$\n{latex}\n$$" in text for latex in shown)
    for link in re.findall(
        r"\]\(([^)]+\.md)\)", "".join((tmp_path / name).read_text() for name in pages)
    ):
        assert (tmp_path / link).is_file(), link


def test_a_page_bears_the_verdict_of_a_package_on_the_same_statement():
    from fedtheory.app import ledger

    claim = ft.claim("lamb.lemma1")
    found = {claim.id: ledger.decide_claim(claim, 0.01, 0)["verdict"]}
    (entry,) = ledger.build_ledger([claim], found, 0.01, 0)[0]["claims"]
    text = build_claims.page(claim, entry, "a budget")
    assert "## Verdict\n\n**violated** (enumerated)." in text
    assert "`fedtheory check lamb.lemma1 --budget 0.01 --seed 0`" in text
    for other in (dict(entry, latex=["a"]), dict(entry, statement=["a"]), None):
        assert build_claims.page(claim, other, "a budget") == build_claims.page(claim)
    assert build_claims.found("nowhere") == ({}, "")


def test_pages_of_claims_that_are_gone_go(tmp_path):
    (tmp_path / "old.claim.md").write_text("gone")
    build_claims.write(tmp_path)
    assert not (tmp_path / "old.claim.md").exists()


def test_markdown_is_escaped():
    assert build_claims.escaped("a_b | *c* <d> $e$") == r"a\_b \| \*c\* \<d\> \$e\$"


def test_the_generator_runs_alone(tmp_path):
    done = subprocess.run(
        [sys.executable, build_claims.__file__, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(ft.__file__).parents[1])},
    )
    assert done.returncode == 0 and done.stdout.endswith("pages\n")
