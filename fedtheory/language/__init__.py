"""The language of claims: symbols, conditions, statements, their printing and their evaluation.

A claim is a record; this package builds, validates, prints and evaluates such records. It decides
nothing: no module here searches, proves or runs anything.
"""
