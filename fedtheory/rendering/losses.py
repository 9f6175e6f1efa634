"""Losses of instances as formulas and as curves to draw, for each form in which a model writes
losses."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from fedtheory.arithmetic.work import Counted
from fedtheory.errors import FedtheoryError
from fedtheory.models.general.clients import Clients
from fedtheory.typing import Instance

CURVE = "slope", "tilt", "bends", "soft"
MADE_OF = {
    "losses",
    "loss",
    "at_star",
    "server",
    "devices",
    "a",
    "b",
}  # entries that the losses express completely


class DescribedLoss(NamedTuple):
    """A loss of an instance, with its name, its curves for each coordinate, and remarks."""

    name: str
    curves: list[Any]  # one curve for each coordinate, as `models/losses.py` writes them
    more: str = ""  # further facts about it
    meaning: str = ""  # the owner of the loss

    def __str__(self) -> str:
        return f"{loss_formula(self.curves)}{self.more}"


def losses_of(instance: Instance, first: Sequence[Any] = ()) -> list[DescribedLoss]:
    """Return the losses of an instance whose numbers are parsed; `first` names the first losses.
    Return an empty list where no loss is a sum of curves."""
    found = _list_losses(instance)
    if all(map(is_curves, found)) and found:
        named = [each.partition(", ")[::2] for each in first[: len(found)]]
        named += [(f"f_{n}", "") for n in range(1, len(found) - len(named) + 1)]
        return [DescribedLoss(name, own, "", meaning) for (name, meaning), own in zip(named, found)]
    return list(_place_losses(instance)) or list(_device_losses(instance))


def _list_losses(instance: Instance) -> list[Any]:
    listed = instance.get("losses", instance.get("loss"))
    if is_curves(listed):
        return [listed]
    return listed if isinstance(listed, list) else []


def is_curves(loss: Sequence[Any] | None) -> bool:
    """Tell whether a loss is written in the form of `models/losses.py`; some models use another
    form."""
    return isinstance(loss, list) and all(
        isinstance(curve, dict) and {"slope", "tilt"} <= curve.keys() <= {*CURVE} for curve in loss
    )


def _place_losses(instance: Instance) -> Iterator[DescribedLoss]:
    """Yield the losses of a run of any method, from their curves and the clients' gradients at the
    minimiser."""
    if "at_star" not in instance or any("turn" in loss for loss in _list_losses(instance)):
        return
    try:
        clients = Clients(instance)
    except (FedtheoryError, LookupError, TypeError):
        return
    if is_curves(instance.get("server")):
        yield DescribedLoss("f_0", instance["server"], "", "the server's loss")
    for n, found in enumerate(clients.curves, 1):
        yield DescribedLoss(f"f_{n}", found)


def _device_losses(instance: Instance) -> Iterator[DescribedLoss]:
    """Yield the losses that are given by curvatures a, minimisers b and weights p of devices."""
    devices = instance.get("devices", instance)
    if not isinstance(devices, dict) or not {"a", "b"} <= devices.keys():
        return
    a, b = devices["a"], devices["b"]
    if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
        return
    weights, noise = devices.get("p"), devices.get("r")
    for n, (bends, places) in enumerate(zip(a, b)):
        pairs = zip(*(each if isinstance(each, list) else [each] for each in (bends, places)))
        more = f", of weight {readable_number(weights[n])}" if weights else ""
        more += f", with noise of size {readable_number(noise[n])}" if noise and noise[n] else ""
        yield DescribedLoss(
            f"f_{n + 1}", [dict(slope=a, tilt=-a * b, at=b) for a, b in pairs], more
        )


def loss_formula(loss: Sequence[Any]) -> str:
    """Return a loss, a sum over its coordinates, as a formula; (z)+ stands for max(z, 0)."""
    names = ["x"] if len(loss) == 1 else [f"x{n}" for n in range(1, len(loss) + 1)]
    terms = [term for curve, x in zip(loss, names) for term in curve_terms(curve, x)]
    return " + ".join(terms).replace("+ -", "- ") or "0"


def curve_terms(curve: Mapping[str, Any], x: str) -> Iterator[str]:
    """Yield the nonzero terms of a curve."""
    half = lambda slope: Fraction(slope) / 2
    at = Fraction(curve.get("at", 0))  # the centre of the square
    if Fraction(curve["slope"]):
        yield show_product(half(curve["slope"]), f"({show_shift(x, at)})^2" if at else f"{x}^2")
    if Fraction(curve["tilt"]) and "at" not in curve:
        yield show_product(Fraction(curve["tilt"]), x)
    for (at,), slope in join_alike(curve.get("bends", ())):
        yield show_product(half(slope), f"({show_shift(x, at)})+^2")
    for (rate, at), height in join_alike(curve.get("soft", ())):
        inside = show_product(Fraction(rate), x if not Fraction(at) else f"({show_shift(x, at)})")
        yield show_product(Fraction(height), f"log(1 + exp({inside}))")


def join_alike(parts: Sequence[Any]) -> list[tuple[tuple[Fraction, ...], Fraction]]:
    """Return [(position, size)] of parts written as [size, *position]. Sizes at equal positions are
    added, and zero sums are left out."""
    found = {}
    for part in parts:
        size, *where = map(Fraction, part)
        found[tuple(where)] = found.get(tuple(where), 0) + size
    return [(where, size) for where, size in found.items() if size]


def show_product(factor: Fraction, text: str) -> str:
    return (
        text if factor == 1 else f"-{text}" if factor == -1 else f"{readable_number(factor)} {text}"
    )


def show_shift(x: str, at: Fraction) -> str:
    at = Fraction(at)
    return (
        x
        if not at
        else f"{x} - {readable_number(at)}"
        if at > 0
        else f"{x} + {readable_number(-at)}"
    )


def readable_number(value: Any, most: int = 16) -> str:
    """Return a number as short text: exactly where a fraction has at most `most` characters, and
    with six digits otherwise."""
    exact = str(value)
    return exact if len(exact) <= most or not isinstance(value, Fraction) else round_to_six(value)


def round_to_six(value: Counted | Fraction) -> str:
    """Return a fraction of any size with six digits."""
    try:
        return f"{float(value):.6g}"
    except OverflowError:
        digits = len(str(abs(value.numerator))) - len(str(value.denominator))
        return f"{float(value / Fraction(10) ** digits):.6g}e+{digits}"
