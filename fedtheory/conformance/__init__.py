"""Whether somebody's code is the method that the theorem is about: `conform` and `laws`."""

from fedtheory.conformance.conform import conform
from fedtheory.conformance.laws_report import laws

__all__ = ["conform", "laws"]
