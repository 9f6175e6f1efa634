"""Data sets, one per file: published sets, and stand-ins that are generated here."""
