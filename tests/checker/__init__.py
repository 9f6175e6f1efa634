"""Tests of the checker at length, and the statements of known truth on which the checker is tested.

Each command runs in a clone, `python -m tests.checker NAME`; without a name, all of them run in
turn. The `test_*.py` beside them are samples that the test suite runs.
"""
