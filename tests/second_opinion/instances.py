"""Which plain data are an instance of which setting, typed anew: no schema is read here.

Numbers are texts of digits, counts are integers, other texts are words.
"""

from tests.second_opinion.opinion import Refused, number, require

# Parts


def keys(tree, needed, more=""):
    require(isinstance(tree, dict), "no object")
    needed, more = set(needed.split()), set(more.split())
    require(needed <= set(tree) <= needed | more, "other entries")


def count(value, low=1, high=None):
    require(type(value) is int and low <= value and (high is None or value <= high), "no count")
    return value


def flag(value):
    count(value, 0, 1)


def word(value, *words):
    require(isinstance(value, str) and value in words, "another word")


def rows(value, least=0):
    require(isinstance(value, list) and len(value) >= least, "no list")
    return value


def vector(value, d):
    require(len(rows(value)) == d, "a vector of another length")
    return [number(text) for text in value]


def matrix(value, n, d):
    require(len(rows(value)) == n, "another number of vectors")
    return [vector(each, d) for each in value]


def size(value, least=1):
    """How many coordinates a vector has."""
    vector(value, len(rows(value, least)))
    return len(value)


def shares(value, n, least=0):
    found = vector(value, n)
    require(sum(found) == 1 and min(found) >= 0 and (least or min(found) > 0), "no shares")


def noise(value, d):
    if rows(value):
        require(all(isinstance(each, list) and len(each) == 2 for each in value), "no noise")
        matrix([each[1] for each in value], len(value), d)
        shares([each[0] for each in value], len(value))


def curve(value, soft):
    keys(value, "slope tilt bends", "soft")
    vector([value["slope"], value["tilt"]], 2)
    knots = [vector(bend, 2)[1] for bend in rows(value["bends"])]
    require(knots == sorted(knots), "knots out of order")
    corners = rows(value.get("soft", []))
    require(soft or not corners, "a soft corner")
    matrix(corners, len(corners), 3)


def losses(value, n, d, soft=False):
    require(len(rows(value)) == n, "another number of losses")
    for loss in value:
        require(len(rows(loss)) == d, "a loss of another dimension")
        for each in loss:
            curve(each, soft)


def positive(*texts):
    require(all(number(text) > 0 for text in texts), "a number that is not positive")


def nonnegative(*texts):
    require(all(number(text) >= 0 for text in texts), "a negative number")


def whole(text):
    require(number(text) >= 1 and number(text).denominator == 1, "no whole number")


def cohort(i):
    require(count(i["S"]) <= count(i["N"]), "more work than there are")


# Settings of any method


def points(i):
    keys(i, "lipschitz loss x y")
    flag(i["lipschitz"])
    losses([i["loss"]], 1, d := size(i["x"]))
    vector(i["y"], d)


def chance(i):
    """What an instance breaks of the laws of chance."""
    law = i.get("breaks", "noise")
    word(law, "noise", "equal_weights", "uniform_cohort", "independent_noise")
    count(i.get("turns", 1), 1, 1)


def run(i, needed="K", more="", everyone=False, server=False, steps=None, **words):
    keys(
        i,
        f"N S T convex lipschitz losses at_star x_0 noise {needed}{' server' * server}",
        f"growth p breaks turns {more} {' '.join(words)}",
    )
    cohort(i)
    flag(i["convex"]), flag(i["lipschitz"]), count(i["T"])
    for letter in needed.split():
        count(i[letter], 1, words.get(letter, steps))
    for letter in words.keys() & i.keys():
        count(i[letter], 1, words[letter])
    require(not everyone or i["S"] == i["N"], "some do not work")
    N, d = i["N"], size(i["x_0"])
    require(len(rows(i["losses"])) in (1, N), "another number of losses")
    for loss in i["losses"]:
        keys(loss, "curves", "turn")
        losses([loss["curves"]], 1, d)
        vector([loss.get("turn", "0")], 1)
    matrix(i["at_star"], N - 1 if rows(i["at_star"]) else 0, d)
    noise(i["noise"], d)
    nonnegative(i.get("growth", "0"))
    chance(i)
    if "p" in i:
        shares(i["p"], N)
    if server:
        losses([i["server"]], 1, d)
    if "origin" in i:
        vector(i["origin"], d)
    if "layers" in i:
        starts = [count(start, 0, d - 1) for start in rows(i["layers"], 1)]
        require(starts[0] == 0 and starts == sorted(set(starts)), "no layers")


def method(needed, **more):
    return lambda i: run(i, needed, "origin layers", **more)


def gradients(i):
    keys(i, "S grads noise", "p breaks turns")
    chance(i)
    d = size(rows(i["grads"], 1)[0])
    if "p" in i:
        shares(i["p"], len(i["grads"]))
    matrix(i["grads"], len(i["grads"]), d)
    count(i["S"], 1, len(i["grads"]))
    noise(i["noise"], d)


def kinds(i):
    """How many kinds of clients there are; S of all clients work."""
    members = [count(n) for n in rows(i["members"], 1)]
    count(i["S"], 1, sum(members))
    return len(members)


def many_gradients(i):
    keys(i, "S members grads sigma")
    vector(i["grads"], kinds(i))
    nonnegative(i["sigma"])


def many_runs(i, steps=None):
    keys(i, "S K T lipschitz members slopes at_star x_0 sigma")
    count(i["K"], 1, steps), count(i["T"]), flag(i["lipschitz"])
    n, d = kinds(i), size(i["x_0"])
    matrix(i["slopes"], n, d), matrix(i["at_star"], n - 1, d)
    nonnegative(i["sigma"])


def vectors(i):
    keys(i, "vectors")
    matrix(i["vectors"], len(i["vectors"]), size(rows(i["vectors"], 1)[0]))


def variables(i):
    keys(i, "variables up means")
    d = size(rows(rows(i["variables"], 1)[0], 1)[0])
    for k, each in enumerate(i["variables"]):
        matrix(each, 2 ** (k + 1), d)
    require(0 < number(i["up"]) < 1, "no probability")
    word(i["means"], "given", "plain")


def noisy_cohort(i):
    keys(i, "gradients S together noise")
    N, d = len(rows(i["gradients"], 1)), size(i["gradients"][0])
    matrix(i["gradients"], N, d)
    count(i["S"], 1, N), flag(i["together"])
    require(len(rows(i["noise"])) == N, "another number of noises")
    for each in i["noise"]:
        noise(each, d)


# FSL


def pretrain(i):
    keys(i, "losses x")
    losses(i["losses"], len(rows(i["losses"], 2)), size(i["x"]))


def server(i):
    keys(i, "K_0 losses x")
    count(i["K_0"])
    losses(i["losses"], len(rows(i["losses"], 2)), size(i["x"]), soft=True)


def sharing(i):
    keys(i, "samples x")
    for own in rows(i["samples"], 2):
        matrix(own, len(rows(own, 1)), size(i["x"]))


def drawn_server(i):
    keys(i, "samples x n_0")
    matrix(i["samples"], len(rows(i["samples"], 1)), size(i["x"]))
    count(i["n_0"], 1, len(i["samples"]))


def fsl_round(i, more="", breaks=("lipschitz", "uniform_cohort", "independent_noise"), soft=True):
    keys(i, f"N S K K_0 losses x noise noise_0 {more}", "weights breaks")
    cohort(i)
    count(i["K"]), count(i["K_0"])
    d = size(i["x"])
    losses(i["losses"], i["N"] + 1, d, soft)
    noise(i["noise"], d), noise(i["noise_0"], d)
    word(i.get("breaks", breaks[0]), *breaks)
    if "weights" in i:
        shares(i["weights"], i["N"], least=1)


def fsl_run(i):
    keys(i, "N S K K_0 T losses x noise noise_0", "weights breaks")
    count(i["T"])
    plain = [[] if one == "mean" else one for one in rows(i["losses"])]
    nothing = [dict(slope="0", tilt="0", bends=[])] * size(i["x"])
    filled = [nothing if one == "mean" else own for one, own in zip(i["losses"], plain)]
    fsl_round({**i, "losses": filled}, "T", ("uniform_cohort",), soft=False)


def fsl_large(i):
    keys(i, "N S K K_0 kind_1 x slope slope_0 tilts sigma sigma_0", "shared")
    cohort(i)
    count(i["K"]), count(i["K_0"]), count(i["kind_1"], 1, i["N"]), count(i.get("shared", 1), 1, 1)
    vector([i["x"], i["slope"], i["slope_0"]], 3), vector(i["tilts"], 3)
    nonnegative(i["sigma"], i["sigma_0"])


def fsl_large_run(i):
    keys(i, "S K K_0 T members slopes tilts x sigma sigma_0", "server")
    count(i["K"]), count(i["K_0"]), count(i["T"], 1, 100)
    n = kinds(i)
    vector(i["slopes"], n), vector(i["tilts"], n), vector([i["x"]], 1)
    vector(i.get("server", ["0", "0"]), 2)
    nonnegative(i["sigma"], i["sigma_0"])


# Mixed FL


def pair(i, d):
    losses(i["losses"], 2, d)
    word(i["smooth"], "each", "sum")


def broken(i):
    word(i.get("breaks", "uniform_cohort"), "uniform_cohort", "independent_noise")


def factor(text):
    require(number(text) >= 1, "below 1")


def function(i):
    keys(i, "loss x y z")
    d = size(i["x"])
    losses([i["loss"]], 1, d, soft=True)
    vector(i["y"], d), vector(i["z"], d)


def mixed_large(i):
    keys(i, "losses smooth x N S K sigma sigma_c", "breaks")
    vector(i["x"], 1), pair(i, 1), cohort(i), count(i["K"]), broken(i)
    require(not any(loss[0]["bends"] for loss in i["losses"]), "no quadratics")
    nonnegative(i["sigma"], i["sigma_c"])


def mixed_point(i):
    keys(i, "losses smooth x B")
    pair(i, size(i["x"])), factor(i["B"])


def mixed_round(i):
    keys(i, "losses smooth x N S K noise noise_c", "breaks")
    d = size(i["x"])
    pair(i, d), cohort(i), count(i["K"]), noise(i["noise"], d), noise(i["noise_c"], d), broken(i)


def mixed_rounds(i, own):
    keys(i, f"losses smooth x K S noise {own}")
    vector(i["x"], 1), pair(i, 1), word(i["smooth"], "each"), count(i["K"]), whole(i["S"])
    if own == "B":
        factor(i["B"]), noise(i["noise"], 1)
    else:
        matrix(i["first"], 2, 1), vector(i["noise"], 0)


def mixed_run(i, own):
    keys(i, f"losses smooth x N S K T noise noise_c {own}", "breaks copies apart")
    d = size(i["x"])
    pair(i, d), cohort(i), count(i["K"]), count(i["T"])
    noise(i["noise"], d), noise(i["noise_c"], d), broken(i), whole(i.get("copies", "1"))
    if "apart" in i:
        matrix(i["apart"], i["N"], d)
    if own == "B":
        factor(i["B"])
    if own == "first":
        matrix(i["first"], 2, d)


def samples(i):
    keys(i, "clients center")
    matrix(i["clients"], len(rows(i["clients"], 1)), size(i["center"]))


def transfer(i):
    keys(i, "losses x transferred noise")
    S, d = len(rows(i["losses"], 1)), size(i["x"])
    losses(i["losses"], S, d)
    vector(i["transferred"], d)
    require(len(rows(i["noise"])) == S, "another number of noises")
    for steps in i["noise"]:
        matrix(steps, len(rows(steps, 1)), d)


# FED-LAMB


def lamb(i, needed, more=""):
    keys(i, f"n T layers losses x noise alpha phi {needed}", f"S epsilon reset turn {more}")
    n, p = count(i["n"]), size(i["x"])
    count(i["T"]), count(i.get("t", 0), 0), count(i.get("R", 1)), count(i.get("S", 1), 1, n)
    at = 0
    for layer in rows(i["layers"], 1):
        require(isinstance(layer, list) and len(layer) == 2 and layer[0] == at, "no layers")
        count(layer[0], 0), count(layer[1], at + 1)
        at = layer[1]
    require(at == p, "other coordinates")
    losses(i["losses"], n, p)
    noise(i["noise"], p)
    positive(i["alpha"], *rows(i["phi"]), i.get("epsilon", "1"))
    least, most = vector(i["phi"], 2)
    require(least <= most, "no range")
    count(i.get("reset", 1), 1, 1), vector(i.get("turn", ["0", "0"]), 2)
    whole(i.get("copies", "1"))


# Flexible participation


def devices(i, N):
    keys(i, "a b r p")
    vector(i["a"], N), vector(i["b"], N), vector(i["r"], N)
    positive(*i["a"]), nonnegative(*i["r"])
    shares(i["p"], N)


def law(i, N):
    E = count(i["E"])
    for outcome in rows(i["law"], 1):
        require(isinstance(outcome, list) and len(outcome) == 2, "no outcome")
        require(len(rows(outcome[1])) == N, "another number of devices")
        for steps in outcome[1]:
            count(steps, 0, E)
    shares([q for q, _ in i["law"]], len(i["law"]), least=1)


def span(value):
    ends = vector(value, 2) if rows(value) else []
    require(ends == sorted(ends), "ends in another order")


def placed(i, N, of_law):
    """Devices, a start, a law and where iterates stay."""
    devices(i["devices"], N), law(i, of_law), span(i["span"]), vector([i["x"]], 1)


def those(i, least=1):
    require(isinstance(i["devices"], dict), "no devices")
    return len(rows(i["devices"].get("a"), least))


def event(i, name):
    keys(i, "event n a b")
    word(i["event"], name)
    N, d = len([count(n) for n in rows(i["n"], 2)]), size(rows(i["a"], 1)[0])
    matrix(i["a"], N, d), matrix(i["b"], N, d)
    positive(*(text for row in i["a"] for text in row))


def reboot(i):
    keys(i, "bounds a b p_l w")
    word(i["bounds"], "both", "old")
    d = size(i["w"])
    matrix(i["a"], 2, d), matrix(i["b"], 2, d)
    positive(*(text for row in i["a"] for text in row))
    require(0 < number(i["p_l"]) < 1, "no share")


def laws(i, scheme):
    keys(i, "scheme E tau k s_k devices law")
    word(i["scheme"], scheme)
    N = those(i)
    devices(i["devices"], N), law(i, N)
    count(i["tau"]), count(i["k"], 1, N), count(i["s_k"], 1, i["E"])


def flex_round(i, scheme):
    keys(i, "scheme E s x a tilt p")
    word(i["scheme"], scheme)
    E, d = count(i["E"]), size(i["x"])
    work = [count(s, 0, E) for s in rows(i["s"], 1)]
    matrix(i["a"], len(work), d)
    positive(*(text for row in i["a"] for text in row))
    require(len(rows(i["tilt"])) == len(work), "another number of devices")
    for steps, tilts in zip(work, i["tilt"]):
        matrix(tilts, steps + 1, d)
    shares(i["p"], len(work))


def flex_run(i, scheme):
    keys(i, "scheme E tau devices law x span")
    word(i["scheme"], scheme)
    count(i["tau"])
    placed(i, those(i), those(i))


def departed(i):
    keys(i, "E tau_0 T devices x law span")
    require(1 <= count(i["tau_0"]) < count(i["T"]), "no departure")
    placed(i, those(i, 2), those(i))


def shifted(i, after):
    keys(i, "E tau_0 rounds event n devices x law span")
    word(i["event"], "arrival", "departure" if after else "arrival")
    N = len([count(n) for n in rows(i["n"], 2)])
    count(i["tau_0"], 0), count(i["rounds"])
    placed(i, N, N if after and i["event"] == "arrival" else N - 1)


def nothing(i):
    keys(i, "")


def two_runs(i):
    keys(i, "A b weights sigma x S rounds seed hyper")
    N, d = len(rows(i["A"], 2)) - 1, size(i["x"])
    matrix(i["A"], N + 1, d), matrix(i["b"], N + 1, d), shares(i["weights"], N)
    nonnegative(i["sigma"]), count(i["S"], 1, N), count(i["rounds"]), count(i["seed"], 0)
    require(isinstance(i["hyper"], dict), "no numbers")
    vector([*i["hyper"].values()], len(i["hyper"]))


CHOICES = dict(client_opt=3, server_opt=3, bias_correction=2, weighting=2)
MORE = dict(CHOICES, central_opt=3, merge_opt=3, central_memory=2)
LAMB = dict(phi=2, momentum=2, bias_correction=4, denominator=2, weighting=2)
INSTANCES = dict(
    numbers=nothing,
    flex_delay=nothing,
    run_points=points,
    run_fedsgd=lambda i: run(i, steps=1),
    run_fedavg=run,
    run_scaffold=lambda i: run(i, "K option", option=2),
    run_data_sharing=method("K", server=True, weighting=3),
    run_dsl=method("K K_0", server=True, weighting=3),
    run_fed_ams=method("T_", moments=2, weighting=2),
    run_fed_lamb=method("T_", **LAMB),
    run_fedadam=method("K", bias_correction=2, weighting=2),
    run_feddyn=method("K"),
    run_fedprox=method("K", weighting=3),
    run_flex_a=method("E", everyone=True),
    run_flex_b=method("E", everyone=True),
    run_flex_c=method("E", everyone=True),
    run_fsl=method("K K_0", server=True),
    run_fsl_parallel=method("K K_0", server=True),
    run_one_way_gt=method("K", server=True, **CHOICES),
    run_parallel_training=method("K", server=True, **MORE),
    run_server_sgd=method("K_0", server=True),
    run_two_way_gt=method("K", server=True, **MORE, transfer=3),
    run_cohort=gradients,
    run_large_cohort=many_gradients,
    run_large_fedsgd=lambda i: many_runs(i, 1),
    run_large_fedavg=many_runs,
    fsl_vectors=vectors,
    mixed_vectors=vectors,
    fsl_variables=variables,
    mixed_variables=variables,
    mixed_cohort=noisy_cohort,
    fsl_pretrain=pretrain,
    fsl_server=server,
    fsl_sharing=sharing,
    fsl_drawn_server=drawn_server,
    fsl_round=fsl_round,
    fsl_run=fsl_run,
    fsl_large=fsl_large,
    fsl_large_run=fsl_large_run,
    mixed_functions=function,
    mixed_large=mixed_large,
    mixed_point=mixed_point,
    mixed_round=mixed_round,
    mixed_rounds_parallel_training=lambda i: mixed_rounds(i, "B"),
    mixed_rounds_two_way_gt=lambda i: mixed_rounds(i, "first"),
    mixed_run_parallel_training=lambda i: mixed_run(i, "B"),
    mixed_run_one_way_gt=lambda i: mixed_run(i, ""),
    mixed_run_two_way_gt=lambda i: mixed_run(i, "first"),
    mixed_samples=samples,
    mixed_transfer=transfer,
    lamb_round=lambda i: lamb(i, "t"),
    lamb_run=lambda i: lamb(i, "R", "copies"),
    flex_arrival=lambda i: event(i, "arrival"),
    flex_departure=lambda i: event(i, "departure"),
    flex_reboot=reboot,
    flex_departed=departed,
    flex_shifted=lambda i: shifted(i, True),
    flex_shifting=lambda i: shifted(i, False),
)


def of_schemes(name, known):
    """Settings of each scheme, which an instance names."""
    for scheme in "ABC":
        INSTANCES[f"{name}_{scheme.lower()}"] = lambda i, scheme=scheme: known(i, scheme)


of_schemes("flex_laws", laws)
of_schemes("flex_round", flex_round)
of_schemes("flex_run", flex_run)
INSTANCES["two runs"] = two_runs


def read(setting, instance):
    """Refused unless plain data are an instance of a setting."""
    require(setting in INSTANCES, f"nothing is known here of the instances of {setting}")
    try:
        INSTANCES[setting](instance)
    except (TypeError, LookupError, AttributeError) as error:  # malformed, whatever that leads to
        raise Refused(f"malformed: {error!r}") from None
