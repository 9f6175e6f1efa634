"""Readers, one format per file: from a path to arrays, refusing what a file's header cannot mean."""
