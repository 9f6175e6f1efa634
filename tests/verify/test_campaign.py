"""The campaign from its command line: killed and resumed, interrupted, asked again, asked
wrongly."""

import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest

from fedtheory import discover
from fedtheory.app import ledger, package
from fedtheory.rocq import derivations
from fedtheory.store import private_cache
from fedtheory.verify import build_package, campaign
from fedtheory.verify.__main__ import main

pytestmark = pytest.mark.slow  # each test is a campaign, or several

ROOT = Path(__file__).resolve().parents[2]
SOME = (
    "fsl.lemma3",
    "lamb.lemma1",
    "fsl.table",
    "flex.table4_MNIST",
)  # holds, violated, counts, findings
ASK = [*SOME, "--budget", "0.01"]


def start(out, *more):
    heard = lambda: signal.signal(
        signal.SIGINT, signal.SIG_DFL
    )  # tests in the background ignore Ctrl-C
    return subprocess.Popen(
        [sys.executable, "-m", "verify", *ASK, "--out", str(out), *more],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heard,  # noqa: PLW1509 (no threads yet)
    )


def results(out):
    return [
        path
        for path in (out / package.RESULTS).glob("*.sealed")
        if path.name != build_package.STAMP
    ]


def opened(out):
    return package.open_ledger((out / "ledger.json").read_bytes())


def until(process, out, number):
    """Wait until so many results are kept, or the process has ended."""
    while process.poll() is None and len(results(out)) < number:
        time.sleep(0.005)


def claims():
    return [claim for claim in discover.claims() if claim.id.startswith(SOME)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A package made without interruption."""
    out = tmp_path_factory.mktemp("whole") / "verify"
    process = start(out)
    told, said = process.communicate()
    assert process.returncode == 0, said
    return out, told, said


def test_the_package_has_every_claim_and_says_what_was_found(whole):
    out, told, said = whole
    book = opened(out)
    assert [entry["id"] for entry in book["claims"]] == [claim.id for claim in claims()]
    assert book["counts"]["violated"] >= 1 and sum(book["counts"].values()) == len(book["claims"])
    assert package.unlike_sums(package.folder_contents(out)[0]) == []
    assert re.search(r"^  lamb\.lemma1: .+", told, re.MULTILINE)
    assert told.startswith(f"{len(claims())} claims: ")
    assert str(out / "index.html") in told
    assert f"{len(claims())}/{len(claims())} claims decided" in said and "violated" in said
    timings = json.loads((out / "timings.json").read_text())
    assert set(timings) == {claim.id for claim in claims()} and all(
        t["seconds"] >= 0 for t in timings.values()
    )
    environment = json.loads((out / "environment.json").read_text())
    assert environment["python"] and environment["processor"]["features"] is not None


def test_nothing_is_done_twice_and_formulas_are_not_even_loaded(whole):
    out, told, _ = whole
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    code = (
        "import sys; from fedtheory.verify.__main__ import main; "
        f"status = main({ASK + ['--out', str(out)]!r}); print('sympy' in sys.modules, status)"
    )
    again = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert again.stdout == told + "False 0\n" and "nothing changed" in again.stderr
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_a_forged_package_is_made_anew_though_its_stamp_and_checksums_fit(tmp_path, capsys):
    """What made a package can be computed by anyone; that this user made it cannot be said without
    the key."""
    out, ask = (
        tmp_path / "verify",
        ["fsl.gradient_identity", "--budget", "0.01", "--workers", "0", "--out"],
    )
    assert main([*ask, str(out)]) == 0
    told = capsys.readouterr().out
    (out / "ledger.json").write_bytes(
        (out / "ledger.json").read_bytes().replace(b'"proved"', b'"violated"')
    )
    files, _ = package.folder_contents(out)
    (out / package.SUMS).write_bytes(package.checksum_listing(files))
    stamp = private_cache.unseal(
        build_package.STAMP, (out / package.RESULTS / build_package.STAMP).read_bytes()
    )
    made_from = stamp.decode().split()[0]
    (out / package.RESULTS / build_package.STAMP).write_bytes(
        private_cache.seal(
            build_package.STAMP,
            build_package._made_from_digest(made_from, files),
            b"the forger's own key",
        )
    )
    assert main([*ask, str(out)]) == 0
    again = capsys.readouterr()
    assert (
        again.out == told
        and "nothing changed" not in again.err
        and opened(out)["counts"]["proved"] == 1
    )


def test_only_what_changed_is_looked_for_again(whole, tmp_path):
    out, _, _ = whole
    names = {claim.id: ledger.result_key(claim, 0.01, 0) for claim in claims()}
    kept = {name: ledger.load_result(out / package.RESULTS, key) for name, key in names.items()}
    assert None not in kept.values()
    for name, key in list(names.items())[1:]:
        ledger.keep_result(tmp_path, key, kept[name])
    line = StringIO()
    found = campaign.run_campaign(
        claims(), 0.01, 0, tmp_path, "serial", campaign.Progress(claims(), line)
    )
    assert f"{len(names)} claims, {len(names) - 1} of them decided before" in line.getvalue()
    assert {name: r["verdict"] for name, r in found.items()} == {
        name: r["verdict"] for name, r in kept.items()
    }


def test_a_campaign_killed_again_and_again_makes_the_same_ledger(whole, tmp_path):
    out, kills = tmp_path / "verify", 0
    for number in sorted(random.Random(5).sample(range(len(claims())), 3)):
        process = start(out)
        until(process, out, number)
        kills += process.poll() is None
        process.kill()
        process.communicate()
    assert kills >= 2
    process = start(out, "--workers", "1")
    process.communicate()
    assert process.returncode == 0
    assert same(out) == same(whole[0])


def test_processes_do_not_outlive_a_campaign_that_was_killed(tmp_path):
    out = tmp_path / "verify"
    process = start(out)
    until(process, out, 1)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers = children.read_text().split() if children.exists() else []
    process.kill()
    process.communicate()
    end = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_ctrl_c_says_how_many_are_kept(tmp_path):
    out = tmp_path / "verify"
    process = start(out, "--budget", "60")
    until(process, out, 1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    number, total = re.search(
        r"verify: interrupted; (\d+) of (\d+) claims are decided and kept", said
    ).groups()
    assert (
        int(total) == len(claims()) and int(number) <= len(results(out)) and "Traceback" not in said
    )


class Killer:
    """Progress that kills one process at the first opportunity."""

    def begin(self, found):
        self.killed = 0

    def show(self, found):
        for process in multiprocessing.active_children()[: 1 - self.killed]:
            self.killed += 1
            os.kill(process.pid, signal.SIGKILL)

    def end(self):
        pass


def test_a_process_that_dies_is_replaced(whole, tmp_path):
    killer = Killer()
    found = campaign.run_campaign(claims(), 0.01, 0, tmp_path, say=killer)
    assert killer.killed == 1 and list(found) == [claim.id for claim in claims()]
    entries = opened(whole[0])["claims"]
    assert [r["verdict"]["status"] for r in found.values()] == [
        entry["verdict"]["status"] for entry in entries
    ]


# what tells how long it took, or how large what tells it is
TIMED = ("timings.json", "claims.csv", "README.md", "ro-crate-metadata.json", package.SUMS)


def same(folder):
    """What a package holds that no clock decides."""
    return {
        name: content
        for name, content in package.folder_contents(folder)[0].items()
        if name not in TIMED
    }


def test_shards_merged_and_threads_make_the_same_ledger(whole, tmp_path, capsys):
    shards = [tmp_path / "a", tmp_path / "b"]
    for n, out in enumerate(shards, 1):
        assert main([*ASK, "--executor", "threads:2", "--shard", f"{n}/2", "--out", str(out)]) == 0
        assert not (out / "ledger.json").exists() and 0 < len(results(out)) < len(claims())
    assert sum(len(results(out)) for out in shards) == len(claims())
    merge = [*ASK, "--out", str(tmp_path / "all"), "--merge"]
    assert main([*merge, str(shards[0])]) == 1
    assert "are kept in none of these folders" in capsys.readouterr().err
    assert main([*merge, *map(str, shards)]) == 0
    assert same(tmp_path / "all") == same(whole[0])


def test_two_campaigns_at_once_in_one_folder_lose_nothing(whole, tmp_path):
    out = tmp_path / "verify"
    both = [start(out, "--executor", "serial") for _ in range(2)]
    assert [process.communicate() and process.returncode for process in both] == [0, 0]
    moved = sum(bool(claim.lines) for claim in claims())  # what the page moves is kept too
    assert same(out) == same(whole[0]) and len(results(out)) == len(claims()) + moved
    assert package.unlike_sums(package.folder_contents(out)[0]) == []


def test_a_full_disk_is_said_and_what_was_kept_before_stays(whole, tmp_path, monkeypatch, capsys):
    store, kept = tmp_path / "verify" / package.RESULTS, []

    def full(folder, name, result):
        if len(kept) == 3:
            raise OSError(28, "No space left on device", str(folder))
        kept.append(name)
        keep(folder, name, result)

    keep = ledger.keep_result
    with monkeypatch.context() as patch:
        patch.setattr(ledger, "keep_result", full)
        assert main([*ASK, "--executor", "serial", "--out", str(tmp_path / "verify")]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert {path.stem for path in store.glob("*.sealed")} == set(kept)
    assert main([*ASK, "--executor", "serial", "--out", str(tmp_path / "verify")]) == 0
    assert same(tmp_path / "verify") == same(whole[0])


def test_a_process_that_runs_other_sources_keeps_nothing():
    with pytest.raises(campaign.Broken, match="sources, libraries or files are not the giver's"):
        campaign.decide_claim("fsl.lemma3", 0.01, 0, "the key of other sources")
    with pytest.raises(campaign.Broken, match="sources, libraries or files are not the giver's"):
        campaign.explore_claim("fsl.lemma3", 0.01, 0, "the key of other sources")


def test_what_a_page_moves_is_made_by_workers_once(tmp_path, monkeypatch):
    """With runs, without runs, without a bound; each as this process makes it."""
    names = ("fsl.theorem2", "fsl.theorem1", "fsl.gradient_identity", "lamb.lemma1")
    some = [discover.claim(name) for name in names]
    found = campaign.run_campaign(some, 0.01, 0, tmp_path, "processes:1", pages=True)
    assert [found[name]["explored"] for name in names] == [package.slider_json(n) for n in names]
    runs, none, nothing, _ = (json.loads(found[name]["explored"] or "null") for name in names)
    assert "beside" in runs and "beside" not in none and nothing is None
    monkeypatch.setattr(package, "slider_json", None)
    # derivations are those of the certificates, and not kept
    lemma = found["lamb.lemma1"]
    (one, *_), made = ledger.certificates_of(lemma["verdict"]), lemma["derived"]
    assert made[ledger.digest_of(one)] == derivations.list_derivations(one) != []
    again = campaign.run_campaign(some, 0.01, 0, tmp_path, "serial", pages=True)
    assert again == {name: {**result, "derived": {}} for name, result in found.items()}


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--budget", "-1"], "--budget must be a positive number of seconds; got '-1'"),
        (["--budget", "nan"], "--budget must be a positive number of seconds; got 'nan'"),
        (["--seed", "x"], "--seed must be an integer >= 0; got 'x'"),
        (["--workers", "-1"], "--workers must be from 0 to 4096; got '-1'"),
        (["--smoke", "--budget", "1"], "--smoke has a budget of its own; got '--budget 1'"),
        (["--shard", "0/2"], "--shard must be I/N, 1/N to N/N; got '0/2'"),
        (["--shard", "3/2"], "--shard must be I/N, 1/N to N/N; got '3/2'"),
        (
            ["--executor", "magic"],
            "--executor must be serial, threads:N, processes:N, dask://HOST:PORT or mpi, or a concurrent.futures.Executor; got 'magic'",
        ),
        (["--executor", "serial", "--workers", "2"], "--workers goes without --executor; got '2'"),
        (["--merge", "nowhere"], "--merge must be folders of campaigns over shards; got 'nowhere'"),
        (["--all"], "--all goes with --replay; got 'no --replay'"),
        (["--sample", "0"], "--sample goes with --replay; got 'no --replay'"),
        (["--replay", ".", "--sample", "-1"], "--sample must be an integer >= 0; got '-1'"),
        (["--replay", "nowhere"], "--replay must be the folder of a package; got 'nowhere'"),
        (
            ["--replay", ".", "--smoke"],
            "--replay takes no other options than --figures, --rocq, --workers, --executor, --all, --sample, --sample-seed, --json; got '.'",
        ),
        (["--wrong"], "takes no '--wrong': did you mean --rocq?; see python -m verify --help"),
        (["no.such.claim"], "PREFIX must begin the id of a claim; got 'no.such.claim'"),
    ],
)
def test_bad_options_are_refused_in_one_sentence(arguments, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(arguments)
    except SystemExit as left:
        status = left.code
    assert status == 2
    assert capsys.readouterr().err == f"verify: {said}\n"
    assert not list(tmp_path.iterdir())


def test_a_folder_with_other_things_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.tex").write_text("mine")
    assert main([*ASK, "--out", str(tmp_path)]) == 2
    assert "--out must be a new or an empty folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_progress_names_the_worst_ratio_and_what_is_left():
    some = claims()
    line = StringIO()
    say = campaign.Progress(some, line)
    say.begin({})
    say.show({some[0].id: dict(verdict=dict(tightness="inf", status="violated"))}, last=True)
    assert line.getvalue().splitlines()[1].startswith(f"1/{len(some)} claims decided, ")
    assert (
        line.getvalue()
        .splitlines()[1]
        .endswith(f" s left, worst ratio inf ({some[0].id}), 1 violated")
    )


def test_time_is_left_while_sliders_are_made(monkeypatch):
    clock = iter([0.0, 10.0, 14.0])
    monkeypatch.setattr(campaign.time, "monotonic", lambda: next(clock))
    some, line, made = [c for c in claims() if c.lines][:2], StringIO(), {}
    moved = {claim.id: "" for claim in some}
    say = campaign.Progress(some, line, (made, moved), budget=campaign.SLIDERS)
    found = {name: dict(verdict=dict(tightness=None, status="holds")) for name in moved}
    say.begin({})
    say.show(found, last=True)
    made[some[0].id] = None
    say.show(found, last=True)
    first, second = line.getvalue().splitlines()[1:]
    assert first == "2/2 claims decided, sliders of 0/2, 10 s left, 0 violated"
    assert second == "2/2 claims decided, sliders of 1/2, 4 s left, 0 violated"


def test_findings_of_figures_reach_the_ledger_and_the_page(tmp_path):
    pictures = tmp_path / "figures"
    pictures.mkdir()
    (pictures / "some.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    name = next(claim.id for claim in claims() if claim.kind == "finding")
    (pictures / "findings.json").write_text(
        json.dumps(
            [
                dict(
                    claim=name,
                    figure="some",
                    scale="smoke",
                    verdict="reproduced",
                    sentence="reproduced: 1 and 2",
                )
            ]
        )
    )
    (pictures / "figures.json").write_text(
        json.dumps([dict(figure="some", scale="smoke", claims=[name])])
    )
    out = tmp_path / "verify"
    assert main(["flex.table4_MNIST", "--budget", "0.01", "--workers", "0", "--out", str(out)]) == 0
    entry = next(entry for entry in opened(out)["claims"] if entry["id"] == name)
    assert entry["finding"]["verdict"] == "reproduced" and entry["plots"] == ["some"]
    assert (out / "figures" / "some.svg").exists() and "data-packed" in (
        out / "index.html"
    ).read_text()


@pytest.mark.parametrize(
    "left, status, said",
    [(0, 0, ""), (1, 0, "some figures were not made"), (130, 130, "interrupted")],
)
def test_figures_are_made_first_where_asked_for(tmp_path, monkeypatch, capsys, left, status, said):
    asked = []

    def ran(command, **_):
        asked.append(command[1:])
        return subprocess.CompletedProcess(command, left)

    monkeypatch.setattr(build_package.subprocess, "run", ran)
    out = tmp_path / "verify"
    assert (
        main(
            [
                "flex.table4_late",
                "--budget",
                "0.01",
                "--workers",
                "0",
                "--figures",
                "--out",
                str(out),
            ]
        )
        == status
    )
    assert asked == [
        ["-m", "fedtheory", "figures", "--scale", "smoke", "--out", str(tmp_path / "figures")]
    ]
    assert said in capsys.readouterr().err
