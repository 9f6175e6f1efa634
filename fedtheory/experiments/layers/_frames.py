"""Copies of images into a frame with a border, and out of one."""

from fedtheory.experiments.layers._runs import copy_run
from fedtheory.jit import jit


@jit
def copy_into_frame(A, at, tall, line, border, apart, wide, channels, room):
    """Copy an image of `tall` lines of `line` pixels into a blank image whose lines have `wide`
    pixels: pixel (i, j) goes to (border + apart i, border + apart j)."""
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
    """Copy the part inside the border of an image whose lines have `wide` pixels to an image of
    `tall` lines of `line` pixels."""
    for i in range(tall):
        at = ((border + i) * wide + border) * channels
        copy_run(room, at, Z, to + i * line * channels, line * channels)
