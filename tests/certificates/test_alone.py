"""The checker in one file: it accepts what the checkers of documents accept, with nothing but
Python, and refuses what was changed."""

import ast
import copy
import json
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest

import fedtheory as ft
from fedtheory.arithmetic.operations import ends_of
from fedtheory.certificates import alone, check_family
from fedtheory.certificates.check_instance import approximate_text
from fedtheory.certificates.check_proof import Refused
from fedtheory.models import conditions, fitting
from fedtheory.rocq import derivations
from fedtheory.search import counterexample, scheduler
from fedtheory.search.objective import Target
from fedtheory.search.optimizer import ShapeSearch
from fedtheory.search.rational_points import Point
from tests.checker.known_statements import FALSE
from tests.second_opinion import judge, opinion

SHIPPED = Path(opinion.__file__).parent
DOCUMENTS = json.loads((SHIPPED / "certificates.json").read_text())
PROOFS = json.loads((SHIPPED / "proofs.json").read_text())
INSTANCES = [name for name, d in DOCUMENTS.items() if d["format"] != "fedtheory structure 1"]
STANDARD = {
    "collections.abc",
    "csv",
    "hashlib",
    "html",
    "io",
    "json",
    "re",
    "sys",
    "fractions",
    "math",
    "os",
    "pathlib",
    "reprlib",
    "types",
    "typing",
    "unicodedata",
}


def plain(value):
    return json.loads(json.dumps(value))


def test_the_one_file_imports_nothing_but_the_standard_library(tmp_path):
    text = derivations.standing_alone()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= STANDARD
        if isinstance(node, ast.ImportFrom):
            assert node.module in STANDARD
    (tmp_path / "check.py").write_text(text)
    told = subprocess.run(
        [sys.executable, "-I", "-S", tmp_path / "check.py"], capture_output=True, text=True
    )
    assert told.returncode == 2 and "here is no package" in told.stderr


@pytest.mark.parametrize("name", INSTANCES)
def test_it_accepts_every_shipped_counterexample(name):
    assert alone.judge_document(
        DOCUMENTS[name], plain(derivations.list_derivations(DOCUMENTS[name]))
    )


FAMILIES = [name for name in INSTANCES if DOCUMENTS[name]["format"] == "fedtheory family 1"]
MOVES = [
    {"tau_0": "2"},  # Gamma_l moves
    {"Gamma_l": "2"},
    {"Gamma_l": "1/1296", "tau_0": "2"},
    {"Gamma_l": "1/1296", "a_0": "2"},  # no coordinate moves
    {"Gamma_l": "x"},
    {"Gamma_l": "1/0"},
    {"Gamma_l": 2},
    ["Gamma_l"],
    "Gamma_l",
    {},
]


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("moves", MOVES, ids=str)
def test_a_family_moves_as_it_is_said_to(name, moves):
    """Told by three checkers: replay, the one that stands alone, the second opinion."""
    forged = resealed(copy.deepcopy({**DOCUMENTS[name], "moves": moves}))
    found = plain(derivations.list_derivations(DOCUMENTS[name]))
    assert alone.judge_document(DOCUMENTS[name], found)
    with pytest.raises(Refused):
        alone.judge_document(forged, found)
    with pytest.raises(check_family.Refused):
        check_family.check(forged)
    with pytest.raises(opinion.Refused):
        judge.judged(forged)
    judge.judged(DOCUMENTS[name])
    assert check_family.check(DOCUMENTS[name])["status"] == "violated"


@pytest.mark.parametrize("name", list(PROOFS)[::5])
def test_it_accepts_proofs_and_no_others(name):
    assert alone.judge_document(PROOFS[name], [])
    forged = copy.deepcopy(PROOFS[name])
    forged["shows"] = ["<", forged["shows"][2], forged["shows"][1]]
    with pytest.raises(Refused):
        alone.judge_document(forged, [])


STRUCTURES = {
    "fsl.table3": [("given", "layers", 0, 1), ("given", "layers", 1, 1), ("cells", 0, 2, 2)],
    "lamb.vectors_sent": [("given", "FED-LAMB", "v_{r,i}^T"), ("cells", 0, 2)],
    "mixed.table3_numbers": [
        ("given", "N"),
        ("given", "K"),
        ("ranges", "d", 0, 1),
        ("fixing", 1, 1),
        ("cells", 0, 2),
        ("cells", 1, 2),
    ],
    "mixed.K1_equivalence": [("instance", "A", 1, 0), ("instance", "x", 0), ("points", 0, 0)],
    "mixed.transfer_listing": [("instance", "hyper", "eta"), ("points", 1, 0)],
}


@pytest.fixture(params=list(STRUCTURES))
def structure(request):
    document = plain(ft.check(request.param, budget=0.1).certificate)
    return request.param, document, plain(derivations.list_derivations(document))


def test_cells_and_ends_are_computed_and_no_altered_ones_accepted(structure):
    name, document, found = structure
    assert alone.judge_document(document, found)
    for path in STRUCTURES[name]:
        forged = copy.deepcopy(document)
        *path, last = path
        tree = forged
        for key in path:
            tree = tree[key]
        old = tree[last]
        tree[last] = (
            not old
            if type(old) is bool
            else old + 1
            if type(old) is int
            else str(Fraction(old) * 3 + 1)
        )
        if path[:1] == ["ranges"]:
            tree[last] = 2  # the numbers that are given lie outside
        with pytest.raises(Refused):
            alone.judge_document(resealed(forged), found)


def test_what_is_as_the_text_says_shows_nothing(structure):
    """A cell that is as printed; two ends that are the same."""
    _, document, found = structure
    if "cells" in document:
        document["cells"][0][1] = document["cells"][0][2]
    else:
        document["points"][1] = document["points"][0]
        found[0]["values"]["other"] = found[0]["values"]["one"]
    with pytest.raises(Refused, match="as printed|both ways agree"):
        alone.judge_document(resealed(document), found)


def test_integers_that_others_could_replace_fix_nothing():
    """Without the cell that fixes the batch, hundreds of batches fit."""
    document = plain(ft.check("mixed.table3_numbers", budget=0.1).certificate)
    found = plain(derivations.list_derivations(document))
    document["fixing"] = document["fixing"][:1]
    with pytest.raises(Refused, match="others fit too|too wide"):
        alone.judge_document(resealed(document), found)


@pytest.mark.parametrize(
    "kind, value, shown, truth",
    [
        ("rounded", ("5/1000", "5/1000"), "0.01", True),
        ("rounded", ("49/10000", "49/10000"), "0.01", False),
        ("rounded", ("4/1000", "6/1000"), "0.01", None),
        ("equal", ("2", "2"), 2, True),
        ("equal", ("2", "3"), 3, None),
    ],
)
def test_a_cell_is_read_as_far_as_it_is_printed(kind, value, shown, truth):
    assert alone.matches_shown(kind, tuple(map(Fraction, value)), shown) is truth


def test_what_has_no_arithmetic_is_not_judged():
    """Two runs that chance alone parts, and a counterexample without its derivation."""
    document = plain(ft.check("mixed.transfer_listing", budget=0.1).certificate)
    del document["points"]
    assert alone.judge_document(document, derivations.list_derivations(document)) is False
    assert alone.reason_unjudged(document) == "chance alone parts its runs"
    assert alone.judge_document(DOCUMENTS["lamb.lemma1"], []) is False
    assert alone.reason_unjudged(DOCUMENTS["lamb.lemma1"]) == "no derivation goes with it"
    other = dict(format="fedtheory worst case 1")
    assert alone.judge_document(other, []) is False and "worst case 1" in alone.reason_unjudged(
        other
    )


def test_what_is_told_is_named():
    """The delay of flex's (9) is a search over rounds, no sum or product of the instance's numbers."""
    assert {
        name
        for derivation in derivations.list_derivations(DOCUMENTS["flex.eq9"])
        for name in derivation["told"]
    } == {"delay"}


def resealed(document):
    for member in document.get("members", []):
        resealed(member)
    document["digest"] = ""
    body = {key: value for key, value in document.items() if key != "digest"}
    document["digest"] = alone.hashlib.sha256(
        json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    ).hexdigest()
    return document


def leaves(tree, path=()):
    """Places of a document's numbers."""
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*path, key))
        elif isinstance(value, str) and alone.DIGITS.fullmatch(value):
            yield (*path, key)


@pytest.mark.parametrize("name", ["lamb.lemma1", "lamb.step16", "mixed.stepD2", "flex.eq2_printed"])
def test_a_number_that_is_changed_is_seen(name):
    """In the instance, in what is given or in what is told of it: refused, unless it is evidence
    still."""
    chance, found = random.Random(name), plain(derivations.list_derivations(DOCUMENTS[name]))
    refused = 0
    assert not any(derivation["told"] for derivation in found)
    for _ in range(6):
        forged = copy.deepcopy(DOCUMENTS[name])
        member = forged.get("members", [forged])[0]
        part = chance.choice([p for p in ("instance", "values") if list(leaves(member[p]))])
        *path, last = chance.choice(list(leaves(member[part])))
        tree = member[part]
        for key in path:
            tree = tree[key]
        tree[last] = str(Fraction(tree[last]) * 3 + 1)
        try:
            alone.judge_document(resealed(forged), found)
        except Refused:
            refused += 1
            continue
        assert ft.replay(forged)["status"] == "violated"
    assert refused


def test_a_step_that_is_changed_is_seen():
    document, (derivation,) = (
        DOCUMENTS["lamb.lemma1"],
        plain(derivations.list_derivations(DOCUMENTS["lamb.lemma1"])),
    )
    refused = 0
    for n, (op, *parts) in enumerate(derivation["steps"]):
        forged = copy.deepcopy(derivation)
        forged["steps"][n] = ["number", "17/3"]
        try:
            alone.check_counterexample(document, forged)
        except Refused:
            refused += 1
    assert refused >= 3  # others lead to nothing that the line asks for


@pytest.mark.parametrize("x", ["1/3", "-41/7", "123456789/1000"])
def test_ends_of_transcendental_functions_are_right_and_near(x):
    q, near = Fraction(x), Fraction(1, 10**60)
    with mpmath.workdps(400):
        value = mpmath.mpf(q.numerator) / q.denominator
        for ends, true in (
            (alone.exp_of_ends((q, q)), mpmath.exp(value)) if abs(q) < 100 else (None, None),
            (alone.log_of_ends((q, q)), mpmath.log(value)) if q > 0 else (None, None),
            (alone.root_of_ends((q, q), 3), mpmath.cbrt(value)) if q > 0 else (None, None),
        ):
            if ends is None:
                continue
            low, high = (mpmath.mpf(e.numerator) / e.denominator for e in ends)
            assert low <= true <= high
            assert ends[1] - ends[0] <= near * (1 + abs(ends[0]))


def test_ends_widen_and_never_pass_what_they_hold():
    chance = random.Random(3)
    for _ in range(200):
        a, b = (sorted(Fraction(chance.randint(-9, 9), 4) for _ in range(2)) for _ in range(2))
        x, y = (chance.choice(pair) for pair in (a, b))
        for op, exact in ((alone.add_ends, x + y), (alone.multiply_ends, x * y)):
            low, high = op(tuple(a), tuple(b))
            assert low <= exact <= high
        for n in (2, 3):
            low, high = alone.power_of_ends(tuple(a), n)
            assert low <= x**n <= high
        if not a[0] <= 0 <= a[1]:
            low, high = alone.invert_ends(tuple(a))
            assert low <= 1 / x <= high
    assert alone.invert_ends((Fraction(0),) * 2, True) == (alone.INFINITE,) * 2
    with pytest.raises(Refused, match="divides by what may be zero"):
        alone.invert_ends((Fraction(-1), Fraction(1)))
    with pytest.raises(Refused, match="infinity times what may be zero"):
        alone.multiply_ends((alone.INFINITE,) * 2, (Fraction(0), Fraction(1)))


# ---------------------------------------------------------------- long runs


def lived(name, setting, wanted, seed):
    """(document, exact values) of a drawn instance at which a claim's first line as printed is said to be
    below a third of what its left side is: a counterexample of that line, which nobody searched for."""
    claim = ft.claim(name).as_printed
    target = Target(claim, next(one for one in fitting(claim) if one.name == setting))
    relaxed = frozenset(target.setting.ensures) - frozenset(conditions(claim))
    chance = random.Random(seed)
    for _ in range(1000):
        shape, numbers = scheduler.shapes_of(target, chance, relaxed)
        if not wanted(shape):
            continue
        hunt = ShapeSearch(target, shape, numbers, np.random.default_rng(chance.randrange(2**32)))
        point = Point.near(hunt, hunt.evaluate_hypotheses(hunt.draw(8))[0][0])
        hunt.look = 100_000
        answer = point and point.answer()
        if answer is None or any(answer.failing()) or ends_of(answer.left)[0] <= 0:
            continue
        loose = [each for each in target.loose if point.numbers[f"slack {each}"] != 1]
        third = Fraction(ends_of(answer.left)[0]).limit_denominator(10**6) / 3
        if third <= 0:
            continue
        stated = counterexample.target_statement(target)
        stated["statement"]["right"] = [["number", [], str(third)]]
        shown = stated["statement"]["domains"].keys() | stated["statement"]["measured"].keys()
        document = dict(
            stated,
            instance=counterexample.texts(answer.instance),
            numbers={
                each: counterexample.number(answer.values[each])
                for each in (*target.reals, *loose, *numbers)
            },
            values={each: approximate_text(answer.values[each]) for each in shown},
            left=approximate_text(answer.left),
            right=str(third),
        )
        return resealed(plain(document)), answer.values
    raise AssertionError("no instance was drawn")


LONG = [
    ("mixed.theoremB3_strong_explicit", "mixed_run_two_way_gt", "170"),
    ("mixed.theoremB3_convex_explicit", "mixed_run_two_way_gt", "90"),
    ("mixed.theoremB1_strong_explicit", "mixed_run_parallel_training", "100"),
    ("mixed.theoremB2_convex_explicit", "mixed_run_one_way_gt", "100"),
]


@pytest.fixture(params=LONG, ids=lambda each: each[0])
def long_run(request):
    name, setting, T = request.param
    wanted = lambda shape: shape["T"] == T and "breaks" in shape and shape["noise"] != "none"
    document, values = lived(name, setting, wanted, name)
    return document, values, plain(derivations.list_derivations(document))


def test_a_long_run_is_followed_and_what_it_measures_lies_where_exact_numbers_have_it(long_run):
    document, values, (derivation,) = long_run
    assert derivation["told"] == []
    ends = alone.derive_values(derivation, document["instance"], document["numbers"])
    for name in document["statement"]["measured"]:
        (low, high), (least, most) = ends[name], ends_of(values[name])
        assert low <= most and least <= high
        assert high - low <= abs(high) / 10**20
    assert alone.judge_document(document, [derivation])


def altered(document):
    """[(what is forged, document)], sealed again."""
    stated, found = document["statement"], []

    def forge(what, *path, to):
        forged = copy.deepcopy(document)
        *path, last = path
        tree = forged
        for key in path:
            tree = tree[key]
        tree[last] = to(tree[last])
        found.append((what, resealed(forged)))

    tripled = lambda text: str(Fraction(text) * 3 + 1)
    name = next(each for each in ("eta", "eta_s") if each in document["numbers"])
    forge("a step size", "numbers", name, to=tripled)
    forge("the start", "instance", "x", 0, to=tripled)
    forge("how steep a loss is", "instance", "losses", 0, 0, "slope", to=tripled)
    forge("how often noise takes a value", "instance", "noise", 0, 0, to=tripled)
    forge("the rounds", "instance", "T", to=lambda T: T + 1)
    forge("what is broken", "instance", "breaks", to=lambda _: "no_such_thing")
    forge("the noise", "instance", "noise", to=lambda _: [])
    forge("the numbers", "numbers", to=lambda _: {})
    forge("the values", "values", to=lambda _: {})
    forge("the instance", "instance", to=lambda _: {})
    forge("a step size as shown", "values", name, to=tripled)
    forge("what the left side comes to", "left", to=lambda text: str(Fraction(text) * 3))
    forge("the inequality", "statement", "sign", to=lambda _: ">=")
    forge("what is measured", "statement", "measured", to=swapped)
    forge("the setting", "setting", to=lambda _: "mixed_round")
    assert stated["sign"] in ("<=", "<")
    return found


def swapped(measured):
    return {name: "sq_grad" if theirs != "sq_grad" else "gap" for name, theirs in measured.items()}


def test_no_forged_long_run_is_accepted(long_run):
    document, _, found = long_run
    for what, forged in altered(document):
        with pytest.raises((Refused, KeyError, IndexError)):
            alone.judge_document(forged, found)
            pytest.fail(f"{what} was changed, and nobody saw it")


@pytest.mark.parametrize(
    "text, value, truth",
    [
        ("1/3", ("1/3", "1/3"), True),
        ("1/3", ("33/100", "34/100"), True),
        ("1/3", ("1/4", "33/100"), False),
        ("0.1", ("1/10", "1/10"), True),
        ("0.1", ("1000000001/10000000000",) * 2, False),
        ("1.5e-09", ("15/10000000000",) * 2, True),
        ("1.500000e+400", (f"{15 * 10**399 + 10**390}",) * 2, True),
        ("1.500001e+400", (f"{15 * 10**399 + 10**393}",) * 2, True),
        ("1.6e+40", (f"{15 * 10**39}",) * 2, False),
    ],
)
def test_a_number_is_told_as_documents_tell_it(text, value, truth):
    assert alone.says_value(text, tuple(map(Fraction, value))) is truth


def test_what_has_no_end_is_told_so():
    endless, ten = (alone.INFINITE,) * 2, (Fraction(10), alone.INFINITE)
    assert alone.says_value("infinite", endless) and not alone.says_value("infinite", ten)
    assert alone.says_value("at least 10", ten) and not alone.says_value("at least 11", ten)
    assert not alone.says_value("at least 10", (Fraction(10), Fraction(11)))


def test_what_a_users_claim_measures_is_followed():
    """Step sizes are asked whether they lie within ranges, some of which have no end."""
    certificate = plain(ft.check(FALSE["gd_contraction.constant"], budget=1.0).certificate)
    found = plain(derivations.list_derivations(certificate))
    assert found[0]["told"] == [] and alone.judge_document(certificate, found)
