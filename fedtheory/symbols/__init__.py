"""Tables of symbols, one for each paper; `TABLE` of each file is its record."""
