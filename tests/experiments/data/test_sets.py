"""Sets: published ones are compared with what was published, stand-ins are what they say they are."""

import gzip
import json
import pickle

import numpy as np
import pytest

import fedtheory as ft
from fedtheory.app.cli import main
from fedtheory.errors import InvalidInput
from fedtheory.experiments.data import _files, _sets

MADE = ["handwriting", "rendered", "textures", "faces", "characters", "tastes"]
SMALL = dict(
    handwriting=dict(writers=2, each=2, test=1, classes=4, side=8),
    rendered=dict(classes=3, side=8),
    textures=dict(each=3, test=2, side=8),
    faces=dict(each=3, test=1, side=12),
    characters=dict(each=3, test=1, length=6),
    tastes=dict(users=4, films=9, each=3),
)


def sparse(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "wb") as file:
        file.truncate(size)


def test_what_is_not_the_published_file_is_refused(tmp_path, capsys):
    """Lengths are those of MNIST, the content is not; a pointer has another length."""
    record = _sets.find_set("mnist")
    with pytest.raises(InvalidInput, match="needs the folder"):
        ft.data.load("mnist")
    with pytest.raises(
        InvalidInput,
        match=r"t10k-labels-idx1-ubyte missing; the set is published at .* \(11.6 MB\)",
    ):
        ft.data.load("mnist", tmp_path)
    for file in record.layouts[0].values():
        sparse(tmp_path / "MNIST" / "raw" / file.names[0], file.bytes)
    data = ft.data.load("mnist", tmp_path)
    with pytest.raises(InvalidInput, match="must have the sha256 65a50cbb"):
        _ = data.y
    sparse(tmp_path / "MNIST" / "raw" / "train-labels-idx1-ubyte", 130)
    with pytest.raises(InvalidInput, match="must have 60008 bytes; got 130"):
        _ = data.y
    assert main(["data", "mnist", "--data", str(tmp_path), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["there"] is False and "must have" in told["state"]


def test_a_file_is_known_by_its_digest(tmp_path):
    """SHA-256 of `abc`, from the standard that defines it, of a file packed and not."""
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    file = _files.File(("a",), 3, f"sha256:{digest}")
    (tmp_path / "a").write_bytes(b"abc")
    assert _files.check_published(_files.find_file(tmp_path, ("a",)), file) == tmp_path / "a"
    (tmp_path / "a").unlink()
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"abc"))
    assert _files.check_published(_files.find_file(tmp_path, ("a",)), file) == tmp_path / "a.gz"
    (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(2**20)))
    with pytest.raises(InvalidInput, match="must decompress to 3 bytes"):
        _files.check_published(tmp_path / "a.gz", file)


def test_cifar_in_its_binary_layout(tmp_path):
    """Six batches of the published length are found and put together in their order."""
    for n, name in enumerate([f"data_batch_{n}.bin" for n in range(1, 6)] + ["test_batch.bin"]):
        sparse(tmp_path / "cifar-10-batches-bin" / name, 10000 * 3073)
        with open(tmp_path / "cifar-10-batches-bin" / name, "r+b") as file:
            file.write(bytes([n, 10 + n]))
    data = ft.data.load("cifar10", tmp_path)
    assert data.X_test.shape == (10000, 3, 32, 32) and data.y_test[0] == 5
    assert data.X_test[0, 0, 0, 0] == 15 and isinstance(data.X_test.base, np.memmap)


def test_ratings_are_counted(tmp_path):
    (tmp_path / "u.data").write_text("1\t2\t3\t4\n")
    with pytest.raises(InvalidInput, match=r"ml-1m: \(1000209, 6040, 3706\).*got \(1, 1, 1\)"):
        _ = ft.data.load("movielens", tmp_path).X


def test_digits_are_real_and_a_network_learns_them():
    """1797 images, 174 to 183 of each digit as their authors count them; with one digit a client,
    server learning is far ahead of FedAvg after a few rounds."""
    pytest.importorskip("sklearn")
    data = ft.data.load("digits")
    assert len(data.X) + len(data.X_test) == 1797
    every = np.bincount(np.concatenate([data.y, data.y_test]))
    assert every.tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]
    rows, test = ft.data.flat(data.X), ft.data.flat(data.X_test)
    split = ft.data.partition.classes(data.y, clients=10, C=1)
    own = ft.data.partition.server_iid(data.y, 30)
    problem = ft.problems.mlp(
        *split.arrays(rows), hidden=(16,), server=(rows[own], data.y[own]), batch=16, classes=10
    )
    from fedtheory.experiments.problems.mlp import accuracy

    common = dict(rounds=30, S=4, K=8, eta_l=0.05, eta_g=2.0, metrics=())
    fsl = ft.run(problem, "fsl", K_0=4, gamma=1.0, eta_0=0.2, **common).final[0]
    fedavg = ft.run(problem, "fedavg", **common).final[0]
    scores = [accuracy(problem, x, test, data.y_test) for x in (fsl, fedavg)]
    assert scores[0] > 0.65 and scores[0] > scores[1] + 0.1, scores


@pytest.mark.parametrize("name", MADE)
def test_a_stand_in_is_fixed_by_its_seed(name):
    one, same = (ft.data.load(name, **SMALL[name]) for _ in range(2))
    assert np.array_equal(one.X, same.X) and len(one.X) == len(one.y)
    if name != "rendered":
        assert not np.array_equal(one.X, ft.data.load(name, **SMALL[name], seed=1).X)
    if one.X_test is not None:
        assert len(one.X_test) == len(one.y_test) and one.X_test.shape[1:] == one.X.shape[1:]
        assert not any(np.array_equal(one.X[0], each) for each in one.X_test)
    again = pickle.loads(pickle.dumps(one))  # noqa: S301
    assert np.array_equal(again.X, one.X) and repr(again) == repr(one)


def nearest(train, test):
    """The share of test samples that lie nearest to the mean of their class."""
    X, y = ft.data.flat(train[0]), np.asarray(train[1])
    means = np.stack([X[y == c].mean(axis=0) for c in np.unique(y)])
    far = ((ft.data.flat(test[0])[:, None] - means) ** 2).sum(axis=2)
    return np.mean(np.unique(y)[far.argmin(axis=1)] == test[1])


def test_hands_are_as_unlike_as_one_asks():
    """Samples of a class by writers alike lie closer than by unlike ones; signs are told apart."""
    spread = []
    for unlike in (0.0, 1.0):
        data = ft.data.load(
            "handwriting", writers=9, each=2, test=1, classes=10, side=14, unlike=unlike
        )
        X = ft.data.flat(data.X).reshape(9, 10, 2, -1)
        spread.append(X.mean(axis=2).var(axis=0).mean())
        assert nearest((data.X, data.y), (data.X_test, data.y_test)) > 0.7
        assert all(image.max() > 200 and 5 < image.mean() < 170 for image in data.X)
    assert spread[1] > 1.15 * spread[0]


def test_the_servers_letters_are_fsls():
    """15 images a class, upright in the eighth: 675 for 45 classes; another font than any writer's."""
    data = ft.data.load("rendered", classes=45, side=14)
    assert len(data.X) == 675 and np.bincount(data.y).tolist() == [15] * 45
    zero = data.X[7]  # no angle, the middle size: `0` is alike left and right, and upside down
    assert (
        abs(zero.astype(int) - zero[:, ::-1]).mean()
        < 12
        > abs(zero.astype(int) - zero[::-1]).mean()
    )
    weights = data.X[6:9].sum(axis=(1, 2), dtype=float)
    assert weights[0] < weights[1] < weights[2]


def test_textures_shift():
    """The same classes, from elsewhere: means move further as the shift grows; a frog is absent."""
    near, far = (
        ft.data.load("textures", each=20, test=0, side=8, shift=s, seed=2) for s in (0.1, 0.8)
    )
    here = ft.data.load("textures", each=20, test=10, side=8)
    gap = lambda other: abs(
        ft.data.flat(other.X).mean(axis=0) - ft.data.flat(here.X).mean(axis=0)
    ).mean()
    assert gap(far) > 2 * gap(near)
    assert nearest((here.X, here.y), (here.X_test, here.y_test)) > 0.3
    assert set(ft.data.load("textures", each=1, side=8, absent=6).y.tolist()) == {*range(10)} - {6}


def test_faces_have_two_attributes():
    """A ridge regression, which knows neither eyes nor mouths, tells both from faces held out."""
    data = ft.data.load("faces", each=40, test=20)
    X, test = ft.data.flat(data.X), ft.data.flat(data.X_test)
    middle = X.mean(axis=0)
    gram = (X - middle) @ (X - middle).T + 3 * np.eye(len(X))
    for own, held in ((data.y, data.y_test), (data.writers, data.writers_test)):
        weights = (X - middle).T @ np.linalg.solve(gram, 2.0 * own - 1)
        assert np.mean(((test - middle) @ weights > 0) == held) > 0.75
        assert own.mean() == 0.5


def test_sources_of_characters():
    """Windows follow their own law better than the other source's, and not if both are one."""
    from fedtheory.experiments.data.sets.characters import source_laws

    for unlike, least in ((0.0, 0.0), (0.6, 0.05)):
        data, both = ft.data.load("characters", each=60, unlike=unlike), source_laws(unlike)
        for law in both:
            assert np.allclose(law.sum(axis=2), 1)
        for source in (0, 1):
            X, y = (part[data.writers == source].astype(int) for part in (data.X, data.y))
            seen = [np.log(law[X[:, :-1], y[:, :-1], y[:, 1:]]).mean() for law in both]
            assert seen[source] - seen[1 - source] >= least and (least or seen[0] == seen[1])


def test_tastes_are_planted():
    """Rows are users' distinct films; popular films are rated more; hidden traits can be found: the
    ratings' largest singular values stand out."""
    data = ft.data.load("tastes", users=60, films=40, each=40, traits=2, noise=0.1)
    table = data.y.reshape(60, 40) - 3
    values = np.linalg.svd(table, compute_uv=False)
    assert values[1] > 2.5 * values[2]
    few = ft.data.load("tastes", users=200, films=50, each=5)
    assert all(len({*few.X[few.writers == u, 1].tolist()}) == 5 for u in range(9))
    counts = np.sort(np.bincount(few.X[:, 1], minlength=50))
    assert counts[-5:].sum() > 6 * counts[:5].sum() and few.y.min() >= 1 and few.y.max() <= 5


def test_files_of_ones_own(tmp_path):
    X, y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])
    np.savez(tmp_path / "a.npz", X=X, y=y, more=X)
    data = ft.data.read(tmp_path / "a.npz")
    assert np.array_equal(data.X, X) and data.X_test is None and data.y.tolist() == [0, 1, 0]
    np.savez(tmp_path / "b.npz", X=X, y=y[:2])
    (tmp_path / "c.csv").write_text("1,2,0\n3,4,1\n")
    assert ft.data.read(tmp_path / "c.csv").y.tolist() == [0, 1]
    for path, words in (
        (tmp_path / "b.npz", "as many rows"),
        (tmp_path / "d", "a file that exists"),
    ):
        with pytest.raises(InvalidInput, match=words):
            ft.data.read(path)
    images, signs = tmp_path / "mine-idx3-ubyte.gz", tmp_path / "mine-idx1-ubyte"
    images.write_bytes(
        gzip.compress(
            bytes([0, 0, 8, 3, *(0, 0, 0, 2), *(0, 0, 0, 1), *(0, 0, 0, 2)]) + b"\1\2\3\4"
        )
    )
    signs.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 2, 7, 9]))
    data = ft.data.read(images, labels=signs)
    assert data.X.tolist() == [[[1, 2]], [[3, 4]]] and data.y.tolist() == [7, 9]
    for path, labels in ((images, None), (tmp_path / "c.csv", signs)):
        with pytest.raises(InvalidInput, match="labels must be given for idx files only"):
            ft.data.read(path, labels=labels)
    signs.write_bytes(bytes([0, 0, 8, 1, 0, 0, 0, 1, 7]))
    with pytest.raises(InvalidInput, match="as many rows of X as of y"):
        ft.data.read(images, labels=signs)
    (tmp_path / "e.txt").write_text("ab" * 30)
    (tmp_path / "f.txt").write_text("cd" * 30)
    data = ft.data.load("text", tmp_path, length=20)
    assert data.X.shape == (4, 20) and data.writers.tolist() == [0, 0, 1, 1]
    (tmp_path / "none").mkdir()
    with pytest.raises(InvalidInput, match="must hold from 1"):
        ft.data.load("text", tmp_path / "none")


def test_smaller_is_a_mean_by_area():
    X = np.arange(9.0, dtype=np.float32).reshape(1, 3, 3)
    assert ft.data.smaller(X, 3)[0].tolist() == X[0].tolist()
    # the first of four covers a whole pixel, two halves and a quarter of 1.5 x 1.5
    assert ft.data.smaller(X, 2)[0, 0, 0] == pytest.approx(
        (0 + 0.5 * 1 + 0.5 * 3 + 0.25 * 4) / 2.25
    )


def test_the_command_lists_all(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FEDTHEORY_DATA", str(tmp_path))
    assert main(["data"]) == 0
    told = capsys.readouterr().out
    assert all(f"{name:15s}" in told for name in _sets.shipped_sets())
    assert main(["data", "cifar10"]) == 0
    told = capsys.readouterr().out
    assert "data_batch_1.bin, 30,730,000 bytes" in told and "kriz/cifar.html" in told
    assert main(["data", "mnits"]) == 2 and "mnist" in capsys.readouterr().err
    assert main(["data", "--data", str(tmp_path / "no")]) == 2
