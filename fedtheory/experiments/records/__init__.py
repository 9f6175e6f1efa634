"""The papers' experiments, one record per file."""
