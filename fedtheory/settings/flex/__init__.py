"""Settings in the letters of flex."""
