"""Exact rounds of a method without sampling: the method's own kernels run on exact numbers, over
every outcome of cohorts and noise."""
