"""Settings in the letters of FED-LAMB."""

CALLED = dict(
    noise="noise of a gradient",
    x="the start",
    phi="least and largest scale of a layer's step",
    layers="layers, by their coordinates",
    copies="copies of each client",
    t="iterations before the one that is looked at",
)
