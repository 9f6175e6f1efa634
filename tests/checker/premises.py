"""Steps of proofs, drawn at random, whose premises are about something else: a letter that another
table defines differently, another method, one round only, another constant. No such step may be
called proved; the variant of the step whose premise is about the same thing is proved."""

from dataclasses import replace
from random import Random
from typing import NamedTuple

from sympy import Eq, Rational

from fedtheory import discover
from fedtheory.language.claim import Claim
from fedtheory.language.conditions import Assumption, Condition
from fedtheory.language.symbol import POINT, SQ_POINT, Table
from fedtheory.symbols import flex, fsl, mixed, run


class Step(NamedTuple):
    """A claim with its premises, and whether the claim follows from them."""

    claim: Claim
    follows: bool


def state(name, table, left, sign, right, *assumes, **more):
    """Build a claim of one line in a table."""
    return Claim(
        id=f"mine.{name}",
        cites=f"mine, ({name})",
        symbols=table,
        measures=left,
        relation=sign,
        bound=right,
        assumes=assumes,
        **more,
    )


def lead(premise, claim, *more):
    """Return a claim that is said to follow from a premise."""
    return claim.replace(follows=(premise, *more))


def numbers(paper, *rules):
    """Build a table of numbers: a count n, and real numbers x and y; `rules` are functions of n
    that give the table's rules."""
    table = Table(paper)
    n = table.count("n", "n", "a count")
    table.real("x", "x", "a number")
    table.real("y", "y", "a number")
    table.rule(*(rule(n) for rule in rules))
    return table, n


def other_rules(random, same):
    """Build a step: a rule of the premise's table bounds a letter that the claim's table leaves
    free."""
    most = random.randint(3, 5000)
    paper = random.choice(["mine", "fsl", "house"])
    ruled, n = numbers(paper, lambda n: n <= most)
    free, _ = numbers(paper)
    premise = state("premise", ruled, n, "<=", most + random.randint(0, 3))
    return lead(premise, state("line", ruled if same else free, n, "<=", most + 3))


def rules_in_words(random, same):
    """Build a step: the premise has a hypothesis whose place in the text is the phrase that is used
    for rules."""
    most = random.randint(3, 5000)
    table, n = numbers("mine")
    assumed = Assumption(n <= most, "by meaning", stated=random.random() < 0.5)
    premise = state("premise", table, n, "<=", most + random.randint(0, 3), assumed)
    return lead(premise, state("line", table, n, "<=", most + 3, *[n <= most] * same))


def rules_of_letters_that_are_not_named(random, same):
    """Build a step that needs a rule about a letter that the claim does not name: n <= m and m <=
    most."""
    most = random.randint(3, 5000)
    table, n = numbers("mine")
    m = table.count("m", "m", "another count")
    table.rule(m <= most, n <= m)
    premise = state("premise", table, n, "<=", 2 * m)
    return lead(premise, state("line", table, n, "<=", 2 * most, *[m <= most, n <= m] * same))


def other_definitions(random, same):
    """Build a step: the premise's table defines a letter differently, so that letting the last
    definition win would prove a false step."""
    part, more = random.randint(2, 5000), random.randint(1, 500)

    def table(definition):
        made, n = numbers("mine")
        q = made.define("q", "q", "what is defined", definition(n))
        return made, n, q

    small, n, q = table(lambda n: n / part)
    large, *_ = table(lambda n: n)
    premise = state("premise", small if same else large, n, "<=", part * q if same else q + more)
    return lead(premise, state("line", small, n, "<=", part * q if same else q + more))


def other_measures(random, same):
    """Build a step: the premise's table measures another metric, round or mean by the same letter."""
    most = random.randint(1, 9)
    one, other = random.sample(
        [("sq_x",), ("sq_y",), ("sq_xy",), ("sq_x", "0"), ("sq_x", "T"), ("sq_x", "t", "E")], 2
    )

    def table(measured):
        made, n = numbers("mine")
        q = made.measured("q", "q", "what is measured", SQ_POINT, *measured, domain="nonnegative")
        return made, n, q

    mine, n, q = table(one)
    theirs, *_ = table(one if same else other)
    made = lambda name, table, most: state(name, table, q, "<=", most * n, algorithm="fedsgd")
    return lead(made("premise", theirs, most), made("line", mine, most + random.randint(0, 2)))


def other_readings(random, same):
    """Build a step: in the premise's table a letter stands for another constant of a problem,
    number of a method or count."""
    kind = random.choice(["constants", "run", "paced", "unit", "own"])
    most = random.randint(2, 99)

    def table(other):
        said = dict(
            constants=dict(constants=dict(z="sigma" if other else "L")),
            run=dict(run=dict(z="K" if other else "S")),
            paced=dict(paced=("z",) * other),
        ).get(kind, {})
        made = Table("mine", **said)
        if kind == "own":
            read = (lambda problem: problem.N) if other else _dimension
            made.constant("z", "z", "a constant", POINT, read, domain="positive")
        else:
            made.positive("z", "z", "a constant", POINT if kind == "unit" and other else (0, 0))
        return made

    mine, theirs = table(False), table(not same)
    z = mine["z"].symbol
    premise = state("premise", theirs, z, "<=", most)
    return lead(premise, state("line", mine, z, "<=", most + random.randint(0, 2)))


def _dimension(problem):
    return problem.d


def other_schemes(random, same):
    """Build a step: the bound on the largest coefficient of one participation scheme is used for
    another scheme."""
    bounds = dict(A=flex.N, B=1, C=flex.E)
    mine, theirs = random.sample(sorted(bounds), 2)
    premise = discover.claim(f"flex.scheme_{mine if same else theirs}_bounded")
    claim = discover.claim(f"flex.scheme_{mine}_bounded")
    scale = Rational(random.randint(1, 9), random.randint(1, 3))
    return lead(
        premise,
        claim.replace(
            "mine.line",
            measures=scale * flex.ratio_sup,
            bound=scale * premise.bound,
            assumptions=premise.assumptions,
        ),
    )


def other_methods(random, same):
    """Build a step: a claim about one method is used for another method, or for all methods where
    the line names none."""
    methods = ["fedavg", "fedsgd", "scaffold", "fedprox", "feddyn"]
    mine, theirs = random.sample(methods, 2)
    at = random.choice(["sq_grad_T", "gap_T", "sq_distance_T", "cohort_error", "sq_grad", "loss_T"])
    left = run.TABLE[at].symbol
    bound = random.randint(1, 9) * run.R**2
    made = lambda name, method: state(name, run.TABLE, left, "<=", bound, algorithm=method)
    several = random.choice([mine, mine, (mine, theirs)])
    premise = made("premise", several if same else theirs)
    asked = random.choice([mine, (mine, theirs), None]) if at not in _FREE else mine
    return lead(premise, made("line", mine if same else asked))


_FREE = ("cohort_error", "sq_grad")  # quantities that are measured without a run


def other_records(random, same):
    """Build a step whose claims are about two different methods with the same name."""
    record = discover.algorithm(random.choice(["fedavg", "fedsgd", "scaffold"]))
    bound = random.randint(1, 9) * run.R**2
    made = lambda name, method: state(name, run.TABLE, run.gap_T, "<=", bound, algorithm=method)
    return lead(made("premise", record if same else replace(record)), made("line", record))


def facts_of_other_methods(random, same):
    """Build a step: a textbook's fact about a round of FSL is used for a method that has no such
    round."""
    line = random.choice(["step18", "step19", "step20", "step21", "step22", "step25", "step_move"])
    claim = discover.claim(f"fsl.{line}")
    method = random.choice(["fedavg", "fedsgd", "dsl", "fsl_parallel", ("fsl", "fedavg")])
    named = {
        at: [one for one in some if str(one).startswith("textbook.")]
        for at, some in claim.follows.items()
    }
    at = random.choice([at for at, some in named.items() if some])
    claim = claim.replace("mine.line", follows={at: claim.follows[at]})
    return claim if same else claim.replace(algorithm=method)


def facts_in_other_letters(random, same):
    """Build a step in a table that has FSL's name, but in which one of FSL's letters differs."""
    claim = discover.claim("fsl.lemma3")
    entry = fsl.TABLE[random.choice(["drift_grad_0", "E_0", "K_0", "L"])]
    other = [dict(meaning="something else"), dict(unit=(3, 3))]
    if entry.measure is not None:
        other.append(dict(measure=entry.measure._replace(metric="another")))
        other.append(dict(measure=entry.measure._replace(at="T")))
    table = fsl.TABLE.extended([entry._replace(**({} if same else random.choice(other)))])
    at = {1: claim.follows[1]}
    return claim.replace("mine.line", symbols=table, also=(), follows=at)


def start_alone(random, same):
    """Build a step: an assumption about the start of one round is used for the mean over rounds."""
    least = Rational(random.randint(1, 20), random.randint(1, 5))
    if random.random() < 0.5:
        table, method, at, over = fsl.TABLE, "fsl", fsl.sq_tilde_grad, fsl.mean_sq_tilde_grad
    else:
        method = random.choice(["parallel_training", "one_way_gt"])
        table, at, over = (
            mixed.TABLE,
            *random.choice([(mixed.gap, mixed.mean_gap), (mixed.sq_grad, mixed.mean_sq_grad)]),
        )
    sign = random.choice(["<=", ">="])
    assumed = at <= least if sign == "<=" else at >= least
    given = [] if same else [assumed]
    made = lambda name, left: state(name, table, left, sign, least, *given, algorithm=method)
    return lead(made("premise", at), made("line", over), "textbook.rounds")


def first_round(random, same):
    """Build a step: a condition that the first round meets is used for the mean over rounds."""
    from fedtheory.claims.mixed import _assumptions as stated

    least = Rational(random.randint(1, 20), random.randint(1, 5))
    at, over = random.choice([(mixed.gap, mixed.mean_gap), (mixed.sq_grad, mixed.mean_sq_grad)])
    own = Condition(
        "near",
        "the start is near",
        None,
        on=lambda problem: bool(problem.sq_grad(problem.x_0) <= 1),
    )
    kept = random.choice([stated.PLAIN_SGD, stated.NOISY, stated.EQUAL_WORK])
    condition = kept if same else random.choice([stated.TRUE_TRANSFER, own])
    method = "parallel_training" if same else random.choice(["two_way_gt", "parallel_training"])
    made = lambda name, left: state(
        name, mixed.TABLE, left, "<=", least, condition, algorithm=method
    )
    return lead(made("premise", at), made("line", over), "textbook.rounds")


def rounds_with_memory(random, same):
    """Build a step: a bound on one round is used for the mean over rounds of a method whose rounds
    start from the memory of the previous round, or of a method that the line is not about."""
    least = Rational(random.randint(1, 20), random.randint(1, 5))
    at, over = random.choice([(mixed.gap, mixed.mean_gap), (mixed.sq_grad, mixed.mean_sq_grad)])
    method = "one_way_gt" if same else "two_way_gt"
    made = lambda name, left: state(name, mixed.TABLE, left, "<=", least, algorithm=method)
    return lead(made("premise", at), made("line", over), "textbook.rounds")


def constants_of_the_start(random, same):
    """Build a step about one round with a letter for a constant that a user's function computes
    from the start."""
    table = fsl.TABLE.extended([])
    R = table.constant(
        "R_own", "R", "of the start", SQ_POINT, lambda problem: problem.sq_grad(problem.x_0)
    )
    bound = random.randint(1, 9) * (fsl.G**2 if same else R)
    made = lambda name, left: state(name, table, left, "<=", bound, algorithm="fsl")
    return lead(
        made("premise", fsl.sq_tilde_grad), made("line", fsl.mean_sq_tilde_grad), "textbook.rounds"
    )


def letters_of_a_textbook(random, same):
    """Build a step with letters of a user that have the names of letters that textbooks use within
    a proof."""
    table = fsl.TABLE.extended([])
    names = ("mine_next", "mine_t") if same else ("mean_tilde_F_next", "mean_tilde_F_t")
    then, now = (table.real(name, "m", "any number") for name in names)
    left, right = fsl.tilde_F_T - fsl.tilde_F_0, fsl.T * (then - now) + random.randint(0, 5)
    claim = state("line", table, left, "<=", right, algorithm="fsl")
    if same:
        return lead(claim.replace("mine.premise"), claim)
    return claim.replace(follows=("textbook.rounds",))


def some_constants(random, same):
    """Build a step from two lines "for some c", each with its own c."""
    table, _ = numbers("mine")
    x, y = table["x"].symbol, table["y"].symbol
    c = table.some("c", "c", "a constant")
    more = random.randint(0, 5)
    below, above = random.choice([(c, c), (2 * c, 3 * c), (c + more, c + more)])
    first = state("below", table, x, "<=", below)
    second = state("above", table, above, "<=", y)
    if same:  # in one claim the constant c is the same
        both = first.replace("mine.both", also=((above, "<=", y),))
        return lead(both, state("line", table, x, "<=", y + 0 * c))
    if random.random() < 0.5:
        return state("line", table, x, "<=", y, follows=(first, second))
    return state("line", table, x, "<=", below, Eq(c, more), follows=(first,))


def constants_of_several_lines(random, same):
    """Build a step to a claim "for some c" whose lines take c from two premises, or that restricts
    c further."""
    table, _ = numbers("mine")
    x, y = table["x"].symbol, table["y"].symbol
    c = table.some("c", "c", "a constant")
    most = random.randint(1, 9)
    first, second = state("below", table, x, "<=", c), state("above", table, c, "<=", y)
    if same:
        return lead(first, state("line", table, x, "<=", most + c))
    if random.random() < 0.5:
        return state("line", table, x, "<=", c + most, c <= most, follows=(first,))
    return state(
        "line", table, x, "<=", c, also=((c, "<=", y),), follows={1: (first,), 2: (second,)}
    )


def other_weights(random, same):
    """Build a step in a table in which the server's weight is w, and gamma is something else: the
    meaning of gamma must be read from the table."""
    table = Table("mine", run=dict(w="gamma") if same else random.choice([dict(w="gamma"), {}]))
    w = table.nonnegative("w", "w", "weight of the server's loss")
    gamma = table.nonnegative("gamma", r"\gamma", "something else")
    measured = {
        name: table.measured(name, name, name, (-2, 2), metric, domain=domain)
        for name, metric, domain in (
            ("tg", "sq_tilde_grad_norm", "nonnegative"),
            ("g", "sq_grad_norm", "nonnegative"),
            ("g_0", "sq_server_grad_norm", "nonnegative"),
            ("both", "grad_inner", "real"),
        )
    }
    tg, g, g_0, both = measured.values()
    of = w if same else gamma
    scale = random.randint(1, 9)
    return state(
        "line",
        table,
        scale * tg * (1 + of) ** 2,
        "<=",
        scale * (g + 2 * of * both + of**2 * g_0),
        algorithm="fsl",
    )


KINDS = {
    make.__name__: make
    for make in (
        other_rules,
        rules_in_words,
        rules_of_letters_that_are_not_named,
        other_definitions,
        other_measures,
        other_readings,
        other_schemes,
        other_methods,
        other_records,
        facts_of_other_methods,
        facts_in_other_letters,
        start_alone,
        first_round,
        rounds_with_memory,
        constants_of_the_start,
        letters_of_a_textbook,
        some_constants,
        constants_of_several_lines,
        other_weights,
    )
}


def draw(kind, seed):
    """Return the Step of a kind for a seed: a false step for even seeds, the true variant of that
    step for odd seeds."""
    random = Random(f"{kind}/{seed // 2}")
    return Step(KINDS[kind](random, bool(seed % 2)), bool(seed % 2))


def objection(step, verdict):
    """Return why a Verdict on a Step is wrong; "" where the verdict is right."""
    if verdict.rests_on is None:  # without named premises only algebra decides
        found = {verdict.status}
    else:
        roots = verdict.rests_on.roots
        found = {edge.status for edge in verdict.rests_on.edges if edge.line in roots}
    if step.follows:
        return "" if found == {"proved"} else f"it follows: {step.claim}"
    return f"it does not follow: {step.claim}" if "proved" in found else ""
