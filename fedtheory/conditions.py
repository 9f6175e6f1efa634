"""Hypotheses that are no relations between numbers, under the name that users import."""

from fedtheory.language.conditions import *  # noqa: F403
