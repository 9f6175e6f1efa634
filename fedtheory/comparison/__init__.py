"""Comparison of a claim with a run: the paper's letters as numbers of a problem and of a run, the
measured quantities from the run's curves, and both sides of the claim for each number of rounds."""
