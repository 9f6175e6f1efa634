"""FSL, figure 11: FSL, FSLsyn, SCAFFOLD and FedDyn on EMNIST with many clients. The paper's
sentences on this figure are judged with figure 10."""

from fedtheory.figures import fsl_fig10

FIGURE = fsl_fig10.accuracy_figure(11, "EMNIST", ["EMNIST"], {})
