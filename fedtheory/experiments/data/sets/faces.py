"""Drawn faces with two attributes, a stand-in for smiles in mixed federated learning: a face smiles
or not (the label), and wears glasses or not (the writer)."""

from typing import Any

import numpy as np

from fedtheory import arguments, rng
from fedtheory.experiments.data._data import Data
from fedtheory.experiments.data._sets import Found, Set


def load(
    found: Found, each: int = 50, test: int = 20, side: int = 28, noise: float = 0.1, seed: int = 0
) -> Any:
    """Generate `each` training and `test` test faces of each of the four combinations of
    attributes."""
    each, test = arguments.check_integer("each", each, 1), arguments.check_integer("test", test)
    side, noise = (
        arguments.check_integer("side", side, 12, 512),
        arguments.check_real("noise", noise),
    )
    seed = arguments.check_seed(seed)
    arguments.check_fits("each", 4 * (each + test), side * side)
    kinds = [(smile, glasses) for smile in (0, 1) for glasses in (0, 1)]
    drawn = [
        _draw_faces(
            smile,
            glasses,
            each + test,
            side,
            noise,
            rng.host_generator(seed, f"faces {smile}{glasses}"),
        )
        for smile, glasses in kinds
    ]
    smiles, glasses = np.array(kinds).T
    parts = {
        "X": np.concatenate([X[:each] for X in drawn]),
        "y": np.repeat(smiles, each),
        "writers": np.repeat(glasses, each),
    }
    if test:
        parts |= {
            "X_test": np.concatenate([X[each:] for X in drawn]),
            "y_test": np.repeat(smiles, test),
            "writers_test": np.repeat(glasses, test),
        }
    return Data("faces", parts, 2)


def _draw_faces(
    smile: int, glasses: int, count: int, side: int, noise: float, generator: np.random.Generator
) -> np.ndarray:
    draw = lambda scale: scale * generator.standard_normal((count, 1, 1))
    places = (np.arange(side) + 0.5) * (2 / side) - 1
    down, across = np.meshgrid(places, places, indexing="ij")
    down, across = down - draw(0.06), across - draw(0.06)
    tall, wide = 0.85 + draw(0.05), 0.65 + draw(0.05)
    line = lambda gap, width: np.exp(-((gap / width) ** 2))
    head = 1 / (1 + np.exp(14 * (np.hypot(down / tall, across / wide) - 1)))
    apart, high = 0.27 + draw(0.03), -0.2 + draw(0.05)
    eyes = sum(line(np.hypot(down - high, across - s * apart), 0.09) for s in (-1, 1))
    curve = (1.6 if smile else -0.3) + draw(0.45)  # the corners of a smile are high
    half = 0.32 + draw(0.04)
    reach = 1 / (1 + np.exp(20 * (abs(across) - half)))
    mouth = line(down - 0.42 - curve * (0.5 * half**2 - across**2), 0.07) * reach
    rims = sum(
        line(np.hypot(down - high, across - s * apart) - 0.21, 0.05) for s in (-1, 1)
    ) * float(glasses)
    skin = 0.7 + draw(0.1)
    seen = skin * head - 0.6 * np.clip(eyes + mouth + rims, 0, 1) * head
    seen = seen + noise * generator.standard_normal((count, side, side))
    return np.rint(255 * np.clip(seen, 0, 1)).astype(np.uint8)


SET = Set("faces", "drawn faces that smile or not, with glasses or without", load)
