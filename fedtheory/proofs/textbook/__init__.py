"""Textbook facts that the papers' proofs use, each proved once from a short list of axioms, and
their instances for the quantities that the papers measure."""
