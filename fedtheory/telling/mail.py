r"""A counterexample in LaTeX, for a mail to an author: an article with amsmath and amssymb.

What is said is what `words` says; formulas are set with the paper's letters.
"""

import re

from fedtheory.certificates import check_family, check_instance
from fedtheory.certificates.documents import EXISTENCE
from fedtheory.settings import by_name, called
from fedtheory.statements import DENIED
from fedtheory.telling import words
from fedtheory.telling.losses import MADE_OF, losses_of
from fedtheory.telling.steps import beginnings, passed, point, whose
from fedtheory.telling.writes import SIGNS, Typesets, plainly, typeset, written

SPECIAL = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<=": r"$\le$",
    ">=": r"$\ge$",
    "<": "$<$",
    ">": "$>$",
}
RELATIONS = {SIGNS[op]: text for op, text in Typesets.signs.items()}
WIDE = 60  # signs of a line of a display, about
LONG = 6000  # signs of a formula in LaTeX, beyond which nobody reads it


def latex(document):
    r"""A document of a counterexample as LaTeX for an article; "" of any other.

    >>> import fedtheory as ft
    >>> from fedtheory.telling.mail import latex
    >>> print(latex(ft.check("mixed.stepD2", budget=1).certificate).splitlines()[-1])
    which is false. A program derives this anew from a document that stands alone.
    """
    told = words.told(document)
    if not told:
        return ""
    if document["format"] == EXISTENCE:
        return "\n".join(instance(affirmed(document["denial"]), shows=document["claim"]))
    if document["format"] == check_instance.FORMAT:
        return "\n".join(instance(document))
    if document["format"] == check_family.FORMAT:
        return "\n".join(family(document))
    return "\n".join([*map(escaped, told[:1]), *itemised(map(escaped, told[1:]))])


def escaped(text):
    """Words in LaTeX."""
    return re.sub(r"<=|>=|[&%$#_{}\\~^<>]", lambda found: SPECIAL[found[0]], text.strip())


def itemised(lines):
    items = [rf"\item {line}" for line in lines]
    return [r"\begin{itemize}", *items, r"\end{itemize}"] if items else []


def letters(document):
    """Name -> LaTeX of what a document speaks of."""
    table = by_name(document["setting"]).table
    found = {name: entry.latex for name, entry in table.items()}
    found.update({check_family.CONSTANT: "C"})
    measured = document["statement"]["measured"]
    return {
        **found,
        **{mine: found[theirs] for mine, theirs in measured.items() if theirs in found},
    }


def math(text):
    """A formula of `losses.formula`, a point or a number, in LaTeX."""
    text = re.sub(r"-?\d+/\d+", lambda found: typeset(found[0]), text)
    text = re.sub(r"(\d)e([+-]\d+)", lambda f: rf"{f[1]} \cdot 10^{{{int(f[2])}}}", text)
    text = re.sub(r"\bx(\d+)", r"x_{\1}", text)
    text = re.sub(r"\b(log|exp)\b", r"\\\1", text).replace(")+^2", ")_+^2")
    return text.replace("->", r"\to").replace("...", r"\dots").replace("+-", r"\pm ")


def pairs(values, named):
    """$name = value$ for each."""
    return [f"${named.get(name) or plainly(name)} = {math(words.short(v))}$" for name, v in values]


def made_of(document):
    """Sentences on what an instance is made of."""
    setting, named = by_name(document["setting"]), letters(document)
    parts, called_ = check_instance.numbers(document["instance"]), called(setting)
    losses = losses_of(parts, called_.get("losses", ()))
    for loss in losses:
        meaning = f" ({escaped(loss.meaning)})" * bool(loss.meaning)
        formula = math(str(loss).removesuffix(loss.more))
        yield f"${plainly(loss.name)}(x) = {formula}${meaning}{escaped(loss.more)}"
    for name, value in parts.items():
        if (
            losses
            and name in MADE_OF
            or called_.get(name) == ""
            or words.trivial(name, value, parts)
        ):
            continue
        lot = words.lottery(value)
        if lot and name in called_:
            yield f"{escaped(called_[name])}: {odds(lot)}"
        elif name in called_ and isinstance(value, list):
            yield f"{escaped(called_[name])}: ${math(words.short(value))}$"
        elif isinstance(value, dict) or isinstance(value, str):
            yield escaped(f"{called_.get(name, name)}: {words.short(value)}")
        else:
            yield from pairs([(name, value)], named)
    given = check_instance.numbers(document["numbers"])
    yield from pairs([(n, v) for n, v in given.items() if n != check_family.CONSTANT], named)


def odds(text):
    """A lottery in words, its numbers set."""
    return re.sub(
        r"[+-]*\([^()]*\)|[+-]*\d[\d./e+-]*(?<![,.])", lambda found: f"${math(found[0])}$", text
    )


def line_of(document, values):
    """The line with numbers put in for letters; "" where it is too long."""
    stated, typesets = document["statement"], Typesets(letters(document))
    sides = [written(stated[side], values, typesets, LONG) for side in words.SIDES]
    return "" if None in sides else f" {RELATIONS[stated['sign']]} ".join(sides)


def end_of(document):
    """What the two sides come to."""
    sides = [typeset_end(document[side]) for side in words.SIDES]
    return f" {RELATIONS[document['statement']['sign']]} ".join(sides)


def displayed(document, values):
    """The line of a document as a display; in plain words where it is too long."""
    line = line_of(document, values)
    return line and display(line) or escaped(words.says(document))


def display(line):
    """A displayed formula, over several lines where it is wide; "" where it is wide without end."""
    width = lambda text: len(re.sub(r"\\[a-zA-Z]+|[{}^_\\ ]", "", text))
    rows = [""]
    for term in terms(line):
        wide = rows[-1] and width(rows[-1] + term) > WIDE
        rows.append(term) if wide else rows.append(rows.pop() + term)
    if max(map(width, rows)) > 2 * WIDE:
        return ""
    if len(rows) == 1:
        return rf"\[ {line} \]"
    return "\n".join([r"\begin{multline*}", " \\\\\n".join(rows), r"\end{multline*}"])


def terms(line):
    """The parts of a formula between which a line may break."""
    depth, start = 0, 0
    for found in re.finditer(r"\\left|\\right|[{}]| (?=[+-] |\\le |\\ge |[<>=] )", line):
        depth += {"{": 1, r"\left": 1, "}": -1, r"\right": -1}.get(found[0], 0)
        if not found[0].strip() and not depth:
            yield line[start : found.start()]
            start = found.start()
    yield line[start:]


def affirmed(denial):
    """What the counterexample to a denial shows, as a document whose line is true."""
    stated = denial["statement"]
    return {**denial, "statement": {**stated, "sign": DENIED[stated["sign"]], "says": "line 1"}}


def instance(document, shows=""):
    """Sentences on a counterexample to a line; or on an instance that `shows` one claim of existence."""
    named, end = letters(document), end_of(document)
    yield (
        f"There is an instance, as {escaped(shows)} says, for which"
        if shows
        else (f"The line of {escaped(document['cites'])}")
    )
    yield displayed(document, {})
    says = escaped(by_name(document["setting"]).says)
    yield f"Of {says}, take" if shows else f"fails for {says}. Take"
    yield ", ".join(made_of(document)) + "."
    yield from run(document)
    found = words.used(document)
    told = [
        f"${named.get(n) or plainly(n)} = {typeset_end(words.numbers(document)[n])}$" for n in found
    ]
    yield f"There {', '.join(told)}, and the line reads" if told else "There the line reads"
    put_in = line_of(document, words.numbers(document))
    shown = display(f"{put_in},") if put_in not in ("", end) else ""
    if shown:
        yield shown
        yield "that is"
    yield display(f"{end},")
    yield f"which is {'true' if shows else 'false'}. A program derives this anew from a document that stands alone."


def typeset_end(text):
    """A side as a document tells it: a number, or words such as `at least 3`."""
    return typeset(text) if re.match("-?[0-9]", text) else rf"\text{{{escaped(text)}}}"


def run(document):
    rounds = passed(document)
    lines = []
    for each in beginnings(rounds):
        alike = {}
        for track in each.tracks:
            alike.setdefault((track.who == 0, walk(track)), []).append(track.who)
        told = [f"{whose(who)}: {words}" for (_, words), who in alike.items()]
        lines.append(
            f"{each.what} {each.number + 1}: {'; '.join(told)}; then ${math(point(each.end))}$"
        )
    if len(rounds) > len(lines):
        lines.append(f"and so on, to ${math(point(rounds[-1].end))}$ after {len(rounds)} of them")
    return ["Step by step:", *itemised(lines)] if lines else []


def walk(track):
    """Where somebody goes."""
    path = math(" -> ".join(map(point, track.points)))
    taken = math(", ".join(map(point, track.taken)))
    if not track.taken:
        return f"its gradient at the start is ${math(point(track.first))}$"
    first = "" if track.first is None else f", after ${math(point(track.first))}$ at the start"
    return f"${path}$, with gradients ${taken}${first}"


def family(document):
    first = document["members"][0]
    yield f"No constant $C$ makes true what {escaped(document['cites'])} says,"
    yield displayed(first, {})
    yield f"(written there as {escaped(document['says'])}). Take"
    yield ", ".join(made_of(first)) + "."
    yield from run(first)
    yield from map(escaped, words.moved(document))
    rows = [(number, end_of(each)) for number, each in words.members(document)]
    yield from itemised(f"$C = {math(number)}$: ${line}$ is false" for number, line in rows)
    yield f"and so on, for {len(document['members'])} such instances."
