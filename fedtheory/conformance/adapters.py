"""The two tests of a user's adapter file: its trajectory is compared with the method's kernels, and
the laws of the method are tested."""

from typing import Any, NamedTuple

from fedtheory import arguments, plugins
from fedtheory.conformance.conform import FUNCTIONS, Conformance, conform
from fedtheory.conformance.laws_report import Laws, laws
from fedtheory.errors import InvalidInput, refuse


class Report(NamedTuple):
    """The results of both tests for one adapter file: `trajectory` from `conform`, `laws` from
    `laws`. Printing the report prints both."""

    trajectory: Conformance
    laws: Laws

    @property
    def good(self) -> bool:
        """Return whether the trajectory agrees on every instance and no law is broken."""
        return self.trajectory.broken is None and not self.laws.broken

    def data(self) -> dict[str, Any]:
        """Return the report as `--json` prints the report."""
        broken = self.trajectory.broken
        return dict(
            method=self.trajectory.method,
            agreed=list(self.trajectory.agreed),
            broken=broken and broken._asdict(),
            laws=[law._asdict() for law in self.laws.found],
        )

    def __str__(self) -> str:
        return f"{self.trajectory}\n{self.laws}"


def of_file(module: Any, path: str) -> Report:
    """Return the Report of an adapter file.

    `module` is the file, imported: it defines METHOD (a name or a record), start, round and state
    (see `conform`), and optionally HYPER (a dict) and WEIGHTED (a flag). `path` is the file's name
    in messages. Raises InvalidInput where a definition is missing or HYPER is no dict.
    """
    for name in ("METHOD", *FUNCTIONS):
        if not hasattr(module, name):
            raise InvalidInput(
                f"{path} must define METHOD, start, round and state; it lacks {name}"
            )
    three: list[Any] = [getattr(module, name) for name in FUNCTIONS]
    hyper, weighted = getattr(module, "HYPER", {}), getattr(module, "WEIGHTED", True)
    if not isinstance(hyper, dict):
        refuse(f"{path}: HYPER", "must be a dict", hyper)
    weighted = arguments.check_flag(f"{path}: WEIGHTED", weighted)
    with plugins.confine_errors(f"{path} cannot be asked"):
        return Report(*(ask(module.METHOD, *three, hyper, weighted) for ask in (conform, laws)))
