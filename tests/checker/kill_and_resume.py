"""Kill test, `python -m tests.checker.kill_and_resume [PREFIX ...]`: a campaign that is killed again and
again must produce the same ledger as an undisturbed campaign.

The shallow campaign runs once without interruption. Then another campaign is killed with SIGKILL at
random moments, each in mid-campaign, restarted each time, and finished; its ledger must have the
same bytes.

Exit 0: the ledgers are equal. 1: they differ, or a kill came after the campaign's end.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fedtheory.app import package
from fedtheory.verify import campaign


def begin_campaign(out, prefixes):
    """Start the campaign as a separate process."""
    asked = ["--budget", str(campaign.SMOKE), "--out", str(out), *prefixes]
    command = [sys.executable, "-m", "fedtheory", "verify", *asked]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def count_kept(out):
    """Return how many results are stored, and how many files are being written."""
    store = out / package.RESULTS
    return len(list(store.glob("*.sealed"))), len(list(store.glob(".*.part")))


def kill_campaign(out, prefixes, moment):
    """Kill a campaign `moment` seconds after the first result that it stores. Return (seconds it
    ran, results stored, files half written), or None where the campaign had ended before."""
    before, start = count_kept(out)[0], time.monotonic()
    process = begin_campaign(out, prefixes)
    while process.poll() is None and count_kept(out)[0] == before:
        time.sleep(0.002)
    try:
        process.wait(moment)
        return None
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return (time.monotonic() - start, *count_kept(out))


def kill_series(folder, prefixes, kills, seed, say=print):
    """Tell whether the ledger of a campaign that was killed `kills` times equals the ledger of an
    undisturbed campaign."""
    chance, peace, other = random.Random(seed), folder / "peace", folder / "killed"
    start = time.monotonic()
    status = begin_campaign(peace, prefixes).wait()
    whole = time.monotonic() - start
    say(f"in peace: {whole:.1f} s, {count_kept(peace)[0]} results, exit {status}")
    late = 0
    for n in range(1, kills + 1):
        found = kill_campaign(other, prefixes, chance.uniform(0, whole / kills))
        late += found is None
        text = "it had ended"
        if found:
            text = "killed after {:.2f} s, {} results kept, {} in mid-write".format(*found)
        say(f"kill {n}: {text}")
    ended = begin_campaign(other, prefixes).wait()
    one, two = (path / "ledger.json" for path in (peace, other))
    same = status == ended == 0 and one.read_bytes() == two.read_bytes()
    say(f"then finished: {'the same' if same else 'NOT the same'} bytes of ledger.json")
    return same and not late


def main(argv=None):
    parser = argparse.ArgumentParser(
        prog="python -m tests.checker.kill_and_resume", description=__doc__
    )
    parser.add_argument("prefixes", nargs="*", metavar="PREFIX", help="of the claims; all if none")
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0, help="what draws the moments")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="fedtheory-killing-") as folder:
        say = lambda text: print(text, flush=True)
        return 0 if kill_series(Path(folder), asked.prefixes, asked.kills, asked.seed, say) else 1


if __name__ == "__main__":
    sys.exit(main())
