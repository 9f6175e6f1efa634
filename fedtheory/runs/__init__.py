"""Runs: the engine's loops, the state of a method on a problem, and the functions that a user calls
to run a method."""
