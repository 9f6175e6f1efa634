"""Export of documents of verdicts to files for the proof assistant Rocq (Coq): a second kernel,
which shares no code with the checkers of this library."""
