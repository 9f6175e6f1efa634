"""The package of methods, one per file; `ALGORITHM` of each file is the method's record."""
