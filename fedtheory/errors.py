"""The exception family: every refusal is one sentence that names the argument, the rule and the
value.

>>> import fedtheory as ft
>>> try:
...     ft.claim("fsl.theorem1").evaluate(dict(L=-1))
... except ft.errors.InvalidInput as error:
...     print("; got" in str(error))
True
"""


class FedtheoryError(Exception):
    """Anything this package refuses or cannot do."""


class InvalidInput(FedtheoryError, ValueError):
    """An argument breaks a rule; raised before anything is computed."""


class Impossible(InvalidInput):
    """No problem can have the requested constants (mu > L, G > 0 with one client, ...)."""


class NotExact(FedtheoryError):
    """The moment asked for has no closed or enumerable form here; the message says why."""


class OneByOne(NotExact):
    """Code asks what a batch of instances answers in different ways: each must be asked alone."""


class Contradiction(FedtheoryError):
    """One line is proved and refuted: this package errs. `proof` and `counterexample` are the
    documents of both, to be reported together."""

    def __init__(self, message, proof, counterexample):
        super().__init__(message, proof, counterexample)
        self.proof, self.counterexample = proof, counterexample

    def __str__(self):
        return str(self.args[0])


class Interrupted(KeyboardInterrupt):
    """Ctrl-C reached a run; `partial` holds the rounds that were finished and can be resumed."""

    def __init__(self, message, partial):
        super().__init__(message)
        self.partial = partial


class Diverged(UserWarning):
    """Trials left the finite numbers; the message names the first round at which it happened."""


class Uncached(UserWarning):
    """What is kept between processes cannot be, or was kept by somebody else: it is made anew."""


class Unloaded(UserWarning):
    """What an installed package announces cannot be imported; the message says why."""


def printable(text):
    """Text that a terminal may be given: what is neither printable nor the end of a line stands as
    its escape."""
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def one_line(text):
    """Text as one line of a sentence has it: names of files may hold ends of lines.

    >>> one_line("a\\nb")
    'a\\\\nb'
    """
    return printable(text).replace("\n", "\\n")


def show(value, most=80):
    """A value as an error message may print it: short, and on one line."""
    try:
        text = printable(" ".join(repr(value).split()))
    except ValueError:  # an integer of more digits than Python writes down
        text = f"one {type(value).__name__} too long to be written down"
    except Exception:  # nested too deeply, or of a class whose own text fails
        text = f"one {type(value).__name__} that cannot be written down"
    return text if len(text) <= most else text[: most - 3] + "..."


def explain_system(error: OSError) -> str:
    """What the system refused, in one sentence.

    >>> explain_system(OSError(28, "No space left on device", "out/run.npz"))
    'the system refuses out/run.npz: No space left on device'
    """
    place = "" if error.filename is None else f" {printable(str(error.filename))}"
    why = printable(" ".join(str(error.strerror or error).split()))
    return f"the system refuses{place}: {why}"


def describe(error):
    """An exception of anybody's code on one line: its kind, and what it says, cut where it is long.

    >>> describe(ValueError("no such\nthing"))
    'ValueError: no such thing'
    """
    try:
        text = printable(" ".join(str(error).split()))
    except Exception as worse:  # whatever a stranger's class does when it is to be written down
        text = f"(its text cannot be had: {type(worse).__name__})"
    text = text if len(text) <= 300 else text[:297] + "..."
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def article(noun):
    """A noun as a sentence has it.

    >>> article("order"), article("step")
    ('an order', 'a step')
    """
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"


def refuse(argument, rule, value):
    raise InvalidInput(f"{one_line(f'{argument} {rule}')}; got {show(value)}")
