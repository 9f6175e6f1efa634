"""The constants of the exploration of perturbations, each with its unit and its reason."""

from typing import NamedTuple

import sympy


class ExplorationParameters(NamedTuple):
    """How the budget of `mutate`, `sharpen` and `minimise` is split, and how long each step
    lasts. A unit of work is PER_SECOND elementary steps."""

    # Pool of instances. Both are shares of the whole budget: every perturbation is evaluated on
    # instances of all shapes, and on instances at which the statement itself is tight.
    shapes_share: float = 0.25
    tight_share: float = 0.1
    populations: int = 400  # populations in one block: what evaluates in a fraction of a second
    wrong: float = 1 + 1e-9  # a ratio above which a line seems to fail: rounding reaches less

    # Optimisation from the pool's populations. More starts find what fewer find.
    mutant_starts: int = 4  # populations for a mutant
    number_starts: int = 3  # populations for a number: each is followed by exact tests
    generations: int = 80  # generations per population, at most
    # The optimisation continues as long as the last `patience` generations multiply the ratio by
    # `growth`: on a plateau, an independent search is worth more.
    patience: int = 10
    growth: float = 1.1

    # Counterexamples.
    remembered: int = 40  # documents: each is evaluated exactly at each later perturbation
    known_share: float = 0.2  # share of a perturbation's budget for trying these documents
    looks: int = 3  # exact evaluations at one population: more suspects are alike
    effort: int = 40  # attempts to simplify a counterexample, of which there are many
    # Relative weight of a dropped term or hypothesis, which matters more than a changed constant.
    heavy: int = 4
    # Seconds for a proof that the statement implies a mutant: implied mutants are simple.
    implication_seconds: float = 0.3

    # Values of numbers.
    far: int = 4  # multiple of the printed value: the largest value of a term that lowers a bound
    widest: int = 100  # multiple of a ceiling: the largest ceiling tried
    digits: int = 3  # significant digits of a tested value: short enough to read
    candidates: int = 4  # shapes at which values are tested exactly
    tries: int = 12  # exact tests that may exceed the budget, so that small budgets find something
    overdraft: float = 2.0  # multiple of a part's budget, which these tests may spend
    # Shares of the ratio in floats, tried in turn for the value that an instance refutes exactly.
    ratio_shares: tuple[float, ...] = (1.0, 0.999, 0.99, 0.95, 0.8, 0.5, 0.2)
    margins: int = 8  # points, ever further inside the edges, at which a ceiling is tested
    steps: int = 6  # searches for a refuted ceiling, and proofs, each nearer to the other side
    # Shares of a part's budget after which, in turn, the optimisation of the pool's populations
    # and the search of the part's own shapes end; exact tests take the rest.
    near_share: float = 0.4
    own_share: float = 0.8
    simple_share: float = 0.2  # share of a part's budget for simplifying its counterexample
    look_share: float = 0.3  # share of a part's budget: the limit on one exact evaluation
    set_up: float = 0.1  # units of work before a part's first evaluation
    least: float = 0.03  # units of work: the smallest budget of a part
    # Steps of exact arithmetic that small budgets get: one evaluation and a little simplifying.
    look_steps: int = 40_000
    simple_steps: int = 2_000

    # Proofs with other values. All costs are in units of work.
    proof_limit: float = 0.5  # the limit on a proof by algebra
    proof_cost: float = 0.05  # a proof by algebra that succeeds
    step_cost: float = 2.0  # deciding whether a line follows from others
    program_cost: float = 0.005  # a worst-case program, times the cube of its number of points
    comparison_cost: float = 0.002  # a comparison with the program's bound
    comparisons: int = 20  # comparisons with the program's bound, at most: they are cheap
    proof_share: float = 0.25  # share of a part's budget reserved for proofs
    # Share of the printed number, by which a solver's bound may exceed this number.
    solver_excess: sympy.Rational = sympy.Rational(1, 10**5)

    # Dropped hypotheses. Both are shares of the budget: a first check without each hypothesis, and
    # a second check without each that the first left open. The rest is for dropping several.
    first_share: float = 0.25
    second_share: float = 0.5


PARAMETERS = ExplorationParameters()
