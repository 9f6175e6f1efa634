"""The reference and the gallery of figures, built from the records when the docs are built.

`python docs/build_reference.py FOLDER` writes the pages alone. Pictures are those that `python -m
figures` left.
"""

import importlib.util
import inspect
import io
import os
import re
import sys
import textwrap
from contextlib import redirect_stdout
from pathlib import Path
from unittest import mock

from build_claims import SPECIAL, contents, escaped, keep

import fedtheory as ft
from fedtheory import discover, figures
from fedtheory.algorithm import Algorithm
from fedtheory.app import cli
from fedtheory.app.ledger import read_json
from fedtheory.claim import Claim
from fedtheory.conditions import Assumption, Condition
from fedtheory.errors import show
from fedtheory.figures import __main__ as make_figures
from fedtheory.figures._record import Figure
from fedtheory.models import Model
from fedtheory.problem import Constant, Kernels, Problem
from fedtheory.symbol import Entry, Table
from fedtheory.verdicts.verdict import Verdict
from fedtheory.verify import __main__ as verify

WIDTH = 88  # columns of code that a page has room for
ROOT = Path(__file__).resolve().parents[1]
MADE = ("out/figures", "figures-out")  # where figures are looked for, the first that exists
RECORDS = (
    Claim,
    Table,
    Entry,
    Assumption,
    Condition,
    Verdict,
    Problem,
    Kernels,
    Constant,
    Algorithm,
    Model,
    Figure,
)
ELSEWHERE = {"problems": "problems.md", "metrics": "metrics.md"}  # modules with a page of their own


def table(head, rows):
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(row)} |" for row in rows),
        "",
    ]


def code(text, language="text"):
    return [f"```{language}", text.strip("\n"), "```", ""]


def prose(text):
    """A docstring as Markdown: what stands in backticks, is indented or is an
    example is code."""
    out = []
    for part in inspect.cleandoc(text or "").split("\n\n"):
        if part.startswith(("    ", ">>>")):
            out += code(textwrap.dedent(part), "python")
        else:
            shown = re.sub(
                f"`[^`]+`|({SPECIAL})",
                lambda m: f"\\{m[1]}" if m[1] else m[0],
                " ".join(part.split()),
            )
            out += [shown, ""]
    return out


def called(name, what):
    """How something is called, over as many lines as it takes; types and what is private are left
    out."""
    plain, empty = (int, float, str, tuple, type(None)), inspect.Parameter.empty
    shown = [
        parameter.replace(
            annotation=empty,
            default=parameter.default
            if parameter.default is empty or isinstance(parameter.default, plain)
            else ...,
        )
        for parameter in inspect.signature(what).parameters.values()
        if parameter.name != "self" and not parameter.name.startswith("_")
    ]
    text = name + str(inspect.Signature(shown)).replace("Ellipsis", "...")
    return "\n".join(
        textwrap.wrap(
            text,
            WIDTH,
            subsequent_indent=" " * (len(name) + 1),
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def fields(record):
    """The fields of a record as its source has them, with what is said beside them."""
    lines = (
        inspect.getsource(record).partition(":\n")[2].removeprefix(f'    """{record.__doc__}"""\n')
    )
    return textwrap.dedent(re.split(r"\n\n?    (?=def |@|_)", lines)[0]).strip("\n")


def own(home):
    """name -> what a module or a class, with those that it is made of, defines for others, and
    explains."""
    homes = [home]
    if inspect.isclass(home):
        homes = [c for c in reversed(home.__mro__) if c.__module__.startswith(("fedtheory", "fig"))]
    inside = {each.__name__ if inspect.ismodule(each) else each.__module__ for each in homes}
    found = {
        name: getattr(value, "fget", None) or value
        for each in homes
        for name, value in vars(each).items()
        if not name.startswith("_")
    }
    return {
        name: value
        for name, value in found.items()
        if (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ in inside
        and value.__doc__
    }


def entry(name, what, level=2):
    """A function, a class with its methods, or a module with what it defines."""
    out, isclass = [f"{'#' * level} `{name}`", ""], inspect.isclass(what)
    if isclass and ("__dataclass_fields__" in vars(what) or hasattr(what, "_fields")):
        out += code(fields(what), "python")
    elif not inspect.ismodule(what) and not (isclass and issubclass(what, Exception)):
        out += code(called(name, what), "python")
    if not (what.__doc__ or "").startswith(
        f"{what.__name__}("
    ):  # what Python writes where nobody did
        out += prose(what.__doc__)
    if inspect.ismodule(what):
        return out + [
            line
            for part, value in own(what).items()
            for line in entry(f"{name}.{part}", value, level + 1)
        ]
    rows = [
        [
            f"`{part if isinstance(inspect.getattr_static(what, part), property) else called(part, value)}`",
            " ".join(prose(value.__doc__.partition("\n\n")[0])).strip(),
        ]
        for part, value in (own(what) if isclass else {}).items()
    ]
    return out + (table(["member", ""], rows) if rows else [])


def folded(claims):
    """Links to claims, behind a click."""
    links = ", ".join(f"[{escaped(name)}](../claims/{name}.md)" for name in claims)
    number = f"{len(claims)} claims" if len(claims) > 1 else "1 claim"
    return (
        [f"<details><summary>{number}</summary>", "", links, "", "</details>", ""] if claims else []
    )


def python():
    out = ["# From Python", "", "What `import fedtheory as ft` offers.", ""]
    for name in sorted(ft.__all__, key=str.lower):
        what = getattr(ft, name)
        if name in ELSEWHERE:
            out += [
                f"## `ft.{name}`",
                "",
                *prose(what.__doc__),
                f"[All of them]({ELSEWHERE[name]})",
                "",
            ]
        elif inspect.isfunction(what) or inspect.isclass(what) or inspect.ismodule(what):
            out += entry(f"ft.{name}", what)
    return "\n".join(out)


def import_path(record):
    """Return the path under which users import a record: that of the top-level module with the same
    name, or of a package that has the record as an attribute, where there is one."""
    top, *inner = record.__module__.split(".")
    for name in (
        f"{top}.{inner[-1]}",
        *(".".join([top, *inner[:n]]) for n in range(1, len(inner))),
    ):
        # ft.claim is a function, so the module comes from import_module and not from fedtheory
        if importlib.util.find_spec(name):
            module = importlib.import_module(name)
            if getattr(module, record.__name__, None) is record:
                return f"{name}.{record.__name__}"
    return f"{record.__module__}.{record.__name__}"


def records():
    out = ["# Records", "", "What files hand over: see [how to add one](../adding.md).", ""]
    for record in RECORDS:
        out += entry(import_path(record), record)
    return "\n".join(out)


def help_of(main, *arguments):
    """What a command prints of itself."""
    said = io.StringIO()
    with mock.patch.dict(os.environ, COLUMNS=str(WIDTH)), redirect_stdout(said):
        try:
            main([*arguments, "--help"])
        except SystemExit:
            pass
    return said.getvalue()


def command_line():
    told = help_of(cli.main)
    out = ["# On the command line", "", *code(told)]
    for command in re.findall(r"^    (\w+) ", told, re.MULTILINE):
        out += [f"## fedtheory {command}", "", *code(help_of(cli.main, command))]
    for name, module in (("verify", verify), ("figures", make_figures)):
        out += [f"## python -m {name}", "", *prose(module.__doc__), *code(help_of(module.main))]
    return "\n".join(out)


def algorithms():
    out = [
        "# Algorithms",
        "",
        "Names are those of the papers; a number may be a schedule, one value a round, unless it "
        "is said to be fixed.",
        "",
    ]
    about = {}
    for claim in discover.claims():
        speaks = (
            claim.algorithm if isinstance(claim.algorithm, (tuple, list)) else (claim.algorithm,)
        )
        for algorithm in speaks:
            about.setdefault(getattr(algorithm, "name", algorithm), []).append(claim.id)
    for name, a in sorted(discover.algorithms().items()):
        facts = [
            text
            for text, true in (
                ("learns on the server's loss too", a.server),
                ("clients remember between rounds", a.memory),
                ("every client works in each round", a.everyone),
            )
            if true
        ]
        out += [
            f"## {escaped(name)}",
            "",
            f"{escaped(a.cites)}: {escaped(a.meaning)}"
            + (f" ({escaped(', '.join(facts))})" if facts else "")
            + ".",
            "",
        ]
        out += table(
            ["", "meaning", "default", "range"],
            [
                [
                    f"`{field}`",
                    escaped(spec.meaning),
                    "required" if spec.default is None else f"`{show(spec.default)}`",
                    escaped(spec.rule().removeprefix("must be ") + ", fixed" * spec.fixed),
                ]
                for field, spec in a.hyper.items()
            ],
        )
        out += folded(about.get(name, []))
    return "\n".join(out)


def problems():
    out = [
        "# Problems",
        "",
        "Each carries the constants that are [true of it](../constants.md).",
        "",
    ]
    for name, maker in sorted(discover.problem_makers().items()):
        out += entry(f"ft.problems.{name}", maker)
    return "\n".join(out)


def metrics():
    return "\n".join(
        [
            "# Metrics",
            "",
            *prose(ft.metrics.__doc__),
            *table(
                ["", "", "meaning"],
                [
                    [f"`{name}`", "$" + m.latex.replace(r"\|", r"\Vert ") + "$", escaped(m.meaning)]
                    for name, m in ft.metrics.ALL.items()
                ],
            ),
        ]
    )


def gallery(made):
    """The page of figures and tables, with what is found of them in the folder `made`."""
    said = {}
    for row in (
        read_json(made / "findings.json") if made and (made / "findings.json").is_file() else ()
    ):
        said[row["figure"], row["claim"]] = f"at scale {row['scale']}: {row['sentence']}"
    out = [
        "# Figures",
        "",
        "Each is one file in `figures/`. A picture is shown if it was made before this page.",
        "",
    ]
    pictures = {}
    for name, figure in figures.figures().items():
        out += [f"## {escaped(f'{figure.cites}: {figure.title}')}", ""]
        picture = made and made / f"{name}.svg"
        if picture and picture.is_file():
            pictures[picture.name] = picture.read_bytes()
            out += [f"![{escaped(figure.title)}]({picture.name})", ""]
            caption = made / f"{name}.md"
            out += [caption.read_text()] if caption.is_file() else []
        out += code(f"python -m figures {name}", "sh")
        judged = {claim: text for (of, claim), text in said.items() if of == name}
        out += [
            f"- [{escaped(claim)}](../claims/{claim}.md), {escaped(text)}"
            for claim, text in judged.items()
        ] + [""]
        out += folded(
            [
                claim.id
                for claim in discover.claims()
                if claim.figure == name and claim.id not in judged
            ]
        )
    return "\n".join(out), pictures


def write(folder, root=ROOT):
    """Every page of the reference."""
    made = next((root / name for name in MADE if (root / name).is_dir()), None)
    shown, pictures = gallery(made)
    pages = {
        "python.md": python(),
        "command_line.md": command_line(),
        "algorithms.md": algorithms(),
        "problems.md": problems(),
        "metrics.md": metrics(),
        "figures.md": shown,
        "records.md": records(),
    }
    index = contents(
        "Reference",
        "Made from the sources, as they are.",
        [name.removesuffix(".md") for name in pages],
    )
    return keep(folder, {**pages, "index.md": index, **pictures})


if __name__ == "__main__":
    print(f"{len(write(sys.argv[1]))} pages")
