"""The mean gradient of a cohort drawn without replacement from thousands of clients of a few kinds,
with the variance of a sample in closed form (Cochran 1977, theorem 2.2)."""

from fractions import Fraction

from fedtheory.arithmetic import Undefined
from fedtheory.arithmetic.operations import Many, root
from fedtheory.models import names
from fedtheory.models.general import run_cohort
from fedtheory.models.general.run_large import count, drawn_kinds, members
from fedtheory.schema import entries, integer, list_of, total_of
from fedtheory.symbols.run import TABLE

ZERO = Fraction(0)


def draw_shapes(random, relaxed):
    N = count(random, 30 if random.random() < 0.5 else 1)
    return dict(
        N=str(N),
        S=str(random.choice([N, max(1, N - 1), max(1, N // 2), random.randint(1, N)])),
        **drawn_kinds(random, N),
        noise=int("exact_gradients" in relaxed and random.random() < 0.6),
    )


def list_coordinates(shape):
    found = {f"grad_{k}": "real" for k in range(shape["kinds"])}
    return found | ({"sigma": "positive"} if shape["noise"] else {})


def build_instance(shape, point):
    return dict(
        S=int(shape["S"]),
        members=members(shape),
        grads=[point[f"grad_{k}"] for k in range(shape["kinds"])],
        sigma=point.get("sigma", ZERO),
    )


def gradient_spread(instance):
    """Return the variance of the clients' gradients about their mean, summed over pairs of kinds so
    that nothing cancels."""
    N, grads = sum(instance["members"]), instance["grads"]
    share = [Fraction(n, N) for n in instance["members"]]
    gaps = [(share[k] * share[n], grads[k] - grads[n]) for n in range(len(grads)) for k in range(n)]
    return sum((w * gap * gap for w, gap in gaps), ZERO)


def derive_constants(instance):
    kinds, sigma = instance["members"], instance["sigma"]
    if (
        min(kinds, default=0) < 1
        or len(kinds) != len(instance["grads"])
        or not 1 <= instance["S"] <= sum(kinds)
        or not isinstance(sigma, Many)
        and sigma < 0
    ):
        raise Undefined("a cohort that does not fit its clients")
    return dict(
        N=Fraction(sum(kinds)),
        S=Fraction(instance["S"]),
        d=Fraction(1),
        sigma=sigma,
        sigma_j=sigma,
        G=root(gradient_spread(instance)),
    )


def measure_symbols(instance, values, wanted):
    N, S, apart = sum(instance["members"]), instance["S"], gradient_spread(instance)
    left = Fraction(N - S, N - 1) if N > 1 else ZERO
    error = (left * apart + instance["sigma"] * instance["sigma"]) / S
    mean = sum(Fraction(n, N) * g for n, g in zip(instance["members"], instance["grads"]))
    found = dict(
        cohort_error=error,
        cohort_square=mean * mean + error,
        sq_grad=mean * mean,
        mean_square=mean * mean + apart,
        G_t_sq=apart,
    )
    return {name: found[name] for name in wanted}


def conditions_held(instance):
    always = run_cohort.SETTING.ensures - {"exact_gradients"}
    return always | (frozenset() if instance["sigma"] else {"exact_gradients"})


SETTING = run_cohort.SETTING._replace(
    name="run_large_cohort",
    says="the gradients at one point of a cohort out of many clients",
    measures=names(TABLE, *run_cohort.MEASURED),
    shapes=draw_shapes,
    coordinates=list_coordinates,
    build=build_instance,
    constants=derive_constants,
    measure=measure_symbols,
    holds=conditions_held,
    kind="exact",
    schema=entries(
        dict(
            S=integer(1, total_of("members")),
            members=list_of(integer(), "kinds"),
            grads=list_of("number", "kinds"),
            sigma="nonnegative",
        )
    ),
)
