"""The command line `fedtheory`, and what its commands print and write.

Each command parses its arguments, calls the library and renders the answer as text or as JSON; a
run file, a ledger, a package and the page are made here as well. Nothing here decides a claim, runs
a method or checks a document by itself.
"""
