"""The search for an instance that violates a claim's line as much as possible: in floats first,
then confirmed in exact rationals.

The pages to read in order are objective.py (a line, its symbols and its ratio), coordinates.py and
optimizer.py (the search at one shape), scheduler.py (which shapes, how long) and rational_points.py
(exact confirmation). A search that finds nothing proves nothing, and floats alone never make a
verdict: a violation counts once its document passes the checker.
"""
