"""Models of instances in the letters of FSL."""

CALLED = dict(
    losses=("f_0, the server's loss",),
    noise="noise of a client's gradients",
    noise_0="noise of the server's gradients",
    x="the start",
    weights="weights of the clients",
    breaks="what is not met",
)
