"""The exceptions of this package: every refusal is one sentence that names the argument, the rule
and the value.

>>> import fedtheory as ft
>>> try:
...     ft.claim("fsl.theorem1").evaluate(dict(L=-1))
... except ft.errors.InvalidInput as error:
...     print("; got" in str(error))
True
"""

from collections.abc import Mapping
from typing import Any, NoReturn


class FedtheoryError(Exception):
    """The base class of everything that this package refuses or cannot do."""


class InvalidInput(FedtheoryError, ValueError):
    """The error that an argument breaks a rule; raised before anything is computed."""


class Impossible(InvalidInput):
    """The error that no problem can have the requested constants (mu > L, G > 0 with one client,
    ...)."""


class NotExact(FedtheoryError):
    """The error that the requested moment has no closed or enumerable form here; the message says
    why."""


class OneByOne(NotExact):
    """The error that code branches on a value that differs between instances of a batch: each
    instance must be evaluated alone."""


class Contradiction(FedtheoryError):
    """The error that one line is both proved and refuted, so that this package has a bug. `proof`
    and `counterexample` are the two documents, to be reported together."""

    def __init__(
        self, message: str, proof: Mapping[str, Any], counterexample: Mapping[str, Any]
    ) -> None:
        super().__init__(message, proof, counterexample)
        self.proof, self.counterexample = proof, counterexample

    def __str__(self) -> str:
        return str(self.args[0])


class Interrupted(KeyboardInterrupt):
    """The exception that Ctrl-C interrupted a run; `partial` holds the finished rounds, and
    `ft.run` with resume=partial continues from there."""

    def __init__(self, message: str, partial: Any) -> None:
        super().__init__(message)
        self.partial = partial


class Diverged(UserWarning):
    """The error that trials left the finite numbers; the message names the first round at which
    this happened."""


class Uncached(UserWarning):
    """The warning that a file shared between processes cannot be stored, or was stored by another
    user: its content is computed anew."""


class Unloaded(UserWarning):
    """The warning that a module announced by an installed package cannot be imported; the message
    says why."""


def printable(text: str) -> str:
    """Return text that is safe for a terminal: each character that is neither printable nor a line
    break is replaced by its escape."""
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def one_line(text: str) -> str:
    """Return text as one line of a sentence, because file names may contain line breaks.

    >>> one_line("a\\nb")
    'a\\\\nb'
    """
    return printable(text).replace("\n", "\\n")


def show(value: object, most: int = 80) -> str:
    """Return a value as an error message may print it: on one line, of at most `most` characters."""
    try:
        text = printable(" ".join(repr(value).split()))
    except ValueError:  # an integer with more digits than Python prints
        text = f"one {type(value).__name__} too long to be written down"
    except Exception:  # nested too deeply, or its class's repr fails
        text = f"one {type(value).__name__} that cannot be written down"
    return text if len(text) <= most else text[: most - 3] + "..."


def explain_system(error: OSError) -> str:
    """Return one sentence that says what the operating system refused.

    >>> explain_system(OSError(28, "No space left on device", "out/run.npz"))
    'the system refuses out/run.npz: No space left on device'
    """
    place = "" if error.filename is None else f" {printable(str(error.filename))}"
    why = printable(" ".join(str(error.strerror or error).split()))
    return f"the system refuses{place}: {why}"


def describe(error: BaseException) -> str:
    """Return an exception of any code as one line: its type and its message, which is cut where it
    is long.

    >>> describe(ValueError("no such\\nthing"))
    'ValueError: no such thing'
    """
    try:
        text = printable(" ".join(str(error).split()))
    except Exception as worse:  # a user's class may raise any exception when it is printed
        text = f"(its text cannot be had: {type(worse).__name__})"
    text = text if len(text) <= 300 else text[:297] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def article(noun: str) -> str:
    """Return a noun with its indefinite article.

    >>> article("order"), article("step")
    ('an order', 'a step')
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def refuse(argument: Any, rule: str, value: object) -> NoReturn:
    """Raise InvalidInput with the sentence "`argument` `rule`; got `value`".

    >>> refuse("S", "must be at most N = 3", 4)
    Traceback (most recent call last):
    fedtheory.errors.InvalidInput: S must be at most N = 3; got 4
    """
    raise InvalidInput(f"{one_line(f'{argument} {rule}')}; got {show(value)}")
