"""Models of instances in the letters of flex."""

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
