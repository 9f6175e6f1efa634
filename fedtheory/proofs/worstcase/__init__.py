"""Exact worst cases of first-order methods over classes of functions (performance estimation)."""
