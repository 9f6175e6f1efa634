"""One run of an experiment: data, split, network, method, and the metrics that are measured.

A request says it all, in words and numbers:

    set, other      how data.load makes the data, and the server's own source, if it has one
    side            images are made so small, in pixels (absent: as they are)
    places          ratings become bags of so many films that a user likes, and one more (_samples.py)
    classes         only samples of the first so many are used (absent: all)
    apart           ["label" or "writer", which]: only such samples are clients' (absent: all are)
    N, split        clients, and partition -> its options, of who has what
    server          how the server comes by its samples: a partition.server_* -> its options; or
                    {"rest": {}}, those that no client can have, or {"all": {}}, everything
    net             hidden widths, or the name of a network of the papers
    own, beside     layers of the server's loss, where it is another, and of what clients' loss has
                    beside their own (a name of _samples.py -> its options)
    batch, batch_0  the size of minibatches, and of the server's (absent: the same)
    drop            the probability of dropout of a network by widths
    method, hyper   the algorithm and its hyper-parameters; S of the clients work in a round
    traces          how many of flex's traces devices follow (absent: all complete their work)
    arrivals        [[client, round, boost], ...] of those that join later
    tested          ["writer", which]: test data of a source; ["devices", m]: of labels that the
                    first m devices have (absent: all)
    rounds, every   how long, and how often it is measured
    pretrained      steps and step size of the server's learning beforehand, or None
    measure         what is measured, by the names of ft.metrics
    seed            fixes split, initial point, cohorts and minibatches; methods share them
"""

from collections.abc import Mapping
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from fedtheory.experiments._samples import prepare_problem, request_text
from fedtheory.participation import Arrival, Participation
from fedtheory.participation.traces import traces
from fedtheory.runs.running import run

# What of a request its problem depends on: runs that have these in common share one problem.
PROBLEM = (
    *("set", "other", "side", "places", "classes", "apart", "N", "split", "server", "tested"),
    *("net", "own", "batch", "batch_0", "drop", "weights", "seed"),
)
MEASURE = ("test_accuracy", "test_loss")
MAKING = RLock()  # of threads that need the same data, one makes them


def train_run(request: Mapping[str, Any], checkpoint: Path | None = None) -> dict[str, np.ndarray]:
    """Compute the arrays of a run, {name: array}: each metric, and `rounds`, the rounds at which
    metrics were measured. The run resumes from the file `checkpoint` of a killed process if there
    is one."""
    with MAKING:
        problem = prepare_problem(request_text({name: request.get(name) for name in PROBLEM}))
    names = tuple(request.get("measure", MEASURE))
    found = run(
        problem,
        request["method"],
        rounds=request["rounds"],
        every=request["every"],
        metrics=names,
        S=request["S"],
        seed=request["seed"],
        pretrained=request.get("pretrained"),
        workers=1,
        checkpoint=checkpoint,
        participation=_participation_of(request),
        **request["hyper"],
    )
    at = np.arange(0, request["rounds"] + 1, request["every"])
    curves = {name: np.full(len(at), np.nan) for name in names}
    for name in names:  # a run that left the finite numbers ends early
        seen = found.metrics[name][0][at[at <= found.rounds]]
        curves[name][: len(seen)] = seen
    return {"rounds": at.astype(float), **curves}


def _participation_of(request: Mapping[str, Any]) -> Any:
    """Return the participation of clients that a request describes; None means that all clients do
    all steps."""
    joining = tuple(Arrival(*each) for each in request.get("arrivals", ()))
    if not joining and not request.get("traces"):
        return None
    count = request.get("traces")
    return Participation(work=traces(count, request["seed"]) if count else None, arrivals=joining)


def count_work(request: Mapping[str, Any]) -> int:
    """Return the cost of a run in samples that pass through the network: of local steps, of server
    steps, and of pre-training."""
    hyper, batch = request["hyper"], request["batch"]
    steps = hyper.get("K", hyper.get("E", hyper.get("T", 1)))
    rounds = request["rounds"] * (request["S"] * steps + hyper.get("K_0", 0)) * batch
    before = (request.get("pretrained") or {}).get("steps", 0) * batch
    return rounds + before
