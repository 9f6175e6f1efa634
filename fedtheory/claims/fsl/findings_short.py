"""FSL (short), section III: what its experiments are said to show."""

from fedtheory.claim import Comparison as C
from fedtheory.claims.fsl.findings import ACCURACY, EARLY, RISE, WIGGLE, finding
from fedtheory.language.claim import Claim
from fedtheory.language.statements import Comparison


def short(name: str, figure: int, says: str, *compares: Comparison) -> Claim:
    return finding(
        name,
        f"short paper, section III, fig. {figure}",
        f"fsls_fig{figure}",
        says,
        *compares,
        paper="fsls",
    )


CLAIMS = (
    short(
        "fig1_sl_helps_fl",
        1,
        "Server learning substantially improves FL on EMNIST.",
        C(ACCURACY, "FSL", ">", "FL"),
        C(RISE, "FSL", "<", "FL"),
    ),
    short(
        "fig1_ds_dsl",
        1,
        "The performance of DS and DSL is nearly identical.",
        C(ACCURACY, "DSL", "~", "DS"),
        C(RISE, "DSL", "~", "DS"),
    ),
    short(
        "fig1_ds_over_fsl",
        1,
        "DS and DSL slightly outperform FSL; the difference is minor.",
        C(ACCURACY, "DS", ">=", "FSL"),
        C(ACCURACY, "DS", "~", "FSL"),
        C(ACCURACY, "DSL", "~", "FSL"),
    ),
    short(
        "fig1_E_s_small",
        1,
        "Few server epochs suffice; many overfit.",
        C(ACCURACY, "FSL", "decreases in", "E_s"),
    ),
    short(
        "fig2_few_samples",
        2,
        "A small number of samples gives DS and server learning a significant improvement; "
        "the gain slows down considerably after n_0 = 376.",
        C("accuracy_gain", "n_0=517 over 376", "<", "n_0=376 over 235"),
        C(ACCURACY, "FSL n_0=94", ">", "FL"),
    ),
    short(
        "fig2_five_per_label",
        2,
        "5 samples per label (n_0 = 235) improve accuracy meaningfully over FL.",
        C(ACCURACY, "FSL n_0=235", ">", "FL"),
        C(ACCURACY, "DS n_0=235", ">", "FL"),
    ),
    short(
        "fig3_sl_improves",
        3,
        "Server learning improves the accuracy for N = 10 and N = 100; FSL significantly "
        "outperforms FL.",
        C(ACCURACY, "FSL", ">", "FL"),
        C(ACCURACY, "DSL", ">=", "DS"),
    ),
    short(
        "fig3_over_ds",
        3,
        "Server learning offers greater benefits than data sharing, and learns faster at the "
        "beginning.",
        C(ACCURACY, "FSL", ">", "DS"),
        C(EARLY, "FSL", ">", "DS"),
    ),
    short(
        "fig3_stable",
        3,
        "The accuracy is much more stable with server learning.",
        C(WIGGLE, "FSL", "<", "FL"),
        C(WIGGLE, "FSL", "<", "DS"),
    ),
    short(
        "fig4_fl_C",
        4,
        "The performance of FL improves with C.",
        C(ACCURACY, "FL", "increases in", "C"),
    ),
    short(
        "fig4_benefit_C",
        4,
        "When FL worsens, the relative benefits of server learning grow.",
        C("accuracy_gain_over_fl", "FSL", "decreases in", "C"),
    ),
    short(
        "fig4_biased",
        4,
        "When clients are highly biased, FSL is on par with or better than DS.",
        C(ACCURACY, "FSL", ">=", "DS", "C=1"),
    ),
    short(
        "fig4_even",
        4,
        "When client samples are more evenly distributed, server learning may degrade slightly.",
        C(ACCURACY, "FSL", "<=", "DS", "C=5"),
    ),
    short(
        "fig5_n_0",
        5,
        "More server samples improve all approaches, especially at the beginning.",
        C(ACCURACY, "FSL", "increases in", "n_0"),
        C(ACCURACY, "DSL", "increases in", "n_0"),
        C(EARLY, "FSL", "increases in", "n_0"),
    ),
    short(
        "fig5_fsl_dsl",
        5,
        "Except for the initial discrepancy, FSL and DSL approach similar performance.",
        C(ACCURACY, "FSL", "~", "DSL"),
    ),
    short(
        "fig6_E_s",
        6,
        "Small E_s can be chosen when n_0 is small: no noticeable difference from 1 to 5.",
        C(ACCURACY, "FSL E_s=1", "~", "FSL E_s=5"),
        C(RISE, "FSL E_s=1", "~", "FSL E_s=5"),
    ),
)
