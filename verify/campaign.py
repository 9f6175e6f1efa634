"""The campaign: runs every claim through `ft.check`, spread over workers, and stores each result as
soon as it is found.

A claim whose result is stored under the same name is not searched again. So a killed campaign
continues where it stopped, and a campaign in which nothing changed has nothing to do. Shards are
campaigns over parts of the claims; a campaign that reads the results of all shards has nothing left
to do.
"""

import operator
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory.app import ledger, package
from fedtheory.errors import FedtheoryError
from fedtheory.parallel import executors
from fedtheory.store import files, source_hash
from fedtheory.terminal import Line, duration_text
from fedtheory.verdicts.status import VIOLATED
from fedtheory.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim

SMOKE, FULL = 0.1, 4.5  # budgets of a claim, in seconds of one core
SLIDERS = 0.03  # seconds that a claim's sliders take
EXECUTOR = "processes:2"
STALE = 3600.0  # age in seconds at which a partly written file is taken for that of a dead campaign


class Stopped(KeyboardInterrupt):
    """Raised where Ctrl-C reaches the campaign; `kept` of `total` claims are decided by then."""

    def __init__(self, kept: Any, total: int) -> None:
        super().__init__(f"interrupted; {kept} of {total} claims are decided and kept")
        self.kept, self.total = kept, total


class Broken(FedtheoryError):
    """Raised where worker processes die again and again, or no longer run the sources that are to
    be checked."""


def run_campaign(
    claims: "Sequence[Claim]",
    budget: float,
    seed: int,
    folder: Path,
    executor: str = EXECUTOR,
    say: Callable[..., Any] | None = None,
    pages: bool = False,
) -> dict[str, dict[str, Any]]:
    """Return {id: result} of every claim; workers find the results that `folder` does not hold yet,
    and store each with its `key`. With `pages`, workers also compute the slider data of the page
    (`explored` in a result) and the derivations of new certificates (`derived`, by their hashes).
    """
    folder.mkdir(parents=True, exist_ok=True)
    sweep_folder(folder)
    names = {claim.id: ledger.result_key(claim, budget, seed) for claim in claims}
    moved = {claim.id: slider_key(names[claim.id]) for claim in claims if pages and claim.lines}
    found, told, derived = _load_kept(folder, names), _load_kept(folder, moved), {}
    say = say or Progress(claims, None, (told, moved), budget)
    say.begin(found)
    wanted = [claim.id for claim in longest_first(claims)]
    work = decide_and_follow if pages else decide_claim
    tasks = [(work, name, budget, seed, names[name]) for name in wanted if name not in found]
    tasks += [
        (explore_claim, name, budget, seed, moved[name])
        for name in wanted
        if name in moved and name not in told
    ]
    try:
        with closing(executors.iter_completed(operator.call, tasks, executor)) as batches:
            for results in batches:
                for n, result in results.items():
                    work, name, *_, key = tasks[n]
                    derived.setdefault(name, {}).update(result.pop("derived", {}))
                    ledger.keep_result(folder, key, result)
                    (told if work is explore_claim else found)[name] = result
                say.show(found)
    except executors.Lost as lost:
        raise Broken(f"{lost}; {len(found)} of {len(claims)} claims are decided and kept") from None
    except KeyboardInterrupt:
        raise Stopped(len(found), len(claims)) from None
    say.end()
    more = lambda name: dict(told.get(name, {}), key=names[name], derived=derived.get(name, {}))
    return {claim.id: found[claim.id] | more(claim.id) for claim in claims}


def slider_key(key: str) -> str:
    """Return the cache key of a claim's slider data: a hash of the claim's result key and of the
    sources that compute the data."""
    return ledger.digest_of([key, source_hash.part_digest(Path(package.__file__), "slider_json")])[
        :40
    ]


def _load_kept(folder: Path, names: Mapping[str, str]) -> dict[str, Any]:
    """Return {id: stored result} from a folder, given {id: key of the result}."""
    kept = {name: ledger.load_result(folder, key) for name, key in names.items()}
    return {name: result for name, result in kept.items() if result is not None}


def longest_first(claims: "Sequence[Claim]") -> "list[Claim]":
    """Sort claims so that the longest searches start first and all workers end together: orders,
    then claims with formulas, then claims in words only."""
    return sorted(claims, key=lambda claim: (not claim.lines, claim.kind != "order"))


def claims_of_shard(claims: "Sequence[Claim]", number: int, of: Any) -> Any:
    """Return the claims of one shard of several: every `of`-th claim in order of cost, so that each
    shard has as many claims of every kind."""
    mine = {claim.id for claim in longest_first(claims)[number - 1 :: of]}
    return [claim for claim in claims if claim.id in mine]


def merge_folders(
    claims: "Sequence[Claim]", budget: float, seed: int, folder: Path, others: Any
) -> Any:
    """Copy the results that other folders hold of these claims into `folder`; return the ids of the
    claims that no folder has."""
    missing = []
    for claim in claims:
        name = ledger.result_key(claim, budget, seed)
        found = (
            result for place in (folder, *others) if (result := ledger.load_result(place, name))
        )
        result = next(found, None)
        if result is None:
            missing.append(claim.id)
        else:
            ledger.keep_result(folder, name, result)
    return missing


def sweep_folder(folder: Path) -> None:
    """Remove temporary files that a killed campaign left; younger files may belong to a campaign
    that is still running, and stay."""
    for part in folder.glob(f"{files.PREFIX}*{files.SUFFIX}"):
        try:
            if time.time() - part.stat().st_mtime > STALE:
                part.unlink()
        except FileNotFoundError:  # another campaign has removed it
            pass


def decide_claim(
    name: str, budget: float, seed: int, key: str
) -> dict[str, float | dict[str, Any]]:
    """Return the result of a claim; workers run this function, provided that their sources are the
    same as the main process's."""
    return ledger.decide_claim(_claim_for_worker(name, budget, seed, key, str), budget, seed)


def decide_and_follow(
    name: str, budget: float, seed: int, key: str
) -> dict[str, float | dict[str, Any]]:
    """Return the result of a claim, with the derivations of its certificates by their hashes.
    Derivations are not stored: they follow from the certificates."""
    from fedtheory.rocq import derivations

    result = decide_claim(name, budget, seed, key)
    documents = ledger.certificates_of(result["verdict"])
    derived = {ledger.digest_of(one): derivations.list_derivations(one) for one in documents}
    return dict(result, derived=derived)


def explore_claim(name: str, budget: float, seed: int, key: str) -> dict[str, Any]:
    """Return the slider data of a claim for the page, provided that the worker's sources are the
    same as the main process's."""
    _claim_for_worker(name, budget, seed, key, slider_key)
    return dict(explored=package.slider_json(name))


def _claim_for_worker(
    name: str, budget: float, seed: int, key: str, named: Callable[..., Any] | type
) -> "Claim":
    """Return the claim of an id, for a worker; raise Broken where the worker computes another key
    for the task than the main process did."""
    from fedtheory import discover

    claim = discover.claim(name)
    if named(ledger.result_key(claim, budget, seed)) != key:
        raise Broken(
            f"a worker's sources, libraries or files are not the giver's (of {name}): "
            "what was decided is kept; give it the same, and run it again"
        )
    return claim


class Progress:
    """A progress line: claims decided, sliders made, time left, worst ratio and number of violated
    claims; rewritten on a terminal, printed now and then elsewhere. `sliders` is a pair: the slider
    data made so far, a collection that grows, and the sliders to be made."""

    def __init__(
        self,
        claims: "Sequence[Claim]",
        stream: Any = None,
        sliders: tuple[dict[str, Any], dict[str, str]] = ((), ()),
        budget: float = SMOKE,
    ) -> None:
        self.weights = {claim.id: 1.0 if claim.lines else 0.02 for claim in claims}
        self.told, self.moved = sliders
        self.weight = SLIDERS / budget  # the cost of one claim's sliders, in searches
        self.line, self.last = Line(stream), 0.0
        self.every = 0.2 if self.line.tty else 5.0

    def work(self, found: Mapping[str, dict[str, float | dict[str, Any]]]) -> float:
        """Return the amount of work done, in units of one search."""
        return sum(self.weights[name] for name in found) + self.weight * len(self.told)

    def begin(self, found: Mapping[str, Any]) -> None:
        self.whole = sum(self.weights.values()) + self.weight * len(self.moved)
        self.first = time.monotonic(), self.work(found)
        self.started = False
        if len(found) < len(self.weights):
            self.write(f"{len(self.weights)} claims, {len(found)} of them decided before")

    def show(
        self, found: Mapping[str, dict[str, float | dict[str, Any]]], last: bool = False
    ) -> None:
        now = time.monotonic()
        if now - self.last < self.every and not last:
            return
        self.last = now
        begun, before = self.first
        work = self.work(found)
        seconds = (now - begun) * (self.whole - work) / (work - before) if work > before else None
        if seconds is not None and not self.started:
            # workers were loading until now, which happens once: the rate is measured from here
            self.started = True
            self.first = now, work
        self.found = found
        self.write(
            f"{len(found)}/{len(self.weights)} claims decided, "
            + f"sliders of {len(self.told)}/{len(self.moved)}, " * bool(self.moved)
            + (f"{duration_text(seconds)} left" if seconds is not None else "starting")
            + progress_words(found),
            last,
        )

    def end(self) -> None:
        if hasattr(self, "found"):
            self.show(self.found, last=True)

    def write(self, line: str, last: bool = True) -> None:
        self.line.say(line, "\n" if last else "")


def progress_words(found: Mapping[str, dict[str, float | dict[str, Any]]]) -> str:
    """Return in words the largest ratio so far, and how many claims are violated."""
    verdicts = {name: Verdict.from_dict(result["verdict"]) for name, result in found.items()}
    ratios = [(v.tightness, name) for name, v in verdicts.items() if v.tightness is not None]
    violated = sum(verdict.status == VIOLATED for verdict in verdicts.values())
    ratio, name = max(ratios, default=(None, None))
    return (
        f", worst ratio {ratio:.4g} ({name})" if ratio is not None else ""
    ) + f", {violated} violated"
