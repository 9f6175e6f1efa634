"""Gradients in pieces, for whoever has nothing else to do.

Workers that run a round side by side each have a desk. Whoever needs a large gradient lays it out there,
in the pieces that its problem cuts it into (`Kernels.pieces`), and takes one after the other; workers
that wait, for the server's steps or the last clients of a cohort, take pieces of it meanwhile. A
problem cuts between sums, or sums in a fixed number of pieces, so that no bit depends on who took which.

Who helps signs up first and then looks whether the desk is open; its owner closes it and then waits until nobody
is signed up. So what lies on an open desk stays there as long as anybody reads it.
"""

from numba.extending import intrinsic

from fedtheory.jit import DISABLED, jit, types
from fedtheory.runs.groups import Crew, types_of
from fedtheory.runs.meeting import ARRIVED, LINE, added, give_way, seen

OPEN, HELPERS, NEXT, DESK = 0 * LINE, 1 * LINE, 2 * LINE, 3 * LINE  # counters of a desk
CLIENT, SAMPLES, PHASE, PIECES = range(4)  # what is asked
PATIENCE = (
    64  # looks at others before a core is offered: a piece is there sooner than the core is back
)


if DISABLED:  # loops then run on one thread

    def crew_at(address, point):
        raise AssertionError("nobody has a crew")
else:

    @intrinsic
    def crew_at(typing_context, address, point):
        """The crew behind an address, whose points are like this one."""
        of = types_of(str(point.dtype))[Crew]

        def generate(context, builder, signature, arguments):
            kind = context.get_value_type(of).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], kind))

        return of(types.int64, point), generate


@jit
def work_at(crew, desk):
    """Pieces of what lies on a desk, until all are taken."""
    i, count = crew.asked[desk, CLIENT], crew.asked[desk, SAMPLES]
    phase, pieces = crew.asked[desk, PHASE], crew.asked[desk, PIECES]
    rows, x, out = crew.rows[desk, :count], crew.x[desk], crew.g[desk, : crew.d]
    n = added(crew.desks, DESK * desk + NEXT, 1)
    while n < pieces:
        crew.piece(crew.data, i, rows, x, crew.room[desk], out, phase, n)
        n = added(crew.desks, DESK * desk + NEXT, 1)


@jit
def in_pieces(address, desk, i, rows, x):
    """The gradient of f_i from some rows, all if there are none, in the worker's row of crew.g, its
    scratch.g; false, and nothing done, where its problem cuts none of this size. Whoever waits may help."""
    crew = crew_at(address, x)
    pieces = crew.pieces(crew.data, i, rows.size, 0)
    if pieces < 2:
        return False
    at, phase = DESK * desk, 0
    for j in range(x.size):
        crew.x[desk, j] = x[j]
    crew.asked[desk, CLIENT], crew.asked[desk, SAMPLES] = i, rows.size
    while pieces > 0:
        crew.asked[desk, PHASE], crew.asked[desk, PIECES] = phase, pieces
        crew.desks[at + NEXT] = 0
        added(crew.desks, at + OPEN, 1)
        work_at(crew, desk)
        added(crew.desks, at + OPEN, -1)
        looks = 0
        while seen(crew.desks, at + HELPERS) > 0:
            looks += 1
            if looks % PATIENCE == 0:
                give_way()
        phase += 1
        pieces = crew.pieces(crew.data, i, rows.size, phase)
    return True


@jit
def help_others(crew, worker, workers):
    for turn in range(1, workers):
        desk = (worker + turn) % workers
        at = DESK * desk
        if seen(crew.desks, at + OPEN) > 0:
            added(crew.desks, at + HELPERS, 1)
            if seen(crew.desks, at + OPEN) > 0:
                work_at(crew, desk)
            added(crew.desks, at + HELPERS, -1)


@jit
def meet(gate, scratch, worker, workers):
    """Wait until all workers have come here, and help those that have not."""
    crew, looks = crew_at(scratch.crew, scratch.g), 0
    others = added(gate, ARRIVED, 1)
    last = (others // workers + 1) * workers
    while seen(gate, ARRIVED) < last:
        help_others(crew, worker, workers)
        looks += 1
        if looks % PATIENCE == 0:
            give_way()
