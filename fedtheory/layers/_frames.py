"""Images with a border, and without it."""

from fedtheory.jit import jit
from fedtheory.layers._runs import copy_run


@jit
def copy_into_frame(A, at, tall, line, border, apart, wide, channels, room):
    """Copies an image of `tall` lines of `line` pixels into a blank one with lines of `wide`: pixel
    (i, j) to (border + apart i, border + apart j)."""
    if apart == 1:
        for i in range(tall):
            to = ((border + i) * wide + border) * channels
            copy_run(A, at + i * line * channels, room, to, line * channels)
        return
    for i in range(tall):
        for j in range(line):
            to = ((border + apart * i) * wide + border + apart * j) * channels
            copy_run(A, at + (i * line + j) * channels, room, to, channels)


@jit
def copy_out_of_frame(room, border, wide, channels, Z, to, tall, line):
    """Copies what stands behind the border of an image with lines of `wide` into one with lines of
    `line` pixels."""
    for i in range(tall):
        at = ((border + i) * wide + border) * channels
        copy_run(room, at, Z, to + i * line * channels, line * channels)
