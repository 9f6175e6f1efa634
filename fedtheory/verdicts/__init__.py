"""Verdicts on claims: decisions on lines, orders and structures, mutants, dropped hypotheses, and
proofs line by line."""
