"""Types that the signatures of many modules share."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

# A number of any kind on which formulas and kernels are read: int, float, Fraction, Interval, Many
# (a batch of floats), a SymPy expression, an array of such numbers. These kinds share arithmetic
# and no class, so that nothing narrower is true of all of them.
Number: TypeAlias = Any
Exact: TypeAlias = int | Fraction
Bound: TypeAlias = Fraction | float  # an end of an enclosure; a float is infinite
Shape: TypeAlias = Mapping[str, Any]  # the integers and words that fix the size of an instance
Point: TypeAlias = Mapping[str, Number]  # the coordinates of an instance, by name
Instance: TypeAlias = Mapping[str, Any]  # a problem with its run, as plain data
Assignment: TypeAlias = Mapping[str, Number]  # the numbers of symbols, by name
Points: TypeAlias = np.ndarray | Sequence[Any]  # a point (d,), or one for each trial (trials, d)
Hyper: TypeAlias = float | str | Sequence[float] | np.ndarray  # a hyper-parameter, or one a round
Document: TypeAlias = Mapping[str, Any]  # a certificate, as JSON reads it
Kernel: TypeAlias = Any  # a small function: plain Python, or what Numba makes of it
