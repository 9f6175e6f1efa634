"""Runs: the engine's loops, a method on a problem ready to advance, and what a user asks of
both."""
