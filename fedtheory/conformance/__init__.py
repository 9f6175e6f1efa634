"""Tests of whether a user's code implements the method of a theorem: `conform` and `laws`.

`conform` follows the code's trajectory beside the method's own kernels in exact fractions and names
the first line of the listing that the code violates. `laws` tests properties that hold for all
numbers, such as fixed points and symmetries, and needs only the states after rounds. The tests read
numbers alone: the package neither parses the user's source nor proves anything about it.
"""

from fedtheory.conformance.conform import conform
from fedtheory.conformance.laws_report import laws

__all__ = ["conform", "laws"]
