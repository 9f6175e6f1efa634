"""Hostile methods: each breaks one property that a worst case, a closed form or a map of moments
might assume of a method.

The record `METHOD` has a hyper-parameter `trait` that selects its behaviour; `a` is the strength of
that trait. `METHODS` are records with one trait each, under names of their own. `ACCEPTED` are the
traits with which a method is still a recursion of whole vectors, so that a worst case may be proved
for it.
"""

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import NamedTuple

import numpy as np

import fedtheory as ft
from fedtheory.algorithm import Algorithm, Field, nonnegative
from fedtheory.errors import FedtheoryError
from fedtheory.jit import jit
from fedtheory.proofs.worstcase import methods, program

TRAITS = (
    "plain",  # a gradient step of every client, and their mean
    "gossip",  # each coordinate is averaged with its mirror image
    "neighbour",  # a step along the next coordinate's gradient
    "first",  # reads coordinate 0 alone
    "sum",  # the sum of all coordinates is added to each
    "client 2",  # the second client takes other steps
    "first of the cohort",  # the first client of a cohort counts more
    "sign",  # steps along signs
    "norm",  # divides by a norm
    "clip",  # each coordinate's gradient is clipped at 10 a
    "top",  # only the largest coordinate moves
    "zero",  # stops where a gradient is zero
    "truth",  # the same, by testing the truth value of a number
    "square",  # a gradient is multiplied by itself
    "parity",  # other steps in odd rounds
    "clock",  # other steps from the fourth round on, by the method's own counter
    "forgets",  # momentum that vanishes after three rounds
    "bias",  # a constant is added to every gradient
    "origin",  # clients begin at 0
    "pulled",  # moves a fraction of the way back to x_0
    "size",  # steps are divided by the number of coordinates
    "odd",  # odd coordinates take other steps
    "layers",  # later layers take other steps
    "positive",  # the point is projected to the nonnegative numbers
    "crowd",  # other steps where a cohort has one client
    "draws",  # steps by pseudo-random numbers
    "pair",  # clients 1 and 3 know when both take part
    "visits",  # a client's steps become shorter with each round in which it takes part
    "writes",  # clients write into the state, which others read
)
ACCEPTED = frozenset(
    {
        "plain",
        "client 2",
        "parity",
        "clock",
        "forgets",
        "pulled",
        "crowd",
        "draws",
        "pair",
        "visits",
    }
)
GOSSIP, NEIGHBOUR, FIRST, SUM, CLIENT_2, AHEAD = range(1, 7)
SIGN, NORM, CLIP, TOP, ZERO, TRUTH, SQUARE = range(7, 14)
PARITY, CLOCK, FORGETS, BIAS, ORIGIN, PULLED, SIZE, ODD = range(14, 22)
LAYERS, POSITIVE, CROWD, DRAWS, PAIR, VISITS, WRITES = range(22, 29)


class Hyper(NamedTuple):
    eta: float = nonnegative("step size")
    a: float = nonnegative("how much of its trait", 0.5)
    trait: int = Field("what it does", 0, integer=True, low=0, high=len(TRAITS) - 1)


class State(NamedTuple):
    x: np.ndarray  # (d,) server point
    start: np.ndarray  # (d,) starting point
    moved: np.ndarray  # (d,) momentum
    clock: np.ndarray  # (2,) the round given by the engine, and the method's own count
    places: np.ndarray  # (d,) the layer of each coordinate
    visits: np.ndarray  # (N + 1,) the number of rounds in which a client took part


def init(x_0, N, layers, h):
    places = np.zeros_like(x_0)
    for n in range(len(layers) - 1):
        for j in range(layers[n], layers[n + 1]):
            places[j] = 1.0 * n
    return State(x_0.copy(), x_0.copy(), np.zeros_like(x_0), np.zeros(2), places, np.zeros(N + 1))


@jit
def begin(state, t, g, h):
    state.clock[0] = t
    state.clock[1] += 1.0


@jit
def local_start(state, i, y, g, local, h):
    for j in range(y.size):
        y[j] = 0.0 if h.trait == ORIGIN else state.x[j]


@jit
def size_of_step(state, i, d, h):
    """Return the step size of a client for the traits in which the step does not depend on a
    coordinate."""
    step = h.eta
    if h.trait == CLIENT_2 and i == 2:
        step = h.eta * h.a
    if h.trait == PARITY and state.clock[0] % 2 == 1:
        step = h.eta * h.a
    if h.trait == CLOCK and state.clock[1] > 3:
        step = h.eta * h.a
    if h.trait == SIZE:
        step = h.eta / d
    if h.trait == DRAWS:
        step = h.eta * ((7919 * (state.clock[0] + 3) * (i + 5)) % 13) / 13
    if h.trait == VISITS:
        step = h.eta / (1.0 + state.visits[i])
    return step


@jit
def local_step(state, i, k, y, g, local, h):
    d, trait, z = y.size, h.trait, y.copy()
    step = size_of_step(state, i, d, h)
    total, square, largest = 0.0 * g[0], 0.0, 0.0
    if trait == SUM:
        for j in range(d):
            total += g[j]
    if trait == NORM:
        square = np.linalg.norm(g)
    if trait == TOP:
        for j in range(d):
            largest = max(largest, abs(g[j]))
    for j in range(d):
        along, size = g[j], step
        if trait == NEIGHBOUR:
            along = g[(j + 1) % d]
        elif trait == FIRST:
            along = g[0]
        elif trait == SUM:
            along = g[j] + h.a * (total - g[j])
        elif trait == SIGN:
            along = np.sign(g[j])
        elif trait == NORM:
            along = g[j] / square if square > 0.0 else g[j]
        elif trait == CLIP:
            along = max(-10.0 * h.a, min(10.0 * h.a, g[j]))
        elif trait == TOP:
            along = g[j] if abs(g[j]) == largest else 0.0 * g[j]
        elif trait == ZERO:
            along = g[j] if g[j] == 0.0 else h.a * g[j]
        elif trait == TRUTH:
            along = h.a * g[j] if g[j] else g[j]
        elif trait == SQUARE:
            along = g[j] + h.a * g[j] * g[j]
        elif trait == BIAS:
            along = g[j] + h.a
        elif trait == ODD and j % 2 == 1:
            size = step * h.a
        elif trait == LAYERS:
            size = step * (1.0 + state.places[j])
        y[j] = z[j] - size * along
        if trait == GOSSIP:
            y[j] += h.a / 2 * (z[d - 1 - j] - z[j])
        elif trait == POSITIVE:
            y[j] = max(y[j], 0.0)
        elif trait == WRITES:
            state.x[j] += h.a * (y[j] - state.x[j])


@jit
def aggregate(state, cohort, work, p, y, local, h):
    x, S, there = state.x, cohort.size, 0
    for s in range(S):
        if h.trait == VISITS:
            state.visits[cohort[s]] += 1.0
        if cohort[s] == 1 or cohort[s] == 3:
            there += 1
    for j in range(x.size):
        change = y[0, j] - x[j]
        for s in range(1, S):
            change += y[s, j] - x[j]
        if h.trait == AHEAD:
            change += h.a * (y[0, j] - x[j])
        if h.trait == CROWD and S == 1 or h.trait == PAIR and there == 2:
            change *= h.a
        change /= S
        if h.trait == FORGETS:
            change += h.a * state.moved[j]
            state.moved[j] = 0.0 * change if state.clock[0] % 3 == 2 else change
        x[j] += change
        if h.trait == PULLED:
            x[j] += h.a * (state.start[j] - x[j])


METHOD = Algorithm(
    "hostile",
    "nobody",
    Hyper,
    init,
    local_step,
    aggregate,
    begin=begin,
    local_start=local_start,
    steps=1,
    meaning="a method with a trait that something might not expect",
)


def of_trait(n):
    """Return the method that has only trait n, under a name of its own."""

    class Own(NamedTuple):
        eta: float = nonnegative("step size")
        a: float = nonnegative("how much of its trait", 0.5)
        trait: int = Field("what it does", n, integer=True, low=n, high=n)

    return replace(METHOD, name="hostile_" + TRAITS[n].replace(" ", "_"), Hyper=Own)


METHODS = {trait: of_trait(n) for n, trait in enumerate(TRAITS)}


# Programs of hostile methods: their proved worst cases against their runs

# the number of quadratics in three dimensions on which a method with a proved worst case is run
RUNS = 8


def drawn_program(trait, seed):
    """Draw (method, numbers, clients, rounds) of a question to a worst-case program."""
    random = Random(f"{trait}/{seed}")
    numbers = dict(
        eta=Fraction(random.randint(1, 12), 8),
        a=Fraction(random.randint(1, 7), 8),
        trait=TRAITS.index(trait),
    )
    clients, rounds = random.choice([1, 1, 2]), random.randint(1, 4)
    return methods.kernel_method(METHOD, clients, **numbers), numbers, clients, rounds


def proved_worst(trait, seed):
    """Return the WorstCase that is proved for a drawn program, or the text of the refusal."""
    method, _, clients, rounds = drawn_program(trait, seed)
    optimum = {"sq_dissimilarity": 1} if clients > 1 else None
    try:
        return program.worst_case(method, rounds, optimum=optimum)
    except (FedtheoryError, ModuleNotFoundError) as why:  # without a solver nothing is proved
        return str(why)


def largest_loss(trait, seed):
    """Return the largest loss of simulated runs (floats) that meet the hypotheses of a drawn
    program."""
    _, numbers, clients, rounds = drawn_program(trait, seed)
    generator, largest, d = np.random.default_rng(seed), 0.0, 3
    for _ in range(RUNS):
        turn = np.linalg.qr(generator.standard_normal((clients, d, d)))[0]
        curvatures = generator.choice([0.1, 0.5, 1.0], (clients, d))
        A = np.einsum("nij,nj,nkj->nik", turn, curvatures, turn)
        centres = generator.standard_normal((clients, d))
        x_star = np.linalg.solve(A.sum(axis=0), np.einsum("nij,nj->i", A, centres))
        slopes = np.einsum("nij,nj->ni", A, x_star - centres)
        size = max(1.0, np.mean(np.sum(slopes**2, axis=1)) ** 0.5)
        centres, x_star = centres / size, x_star / size  # scaled so that the spread is at most 1
        away = generator.standard_normal(d)
        x_0 = x_star + away / np.linalg.norm(away)

        def loss(x, A=A, centres=centres):
            return np.mean(np.einsum("ni,nij,nj->n", x - centres, A, x - centres)) / 2

        problem = ft.problems.quadratic_from_arrays(
            A=np.concatenate([A[:1], A]), b=np.concatenate([centres[:1], centres])
        )
        run = ft.run(
            problem,
            METHOD,
            rounds=rounds,
            x_0=x_0,
            keep="x",
            **{name: float(v) if name != "trait" else v for name, v in numbers.items()},
        )
        largest = max(largest, loss(run.x[0, -1]) - loss(x_star))
    return largest
