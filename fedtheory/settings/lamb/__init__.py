"""Settings in the letters of FED-LAMB."""
