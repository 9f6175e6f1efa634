"""What is mathematics in a sentence is typeset, what is prose is left alone."""

import pytest

from fedtheory.app import math_in_text, package
from tests.app.test_page_parts import shown

NAMES = dict(G="G", K="K", S="S", a="a", eta_l=r"\eta_{l}", drift=r"\frac{x}{y}", T="T", B="B")
SYMBOLS = [dict(name=name, latex=latex) for name, latex in NAMES.items()]


def marked(text):
    """The sentence, with its formulas in LaTeX between angles."""
    return str(math_in_text.typeset_sentence(text, SYMBOLS, "\u27e8{}\u27e9".format))


@pytest.mark.parametrize(
    "text, words",
    [
        ("gamma <= 1 and a cohort", "\u27e8\\gamma \\leq 1\u27e9 and a cohort"),
        ("||x||^2 <= G", r"⟨\| x \| ^{2} \leq G⟩"),
        ("p_i = 1/N, not snippet_of_code", "⟨p_{i} = 1 / N⟩, not snippet_of_code"),
        ("<b>bold</b> & so", "&lt;b&gt;bold&lt;/b&gt; &amp; so"),
        ("fsl.eta_l is an id", "fsl.eta_l is an id"),
        ("by (8), K steps", "by (8), ⟨K⟩ steps"),
        (
            "||grad f_i - grad F||^2 is at most G^2",
            r"⟨\| \nabla f_{i} - \nabla F \| ^{2}⟩ is at most ⟨G ^{2}⟩",
        ),
        ("E||g_t^k||^2 is bounded", r"⟨\mathbb{E} \| g_{t} ^{k} \| ^{2}⟩ is bounded"),
        ("of order 1/(K sqrt(T S))", r"of order ⟨1 / ( K \sqrt{T S} )⟩"),
        ("T^(1/4) and T^-2 and T^1/2", r"⟨T ^{1 / 4}⟩ and ⟨T ^{- 2}⟩ and ⟨T ^{1 / 2}⟩"),
        ("theorem B.1, 2-way, T-shaped", "theorem B.1, 2-way, T-shaped"),
        ("the drift of a round", "the drift of a round"),
        ("a > 0 and a step", "⟨a &gt; 0⟩ and a step".replace("&gt;", ">")),
        ("(G + ...) and ( G", r"⟨( G + \dots )⟩ and ( ⟨G⟩"),
        ("eta_l = 0.1 K = 2", r"⟨\eta_{l} = 0.1⟩ ⟨K = 2⟩"),
        ("what x* and tilde-V mean", r"what ⟨x ^{\star}⟩ and ⟨\tilde{V}⟩ mean"),
        ("1/8 of it, 12 rounds, || alone", "⟨1 / 8⟩ of it, 12 rounds, ‖ alone"),
        ("1/2 (T - 1)^2 and theta-bar_r", r"⟨\frac{1}{2} ( T - 1 ) ^{2}⟩ and ⟨\bar{\theta}_{r}⟩"),
        ("f_1, ..., f_N are convex", "⟨f_{1}⟩, ..., ⟨f_{N}⟩ are convex"),
    ],
)
def test_formulas_are_told_from_words(text, words):
    assert marked(text) == words


def test_what_is_typeset_is_harmless():
    found = math_in_text.typeset_sentence(
        "<b>so</b> K_0 <= 1/sqrt(G)", SYMBOLS, package.typeset_mathml
    )
    assert shown(found) == "<b>so</b> K0≤1/G" and "<b>" not in str(found)
    assert "<msqrt>" in str(found)


def test_every_sentence_of_the_records_is_kept_whole():
    """No letter or figure of a sentence is lost on the way."""
    from fedtheory import discover
    from fedtheory.app import ledger

    plain = lambda text: sorted(c for c in text if c.isdigit())
    for claim in discover.claims():
        entry = ledger.claim_statement(claim)
        for text in (entry["meaning"], entry["note"], *(a["note"] for a in entry["assumptions"])):
            found = str(math_in_text.typeset_sentence(text, entry["symbols"], lambda latex: latex))
            lost = [c for c in set(plain(text)) if plain(text).count(c) > plain(found).count(c)]
            assert not lost, (claim.id, text, found)
