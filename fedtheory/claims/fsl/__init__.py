"""Federated learning with server learning: the long paper, and what the short one adds."""
