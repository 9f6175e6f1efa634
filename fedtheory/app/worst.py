"""The command `fedtheory worst`: the exact worst case of a method over a class of functions of any
dimension, with its proof.

The numbers of a method are read as fractions, so that the proof is about the number that was typed.
The extra `pep` has the solver; without the extra the command is refused in one line.
"""

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedtheory import discover
from fedtheory.app.explain import parse_assignment
from fedtheory.errors import InvalidInput, refuse
from fedtheory.store import outputs

if TYPE_CHECKING:
    from fedtheory.proofs.worstcase.methods import ByKernels

TEXTBOOK = ("gradient_descent", "momentum", "nesterov")
MOST = 20  # the largest number of clients


def method_of(name: str, values: dict[str, Fraction]) -> "ByKernels":
    """Return a textbook recursion, or the kernels of a library method, with its numbers as
    fractions.

    A textbook recursion takes exactly its own arguments. A library method takes N (1 to MOST
    clients) and its hyper-parameters; integers are passed as integers.
    """
    from fedtheory.proofs.worstcase import methods, program

    if name in TEXTBOOK:
        maker = getattr(program, name)
        wanted = maker.__code__.co_varnames[: maker.__code__.co_argcount]
        if set(values) != set(wanted):
            refuse(name, f"takes {', '.join(wanted)}", sorted(values))
        return maker(**values)
    record = discover.algorithm(name)
    N = values.pop("N", 1)
    if N != int(N) or not 1 <= N <= MOST:
        refuse("N", f"must be an integer from 1 to {MOST}", N)
    fields = record.hyper
    whole = lambda field, value: field in fields and fields[field].integer and value == int(value)
    return methods.kernel_method(
        record, int(N), **{field: int(v) if whole(field, v) else v for field, v in values.items()}
    )


def find_worst(
    name: str,
    texts: Sequence[str],
    rounds: int,
    L: str,
    mu: str,
    measure: str,
    over: str,
    out: Path | None = None,
) -> tuple[dict[str, Any], str]:
    """Return (data, text) of the worst case. The certificate is written to `out`, where `fedtheory
    replay` reads the certificate.

    `L` and `mu` are texts of the curvature bounds, `measure` a measure of `proofs.worstcase` such
    as "loss", `over` "last" or "least" of the rounds. The data have the bound and the value that an
    instance reaches as fractions, and the certificate. Raises InvalidInput for `rounds` outside 0
    to 50.
    """
    from fedtheory.proofs.worstcase import program

    pairs = [parse_assignment(text) for text in texts]
    twice = [key for n, (key, _) in enumerate(pairs) if key in dict(pairs[:n])]
    if twice:
        refuse("worst", "takes each name once", twice[0])
    (_, high), (_, low) = parse_assignment(f"L={L}"), parse_assignment(f"mu={mu}")
    if not 0 <= rounds <= 50:
        refuse("--rounds", "must be from 0 to 50", rounds)
    if out is not None:
        folder, file = outputs.folder_for(out)
        folder.check([file])
    try:
        found = program.worst_case(
            method_of(name, dict(pairs)), rounds, L=high, mu=low, measure=measure, over=over
        )
    except ModuleNotFoundError as missing:
        if missing.name != "clarabel":
            raise
        raise InvalidInput(
            'worst cases need the extra `pep`: python -m pip install "fedtheory[pep]"'
        ) from None
    text = [f"{name}, {rounds} rounds: {found}"]
    if out is not None:
        folder.write({file: json.dumps(found.certificate, indent=1).encode()})
        text.append(f"Its proof: {out} (fedtheory replay {out})")
    least = None if found.least is None else str(found.least)
    return dict(
        method=name,
        rounds=rounds,
        value=found.value,
        bound=str(found.bound),
        least=least,
        certificate=found.certificate,
    ), "\n".join(text)
