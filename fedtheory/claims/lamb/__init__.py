"""FED-LAMB: layerwise and dimensionwise local adaptivity."""
