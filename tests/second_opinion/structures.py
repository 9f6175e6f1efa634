"""Tables and equivalences: FSL's table III (000), mixed FL's table 3 (003, appendix C.3) and
appendix A.3."""

from fractions import Fraction

from tests.second_opinion import instances
from tests.second_opinion.opinion import number, numbers, require


def table_iii():
    """cell -> (printed, computed): stride 1, "same" convolutions of size 3, as all shapes but one
    are printed."""
    printed = {
        "Conv2D 1, shape": [32, 32, 32],
        "MaxPooling2D 1, shape": [13, 13, 64],
        "Conv2D 2, shape": [16, 16, 64],
        "MaxPooling2D 2, shape": [8, 8, 64],
        "Dropout 1, shape": [8, 8, 64],
        "Flatten 1, shape": [4096],
        "Dense 1, shape": [128],
        "Dense 2, shape": [10],
        "Conv2D 1, parameters": 896,
        "Conv2D 2, parameters": 18496,
        "Dense 1, parameters": 524416,
        "Dense 2, parameters": 1290,
    }
    side, channels, computed = 32, 3, {}
    for k, filters in ((1, 32), (2, 64)):
        computed[f"Conv2D {k}, shape"] = [side, side, filters]
        computed[f"Conv2D {k}, parameters"] = (9 * channels + 1) * filters
        side, channels = side // 2, filters
        computed[f"MaxPooling2D {k}, shape"] = [side, side, filters]
    flat = side * side * channels
    computed.update(
        {
            "Dropout 1, shape": [side, side, channels],
            "Flatten 1, shape": [flat],
            "Dense 1, shape": [128],
            "Dense 1, parameters": (flat + 1) * 128,
            "Dense 2, shape": [10],
            "Dense 2, parameters": 129 * 10,
        }
    )
    return {cell: (value, computed[cell]) for cell, value in printed.items()}


def table_3():
    """Appendix C.3: what goes with 494 KB, 0.025 and 125.16 MFLOP (one N, d and B_i do), and what
    does not."""
    step = lambda d, B: B * d + 3 * B * d * d + 3 * B * B * d + 2 * B
    found = [
        (N, d, B)
        for unit in (1000, 1024)
        for d in range(1, 257)
        for B in range(1, 257)
        if 24_500 <= step(d, B) <= 25_500
        for N in range(max(1, 493 * unit // (8 * d)), 495 * unit // (8 * d) + 2)
        if N <= 8000
        and abs(Fraction(8 * N * d, unit) - 494) <= Fraction(1, 2)
        and abs(Fraction(N * N * d, 2) + N * d + step(d, B) - 125_160_000) <= 5_000
    ]
    require(len(found) == 1, "not one solution")
    ((N, d, B),) = found
    ten_steps = Fraction(10 * N * N * d, 2 * 10**6)
    return {
        "baseline of table 12 at K = 10, MFLOP": ("125.16", f"{float(ten_steps):.2f}"),
        "n below B_i K": (True, 160 < B * 10),
        "N is MovieLens 1M's": (True, N == 3952),
    }


TABLES = {"fsl.table3": table_iii, "mixed.table3_numbers": table_3}


def cells(document):
    """Refused unless each cell that is named is printed so, follows otherwise, and at least one is
    named."""
    known = TABLES[document["claim"]]()
    require(len(document["cells"]) > 0 and "same" not in document, "no cells")
    for cell, printed, computed in document["cells"]:
        require(
            cell in known
            and known[cell] == (printed, computed)
            and type(printed) is type(known[cell][0])
            and printed != computed,
            f"not so: {cell}",
        )


def one_step(document):
    """A.3: with K = 1, 2-way gradient transfer from g~ = 0 and one merged step are not the same
    after two rounds."""
    require("cells" not in document and document["same"] == 2, "another equivalence")
    instances.read("two runs", document["instance"])
    given = numbers(document["instance"])
    A, b, p, h = given["A"], given["b"], given["weights"], given["hyper"]
    N, d = len(A) - 1, len(given["x"])
    require(
        set(h) == {"eta", "eta_s", "eta_c"}
        and min(h.values()) > 0
        and number(document["instance"]["sigma"]) == 0
        and given["S"] == N == len(p)
        and sum(p) == 1
        and min(p) > 0
        and len(b) == N + 1
        and all(len(row) == d for row in A + b)
        and type(given["rounds"]) is int
        and 1 <= given["rounds"] <= 9,
        "no instance",
    )
    require(len(set(p)) == 1, "clients of different weight")
    require(min(a for row in A for a in row) >= 0, "a loss that is not convex")
    grad = lambda i, x: [A[i][j] * (x[j] - b[i][j]) for j in range(d)]
    mean = lambda x: [sum(p[i - 1] * grad(i, x)[j] for i in range(1, N + 1)) for j in range(d)]
    x, y, to_center, to_clients = given["x"], given["x"], [Fraction(0)] * d, [Fraction(0)] * d
    for _ in range(given["rounds"]):
        f, c = mean(x), grad(0, x)  # algorithm 1 with the purple lines, K = 1 and eta_m = 1
        x = [
            x[j]
            - h["eta_c"] * (c[j] + to_center[j])
            - h["eta_s"] * h["eta"] * (f[j] + to_clients[j])
            for j in range(d)
        ]
        to_clients, to_center = c, f
        g, c = mean(y), grad(0, y)
        y = [y[j] - h["eta_c"] * c[j] - h["eta_s"] * h["eta"] * g[j] for j in range(d)]
    gap = max(abs(a - b) for a, b in zip(x, y))
    require(gap > max(map(abs, [*x, *y])) / 10**6, "they agree")


def structure(document):
    if document["claim"] in TABLES:
        return cells(document)
    require(document["claim"] == "mixed.K1_equivalence", "nothing is typed here of it")
    return one_step(document)
