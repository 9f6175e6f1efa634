"""Exact worst cases of first-order methods over whole classes of functions (performance
estimation)."""
