"""EMNIST-Balanced: 112,800 training and 18,800 test images of 47 letters and digits, 28 x 28.

The files hold images with rows and columns exchanged; here they stand upright.
"""

from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Set
from fedtheory.experiments.data.sets._mnist_like import PARTS, file_names, make_loader

STEMS = ("train-images-idx3", "train-labels-idx1", "test-images-idx3", "test-labels-idx1")
DIGESTS = (
    (88435216, "74295e75e4e9fa2c102147460ee7eb763653d5132d883a84fb88932bfb8d2db4"),
    (112808, "b46d41e5156a0a8aaaa4d18979fdd1588850fa8571018acffd5d93b325a7d6ed"),
    (14739216, "117fc12b015e37ea98bfb2cbba3f77c3782c056cdbd219b87abfc8661d7135db"),
    (18808, "a67cac948379b67270b9a4d0a01c8ec661598accf2f2b1964340b7c83cb175cd"),
)
SET = Set(
    "emnist",
    "handwritten letters and digits of 47 classes, 112,800 + 18,800 of 28 x 28",
    make_loader("emnist", 47, turned=True),
    (
        {
            part: File(file_names(f"emnist-balanced-{stem}-ubyte"), size, f"gz-sha256:{digest}")
            for part, stem, (size, digest) in zip(PARTS, STEMS, DIGESTS)
        },
    ),
    "nist.gov/itl/products-and-services/emnist-dataset (gzip.zip)",
    535.0,
    "work of the US government",
)
