"""Text as indices into an alphabet of 40 characters, the input of a small character-level language
model."""

import codecs
import unicodedata
from pathlib import Path

import numpy as np

from fedtheory.errors import refuse
from fedtheory.experiments.data import _files

ALPHABET = "\n abcdefghijklmnopqrstuvwxyz0.,;:!?'\"-()"
MOST = 2**28
_CODE = np.full(128, ALPHABET.index(" "), np.uint8)
for _place, _sign in enumerate(ALPHABET):
    _CODE[ord(_sign)] = _place
for _sign in "123456789":
    _CODE[ord(_sign)] = ALPHABET.index("0")  # a digit is a digit
for _capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ":
    _CODE[ord(_capital)] = ALPHABET.index(_capital.lower())


def character_codes(text: str) -> np.ndarray:
    """Return the indices (n,) of the characters of a text. Accents are removed, and a character
    outside the alphabet becomes a space.

    >>> from fedtheory.experiments.data.formats import text
    >>> "".join(text.ALPHABET[n] for n in text.character_codes("Déjà vu: 42%"))
    'deja vu: 00 '
    """
    plain = unicodedata.normalize("NFKD", text)
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    raw = np.frombuffer(plain.encode("ascii", "replace"), np.uint8)
    return _CODE[np.where(raw < 128, raw, ord(" "))]


def read_text(path: Path) -> np.ndarray:
    """Read the character indices of a text file."""
    found, decoder = _files.Column(np.uint8), codecs.getincrementaldecoder("utf-8")("replace")
    for block in _files.read_blocks(path, MOST):
        found.add(character_codes(decoder.decode(block)))
        if found.size > MOST:
            refuse(str(path), f"must hold at most {MOST} signs", f"{found.size} and more")
    found.add(character_codes(decoder.decode(b"", final=True)))
    return found.whole()


def text_windows(numbers: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Return samples (n, length) and for each sample's characters the characters that follow (n,
    length). The incomplete window at the end is dropped."""
    n = max(0, (len(numbers) - 1) // length)
    return (
        numbers[: n * length].reshape(n, length),
        numbers[1 : n * length + 1].reshape(n, length),
    )
