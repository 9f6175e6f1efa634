"""The user's private folder and its seals, files written completely or not at all, output folders,
and one hash of the sources. Nothing here knows what is stored.

Three kinds of places are distinguished. The private folder holds caches that only this user wrote
and that may be deleted at any time. Output folders belong to the user: a command changes only files
that a command wrote. Archives from elsewhere are read within limits of size, and never unpickled.
"""
