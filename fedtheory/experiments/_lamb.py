"""What FED-LAMB's experiments share: its three methods and the grids of which each takes the best."""

METHODS = {"Fed-LAMB": "fed_lamb", "Fed-AMS": "fed_ams", "Fed-SGD": "fedsgd"}  # and their looks
LAMBDAS = (0.0, 0.01, 0.1)
MEASURE = ["test_accuracy", "test_loss", "loss"]
TUNING = {
    "alpha": "each method's best of a grid in half decades around its own (up to 4 values below the scale "
    "paper, 6 at it), by final test accuracy, the mean over seeds: each setting apart",
    "lambda": "of 0, 0.01, 0.1, with alpha: Fed-LAMB has three times the budget of the others",
}


def method(name, alpha, lambda_, steps):
    """What a request says of a method, and of what is measured."""
    chosen = {
        "Fed-LAMB": ("fed_lamb", dict(alpha=alpha, lambda_=lambda_, T=steps)),
        "Fed-AMS": ("fed_ams", dict(alpha=alpha, epsilon=1e-8, T=steps)),
        "Fed-SGD": ("fedavg", dict(eta_l=alpha, K=steps)),
    }
    called, hyper = chosen[name]
    return dict(method=called, hyper=hyper, measure=MEASURE, pretrained=None)


def grid(alphas, lambdas):
    """{(method, alpha, lambda): arguments} of what is tuned."""
    return {
        (name, f"{alpha:g}", f"{each:g}"): dict(method=name, alpha=alpha, lambda_=each)
        for name, steps in alphas.items()
        for alpha in steps
        for each in (lambdas if name == "Fed-LAMB" else lambdas[:1])
    }
