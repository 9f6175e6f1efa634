"""Domains of symbols: the assumptions that SymPy makes of each, its words, and its members."""

from fedtheory.typing import Exact

# name -> (assumptions of a SymPy symbol, condition in words)
DOMAINS: dict[str, tuple[dict[str, bool], str]] = {
    "positive": (dict(positive=True), "> 0"),
    "nonnegative": (dict(nonnegative=True), ">= 0"),
    "count": (dict(integer=True, positive=True), "is an integer >= 1"),
    "real": (dict(real=True), "is a real number"),
}


def domain_admits(domain: str, value: Exact) -> bool:
    """Tell whether a Fraction lies in a domain."""
    return (
        domain == "real"
        or domain == "positive"
        and value > 0
        or domain == "nonnegative"
        and value >= 0
        or domain == "count"
        and value >= 1
        and value.denominator == 1
    )
