"""The mean gradient of a cohort drawn without replacement, its gradients noisy: all cohorts and all
draws."""

from fractions import Fraction
from itertools import combinations, product
from math import comb

from fedtheory.enclosure import Undefined
from fedtheory.enclosure.arithmetic import Many, root, vector
from fedtheory.enclosure.work import counted
from fedtheory.settings import Setting, names
from fedtheory.settings.families import by_coordinate, outcomes, sound_noise, two_point, variance
from fedtheory.settings.quantities import sq
from fedtheory.symbols.run import TABLE

MEASURED = ("cohort_error", "cohort_square", "sq_grad", "mean_square", "G_t_sq")


def shapes(random, relaxed):
    N = random.choice([1, 2, 2, 3, 4])
    shape = dict(
        N=N,
        S=random.randint(1, N),
        d=random.choice([1, 1, 2]),
        noise="none"
        if "exact_gradients" not in relaxed
        else random.choice(["none", "even", "skewed"]),
    )
    if "coordinate_noise" not in relaxed:  # drawn only where a claim assumes it
        shape.update(coordinate_noise=1, d=random.choice([1, 2, 3]))
    return shape


def coordinates(shape):
    found = {f"grad_{i}_{j}": "real" for i in range(shape["N"]) for j in range(shape["d"])}
    if shape["noise"] != "none":
        found["sigma"] = "positive"
    return found


def build(shape, point):
    d = shape["d"]
    return dict(
        S=shape["S"],
        grads=[[point[f"grad_{i}_{j}"] for j in range(d)] for i in range(shape["N"])],
        noise=two_point(point.get("sigma"), shape["noise"], d, "coordinate_noise" in shape),
    )


def constants(instance):
    grads, S = instance["grads"], instance["S"]
    d = len(grads[0])
    if not 1 <= S <= len(grads) or any(len(g) != d for g in grads):
        raise Undefined("a cohort that does not fit its clients")
    if not isinstance(grads[0][0], Many) and not sound_noise(instance["noise"], d):
        raise Undefined("noise with a mean")
    sigma = root(variance(instance["noise"]))
    return dict(
        N=Fraction(len(grads)),
        S=Fraction(S),
        d=Fraction(d),
        sigma=sigma,
        sigma_j=by_coordinate(instance["noise"], sigma),
        G=root(spread(grads)),
    )


def spread(grads):
    grads = [vector(g) for g in grads]
    mean = sum(grads) / len(grads)
    return sum(sq(g - mean) for g in grads) / len(grads)


def measure(instance, values, wanted):
    grads, S = [vector(g) for g in instance["grads"]], instance["S"]
    N, mean, noise = len(grads), sum(grads) / len(grads), outcomes(instance["noise"], len(grads[0]))

    def expected(value):
        total = 0
        for cohort in counted(combinations(grads, S)):
            for draws in counted(product(noise, repeat=S)):
                p = Fraction(1, comb(N, S))
                for q, _ in draws:
                    p = p * q
                total = total + p * value(sum(g + n for g, (_, n) in zip(cohort, draws)) / S)
        return total

    named = dict(
        cohort_error=lambda: expected(lambda g: sq(g - mean)),
        cohort_square=lambda: expected(sq),
        sq_grad=lambda: sq(mean),
        mean_square=lambda: sum(sq(g) for g in grads) / N,
        G_t_sq=lambda: spread(instance["grads"]),
    )
    return {name: named[name]() for name in wanted}


MET = frozenset(
    {
        "noise",
        "coordinate_noise",
        "independent_noise",
        "uniform_cohort",
        "equal_weights",
        "dissimilar",
    }
)  # by every cohort
SETTING = Setting(
    name="run_cohort",
    says="a cohort's gradients at one point",
    measures=names(TABLE, *MEASURED),
    algorithms=(),
    gives=("N", "S", "d"),
    loose=dict(sigma=1, sigma_j=1, G=1),
    takes=(),
    shapes=shapes,
    coordinates=coordinates,
    build=build,
    constants=constants,
    measure=measure,
    table=TABLE,
    ensures=MET | {"exact_gradients"},
    holds=lambda instance: MET | (set() if instance["noise"] else {"exact_gradients"}),
)
