"""Documents that someone else hands in: forged ones are refused, and what one shows is said of what
it states."""

import copy
import json
from fractions import Fraction

import pytest

import fedtheory as ft
from fedtheory.app import cli
from fedtheory.certificates.check_proof import Refused
from fedtheory.certificates.documents import digest_of
from fedtheory.language.claim import Claim, Same
from fedtheory.language.symbol import Table
from fedtheory.symbols.fsl import TABLE
from fedtheory.verdicts import equivalence as decided
from fedtheory.verdicts.replaying import OWN, RECORDED


def sealed(document):
    """A document whose digest an attacker has computed again."""
    return dict(document, digest=digest_of(document))


def shown(document):
    return ft.replay(json.loads(json.dumps(document)))


@pytest.fixture(scope="module", params=["lamb.lemma2", "mixed.stepD2", "lamb.step16"])
def recorded(request):
    """The document against a claim that is recorded and false."""
    return ft.check(request.param, budget=2.0).certificate


@pytest.fixture(scope="module", params=["fsl.theorem1", "fsl.lemma5"])
def variant(request):
    """The document against a variant, made false, of a claim that is recorded and stands."""
    claim = ft.claim(request.param)
    return ft.check(
        claim.replace(bound=claim.weakened if claim.weakened is not None else claim.bound / 1000),
        budget=3.0,
    ).certificate


def test_what_is_recorded_is_shown_of_the_record(recorded):
    found = shown(recorded)
    assert found["status"] == "violated" and found["about"] == RECORDED


def test_a_variant_does_not_bear_its_claims_name(variant):
    assert variant["claim"].endswith("!variant")
    found = shown(variant)
    assert found["status"] == "violated" and found["about"] == OWN
    with pytest.raises(
        Refused, match="it names .* is not that of the claim as it is recorded here"
    ):
        shown(sealed(dict(variant, claim=variant["claim"].removesuffix("!variant"))))


def forgeries(document):
    """(what is changed, the document after it), wherever the change is one."""
    said = document["statement"]
    free = next(iter(document["numbers"]), None)
    state = lambda **changes: dict(document, statement=dict(said, **changes))
    yield "no numbers", dict(document, numbers={})
    yield "nothing measured", state(measured={})
    if len(said["measured"]) > 1:
        one, other, *_ = said["measured"]
        yield (
            "measures swapped",
            state(
                measured={
                    **said["measured"],
                    one: said["measured"][other],
                    other: said["measured"][one],
                }
            ),
        )
    yield (
        "the other sign",
        state(sign={"<=": ">=", ">=": "<=", "==": "<", "<": ">", ">": "<"}[said["sign"]]),
    )
    if free:
        yield (
            "a negative number",
            dict(
                state(domains={**said["domains"], free: "real"}),
                numbers={**document["numbers"], free: "-1"},
            ),
        )
    for name in ("assumes", "conditions", "solved"):
        if said[name]:
            yield f"no {name}", state(**{name: type(said[name])()})
    if said["right"] != [["number", [], "0"]]:
        yield "a smaller right side", state(right=[["number", [], "0"]])
    measured = next(iter(said["measured"]), None)
    if measured:
        yield (
            "what is measured is given",
            dict(document, numbers={**document["numbers"], measured: "1000000"}),
        )
        yield (
            "what is measured is free",
            dict(
                state(
                    measured={k: v for k, v in said["measured"].items() if k != measured},
                    domains={**said["domains"], measured: "real"},
                ),
                numbers={**document["numbers"], measured: "1000000"},
            ),
        )
    yield "a line that is not there", dict(document, line=document["line"] + 7)
    yield "other words", state(says="1 <= 0")
    yield "another value shown", dict(document, left="1/3")
    yield "an entry more", dict(document, note="trust me")


def test_no_forgery_passes_for_the_record(recorded):
    for name, forged in forgeries(recorded):
        with pytest.raises(Refused):
            pytest.fail(f"{name}: {shown(sealed(forged))}")


def test_a_document_of_its_own_is_consistent(variant):
    """Nothing can be given that the instance decides, and nothing may be left without a value."""
    own = dict(copy.deepcopy(variant), claim="mine.own")
    assert shown(sealed(own))["about"] == OWN
    wrong = (
        "no numbers",
        "nothing measured",
        "what is measured is given",
        "what is measured is free",
        "another value shown",
        "an entry more",
        "the other sign",
    )
    for name, forged in forgeries(own):
        if name in wrong:
            with pytest.raises(Refused):
                pytest.fail(f"{name}: {shown(sealed(forged))}")


def test_a_bound_is_no_interval_the_wrong_way_round(variant):
    loose = {"L": ["1000000", "0"]}
    with pytest.raises(Refused):
        shown(sealed(dict(variant, numbers={**variant["numbers"], **loose})))


def test_a_truth_is_no_number_of_an_instance(variant):
    count = next(name for name, value in variant["instance"].items() if value == 1 or value == 2)
    for wrong in (True, None, 1.0, [1]):
        with pytest.raises(Refused):
            shown(
                sealed(
                    dict(variant, claim="mine.own", instance={**variant["instance"], count: wrong})
                )
            )


def test_every_value_has_one_source_in_what_is_recorded():
    """No recorded claim calls a symbol free that a setting that fits it measures."""
    from fedtheory import discover
    from fedtheory.models import fitting

    for claim in discover.claims():
        for setting in fitting(claim) if claim.lines else ():
            measured = {
                name for name, entry in setting.table.items() if entry.measure in setting.measures
            }
            assert not measured & (set(claim.parameters) | set(setting.takes)), (
                claim.id,
                setting.name,
            )


# Structures


def structure(*same, **more):
    return Claim(
        id="house.structure",
        cites="house check",
        kind="structure",
        symbols=TABLE,
        says="Alike.",
        same=same,
        **more,
    )


def test_cells_must_be_there_and_those_of_the_record():
    document = ft.check("fsl.table3", budget=1).certificate
    assert shown(document)["about"] == RECORDED
    for cells in ([], document["cells"] * 2, [["no such cell", 1, 2]], None, "x"):
        with pytest.raises(Refused):
            shown(sealed(dict(document, cells=cells)))
    with pytest.raises(Refused, match="no claim recorded here"):
        shown(sealed(dict(document, claim="mine.table")))


def test_an_own_equivalence_is_replayed_from_its_document_alone():
    verdict = ft.check(
        structure(Same("fsl", dict(gamma=0.25), "fedavg", {}, shared=("eta_l", "eta_g", "K"))),
        budget=2,
    )
    found = shown(verdict.certificate)
    assert found["status"] == "violated" and found["about"] == OWN and "floats" in found["rests_on"]
    said = verdict.certificate["equivalence"]
    for change in (
        dict(one="os.system"),
        dict(fixed=dict(gamma=0.0, nothing=1)),
        dict(fixed=dict(gamma=float(10**300))),
        dict(shared=["seed"]),
        dict(one="fedavg", other="fedavg", fixed={}),
    ):
        with pytest.raises(Refused):
            shown(sealed(dict(verdict.certificate, equivalence={**said, **change})))


def test_what_a_users_function_computes_stands_in_no_document():
    verdict = ft.check(structure(printed=dict(one=1), compute=lambda: dict(one=2)), budget=1)
    assert (
        verdict.status == "violated"
        and verdict.certificate is None
        and "function of yours" in verdict.notes[0]
    )


def in_fractions(problem, x, rounds, eta_l, eta_g):
    """FedAvg of one local step on one-dimensional quadratics with equal weights, without
    rounding."""
    A, b = (
        [Fraction(float(v)) for v in rows[1:].ravel()] for rows in (problem.data.A, problem.data.b)
    )
    path = [Fraction(float(x[0]))]
    for _ in range(rounds):
        pull = sum(a * (path[-1] - at) for a, at in zip(A, b)) / len(A)
        path.append(path[-1] - Fraction(eta_l) * Fraction(eta_g) * pull)
    return [[float(point)] for point in path]


@pytest.mark.parametrize(
    "A, b, x, rounds",
    [
        (
            "1",
            ["10000000000000", "-10000000000001", "1"],
            "1/7",
            3,
        ),  # pulls that cancel, in numbers of 10^13
        ("8", ["1/3", "1/5", "1/7"], "71/315", 40),  # an optimum from which steps run away
    ],
)
def test_rounding_is_no_difference(A, b, x, rounds):
    same = Same("fedavg", dict(weighting="plain", K=1), in_fractions, {}, shared=("eta_l", "eta_g"))
    instance = dict(
        A=[[A]] * 4,
        b=[["0"], *([v] for v in b)],
        weights=["1/3"] * 3,
        sigma="0",
        x=[x],
        S=3,
        rounds=rounds,
        seed=1,
        hyper={"eta_l": "1", "eta_g": "1"},
    )
    _, paths = decided.path_difference(same, instance)
    assert abs(paths[0] - paths[1]).max() > 1e-6 * max(
        1, abs(paths[1]).max()
    )  # what a path's own size makes of it
    assert not decided.is_apart(same, instance)


# Every format at the command line


def test_worst_cases_replay_at_the_command_line(tmp_path, capsys):
    """Half a step of size 1 / L on |x| <= 1: gradient descent's worst loss after t steps is L / (4
    t + 2)."""
    pytest.importorskip("clarabel")
    from fedtheory.proofs.worstcase import program

    document = program.worst_case(program.gradient_descent(1), rounds=2).certificate
    path = tmp_path / "worst.json"
    path.write_text(json.dumps(document))
    assert cli.main(["replay", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (
        found["status"] == "proved"
        and found["about"] == OWN
        and abs(Fraction(found["bound"]) - Fraction(1, 10)) < 1e-9
    )
    path.write_text(json.dumps(dict(document, claim="fsl.theorem1")))
    assert cli.main(["replay", str(path)]) == 1 and "is refused" in capsys.readouterr().out


def test_no_control_character_reaches_a_terminal(tmp_path, capsys):
    table = Table("mine")
    a, b = table.positive("a", "a", "a number"), table.positive("b", "b", "another")
    verdict = ft.check(
        Claim(id="mine.wrong", cites="none", symbols=table, measures=a, bound=b), budget=1
    )
    document = copy.deepcopy(verdict.certificate)
    document["claim"] = "fsl.theorem1\x1b[2K\x9b31m\u202e"
    document["statement"]["says"] = "a \x1b]0;owned\x07 <= b\r\n\x7f" + "x" * 50
    path = tmp_path / "mine.json"
    for text in (
        sealed(document),
        dict(document, format="\x1b[31m"),
        sealed(dict(document, setting="\x9b2J")),
    ):
        path.write_text(json.dumps(text))
        cli.main(["replay", str(path)])
        out, err = capsys.readouterr()
        assert all(c.isprintable() or c == "\n" for c in out + err) and out + err
