"""Where a core's seconds go between the start of a process and the verdict of `fedtheory check` and
`mutate`: processor time of loading modules, by package, and of everything else."""

import contextlib
import io
import json
import subprocess
import sys
import time
from importlib import _bootstrap_external as loading

COMMANDS = (
    ("check", "fsl.theorem1"),
    ("check", "lamb.lemma1"),
    ("check", "mixed.propD6"),
    ("check", "flex.theorem3_1"),
    ("mutate", "lamb.lemma1"),
)
BUDGET = "1"
REPEATS = 3


def table(out):
    print(f"\na core's seconds from the start of a process, budget {BUDGET}:", file=out)
    for command in COMMANDS:
        found = min((asked(command) for _ in range(REPEATS)), key=lambda found: found["total"])
        parts = sorted(found["loading"].items(), key=lambda part: -part[1])
        named = ", ".join(f"{name} {seconds:.2f}" for name, seconds in parts[:6])
        print(
            f"  {' '.join(command):24s}{found['total']:6.2f} s: Python itself "
            f"{found['before']:.2f}, loading {sum(found['loading'].values()):.2f} ({named}), "
            f"reading claims {found['claims']:.2f}, the rest {found['rest']:.2f}",
            file=out,
            flush=True,
        )


def asked(command):
    """What `python -m tests.bench.checker COMMAND ID` says of itself."""
    words = [sys.executable, "-m", "tests.bench.checker", *command]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


class Loading:
    """Processor time of modules while they load, each without those that it asks for."""

    def __init__(self):
        self.taken, self._inner = {}, [0.0]
        for loader in (loading.SourceFileLoader, loading.ExtensionFileLoader):
            loader.exec_module = self._timed(loader.exec_module)

    def _timed(self, real):
        def exec_module(loader, module):
            self._inner.append(0.0)
            begun = time.process_time()
            try:
                return real(loader, module)
            finally:
                seconds = time.process_time() - begun
                own = seconds - self._inner.pop()
                self._inner[-1] += seconds
                name = module.__name__.split(".")
                name = ".".join(name[: 2 if name[0] == "fedtheory" else 1])
                self.taken[name] = self.taken.get(name, 0.0) + own

        return exec_module


def run(words):
    """Run a command in this process and return where its time went."""
    before = time.process_time()
    watch = Loading()
    from fedtheory.app.cli import main

    with contextlib.redirect_stdout(io.StringIO()):
        main([*words, "--budget", BUDGET, "--json"])
    claims = watch.taken.pop("fedtheory.claims", 0.0)
    total = time.process_time()
    rest = total - before - claims - sum(watch.taken.values())
    return dict(before=before, loading=watch.taken, claims=claims, rest=rest, total=total)


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1:])))
