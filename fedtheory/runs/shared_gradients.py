"""Gradients computed in pieces, so that idle workers can help.

Each of the workers that run a round together has a buffer for sharing work, its `Desk`. A worker
that needs a large gradient writes the request to its desk, in the pieces into which the problem
splits the gradient (`Kernels.pieces`), and computes one piece after the other. Workers that wait,
for the server's steps or for the last clients of a cohort, compute pieces of this gradient
meanwhile. A problem splits between sums, or sums in a fixed number of pieces, so that no bit
depends on which worker computed which piece.

A worker that wants to join first increments the desk's counter HELPERS and then checks whether the
desk is open. The owner closes the desk and then waits until the counter is 0. So the data on an
open desk stay unchanged as long as any worker reads them. In the other order, a worker could find
the desk open, be delayed, and then read the next request half written.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import LoadInstr
from numba.extending import intrinsic

from fedtheory.jit import DISABLED, INTEGERS, erase, jit, point_types, types
from fedtheory.runs.barriers import ARRIVED, LINE, add_to_counter, give_way, read_counter
from fedtheory.runs.groups import Desk, types_of
from fedtheory.typing import Point

OPEN, HELPERS, NEXT, SPAN = 0 * LINE, 1 * LINE, 2 * LINE, 3 * LINE  # counters of a desk
CLIENT, SAMPLES, PHASE, PIECES, D = range(5)  # the entries of a request
PATIENCE = 64  # polls before a core is yielded: most waits end sooner than the core would come back


@jit
def work_at(of, desk):
    """Compute pieces of the gradient on worker `of`'s desk until all pieces are taken."""
    i, count, d = desk.asked[of, CLIENT], desk.asked[of, SAMPLES], desk.asked[of, D]
    phase, pieces = desk.asked[of, PHASE], desk.asked[of, PIECES]
    rows, x, out = desk.rows[of, :count], desk.x[of], desk.g[of, :d]
    n = add_to_counter(desk.counters, SPAN * of + NEXT, 1)
    while n < pieces:
        desk.piece(desk.data, i, rows, x, desk.room[of], out, phase, n)
        n = add_to_counter(desk.counters, SPAN * of + NEXT, 1)


@jit
def in_pieces(desk, i, rows, x):
    """Compute the gradient of f_i at x into the worker's row of desk.g, in pieces.

    `rows`, in the worker's row of desk.rows, are the samples, all samples if empty. A gradient has
    phases (such as scores, then sums over them): a phase begins when all pieces of the phase before
    it are done. Return False, having done nothing, where the problem does not split gradients of
    this size.
    """
    pieces = desk.pieces(desk.data, i, rows.size, 0)
    if pieces < 2:
        return False
    own, at, phase = desk.worker, SPAN * desk.worker, 0
    for j in range(x.size):
        desk.x[own, j] = x[j]
    desk.asked[own, CLIENT], desk.asked[own, SAMPLES], desk.asked[own, D] = i, rows.size, x.size
    while pieces > 0:
        desk.asked[own, PHASE], desk.asked[own, PIECES] = phase, pieces
        desk.counters[at + NEXT] = 0
        add_to_counter(desk.counters, at + OPEN, 1)
        work_at(own, desk)
        add_to_counter(desk.counters, at + OPEN, -1)
        looks = 0
        while read_counter(desk.counters, at + HELPERS) > 0:
            looks += 1
            if looks % PATIENCE == 0:
                give_way()
        phase += 1
        pieces = desk.pieces(desk.data, i, rows.size, phase)
    return True


@jit
def shared_grad(desk, i, x, out):
    """Compute a problem's `grad`, in pieces where that is faster; `out` is the worker's row of
    desk.g."""
    if not in_pieces(desk, i, desk.rows[desk.worker, :0], x):
        desk.grad(desk.data, i, x, out)


@jit
def shared_batch(desk, i, rows, draw, x, out):
    """Compute a problem's `batch` likewise."""
    if not in_pieces(desk, i, rows, x):
        desk.batch(desk.data, i, rows, draw, x, out)


@cache
def desk_roles(real: str) -> Any:
    """Return `shared_grad` and `shared_batch` with the signatures of the engine, where a Desk
    stands in place of a problem's data."""
    of, (point, _) = types_of(real)[Desk], point_types(real)
    return (
        erase(shared_grad, types.void, (of, types.int64, point, point)),
        erase(shared_batch, types.void, (of, types.int64, INTEGERS, types.uint64, point, point)),
    )


if DISABLED:  # loops then run on one thread

    def desk_at(address: Any, point: Point) -> Any:
        return address
else:

    @intrinsic
    def desk_at(typing_context: Any, address: Any, point: Any) -> Any:
        """Return the Desk at an address, for points of the same type as `point`."""
        of = types_of(str(point.dtype))[Desk]

        def generate(
            context: Any, builder: IRBuilder, signature: Any, arguments: Sequence[LoadInstr]
        ) -> Any:
            kind = context.get_value_type(of).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], kind))

        return of(types.int64, point), generate


@jit
def wait_at_barrier(gate, address, point, worker, workers):
    """Wait until all workers have arrived, and compute pieces of other workers' gradients
    meanwhile.

    ARRIVED only grows: the n-th barrier of a run is passed when the counter reaches n times the
    number of workers, so that no counter has to be reset between barriers. `address` is the
    worker's Desk, 0 where there is none; `point` gives the type of points.
    """
    looks, others = 0, add_to_counter(gate, ARRIVED, 1)
    last = (others // workers + 1) * workers
    while read_counter(gate, ARRIVED) < last:
        if address != 0:
            help_others(desk_at(address, point), worker, workers)
        looks += 1
        if looks % PATIENCE == 0:
            give_way()


@jit
def help_others(desk, worker, workers):
    """Compute pieces of the gradients on other workers' desks, where there are any."""
    for turn in range(1, workers):
        of = (worker + turn) % workers
        at = SPAN * of
        if read_counter(desk.counters, at + OPEN) > 0:
            add_to_counter(desk.counters, at + HELPERS, 1)
            if read_counter(desk.counters, at + OPEN) > 0:
                work_at(of, desk)
            add_to_counter(desk.counters, at + HELPERS, -1)
