"""Flex, section 5: what the experiments are said to show, and every number of tables 3, 4 and 5."""

from collections.abc import Mapping
from typing import Any

from fedtheory.claim import Claim
from fedtheory.claim import Comparison as C
from fedtheory.language.statements import Comparison
from fedtheory.symbols.flex import TABLE

ACCURACY, LOSS, REBOUND, CROSSING = (
    "final_accuracy",
    "test_loss",
    "rebound_rounds",
    "crossing_rounds",
)


def finding(
    name: str,
    cites: str,
    figure: str,
    says: str,
    *compares: Comparison,
    printed: Mapping[str, float] | None = None,
) -> Any:
    return Claim(
        id=f"flex.{name}",
        cites=f"flex, {cites}",
        kind="finding",
        symbols=TABLE,
        figure=f"flex_{figure}",
        says=says,
        compares=compares,
        meaning=says,
        printed=printed or {},
    )


# Table 3: % improvement of B over A, then of C over B, for |T| = 1..8 traces of table 2
TABLE_3 = {
    "a": (
        "MNIST",
        {
            "IID": (
                (-0.6, 0.3),
                (1.9, 0.1),
                (5.6, 0.1),
                (8.3, 0.7),
                (10.4, 2.6),
                (14.0, 2.2),
                (5.8, 1.9),
                (11.8, 2.4),
            ),
            "NIID": (
                (0.2, -0.3),
                (9.5, 1.8),
                (19.3, 1.6),
                (33.8, 3.3),
                (33.2, 3.2),
                (28.7, 6.2),
                (36.0, 3.6),
                (43.4, 6.9),
            ),
        },
    ),
    "b": (
        "EMNIST",
        {
            "IID": (
                (0.7, -0.6),
                (0.9, 0.1),
                (4.2, 0.7),
                (4.8, 1.0),
                (6.9, 1.1),
                (6.6, 1.2),
                (4.0, 1.5),
                (7.6, 1.2),
            ),
            "NIID": (
                (-0.1, -0.7),
                (17.0, -2.0),
                (34.2, 1.8),
                (37.9, 4.8),
                (30.2, 2.5),
                (22.5, 3.0),
                (25.3, 2.2),
                (18.6, 1.8),
            ),
        },
    ),
    "c": (
        "SYNTHETIC",
        {
            "IID": (
                (-0.6, 0.5),
                (2.1, 0.1),
                (6.6, 0.0),
                (9.0, 0.7),
                (11.6, 3.0),
                (16.4, 2.5),
                (6.3, 1.9),
                (14.4, 2.8),
            ),
            "NIID": (
                (0.1, -0.4),
                (9.6, 1.5),
                (22.2, 1.8),
                (38.2, 3.2),
                (33.3, 3.9),
                (30.5, 7.9),
                (37.9, 4.5),
                (41.6, 8.0),
            ),
        },
    ),
}
# Table 4: rounds until the accuracy is back, fast reboot and vanilla, by the arriving round
TABLE_4 = {
    "MNIST": {10: (4, 4), 30: (22, 27), 50: (55, 63), 70: (59, 66)},
    "EMNIST": {10: (4, 3), 30: (11, 12), 50: (14, 19), 70: (21, 24)},
    "SYNTHETIC": {10: (1, 1), 30: (4, 6), 50: (7, 12), 70: (3, 8)},
}
# Table 5: rounds until excluding pays, by (alpha, beta) of SYNTHETIC and the departing round
DEPARTING = (10, 15, 20, 25, 30, 35, 40, 45, 50)
TABLE_5 = {
    0.1: (2, 5, 3, 3, 9, 3, 10, 26, 40),
    0.5: (1, 3, 9, 14, 13, 7, 12, 36, 34),
    1.0: (10, 9, 27, 18, 34, 17, 28, 62, 77),
}

# At |T| = 1 every device completes all work and A, B and C are one algorithm: what table 3 prints
# there is its own noise, of which two deviations (around 0, over all three parts) count as alike.
AT_ONE = [value for _, rows in TABLE_3.values() for pairs in rows.values() for value in pairs[0]]
NOISE_3 = 2 * (sum(value**2 for value in AT_ONE) / len(AT_ONE)) ** 0.5
# Half a unit of the last digit that is printed of a gain, and of rounds, of which tables 4 and 5
# show no noise
POINTS, ROUNDS = 0.05 + NOISE_3, 0.5

# (id, table, cell, quantity, one, other, value): `one` against `other`, or `one` itself
CELLS = []
for part, (data, rows) in TABLE_3.items():
    for split, pairs in rows.items():
        for count, pair in enumerate(pairs, 1):
            CELLS += [
                (
                    f"table3{part}_{split}_T{count}_{one}_over_{other}",
                    f"table3{part}",
                    f"{data} {split} |T|={count}, {one} over {other}",
                    "accuracy_gain_percent",
                    f"scheme {one} over {other}, {data} {split} |T|={count}",
                    value,
                )
                for (one, other), value in zip((("B", "A"), ("C", "B")), pair)
            ]
for data, row in TABLE_4.items():
    for arrival, pair in row.items():
        CELLS += [
            (
                f"table4_{data}_{arrival}_{how}",
                "table4",
                f"{data} tau_0={arrival}, {how}",
                REBOUND,
                f"{how} reboot, {data} tau_0={arrival}",
                value,
            )
            for how, value in zip(("fast", "vanilla"), pair)
        ]
for alpha, columns in TABLE_5.items():
    CELLS += [
        (
            f"table5_{str(alpha).replace('.', '')}_{departure}",
            "table5",
            f"alpha=beta={alpha} tau_0={departure}",
            CROSSING,
            f"SYNTHETIC({alpha}, {alpha}) tau_0={departure}",
            value,
        )
        for departure, value in zip(DEPARTING, columns)
    ]


# The views of cells, where they are not called after their table
VIEWS = {
    ("table3c", "SYNTHETIC"): "table3",
    ("table4", "MNIST"): "table4_networks",
    ("table4", "EMNIST"): "table4_networks",
}


def printed_cells(*tables: str) -> dict[str, float]:
    return {cell: value for _, table, cell, _, _, value in CELLS if table in tables}


ALL_3 = printed_cells("table3a", "table3b", "table3c")
CLAIMS = (
    # Section 5.2
    finding(
        "table3_C_best",
        "section 5.2, table 3",
        "table3",
        "Scheme C yields the best test accuracy on average.",
        C(ACCURACY, "scheme C", ">", "scheme B", "mean of table 3"),
        C(ACCURACY, "scheme C", ">", "scheme A", "mean of table 3"),
        printed=ALL_3,
    ),
    finding(
        "table3_C_heterogeneous",
        "section 5.2, table 3",
        "table3",
        "Scheme C achieves higher accuracy than A and B when devices get more heterogeneous and less IID.",
        C("gain of C over B", "NIID", ">", "IID"),
        C("gain of C over B", "scheme C", "increases in", "|T|"),
        C("gain of C over A", "NIID", ">", "IID"),
        C("gain of C over A", "scheme C", "increases in", "|T|"),
        printed=ALL_3,
    ),
    finding(
        "table3_A_bad",
        "section 5.2, table 3",
        "table3",
        "Scheme A performs extremely badly with large |T|.",
        C("gain of B over A", "scheme B", "increases in", "|T|"),
        C(ACCURACY, "scheme A", "<", "scheme B", "|T|>=2"),
        printed=ALL_3,
    ),
    finding(
        "table3_A_complete_rounds",
        "section 5.2",
        "table3",
        "The last few traces contain very few complete rounds, significantly increasing E[1/K_tau].",
        C("mean_inverse_complete", "|T|=8", ">", "|T|=1"),
    ),
    finding(
        "table3_homogeneous",
        "section 5.2, table 3",
        "table3",
        "Scheme C is no different from, or even worse than, scheme B in more homogeneous settings.",
        C(ACCURACY, "scheme C", "<=", "scheme B", "|T|=1"),
        C(ACCURACY, "scheme C", "~", "scheme B", "|T|=2 IID", POINTS),
        printed=ALL_3,
    ),
    finding(
        "table3_inactive",
        "section 5.2, table 3",
        "table3",
        "When the traces contain inactive devices (|T| >= 6), scheme C becomes less stable.",
        C("spread", "scheme C |T|>=6", ">", "scheme C |T|<6"),
        printed=ALL_3,
    ),
    finding(
        "fig3_C_over_B",
        "section 5.2, fig. 3",
        "fig3",
        "The typical convergence process: on non-IID EMNIST scheme C is on top as devices get more heterogeneous.",
        C(ACCURACY, "scheme C", "~", "scheme B", "|T|=1", POINTS),
        C(ACCURACY, "scheme C", ">", "scheme B", "|T|=3"),
        C(ACCURACY, "scheme C", ">", "scheme B", "|T|=5"),
        C(ACCURACY, "scheme C", ">", "scheme B", "|T|=8"),
        printed={
            cell: value
            for cell, value in printed_cells("table3b").items()
            if " NIID |T|=" in cell and cell.split("|T|=")[1][0] in "1358"
        },
    ),
    finding(
        "fig3_A_below",
        "section 5.2, fig. 3",
        "fig3",
        "The typical convergence process: on non-IID EMNIST scheme A falls behind as devices get heterogeneous.",
        C(ACCURACY, "scheme A", "~", "scheme B", "|T|=1", POINTS),
        C(ACCURACY, "scheme A", "<", "scheme B", "|T|=3"),
        C(ACCURACY, "scheme A", "<", "scheme B", "|T|=5"),
        C(ACCURACY, "scheme A", "<", "scheme B", "|T|=8"),
    ),
    # Section 5.3
    finding(
        "table4_fast_faster",
        "section 5.3, table 4",
        "table4",
        "Fast reboot consistently achieves faster rebound.",
        C(REBOUND, "fast reboot", "<=", "vanilla reboot", "every cell"),
        C(REBOUND, "fast reboot", "<", "vanilla reboot", "mean over cells"),
        printed=printed_cells("table4"),
    ),
    finding(
        "table4_late",
        "section 5.3, table 4",
        "table4",
        "Fast reboot works better for late arrivals.",
        C("rounds_saved", "fast reboot", "increases in", "tau_0"),
        printed=printed_cells("table4"),
    ),
    finding(
        "table4_emnist",
        "section 5.3, table 4",
        "table4_networks",
        "EMNIST enjoys less improvement from fast reboot.",
        C("rounds_saved", "EMNIST", "<", "MNIST"),
        C("rounds_saved", "EMNIST", "<", "SYNTHETIC"),
        printed=printed_cells("table4"),
    ),
    finding(
        "table4_iid",
        "section 5.3",
        "table4",
        "Fast reboot makes no difference when the data distribution is IID.",
        C(REBOUND, "fast reboot", "~", "vanilla reboot", "IID", ROUNDS),
    ),
    finding(
        "fig4_fast_reboot",
        "section 5.3, fig. 4 (left)",
        "fig4",
        "After an arrival on MNIST, accuracy comes back sooner with fast reboot.",
        C(REBOUND, "fast reboot", "<", "vanilla reboot", "MNIST"),
    ),
    finding(
        "fig5_every_arrival",
        "section 5.3, fig. 5",
        "fig5",
        "Fast reboot accelerates the convergence for every one of three arrivals, 50 epochs apart.",
        *(C(REBOUND, "fast reboot", "<", "vanilla reboot", f"arrival {k}") for k in (1, 2, 3)),
        printed={
            "devices at first": 7,
            "arrivals": 3,
            "first arrival": 100,
            "epochs between arrivals": 50,
        },
    ),
    # Section 5.4
    finding(
        "fig4_exclude_jump",
        "section 5.4, fig. 4 (right)",
        "table5",
        "Excluding a departed device initially increases the test loss.",
        C(LOSS, "exclude", ">", "include", "just after tau_0"),
        C(LOSS, "exclude after tau_0", ">", "exclude before tau_0"),
    ),
    finding(
        "fig4_exclude_cross",
        "section 5.4, fig. 4 (right)",
        "table5",
        "Eventually the two curves cross, and excluding the device becomes more beneficial.",
        C(LOSS, "exclude", "<", "include", "at the end"),
    ),
    finding(
        "table5_tau_0",
        "section 5.4, table 5",
        "table5",
        "Rounds until the losses coincide increase with tau_0.",
        C(CROSSING, "exclude", "increases in", "tau_0"),
        printed=printed_cells("table5"),
    ),
    finding(
        "table5_non_iid",
        "section 5.4, table 5",
        "table5",
        "Rounds until the losses coincide increase with the non-IID metric (alpha, beta).",
        C(CROSSING, "exclude", "increases in", "alpha, beta"),
        printed=printed_cells("table5"),
    ),
    *(
        finding(
            name,
            f"table {table.removeprefix('table')}",
            VIEWS.get((table, cell.split()[0]), table),
            f"{cell}: {value}",
            C(quantity, one, "~", str(value), margin=NOISE_3 if "table3" in table else None),
            printed={cell: value},
        )
        for name, table, cell, quantity, one, value in CELLS
    ),
)
