"""A claim set against a run: the paper's letters as numbers of a problem and of a run, what is
measured read off curves, and both sides for each number of rounds."""
