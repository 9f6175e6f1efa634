"""Exact moments, sampling, adversary, certificates, verdicts, mutants, proof steps."""
