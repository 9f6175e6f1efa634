"""FSL, sections IV and B-B: what the experiments are said to show. Each sentence is a set of
comparisons."""

from typing import Any

from fedtheory.claim import Claim, Comparison
from fedtheory.symbols.fsl import TABLE

ACCURACY, RISE, EARLY, WIGGLE = "final_accuracy", "rise_time", "early_accuracy", "oscillation"
C = Comparison
# How far apart the alike may be: sections IV and B print curves and heat maps, no numbers, of which
# a reader tells two hundredths of accuracy apart, a twentieth of the rounds, and a hundredth of
# what a curve wiggles. Fixed before any run; a comparison with a margin of its own keeps it.
MARGINS = {ACCURACY: 0.02, RISE: 0.05, WIGGLE: 0.01}


def with_margin(comparison: Any) -> Any:
    """Return a comparison of the relation "~" with its quantity's margin. Comparisons with a margin
    of their own or with a printed number are returned unchanged."""
    own = comparison.margin is not None or comparison.relation != "~"
    printed = comparison.other.replace(".", "", 1).isdecimal()
    if own or printed:
        return comparison
    return comparison._replace(margin=MARGINS.get(comparison.quantity))


def finding(
    name: str, cites: str, figure: str, says: str, *compares: Any, paper: str = "fsl"
) -> Any:
    return Claim(
        id=f"{paper}.{name}",
        cites=f"FSL, {cites}",
        kind="finding",
        paper=paper,
        symbols=TABLE,
        figure=figure,
        says=says,
        compares=tuple(map(with_margin, compares)),
        meaning=says,
    )


CLAIMS = (
    # Section IV-B, figure 1: C label classes a client, weight gamma
    finding(
        "fig1_iid_alike",
        "section IV-B, fig. 1",
        "fsl_fig1",
        "All algorithms achieve a similar final accuracy in the IID case.",
        C(ACCURACY, "FSL", "~", "FL", "EMNIST C=45"),
        C(ACCURACY, "DS", "~", "FL", "EMNIST C=45"),
        C(ACCURACY, "FSL", "~", "FL", "CIFAR-10 C=10"),
        C(ACCURACY, "DS", "~", "FL", "CIFAR-10 C=10"),
    ),
    finding(
        "fig1_fl_suffers",
        "section IV-B, fig. 1",
        "fsl_fig1",
        "As C decreases, FL suffers significantly in both accuracy and convergence time.",
        C(ACCURACY, "FL", "increases in", "C"),
        C(RISE, "FL", "decreases in", "C"),
    ),
    finding(
        "fig1_ds_improves",
        "section IV-B, fig. 1",
        "fsl_fig1",
        "DS greatly improves over FL, but learns slowly with wide oscillations, as FL does.",
        C(ACCURACY, "DS", ">", "FL", "non-IID"),
        C(WIGGLE, "DS", "~", "FL", "non-IID"),
        C(RISE, "DS", "~", "FL", "non-IID"),
    ),
    finding(
        "fig1_fsl_best",
        "section IV-B, fig. 1",
        "fsl_fig1",
        "In all cases FSL provides the highest accuracy and fastest convergence, faster at the beginning and with "
        "much smaller oscillations.",
        C(ACCURACY, "FSL", ">=", "DS"),
        C(ACCURACY, "FSL", ">=", "FL"),
        C(RISE, "FSL", "<", "DS"),
        C(RISE, "FSL", "<", "FL"),
        C(EARLY, "FSL", ">", "DS"),
        C(WIGGLE, "FSL", "<", "DS"),
        C(WIGGLE, "FSL", "<", "FL"),
    ),
    finding(
        "fig1_gamma_robust",
        "section IV-B, fig. 1",
        "fsl_fig1",
        "FSL performs fairly consistently for a range of gamma values.",
        C(ACCURACY, "FSL gamma=0.5", "~", "FSL gamma=1"),
        C(ACCURACY, "FSL gamma=1", "~", "FSL gamma=1.5"),
    ),
    finding(
        "fig6_no_pretrain",
        "section IV-B and B-B1, fig. 6",
        "fsl_fig6",
        "From a random start FSL accelerates more, even in the IID cases, where DS offers little to no benefit "
        "over FL.",
        C(RISE, "FSL", "<", "FL"),
        C(RISE, "FSL", "<", "DS"),
        C(RISE, "DS", "~", "FL", "IID"),
        C(ACCURACY, "DS", "~", "FL", "IID"),
    ),
    # Figure 2: gamma = 0 stands for DS
    finding(
        "fig2_gamma_helps",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "Increasing gamma from 0 improves accuracy and convergence time significantly compared to DS.",
        C(ACCURACY, "FSL gamma>0", ">", "DS"),
        C(RISE, "FSL gamma>0", "<", "DS"),
    ),
    finding(
        "fig2_more_over_fl",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "The improvement is more pronounced when comparing to FL.",
        C(ACCURACY, "FSL - FL", ">", "FSL - DS"),
    ),
    finding(
        "fig2_gamma_plateau",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "gamma over [0.5, 1.5] performs alike for all local learning rates, server data sizes and both datasets.",
        C(ACCURACY, "FSL gamma=0.5", "~", "FSL gamma=1.5"),
        C(RISE, "FSL gamma=0.5", "~", "FSL gamma=1.5"),
    ),
    finding(
        "fig2_gamma_by_dataset",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "On CIFAR-10 a smaller gamma is better; on EMNIST a larger one, except when C = 1 and eta_l is large, "
        "where gamma > 1 lowers the accuracy.",
        C(ACCURACY, "FSL", "decreases in", "gamma", "CIFAR-10"),
        C(ACCURACY, "FSL", "increases in", "gamma", "EMNIST"),
        C(ACCURACY, "FSL gamma>1", "<", "FSL gamma=1", "EMNIST C=1 large eta_l"),
    ),
    finding(
        "fig2_pretrain",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "A small dataset of good quality pre-trains a model much better than random initialization.",
        C("start_accuracy", "pretrained", ">", "random"),
    ),
    finding(
        "fig2_n_0",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "Increasing the server's data improves FSL further, in accuracy more so for CIFAR-10 than for EMNIST.",
        C(ACCURACY, "FSL", "increases in", "n_0"),
        C("accuracy_gain_from_n_0", "CIFAR-10", ">", "EMNIST"),
    ),
    finding(
        "fig2_rise_eta_l",
        "section IV-B, fig. 2",
        "fsl_fig2",
        "The rise time improves significantly when eta_l is small; the improvement diminishes for larger eta_l.",
        C("rise_time_gain", "FSL", "decreases in", "eta_l"),
    ),
    # Section IV-C, figures 5, 10, 11: many clients, gamma = 1
    finding(
        "fig5_emnist",
        "section IV-C, fig. 5",
        "fsl_fig5",
        "FSL and FSLsyn have accuracy comparable to SCAFFOLD and FedDyn for EMNIST.",
        C(ACCURACY, "FSL", "~", "SCAFFOLD", "EMNIST"),
        C(ACCURACY, "FSL", "~", "FedDyn", "EMNIST"),
        C(ACCURACY, "FSLsyn", "~", "SCAFFOLD", "EMNIST"),
        C(ACCURACY, "FSLsyn", "~", "FedDyn", "EMNIST"),
    ),
    finding(
        "fig5_cifar",
        "section IV-C, fig. 5",
        "fsl_fig5",
        "FSL and FSLsyn are much better than SCAFFOLD and FedDyn for CIFAR-10, especially in very non-IID cases.",
        C(ACCURACY, "FSL", ">", "SCAFFOLD", "CIFAR-10"),
        C(ACCURACY, "FSL", ">", "FedDyn", "CIFAR-10"),
        C(ACCURACY, "FSLsyn", ">", "SCAFFOLD", "CIFAR-10"),
        C(ACCURACY, "FSLsyn", ">", "FedDyn", "CIFAR-10"),
        C("gain_over_feddyn", "FSL", "decreases in", "C", "CIFAR-10"),
    ),
    finding(
        "fig5_syn",
        "section IV-C, fig. 5",
        "fsl_fig5",
        "FSLsyn is comparable to FSL for EMNIST and slightly worse for CIFAR-10.",
        C(ACCURACY, "FSLsyn", "~", "FSL", "EMNIST"),
        C(ACCURACY, "FSLsyn", "<", "FSL", "CIFAR-10"),
    ),
    finding(
        "fig5_rates_easy",
        "section IV-C, fig. 5",
        "fsl_fig5",
        "It is fairly easy to select learning rates for FSL and FSLsyn.",
        C("spread_over_eta_l", "FSL", "<=", "SCAFFOLD"),
        C("spread_over_eta_l", "FSLsyn", "<=", "SCAFFOLD"),
    ),
    finding(
        "fig10_fig11_rise",
        "section IV-C and B-B4, fig. 10 and 11",
        "fsl_fig10",
        "FSL and FSLsyn have faster rise times and higher initial acceleration than SCAFFOLD in most cases, at "
        "comparable final accuracy.",
        C(RISE, "FSL", "<", "SCAFFOLD", "most"),
        C(RISE, "FSLsyn", "<", "SCAFFOLD", "most"),
        C(EARLY, "FSL", ">", "SCAFFOLD"),
        C(ACCURACY, "FSL", ">=", "SCAFFOLD", "most"),
    ),
    # Table I: CIFAR-10, C = 2, 1000 rounds
    finding(
        "table1_more_data",
        "table I",
        "fsl_table1",
        "Both the rise time and the accuracy improve as n_0 increases, more so for FSL than for FSLsyn.",
        C("T_0.5", "FSL n_0=500", "<", "FSL n_0=250"),
        C("T_0.5", "FSLsyn n_0=720", "<", "FSLsyn n_0=504"),
        C("accuracy", "FSL n_0=500", ">", "FSL n_0=250"),
        C("accuracy", "FSLsyn n_0=720", ">", "FSLsyn n_0=504"),
        C("accuracy_gain_from_n_0", "FSL", ">", "FSLsyn"),
    ),
    finding(
        "table1_fewer_rounds",
        "table I",
        "fsl_table1",
        "FSL and FSLsyn need significantly fewer rounds than FedDyn to reach 0.5 accuracy.",
        C("T_0.5", "FSL n_0=250", "<", "FedDyn"),
        C("T_0.5", "FSLsyn n_0=504", "<", "FedDyn"),
    ),
    finding(
        "table1_quality",
        "table I",
        "fsl_table1",
        "FSL with n_0 = 250 is slightly better than FSLsyn with n_0 = 720.",
        C("accuracy", "FSL n_0=250", ">", "FSLsyn n_0=720"),
        C("T_0.5", "FSL n_0=250", "<", "FSLsyn n_0=720"),
    ),
    finding(
        "table1_scaffold",
        "table I",
        "fsl_table1",
        "SCAFFOLD underperforms FedDyn.",
        C("accuracy", "SCAFFOLD", "<", "FedDyn"),
    ),
    # B-B2, figures 7 and 8: the non-incremental version
    finding(
        "fig7_nonincremental",
        "B-B2, fig. 7",
        "fsl_fig7",
        "FSL-p is slightly worse than DS while FSL significantly outperforms in all cases, over C and S.",
        C(ACCURACY, "FSL-p", "<", "DS"),
        C(ACCURACY, "FSL", ">", "DS"),
        C(ACCURACY, "FSL", ">", "FSL-p"),
    ),
    finding(
        "fig8_nonincremental_gamma",
        "B-B2, fig. 8",
        "fsl_fig8",
        "The same holds as gamma varies.",
        C(ACCURACY, "FSL-p", "<", "DS"),
        C(ACCURACY, "FSL", ">", "DS"),
        C(ACCURACY, "FSL", ">", "FSL-p"),
    ),
    # B-B3, figure 9
    finding(
        "fig9_C",
        "B-B3, fig. 9",
        "fsl_fig9",
        "Increasing C reduces the non-IIDness of clients considerably.",
        C("sq_dissimilarity", "FSL", "decreases in", "C"),
    ),
    finding(
        "fig9_xi_below_G",
        "B-B3, fig. 9",
        "fsl_fig9",
        "In most cases and on average, xi_t^2 is much smaller than G_t^2 and improves when n_0 increases.",
        C("sq_xi", "FSL", "<", "sq_dissimilarity", "most"),
        C("sq_xi", "FSL", "decreases in", "n_0"),
    ),
    finding(
        "fig9_few_samples",
        "B-B3, fig. 9",
        "fsl_fig9",
        "2 or 5 samples per label already give FSL an advantage on EMNIST; CIFAR-10 needs many more.",
        C("sq_xi", "n_0=90", "<", "sq_dissimilarity", "EMNIST"),
        C("sq_xi", "n_0=225", "<", "sq_dissimilarity", "EMNIST"),
        C("sq_xi_at_equal_samples_per_label", "EMNIST", "<", "CIFAR-10"),
    ),
)

TABLE_1 = {
    "T_0.5, FedDyn": 502,
    "T_0.5, FSLsyn n_0=504": 339,
    "T_0.5, FSLsyn n_0=720": 333,
    "T_0.5, FSL n_0=250": 238,
    "T_0.5, FSL n_0=500": 203,
    "accuracy, FedDyn": 0.5779,
    "accuracy, FSLsyn n_0=504": 0.5763,
    "accuracy, FSLsyn n_0=720": 0.5835,
    "accuracy, FSL n_0=250": 0.5845,
    "accuracy, FSL n_0=500": 0.6144,
}
CLAIMS += tuple(
    Claim(
        id="fsl.table1_"
        + cell.replace(", ", "_").replace(" ", "_").replace("=", "_").replace(".", ""),
        cites="FSL, table I",
        kind="finding",
        symbols=TABLE,
        figure="fsl_table1",
        says=f"{cell}: {value}",
        meaning=f"A cell of table I: {cell}.",
        printed={cell: value},
        compares=(C(quantity, one, "~", str(value)),),
    )
    for cell, value in TABLE_1.items()
    for quantity, one in [cell.split(", ")]
)
