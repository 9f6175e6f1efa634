"""Typesetting of the mathematics in sentences written on a keyboard: names of symbols, and the
formulas that operators, brackets and functions make of these names.

Sentences of claims are plain text, so that a terminal can show them. What is mathematics is decided
by the claim's own symbols and a few rules; a doubtful case stays prose.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from html import escape
from typing import Any, NamedTuple

from markupsafe import Markup

GREEK = "alpha|beta|gamma|delta|epsilon|zeta|eta|theta|kappa|lambda|mu|nu|xi|rho|sigma|tau|phi|psi|omega"
GREEK += "|Gamma|Delta|Theta|Lambda|Xi|Pi|Sigma|Phi|Psi|Omega"
PLAIN = {"F": "F", "f": "f"}  # losses, which occur in every paper
WORDS = {"a", "A", "I"}  # letters that prose uses as words
LETTER = re.compile("a|A|I")
WORD = re.compile(rf"a|A|I|(?!(?:{GREEK})$)[a-z]{{3,}}")  # prose words that may also be names
OPERATORS = {
    "<=": r"\leq",
    ">=": r"\geq",
    "<~": r"\lesssim",
    "->": r"\to",
    "!=": r"\neq",
    "*": r"\cdot",
}
OPERATORS |= {sign: sign for sign in "=<>+-/"}
SIGNS = {"<=": "≤", ">=": "≥", "->": "→", "!=": "≠", "||": "‖"}
FUNCTIONS = {"sqrt": "", "grad": r"\nabla", "sum": r"\sum", "E": r"\mathbb{E}", "O": r"\mathcal{O}"}
FUNCTIONS |= {name: rf"\{name}" for name in ("ln", "log", "exp", "min", "max", "Theta", "Omega")}
OPEN, SHUT = {"(": ")", "[": "]", "{": "}"}, ")]}"


class Token(NamedTuple):
    """A piece of a sentence that belongs to mathematics, with its place and its LaTeX."""

    kind: str  # number, name, letter (not in the table), function, sign, open, shut, bar, comma
    text: str
    latex: str
    start: int
    end: int


@lru_cache(maxsize=2**11)
def token_pattern(known: Set[str]) -> re.Pattern:
    """Return the pattern of a token, whose alternatives are tried in this order; all other text is
    prose."""
    names = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    index = r"_(?:\d+\.\d+|\{\w+\}|\w{1,5})(?!\w)"
    kinds = dict(
        ref=r"(?<![\w)~*])\((?:\d+[a-z]?|[a-z]|[ivx]+)\)",  # (8) refers to an equation of the text
        number=r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]?\w)|(?<=[-+] )\.\.\.",
        factor=r"(?<![\w.])\d+(?=(?:[A-Za-z]_|sqrt\())",
        function=r"(?<!\w)(?:(?:sqrt|ln|log|exp|min|max|O|Theta|Omega)(?=\()|grad(?= )|sum(?:_\w)?(?= [B-HJ-Zb-z](?:_|\b)| [(|])|E(?=\[|\|\|))",
        tilde=rf"(?<![\w\\.])(?:tilde-[A-Za-z]\w*|(?:{GREEK}|[A-Za-z])(?:~|-bar(?:_\w)?\b))",
        known=rf"(?<![\w\\.])(?:{names})(?!\w|-\w|\.\d)" if names else r"(?!)",
        name=rf"(?<![\w\\.])(?:{GREEK}|[A-Za-z])(?:{index}|(?<=[a-z]{{2}})(?![\w]))",
        star=r"(?<=[A-Za-z])\*(?!\w)",
        letter=r"(?<![\w\\.'])[A-Za-z](?![\w'.]|-\w)",
        bar=r"\|\|",
        sign=r"<=|>=|<~|->|!=|(?<=\s)[-<>*](?=\s)|(?<=[(\[ ^])-(?=\w)|[=+/]",
        power=r"\^",
        open=r"[(\[]",
        shut=r"[)\]]",
        comma=r",(?= )",
    )
    return re.compile("|".join(f"(?P<{kind}>{one})" for kind, one in kinds.items()))


def typeset_sentence(
    text: str, symbols: Sequence[dict[str, str]], math: Callable[..., Any], words: bool = True
) -> Markup:
    """Return a sentence as HTML, in which `math` typesets the formulas; `symbols` are the symbols
    of a claim as the ledger stores them. Names such as `drift` are words, not symbols, unless
    `words` is False.

    >>> from fedtheory.app.math_in_text import typeset_sentence
    >>> typeset_sentence("falls like 1/sqrt(K S) in (8)", [dict(name="K", latex="K"), dict(name="S", latex="S")], "<{}>".format)
    Markup('falls like <1 / \\\\sqrt{K S}> in (8)')
    """
    known = PLAIN | {
        s["name"]: s["latex"]
        for s in symbols
        if not (WORD if words else LETTER).fullmatch(s["name"])
    }
    parts, at = [], 0
    for run in formula_runs(split_tokens(text, known), text):
        parts += [replace_signs(text[at : run[0].start]), str(math(latex_of_run(run)))]
        at = run[-1].end
    return Markup("".join([*parts, replace_signs(text[at:])]))


def replace_signs(text: str) -> str:
    """Return the words between formulas, with typographic signs in place of keyboard signs such as
    <= and ->."""
    said = re.sub(r"<=|>=|->|!=|\|\|", lambda found: SIGNS[found[0]], text)
    return str(escape(said, quote=False))


def split_tokens(text: str, known: Mapping[str, str]) -> list[Token]:
    """Return the tokens of a text: the names in `known` with their LaTeX, and signs, numbers and
    letters."""
    found = []
    for match in token_pattern(frozenset(known)).finditer(text):
        kind, said = match.lastgroup, match[0]
        if kind == "known":
            kind, written = "name", known[said]
        elif said.startswith("sum_"):
            written = rf"\sum_{{{said[4:]}}}"
        elif said == "...":
            written = r"\dots"
        elif kind in ("name", "tilde"):
            kind, written = "name", letter_latex(said)
        else:
            written = FUNCTIONS.get(said) or OPERATORS.get(said) or said
        kind = "number" if kind == "factor" else kind
        found.append(Token(kind, said, written, match.start(), match.end()))
    return found


def formula_runs(found: Sequence[Token], text: str) -> Iterator[list[Token]]:
    """Yield lists of tokens, each of which is one formula."""
    run = []
    for n, token in enumerate([*found, Token("ref", "", "", len(text) + 9, len(text) + 9)]):
        apart = run and text[run[-1].end : token.start].strip(" ") != ""
        anew = found[n - 2 : n + 2 : 3], found[n - 1 : n]  # x = 1 y = 2 is two equations
        anew = [t.text for t in anew[0]] == ["=", "="] and anew[1][0].kind == "number"
        if apart or anew or token.kind == "ref" or run and belong_apart(run[-1], token):
            yield from keep_formulas(run)
            run = []
        if token.kind != "ref":
            run.append(token)


def belong_apart(one: Token, other: Token) -> bool:
    """Tell whether two adjacent tokens belong to different formulas."""
    if one.text == "0" and other.kind == "name":
        return True
    values = ("number", "name", "letter", "function", "open", "bar", "star")
    loose = one.end < other.start and "letter" in (one.kind, other.kind)
    return loose and {one.kind, other.kind} <= set(values) and bool(WORDS & {one.text, other.text})


def keep_formulas(run: list[Token]) -> Iterator[list[Token]]:
    """Yield the formulas of a run of tokens, without loose signs at its ends, unmatched brackets,
    and commas outside brackets."""
    run = list(run)
    while run and run[0].kind in ("shut", "comma", "power", "star"):
        run.pop(0)
    while run and (run[0].kind == "sign" and run[0].text != "-"):
        run.pop(0)
    depth, cuts = [], []
    for n, token in enumerate(run):
        if token.kind == "open":
            depth.append(n)
        elif token.kind == "shut":
            if not depth:
                cuts.append(n)
                break
            depth.pop()
        elif token.kind == "comma" and not depth:
            cuts.append(n)
            break
    if cuts or depth:
        cut = cuts[0] if cuts else depth[0]
        yield from keep_formulas(run[:cut])
        yield from keep_formulas(run[cut + 1 :])
        return
    while run and run[-1].kind in ("sign", "power", "function"):
        run.pop()
    if sum(token.kind == "bar" for token in run) % 2:
        return
    if is_formula(run):
        yield run


def is_formula(run: Sequence[Token]) -> bool:
    """Tell whether a run of tokens is mathematics: the run contains a name, or a letter or function
    with an operator."""
    kinds = [token.kind for token in run]
    if "name" in kinds:
        return True
    joined = any(kind in ("sign", "power", "bar", "function", "star") for kind in kinds)
    return joined and ("letter" in kinds or "function" in kinds or run_of_numbers(run))


def run_of_numbers(run: Sequence[Token]) -> bool:
    """Tell whether a run is a fraction or an equality of two numbers: 1/8, but not 3-5 or
    10/12/2020."""
    return [token.kind for token in run] == ["number", "sign", "number"] and run[1].text in "/="


def latex_of_run(run: Sequence[Token]) -> str:
    """Return a run of tokens in LaTeX."""
    parts, n = [], 0
    while n < len(run):
        token = run[n]
        if token.text in ("sqrt", "^") and n + 1 < len(run):
            inside, after = next_group(run, n + 1)
            parts.append((r"\sqrt{%s}" if token.text == "sqrt" else "^{%s}") % latex_of_run(inside))
            n = after
            continue
        if breaks_fraction(run[n : n + 4]):
            parts.append(rf"\frac{{{token.text}}}{{{run[n + 2].text}}}")
            n += 3
            continue
        written = (
            r"\|" if token.kind == "bar" else "^{\\star}" if token.kind == "star" else token.latex
        )
        parts.append(written)
        n += 1
    return " ".join(parts)


def breaks_fraction(some: Sequence[Token]) -> bool:
    """Tell whether tokens begin like 1/2 x or 1/2 (, where a slash would seem to divide by the
    whole rest."""
    kinds = [token.kind for token in some]
    return (
        kinds[:3] == ["number", "sign", "number"]
        and some[1].text == "/"
        and kinds[3:4] in (["name"], ["letter"], ["open"], ["function"])
    )


def next_group(run: Sequence[Token], n: int) -> tuple[Any, ...]:
    """Return (the tokens under a root or in an exponent, the index after these tokens)."""
    if run[n].kind != "open":
        after = n + 1 + (run[n].text == "-" and n + 1 < len(run))
        if [token.kind for token in run[n : n + 3]] == ["number", "sign", "number"]:
            after = n + 3 if run[n + 1].text == "/" and run[n].end == run[n + 1].start else after
        return run[n:after], after
    depth = 0
    for end in range(n, len(run)):
        depth += (run[end].kind == "open") - (run[end].kind == "shut")
        if depth == 0:
            return run[n + 1 : end], end + 1
    return run[n:], len(run)


def letter_latex(name: str) -> str:
    """Return a name such as p_i, phi_m, sigma_bar or tilde-V in LaTeX."""
    over = name.startswith("tilde-") or name.endswith("~")
    name = name.removeprefix("tilde-").rstrip("~").replace("-bar", "_bar")
    head, _, index = name.partition("_")
    head = head if len(head) == 1 else f"\\{head}"
    index = index.strip("{}")
    mean, _, rest = index.partition("_")
    head, index = (rf"\bar{{{head}}}", rest) if mean == "bar" else (head, index)
    head = rf"\tilde{{{head}}}" if over else head
    index = f"\\{index}" if re.fullmatch(GREEK, index) else index
    return f"{head}_{{{index}}}" if index else head
