"""Documents of verdicts as files that the proof assistant Rocq (Coq) accepts: a second kernel, which shares nothing with the
checkers here."""
