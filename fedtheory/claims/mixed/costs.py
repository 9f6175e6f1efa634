"""Mixed FL, appendix C.3: what the movie recommender's clients compute and send (tables 3 and
12)."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedtheory.claim import Claim
from fedtheory.language.statements import Related, Rounded
from fedtheory.symbols.mixed import (
    TABLE,
    K,
    comm_base,
    comm_gt,
    comm_pt,
    comp_base,
    comp_mixed,
    dim,
    local_movies,
    movies,
)

BYTES, KB, MFLOP = (
    4,
    1024,
    10**6,
)  # floats of 32 bits, and kilobytes of 1024 bytes: no solution has 1000


def on_client(B_i: Any, d: Any) -> Any:
    """Return the number of operations of a client's step without the regulariser: forward, hinge
    loss, backward (C.3)."""
    return B_i * d + 3 * B_i * d**2 + 3 * B_i**2 * d + 2 * B_i


def with_regulariser(N: Any, d: Any, B_i: Any) -> Any:
    """Return the number of operations of a client's step with the spreadout regulariser on the
    device, 0.5 N^2 d, and its gradient, N d."""
    return on_client(B_i, d) + N * N * d * Fraction(1, 2) + N * d


def kilobytes(numbers: Any, unit: Any = KB) -> Any:
    return BYTES * numbers * Fraction(1) / unit


def reads(value: Any, printed: str) -> Any:
    """Tell whether a value, rounded to as many digits as the text prints, is the printed number."""
    digits = len(printed.partition(".")[2])
    return abs(value - Fraction(printed)) <= Fraction(1, 2 * 10**digits)


def solutions(
    units: Any = (1000, 1024),
    largest_movies: int = 8000,
    largest_dim: int = 256,
    largest_batch: int = 256,
) -> Any:
    """Return all (unit, N, d, B_i) for which table 3's baseline and mixed rows have the printed
    values."""
    found = []
    for d in range(1, largest_dim + 1):
        batches = [
            b for b in range(1, largest_batch + 1) if 24_500 <= on_client(b, d) <= 25_500
        ]  # 0.025 MFLOP
        for unit in units:
            near, reach = 494 * unit // (2 * BYTES * d), 2 + unit // (2 * BYTES * d)
            for N in range(max(1, near - reach), min(largest_movies, near + reach) + 1):
                if reads(kilobytes(2 * N * d, unit), "494"):
                    found += [
                        (unit, N, d, b)
                        for b in batches
                        if reads(with_regulariser(N, d, b) / MFLOP, "125.16")
                    ]
    return found


def local_sizes(unit: int, d: int, largest: int = 4000) -> Any:
    """Return all n for which 2 n d and 3 n d numbers are the printed 20 KB and 30 KB."""
    return [
        n
        for n in range(1, largest + 1)
        if reads(kilobytes(2 * n * d, unit), "20") and reads(kilobytes(3 * n * d, unit), "30")
    ]


# Table 10 has K = 10 steps, and batches of the 16 that is found; MovieLens 1M has 3952 movies and
# caches of 160.
STEPS, CACHE, MOVIES = 10, 160, 3952
# The one vocabulary, width and batch that give the baseline's and the mixed numbers: `solutions()`.
GIVEN = dict(unit=KB, N=3954, d=16, B_i=16, n=CACHE, K=STEPS, movies=MOVIES)
RANGES = dict(unit=[[1000, 1000], [1024, 1024]], N=[[1, 8000]], d=[[1, 256]], B_i=[[1, 256]])
FIXING = ("comm. baseline, KB", "comp. baseline, MFLOP", "comp. mixed, MFLOP")


def numbers(given: Mapping[str, int | Any]) -> Any:
    """Return the numbers of table 3 for a vocabulary of N, a width d and batches of B_i."""
    unit, N, d, B_i, n = (given[name] for name in ("unit", "N", "d", "B_i", "n"))
    mixed, base = on_client(B_i, d), with_regulariser(N, d, B_i)
    steps = given["K"] * N * N * d * Fraction(1, 2)
    return {
        "comp. baseline, MFLOP": Rounded(base / MFLOP, 2),
        "comp. mixed, MFLOP": Rounded(mixed * Fraction(1, MFLOP), 3),
        "comm. baseline, KB": Rounded(kilobytes(2 * N * d, unit), 0),
        "comm. PT, KB": Rounded(kilobytes(2 * n * d, unit), 0),
        "comm. GT, KB": Rounded(kilobytes(3 * n * d, unit), 0),
        "computation saved, %": Rounded(100 * (1 - mixed / base), 2),
        "communication saved by GT, %": Rounded(100 * (1 - 3 * n * Fraction(1, 2) / N), 1),
        "baseline of table 12 at K = 10, MFLOP": Rounded(steps / MFLOP, 2),
        "n below B_i K": Related(n, "<", B_i * given["K"]),
        "N is MovieLens 1M's": Related(N, "=", given["movies"]),
    }


COST: dict[str, Any] = dict(kind="structure", symbols=TABLE, figure="mixed_table12")
on_device = K * movies**2 * dim / 2

CLAIMS = (
    Claim(
        id="mixed.table12_comp",
        cites="mixed FL, table 12, computation",
        measures=comp_base,
        relation="==",
        bound=on_device,
        also=(
            (comp_mixed, "==", movies**2 * dim / 2),
            (comp_base - comp_mixed, "==", (K - 1) * movies**2 * dim / 2),
        ),
        weakened=K * movies**2 * dim,  # "instead of N^2 d": half the products suffice
        meaning="A regulariser computed once a round at the server, not at each of a client's K steps.",
        note="The text: The regulariser costs (K N^2 d)/2 operations on the device and (N^2 d)/2 at the server. "
        "Half of the N^2 inner products suffice because they are symmetric. The savings of 99.98 % and table 3's "
        "125.16 MFLOP are of one step: they have no K.",
        **COST,
    ),
    Claim(
        id="mixed.table12_comm",
        cites="mixed FL, table 12, communication",
        measures=comm_base,
        relation="==",
        bound=2 * movies * dim,
        also=((comm_pt, "==", 2 * local_movies * dim), (comm_gt, "==", 3 * local_movies * dim)),
        weakened=4 * movies * dim,  # M = (N + N) d both ways: the two towers share one table
        meaning="Clients get and return embeddings of their own movies; gradient transfer sends gradients as well.",
        note="The text: Clients exchange 2 N d numbers (baseline), 2 n d (PT), 3 n d (1-W and 2-W GT). "
        "The model is said to have M = (N + N) d parameters, whose exchange would be 4 N d; the table is shared, "
        "and 494 KB are 2 N d.",
        **COST,
    ),
    Claim(
        id="mixed.table3_numbers",
        cites="mixed FL, table 3 and appendix C.3",
        kind="structure",
        symbols=TABLE,
        figure="mixed_table3",
        says="494, 20 and 30 KB; 125.16 and 0.025 MFLOP; 99.98 % and 93.9 % saved.",
        printed={
            "comp. baseline, MFLOP": "125.16",
            "comp. mixed, MFLOP": "0.025",
            "comm. baseline, KB": "494",
            "comm. PT, KB": "20",
            "comm. GT, KB": "30",
            "computation saved, %": "99.98",
            "communication saved by GT, %": "93.9",
            "baseline of table 12 at K = 10, MFLOP": "125.16",
            "n below B_i K": True,
            "N is MovieLens 1M's": True,
        },
        compute=numbers,
        given=GIVEN,
        ranges=RANGES,
        fixing=FIXING,
        meaning="Table 3 follows from one vocabulary, width and batch, counted for a single step.",
        note="Up to 8000 movies, only N = 3954, d = 16 and B_i = 16 (as in table 10), with floats of 4 bytes and "
        "kilobytes of 1024, give all of them: MovieLens 1M's 3952 movies and two more. n may be 158 to 162; the "
        "average cache of 160 is B_i K itself, which C.3 calls larger. The baseline is C.3's cost of one step, "
        "0.5 N^2 d + N d and the client's own; table 12's K = 10 steps would be ten times that.",
    ),
)
