"""One claim, or one family, per file; `CLAIM` or `CLAIMS` of each are its records."""
