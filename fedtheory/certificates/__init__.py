"""Checkers of documents: what a verdict's document shows, derived anew from it alone."""
