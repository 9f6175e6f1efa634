"""A checkpoint file of a run in progress, from which a new process can resume after the first one
ended.

The file is an .npz of the run's results and state so far. It stores a hash of everything that
decides the run's bits: problem, method, settings and the sources of the machine code. A file of
another run is refused. A resumed run has the same bits as an uninterrupted one.
"""

import hashlib
import io
import time
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory import jit
from fedtheory.errors import InvalidInput, refuse
from fedtheory.kernel_table import Table
from fedtheory.store.files import write_file
from fedtheory.store.npz import read_npz

if TYPE_CHECKING:
    from fedtheory.runs.execution import Job
    from fedtheory.runs.planning import Plan

# write every SECONDS at most, using 1/SHARE of the time at most, and at the end
SECONDS, SHARE = 10.0, 50
ROOM = 2**20  # most bytes of names and headers


class Checkpoint:
    """The checkpoint file of one plan."""

    def __init__(self, path: int | str | Path, plan: "Plan") -> None:
        if not isinstance(path, (str, Path)) or not Path(path).suffix == ".npz":
            refuse("checkpoint", "must be the path of an .npz file", path)
        self.path, self.plan, self.last = Path(path), plan, time.monotonic()
        self.pause = SECONDS
        if not self.path.parent.is_dir():
            refuse("checkpoint", "must lie in a folder that is there", path)

    def read(self, job: "Job") -> None:
        """Restore a new job to the state in the checkpoint file, if the file exists."""
        if not self.path.exists():
            return
        state = {f"state_{n}": slab for n, slab in enumerate(job.machine.slabs.arrays)}
        expected = job.record.nbytes + sum(slab.nbytes for slab in state.values()) + ROOM
        expected += 0 if job.path is None else job.path.nbytes
        found = read_npz(self.path, most=2 * expected + job.start.nbytes)
        done = found.get("rounds", np.array(-1))
        if done.shape or done.dtype.kind != "i" or not 0 <= done <= self.plan.rounds:
            refuse("checkpoint", f"must be of at most {self.plan.rounds} rounds", done)
        done = int(done)
        wanted = dict(state, record=job.record[:, : done + 1], diverged=job.machine.diverged)
        if job.path is not None:
            wanted["path"] = job.path[:, : done + 1]
        same = str(found.get("identity")) == self.identity(done, job.start) and all(
            name in found and found[name].shape == array.shape and found[name].dtype == array.dtype
            for name, array in wanted.items()
        )
        if not same:
            raise InvalidInput(
                "checkpoint must be a file of this very run (problem, method, settings, start and "
                f"sources), or a path where nothing is yet; got {self.path}, of another run"
            )
        job.takes(
            done,
            [found[name] for name in state],
            found["diverged"],
            found["record"],
            found.get("path"),
        )

    def write(self, job: "Job", last: bool = False) -> None:
        """Write the job's state to the file if the pause since the last write is over, or if
        `last`."""
        begun = time.monotonic()
        if not last and begun - self.last < self.pause:
            return
        done = job.done
        parts = {f"state_{n}": slab for n, slab in enumerate(job.machine.slabs.arrays)}
        parts |= dict(
            rounds=np.array(done),
            identity=np.array(self.identity(done, job.start)),
            record=job.record[:, : done + 1],
            diverged=job.machine.diverged,
        )
        if job.path is not None:
            parts["path"] = job.path[:, : done + 1]
        stream = io.BytesIO()
        np.savez(stream, **parts)
        write_file(self.path, stream.getvalue())
        self.last = time.monotonic()
        self.pause = max(SECONDS, SHARE * (self.last - begun))

    def identity(self, done: int, start: np.ndarray) -> str:
        """Return a hash of everything that determines the first `done` rounds."""
        plan, found = self.plan, self._digest_of_plan.copy()
        rounds = [plan.hyper[0]] if plan.hyper.constant else plan.hyper[:done]
        _hash_value(found, (rounds, start))
        return found.hexdigest()

    @cached_property
    def _digest_of_plan(self) -> Any:
        found = hashlib.sha256(jit.module_digest("fedtheory.runs.engine").encode())
        for name, value in self.plan._asdict().items():
            if name not in ("hyper", "rounds"):
                _hash_value(found, value)
        return found


def _hash_value(found: Any, value: Any) -> None:
    """Add a value's type and content to a hash, including nested values."""
    found.update(type(value).__name__.encode() + b"(")
    if isinstance(value, Table):
        _hash_value(found, value.kernels)
    elif isinstance(value, np.ndarray):
        found.update(f"{value.dtype} {value.shape} ".encode())
        found.update(np.ascontiguousarray(value).data)
    elif jit.compiled(value) or isinstance(value, (FunctionType, type)):
        _add_function(found, value)
    elif isinstance(value, (tuple, list)):
        for part in value:
            _hash_value(found, part)
    elif isinstance(value, dict):
        for name in sorted(value, key=repr):
            _hash_value(found, (name, value[name]))
    elif is_dataclass(value):
        for field in fields(value):
            _hash_value(found, (field.name, getattr(value, field.name)))
    elif hasattr(value, "__dict__") and not isinstance(value, ModuleType):
        _hash_value(found, vars(value))
    else:
        found.update(repr(value).encode())
    found.update(b")")


def _add_function(found: Any, function: Callable[..., Any] | type[Any]) -> None:
    """Add a function to a hash: a kernel by the hash of its sources, any other function by its
    code."""
    identity = getattr(function, "identity", None)
    plain = jit.python(function)
    code = getattr(plain, "__code__", None)
    if identity is not None or code is None:
        found.update(repr(identity or plain.__qualname__).encode())
    else:
        found.update(code.co_code + repr(code.co_names).encode())
        consts = [each for each in code.co_consts if not hasattr(each, "co_code")]
        found.update(repr(consts).encode())
