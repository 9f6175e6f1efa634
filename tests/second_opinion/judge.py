"""The second opinion on any document: a counterexample, a family of them, cells or an equivalence,
a proof."""

from tests.second_opinion import flex, instances, lamb, lines, mixed, proofs, structures
from tests.second_opinion.opinion import Refused, counterexample, number, require

CLAIMS = {**flex.CLAIMS, **lamb.CLAIMS, **mixed.CLAIMS}
# Conditions that only proofs use: a statement as it is printed has none of them.
UNSAID = dict(
    flex={"independent_noise", "work_independent"},
    lamb={"layers_apart", "bounded_below", "plain_moments", "everyone", "independent_noise"},
)
PRINTED = "!printed"
# Statements that differ in nothing else as they are printed.
AS_PRINTED = (
    "flex.corollary4_0_3_loss",
    "lamb.step_17_becomes",
    "lamb.step_A1",
    "lamb.step_B1",
    "lamb.step_B2",
    "lamb.step_average",
    "lamb.step_g_bar",
    "lamb.step_inner",
    "lamb.step_momentum",
)
for name in AS_PRINTED:
    unsaid = UNSAID[name.partition(".")[0]]
    CLAIMS[name + PRINTED] = CLAIMS[name]._replace(conditions=CLAIMS[name].conditions - unsaid)
TYPED = {*CLAIMS, *structures.TABLES, "mixed.K1_equivalence"}
WORLDS = {**flex.WORLDS, **lamb.WORLDS, **mixed.WORLDS}
DOMAINS = {"flex": flex.DOMAINS, "lamb": lamb.DOMAINS, "mixed": mixed.DOMAINS}
# What an order's shape mentions, and so may move along a family; all else its constant may depend
# on.
SHAPES = {"flex.eq9": {"Gamma_l", "tau_0"}}


def judged(document):
    """Refused unless the document is evidence that the claim that it names is false."""
    try:
        if document["format"] == "fedtheory family 1":
            family(document)
        elif document["format"] == "fedtheory structure 1":
            structures.structure(document)
        else:
            domains = DOMAINS[document["claim"].partition(".")[0]]
            counterexample(document, CLAIMS, WORLDS, domains, instances.read)
    except (Refused, RecursionError):
        raise
    except Exception as error:  # malformed, whatever that leads to
        raise Refused(f"malformed: {error!r}") from None


def proved(document, claim, line):
    """Refused unless the document proves that line of the claim, counted from 1."""
    paper = claim.partition(".")[0].removesuffix("s")  # fsls speaks in the letters of fsl
    try:
        proofs.proof(
            document,
            lines.LINES[claim][line - 1],
            {**lines.SQUARES, **lines.DOMAINS[paper]},
            lines.MEANINGS[paper],
        )
    except (Refused, RecursionError):
        raise
    except Exception as error:
        raise Refused(f"malformed: {error!r}") from None


def family(document):
    """Left over shape grows without bound along counterexamples with ever larger constants."""
    members, shape = document["members"], SHAPES.get(document["claim"])
    require(shape is not None and len(members) >= 7, "no family")
    for member in members:
        require(
            member["claim"] == f"{document['claim']}!variant"
            and member["line"] == document["line"] == 0,
            "another claim",
        )  # with a constant in place of the order's
        require(
            member["statement"] == members[0]["statement"]
            and member["instance"] == members[0]["instance"],
            "other lines",
        )
        counterexample(
            dict(member, claim=document["claim"]),
            CLAIMS,
            WORLDS,
            DOMAINS[document["claim"].partition(".")[0]],
            instances.read,
        )
    constants = [number(member["numbers"]["C_order"]) for member in members]
    require(all(b >= 4 * a for a, b in zip(constants, constants[1:])), "the constants do not grow")
    for name in members[0]["numbers"]:
        at = [number(member["numbers"][name]) for member in members]
        if name != "C_order":
            require(name in document["moves"] or len(set(at)) == 1, f"{name} moves")
            require(
                all(a * c == b * b for a, b, c in zip(at, at[1:], at[2:])),
                f"{name} does not move evenly",
            )
    require(
        set(document["moves"]) <= shape
        and all(
            number(members[1]["numbers"][name])
            == number(members[0]["numbers"][name]) * number(factor)
            and number(factor) != 1
            for name, factor in document["moves"].items()
        ),
        "other moves",
    )
