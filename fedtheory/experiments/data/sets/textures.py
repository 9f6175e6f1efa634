"""Coloured textures of ten classes, a stand-in for CIFAR-10; with a shift, a stand-in for STL-10.

A class is a direction, a fineness, a colour and a shape; each sample has its own phase, place, light
and noise. `shift` moves colours, contrast and fineness, as another camera and other things would.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set

CLASSES = 10


def load(
    found: Found,
    each: int = 100,
    test: int = 20,
    side: int = 32,
    noise: float = 0.15,
    shift: float = 0.0,
    absent: Any = (),
    seed: int = 0,
) -> Any:
    """Generate `each` training and `test` test images of every class that is not in `absent` (FSL's
    second source has no frog, class 6)."""
    each, test = arguments.check_integer("each", each, 1), arguments.check_integer("test", test)
    side = arguments.check_integer("side", side, 4, 512)
    noise, shift = arguments.check_real("noise", noise), arguments.check_real("shift", shift)
    seed = arguments.check_seed(seed)
    absent = {
        arguments.check_integer("absent", c, 0, CLASSES - 1) for c in np.atleast_1d(absent).tolist()
    }
    arguments.check_fits("each", CLASSES * (each + test), 3, side * side)
    looks = _draw_looks(rng.host_generator(0, "textures"))  # classes are the same whatever the seed
    kept = [c for c in range(CLASSES) if c not in absent]
    images = [
        _draw_textures(
            looks,
            c,
            each + test,
            side,
            noise,
            shift,
            rng.host_generator(seed, f"textures {c} {shift!r}"),
        )
        for c in kept
    ]
    parts = {"X": np.concatenate([X[:each] for X in images]), "y": np.repeat(kept, each)}
    if test:
        parts["X_test"] = np.concatenate([X[each:] for X in images])
        parts["y_test"] = np.repeat(kept, test)
    return Data("textures", parts, CLASSES)


def _draw_looks(generator: np.random.Generator) -> list[tuple[float, float, np.ndarray, float]]:
    """Return each class's (direction, number of waves across the image, colour (2, 3), roundness)."""
    order = generator.permutation(CLASSES)
    return [
        (
            np.pi * (order[c] + 0.5) / CLASSES,
            2.0 + 4.0 * ((3 * c) % CLASSES) / CLASSES,
            generator.random((2, 3)),
            generator.random(),
        )
        for c in range(CLASSES)
    ]


def _draw_textures(
    looks: Sequence[tuple[float, float, np.ndarray, float]],
    c: int,
    count: int,
    side: int,
    noise: float,
    shift: float,
    generator: np.random.Generator,
) -> np.ndarray:
    direction, waves, colours, roundness = looks[c]
    draw = lambda *shape: generator.standard_normal((count, *shape))
    places = (np.arange(side) + 0.5) * (2 / side) - 1
    down, across = np.meshgrid(places, places, indexing="ij")
    turn = (direction + 0.25 * draw())[:, None, None]
    fine = (waves * np.exp(0.15 * draw() - 0.4 * shift))[:, None, None]
    phase = (2 * np.pi * generator.random(count))[:, None, None]
    wave = np.sin(np.pi * fine * (np.cos(turn) * across + np.sin(turn) * down) + phase)
    middle = 0.3 * draw(2)[..., None, None]
    high = down - middle[:, 0], across - middle[:, 1]
    far = roundness * np.hypot(*high) + (1 - roundness) * np.maximum(*map(abs, high))
    inside = 1 / (1 + np.exp(12 * (far - 0.6)))
    own = np.clip(colours + 0.2 * draw(2, 3), 0, 1)  # no two things are of one colour
    own = (1 - 0.5 * min(shift, 1.0)) * own + 0.5 * min(shift, 1.0) * np.roll(own, 1, axis=2)
    figure = (0.5 + 0.5 * wave) * inside
    image = own[:, 0, :, None, None] * figure[:, None] + 0.4 * own[:, 1, :, None, None] * (
        1 - inside[:, None]
    )
    light = np.exp(0.2 * draw() + 0.3 * shift)[:, None, None, None]
    seen = np.clip(light * image + noise * draw(3, side, side), 0, 1)
    return np.rint(255 * seen).astype(np.uint8)


SET = Set("textures", "coloured textures of 10 classes, stand-ins for CIFAR-10 and STL-10", load)
