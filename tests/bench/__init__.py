"""Speed as ratios against peers in the same run: `python -m tests.bench`; never part of the test
suite."""
