"""Mixed FL, sections 5 and C: what the experiments are said to show. Each sentence is a set of
comparisons."""

from collections.abc import Mapping
from typing import Any

from fedtheory.claim import Claim, Comparison
from fedtheory.symbols.mixed import TABLE

AUC, ACCURACY, LOSS, RECALL = "final_auc", "final_accuracy", "final_loss", "final_recall_at_10"
RISE, EARLY, DIVERGES = "rounds_to_loss", "early_loss", "diverges"
PT, ONE, TWO, FL, ORACLE = "PT", "1-W GT", "2-W GT", "only FL", "oracle"
C = Comparison
# How far apart the alike may be: the figures print curves, of which a reader tells so much apart;
# rounds to a loss are a share of all. Fixed before any run.
MARGINS = {AUC: 0.01, ACCURACY: 0.02, LOSS: 0.05, RECALL: 0.01, RISE: 0.05, "rounds_to_auc": 0.05}


def with_margin(comparison: Any) -> Any:
    """Return a comparison of the relation "~" with its quantity's margin. Comparisons with a margin
    of their own or with a printed number are returned unchanged."""
    printed = comparison.other.replace(".", "", 1).isdecimal()
    if comparison.relation != "~" or comparison.margin is not None or printed:
        return comparison
    return comparison._replace(margin=MARGINS.get(comparison.quantity))


def finding(
    name: str,
    cites: str,
    figure: str,
    says: str,
    *compares: Any,
    printed: Mapping[str, float] | None = None,
) -> Any:
    return Claim(
        id=f"mixed.{name}",
        cites=f"mixed FL, {cites}",
        kind="finding",
        symbols=TABLE,
        figure=figure,
        says=says,
        compares=tuple(map(with_margin, compares)),
        meaning=says,
        printed=printed or {},
    )


def alike(quantity: str, where: str = "", *methods: str) -> tuple[Any, ...]:
    first, *others = methods or (PT, ONE, TWO)
    return tuple(C(quantity, first, "~", other, where) for other in others)


CLAIMS = (
    # Section 5.1 and 5.2, figures 1 and 2
    finding(
        "fig1_smile_oracle",
        "section 5.1, fig. 1a",
        "mixed_fig1",
        "The binary smile classifier reaches an oracle's evaluation AUC of ROC of over 0.95.",
        *(C(AUC, method, "~", ORACLE, "smile") for method in (PT, ONE, TWO)),
        *(C(AUC, method, ">", "0.95", "smile") for method in (PT, ONE, TWO)),
    ),
    finding(
        "fig1_language_oracle",
        "section 5.2, fig. 1b",
        "mixed_fig1",
        "The language model reaches an oracle's evaluation accuracy of about 0.6.",
        *(C(ACCURACY, method, "~", ORACLE, "language") for method in (PT, ONE, TWO)),
        *(C(ACCURACY, method, "~", "0.60", "language") for method in (PT, ONE, TWO)),
    ),
    finding(
        "fig1_only_fl",
        "section 5.2, fig. 1b",
        "mixed_fig1",
        "Only FL has limited accuracy, below 0.45, on both datasets together.",
        C(ACCURACY, FL, "<", "0.45", "language"),
        C(ACCURACY, FL, "<", ORACLE, "language"),
    ),
    finding(
        "fig2_smile",
        "section 5.1, fig. 2a",
        "mixed_fig2",
        "Where G_t is large, parallel training converges worse than gradient transfer.",
        C(RISE, PT, ">", ONE, "smile"),
        C(RISE, PT, ">", TWO, "smile"),
    ),
    finding(
        "fig2_smile_two_way",
        "section 5.1, fig. 2a",
        "mixed_fig2",
        "2-way gradient transfer performs as good or better than the other algorithms.",
        C(LOSS, TWO, "<=", PT, "smile"),
        C(LOSS, TWO, "<=", ONE, "smile"),
    ),
    finding(
        "fig2_language",
        "section 5.2, fig. 2b",
        "mixed_fig2",
        "Where G_t is near 0 and B_t near 1, all algorithms converge the same.",
        *alike(RISE, "language"),
        *alike(LOSS, "language"),
    ),
    # Section 5.3, figures 3 and 6, table 3
    finding(
        "fig3_movies",
        "section 5.3, fig. 3",
        "mixed_fig3",
        "Mixed FL results in similar loss as the more expensive baseline.",
        *(C(LOSS, method, "~", "baseline", "movies") for method in (PT, ONE, TWO)),
    ),
    finding(
        "fig3_pt_slower",
        "section 5.3, fig. 3",
        "mixed_fig3",
        "Parallel training converges slightly slower than gradient transfer, but reaches the same loss at around "
        "1500 rounds.",
        C(RISE, PT, ">", ONE, "movies"),
        C(RISE, PT, ">", TWO, "movies"),
        C(LOSS, PT, "~", ONE, "movies round 1500"),
        C(LOSS, PT, "~", TWO, "movies round 1500"),
    ),
    finding(
        "fig3_savings",
        "section 5.3, table 3",
        "mixed_table3",
        "Mixed FL eliminates more than 99.9% of client computation and more than 93.9% of communication.",
        C("computation_saved", "mixed", ">", "0.999"),
        C("communication_saved", "mixed", ">", "0.939"),
    ),
    finding(
        "fig6_recall",
        "section 5.3 and C.2.3, fig. 6",
        "mixed_fig6",
        "All mixed FL algorithms reach a recall@10 of around 0.1, comparable to the baseline.",
        *(C(RECALL, method, "~", "baseline", "movies") for method in (PT, ONE, TWO)),
        *(C(RECALL, method, "~", "0.1", "movies") for method in (PT, ONE, TWO)),
    ),
    # C.1, table 2 and figure 4
    finding(
        "table2_smile",
        "table 2 and section 5.1",
        "mixed_table2",
        "G_t is significantly large in smile classification, and small in the other two tasks.",
        C("max_G_t_sq", "smile", ">", "language"),
        C("max_G_t_sq", "smile", ">", "movies"),
        printed={"max G_t^2, smile": 49.04, "max G_t^2, language": 0.03, "max G_t^2, movies": 0.03},
    ),
    finding(
        "table2_B",
        "table 2 and section 5.2",
        "mixed_table2",
        "B_t is near 1 in all three tasks.",
        C("max_B_t_sq", "smile", "~", "1.26"),
        C("max_B_t_sq", "language", "~", "1.34"),
        C("max_B_t_sq", "movies", "~", "1.50"),
        printed={"max B_t^2, smile": 1.26, "max B_t^2, language": 1.34, "max B_t^2, movies": 1.50},
    ),
    finding(
        "table2_predicts",
        "section 4.3, table 2 and fig. 2",
        "mixed_table2",
        "G_t and B_t predict where parallel training is slower than gradient transfer.",
        C("rounds_lost_by_pt", "tasks", "increases in", "max_G_t_sq"),
    ),
    # C.2.2, figure 5
    finding(
        "fig5_both_datasets",
        "C.2.2, fig. 5",
        "mixed_fig5",
        "The mixed FL algorithms do a good job of achieving accuracy on both datasets.",
        *(
            C(ACCURACY, method, "~", ORACLE, data)
            for method in (PT, ONE, TWO)
            for data in ("Stack Overflow", "Wikipedia")
        ),
    ),
    finding(
        "fig5_only_fl",
        "C.2.2, fig. 5",
        "mixed_fig5",
        "Only FL learns the federated data well, and is not nearly as accurate on the central data.",
        C(ACCURACY, FL, "~", ORACLE, "Stack Overflow"),
        C(ACCURACY, FL, "<", ORACLE, "Wikipedia"),
        *(C(ACCURACY, FL, "<", method, "Wikipedia") for method in (PT, ONE, TWO)),
    ),
    # C.4.1, figures 7 and 8: 10 trials for each central batch size
    finding(
        "fig7_batch",
        "C.4.1, fig. 7",
        "mixed_fig7",
        "1-way gradient transfer converges faster with larger central batches.",
        C(RISE, ONE, "decreases in", "|B_c|", "smile"),
    ),
    finding(
        "fig7_saturates",
        "C.4.1, fig. 7",
        "mixed_fig7",
        "The AUC's convergence does not appreciably improve for central batch sizes larger than 25.",
        C("rounds_to_auc", "|B_c|=25", "~", "|B_c|>25", "smile 1-W GT"),
    ),
    finding(
        "fig8_less_sensitive",
        "C.4.1, fig. 7 and 8",
        "mixed_fig8",
        "2-way gradient transfer has lower sensitivity than 1-way to the central batch size.",
        C("spread_over_batch", TWO, "<", ONE, "smile"),
    ),
    # C.4.2, figures 9 and 10: 5 trials for each (eta, K) with eta K fixed
    finding(
        "fig9_steps",
        "C.4.2, fig. 9",
        "mixed_fig9",
        "Reducing eta and increasing K in proportion never hurts convergence, and often helps (smile classifier).",
        *(
            C(RISE, f"{method} larger K", "<=", f"{method} smaller K", "smile")
            for method in (PT, ONE, TWO)
        ),
    ),
    finding(
        "fig10_steps",
        "C.4.2, fig. 10",
        "mixed_fig10",
        "The same holds for the language model.",
        *(
            C(RISE, f"{method} larger K", "<=", f"{method} smaller K", "language")
            for method in (PT, ONE, TWO)
        ),
    ),
    # C.4.3, figure 11: K = 16
    finding(
        "fig11_divergence",
        "C.4.3",
        "mixed_fig11",
        "As eta is raised at K = 16, 2-way gradient transfer diverges first (beyond 1), then parallel training "
        "(at 5, not at 3); 1-way still converges at 5.",
        C(DIVERGES, "2-W GT eta>1", "==", "True", "language"),
        C(DIVERGES, "PT eta=3", "==", "False", "language"),
        C(DIVERGES, "PT eta=5", "==", "True", "language"),
        C(DIVERGES, "1-W GT eta=5", "==", "False", "language"),
        C("largest_eta", TWO, "<", PT, "language"),
        C("largest_eta", PT, "<", ONE, "language"),
    ),
    finding(
        "fig11_early",
        "C.4.3, fig. 11",
        "mixed_fig11",
        "A higher learning rate boosts progress early.",
        C(EARLY, "PT eta=3", "<", "PT eta=2", "language"),
        C(EARLY, "1-W GT eta=3", "<", "1-W GT eta=2", "language"),
    ),
    finding(
        "fig11_same_end",
        "C.4.3, fig. 11",
        "mixed_fig11",
        "It does not change the rounds ultimately required: all three reach similar loss and accuracy by round "
        "2000, and are still converging.",
        *alike(LOSS, "language round 2000", "PT eta=3", "1-W GT eta=3", "2-W GT eta=1"),
        *alike(ACCURACY, "language round 2000", "PT eta=3", "1-W GT eta=3", "2-W GT eta=1"),
        C("loss", "round 2000", "<", "round 1500", "language"),
    ),
    finding(
        "table4_narrower",
        "C.4.3, table 4",
        "mixed_table4",
        "2-way gradient transfer has narrower limits than 1-way on eta and K; for parallel training they depend "
        "on B.",
        C("largest_eta_K", TWO, "<", ONE),
        C("largest_eta_K", PT, "decreases in", "B"),
    ),
    # C.4.4, figure 12
    finding(
        "fig12_adam",
        "C.4.4, fig. 12",
        "mixed_fig12",
        "Adam as the server's optimiser works better than SGD, leading to better convergence.",
        C(RISE, "1-W GT Adam", "<", "1-W GT SGD", "movies"),
        C(LOSS, "1-W GT Adam", "<", "1-W GT SGD", "movies"),
    ),
    finding(
        "fig12_baseline",
        "C.4.4, fig. 12",
        "mixed_fig12",
        "1-way gradient transfer performs almost the same as the baseline when using Adam.",
        C(LOSS, "1-W GT Adam", "~", "baseline Adam", "movies"),
    ),
    # Section 4.2 and C.4, sentences on the three algorithms at large
    finding(
        "sectionC41_sensitive",
        "C.4.1 and section 4.2",
        "mixed_fig7",
        "1-way gradient transfer is more sensitive to high central variance than the other two algorithms.",
        C("spread_over_sigma_c", ONE, ">", TWO),
        C("spread_over_sigma_c", ONE, ">", PT),
    ),
    finding(
        "sectionC42_steps",
        "C.4.2",
        "mixed_fig9",
        "It is best to take as many steps as possible, and to reduce learning rates accordingly.",
        C(RISE, PT, "decreases in", "K"),
        C(RISE, ONE, "decreases in", "K"),
        C(RISE, TWO, "decreases in", "K"),
    ),
    finding(
        "sectionC43_ceilings",
        "C.4.3",
        "mixed_fig11",
        "At a common K the largest eta, and at a common eta the largest K, varies by algorithm.",
        C("largest_eta", TWO, "<", ONE),
        C("largest_K", TWO, "<", ONE),
    ),
    finding(
        "sectionC44_server_rate",
        "C.4.4",
        "mixed_fig12",
        "The server's adaptive optimizer requires a smaller learning rate to perform well.",
        C("best_eta_s", "1-W GT Adam", "<", "1-W GT SGD", "movies"),
    ),
)
