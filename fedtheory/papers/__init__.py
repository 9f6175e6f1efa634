"""The papers under test, one file each."""
