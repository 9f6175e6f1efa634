"""Exact worst cases of first-order methods over classes of functions, by performance estimation.

`program` states the question as a document, `solver` finds multipliers and an instance in floats
and makes them exact, `rounding` and `symmetry` serve the solver, `methods` has recursions, and
`structure` checks a method's kernels. The proof is checked by `certificates.check_worst_case`.
"""
