"""Rounds of a method without sampling: its own kernels on exact numbers, every way that cohorts and
noise can go."""
