"""Checks of arguments of public functions: an argument is converted to the form that is computed
with, or refused before anything is computed.

Each function takes the argument's name and the value. A refusal is one sentence that names
argument, rule and value. Text and truth values are never read as numbers.
"""

import os
from collections.abc import Collection
from math import isfinite, prod
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from fedtheory.errors import refuse

MOST = (
    2**31 - 2
)  # the largest count: the next number marks a gradient at a round's start (rng.START)
PART, PLACE = 255, 4000  # lengths of a file's name, and of a path, that every system accepts
LARGEST = 1e150  # larger numbers have squares that overflow; below 1/LARGEST squares vanish


def _unwrap_scalar(value: Any) -> Any:
    """Return the number in an array without axes; any other value is returned as it is."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


def check_integer(name: str, value: Any, low: int = 0, high: int = MOST) -> int:
    """Return a value as an integer from `low` to `high`; raise InvalidInput for any other value.

    >>> check_integer("rounds", 3.0)
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: rounds must be an integer >= 0; got 3.0
    """
    value = _unwrap_scalar(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < low:
        refuse(name, f"must be an integer >= {low}", value)
    if int(value) > high:
        refuse(name, f"must be an integer <= {high}", value)
    return int(value)


def check_real(
    name: str, value: Any, low: float = 0.0, open_low: bool = False, high: float = LARGEST
) -> float:
    """Return a value as a finite float, at least `low` (above `low` if `open_low`); raise
    InvalidInput for any other value, and for a number whose square is no float.

    >>> check_real("eta", 0, open_low=True)
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: eta must be a finite number > 0; got 0
    """
    rule, value = (
        f"must be a finite number {'>' if open_low else '>='} {low:g}",
        _unwrap_scalar(value),
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        refuse(name, rule, value)
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number) or number < low or open_low and value <= low:
        refuse(name, rule, value)
    if abs(number) > high or number != value and number == 0 or 0 < abs(number) < 1 / LARGEST:
        refuse(
            name,
            f"must be 0 or of a size from {1 / LARGEST:g} to {high:g}, for its square to be a float",
            value,
        )
    return number


def check_seed(value: Any, name: str = "seed", bits: int | None = None) -> int:
    """Return a seed, an integer of at least 0 and, where `bits` is given, below 2^bits; raise
    InvalidInput for any other value."""
    value = _unwrap_scalar(value)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < 0:
        refuse(name, "must be an integer >= 0", value)
    if bits is not None and value >= 2**bits:
        refuse(name, f"must be below 2**{bits}", value)
    return int(value)


def check_budget(value: Any) -> float:
    """Return a budget in seconds of one core as a float; refuse numbers that are not positive and
    finite."""
    if (
        isinstance(value, (bool, np.bool_))
        or not isinstance(value, Real)
        or not isfinite(value)
        or value <= 0
    ):
        refuse("budget", "must be a positive number of seconds", value)
    return float(value)


def check_flag(name: str, value: Any) -> bool:
    """Return True or False as a bool; raise InvalidInput for any other value, 0 and 1 among them."""
    if not isinstance(value, (bool, np.bool_)):
        refuse(name, "must be True or False", value)
    return bool(value)


def check_word(name: str, value: Any, among: Collection[str]) -> str:
    """Return a word that is in `among`; raise InvalidInput for any other value."""
    if not isinstance(value, str) or value not in among:
        refuse(name, f"must be one of {', '.join(among)}", value)
    return value


def is_iterable(value: Any) -> bool:
    """Tell whether a value can be iterated over, which an array without axes cannot."""
    try:
        iter(value)
    except Exception:  # a user's class may raise any exception
        return False
    return True


def check_words(name: str, value: Any, among: Collection[str]) -> tuple[str, ...]:
    """Return a sequence of words of `among` as a tuple, in the order given; raise InvalidInput for
    a word that is not among them, and for a single text."""
    if isinstance(value, (str, bytes)) or not is_iterable(value):
        refuse(name, f"must be a sequence of names among {', '.join(among)}", value)
    found = tuple(value)
    for each in found:
        if not isinstance(each, str) or each not in among:
            refuse(name, f"must be among {', '.join(among)}", each)
    return found


def check_folder(name: str, value: Any) -> Path:
    """Return the path of a folder that exists or can be created; raise InvalidInput for a name that
    no system accepts, or that belongs to a file."""
    rule = "must be the name of a folder, there or to be made"
    given = isinstance(value, (str, os.PathLike)) and not isinstance(value, bytes)
    text = os.fspath(value) if given else ""
    if not isinstance(text, str) or not text or not text.isprintable():
        refuse(name, rule, value)
    place = Path(text)
    if any(len(os.fsencode(part)) > PART for part in place.parts) or len(text) > PLACE:
        refuse(name, f"must be of parts of at most {PART} letters, and {PLACE} in all", value)
    there = next((p for p in (place, *place.parents) if os.path.lexists(p)), Path())
    if not there.is_dir():
        refuse(name, rule, value)
    return place


def check_array(
    name: str, value: object, rule: str = "must be an array of numbers", kinds: str = "fiu"
) -> np.ndarray:
    """Return real numbers as a float64 array; raise InvalidInput, with `rule`, for anything else.

    `kinds` lists the NumPy kind letters that count as numbers. Fractions and long integers are
    rounded.
    """
    try:
        found = np.asarray(value)
    except (TypeError, ValueError):  # rows of different lengths
        refuse(name, rule, value)
    if found.dtype.kind == "O" and all(
        isinstance(each, Real) and not isinstance(each, bool) for each in found.flat
    ):
        try:
            return found.astype(np.float64)  # fractions, and integers beyond 64 bits
        except (TypeError, ValueError, OverflowError):
            refuse(name, rule, value)
    if found.dtype.kind not in kinds and found.size:
        refuse(name, rule, value)
    return found.astype(np.float64, copy=False)


def machine_memory() -> int:
    """Return the bytes of memory of this machine, or 2^40 where the system does not report the
    size."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 2**40


def check_fits(name: str, *shape: int) -> None:
    """Refuse the shape of an array of 8-byte numbers that this machine cannot hold, before the
    array is allocated."""
    if 8 * prod(shape) > machine_memory():
        refuse(
            name,
            f"must leave room for {' x '.join(map(str, shape))} numbers in the "
            f"{machine_memory() / 2**30:.1f} GiB of this machine",
            f"{8 * prod(shape) / 2**30:.3g} GiB",
        )
