"""The campaign of this study: every claim checked, and the package in which a reviewer reads and
re-derives it."""
