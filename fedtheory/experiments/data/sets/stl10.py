"""STL-10's labelled images as a second source for CIFAR-10: 3 x 32 x 32, with CIFAR's classes.

Of its ten classes nine are CIFAR-10's; `monkey` is none of them and is left out, `frog` is absent
(FSL, section IV-C).
"""

from typing import Any

import numpy as np

from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Found, Set
from fedtheory.experiments.data.formats import stl10

# airplane bird car cat deer dog horse monkey ship truck, in CIFAR-10's numbers
AS_CIFAR = np.array([0, 2, 1, 3, 4, 5, 7, -1, 8, 9])
FILES = {
    "X": File(("train_X.bin",), 5000 * stl10.PIXELS, "md5:918c2871b30a85fa023e0c44e0bee87f"),
    "y": File(("train_y.bin",), 5000, "md5:5a34089d4802c674881badbb80307741"),
    "X_test": File(("test_X.bin",), 8000 * stl10.PIXELS, "md5:7f263ba9f9e0b06b93213547f721ac82"),
    "y_test": File(("test_y.bin",), 8000, "md5:36f9794fa4beb8a2c72628de14fa638e"),
}


def shrink_to_32(images: Any) -> Any:
    """Reduce images of 96 x 96 pixels to 32 x 32, where each new pixel is the mean of nine."""
    blocks = images.reshape(len(images), 3, 32, 3, 32, 3)
    return np.rint(blocks.mean(axis=(3, 5), dtype=np.float32)).astype(np.uint8)


def load(found: Found) -> Any:
    def labels(part: Any) -> Any:
        return AS_CIFAR[stl10.read_labels(found(part))]

    def images(part: Any, of: Any) -> Any:
        return shrink_to_32(stl10.read_images(found(part))[labels(of) >= 0])

    parts = {
        "X": lambda: images("X", "y"),
        "y": lambda: labels("y")[labels("y") >= 0],
        "X_test": lambda: images("X_test", "y_test"),
        "y_test": lambda: labels("y_test")[labels("y_test") >= 0],
    }
    return Data("stl10", parts, 10)


SET = Set(
    "stl10",
    "things of CIFAR-10's kinds from another source, 4,500 + 7,200 made 3 x 32 x 32",
    load,
    (FILES,),
    "cs.stanford.edu/~acoates/stl10 (stl10_binary.tar.gz)",
    2640.0,
    "images of ImageNet",
)
