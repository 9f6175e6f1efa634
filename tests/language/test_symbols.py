"""Machine code of several processes meets in one: symbols must tell kernels apart, whatever each
compiled first."""

import os
import subprocess
import sys

import pytest

from fedtheory import jit

SCRIPT = """
import sys
from typing import NamedTuple
import numpy as np
from fedtheory import jit
from fedtheory.algorithms import fsl, server_sgd

class First:
    State = server_sgd.State
    server_step = server_sgd.server_step
    class Hyper(NamedTuple):
        eta_0: float
        K_0: float

class Last(First):
    class Hyper(NamedTuple):
        K_0: float
        eta_0: float

for case in (First, Last):
    case.Hyper.__qualname__ = "Hyper"    # as if each stood in its own file

methods = dict(first=(First, First.Hyper(7.0, 2.0)), last=(Last, Last.Hyper(7.0, 2.0)),
               fsl=(fsl, fsl.Hyper(0.0, 0.0, 3.0, 5.0, 1, 1)), server_sgd=(server_sgd, server_sgd.Hyper(7.0, 1)))
t, i8, V = jit.types, jit.types.int64, jit.VECTOR

def call(kernel, state, g, h):    # as the engine calls kernels: through a function type
    kernel(state, 0, g, h)

calls = jit.compile(call)
calls.compile(t.void(t.FunctionType(t.void(i8, i8, V, i8)), i8, V, i8))
calls.disable_compile()

def of(module, h):
    return (jit.typeof(module.State(np.zeros(1))), i8, V, jit.typeof(h))

kernels = {}
for name in sys.argv[1:]:
    module, h = methods[name]
    kernels[name] = jit.erase(module.server_step, t.void, of(module, h))
for name, kernel in kernels.items():
    module, h = methods[name]
    state = module.State(np.zeros(1))
    words, numbers = jit.pack(state), jit.pack(h)
    calls(kernel, words.ctypes.data, np.ones(1), numbers.ctypes.data)
    print(name, float(state.x[0]))
"""


@pytest.fixture
def process(tmp_path):
    def run(*names):
        environment = dict(os.environ, FEDTHEORY_CACHE_DIR=str(tmp_path / "cache"))
        return subprocess.run(
            [sys.executable, "-c", SCRIPT, *names],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()

    return run


@pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")
def test_kernels_compiled_apart_keep_their_meaning_together(process):
    assert process("fsl") == ["fsl", "-15.0"]
    assert process("server_sgd") == ["server_sgd", "-7.0"]
    assert process("fsl", "server_sgd") == ["fsl", "-15.0", "server_sgd", "-7.0"]


@pytest.mark.skipif(jit.DISABLED, reason="nothing is compiled")
def test_a_kernel_reads_fields_by_their_names(process):
    """Two tuples of one name and the same types, their fields in another order."""
    assert process("first") == ["first", "-7.0"]
    assert process("last") == ["last", "-2.0"]
    assert process("last", "first") == ["last", "-2.0", "first", "-7.0"]
