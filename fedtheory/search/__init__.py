"""The search for the worst instance of a line in a setting, in floats, and its confirmation in
rationals."""
