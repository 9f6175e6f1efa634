"""The verification campaign of this study: checks every claim, and writes the package in which a
reviewer reads and re-derives the results."""
