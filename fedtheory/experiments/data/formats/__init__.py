"""Readers, one format per file: each reads a path into arrays, and refuses a header with impossible
values."""
