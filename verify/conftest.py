"""Hypothesis profiles of the property tests: the same cases every time, or fresh ones where
FEDTHEORY_VERIFY=random."""

import os

from hypothesis import HealthCheck, Phase, settings

QUIET = dict(deadline=None, suppress_health_check=list(HealthCheck), print_blob=True)
settings.register_profile(
    "same",
    max_examples=4,
    derandomize=True,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    **QUIET,
)
settings.register_profile("random", max_examples=50, **QUIET)


def pytest_configure(config):
    settings.load_profile("random" if os.environ.get("FEDTHEORY_VERIFY") == "random" else "same")
