"""The record of a claim and of what a claim states, under the name that users import."""

from fedtheory.language.claim import *  # noqa: F403
