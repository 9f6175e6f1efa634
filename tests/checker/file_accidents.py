"""File accidents, tested on every command that writes files:
`python -m tests.checker.file_accidents [--only WORD] [--list]`.

The accidents: a disk that fills at the first, second or third file; kill -9 between two renames;
Ctrl-C; a foreign file, a link or a folder in the place of each file; a changed file of the
command's own; read-only places; two commands at one folder; altered shards. After each accident,
every file that was there before must still be there, the command's files must be whole, the command
must have ended with a sentence, and the same command must succeed once the obstacle is gone.

Exit 0: nothing was lost. 1: a file was lost.
"""

import argparse
import contextlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fedtheory.app import cli, package
from fedtheory.store import files, outputs

SPEC = """
[problem]
kind = "quadratic"
d = 2
clients = 2
L = 1.0
mu = 0.5
[run]
algorithm = "fedavg"
rounds = 2
[hyper]
eta_l = 0.1
"""
CLAIM, QUICK = "fsl.gradient_identity", ("--budget", "0.01")
ENDS = {".pdf": b"%%EOF\n", ".png": b"IEND\xaeB`\x82", ".zip": None, ".npz": None}


class Writer(NamedTuple):
    """A command that writes files: a function from a folder to the command's arguments, and the
    names of the files that the command writes there."""

    name: str
    arguments: Callable[[Path], list[str]]
    places: tuple[str, ...]


WRITERS = (
    Writer(
        "check",
        lambda root: ["check", CLAIM, *QUICK, "--out", f"{root}/out"],
        (f"{CLAIM}.verdict.json", f"{CLAIM}.certificate.json"),
    ),
    Writer(
        "run",
        lambda root: ["run", f"{root}/spec.toml", "--out", f"{root}/out"],
        ("run.npz", "run.json", "run.pdf", "run.png"),
    ),
    Writer(
        "export",
        lambda root: ["export", f"{root}/proof.json", "--out", f"{root}/out/a.v"],
        ("a.v",),
    ),
    Writer("new", lambda root: ["new", "claim", f"{root}/out/mine.py"], ("mine.py",)),
    Writer(
        "verify",
        lambda root: (
            ["verify", CLAIM, *QUICK, "--executor", "serial", "--out", f"{root}/out"]
            + ["--zip", f"{root}/zip/package.zip"]
        ),
        ("LICENSE", "ledger.json", "../zip/package.zip"),
    ),
    Writer(
        "figures",
        lambda root: (
            ["figures", "fsl_table2", "--scale", "smoke", "--workers", "0"]
            + ["--out", f"{root}/out"]
        ),
        ("fsl_table2.pdf", "findings.json"),
    ),
)
MAKES_ANEW = ("new",)  # refuses any existing file, even its own
# these commands own their folder, and may move changed files aside
MOVES_ASIDE = ("verify", "figures")


# ---------------------------------------------------------------- checks


class Ended(NamedTuple):
    """The exit status and the output of a finished command."""

    status: int
    said: str


def run_command(arguments: list[str]) -> Ended:
    """Run a command in this process, and return its exit status and output."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = cli.main(arguments)
        except SystemExit as left:
            status = left.code if isinstance(left.code, int) else 1
        except KeyboardInterrupt:
            status = 130
    return Ended(status, err.getvalue())


def prepare_folder(root: Path) -> Path:
    """Fill a folder with the input files of the commands, and with unrelated files of a user."""
    (root / "spec.toml").write_text(SPEC)
    shutil.copy(proof(), root / "proof.json")
    (root / "thesis.tex").write_text("years")
    (root / "elsewhere").mkdir()
    (root / "elsewhere" / "data.csv").write_text("dear")
    return root


def proof() -> Path:
    """Return the path of a proof document for `export`; the document is computed once per process."""
    place = Path(tempfile.gettempdir()) / f"fedtheory-accidents-{os.getpid()}"
    if not (place / f"{CLAIM}.certificate.json").is_file():
        assert run_command(["check", CLAIM, *QUICK, "--out", str(place)]).status == 0
    return place / f"{CLAIM}.certificate.json"


def contents(root: Path) -> dict[str, object]:
    """Return everything below a folder as {relative path: content}: the bytes of a file, the target
    of a link, None for a folder."""
    return {
        path.relative_to(root).as_posix(): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else None
        for path in root.rglob("*")
    }


def find_lost(before: dict[str, object], root: Path, own: tuple[str, ...] = ()) -> list[str]:
    """Return the entries of `before` whose content is lost: neither at its path nor moved aside.
    Files named in `own` may be replaced by the command."""
    now = contents(root)
    kept = [content for name, content in now.items() if "aside" in name]
    return [
        name
        for name, content in before.items()
        if now.get(name, b"") != content and content not in kept and name not in own
    ]


def find_broken(root: Path) -> list[str]:
    """Return the names of files that are incomplete, temporary files aside."""
    return [
        path.name
        for path in root.rglob("*")
        if path.is_file() and not files.PART.fullmatch(path.name) and not whole(path)
    ]


def whole(path: Path) -> bool:
    """Tell whether a file ends as a complete file of its type does."""
    content, end = path.read_bytes(), ENDS.get(path.suffix, b"")
    try:
        if path.suffix == ".json":
            json.loads(content)
        elif path.suffix == ".npz":
            with np.load(path) as arrays:
                return all(arrays[name] is not None for name in arrays)
        elif path.suffix == ".zip":
            return shutil.unpack_archive(path, tempfile.mkdtemp(dir=path.parent)) is None
        return content.endswith(end or b"")
    except Exception:
        return False


def judge(found: Ended, good: tuple[int, ...] = (2,)) -> None:
    """Check that a command ended with an accepted exit status and an error message without a
    traceback."""
    assert found.status in good, found
    assert "Traceback" not in found.said and found.said.strip(), found


def succeeds(writer: Writer, root: Path) -> None:
    """Check that the command succeeds where nothing is in the way."""
    if writer.name in MAKES_ANEW:
        for name in writer.places:
            (root / "out" / name).unlink(missing_ok=True)
    found = run_command(writer.arguments(root))
    assert found.status == 0, found
    assert all((root / "out" / name).is_file() for name in writer.places) and not find_broken(root)


# ---------------------------------------------------------------- accidents


@contextlib.contextmanager
def failing(name: str, at: int, error: BaseException):
    """Make the system refuse the `at`-th call of a function of `os`, and all later calls, while the
    context lasts."""
    real, count = getattr(os, name), [0]

    def call(*arguments, **named):
        count[0] += 1
        if count[0] >= at:
            raise error
        return real(*arguments, **named)

    setattr(os, name, call)
    try:
        yield count
    finally:
        setattr(os, name, real)


def refused_by_the_system(error: BaseException, at: int, name: str = "fsync"):
    def accident(writer, root):
        own = tuple(f"out/{place}" for place in writer.places)
        before = contents(root)
        with failing(name, at, error) as count:
            found = run_command(writer.arguments(root))
        if count[0] < at:
            assert found.status == 0  # the command wrote fewer files
        else:
            judge(found, (130,) if isinstance(error, KeyboardInterrupt) else (1, 2))
        assert not find_lost(before, root, own) and not find_broken(root)
        succeeds(writer, root)

    return accident


KILLED = """
import os, signal, sys
count, real = [0], os.{name}
def call(*arguments, **named):
    count[0] += 1
    if count[0] == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)
os.{name} = call
from fedtheory.app import cli
sys.exit(cli.main(sys.argv[1:]))
"""


def kill_command(at: int, name: str = "replace"):
    def accident(writer, root):
        if writer.name not in MAKES_ANEW:
            succeeds(writer, root)
        before, own = contents(root), tuple(f"out/{place}" for place in writer.places)
        if writer.name == "run":
            (root / "spec.toml").write_text(SPEC.replace("rounds = 2", "rounds = 3"))
            before["spec.toml"] = (root / "spec.toml").read_bytes()
        done = subprocess.run(
            [sys.executable, "-c", KILLED.format(at=at, name=name), *writer.arguments(root)],
            capture_output=True,
            text=True,
        )
        assert done.returncode in (0, 2, -signal.SIGKILL) and "Traceback" not in done.stderr, done
        made = [name for name in before if name.startswith(("out/", "zip/"))]
        assert not find_lost(before, root, (*own, *made)) and not find_broken(root)
        succeeds(writer, root)

    return accident


def in_the_place(stand: Callable[[Path, Path], object]):
    """Build an accident: an object of somebody else stands at the path of each file that the
    command would write."""

    def accident(writer, root):
        for name in writer.places:
            place = root / "out" / name
            place.parent.mkdir(parents=True, exist_ok=True)
            stand(place, root)
        before = contents(root)
        judge(run_command(writer.arguments(root)))
        assert not find_lost(before, root)
        assert {n for n in contents(root) if "aside" in n} == set()

    return accident


def change_files(writer, root):
    """Check that output files that the user changed stay, or are moved aside where the command owns
    the folder."""
    succeeds(writer, root)
    for name in writer.places:
        with (root / "out" / name).open("ab") as file:
            file.write(b"\n% what I noted\n")
    before = contents(root)
    found = run_command(writer.arguments(root))
    judge(found, (0, 2) if writer.name in MOVES_ASIDE else (2,))
    made = [n for n in before if n.startswith("out/") and Path(n).name not in writer.places]
    assert not find_lost(before, root, tuple(made))


def at_a_place(place: str):
    """Build an accident: the output folder is a file, lies below a file, or is where nothing can be
    written."""

    def accident(writer, root):
        (root / "file").write_text("dear")
        (root / "link").symlink_to("elsewhere")
        before = contents(root)
        where = place.format(root=root)
        judge(run_command([text.replace(f"{root}/out", where) for text in writer.arguments(root)]))
        assert not find_lost(before, root)

    return accident


def to_a_full_output(writer, root):
    """Check that a command whose output goes to a full device ends with an error message, and that
    no file is lost or incomplete."""
    before = contents(root)
    with open("/dev/full", "wb") as full:
        command = [sys.executable, "-m", "fedtheory", *writer.arguments(root)]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    judge(Ended(done.returncode, done.stderr))
    own = tuple(f"out/{place}" for place in writer.places)
    assert not find_lost(before, root, own) and not find_broken(root)


def two_at_once(writer, root):
    """Check that two commands on one folder at the same time both end, and that the folder is
    complete afterwards."""
    before, command = contents(root), [sys.executable, "-m", "fedtheory", *writer.arguments(root)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)]
    both.append(
        subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    )
    for process in both:
        _, said = process.communicate()
        good = (0, 2) if writer.name in MAKES_ANEW else (0,)
        assert process.returncode in good and "Traceback" not in said, said
    assert not find_lost(before, root) and not find_broken(root)
    succeeds(writer, root)


def link(place, root):
    place.symlink_to(root / "elsewhere" / "data.csv")


EVERY: dict = {
    **{f"the disk is full at file {n}": refused_by_the_system(full, n)
       for n in (1, 2, 3) for full in (OSError(28, "No space left on device"),)},
    "the disk is full when a name is made": refused_by_the_system(OSError(28, "No space"), 1, "replace"),
    "no rights": refused_by_the_system(PermissionError(13, "Permission denied"), 1, "replace"),
    "Ctrl-C in mid-write": refused_by_the_system(KeyboardInterrupt(), 1),
    **{f"kill -9 before rename {n}": kill_command(n) for n in (1, 2)},
    "kill -9 before the first byte is safe": kill_command(1, "fsync"),
    "a file of somebody's": in_the_place(lambda place, root: place.write_bytes(b"dear")),
    "a link of somebody's": in_the_place(link),
    "a link that leads nowhere": in_the_place(lambda place, root: place.symlink_to("nowhere")),
    "a folder of somebody's": in_the_place(lambda place, root: place.mkdir()),
    "what I noted in its files": change_files,
    "--out is a file": at_a_place("{root}/file"),
    "--out lies below a file": at_a_place("{root}/file/out"),
    "--out is of the system": at_a_place("/proc/fedtheory"),
    "--out is a device": at_a_place("/dev/full"),
    "standard output is full": to_a_full_output,
    "two at once": two_at_once,
}  # fmt: skip


# ---------------------------------------------------------------- accidents of one command


def verify_package(root, *more):
    return run_command(WRITERS[4].arguments(root)[:-2] + list(more))


def at_a_thesis(root):
    """Check that the campaign refuses a folder of a user with checksums of its files, as data sets
    have them, and leaves the folder as it was."""
    out = root / "out"
    out.mkdir()
    (out / "README.md").write_text("My thesis.")
    (out / "LICENSE").write_text("All rights reserved.")
    (out / "data.csv").write_text("dear")
    named = contents(out)
    (out / package.SUMS).write_bytes(package.checksum_listing(named))
    before = contents(root)
    judge(verify_package(root))
    assert contents(root) == before


def at_a_store_of_another_key(root):
    (root / "out" / package.RESULTS).mkdir(parents=True)
    (root / "out" / package.RESULTS / "owner").write_bytes(b"s" * 32)
    (root / "out" / package.SUMS).write_bytes(package.checksum_listing({"thesis.tex": b"years"}))
    (root / "out" / "thesis.tex").write_bytes(b"years")
    before = contents(root)
    judge(verify_package(root))
    assert contents(root) == before


def at_a_store_that_is_a_link(root):
    assert verify_package(root).status == 0
    (root / "out" / package.RESULTS).rename(root / "store")
    (root / "out" / package.RESULTS).symlink_to(root / "store")
    before = contents(root)
    judge(verify_package(root))
    assert contents(root) == before


def beside_things_in_a_package(root):
    """Check that a note, an empty folder and a temporary file of another program survive in a
    package of the user's own when other claims are written into the package."""
    assert verify_package(root).status == 0
    (root / "out" / "notes.txt").write_text("dear")
    (root / "out" / ".mine.part").write_text("dear")
    (root / "out" / "later").mkdir()
    (root / "out" / "certificates" / "mine.json").write_text("{}")
    mine = ("out/notes.txt", "out/.mine.part", "out/later", "out/certificates/mine.json")
    before = {name: content for name, content in contents(root).items() if name in mine}
    other = [text.replace(CLAIM, "fsl.table2") for text in WRITERS[4].arguments(root)[:-2]]
    assert run_command(other).status == 0
    assert not find_lost(before, root) and set(mine) <= set(contents(root))
    # its own file was removed
    assert not (root / "out" / "certificates" / f"{CLAIM}.json").exists()


def shards_that(alter: Callable[[Path], object]):
    def accident(root):
        shard = root / "shard"
        assert run_command(
            [text.replace(f"{root}/out", str(shard)) for text in WRITERS[4].arguments(root)[:-2]]
            + ["--shard", "1/1"]
        ).status == 0  # fmt: skip
        for path in (shard / package.RESULTS).glob("*.sealed"):
            alter(path)
        before = contents(root)
        found = verify_package(root, "--merge", str(shard))
        judge(found, (1,))
        assert "are kept in none of these folders" in found.said and not find_lost(before, root)

    return accident


def a_verdict_that_is_another_now(root):
    """Check that the certificate of an earlier verdict is removed when the verdict changes, unless
    the user changed the certificate."""
    command = ["check", "lamb.lemma1", "--budget", "0.3", "--out", f"{root}/out"]
    assert run_command(command).status == 0
    stale = root / "out" / "lamb.lemma1.without7.certificate.json"
    outputs.Folder(root / "out").write({stale.name: b"{}\n"})
    assert run_command(command).status == 0 and not stale.exists()
    outputs.Folder(root / "out").write({stale.name: b"{}\n"})
    stale.write_text('{"mine": 1}\n')
    before = contents(root)
    judge(run_command(command))
    assert contents(root) == before


def a_run_file_that_leads(named: str):
    def accident(root):
        (root / "below").mkdir()
        (root / "below" / "link").symlink_to(root / "elsewhere")
        spec = SPEC.replace("rounds = 2", f"rounds = 2\nout = '{named.format(root=root)}'")
        (root / "below" / "spec.toml").write_text(spec)
        before, here = contents(root), Path.cwd()
        os.chdir(root / "below")
        try:
            judge(run_command(["run", "spec.toml"]))
        finally:
            os.chdir(here)
        assert contents(root) == before

    return accident


def run_with(root, **environment):
    command = [sys.executable, "-m", "fedtheory", *WRITERS[1].arguments(root)]
    found = subprocess.run(
        command, capture_output=True, text=True, env=dict(os.environ, **environment)
    )
    assert found.returncode == 0 and "Traceback" not in found.stderr, found.stderr
    return found.stderr


def a_cache_of_somebody_elses(root):
    """Check that files of somebody else with the names of cache files are neither read nor renewed
    nor removed."""
    cache = root / "cache"
    (cache / "kernels").mkdir(parents=True)
    for name in ("seal", "owner", "sources.sealed", "kernels/dear"):
        (cache / name).write_bytes(b"s" * 32)
    before = contents(root)
    assert "was not made with this user's key" in run_with(root, FEDTHEORY_CACHE_DIR=str(cache))
    assert not find_lost(before, root)


def a_cache_that_is_a_file(root):
    before = contents(root)
    run_with(root, FEDTHEORY_CACHE_DIR=str(root / "thesis.tex"))
    assert not find_lost(before, root)


def settings_that_are_a_file(root):
    """Check that a run succeeds where no key can be stored: everything is computed anew, and
    nothing is read from the cache."""
    before = contents(root)
    run_with(root, XDG_CONFIG_HOME=str(root / "thesis.tex"), FEDTHEORY_CACHE_DIR=f"{root}/cache")
    assert not find_lost(before, root)


def a_checkpoint_that_is_none(root):
    """Check that `ft.run` refuses a checkpoint path at which another file of the user lies."""
    import fedtheory as ft

    np.savez(root / "dear.npz", x=np.arange(3.0))
    before = contents(root)
    problem = ft.problems.quadratic(d=2, clients=2, L=1.0, mu=0.5, seed=0)
    try:
        ft.run(problem, "fedavg", rounds=2, eta_l=0.1, checkpoint=root / "dear.npz")
    except ft.errors.InvalidInput as error:
        assert "checkpoint must be" in str(error)
    else:
        raise AssertionError("it was taken for a run")
    assert contents(root) == before


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from fedtheory.app import cli
import fedtheory.app.commands, fedtheory.app.run_file
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
sys.exit(cli.main(sys.argv[1:]))
"""


def files_that_may_not_grow(root):
    """Check that a run writes all four of its files or none where the system lets no file grow
    beyond a few bytes."""
    before = contents(root)
    command = [sys.executable, "-c", LIMITED, *WRITERS[1].arguments(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    judge(Ended(done.returncode, done.stderr))
    assert not find_lost(before, root) and not (root / "out").exists()
    succeeds(WRITERS[1], root)


def a_disk_that_is_small(root):
    """Check that a run on a disk of 48 kB, where such a disk can be mounted, ends with an error
    message and leaves no incomplete file."""
    out = root / "out"
    out.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", "size=48k", "tmpfs", str(out)]
    if not shutil.which("mount") or subprocess.run(made, capture_output=True).returncode:
        return "no disk may be mounted here"
    try:
        (out / "dear.txt").write_text("dear")
        judge(run_command(WRITERS[1].arguments(root)))
        assert [path.name for path in out.iterdir()] == ["dear.txt"] and not find_broken(root)
    finally:
        subprocess.run(["umount", str(out)], check=True)
    return None


SPECIAL: dict = {
    "verify at a thesis with checksums": at_a_thesis,
    "verify at a store of another key": at_a_store_of_another_key,
    "verify at a store that is a link": at_a_store_that_is_a_link,
    "verify beside things of mine": beside_things_in_a_package,
    "merge of shards that were altered": shards_that(
        lambda path: path.write_bytes(path.read_bytes().replace(b"proved", b"vacuous"))
    ),
    "merge of shards that were cut off": shards_that(
        lambda path: path.write_bytes(path.read_bytes()[:-9])
    ),
    "merge of shards of another key": shards_that(
        lambda path: path.write_bytes(b"s" * 32 + path.read_bytes()[32:])
    ),
    "merge of shards that were taken away": shards_that(lambda path: path.unlink()),
    "check of what is decided otherwise now": a_verdict_that_is_another_now,
    "run of a file that leads above": a_run_file_that_leads("../../x"),
    "run of a file that leads anywhere": a_run_file_that_leads("{root}/elsewhere"),
    "run of a file that leads through a link": a_run_file_that_leads("link/x"),
    "run with a cache of somebody else's": a_cache_of_somebody_elses,
    "run with a cache that is a file": a_cache_that_is_a_file,
    "run with settings that are a file": settings_that_are_a_file,
    "run on files that may not grow": files_that_may_not_grow,
    "run on a small disk": a_disk_that_is_small,
    "a checkpoint that is none": a_checkpoint_that_is_none,
}


def accidents() -> dict[str, Callable[[Path], object]]:
    """Return {name: accident} of all accidents."""
    general = {
        f"{writer.name}: {name}": lambda root, w=writer, a=accident: a(w, root)
        for writer in WRITERS
        for name, accident in EVERY.items()
    }
    return general | SPECIAL


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.checker.file_accidents", description=__doc__
    )
    parser.add_argument("--only", default="", help="accidents whose names contain this")
    parser.add_argument("--list", action="store_true", help="their names alone")
    given = parser.parse_args(arguments)
    some = {name: one for name, one in accidents().items() if given.only in name}
    if given.list:
        print("\n".join(some))
        return 0
    wrong = skipped = 0
    for name, accident in some.items():
        with tempfile.TemporaryDirectory(prefix="fedtheory-accident-") as folder:
            try:
                why = accident(prepare_folder(Path(folder)))
                skipped += bool(why)
                if why:
                    print(f"{name}: left out, {why}", flush=True)
            except Exception as error:
                wrong += 1
                print(f"LOST {name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
    shutil.rmtree(proof().parent)
    print(
        f"{len(some) - skipped} accidents, {wrong} in which something was lost, {skipped} left out"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
