"""A description of what a search has examined, built from the shapes that it drew: models, sizes,
losses and instances."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fedtheory.models import Model
    from fedtheory.search.optimizer import ShapeSearch

# Entries of a shape that are sizes, besides the counts of a table. `copies` is the number of
# clients of each kind.
SIZES = ("d", "rounds", "copies")
NOISE = {
    "none": "none",
    "even": "two values",
    "skewed": "two values",
    0: "none",
    1: "any law of its variance",
}


class Coverage:
    """The number of instances inside a line's hypotheses that a search in one model has rated, and
    their shapes."""

    def __init__(self, setting: "Model") -> None:
        self.setting, self.cases, self.shapes, self.seen = setting, 0, {}, {}

    def add(self, hunt: "ShapeSearch") -> None:
        """Count the instances that a search has rated since it was last added."""
        new = hunt.admitted - self.seen.get(hunt, 0)
        self.seen[hunt] = hunt.admitted
        if new:
            self.cases += new
            for name, value in {**hunt.shape, **hunt.numbers}.items():
                self.shapes.setdefault(name, set()).add(value)

    def __str__(self) -> str:
        if not self.cases:
            return (
                f"nothing in {self.setting.says}, where no instance inside its hypotheses was found"
            )
        told = [part for part in (self._sizes(), self._losses(), self._noise()) if part]
        return f"{self.cases} instances of {self.setting.says}" + (
            f" ({'; '.join(told)})" if told else ""
        )

    def _sizes(self) -> str:
        """Render the ranges of counts and of other whole numbers that exceed 1."""
        counted = lambda name, values: (
            self._counts(name)
            or name in SIZES
            or (
                name != "pieces"
                and all(isinstance(value, int) for value in values)
                and max(values) > 1
            )
        )
        return describe_ranges(
            {name: values for name, values in self.shapes.items() if counted(name, values)}
        )

    def _counts(self, name: str) -> bool:
        """Tell whether a name counts something in the model's table."""
        table = self.setting.table
        return name in table and table[name].domain == "count"

    def _losses(self) -> str:
        """Render the kinds of losses: convex or not, with at most so many quadratic pieces a
        coordinate."""
        if "pieces" not in self.shapes:
            return ""
        most = max(self.shapes["pieces"])
        found = [
            "quadratic losses"
            if most == 1
            else f"losses of up to {most} quadratic pieces a coordinate"
        ]
        if "convex" in self.shapes:
            found.append(
                " and ".join(
                    word
                    for value, word in ((True, "convex"), (False, "not convex"))
                    if value in self.shapes["convex"]
                )
            )
        return ", ".join(
            found
            + [
                words
                for name, words in (
                    ("soft", "some with a soft bend"),
                    ("turned", "some turned"),
                    ("saw", "some with twice as many as rounds"),
                )
                if any(self.shapes.get(name, ()))
            ]
        )

    def _noise(self) -> str:
        """Render the kinds of noise of the instances."""
        kinds = set().union(
            *(values for name, values in self.shapes.items() if name.startswith("noise"))
        )
        said = sorted({NOISE.get(kind, str(kind)) for kind in kinds})
        said += ["across all coordinates"] if "coordinate_noise" in self.shapes else []
        said += ["growing with the gradient"] if "growing_noise" in self.shapes else []
        return f"noise: {' or '.join(said)}" if said else ""


def describe_ranges(sizes: Mapping[str, set[int | str]]) -> str:
    """Render ranges such as "N <= 4, 2 <= K <= 5, d = 1" from {name: integers, or texts of their
    digits}."""
    found = []
    for name, values in sizes.items():
        low, high = min(map(int, values)), max(map(int, values))
        found.append(
            f"{name} = {high}"
            if low == high
            else f"{name} <= {high}"
            if low <= 1
            else f"{low} <= {name} <= {high}"
        )
    return ", ".join(found)
