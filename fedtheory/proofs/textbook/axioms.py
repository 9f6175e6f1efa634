"""The axioms of the textbook facts: every statement that is used without a proof by algebra.

Random vectors with finite second moments form a real inner product space, in which the inner
product of X and Y is E<X, Y>. Therefore an identity between inner products also holds for
expectations. A step, client or cohort member that is drawn uniformly is one more random index, and
a mean over this index is one more expectation.
"""

AXIOMS = {
    "inner_product": "inner products are symmetric and linear in each vector, and <v, v> >= 0",
    "expectation": "expectations are linear and keep >=",
    "conditional_mean": "a conditional mean is an orthogonal projection: "
    "E<Z, X - E[X | Y]> = 0 for each Z that Y determines",
    "independence": "E<X, Y> = <E X, E Y> where X and Y are independent",
    "induction": "what holds for 1, and for m + 1 where it holds for m, holds for every count",
    "slope": "d/dt f(x + t s) = <grad f(x + t s), s>; and p(1) - p(0) <= q(1) - q(0) "
    "where p' <= q' on [0, 1]",
    "smooth": "f is L-smooth: ||grad f(x) - grad f(y)|| <= L ||x - y||",
    "strongly_convex": "f is mu-strongly convex: "
    "f(y) >= f(x) + <grad f(x), y - x> + mu/2 ||y - x||^2",
    "convex": "f is convex: f(y) >= f(x) + <grad f(x), y - x>",
    "minimum": "inf f <= f(y) for every y, and the gradient vanishes at a minimiser",
    "subsets": "of the subsets of S among N members, the share S/N holds a given one, "
    "and the share S (S - 1) / (N (N - 1)) two given ones",
    "largest": "each of finitely many numbers is at most the largest of them",
    "rounds": "what holds of a round whatever its start is, and is linear in what is measured, "
    "holds of the means over rounds of the expectations",
    "definition": "a measured quantity is what its paper defines it to be",
}
