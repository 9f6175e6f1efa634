"""Lines that are proved, typed from the papers: (left, sign, right) and what may be assumed of
numbers."""

from tests.second_opinion.reals import dot, least, minus, most, plus, root, sq, times

DOMAINS = {
    "fsl": dict(
        K="count",
        K_0="count",
        N="count",
        S="count",
        L="positive",
        eta_0="positive",
        eta_g="positive",
        eta_g_more="positive",
        gamma="nonnegative",
        G="nonnegative",
        sigma="nonnegative",
        sigma_0="nonnegative",
        xi_bar="nonnegative",
        a_split="positive",
        vec_F="vector",
        vec_0="vector",
        vec_F_w="vector",
        vec_0_w="vector",
        vec_i="vector",
        vec_j="vector",
    ),
    "lamb": dict(R="count", T="count", h="count", n="count", p="count"),
    "mixed": dict(
        K="count",
        S="count",
        beta="positive",
        eta="positive",
        eta_s="positive",
        eta_c="positive",
        eta_m="positive",
        B="positive",
        G="nonnegative",
        mu="nonnegative",
        eps="positive",
        eps_grad="positive",
        sigma="nonnegative",
        sigma_c="nonnegative",
        D_sq="nonnegative",
        F="nonnegative",
        gap="nonnegative",
        a="positive",
        vec_i="vector",
        vec_j="vector",
    ),
}
# What measured symbols are, in terms of vectors; squares are nonnegative
PAIR = dict(
    sq_pair=lambda v: sq(plus(v.vec_i, v.vec_j)),
    sq_i=lambda v: sq(v.vec_i),
    sq_j=lambda v: sq(v.vec_j),
)
MEANINGS = {
    "fsl": dict(
        PAIR,
        sq_grad=lambda v: sq(v.vec_F),
        sq_server_grad=lambda v: sq(v.vec_0),
        sq_xi=lambda v: sq(minus(v.vec_F, v.vec_0)),
        a_w0=lambda v: sq(v.vec_F_w),
        b_w0=lambda v: sq(v.vec_0_w),
        sq_tilde_grad=lambda v: sq(plus(v.vec_F, times(v.gamma, v.vec_0))) / (1 + v.gamma) ** 2,
        xi_w0=lambda v: sq(minus(v.vec_F_w, v.vec_0_w)),
        inner_w0=lambda v: dot(v.vec_F_w, v.vec_0_w),
        inner_move=lambda v: (
            -v.eta_0 * dot(v.vec_F_w, v.vec_0_w)
        ),  # w_1 - w_0 = -eta_0 grad f_0(w_0)
        sq_move=lambda v: v.eta_0**2 * sq(v.vec_0_w),
    ),
    "lamb": {},
    "mixed": PAIR,
}
SQUARES = {
    name: "real" if name.startswith("inner") else "nonnegative"
    for some in MEANINGS.values()
    for name in some
}

# FSL
rho = lambda v: 0 if v.N == 1 else (v.N - v.S) / (v.N - 1)
kappa_at = lambda v, eta: most(4 * v.gamma**3, 3 * v.gamma**2 + 2 / eta**2)
kappa = lambda v: kappa_at(v, v.eta_g)
spread = lambda v: rho(v) * v.G**2 + v.sigma**2 / v.K
own = lambda v, eta: (2 * v.G**2 + v.sigma**2 / v.K) / eta**2
phi_at = lambda v, eta: own(v, eta) + 3 * v.gamma**2 / v.S * spread(v)
Psi = lambda v: spread(v) / v.S + v.gamma**2 * v.sigma_0**2 / v.K_0
Phi = lambda v: own(v, v.eta_g) + v.gamma**2 * Psi(v) + 2 * v.gamma**2 / v.S * spread(v)
G_2 = lambda v: 9 * spread(v) / (2 * v.S) + 3 * v.gamma**2 * v.sigma_0**2 / v.K_0
G_3 = lambda v: spread(v) / v.S + v.gamma**2 * v.sigma_0**2 / (3 * v.K_0)
G_4 = lambda v: own(v, v.eta_g) + 3 * v.gamma**2 * G_3(v)
step = lambda v: v.K_0 * v.eta_0
h = lambda v: (
    v.gamma
    + (1 - (1 + v.gamma) * v.L * step(v) * (3 + 3 * v.gamma + 16 * v.L * step(v) * kappa(v))) / 2
)
COHORT = (lambda v: v.S, "<=", lambda v: v.N)
SERVER = (lambda v: sq(minus(v.vec_F, v.vec_0)), "<=", lambda v: v.xi_bar**2)
LONGER = (lambda v: v.eta_g, "<=", lambda v: v.eta_g_more)
CEILING = (
    step,
    "<=",
    lambda v: least(1, (1 + v.gamma) ** 2 / (2 * kappa(v))) / (8 * v.L * (1 + v.gamma)),
)
moved = lambda v: v.inner_move + v.L / 2 * v.sq_move
descent = lambda v: -v.eta_0 * v.inner_w0 + v.L * v.eta_0**2 / 2 * v.b_w0
split = lambda by: (
    lambda v: v.sq_pair,
    "<=",
    lambda v: (1 + by(v)) * v.sq_i + (1 + 1 / by(v)) * v.sq_j,
)
# Mixed FL
eta_tilde = lambda v: v.K * v.eta_s * v.eta
PT = lambda v: 1 / (6 * (1 + v.B**2) * v.beta)
B_3 = lambda v: least(1 / (81 * v.beta), 1 / (15 * v.mu))
MERGE = (lambda v: v.eta_m, ">=", lambda v: 1)
STRONG = (lambda v: v.mu, "<=", lambda v: v.beta)
SEVERAL, LARGE = (lambda v: v.K, ">=", lambda v: 2), (lambda v: v.B, ">=", lambda v: 1)


def at_most(bound):
    """Table 4: both effective steps within a bound, from eta_c and eta eta_s within it over K
    eta_m."""
    rules = (
        MERGE,
        (lambda v: v.eta_c, "<=", lambda v: bound(v) / (v.K * v.eta_m)),
        (lambda v: v.eta * v.eta_s, "<=", lambda v: bound(v) / (v.K * v.eta_m)),
        STRONG,
    )
    return ((eta_tilde, "<=", bound), rules), ((lambda v: v.K * v.eta_c, "<=", bound), rules)


def one_way(size):
    bound = lambda v: 1 / (size * v.beta)
    return (
        (
            (eta_tilde, "<=", bound),
            ((lambda v: v.eta, "<=", lambda v: 1 / (size * v.beta * v.K * v.eta_s)),),
        ),
    )


def shape(v, noise, square, error):
    """Table 1 beside its first terms: variance over error^2 S K, times D^2 or F beta."""
    return square * (v.sigma**2 + noise * v.sigma_c**2) / (v.K * v.S * error**2)


convex = lambda v, noise, B=1, G=0: (
    B * v.D_sq * v.beta / v.eps
    + shape(v, noise, v.D_sq, v.eps)
    + G * root(v.beta) / root(v.eps) ** 3
)
smooth = lambda v, noise, B=1, G=0: (
    B * v.F * v.beta / v.eps_grad
    + shape(v, noise, v.F * v.beta, v.eps_grad)
    + G * root(v.beta) / root(v.eps_grad) ** 3
)
pt_c, pt_s = (lambda v: convex(v, v.S, v.B**2, v.G)), (lambda v: smooth(v, v.S, v.B**2, v.G))
one_c, one_s = (lambda v: convex(v, v.K * v.S)), (lambda v: smooth(v, v.K * v.S))
two_c, two_s = (lambda v: convex(v, v.S)), (lambda v: smooth(v, v.S))
ROOMS = (SEVERAL, LARGE, STRONG, (lambda v: v.eps, "<=", lambda v: 1))
SHORT = (eta_tilde, "<=", lambda v: 1 / (8 * v.beta))
SHORTER = (eta_tilde, "<=", lambda v: 1 / (18 * v.beta))

LINES = {
    "fsl.eq7": (None, ((moved, "<=", descent), ())),
    "fsls.eq2": (None, ((moved, "==", descent), ())),
    "fsl.eq8_eq9": (
        (
            (
                lambda v: 2 * v.inner_w0 - v.L * v.eta_0 * v.b_w0,
                "==",
                lambda v: v.a_w0 + (1 - v.L * v.eta_0) * v.b_w0 - v.xi_w0,
            ),
            (),
        ),
    ),
    "fsl.gradient_identity": (
        (
            (
                lambda v: v.sq_grad + v.gamma * v.sq_server_grad,
                "==",
                lambda v: (1 + v.gamma) * v.sq_tilde_grad + v.gamma / (1 + v.gamma) * v.sq_xi,
            ),
            (),
        ),
    ),
    "fsl.h_lower": (((h, ">=", lambda v: (3 * v.gamma + 1) / 4), (CEILING,)),),
    "fsl.lemma2": ((split(lambda v: v.a_split), ()),),
    "mixed.lemmaD2": ((split(lambda v: v.a), ()),),
    "fsl.original_loss": (
        (
            (
                lambda v: v.sq_grad,
                "<=",
                lambda v: (1 + v.gamma) * v.sq_tilde_grad + v.gamma / (1 + v.gamma) * v.xi_bar**2,
            ),
            (SERVER,),
        ),
    ),
    "fsl.phi_kappa_decrease": (
        ((lambda v: phi_at(v, v.eta_g_more), "<=", lambda v: phi_at(v, v.eta_g)), (LONGER, COHORT)),
        ((lambda v: kappa_at(v, v.eta_g_more), "<=", kappa), (LONGER, COHORT)),
    ),
    "fsl.step_28_to_12": (
        (
            (
                lambda v: (
                    v.L * step(v) ** 2 * G_2(v)
                    + 8
                    * v.L**2
                    * step(v) ** 3
                    * (G_4(v) + v.gamma * kappa(v) / (1 + v.gamma) * v.sq_xi)
                ),
                "<=",
                lambda v: (
                    5 * v.L * step(v) ** 2 * Psi(v)
                    + 8
                    * v.L**2
                    * step(v) ** 3
                    * (Phi(v) + v.gamma * kappa(v) / (1 + v.gamma) * v.xi_bar**2)
                ),
            ),
            (COHORT, SERVER),
        ),
    ),
    "fsl.step_G3_G4": (
        ((G_3, "<=", lambda v: 2 * G_2(v) / 9), (COHORT,)),
        ((lambda v: 2 * G_2(v) / 9, "<=", Psi), (COHORT,)),
        ((G_4, "<=", Phi), (COHORT,)),
    ),
    "lamb.communication_local_ams_explicit": (
        (
            (
                lambda v: v.n * (v["T"] - 1) ** 2 / v.R,
                "<=",
                lambda v: root(v.p) / (root(v.R) * root(v.n)),
            ),
            (
                (
                    lambda v: (v["T"] - 1) ** 2,
                    "<=",
                    lambda v: root(v.R) * root(v.p) / root(v.n) ** 3,
                ),
            ),
        ),
    ),
    "lamb.communication_rounds_explicit": (
        (
            (
                lambda v: (v["T"] - 1) / v.R,
                "<=",
                lambda v: root(v.h, 4) ** 5 / (root(v.R) * root(v.n, 4) * root(v.p, 4)),
            ),
            (
                (
                    lambda v: v["T"] - 1,
                    "<=",
                    lambda v: root(v.R) * root(v.h, 4) ** 5 / (root(v.n, 4) * root(v.p, 4)),
                ),
                (lambda v: v.h, "<=", lambda v: v.p),
            ),
        ),
    ),
    "mixed.stepD10_constants": (
        (
            (
                lambda v: (8 * v.beta * eta_tilde(v) ** 2 - 2 * eta_tilde(v)) * v.gap,
                "<=",
                lambda v: -eta_tilde(v) * v.gap,
            ),
            (SHORT,),
        ),
        (
            (
                lambda v: 2 * v.beta * eta_tilde(v) * (1 + 2 * v.beta * eta_tilde(v)),
                "<=",
                lambda v: 5 / (16 * v.beta / v.beta),
            ),
            (SHORT,),
        ),
    ),
    "mixed.stepD12_constants": (
        (
            (
                lambda v: 4 * eta_tilde(v) / 9,
                "<=",
                lambda v: eta_tilde(v) / 2 - v.beta * eta_tilde(v) ** 2,
            ),
            (SHORTER,),
        ),
        (
            (
                lambda v: v.beta**2 * eta_tilde(v) / 2 + 2 * v.beta**3 * eta_tilde(v) ** 2,
                "<=",
                lambda v: v.beta / 27,
            ),
            (SHORTER,),
        ),
    ),
    "mixed.table4_one_way_strong": one_way(8),
    "mixed.table4_one_way_convex": one_way(8),
    "mixed.table4_one_way_nonconvex": one_way(18),
    **{f"mixed.table4_pt_{kind}": at_most(PT) for kind in ("strong", "convex", "nonconvex")},
    "mixed.table4_two_way_strong": at_most(B_3),
    "mixed.table4_two_way_convex": at_most(lambda v: 1 / (81 * v.beta)),
    "mixed.table4_two_way_nonconvex": at_most(lambda v: 1 / (24 * v.beta)),
    "mixed.table5": (
        None,
        (
            (lambda v: v.eta_s, ">=", lambda v: root(v.S)),
            ((lambda v: v.eta_s, ">=", lambda v: root(v.S)),),
        ),
    ),
    "mixed.implication_central_noise": (
        ((two_c, "<=", one_c), ROOMS),
        ((two_s, "<=", one_s), ROOMS),
        ((two_c, "==", two_c), ROOMS),
    ),
    "mixed.implication_dissimilarity": (
        ((lambda v: convex(v, v.S, 1, v.G), "<=", pt_c), ROOMS),
        ((lambda v: smooth(v, v.S, 1, v.G), "<=", pt_s), ROOMS),
    ),
    "mixed.implication_two_way": (
        None,
        ((two_c, "<=", pt_c), ROOMS),
        ((two_c, "<=", one_c), ROOMS),
        ((two_s, "<=", pt_s), ROOMS),
        ((two_s, "<=", one_s), ROOMS),
    ),
}
