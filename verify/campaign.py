"""The campaign: every claim through `ft.check` in two processes, each result kept as soon as it is
found.

What was kept under the same name is not looked for again, so a campaign that was killed goes on
where it was, and one in which nothing changed has nothing to do.
"""

import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing

from fedtheory.app import ledger, processes
from fedtheory.errors import FedtheoryError

SMOKE, FULL = 0.1, 10.0  # budgets of a claim, in seconds of one core
RETRIES = 3  # how often processes that died are replaced before giving up


class Stopped(KeyboardInterrupt):
    """Ctrl-C reached the campaign; `kept` of `total` claims are decided."""

    def __init__(self, kept, total):
        super().__init__(f"interrupted; {kept} of {total} claims are decided and kept")
        self.kept, self.total = kept, total


class Broken(FedtheoryError):
    """Processes died again and again, or no longer run what is to be checked."""


def run(claims, budget, seed, folder, workers=processes.WORKERS, say=None):
    """id -> result of every claim; those not kept in `folder` yet are found and kept there, with 0
    workers here."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in folder.glob(".*.part"):  # of a campaign that was killed in mid-write
        part.unlink(missing_ok=True)
    say = say or Progress(claims)
    names = {claim.id: ledger.key(claim, budget, seed) for claim in claims}
    found = {
        claim.id: result
        for claim in claims
        if (result := ledger.kept(folder, names[claim.id])) is not None
    }
    say.begin(found)
    # What has a formula takes time, a sentence none, and an order looks at its companion besides:
    # the long ones first, so that all processes end together.
    wanted = sorted(
        (claim for claim in claims if claim.id not in found),
        key=lambda claim: (not claim.lines, claim.kind != "order"),
    )
    tries = 0
    while wanted:
        before = len(found)
        try:
            if workers:
                tasks = [(c.id, budget, seed, str(folder), names[c.id]) for c in wanted]
                with closing(processes.done(_decide, tasks, workers)) as batches:
                    for results in batches:
                        found.update({wanted[n].id: result for n, result in results.items()})
                        say.show(found)
            for claim in () if workers else wanted:
                found[claim.id] = _decide(claim.id, budget, seed, folder, names[claim.id])
                say.show(found)
        except BrokenProcessPool:
            tries = tries + 1 if len(found) == before else 0
            if tries >= RETRIES:
                raise Broken(
                    f"a process died {tries} times while checking {wanted[0].id} or its neighbour; "
                    f"{len(found)} of {len(claims)} claims are decided and kept"
                ) from None
        except KeyboardInterrupt:
            raise Stopped(len(found), len(claims)) from None
        wanted = [claim for claim in wanted if claim.id not in found]
    say.end()
    return {claim.id: found[claim.id] for claim in claims}


def _decide(name, budget, seed, folder, key):
    from fedtheory import discover

    claim = discover.claim(name)
    if ledger.key(claim, budget, seed) != key:
        raise Broken(
            "sources were edited while the campaign ran; what was decided is kept, run it again"
        )
    result = ledger.decided(claim, budget, seed)
    ledger.keep(folder, key, result)
    return result


class Progress:
    """Claims decided, time left, worst ratio and violated so far: rewritten on a terminal, now and
    then elsewhere."""

    def __init__(self, claims, stream=None):
        self.weights = {claim.id: 1.0 if claim.lines else 0.02 for claim in claims}
        self.stream, self.last = stream or sys.stderr, 0.0
        self.every = 0.2 if self.stream.isatty() else 5.0

    def begin(self, found):
        self.begun, self.kept = time.monotonic(), set(found)
        if len(found) < len(self.weights):
            self.write(f"{len(self.weights)} claims, {len(found)} of them decided before")

    def show(self, found, last=False):
        now = time.monotonic()
        if now - self.last < self.every and not last:
            return
        self.last = now
        done = sum(self.weights[name] for name in found if name not in self.kept)
        left = sum(weight for name, weight in self.weights.items() if name not in found)
        seconds = (now - self.begun) * left / done if done else None
        self.found = found
        self.write(
            f"{len(found)}/{len(self.weights)} claims decided, "
            + (f"{seconds:.0f} s left" if seconds is not None else "starting")
            + worst(found),
            last,
        )

    def end(self):
        if hasattr(self, "found"):
            self.show(self.found, last=True)

    def write(self, line, last=True):
        terminal = self.stream.isatty()
        self.stream.write(f"\r{line}\033[K" + "\n" * last if terminal else f"{line}\n")
        self.stream.flush()


def worst(found):
    """The largest ratio so far, and how many claims are violated, in words."""
    ratios = [
        (number(r["verdict"]["tightness"]), name)
        for name, r in found.items()
        if r["verdict"]["tightness"] is not None
    ]
    violated = sum(r["verdict"]["status"] == "violated" for r in found.values())
    ratio, name = max(ratios, default=(None, None))
    return (
        f", worst ratio {ratio:.4g} ({name})" if ratio is not None else ""
    ) + f", {violated} violated"


def number(value):
    """A tightness of a ledger, in which infinity is a text."""
    return (
        float(value)
        if isinstance(value, (int, float)) or value in ("inf", "-inf")
        else float("-inf")
    )
