"""Runs: the engine's loops, the state of a method on a problem, and the functions that a user calls
to run a method.

A request becomes a checked Plan (planning.py), a Job executes the Plan in chunks of rounds
(execution.py) on a Machine (machine.py), and the loops over trials, rounds, clients and steps are
in engine.py alone. Threads, chunks and blocks never change a bit of a result. Nothing here knows of
claims, bounds or papers.
"""
