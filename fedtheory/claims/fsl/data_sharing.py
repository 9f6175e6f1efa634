"""FSL, section II-A and (10): data sharing's objective, and what sampled server data costs."""

from sympy import Ne

from fedtheory import conditions
from fedtheory.claim import Claim
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import TABLE, F_shared, F_x, N, f_0_x, n, n_0, population, sampled_xi

CLAIMS = (
    Claim(
        id="fsl.eq4",
        cites="FSL, (4)",
        algorithm="data_sharing",
        symbols=TABLE,
        assumes=(Assumption(conditions.SAMPLES, "(1)"), Assumption(conditions.SERVER, "(4)")),
        measures=F_shared,
        relation="==",
        bound=n / (n + N * n_0) * (F_x + N * n_0 / n * f_0_x),
        weakened=(F_x + N * n_0 / n * f_0_x) / (1 + n_0 / n),
        meaning="Sharing n_0 samples with every client adds the server's loss with weight N n_0 / n.",
    ),
    Claim(
        id="fsl.eq10",
        cites="FSL, (10)",
        symbols=TABLE,
        assumes=(
            Assumption(conditions.SAMPLES, "(1)"),
            Assumption(n_0 <= n, "sampling without replacement"),
        ),
        unstated=(Assumption(Ne(n, 1), "(10), division by n - 1", stated=False),),
        measures=sampled_xi,
        relation="==",
        bound=(n / n_0 - 1) * population / (n - 1),
        weakened=population / n_0,  # sampling with replacement
        meaning="A server whose samples are drawn from the clients' resembles them the more, the more it has.",
    ),
)
