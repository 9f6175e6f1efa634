"""The runs to be made where a claim is given and no run: the method's hyper-parameters from the
given values, the values that hypotheses prescribe, and the method's defaults."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedtheory import arguments
from fedtheory.algorithm import Algorithm, Field
from fedtheory.comparison.case import (
    Letters,
    admissible_rows,
    check_certificates,
    claim_method,
    round_marks,
    round_values,
)
from fedtheory.comparison.letters import choose_hyper, constant_over_rounds, refuse_missing
from fedtheory.comparison.lines import Line
from fedtheory.comparison.usual_participation import cheapest_letters
from fedtheory.comparison.usual_participation import settled_words as settled_words
from fedtheory.errors import InvalidInput, refuse
from fedtheory.participation import Participation
from fedtheory.problem import Problem
from fedtheory.runs.planning import Plan, plan_of, start_of

if TYPE_CHECKING:
    from fedtheory.language.claim import Claim


def split_settings(
    claim: "Claim", algorithm: Algorithm, settings: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, float]]:
    """Return (hyper-parameters, letters) among the settings."""
    hyper = {name: value for name, value in settings.items() if name in algorithm.hyper}
    rest = {name: value for name, value in settings.items() if name not in hyper}
    for name in rest:
        if name not in claim.parameters and name not in claim.quantities:
            refuse(
                "compare",
                f"takes the hyper-parameters of {algorithm.name} ({', '.join(algorithm.hyper)}) and "
                f"the letters of {claim.title} ({', '.join(claim.parameters)})",
                name,
            )
        arguments.check_real(name, rest[name], low=-arguments.LARGEST)
    return hyper, rest


def letters_of(
    line: Line,
    problem: Problem,
    S: int | None,
    participation: Participation,
    algorithm: Algorithm,
    hyper: Mapping[str, Any],
    rest: Mapping[str, float],
    x_0: np.ndarray,
    idle: int = 0,
) -> Letters:
    """Return the claim's letters; a schedule counts by its last value, except for letters that
    stand for the value in one round."""
    table = line.claim.table
    own = {
        letter: np.ravel(hyper[name])[-1].item()
        for letter, name in choose_hyper(table, algorithm).items()
        if name in hyper and np.size(hyper[name]) and letter not in table.paced
    }
    own.update(word_letters(line.claim, algorithm, hyper))
    S = problem.N if S is None else S
    return Letters(line, problem, S, participation, algorithm, {**own, **rest}, x_0, idle)


def word_places(field: Field) -> Any:
    """Return the words of a choice in the order in which letters count them from 1: the listed
    order, but roman numerals by their value."""
    return sorted(field.choices) if {*field.choices} <= {"I", "II"} else field.choices


def word_letters(claim: "Claim", algorithm: Algorithm, hyper: Mapping[str, Any]) -> dict[str, Any]:
    """Return {letter: place from 1} of the given words that a claim has letters for."""
    found = {}
    for name, field in algorithm.hyper.items():
        if field.choices and name in claim.parameters and name in hyper:
            word = hyper[name]
            word = word if isinstance(word, str) else field.choices[int(np.ravel(word)[-1])]
            found[name] = word_places(field).index(word) + 1
    return found


def check_rounds(rounds: object) -> np.ndarray:
    """Return the sorted numbers of rounds to compare at."""
    found = np.unique(arguments.check_array("rounds", rounds))
    if not (len(found) and found[0] >= 1 and np.all(found == np.rint(found))):
        refuse("rounds", "must be whole numbers from 1 on", rounds)
    return found.astype(int)


class Request(NamedTuple):
    """A run to be made for a line of a claim, and the numbers of rounds to compare at; None stands
    for all of the run's."""

    line: Line
    problem: Problem
    plan: Plan
    x_0: np.ndarray
    letters: Letters
    T: np.ndarray | None


def plan_requests(
    line: Line,
    problem: Problem,
    rounds: int,
    x_0: Any,
    asked: dict[str, Any],
    settings: dict[str, Any],
    T: np.ndarray | None = None,
) -> list[Request]:
    """Return the runs to make: a single run, or a run for each T where the steps depend on T.

    `rounds` is the largest number of rounds, `T` the numbers to compare at (None for all up to
    `rounds`), `asked` the arguments of `ft.run` that are passed on, and `settings` hyper-parameters
    and letters together. A hyper-parameter that is not given takes the value of its letter: from an
    equation, a default, or the end of its range. If its value depends on T and does not follow the
    rounds, the step size belongs to a horizon, and a run at T says nothing about another T. A claim
    whose method needs gradients at x^(0) first gets one round with step size 0.
    """
    claim, algorithm = line.claim, claim_method(line.claim)
    hyper, rest = split_settings(
        claim, algorithm, {**settled_words(claim, problem, algorithm.hyper), **settings}
    )
    for name, value in hyper.items():
        if not algorithm.hyper[name].choices:
            algorithm.hyper[name].check(name, value)
    start = start_of(problem, x_0, asked["trials"])
    start = start if np.ndim(x_0) == 2 else start[0]
    S, participation = asked["S"], asked["participation"]
    if not isinstance(participation, Participation):
        refuse(
            "participation",
            "must be a Participation (fedtheory.participation), or None",
            participation,
        )
    participation.check(problem.N, problem.N if S is None else S)
    idle = int(
        any(a.name == "gradients_first" for a in claim.assumptions)
        and not any(np.ndim(value) for value in hyper.values())
    )
    letters = letters_of(line, problem, S, participation, algorithm, hyper, rest, start, idle)
    best = cheapest_letters(letters, rounds)
    if best:
        hyper, rest = split_settings(claim, algorithm, {**hyper, **rest, **best})
        letters = letters_of(line, problem, S, participation, algorithm, hyper, rest, start, idle)
    known, by_rounds = letters.at(rounds)
    paced = [name for name in claim.table.paced if name in by_rounds and name in letters.hyper]
    horizon = [
        letter
        for letter in letters.hyper
        if letter in by_rounds and letter not in paced and letters.hyper[letter] not in hyper
    ]
    ends = (
        [rounds]
        if not horizon
        else [t for t in (round_marks(rounds) if T is None else T) if _admits_rounds(letters, t)]
        or [rounds]
    )
    found = []
    for end in map(int, ends):
        known = letters.at(end)[0]
        mine = dict(hyper)
        for letter, name in letters.hyper.items():
            if name not in mine and letter in known:
                mine[name] = known[letter]
            if letter in paced and name not in hyper:
                mine[name] = round_values(letters, letter, end)
        for name, field in algorithm.hyper.items():
            if field.choices and name not in mine and name in claim.parameters and name in known:
                place = known[name]  # the word that a hypothesis requires
                if place in range(1, len(field.choices) + 1):
                    mine[name] = word_places(field)[int(place) - 1]
            if field.default is None and name not in mine and name in claim.table:
                check_certificates(claim, problem)
                refuse_missing(claim, name)
        if idle:
            mine.update(
                {n: np.append(0.0, np.full(end, mine[n])) for n in ("eta", "eta_c") if n in mine}
            )
        plan = plan_of(
            problem, algorithm, rounds=end + idle, keep="metrics", names=(), given=mine, **asked
        )
        still, h = constant_over_rounds(claim, plan)
        there = letters_of(
            line, problem, S, participation, algorithm, h._asdict(), rest, start, still
        )
        there.chosen = best
        found.append(Request(line, problem, plan, start, there, np.array([end]) if horizon else T))
    return found


def _admits_rounds(letters: Letters, T: int) -> bool:
    """Tell whether all hypotheses between numbers hold at T rounds."""
    try:
        return bool(admissible_rows(letters, [T], letters.over([T])).all())
    except InvalidInput:
        return False
