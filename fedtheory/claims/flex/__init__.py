"""Flexible device participation: incomplete, inactive, arriving and departing devices."""
