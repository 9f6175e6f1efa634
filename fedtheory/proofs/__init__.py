"""The search for proofs: by algebra (sums of products of nonnegative factors), from textbook
facts, and as worst-case programs.

A search ends in a document that the checkers of `fedtheory.certificates` accept, or in nothing: a
failed search is no evidence against a statement. No claim is known by name here, and no status is
given.
"""
