"""Lazily allocated memory: the rows of a million clients are zeros, and only rows of clients that
have taken part occupy memory.

The operating system allocates a page of memory when an address in the page is first written. NumPy
asks for pages of two megabytes, so that a single row would occupy a whole page. Arrays of this
module use the smallest pages that the system has.
"""

import mmap
from collections.abc import Sequence
from typing import Any

import numpy as np

LARGE = 2**22  # bytes from which NumPy asks for large pages
BLOCK = 2**20  # numbers compared at a time
PAGE = mmap.PAGESIZE // 8  # numbers per page


def lazy_zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
    """Return an array of zeros whose pages are not allocated until they are written."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _map_flags())
        pages.madvise(mmap.MADV_NOHUGEPAGE)
    except (AttributeError, OSError, ValueError):  # the system has no such mapping
        return np.zeros(shape, dtype)
    return np.frombuffer(pages, dtype).reshape(shape)


def _map_flags() -> int:
    """Return the mapping flag that reserves no memory for pages that may never be written, 0 where
    the system has none."""
    return getattr(mmap, "MAP_NORESERVE", 0)


def repeat_array(first: np.ndarray, count: int) -> np.ndarray:
    """Return `count` copies of an array along a new axis; a large array of zeros is allocated
    lazily."""
    if first.nbytes >= LARGE and not first.any():
        return lazy_zeros((count, *first.shape), first.dtype)
    return np.repeat(np.ascontiguousarray(first)[None], count, axis=0)


def copy_array(array: np.ndarray) -> np.ndarray:
    """Return a copy of an array without writing pages of zeros, so that rows of absent clients stay
    unallocated."""
    if array.nbytes < LARGE:
        return array.copy()
    found = lazy_zeros(array.shape, array.dtype)
    put_array(array, found)
    return found


def put_array(array: np.ndarray, to: np.ndarray) -> None:
    """Assign to[...] = array for contiguous arrays of one shape, writing only the pages that
    differ."""
    if array.nbytes < LARGE:
        to[...] = array
        return
    source, target = array.reshape(-1), to.reshape(-1)
    whole = source.size - source.size % PAGE
    pages, places = source[:whole].reshape(-1, PAGE), target[:whole].reshape(-1, PAGE)
    for low in range(0, len(pages), BLOCK // PAGE):
        part, there = pages[low : low + BLOCK // PAGE], places[low : low + BLOCK // PAGE]
        differ = (part != there).any(axis=1)
        if differ.all():
            there[...] = part
        else:
            there[differ] = part[differ]
    target[whole:] = source[whole:]
