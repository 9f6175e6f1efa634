"""Exact rounds of a method without sampling: the method's own kernels run on exact numbers, over
every outcome of cohorts and noise.

Two kinds of exactness meet here: enumeration and traces hold for any method on few outcomes, and
moment recursions for affine methods over many rounds. Nothing in this package draws a sample of a
run, and no method is written a second time: maps are probed from the kernels or read from them on
other number types.
"""
