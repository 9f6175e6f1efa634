"""FED-LAMB, section 4 and appendix B: what the experiments are said to show."""

from collections.abc import Mapping
from typing import Any

from fedtheory.claim import Claim
from fedtheory.claim import Comparison as C
from fedtheory.language.statements import Comparison
from fedtheory.symbols.lamb import TABLE

ACCURACY, RISE, EARLY, GAP = "final_accuracy", "rise_time", "early_accuracy", "generalization_gap"
LAMB, AMS, SGD = "Fed-LAMB", "Fed-AMS", "Fed-SGD"
# How far apart the alike may be, of losses and of accuracies: what a reader tells apart in curves,
# fixed before any run
ALIKE, CLOSE = 0.05, 0.02
RUNS = "Section 4 averages three runs, the checklist says five."


def finding(
    name: str,
    cites: str,
    figure: str,
    says: str,
    *compares: Comparison,
    note: str = "",
    printed: Mapping[str, float] | None = None,
) -> Any:
    return Claim(
        id=f"lamb.{name}",
        cites=f"FED-LAMB, {cites}",
        kind="finding",
        symbols=TABLE,
        figure=f"lamb_{figure}",
        says=says,
        compares=compares,
        meaning=says,
        note=note,
        printed=printed or {},
    )


CLAIMS = (
    # Figure 2: MNIST, non-IID, 50 clients
    finding(
        "fig2_mlp_best",
        "section 4.1, fig. 2 (top)",
        "fig2",
        "On non-IID MNIST with the MLP Fed-LAMB outperforms Fed-AMS and Fed-SGD with both 1 and 5 local epochs.",
        *(
            C(ACCURACY, LAMB, ">", other, f"MLP, {epochs} epochs")
            for epochs in (1, 5)
            for other in (AMS, SGD)
        ),
        note=RUNS,
        printed={"clients": 50, "participation": 0.5, "batch": 32, "beta_1": 0.9, "beta_2": 0.999},
    ),
    finding(
        "fig2_mlp_sgd",
        "section 4.1, fig. 2 (top)",
        "fig2",
        "On the MLP Fed-SGD slightly generalizes better than Fed-AMS.",
        C(ACCURACY, SGD, ">", AMS, "MLP"),
    ),
    finding(
        "fig2_mlp_losses",
        "section 4.1",
        "fig2",
        "A similar comparison holds for the training and testing losses.",
        *(
            C(loss, LAMB, "<", other, "MLP")
            for loss in ("train_loss", "test_loss")
            for other in (AMS, SGD)
        ),
    ),
    finding(
        "fig2_deeper",
        "section 4.1, fig. 2",
        "fig2",
        "Fed-LAMB is expected to show a more substantial advantage over Fed-AMS on larger networks.",
        C("accuracy_gain_over_ams", "CNN", ">", "MLP"),
    ),
    finding(
        "fig2_cnn_best",
        "section 4.1, fig. 2 (bottom)",
        "fig2",
        "On non-IID MNIST with the CNN Fed-LAMB outperforms Fed-AMS in both cases.",
        *(C(ACCURACY, LAMB, ">", AMS, f"CNN, {epochs} epochs") for epochs in (1, 5)),
    ),
    finding(
        "fig2_cnn_one_epoch",
        "section 4.1, fig. 2 (bottom)",
        "fig2",
        "The advantage is in particular significant with 1 local epoch, where Fed-SGD generalizes poorly.",
        C("accuracy_gain_over_ams", "1 epoch", ">", "5 epochs", "CNN"),
        C(ACCURACY, SGD, "<", AMS, "CNN, 1 epoch"),
        C(ACCURACY, SGD, "<", LAMB, "CNN, 1 epoch"),
    ),
    finding(
        "fig2_cnn_early",
        "section 4.1, fig. 2 (bottom)",
        "fig2",
        "Fed-LAMB converges faster than Fed-AMS at the first few communication rounds, in both cases.",
        *(C(EARLY, LAMB, ">", AMS, f"CNN, {epochs} epochs") for epochs in (1, 5)),
    ),
    # Figure 3: CIFAR-10
    finding(
        "fig3_cnn_one_epoch",
        "section 4.2, fig. 3",
        "fig3",
        "With 1 local epoch on the CIFAR CNN Fed-LAMB has a clear advantage over Fed-AMS in accuracy and speed.",
        C(ACCURACY, LAMB, ">", AMS, "CNN, 1 epoch"),
        C(RISE, LAMB, "<", AMS, "CNN, 1 epoch"),
    ),
    finding(
        "fig3_cnn_sgd",
        "section 4.2, fig. 3",
        "fig3",
        "Fed-SGD again fails to achieve close performance as those two adaptive gradient methods.",
        C(ACCURACY, SGD, "<", AMS, "CNN"),
        C(ACCURACY, SGD, "<", LAMB, "CNN"),
    ),
    finding(
        "fig3_cnn_more_epochs",
        "section 4.2, fig. 3",
        "fig3",
        "With more local iterations Fed-LAMB converges the fastest, with similar generalization error as Fed-AMS.",
        C(RISE, LAMB, "<", AMS, "CNN, 3 epochs"),
        C(RISE, LAMB, "<", SGD, "CNN, 3 epochs"),
        C(GAP, LAMB, "~", AMS, "CNN, 3 epochs", ALIKE),
    ),
    finding(
        "fig3_resnet",
        "section 4.2, fig. 3",
        "fig3",
        "On ResNet-9 Fed-LAMB improves local AMS for 10 and 50 clients and all numbers of local iterations.",
        *(
            C(ACCURACY, LAMB, ">", AMS, f"ResNet, {clients} clients, {epochs} epochs")
            for clients in (10, 50)
            for epochs in (1, 3)
        ),
        note="'Under both iid and non-iid data': the figure shows ResNet on IID data only.",
    ),
    finding(
        "fig3_resnet_50",
        "section 4.2, fig. 3",
        "fig3",
        "The acceleration is remarkable especially with 50 clients and 1 local epoch.",
        C("rise_gain_over_ams", "50 clients, 1 epoch", ">", "10 clients, 1 epoch", "ResNet"),
        C(RISE, LAMB, "<", AMS, "ResNet, 50 clients, 1 epoch"),
    ),
    finding(
        "fig3_resnet_ams",
        "section 4.2, fig. 3",
        "fig3",
        "On ResNet-9 Fed-AMS compares favorably with Fed-SGD, though their performances are close.",
        C(ACCURACY, AMS, ">=", SGD, "ResNet"),
        C(ACCURACY, AMS, "~", SGD, "ResNet", CLOSE),
    ),
    # Figure 4: ResNet-9, IID, 10 clients
    finding(
        "fig4_faster",
        "appendix B, fig. 4",
        "fig4",
        "With 10 clients on IID data Fed-LAMB converges faster than local AMS and local SGD, with 1 and 3 epochs.",
        *(
            C(RISE, LAMB, "<", other, f"ResNet, 10 clients, {epochs} epochs")
            for epochs in (1, 3)
            for other in (AMS, SGD)
        ),
    ),
    finding(
        "fig4_generalizes",
        "appendix B, fig. 4",
        "fig4",
        "In both cases Fed-LAMB also generalizes better than local SGD.",
        *(C(ACCURACY, LAMB, ">", SGD, f"ResNet, 10 clients, {epochs} epochs") for epochs in (1, 3)),
    ),
)
