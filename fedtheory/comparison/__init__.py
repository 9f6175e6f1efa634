"""Comparison of a claim with a run: the paper's letters as numbers of a problem and of a run, the
measured quantities from the run's curves, and both sides of the claim for each number of rounds.

A comparison concerns one problem, one choice of hyper-parameters and one seed. It shows how loose
or tight a bound is there, and may show that the bound is exceeded. It never proves a claim, and
nothing in this package searches for an instance: that is done in `search`.
"""
