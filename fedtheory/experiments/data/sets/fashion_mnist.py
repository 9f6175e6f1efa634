"""Fashion-MNIST: 60,000 training and 10,000 test images of clothes, 28 x 28."""

from fedtheory.experiments.data._files import File
from fedtheory.experiments.data._sets import Set
from fedtheory.experiments.data.sets._mnist_like import PARTS, STEMS, file_names, make_loader

DIGESTS = (
    (47040016, "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"),
    (60008, "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"),
    (7840016, "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"),
    (10008, "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"),
)
SET = Set(
    "fashion_mnist",
    "clothes, 60,000 + 10,000 of 28 x 28",
    make_loader("fashion_mnist", 10),
    (
        {
            part: File(file_names(stem), size, f"sha256:{digest}")
            for part, stem, (size, digest) in zip(PARTS, STEMS, DIGESTS)
        },
    ),
    "github.com/zalandoresearch/fashion-mnist; the Debian package dataset-fashion-mnist",
    30.9,
    "MIT",
)
