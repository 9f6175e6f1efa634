"""Settings in the letters of FSL."""
