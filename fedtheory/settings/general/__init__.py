"""Settings in nobody's letters: runs of any method, points, vectors, numbers."""
