"""Seals and the key behind them: what a folder brings along cannot run, whatever it says."""

import hmac
import os
import pickle
import shutil
import subprocess
import sys
import textwrap
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fedtheory import jit
from fedtheory.errors import Uncached
from fedtheory.store import private_cache

ROOT = Path(__file__).resolve().parents[1]
needs_compiler = pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user's home, with settings and a cache of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("FEDTHEORY_CACHE_DIR", raising=False)
    return tmp_path / "home"


SECRET = Path(".config", "fedtheory", "seal", "secret")


def test_the_key_stays_as_it_is_and_its_secret_is_the_users_alone(home):
    key = private_cache.lasting_key()
    assert key == private_cache.lasting_key() == private_cache.user_key()
    assert (home / SECRET).stat().st_mode & 0o777 == 0o600
    assert key != (home / SECRET).read_bytes()
    sealed = private_cache.seal("a", b"content")
    assert (
        private_cache.unseal("a", sealed) == b"content"
        and private_cache.unseal("b", sealed) is None
    )


def test_of_several_who_make_the_secret_at_once_the_first_does(home):
    with ThreadPoolExecutor(16) as pool:
        keys = {*pool.map(lambda _: private_cache.lasting_key(), range(64))}
    assert len(keys) == 1 and os.listdir(home / ".config" / "fedtheory") == ["seal"]


def test_a_copied_secret_is_another_key(home, monkeypatch, tmp_path):
    """A home that was packed with its secret and its cache, and unpacked elsewhere, or in its place."""
    sealed, key = private_cache.seal("a", b"content"), private_cache.lasting_key()
    shutil.copytree(home, tmp_path / "unpacked")
    monkeypatch.setenv("HOME", str(tmp_path / "unpacked"))
    assert (tmp_path / "unpacked" / SECRET).read_bytes() == (home / SECRET).read_bytes()
    assert private_cache.lasting_key() != key and private_cache.unseal("a", sealed) is None
    monkeypatch.setenv("HOME", str(home))
    assert private_cache.unseal("a", sealed) == b"content"
    moment = os.stat(home / SECRET)
    content = (home / SECRET).read_bytes()
    (home / SECRET).write_bytes(content)  # the same file, the same inode, another moment
    os.utime(home / SECRET, ns=(moment.st_atime_ns, moment.st_mtime_ns))
    assert private_cache.lasting_key() != key


def damaged_by_mode(path):
    path.chmod(0o644)


def damaged_by_length(path):
    path.write_bytes(path.read_bytes() + b"\n")


def damaged_by_link(path):
    path.rename(path.with_name("other"))
    path.symlink_to(path.with_name("other"))


def damaged_by_second_name(path):
    os.link(path, path.with_name("other"))


def damaged_by_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    "damage",
    [
        damaged_by_mode,
        damaged_by_length,
        damaged_by_link,
        damaged_by_second_name,
        damaged_by_folder,
    ],
)
def test_a_secret_that_others_could_know_or_name_is_none(home, damage):
    key = private_cache.lasting_key()
    damage(home / SECRET)
    with pytest.raises(OSError):
        private_cache.lasting_key()
    assert (
        private_cache.user_key() not in (key, b"")
        and private_cache.user_key() == private_cache.user_key()
    )
    with pytest.raises(OSError):  # nothing of any folder is read without a key that lasts
        private_cache.private_folder()


def test_a_folder_that_others_may_write_to_holds_no_secret(home):
    private_cache.lasting_key()
    (home / ".config" / "fedtheory").chmod(0o777)
    with pytest.raises(PermissionError, match="can be written by others"):
        private_cache.lasting_key()


def test_an_empty_folder_becomes_ones_own_and_a_filled_one_is_left_alone(
    home, tmp_path, monkeypatch
):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        own = private_cache.private_folder()
        assert own == home / ".cache" / "fedtheory" == private_cache.private_folder()
    other = tmp_path / "archive"
    (other / "kernels").mkdir(parents=True)
    (other / "seal").write_bytes(b"s" * private_cache.SEAL)
    (other / private_cache.MARK).write_bytes(
        private_cache.seal(private_cache.MARK, b"", b"the key that it brings")
    )
    monkeypatch.setenv("FEDTHEORY_CACHE_DIR", str(other))
    with pytest.warns(
        Uncached, match="was not made with this user's key: nothing in this folder is read"
    ):
        mine = private_cache.private_folder()
    assert mine.parent == other and private_cache.bears_mark(mine)
    with warnings.catch_warnings():  # it is said once
        warnings.simplefilter("error")
        assert private_cache.private_folder() == mine
    monkeypatch.setenv("FEDTHEORY_CACHE_DIR", str(own))
    assert private_cache.private_folder() == own


class Planted:
    """What runs where it is unpickled."""

    def __init__(self, trap):
        self.trap = trap

    def __reduce__(self):
        return os.mkdir, (self.trap,)


RUN = """
    import numpy as np
    from fedtheory import rng
    print(rng.uniform(np.uint64(5), 1, 2, rng.NOISE, 0))
"""


def run(**environment):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUN)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=dict(os.environ, **environment),
    )
    return done.stderr


def planted(files, secret, trap):
    """Kernels with a pickle of the attacker's in them, sealed by a secret that he knows."""
    for path in files:
        payload = pickle.dumps(Planted(str(trap)))
        message = path.name.encode() + b"\0" + payload
        path.write_bytes(hmac.digest(secret, message, "sha256") + payload)


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A home with a cache of kernels for exactly these sources, and the key by which they are sealed."""
    base = tmp_path_factory.mktemp("archive")
    assert not run(**at(base))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in at(base).items():
            patch.setenv(name, value)
        return base, private_cache.lasting_key()


def at(home, **steered):
    """The variables of a user with this home."""
    return dict(HOME=str(home), XDG_CONFIG_HOME="", XDG_CACHE_HOME="", FEDTHEORY_CACHE_DIR="") | {
        name: str(value) for name, value in steered.items()
    }


@pytest.mark.parametrize(
    "steered, known", [("FEDTHEORY_CACHE_DIR", 0), ("XDG_CACHE_HOME", 1), ("HOME", 1), ("HOME", 2)]
)
@needs_compiler
def test_an_unpacked_cache_that_brings_its_own_key_runs_nothing(archive, tmp_path, steered, known):
    """The whole attack, by every key that an archive can bring: the seal that lay in the cache once, the
    secret of the home around it, and what was derived from that where the archive was packed."""
    base, key = archive
    secret = (b"s" * private_cache.SEAL, (base / SECRET).read_bytes(), key)[known]
    unpacked, trap = tmp_path / "unpacked", tmp_path / "trap"
    shutil.copytree(base, unpacked)
    cache = unpacked / ".cache" / "fedtheory"
    planted((cache / "kernels").iterdir(), secret, trap)
    (cache / "seal").write_bytes(secret)
    (cache / private_cache.MARK).write_bytes(private_cache.seal(private_cache.MARK, b"", secret))
    place = dict(FEDTHEORY_CACHE_DIR=cache, XDG_CACHE_HOME=cache.parent, HOME=unpacked)
    said = run(**(at(tmp_path / "victim") | {steered: str(place[steered])}))
    assert said.count("was not made with this user's key") == 1
    assert not trap.exists()


@needs_compiler
def test_the_attack_is_one(archive, tmp_path):
    """By the right key what was planted runs: the test above could fail."""
    base, key = archive
    trap, files = tmp_path / "trap", [*(base / ".cache" / "fedtheory" / "kernels").iterdir()]
    before = {path: path.read_bytes() for path in files}
    planted(files, key, trap)
    run(**at(base))
    assert trap.is_dir()
    for path, content in before.items():
        path.write_bytes(content)


def test_a_home_that_cannot_be_written_to_has_no_key(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    with pytest.raises(OSError):
        private_cache.lasting_key()
    sealed = private_cache.seal("a", b"content")
    assert private_cache.unseal("a", sealed) == b"content"  # as long as this process lives
