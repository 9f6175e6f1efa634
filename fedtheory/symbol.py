"""Symbols and tables of symbols, under the name that users import."""

from fedtheory.language.symbol import *  # noqa: F403
