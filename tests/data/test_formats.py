"""Readers of files: what is read is what was written by hand, and what cannot be meant is refused
before it takes memory."""

import gzip
import os
import pickle
import struct
import tracemalloc

import numpy as np
import pytest

from fedtheory.data import _files
from fedtheory.data.formats import arrays, cifar, idx, libsvm, ratings, stl10, text
from fedtheory.errors import InvalidInput


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
        assert idx.read(path, 3).tolist() == [[[1, 2, 3]], [[4, 5, 6]]]
    assert isinstance(idx.read(plain), np.memmap)  # shared with whoever reads it too


def test_idx_that_lies_is_refused_from_its_header(tmp_path):
    tracemalloc.start()
    most = 2**32 - 1
    refused("at most", idx.read, idx_file(tmp_path / "a", (most, most), b""))
    refused("bytes", idx.read, idx_file(tmp_path / "b", (2, 2), b"123"))
    refused("bytes", idx.read, idx_file(tmp_path / "c", (2, 2), b"12345"))
    refused("0, 0, 8", idx.read, idx_file(tmp_path / "d", (4,), b"1234", kind=9))
    refused("axes", lambda: idx.read(idx_file(tmp_path / "e", (4,), b"1234"), 3))
    (tmp_path / "f").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    refused("0, 0, 8", idx.read, tmp_path / "f")
    whole = gzip.compress(idx_file(tmp_path / "g", (4,), b"1234").read_bytes())
    (tmp_path / "h.gz").write_bytes(whole[:-6])
    refused("breaks off", idx.read, tmp_path / "h.gz")
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()


def test_a_bomb_is_left_folded(tmp_path):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(64):
            stream.write(bytes(2**20))
    tracemalloc.start()
    refused("at most 100000 bytes", _files.content, path, 100000)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_cifar_binary(tmp_path):
    path = tmp_path / "batch.bin"
    path.write_bytes(bytes([7]) + bytes(range(256)) * 12 + bytes([0]) + bytes([9]) * 3072)
    X, y = cifar.binary(path)
    assert y.tolist() == [7, 0] and X.shape == (2, 3, 32, 32)
    assert X[0, 0, 0, :3].tolist() == [0, 1, 2] and X[0, 1, 0, 0] == 1024 % 256 and X[1].min() == 9
    path.write_bytes(b"123")
    refused("records of 3073 bytes", cifar.binary, path)
    path.write_bytes(bytes([10]) + bytes(3072))
    refused("labels of 0 .. 9", cifar.binary, path)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("protocol", [2, 4])
def test_cifar_pickled(tmp_path, order, protocol):
    images = np.arange(2 * 3072, dtype=np.uint8).reshape(2, 3072)
    batch = {b"labels": [3, 4], b"data": np.array(images, order=order), b"filenames": [b"a", b"b"]}
    path = tmp_path / "batch"
    path.write_bytes(pickle.dumps(batch, protocol=protocol))
    X, y = cifar.pickled(path)
    assert y.tolist() == [3, 4] and np.array_equal(X.reshape(2, -1), images)


class Hostile:
    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (self.folder,)


def test_a_pickle_is_no_program_here(tmp_path):
    path, mark = tmp_path / "batch", tmp_path / "ran"
    path.write_bytes(pickle.dumps({b"labels": [1], b"data": Hostile(str(mark))}))
    refused("it asks for", cifar.pickled, path)
    assert not mark.exists()
    for program in (
        b"\x80\x02]r\xff\xff\xff\x7f.",  # a place in the memo that is 16 GB away
        b"\x80\x02X\xff\xff\xff\x7fabc.",  # a text of 2 GB that is not there
        b"(" * 10000,
        b"cbuiltins\neval\n(S'1'\ntR.",
        b"\x80\x02}b.",
        b"",
    ):
        path.write_bytes(program)
        refused(str(path), cifar.pickled, path)


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
    refused(words, cifar.pickled, path)


def test_stl10_stands_upright(tmp_path):
    image = np.zeros((3, 96, 96), np.uint8)
    image[1, 2, 5] = 200  # row 2, column 5
    (tmp_path / "X.bin").write_bytes(image.swapaxes(1, 2).tobytes())
    assert np.array_equal(stl10.images(tmp_path / "X.bin")[0], image)
    (tmp_path / "y.bin").write_bytes(bytes([1, 10]))
    assert stl10.labels(tmp_path / "y.bin").tolist() == [0, 9]
    (tmp_path / "y.bin").write_bytes(bytes([0]))
    refused("labels of 1 .. 10", stl10.labels, tmp_path / "y.bin")


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
    users, films, values, times = ratings.read(path)
    assert users.tolist() == [1, 2] and films.tolist() == [10, 10] and values.tolist() == [4, 5]
    assert times[1] - times[0] == 1
    path.write_bytes(lines + lines.splitlines()[-1] + b"\n")
    refused("once by a user", ratings.read, path)
    path.write_bytes(lines.replace(b"978300761", b"nan"))
    refused("integers >= 0", ratings.read, path)
    path.write_bytes(lines + b"3\n")
    refused("user, film, rating and time", ratings.read, path)


def test_libsvm(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("+1 2:0.5 4:-1 # why\n\n-1 1:3\n")
    X, y = libsvm.read(path)
    assert X.tolist() == [[0, 0.5, 0, -1], [3, 0, 0, 0]] and y.tolist() == [1, 0]
    assert libsvm.read(path, features=6)[0].shape == (2, 6)
    for wrong in ("1 0:1", "1 2:1 2:1", "1 99999999999:1", "1 1:nan", "1 1:x", "nan 1:1"):
        path.write_text(wrong)
        refused("row 1 must", libsvm.read, path)
    path.write_text("")
    refused("one sample or more", libsvm.read, path)


def test_tables(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("u,v,class\n1,2.5,7\n3,4,5\n")
    X, y = arrays.table(path)
    assert X.tolist() == [[1, 2.5], [3, 4]] and y.tolist() == [1, 0]
    assert arrays.table(path, label=0)[1].tolist() == [0, 1]
    path.write_text("1,2\n1,2,3\n")
    refused("row 2 must hold 2 finite numbers", arrays.table, path)
    path.write_text("1,inf\n")
    refused("must hold rows of two numbers", arrays.table, path)


def test_signs_of_a_text(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("Ah, 1984!\n~")
    said = "".join(text.ALPHABET[n] for n in text.read(path))
    assert said == "ah, 0000!\n " and len(text.ALPHABET) == len({*text.ALPHABET}) == 40
    X, y = text.windows(np.arange(10), 4)
    assert X.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]] and (y == X + 1).all()
