"""Proofs by algebra, and what formulas say without any instance."""
