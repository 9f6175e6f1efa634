"""One table of symbols per paper; `TABLE` of each file is its record."""
