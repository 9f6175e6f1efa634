"""CIFAR-10: 50,000 training and 10,000 test images of 10 classes, 3 x 32 x 32, in both published
layouts."""

from typing import Any

import numpy as np

from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Found, Set
from fedtheory.experiments.data.formats import cifar

NAMES = "airplane automobile bird cat deer dog frog horse ship truck".split()
BATCHES = tuple(f"data_batch_{n}" for n in range(1, 6))
BYTES = 10000 * (1 + cifar.PIXELS)
PICKLED = {  # lengths and MD5 of the python layout's batches, as their authors publish them
    "data_batch_1": (31035704, "c99cafc152244af753f735de768cd75f"),
    "data_batch_2": (31035320, "d4bba439e000b95fd0a9bffe97cbabec"),
    "data_batch_3": (31035999, "54ebc095f3ab1f0389bbae665268c751"),
    "data_batch_4": (31035696, "634d18415352ddfa80567beed471001a"),
    "data_batch_5": (31035623, "482c414d41f54cd18b22e5b47cb7c3cb"),
    "test_batch": (31035526, "40351d587109b95175f43aff81a1287e"),
}
LAYOUTS = (
    {name: File((f"{name}.bin",), BYTES) for name in PICKLED},
    {name: File((name,), size, f"md5:{digest}") for name, (size, digest) in PICKLED.items()},
)


def load(found: Found) -> Any:
    read, kept = (cifar.read_binary, cifar.read_python_batch)[found.layout], {}

    def batch(name: str) -> tuple[Any, ...]:
        if name not in kept:
            kept[name] = read(found(name))
        return kept[name]

    def together(place: Any) -> Any:
        values = [batch(name)[place] for name in BATCHES]
        return np.concatenate(values)

    parts = {
        "X": lambda: together(0),
        "y": lambda: together(1),
        "X_test": lambda: batch("test_batch")[0],
        "y_test": lambda: batch("test_batch")[1],
    }
    return Data("cifar10", parts, cifar.CLASSES)


SET = Set(
    "cifar10",
    "things of 10 kinds, 50,000 + 10,000 of 3 x 32 x 32",
    load,
    LAYOUTS,
    "www.cs.toronto.edu/~kriz/cifar.html (binary or python version)",
    163.0,
    "no terms are stated",
)
