"""From a claim to its verdict: lines, orders, structures, mutants, hypotheses dropped, proofs line
by line."""
