"""Renderings of a document for people: in words, step by step, as a small picture, in LaTeX.

All of it is told from the document alone, as whoever gets it by mail would have to; what decides is
`replay`.
"""
