"""Checkers of documents: each derives anew, from a verdict's document alone, the result that the
document shows."""
