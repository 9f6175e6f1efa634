"""Barriers at which the workers of one loop meet without leaving machine code.

A thread that sleeps between two parts of a round is woken late, and often on a core that is busy.
Therefore a waiting worker stays awake, and yields its core to other threads from time to time. A
gate is an array of counters that change atomically, each in a cache line of its own.
"""

import os
import time
from typing import Any

import numpy as np
from llvmlite.ir.builder import IRBuilder
from llvmlite.ir.instructions import Instruction
from llvmlite.ir.values import Constant
from numba.core import types
from numba.extending import intrinsic

from fedtheory.jit import DISABLED, jit

LINE = np.int64(8)  # counters per cache line
ARRIVED, ENDED, TAKEN = np.int64(0), LINE, 2 * LINE


def make_counters(workers: int) -> Any:
    """Return the array of counters that synchronises `workers` workers. Each worker's part of the
    work has a counter of its own, from TAKEN on."""
    return np.zeros(TAKEN + LINE * workers, dtype=np.int64)


if DISABLED:  # loops then run on one thread

    def add_to_counter(gate: Any, place: str, n: int) -> Any:
        before = gate[place]
        gate[place] += n
        return before

    def read_counter(gate: Any, place: str) -> Any:
        return gate[place]

    def give_way() -> Any:
        """Yield the core to another thread."""
        time.sleep(0)
else:

    @intrinsic
    def add_to_counter(typing_context: Any, gate: Any, place: str, n: int) -> Any:
        """Return the value of a counter and add n to the counter, in one atomic operation."""

        def generate(
            context: Any,
            builder: IRBuilder,
            signature: Any,
            arguments: tuple[Instruction, Any, Constant],
        ) -> Any:
            array, at, more = arguments
            data = context.make_array(signature.args[0])(context, builder, array).data
            return builder.atomic_rmw("add", builder.gep(data, [at]), more, "seq_cst")

        return types.int64(gate, types.int64, types.int64), generate

    @intrinsic
    def read_counter(typing_context: Any, gate: Any, place: str) -> Any:
        """Return the value of a counter by an atomic load, which leaves the counter's cache line
        where it is."""

        def generate(
            context: Any, builder: IRBuilder, signature: Any, arguments: tuple[Instruction, Any]
        ) -> Any:
            array, at = arguments
            data = context.make_array(signature.args[0])(context, builder, array).data
            return builder.load_atomic(builder.gep(data, [at]), "seq_cst", 8)

        return types.int64(gate, types.int64), generate

    # looked up by name, because cached machine code can hold a name but no address
    give_way = types.ExternalFunction(
        "SwitchToThread" if os.name == "nt" else "sched_yield", types.int32()
    )


@jit
def take_piece(gate, part):
    """Take the next piece of a part of the work and return the piece's number; each piece is taken
    by one worker. Numbers beyond the last piece mean that nothing is left."""
    return add_to_counter(gate, TAKEN + LINE * part, np.int64(1))


@jit
def lay_out(gate):
    """Reset the counters of all parts, so that all pieces may be taken again."""
    for counter in range(TAKEN, gate.size, LINE):
        gate[counter] = 0
