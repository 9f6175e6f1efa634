"""What goes into a file for Rocq: names, numbers, comments, expressions; nothing of a document as it
stands."""

import re
from fractions import Fraction

import pytest

from fedtheory.rocq import text
from fedtheory.rocq.text import Spelling, assign_identifiers, comment_lines, number_text


def test_names_are_identifiers_that_mean_nothing_else():
    hostile = [
        "R",
        "forall",
        "A1",
        "Rle_dec",
        "sqrt",
        "inner",
        "é",
        "x²",
        "x_",
        "x",
        "line_1",
        "F3",
    ]
    found = assign_identifiers([*hostile, "x__", "cauchy_schwarz"])
    assert len({*found.values()}) == len(found)
    for name, plain in found.items():
        assert re.fullmatch("[A-Za-z][A-Za-z0-9_]*", plain), (name, plain)
        assert plain not in text.KEPT and not text.OURS.fullmatch(plain), plain
        assert plain not in text.DEFINED, plain
    assert found["x"] == "x" and found["R"] == "R_" and found["cauchy_schwarz"] != "cauchy_schwarz"


@pytest.mark.parametrize(
    "words",
    [
        "*) Axiom lie : False. (*",
        "(*) unfinished",
        'a "string that (* never ends',
        "**) x (**",
        "*\u2028) Admitted.",
        "(" * 50 + "*" * 50 + ")" * 50,
        "a\n*\n)\nb",
    ],
)
def test_no_words_end_a_comment(words):
    said = comment_lines(words)
    assert said.startswith("(* ") and said.endswith(" *)")
    assert "*)" not in said[:-2] and "(*" not in said[2:] and '"' not in said
    assert said.isascii()


def test_numbers_are_spelled_from_integers():
    assert [number_text(Fraction(n)) for n in ("3", "-3", "1/2", "-7/2")] == [
        "3",
        "(- 3)",
        "(1 / 2)",
        "(- 7 / 2)",
    ]


def test_expressions_keep_their_order_of_operations():
    spell = Spelling(assign_identifiers(["a", "b"]))
    said = {
        "a * (b + 1)": ["*", "a", ["+", "b", "1"]],
        "a / b": ["*", "a", ["^", "b", -1]],
        "(a + b) ^ 2": ["^", ["+", "a", "b"], 2],
        "1 / (a * b ^ 2)": ["*", ["^", "a", -1], ["^", "b", -2]],
        "a - b": ["+", "a", ["*", "-1", "b"]],
        "a - (b + 1)": ["+", "a", ["*", "-1", ["+", "b", "1"]]],
        "(a * b) ^ 3 * 2": ["*", ["^", ["*", "a", "b"], 3], "2"],
        "a * (1 / b)": ["*", "a", ["*", "1", ["^", "b", -1]]],
        "(a ^ 2) ^ 3": ["^", ["^", "a", 2], 3],
    }
    for expected, tree in said.items():
        assert spell.tree(tree) == expected


def test_expressions_have_the_values_of_their_trees():
    """Read by Python, which orders these operations as Rocq does but for powers of powers."""
    spell = Spelling(assign_identifiers(["a", "b"]))
    values = dict(a=Fraction(3, 7), b=Fraction(-5, 2))

    def value(tree):
        if isinstance(tree, str):
            return values.get(tree) if tree in values else Fraction(tree)
        op, *parts = tree
        if op == "^":
            return value(parts[0]) ** parts[1]
        found = [value(part) for part in parts]
        total = found[0]
        for each in found[1:]:
            total = total + each if op == "+" else total * each
        return total

    trees = [
        ["+", ["*", "-1", "a", ["^", ["+", "a", "b", "1/3"], -2]], ["*", "2", "b"]],
        ["*", ["+", "a", ["*", "-1", ["*", "b", "a"]]], ["^", ["*", "a", "b"], 3]],
        ["^", ["+", "1", ["*", "a", ["^", "b", -1]]], -1],
        ["*", ["^", "a", 2], ["^", ["^", "b", -1], -3]],
    ]
    for tree in trees:
        said = re.sub(r"\b(\d+)\b", r"Fraction(\1)", spell.tree(tree)).replace("^", "**")
        said = re.sub(r"\*\* Fraction\((\d+)\)", r"** \1", said)
        assert eval(said, dict(Fraction=Fraction, **values)) == value(tree), said  # noqa: S307
