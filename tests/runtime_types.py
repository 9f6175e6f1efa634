"""Types checked as public functions run: `FEDTHEORY_BEARTYPE=1 python -m pytest FILE`.

The modules behind `fedtheory.__all__` are imported through beartype, which compares each argument
and each result with its annotation.
"""

import ast
import importlib
from pathlib import Path

import fedtheory

# Modules that define public functions; a package among them would drag in its kernels.
PUBLIC = sorted({module for module, name in fedtheory._LAZY.values() if name})


def hook() -> None:
    """Import public modules through beartype from now on; none may be imported before."""
    from beartype import BeartypeConf
    from beartype.claw import beartype_packages

    beartype_packages(PUBLIC, conf=BeartypeConf(is_pep484_tower=True))


def give_names() -> None:
    """Give public modules the names that they import for mypy alone, so that beartype finds them."""
    for name in PUBLIC:
        module = importlib.import_module(name)
        for node in ast.parse(Path(module.__file__ or "").read_text()).body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                exec(compile(ast.unparse(node.body), name, "exec"), module.__dict__)  # noqa: S102 (imports of this library)
