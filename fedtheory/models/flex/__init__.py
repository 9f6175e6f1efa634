"""Models of instances in the letters of flex.

Devices have quadratic losses, mostly in one dimension, and do a random number of steps in each
round, by a law that a shape holds. One round (`round`), rounds of the schemes A, B and C (`run`),
laws at first order (`laws`), and arrivals and departures of devices (`arrivals`, `departures`,
`shifted`) are modelled.
"""

CALLED = dict(
    x="the start",
    s="steps of the devices",
    law="steps of the devices in a round",
    span="where iterates stay",
    a="curvatures of the devices' losses",
    tilt="tilts of the devices' losses, step by step",
    n="samples of the devices",
    r="sizes of the devices' noise",
)
