"""Readers of files: what is read is what was written by hand, and what cannot be meant is refused
before it takes memory."""

import gzip
import json
import os
import pickle
import struct
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.errors import InvalidInput
from fedtheory.experiments.data import _files
from fedtheory.experiments.data.formats import arrays, cifar, idx, libsvm, ratings, stl10, text


def idx_file(path, shape, values, kind=8):
    path.write_bytes(
        bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values
    )
    return path


def refused(words, call, *arguments):
    with pytest.raises(InvalidInput) as caught:
        call(*arguments)
    said = str(caught.value)
    assert words in said and "\n" not in said, said


def test_idx_is_read_as_it_was_written(tmp_path):
    plain = idx_file(tmp_path / "a", (2, 1, 3), bytes([1, 2, 3, 4, 5, 6]))
    packed = tmp_path / "b.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    for path in (plain, packed):
        assert idx.read_idx(path, 3).tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    assert isinstance(idx.read_idx(plain), np.memmap)  # shared with whoever reads it too


def test_idx_that_lies_is_refused_from_its_header(tmp_path):
    tracemalloc.start()
    most = 2**32 - 1
    refused("at most", idx.read_idx, idx_file(tmp_path / "a", (most, most), b""))
    refused("bytes", idx.read_idx, idx_file(tmp_path / "b", (2, 2), b"123"))
    refused("bytes", idx.read_idx, idx_file(tmp_path / "c", (2, 2), b"12345"))
    refused("0, 0, 8", idx.read_idx, idx_file(tmp_path / "d", (4,), b"1234", kind=9))
    refused("axes", lambda: idx.read_idx(idx_file(tmp_path / "e", (4,), b"1234"), 3))
    (tmp_path / "f").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    refused("0, 0, 8", idx.read_idx, tmp_path / "f")
    whole = gzip.compress(idx_file(tmp_path / "g", (4,), b"1234").read_bytes())
    (tmp_path / "h.gz").write_bytes(whole[:-6])
    refused("breaks off", idx.read_idx, tmp_path / "h.gz")
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_a_bomb_is_left_folded(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(64):
            stream.write(bytes(2**20))
    tracemalloc.start()
    refused("at most 100000 bytes", _files.read_content, path, 100000)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


READ = """
import json, resource, sys
import numpy as np
import fedtheory as ft
from fedtheory.errors import InvalidInput
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    told = ft.data.read(sys.argv[1], **json.loads(sys.argv[2])).X.shape
except InvalidInput as error:
    told = str(error)
used = resource.getrusage(resource.RUSAGE_SELF)
print(told, used.ru_maxrss - base, used.ru_utime, sep="|")
"""


@pytest.mark.parametrize(
    "name, line, options, told",
    [
        ("a.csv.gz", b"1,1\n", {}, "(4194304, 1)"),
        ("a.csv.gz", b"1,1\n", dict(cells=10**6), "must hold at most 1000000 numbers"),
        ("b.svm.gz", b"1 1:1\n", {}, "(2796202, 1)"),
        ("b.svm.gz", b"1 1000000:1\n", {}, "must hold at most 67108864 numbers"),
        ("c.svm.gz", b"1\n", dict(cells=10**6), "must hold at most 1000000 numbers"),
        ("d.npz", b"", {}, "(50000000,)"),
    ],
)
def test_what_unfolds_far_is_read_in_bounded_memory_and_time(tmp_path, name, line, options, told):
    """Some 16 kB: as lists of texts these took 700 MB and ten seconds; the arrays take 64 MB."""
    path = tmp_path / name
    if line:
        path.write_bytes(gzip.compress(line * (2**24 // len(line)), 6))
    else:
        y = np.zeros(5 * 10**7, np.uint8)
        np.savez_compressed(path, X=y, y=y, other=y)
    asked = [sys.executable, "-c", READ, path, json.dumps(options)]
    child = subprocess.run(asked, capture_output=True, text=True, check=True)
    said, kilobytes, seconds = child.stdout.split("|")
    assert told in said and "\n" not in said.strip(), said
    assert int(kilobytes) < (320_000 if line else 140_000) and float(seconds) < 12, child.stdout


def test_tables_are_read_whatever_ends_their_lines(tmp_path, monkeypatch):
    path, wanted = tmp_path / "a.csv", [[1.5, -2.0], [3.0, 4.0], [0.5, 600.0]]
    rows = ["1.5, -2,a", '"3",4,a', ".5,6e2,b"]
    for size in (1, 2, 3, 5, 2**20):
        monkeypatch.setattr(_files, "BLOCK", size)
        for end in ("\n", "\r\n", "\r"):
            for head in ("", "x,y,z" + end, end):
                numbers = end.join(rows).replace(",a", ",7").replace(",b", ",9")
                path.write_bytes((head + numbers + end * (size % 2)).encode())
                X, y = arrays.read_table(path)
                assert X.tolist() == wanted and y.tolist() == [0, 0, 1]
                samples = end.join(["+1 1:1.5 3:-2 # a:b", "", "-1", "+1  2:.5\t3:6e2"])
                path.write_bytes(samples.encode())
                X, y = libsvm.read_libsvm(path)
                assert X.tolist() == [[1.5, 0, -2], [0, 0, 0], [0, 0.5, 600]]
                assert y.tolist() == [1, 0, 1]


def test_tables_are_what_a_slow_reader_finds(tmp_path):
    random, path = np.random.default_rng(4), tmp_path / "a"
    numbers = random.standard_normal((300, 7)) * 10.0 ** random.integers(-300, 300, (300, 7))
    numbers[:, -1] = random.integers(0, 5, 300)
    path.write_text("\n".join(",".join(map(repr, row)) for row in numbers.tolist()))
    X, y = arrays.read_table(path)
    assert np.array_equal(X, numbers[:, :-1]) and np.array_equal(y, numbers[:, -1])
    samples, wanted = [], np.zeros((300, 40))
    for n in range(300):
        places = np.sort(random.choice(40, random.integers(0, 9), replace=False))
        wanted[n, places] = numbers[n, 0] * random.standard_normal(len(places))
        pairs = [f"{place + 1}:{float(wanted[n, place])!r}" for place in places]
        samples.append(" ".join([str(n % 3), *pairs]))
    path.write_text("\n".join(samples))
    X, y = libsvm.read_libsvm(path, 40)
    assert np.array_equal(X, wanted) and y.tolist() == [n % 3 for n in range(300)]


@pytest.mark.parametrize(
    "reader, text, words",
    [
        (
            arrays.read_table,
            "1,2\n" + "x" * 140_000 + ",3",
            "row 2 must hold 2 finite numbers; got",
        ),
        (
            arrays.read_table,
            "x" * 140_000 + ",3\n1,2",
            "row 1 must hold rows of two numbers or more",
        ),
        (arrays.read_table, "1,2\n3,4\x00", "row 2 must hold 2 finite numbers"),
        (arrays.read_table, "1,2\n3,4_0", "row 2 must hold 2 finite numbers"),
        (arrays.read_table, "1,2\n3,4,5", "row 2 must hold 2 finite numbers"),
        (arrays.read_table, "1,2\n3,1e999", "row 2 must hold 2 finite numbers"),
        (arrays.read_table, "1,2\n \n3,4", "row 2 must hold 2 finite numbers"),
        (arrays.read_table, "1,\u0661\n", "must hold rows of two numbers or more"),
        (
            arrays.read_table,
            "," * 2**20,
            "row 1 must hold rows of two numbers or more, and at most",
        ),
        (arrays.read_table, "", "must hold rows of two numbers or more; got '0 rows'"),
        (libsvm.read_libsvm, "1 1:1\n:1", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1 2:", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1 2: 3", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1 2:3:4", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1 2 3:4", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1:2 3:4", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1 1.5:4", "row 2 must be a label and pairs"),
        (libsvm.read_libsvm, "1 1:1\n1 0:4", "row 2 must number features upwards in 1 .. 1048576"),
        (libsvm.read_libsvm, "1 1:1\n1 2:4 2:5", "row 2 must number features upwards"),
        (
            libsvm.read_libsvm,
            "1 1:1\n1 99999999999999999999:4",
            "row 2 must number features upwards",
        ),
        (libsvm.read_libsvm, "1 1:1\n1 1:nan", "row 2 must hold finite numbers"),
        (libsvm.read_libsvm, "1 1:1\n\u0661 1:1", "row 2 must be"),
    ],
)
def test_rows_that_are_no_numbers_are_named(tmp_path, reader, text, words):
    path = tmp_path / "a"
    path.write_text(text)
    refused(words, reader, path)


def test_what_is_asked_of_a_file_is_compared_with_what_its_kind_takes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("1,2\n")
    for wrong in (5, None, b"a.csv", "a\0b", "a" * 5000, [path]):
        refused("path must be a file that exists", ft.data.read, wrong)
    refused("must be one of label, most, cells; got 'axes'", lambda: ft.data.read(path, axes=1))
    refused("cells must be an integer >= 2", lambda: ft.data.read(path, cells="2"))
    np.savez(tmp_path / "b.npz", X=np.zeros(()), y=np.zeros(()))
    refused("X must have rows", ft.data.read, tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", X=np.zeros(2), y=np.zeros(2), y_test=np.zeros(3))
    refused("must hold as many rows of X_test as of y_test", ft.data.read, tmp_path / "c.npz")


def test_text_is_the_same_however_it_is_cut(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("Déjà vu: ﷺ 42% \u0301", "utf-8")
    wanted = text.character_codes(path.read_text("utf-8")).tolist()
    for size in (1, 2, 3, 2**20):
        monkeypatch.setattr(_files, "BLOCK", size)
        assert text.read_text(path).tolist() == wanted


def test_cifar_binary(tmp_path):
    path = tmp_path / "batch.bin"
    path.write_bytes(bytes([7]) + bytes(range(256)) * 12 + bytes([0]) + bytes([9]) * 3072)
    X, y = cifar.read_binary(path)
    assert y.tolist() == [7, 0] and X.shape == (2, 3, 32, 32)
    assert X[0, 0, 0, :3].tolist() == [0, 1, 2] and X[0, 1, 0, 0] == 1024 % 256 and X[1].min() == 9
    path.write_bytes(b"123")
    refused("records of 3073 bytes", cifar.read_binary, path)
    path.write_bytes(bytes([10]) + bytes(3072))
    refused("labels of 0 .. 9", cifar.read_binary, path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("protocol", [2, 4])
def test_cifar_pickled(tmp_path, order, protocol):
    images = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    batch = {b"labels": [3, 4], b"data": np.array(images, order=order), b"filenames": [b"a", b"b"]}
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps(batch, protocol=protocol))
    X, y = cifar.read_python_batch(path)
    assert y.tolist() == [3, 4] and np.array_equal(X.reshape(2, -1), images)


class Hostile:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_a_pickle_is_no_program_here(tmp_path):
    path, mark = tmp_path / "batch", tmp_path / "ran"
    path.write_bytes(pickle.dumps({b"labels": [1], b"data": Hostile(str(mark))}))
    refused("it asks for", cifar.read_python_batch, path)
    assert not mark.exists()
    for program in (
        b"\x80\x02]r\xff\xff\xff\x7f.",  # a place in the memo that is 16 GB away
        b"\x80\x02X\xff\xff\xff\x7fabc.",  # a text of 2 GB that is not there
        b"(" * 10000,
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"\x80\x02}b.",
        b"\x80\x02(" + b"]" * 2**21 + b"l.",  # two million lists
        b"",
    ):
        path.write_bytes(program)
        refused(str(path), cifar.read_python_batch, path)


@pytest.mark.parametrize(
    "batch, words",
    [
        ([1], "dictionary"),
        ({b"labels": [1.0], b"data": np.zeros((1, 3072), np.uint8)}, "list of labels"),
        ({b"labels": [11], b"data": np.zeros((1, 3072), np.uint8)}, "labels of 0 .. 9"),
        ({b"labels": [-1], b"data": np.zeros((1, 3072), np.uint8)}, "labels of 0 .. 9"),
        ({b"labels": [1], b"data": np.zeros((2, 3072), np.uint8)}, "1 images"),
        ({b"labels": [1], b"data": np.zeros((1, 384))}, "array's shape says"),
        ({b"labels": [1], b"data": b"bytes"}, "array of data"),
    ],
)
def test_a_batch_that_does_not_fit(tmp_path, batch, words):
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps(batch, protocol=2))
    refused(words, cifar.read_python_batch, path)


def test_stl10_stands_upright(tmp_path):
    image = np.zeros((3, 96, 96), np.uint8)
    image[1, 2, 5] = 200  # row 2, column 5
    (tmp_path / "X.bin").write_bytes(image.swapaxes(1, 2).tobytes())
    assert np.array_equal(stl10.read_images(tmp_path / "X.bin")[0], image)
    (tmp_path / "y.bin").write_bytes(bytes([1, 10]))
    assert stl10.read_labels(tmp_path / "y.bin").tolist() == [0, 9]
    (tmp_path / "y.bin").write_bytes(bytes([0]))
    refused("labels of 1 .. 10", stl10.read_labels, tmp_path / "y.bin")


@pytest.mark.parametrize(
    "name, lines",
    [
        ("ratings.dat", b"1::10::4::978300760\n2::10::5::978300761\n"),
        ("u.data", b"1\t10\t4\t978300760\n2\t10\t5\t978300761\n"),
        (
            "ratings.csv",
            b"userId,movieId,rating,timestamp\n1,10,4.0,978300760\n2,10,5.0,978300761\n",
        ),
    ],
)
def test_ratings(tmp_path, name, lines):
    path = tmp_path / name
    path.write_bytes(lines)
    users, films, values, times = ratings.read_ratings(path)
    assert users.tolist() == [1, 2] and films.tolist() == [10, 10] and values.tolist() == [4, 5]
    assert times[1] - times[0] == 1
    path.write_bytes(lines + lines.splitlines()[-1] + b"\n")
    refused("one rating of a film by a user", ratings.read_ratings, path)
    path.write_bytes(lines.replace(b"978300761", b"nan"))
    refused("integers >= 0", ratings.read_ratings, path)
    path.write_bytes(lines + b"3\n")
    refused("user, film, rating and time", ratings.read_ratings, path)


def test_libsvm(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("+1 2:0.5 4:-1 # why\n\n-1 1:3\n")
    X, y = libsvm.read_libsvm(path)
    assert X.tolist() == [[0, 0.5, 0, -1], [3, 0, 0, 0]] and y.tolist() == [1, 0]
    assert libsvm.read_libsvm(path, features=6)[0].shape == (2, 6)
    for wrong in ("1 0:1", "1 2:1 2:1", "1 99999999999:1", "1 1:nan", "1 1:x", "nan 1:1"):
        path.write_text(wrong)
        refused("row 1 must", libsvm.read_libsvm, path)
    path.write_text("")
    refused("one sample or more", libsvm.read_libsvm, path)


def test_tables(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("u,v,class\n1,2.5,7\n3,4,5\n")
    X, y = arrays.read_table(path)
    assert X.tolist() == [[1, 2.5], [3, 4]] and y.tolist() == [1, 0]
    assert arrays.read_table(path, label=0)[1].tolist() == [0, 1]
    path.write_text("1,2\n1,2,3\n")
    refused("row 2 must hold 2 finite numbers", arrays.read_table, path)
    path.write_text("1,inf\n")
    refused("must hold rows of two numbers", arrays.read_table, path)


def test_signs_of_a_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Ah, 1984!\n~")
    said = "".join(text.ALPHABET[n] for n in text.read_text(path))
    assert said == "ah, 0000!\n " and len(text.ALPHABET) == len({*text.ALPHABET}) == 40
    X, y = text.text_windows(np.arange(10), 4)
    assert X.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]] and (y == X + 1).all()
