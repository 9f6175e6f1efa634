"""One method per file; `ALGORITHM` of each file is its record."""
