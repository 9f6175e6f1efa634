"""What the engine's loops are given: laid out as their types say, refused where it would be misread."""

import numpy as np
import pytest

from fedtheory import jit
from fedtheory.errors import InvalidInput
from fedtheory.runs import engine
from fedtheory.runs.groups import Draws, Law, Round, types_of

LAW, ROUND = (types_of("float64")[group] for group in (Law, Round))

law = Law(0, np.array([0.5, 2.0]), np.array([0, 3]), np.array([1, 4]), True, False, 2)


@pytest.mark.parametrize(
    "field, value",
    [
        ("sigma", np.array([1, 2])),
        ("sigma", np.ones((1, 2))),
        ("sizes", np.ones(2)),
        ("sizes", np.ones(2, dtype=np.int32)),
        ("sigma", [1.0, 2.0]),
    ],
)
def test_an_array_of_another_type_is_refused_by_name(field, value):
    with pytest.raises(InvalidInput, match=f"Law.{field} must be an array"):
        jit.pack(law._replace(**{field: value}), LAW)


@pytest.mark.skipif(jit.DISABLED, reason="nothing is laid out where nothing is compiled")
def test_groups_arrive_as_they_were_a_key_above_two_to_the_63_among_them():
    key, row = 2**64 - 3, np.zeros(engine.COLUMNS)
    draws = Draws(4, np.uint64(key), np.array([[7.0, 8.0]]))
    now = (5, 6, np.array([1.5]), np.array([2.5]), 9, draws, np.arange(2), np.arange(2), 3)
    now = Round(*now, np.array([0.25, 0.75]), 1, row, np.zeros(1, dtype=np.int64))

    def read(law, now):
        now.row[0] = law.sigma[1] * now.x[0] + now.draws.table[0, 1] + now.shares[1]
        now.row[1] = law.sizes[1] + now.work[1] + now.t + now.h + law.asks + law.replacement
        return now.draws.key

    words = [jit.pack(law, LAW), jit.pack(now, ROUND)]
    erased = jit.erase(jit.compile(read), jit.types.uint64, (LAW, ROUND))
    assert erased(*(each.ctypes.data for each in words)) == key
    assert list(row[:2]) == [2.0 * 1.5 + 8.0 + 0.75, 4 + 1 + 9 + 6 + 2 + 1]


def test_groups_say_what_they_hold():
    """As many types as fields, each type once: a field added to one of both is seen here."""
    for real in ("float64", "float32"):
        for kind, of in types_of(real).items():
            assert len(of.types) == len(kind._fields)
