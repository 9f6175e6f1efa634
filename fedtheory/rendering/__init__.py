"""Renderings of a document for people: in words, step by step, as a small picture, in LaTeX.

Everything is rendered from the document alone, as a reader who receives only the document would
have to do. Documents are judged by `replay`, never here. A document of an unknown format renders as
nothing; a run that takes too much exact arithmetic is described as far as it was followed.
"""
