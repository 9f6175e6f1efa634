"""Every public name says what it is, and shows it by an example that runs."""

import doctest
import inspect

import pytest

import fedtheory as ft
from fedtheory import discover

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
PUBLIC = {name: getattr(ft, name) for name in ft.__all__} | {
    f"{room}.{name}": getattr(getattr(ft, room), name)
    for room, names in (("problems", discover.problem_makers()), ("layers", ft.layers.MAKERS))
    for name in names
}


def examples(name, what):
    """The examples of its docstring, as a doctest of their own."""
    return doctest.DocTestParser().get_doctest(inspect.getdoc(what) or "", {}, name, None, 0)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_an_example_that_runs(name):
    test = examples(name, PUBLIC[name])
    assert any(example.want for example in test.examples) or "assert" in test.docstring
    assert doctest.DocTestRunner(optionflags=FLAGS).run(test).failed == 0


def test_a_wrong_example_would_fail(capsys):
    def wrong():
        """One and one.

        >>> 1 + 1
        3
        """

    assert doctest.DocTestRunner().run(examples("wrong", wrong)).failed == 1
