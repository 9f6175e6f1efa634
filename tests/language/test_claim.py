"""The claim record: what it refuses, how it varies, what it prints; a small house claim worked by
hand."""

import subprocess
import sys
from dataclasses import fields
from fractions import Fraction as Q

import numpy as np
import pytest
from sympy import Eq, Symbol, sqrt

import fedtheory as ft
from fedtheory import discover, metrics
from fedtheory.app import ledger
from fedtheory.errors import InvalidInput
from fedtheory.language import conditions
from fedtheory.language.claim import Cells, Claim, Comparisons, Equivalences, Lines, Order
from fedtheory.language.conditions import Assumption
from fedtheory.language.symbol import CURVATURE, LOSS, STEP, Table
from fedtheory.symbols.fsl import TABLE, K, L, N, S, T, gamma, mu, sigma, u

HOUSE = Claim(
    id="house.one_local_step",
    cites="house check 1",
    algorithm="fsl",
    symbols=TABLE,
    assumes=(Eq(gamma, 0), Eq(K, 1), Eq(S, N), mu <= L, u <= 1 / L),
    unstated=(conditions.INDEPENDENT,),
    bound=(1 - u * mu) ** T * Q(3, 1) + u * sigma**2 / (N * mu),
    measures="sq_distance",
    weakened=(1 - u * mu) ** T * Q(3, 1),
)
GOOD = dict(gamma=0, K=1, S=4, N=4, mu=Q(1, 2), L=2, K_0=1, eta_0=Q(1, 2), T=2, sigma=1)


def test_a_value_worked_by_hand():
    # u = 1/2: (1 - 1/4)^2 * 3 + (1/2) / (4 * 1/2) = 27/16 + 1/4
    found = HOUSE.evaluate(GOOD)
    assert found.exact == Q(31, 16) and found == 1.9375
    assert HOUSE.admits(GOOD) == []


def test_refusals_name_claim_rule_and_values():
    for bad, words in (
        (
            dict(eta_0=1.0),
            r"one_local_step \(house check 1\) assumes u <= 1/L; got eta_0=1.0, K_0=1, L=2",
        ),
        (dict(mu=3), "assumes mu <= L; got mu=3, L=2|assumes mu <= L; got L=2, mu=3"),
        (dict(K=2), "assumes K = 1; got K=2"),
        (dict(N=0), "assumes N is an integer >= 1; got N=0"),
        (dict(T=1.5), "assumes T is an integer >= 1; got T=1.5"),
        (dict(sigma=-1), "assumes sigma >= 0; got sigma=-1"),
        (dict(S=5), r"assumes S = N"),
        (dict(sigma=float("nan")), "sigma must be a finite number; got nan"),
        (dict(eta=1), "has no symbol 'eta'; it takes"),
        (dict(u=1), "u of one_local_step .* is defined as K_0 eta_0; give K_0, eta_0"),
    ):
        with pytest.raises(InvalidInput, match=words):
            HOUSE.evaluate({**GOOD, **bad})
    with pytest.raises(InvalidInput, match="needs L, smoothness"):
        HOUSE.evaluate({k: v for k, v in GOOD.items() if k != "L"})


def test_strict_false_evaluates_outside():
    outside = {**GOOD, "eta_0": 1}
    assert [str(a) for a in HOUSE.admits(outside)] == ["u <= 1/L"]
    assert HOUSE.evaluate(outside, strict=False).exact == Q(3, 4) + Q(1, 2)
    with pytest.raises(
        InvalidInput, match="no value at .*division by zero|no value at .*zero times infinity"
    ):
        HOUSE.evaluate({**GOOD, "mu": 0, "sigma": 0}, strict=False)


def test_floats_meet_equations_up_to_rounding_and_rationals_exactly():
    claim = HOUSE.replace(assumptions=(Eq(u, 3 * mu),))
    assert claim.admits(dict(K_0=1, eta_0=0.1 * 3, mu=0.1)) == []  # 0.1 * 3 != 0.3 in binary
    assert claim.admits(dict(K_0=1, eta_0=Q(3, 10) + Q(1, 10**30), mu=Q(1, 10))) != []
    assert claim.admits(dict(K_0=1, eta_0=0.3001, mu=0.1)) != []


def test_variants():
    weaker = HOUSE.replace(bound=HOUSE.bound + 1, name="house.weaker")
    assert weaker.id == "house.weaker" and weaker.evaluate(GOOD).exact == Q(47, 16)
    assert HOUSE.evaluate(GOOD).exact == Q(31, 16)  # the original is as it was
    free = HOUSE.replace(assumptions=())
    assert free.admits({**GOOD, "eta_0": 99, "K": 7}) == [] and free.evaluate(
        {**GOOD, "K": 7}
    ).exact == Q(31, 16)
    theorem = ft.claim("fsl.theorem1")
    without = theorem.without("lipschitz", "(11)")
    assert len(without.assumptions) == len(theorem.assumptions) - 2
    assert {a.name for a in theorem.assumptions} - {a.name for a in without.assumptions} == {
        "lipschitz",
        "(11)",
    }
    with pytest.raises(InvalidInput, match="takes assumptions of fsl.theorem1: "):
        theorem.without("assumption 9")


def test_unstated_assumptions_are_marked():
    theorem = ft.claim("fsl.theorem1")
    marks = {a.name: a.stated for a in theorem.assumptions}
    assert (
        marks["smooth"]
        and not marks["lipschitz"]
        and not marks["equal_weights"]
        and not marks["independent_noise"]
    )
    assert "not stated" in str(next(a for a in theorem.assumptions if a.name == "lipschitz"))


def test_a_table_is_the_limit_of_a_claims_symbols():
    with pytest.raises(InvalidInput, match="must use symbols of the table of fsl; got .'zeta'."):
        HOUSE.replace(bound=Symbol("zeta"))
    with pytest.raises(InvalidInput, match="measures must be an expression or one of loss"):
        Claim(id="x.y", cites="z", symbols=TABLE, bound=mu, measures="speed")
    # SymPy takes a namesake with other assumptions for another symbol: mu/L - mu/L would not be 0
    with pytest.raises(InvalidInput, match="must use symbols of the table of fsl; got .'mu'."):
        HOUSE.replace(bound=Symbol("mu"))
    with pytest.raises(InvalidInput, match="must use symbols of the table of fsl; got .'L'."):
        HOUSE.replace(assumptions=[Symbol("L", real=True) <= 1])
    table = Table("mine")
    one, more = (
        table.positive("one", "1", "a number"),
        table.define("more", "m", "more", 2 * Symbol("lost")),
    )
    with pytest.raises(InvalidInput, match="must use symbols of the table of mine; got .'lost'."):
        Claim(id="mine.lost", cites="z", symbols=table, measures=one, bound=more)


def test_text_is_never_a_formula():
    for change in (
        dict(bound="__import__('os')"),
        dict(weakened="1+1"),
        dict(also=((mu, "<=", "L"),)),
    ):
        with pytest.raises(
            InvalidInput, match="must be a finite real number, or a SymPy expression"
        ):
            HOUSE.replace(**change)


def test_latex_keeps_names_and_the_papers_letters():
    text = ft.claim("fsl.theorem1").latex()
    assert (
        r"\bar{\xi}^{2}" in text
        and r"\Psi" in text
        and r"\sigma_0" not in text
        and "xi_bar" not in text
    )
    assert HOUSE.latex().startswith(r"\|x_T-x^\star\|^2 \le")
    assert r"\mathcal{O}\left(" in ft.claim("fsl.corollary1").latex()


def test_the_fast_path_agrees_on_random_points_and_refuses_what_is_no_number():
    generator = np.random.default_rng(1)
    claim = ft.claim("fsl.theorem1")
    size = 300
    arrays = {name: 10 ** generator.uniform(-4, 2, size) for name in claim.needs()}
    for name in ("K", "K_0", "N"):
        arrays[name] = generator.integers(1, 40, size)
    arrays["S"] = generator.integers(1, arrays["N"] + 1)
    arrays["gamma"][::5] = 0.0
    fast, slow = claim.fast(arrays), []
    for n in range(size):
        at = {name: a[n].item() for name, a in arrays.items()}
        slow += [float(claim.evaluate(at, strict=False))]
    assert np.max(abs(fast - slow) / np.abs(slow)) < 2e-12
    with pytest.raises(InvalidInput, match="gamma must be finite"):
        claim.fast({**arrays, "gamma": np.nan})
    with pytest.raises(InvalidInput, match="needs xi_bar"):
        claim.fast({name: a for name, a in arrays.items() if name != "xi_bar"})


def test_the_mask_is_what_admits_says():
    claim = ft.claim("fsl.theorem1")
    grid = dict(
        L=2.0,
        gamma=1.0,
        eta_g=1.0,
        K=2,
        K_0=4,
        S=2,
        N=np.array([1, 3, 3, 3]),
        eta_0=np.array([0.01, 0.01, 0.01, 0.5]),
    )
    grid["eta_l"] = grid["eta_0"] * 2 + np.array([0, 0, 0.001, 0])
    assert claim.mask(grid).tolist() == [False, True, False, False]
    for n in range(4):
        point = {k: np.broadcast_to(v, 4)[n].item() for k, v in grid.items()}
        assert (claim.admits(point) == []) == bool(claim.mask(grid)[n])


def test_conditions_speak_of_problems():
    even = ft.problems.quadratic(2, 3, L=2.0, mu=0.5, G=1.0, xi_bar=0.5, sigma=0.1, sigma_0=0.1)
    odd = ft.problems.quadratic(2, 3, L=2.0, mu=0.5, weights=[1, 2, 3])
    assert conditions.EQUAL_WEIGHTS(even) and not conditions.EQUAL_WEIGHTS(odd)
    for assumption in ft.claim("fsl.theorem1").assumptions:
        if assumption.condition:
            assert assumption.condition(even), assumption
    assert (
        conditions.STRONGLY_CONVEX(even)
        and not conditions.EXACT_GRADIENTS(even)
        and conditions.EXACT_GRADIENTS(odd)
    )
    flat = ft.problems.quadratic(2, 3, L=2.0, mu=0.0)
    assert conditions.CONVEX(flat) and not conditions.STRONGLY_CONVEX(flat)


def test_ids_are_unique_and_found():
    claims = discover.claims()
    assert len({c.id for c in claims}) == len(claims)
    for claim in claims:
        assert ft.claim(claim.id).id == claim.id and ft.claim(claim) is claim
    with pytest.raises(InvalidInput, match="such as fsl.theorem1"):
        ft.claim("theorem1")
    for bad in ("fsl.theorem9", "../secret", "os.system", None, ""):
        with pytest.raises(InvalidInput, match="claim must be an id"):
            ft.claim(bad)


@pytest.mark.parametrize("claim", discover.claims(), ids=lambda c: c.id)
def test_every_record_is_whole(claim):
    """Cited, explained, printable, measured by something, with a weakened bound wherever there is a
    bound to refute."""
    assert claim.cites and claim.meaning and claim.latex() and str(claim)
    assert "xi_bar" not in claim.latex() and len(claim.meaning) < 300
    if claim.lines and claim.kind != "order":
        assert claim.weakened is not None, "a false variant that a checker must refute"
        assert claim.weakened != claim.bound
        assert set(claim.needs(claim.weakened)) <= set(claim.symbols)
    if claim.kind == "order" and not claim.explicit:
        assert "there is no explicit companion" in claim.note  # and why
    elif claim.kind == "order":
        assert ft.claim(claim.explicit).kind == "exact"
    if claim.kind == "finding":
        assert claim.says and claim.compares and claim.figure
    if claim.kind == "structure":
        assert claim.lines or claim.says and (claim.same or claim.printed and claim.compute)
    assert all(a.stated for a in claim.assumes) and not any(a.stated for a in claim.unstated)
    for name in (claim.algorithm,) if isinstance(claim.algorithm, str) else claim.algorithm or ():
        assert name in ft.algorithms()
    for entry in claim.symbols.values():
        assert entry.latex and entry.meaning
    for entry in claim.quantities.values():
        assert entry.measure.metric in metrics.ALL or entry.measure.metric.isidentifier()


@pytest.mark.parametrize("claim", discover.claims(), ids=lambda c: c.id)
def test_short_words_say_all_of_a_statement(claim):
    """A variant goes by the short words, and a statement that is handed on stays as it is."""
    said = ledger.claim_content(claim)
    assert ledger.claim_content(claim.replace(kind=claim.kind)) == said
    assert ledger.claim_content(claim.replace(statement=claim.statement)) == said
    assert claim.replace(kind=claim.kind).latex() == claim.latex()


def test_a_line_is_three_parts_with_text_latex_and_value():
    (line,) = HOUSE.lines
    left, relation, right = line
    assert (left, relation, right) == (HOUSE.measures, "<=", HOUSE.bound) == tuple(line)
    assert line.text == str(HOUSE) and line.latex == HOUSE.latex()
    value = line.value(GOOD)
    assert value.exact == Q(31, 16) and line.of(TABLE).value(GOOD).exact == Q(31, 16)
    two = HOUSE.replace(lines=[line, (mu, ">=", L / 3)])
    assert two.also == ((mu, ">=", L / 3),) and two.weakened == HOUSE.weakened
    third = two.lines[1].value(dict(L=1))  # rounded down, as it is a lower bound
    assert Q(float(third)) <= Q(1, 3) < Q(np.nextafter(float(third), 1))


def test_a_weakened_bound_has_its_former_name_too():
    """Files of users give `teeth`."""
    old = HOUSE.replace(teeth=L)
    assert old.weakened == old.teeth == L and HOUSE.teeth == HOUSE.weakened != L
    words = dict(id="house.old", cites="nobody", symbols=TABLE, measures=mu, bound=L)
    assert Claim(**words, teeth=L / 2).weakened == Claim(**words, weakened=L / 2).teeth == L / 2
    with pytest.raises(InvalidInput, match="teeth must be left out, as weakened is given"):
        Claim(**words, teeth=L, weakened=L)


def test_a_statement_is_one_of_five():
    kinds = {type(claim.statement) for claim in discover.claims()}
    assert kinds == {Lines, Order, Equivalences, Cells, Comparisons}
    assert len(fields(Claim)) == 13
    for claim in discover.claims():
        assert bool(claim.lines) == isinstance(claim.statement, Lines)


def test_importing_the_package_leaves_sympy_alone():
    script = (
        "import sys, fedtheory; assert 'sympy' not in sys.modules; fedtheory.claim; import fedtheory.claim; "
        "assert fedtheory.claim('fsl.theorem1').id == 'fsl.theorem1' and callable(fedtheory.algorithm)"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_users_table_and_claim():
    table = Table("mine")
    step, curve = (
        table.positive("step", r"\eta", "step", STEP),
        table.positive("curve", "L", "smoothness", CURVATURE),
    )
    f = table.measured("f", "f(x)", "loss", LOSS, "loss")
    claim = Claim(
        id="mine.root",
        cites="me",
        symbols=table,
        measures=f,
        bound=sqrt(step * curve),
        relation=">=",
        assumes=(Assumption(step * curve <= 1, "(1)"),),
    )
    found = claim.evaluate(dict(step=Q(1, 2), curve=1))
    assert (
        found.exact is None
        and Q(float(found)) <= found.lower
        and found.lower**2 < Q(1, 2) < found.upper**2
    )
    assert str(claim) == "f >= sqrt(step curve)"
    with pytest.raises(
        InvalidInput, match=r"assumes curve step <= 1 \[\(1\)\]; got step=2, curve=1"
    ):
        claim.evaluate(dict(step=2, curve=1))


def test_listing_claims_does_not_wake_the_compiler():
    """Numba and SciPy would triple the wait; `python -m tests.bench load` says how long it is."""
    script = (
        "from fedtheory import discover; claims = discover.claims(); import sys; "
        "print(len(claims), 'numba' in sys.modules, 'scipy' in sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout.split()
    assert int(out[0]) > 0 and out[1:] == ["False", "False"]
