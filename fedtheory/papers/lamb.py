"""FED-LAMB."""

from fedtheory.paper import Paper

PAPER = Paper("lamb", "Layerwise and Dimensionwise Locally Adaptive Optimization Method", ())
