"""Proofs by algebra, and checks of formulas that need no instance."""
