"""Hypotheses that FSL's statements share."""

from sympy import Eq, Min, Rational

from fedtheory import conditions
from fedtheory.conditions import Assumption
from fedtheory.symbols.fsl import K_0, K, L, eta_0, eta_g, eta_l, gamma, kappa

A1 = Assumption(conditions.SMOOTH, "assumption 1")
A2 = Assumption(conditions.DISSIMILAR, "assumption 2")
A3 = Assumption(conditions.SERVER_DISSIMILAR, "assumption 3")
A4 = Assumption(conditions.NOISE, "assumption 4")

# (11) holds an equality and a bound; the listing repeats the equality as (15).
EQ15 = Assumption(Eq(K * eta_l * eta_g, K_0 * eta_0), "(15)")
EQ11_EQUAL = Assumption(Eq(K * eta_l * eta_g, K_0 * eta_0), "(11), first part")
EQ11_STEP = Assumption(K_0 * eta_0 <= Min(eta_g, 1 / gamma, Rational(8, 9)) / (4 * L), "(11)")
EQ13 = Assumption(
    K_0 * eta_0 <= Min(1, (gamma + 1) ** 2 / (2 * kappa)) / (8 * L * (gamma + 1)), "(13)"
)

# The text defines smoothness by one inequality; lemma 3 applies "the Lipschitz conditions of grad
# f_i".
LIPSCHITZ = Assumption(conditions.LIPSCHITZ, "lemma 3", stated=False)
# (2) has weights p_i; the proof writes F = (1/N) sum f_i.
EQUAL_WEIGHTS = Assumption(conditions.EQUAL_WEIGHTS, "after (18)", stated=False)
# Lemma 1 is applied over clients, steps and the cohort's draw.
INDEPENDENT = Assumption(conditions.INDEPENDENT, "T_4a, T_5a", stated=False)
UNIFORM_COHORT = Assumption(conditions.UNIFORM_COHORT, "T_5c", stated=False)
BOUNDED_BELOW = Assumption(conditions.BOUNDED_BELOW, "theorem 2, F*", stated=False)

STATED = (A1, A2, A3, A4, EQ11_EQUAL, EQ11_STEP)
UNSTATED = (LIPSCHITZ, EQUAL_WEIGHTS, INDEPENDENT, UNIFORM_COHORT)
