"""Models of instances in the letters of mixed FL."""

CALLED = dict(
    losses=("f_f, the loss on the clients", "f_c, the loss at the center"),
    noise="noise of a client's gradients",
    noise_c="noise of the central gradient",
    x="the start",
    first="the gradients that are transferred first",
    smooth="",
    breaks="what is not met",
)
