"""Whether somebody's code is the method that the theorem is about: `conform`."""

from fedtheory.conformance.conforming import conform

__all__ = ["conform"]
