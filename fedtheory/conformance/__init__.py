"""Whether somebody's code is the method that the theorem is about: `conform` and `laws`."""

from fedtheory.conformance.conforming import conform
from fedtheory.conformance.obeying import laws

__all__ = ["conform", "laws"]
