"""The user's private folder and its seals, files written completely or not at all, output folders,
and one hash of the sources. Nothing here knows what is stored."""
