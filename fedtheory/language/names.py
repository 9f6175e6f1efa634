"""Names of claims: the characters that a name may contain, and names that can be mistaken for one
another."""

import unicodedata

LONGEST = 200  # letters; names stand in sentences
RULE = (
    f"must be a name of 1 to {LONGEST} letters, digits and signs in their plain forms, with single "
    "blanks between words"
)
EMPTY = "\u115f\u1160\u2800\u3164"  # letters and signs that look like a blank
# Small letters and digits -> letters of other alphabets, and digits, that look like them.
LIKE = {
    "a": "\u0430\u03b1\u0251",
    "b": "\u0432\u03b2",
    "c": "\u0441\u03f2",
    "d": "\u0501",
    "e": "\u0435\u03b5",
    "g": "\u0261",
    "h": "\u04bb\u043d",
    "j": "\u0458",
    "k": "\u043a\u03ba",
    "l": "1|i\u0131\u0456\u03b9\u04cf",
    "m": "\u043c",
    "n": "\u043b\u03b7",
    "o": "0\u043e\u03bf",
    "p": "\u0440\u03c1",
    "q": "\u051b",
    "r": "\u0433",
    "s": "\u0455",
    "t": "\u0442\u03c4",
    "u": "\u03c5",
    "v": "\u03bd",
    "w": "\u051d\u03c9",
    "x": "\u0445\u03c7",
    "y": "\u0443\u03b3",
}
TAKEN = str.maketrans({other: letter for letter, others in LIKE.items() for other in others})


def well_formed(name: str) -> bool:
    """Return whether a text may be a claim's name: every character is visible, and no character has
    another form that looks the same.

    >>> well_formed("fsl.theorem1"), well_formed("fsl.theorem1 "), well_formed("fsl.theo\\u200brem1")
    (True, False, False)
    """
    return (
        isinstance(name, str)
        and 0 < len(name) <= LONGEST
        and name == unicodedata.normalize("NFKC", name) == " ".join(name.split())
        and all(map(_is_shown, name))
    )


def _is_shown(letter: str) -> bool:
    """Return whether a character of a name is visible."""
    return letter == " " or letter not in EMPTY and unicodedata.category(letter)[0] in "LNPS"


def tidy_name(text: str) -> str:
    """Return a text as a name: characters that may not stand in a name are left out.

    >>> tidy(" a\\u200b  hypothesis ")
    'a hypothesis'
    """
    plain = unicodedata.normalize("NFKC", text)
    return " ".join("".join(c if _is_shown(c) else " " for c in plain).split())


def name_skeleton(name: str) -> str:
    """Return the letters and digits of a name in lower case, each replaced by the character that it
    can be mistaken for.

    >>> skeleton("FSL.Theorem-l") == skeleton("fsl.theorem1")
    True
    """
    small = unicodedata.normalize("NFKC", name).casefold().translate(TAKEN).replace("rn", "m")
    return "".join(c for c in small if unicodedata.category(c)[0] in "LN")
