"""Models of instances in the letters of mixed FL.

The losses are f_f on the clients and f_c at the center, with f = f_f + f_c. A round of 1-way
gradient transfer (`round`, `large`) and of 2-way transfer (`transfer`), whole runs of the three
methods (`run`), and the number of rounds until a given error (`rounds`) are modelled. `point`,
`functions` and `samples` have no method: losses at points, and gradients alone.
"""

CALLED = dict(
    losses=("f_f, the loss on the clients", "f_c, the loss at the center"),
    noise="noise of a client's gradients",
    noise_c="noise of the central gradient",
    x="the start",
    first="the gradients that are transferred first",
    smooth="",
    breaks="what is not met",
)
