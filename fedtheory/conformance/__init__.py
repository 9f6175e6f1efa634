"""Tests of whether a user's code implements the method of a theorem: `conform` and `laws`."""

from fedtheory.conformance.conform import conform
from fedtheory.conformance.laws_report import laws

__all__ = ["conform", "laws"]
