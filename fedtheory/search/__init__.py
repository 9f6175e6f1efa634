"""The search for an instance that violates a claim's line as much as possible: in floats first,
then confirmed in exact rationals."""
