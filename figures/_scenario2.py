"""Code that FSL's figures of scenario 2 share: each method at its best learning rate."""

import numpy as np

from fedtheory.experiments.records import fsl_scenario2
from fedtheory.figures import _fsl, _style

METHODS = tuple(fsl_scenario2.METHODS)


def client_counts(read, place):
    return list(dict.fromkeys(cell[1] for cell in read.having(place)))


def rates_tried(read, place):
    return list(dict.fromkeys(cell[2] for cell in read.having(place)))


def final_accuracy(read, place, C, rate, method):
    """Return the accuracy (seeds,) at the end; a run that diverged to non-finite values counts as
    accuracy 0."""
    return np.nan_to_num(read("final_accuracy", place, C, rate, method))


def best_rate(read, place, C, method):
    """Return the rate at which a method has the highest mean accuracy over all seeds."""
    return max(
        rates_tried(read, place),
        key=lambda rate: final_accuracy(read, place, C, rate, method).mean(),
    )


def at_best(read, quantity, place, C, method):
    rate = best_rate(read, place, C, method)
    if quantity == "final_accuracy":
        return final_accuracy(read, place, C, rate, method)
    return read(quantity, place, C, rate, method)


def draw_accuracy(figure, data, place):
    """Draw accuracy over rounds in one panel for each C, each method at its best rate."""
    read = _fsl.Read(data)
    axes = figure.subplots(1, len(client_counts(read, place)), sharey=True, squeeze=False)[0]
    for ax, C in zip(axes, client_counts(read, place)):
        for method in METHODS:
            more = dict(linestyle=":") if method == "FSLsyn" else {}
            _fsl.draw_accuracy(
                ax, read, method, place, C, best_rate(read, place, C, method), method, **more
            )
        ax.set(title=f"$C={C}$", xlabel="round $t$")
    axes[0].set(
        title=f"{place} stand-in, $C={client_counts(read, place)[0]}$", ylabel="test accuracy"
    )
    _style.legend_below(figure, axes[-1])


def table_rows(data):
    return _fsl.accuracy_rows(_fsl.Read(data), ["set", "C", "eta_l", "method"])


def describe_result(data, place):
    """Return a text with the final accuracy of each method at its best rate, averaged over C."""
    read = _fsl.Read(data)
    means = {
        method: np.mean(
            [at_best(read, "final_accuracy", place, C, method) for C in client_counts(read, place)]
        )
        for method in METHODS
    }
    told = ", ".join(f"{method} {mean:.3f}" for method, mean in means.items())
    return f"Accuracy at the end, the mean over $C$: {told}."
