"""Settings in the letters of mixed FL."""
