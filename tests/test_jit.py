"""The compiler's border: packing, erasure, and a cache that is fast, fresh and trusts nobody."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from fedtheory import jit
from fedtheory.errors import InvalidInput
from fedtheory.jit import types

ROOT = Path(__file__).resolve().parents[1]


class Inner(NamedTuple):
    v: np.ndarray
    n: int


class Outer(NamedTuple):
    A: np.ndarray
    c: float
    inner: Inner
    k: np.ndarray


def combine(data, i, x, out):
    for j in range(x.size):
        out[j] = data.c * data.A[i, j] * x[j] + data.inner.v[j] + data.inner.n + data.k[j]


needs_compiler = pytest.mark.skipif(
    jit.DISABLED, reason="nothing is compiled under NUMBA_DISABLE_JIT"
)


@needs_compiler
def test_a_packed_tuple_arrives_as_it_was():
    data = Outer(
        np.arange(6.0).reshape(2, 3),
        0.5,
        Inner(np.array([1.0, 2.0, 3.0]), 7),
        np.array([10, 20, 30]),
    )
    words = jit.pack(data)
    erased = jit.erase(
        jit.compile(combine), types.void, (jit.typeof(data), types.int64, jit.VECTOR, jit.VECTOR)
    )
    out, expected, x = np.empty(3), np.empty(3), np.array([2.0, -1.0, 4.0])
    erased(words.ctypes.data, 1, x, out)
    combine(data, 1, x, expected)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(
    "field", [np.ones((3, 4)).T, np.ones(6)[::2], np.array(["a"]), "word", None]
)
def test_what_would_be_misread_is_refused(field):
    """Numba is told that every array is C-contiguous: another one would be read in the wrong
    order."""
    with pytest.raises(InvalidInput, match="a kernel's tuple must hold"):
        jit.pack(Inner(field, 1))


def python(code, cache, **environment):
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        text=True,
        capture_output=True,
        cwd=ROOT,
        env=dict(os.environ, FEDTHEORY_CACHE_DIR=str(cache), **environment),
    )
    return run.stdout.strip(), run.stderr


LOUD = """
    from fedtheory import jit
    read, write = jit._Store.read, jit._Store.write
    found = []
    jit._Store.read = lambda self, name: found.append(read(self, name)) or found[-1]
    from fedtheory import rng
    import numpy as np
    print(rng.uniform(np.uint64(5), 1, 2, rng.NOISE, 0), sum(f is not None for f in found))
"""


@pytest.mark.slow
@needs_compiler
def test_a_second_process_reads_and_a_tampered_file_is_compiled_anew(tmp_path):
    (value, hits), (again, more) = (python(LOUD, tmp_path)[0].split() for _ in range(2))
    assert value == again and hits == "0" and int(more) > 0
    files = list((tmp_path / "kernels").iterdir())
    for damage in (
        lambda b: b[: len(b) // 2],
        lambda b: b[:40] + bytes([b[40] ^ 1]) + b[41:],
        lambda b: b"",
    ):
        for path in files:
            path.write_bytes(damage(path.read_bytes()))
        value, hits = python(LOUD, tmp_path)[0].split()
        assert value == again and hits == "0"


@needs_compiler
def test_a_wait_for_the_compiler_is_announced_once(tmp_path):
    code = (
        "from fedtheory import jit; jit.announce.append(lambda: print('compiling'))\n"
        + textwrap.dedent(LOUD)
    )
    assert python(code, tmp_path)[0].split().count("compiling") == 1
    assert "compiling" not in python(code, tmp_path)[0]


@needs_compiler
def test_a_planted_pickle_is_never_run(tmp_path):
    """A crafted cache file with a valid pickle but no seal of this folder's key."""
    python(LOUD, tmp_path)
    trap = tmp_path / "trap"
    attack = b"cos\nsystem\n(S'touch " + str(trap).encode() + b"'\ntR."
    for path in (tmp_path / "kernels").iterdir():
        path.write_bytes(b"\0" * 32 + attack)
    assert python(LOUD, tmp_path)[0] and not trap.exists()


@needs_compiler
def test_kernels_of_another_user_are_foreign(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    python(LOUD, one, XDG_CONFIG_HOME=str(tmp_path / "another"))
    python(LOUD, two)
    for path in (one / "kernels").iterdir():
        (two / "kernels" / path.name).write_bytes(path.read_bytes())
    assert python(LOUD, two)[0].split()[1] == "0"


@needs_compiler
def test_a_folder_others_can_write_to_is_not_used(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    out, err = python(LOUD, shared)
    assert out and "can be written by others" in err and not list(shared.iterdir())


@needs_compiler
def test_where_nothing_can_be_written_runs_are_uncached_with_one_warning(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    out, err = python(LOUD, blocked / "cache")
    assert out and err.count("are not stored for later processes") == 1


EDITED = """
    import sys
    sys.path.insert(0, {folder!r})
    import fedtheory.jit as jit
    from pathlib import Path
    jit.PACKAGE = Path({folder!r}) / "fedtheory"    # a package of our own, so that the test may edit it
    jit.source_hash.ROOT = jit.PACKAGE.parent
    sys.modules.pop("fedtheory.helper", None)
    import fedtheory
    fedtheory.__path__ = [{folder!r} + "/fedtheory"]
    from fedtheory.kernel import twice
    print(twice(1.0))
"""


@needs_compiler
def test_editing_a_helper_in_another_file_is_seen_by_the_next_process(tmp_path):
    package = tmp_path / "fedtheory"
    package.mkdir()
    helper, kernel = package / "helper.py", package / "kernel.py"
    kernel.write_text(
        "from fedtheory.jit import jit\nfrom fedtheory.helper import factor\n\n\n"
        "@jit\ndef twice(x):\n    return factor() * x\n"
    )
    write = lambda value: helper.write_text(
        f"from fedtheory.jit import jit\n\n\n@jit\ndef factor():\n    return {value}\n"
    )
    values = []
    for value in (2.0, 2.0, 200.0):
        write(value)
        values.append(python(EDITED.format(folder=str(tmp_path)), tmp_path / "cache")[0])
    assert values == ["2.0", "2.0", "200.0"]


def test_the_digest_follows_imports(tmp_path, monkeypatch):
    package = tmp_path / "fedtheory"
    package.mkdir()
    (package / "a.py").write_text("from fedtheory import (\n    b,\n)\n")
    (package / "b.py").write_text("import fedtheory.c\n")
    (package / "c.py").write_text("x = 1\n")
    (package / "far.py").write_text("y = 1\n")
    monkeypatch.setattr(jit.source_hash, "ROOT", tmp_path)

    def fresh(module):
        jit.source_hash.forget_files()
        return jit.module_digest.__wrapped__(module)

    before = fresh("fedtheory.a")
    (package / "far.py").write_text("y = 2\n")
    assert fresh("fedtheory.a") == before
    (package / "c.py").write_text('"""What it is."""\n\nx = 1  # one\n')
    assert fresh("fedtheory.a") == before
    (package / "c.py").write_text("x = 2\n")
    assert fresh("fedtheory.a") != before
    jit.source_hash.forget_files()
