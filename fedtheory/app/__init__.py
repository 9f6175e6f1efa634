"""The command line and the reviewer's package."""
