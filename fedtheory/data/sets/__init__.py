"""Sets of data, one per file: those that were published, and stand-ins that are made here."""
